"""Percentages as people and models write them, and whether one was given."""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from tradmem.lessons.template import band_of, percent
from tradmem.model import Entry


class Figure(NamedTuple):
    """One percentage.

    Attributes:
        value: in percent; 4.5 is 4.5 %.
        signed: whether a sign was written.
        slack: half a unit of the last digit written, in percent.
        written: as it stands in the text.
    """

    value: float
    signed: bool = True
    slack: float = 0.0
    written: str = ""

    def agrees(self, given: "Figure") -> bool:
        """Whether this could be the other one, rounded to the digits written here."""
        slack = self.slack + 1e-9
        if self.signed and given.signed and abs(self.value) >= slack:
            return abs(self.value - given.value) <= slack
        return abs(abs(self.value) - abs(given.value)) <= slack


def figures(text: str) -> tuple[Figure, ...]:
    """Every percentage in a text, in whichever of the usual ways it is written.

    ``4.5 %``, ``4,5 %``, ``-4.5%``, ``4.5 percent``, ``4 to 5%`` (two figures),
    ``450 basis points``, ``five percent``, and the same in other languages.
    """
    text = unicodedata.normalize("NFKC", text).translate(_DASHES)
    found: list[Figure] = []
    for match in _PERCENTAGE.finditer(text):
        scale = 0.01 if match["basis"] else 1.0
        if match["low"]:
            found.append(_figure(match["low"], "", scale))
        found.append(_figure(match["number"], match["sign"] or "", scale, match[0]))
    found += [_figure(match["number"], "", 1.0) for match in _PREFIXED.finditer(text)]
    for match in _IN_WORDS.finditer(text.lower()):
        value = sum(_WORDS[word] for word in re.split(r"[\s-]+", match["words"]))
        found.append(Figure(value, signed=False, slack=0.5, written=match[0]))
    return tuple(found)


def given(entry: Entry, *texts: str) -> tuple[Figure, ...]:
    """Every percentage that a lesson on a settled entry may cite.

    Those of its outcome, exact and as shown, those of its decision, and all that
    stand in the further texts that went with it.
    """
    outcome = entry.outcomes[0]
    band = band_of(entry)
    facts = [outcome.raw_return, outcome.alpha, outcome.benchmark_return, band, -band]
    out = [Figure(100 * fact) for fact in facts if fact is not None]
    out += [Figure(float(percent(fact)[:-1])) for fact in facts if fact is not None]
    for text in (entry.decision, *texts):
        out += figures(text)
    return tuple(out)


def not_given(text: str, known: Iterable[Figure]) -> tuple[Figure, ...]:
    """The percentages in a text that none of the known ones explains."""
    known = tuple(known)
    cited = figures(text)
    return tuple(one for one in cited if not any(map(one.agrees, known)))


_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe63", "-"))
_NUMBER = (
    # 1,234.5  1.234,5  1 234,5; no longer, or a list of numbers takes quadratic time
    r"(?:\d{1,3}(?:[ ,.'\u2019]\d{3}){1,5}(?:[.,]\d+)?"
    r"|\d+(?:[.,\u066b]\d+)?|(?<!\d)[.,]\d+)"
)
_PERCENT = (
    r"%|\u066a|percentage points?|percent(?:age)?|per cent|pct\b|ppts?\b|pp\b|p\.p\."
    r"|prozent\w*|pour ?cent|por ?cento?|por ?ciento|per ?cento|procent\w*|pro ?cent"
    r"|процен\w*|パーセント"
    r"|ポイント|퍼센트|[个個]?百分点"
)
_BASIS = (
    r"basis points?|bps?\b|basispunkt\w*|points? de base|puntos? b[aá]sicos?|punti base"
    r"|pontos?[- ]base|базисн\w+ пункт\w*"
    r"|[个個]?基[点點]|ベーシスポイント"
)
_PERCENTAGE = re.compile(
    rf"(?:(?<![\w.,])(?P<low>{_NUMBER})\s*(?:-|to|bis|bis zu|至|\u301c|~)\s*)?"
    rf"(?:(?<![\w%).,+-])(?<!\+/)(?P<sign>[+-]))?(?<![\d.,])(?P<number>{_NUMBER})"
    rf"[\s-]*\\?(?:(?P<basis>{_BASIS})|{_PERCENT})",
    re.IGNORECASE,
)
_PREFIXED = re.compile(rf"(?:(?<!\d)(?<!\d )[%\u066a] ?|百分之)(?P<number>{_NUMBER})")

_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
_UNITS, _TENS = _NAMES.split()[:20], _NAMES.split()[20:]
_WORDS = dict(zip(_UNITS + _TENS, [*range(20), *range(20, 100, 10)], strict=True))
_IN_WORDS = re.compile(
    rf"\b(?P<words>(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_UNITS[1:10])}))?|{'|'.join(_UNITS)})"
    r"[\s-]+(?:percent(?:age points?)?|per cent|pct)\b"
)


def _figure(number: str, sign: str, scale: float, written: str = "") -> Figure:
    """Read digits whose last separator may be a decimal comma or point."""
    digits = re.sub(r"[ '\u2019]", "", number).replace("\u066b", ".")
    last = max(digits.rfind("."), digits.rfind(","))
    separators = re.sub(r"\d", "", digits)
    whole, decimals = (digits, "") if last < 0 else (digits[:last], digits[last + 1 :])
    repeated = len(separators) > 1 and len(set(separators)) == 1  # 1,234,567
    if repeated or (separators == "," and len(decimals) == 3 and whole.strip("0")):
        whole, decimals = digits, ""
    value = float(re.sub(r"\D", "", whole) or "0") + (float(f"0.{decimals}") if decimals else 0.0)
    return Figure(
        value=scale * (-value if sign == "-" else value),
        signed=bool(sign),
        slack=scale * 0.5 * 10.0 ** -len(decimals),
        written=written or f"{number}%",
    )

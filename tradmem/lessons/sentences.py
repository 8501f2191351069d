"""How many sentences a text has, in any script; tickers, decimals and abbreviations are no ends."""

import re
from typing import NamedTuple


class Count(NamedTuple):
    """The fewest and the most sentences that a reader may count."""

    fewest: int
    most: int


def count_sentences(text: str) -> Count:
    """Count sentences; where a full stop may or may not end one, both counts are given."""
    certain = maybe = 0
    rest = 0  # where the sentence at hand starts
    for match in _END.finditer(text):
        if not _has_words(text[rest : match.start()]):
            continue
        ends = _ends(text, match)
        if ends is False:
            continue
        certain, maybe = certain + (ends is True), maybe + (ends is None)
        rest = match.end()
    tail = text[rest:]
    if _has_words(tail):
        certain += 1
        maybe += len(_UNMARKED_GAP.findall(tail))
    elif maybe and not certain:
        certain, maybe = 1, maybe - 1
    return Count(certain, certain + maybe)


_CLOSING = r"[\"'\u2019\u201d\u00bb)\]*_`\u300d\u300f\uff09]*"
# Full stops of scripts that put no space behind them, or that mean nothing else.
_FULL = "\u3002\uff01\uff1f\uff0e\uff61\u0964\u0965\u061f\u06d4\u1362\u0589\u17d4\u104b\u0f0d"
_END = re.compile(
    rf"[{_FULL}]+{_CLOSING}|[.!?\u2026]+{_CLOSING}(?=\s|$)|[ \t]*\n\s*\n"
    r"|(?<=[a-z]{2})[.!?](?=[A-Z][a-z])"  # a forgotten space
)
# Thai and Lao leave a space between sentences, and between other things too.
_UNMARKED_GAP = re.compile(r"(?<=[\u0e00-\u0eff]) +(?=[\u0e00-\u0eff])")
_LAST_WORD = re.compile(r"[\w.'\u2019-]*$")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEVER_LAST = _set(
    "dr mr mrs ms prof st vs cf e.g i.e ca z.b d.h u.a v.a bzw sog ggf inkl exkl p.ex par.ex p.ej"
    " sr sra al"
)
_BEFORE_A_NUMBER = _set("no nr nos p pp fig eq art sec vol approx est aprox n\u00ba")
_MAY_BE_LAST = _set(
    "inc corp co ltd llc plc ag s.a n.v b.v etc usw u.s u.k e.u u.n a.m p.m jr bros mio mrd bn mn"
    " jan feb mar apr jun jul aug sep sept oct nov dec approx est aprox"
)


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _ends(text: str, match: re.Match[str]) -> bool | None:
    """Whether a sentence ends here; None where both readings are sensible."""
    mark, after = match[0], text[match.end() :]
    following = after.lstrip()[:1]
    ends: bool | None = True
    if not following or mark[0] not in ".\u2026":
        return ends
    word = _LAST_WORD.search(text, 0, match.start())
    last = word[0].lower().strip("'\u2019") if word else ""
    initial = len(last) == 1 and last.isascii() and last.isalpha()
    if last in _NEVER_LAST or (last in _BEFORE_A_NUMBER and following.isdecimal()):
        ends = False
    elif mark.startswith(("..", "\u2026")) or last in _MAY_BE_LAST or initial:
        ends = False if following.islower() else None
    elif not after[0].isspace() or (last.isdecimal() and len(last) <= _ORDINAL):
        ends = None
    return ends


_ORDINAL = 2  # digits: "am 5. Januar", which may also be "it rose by 5. Then it fell."

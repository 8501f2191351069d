"""What a lesson has to be before it is stored; code checks it, whoever wrote it."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tradmem.lessons.claims import contradiction
from tradmem.lessons.figures import Figure, not_given
from tradmem.lessons.sentences import count_sentences
from tradmem.model import Rating, Verdict

FEWEST, MOST = 2, 4  # sentences
LONGEST = 600  # characters


class Reason(StrEnum):
    """Why a text may not be stored as a lesson."""

    EMPTY = "empty"
    FORM = "form"
    LENGTH = "length"
    SENTENCES = "sentences"
    FIGURES = "figures"
    VERDICT = "verdict"
    ECHO = "echo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One reason, with a sentence that tells the writer what to mend."""

    reason: Reason
    message: str


def check(
    text: str,
    *,
    rating: Rating | None,
    verdict: Verdict | None,
    given: Iterable[Figure],
    ticker: str = "",
    prompt: str = "",
) -> tuple[Finding, ...]:
    """Everything that is wrong with a lesson, as it came from its writer.

    Args:
        text: the lesson, before :func:`tidy`.
        rating: the rating that it speaks of.
        verdict: what code said of that rating; None for an unrated decision.
        given: the percentages that it may cite, see :func:`tradmem.lessons.figures.given`.
        ticker: its ticker, which is no word of the language.
        prompt: what its writer was shown, apart from earlier lessons, which may be repeated.

    Returns:
        The findings, an empty text's alone; nothing if the lesson may be stored.
    """
    text = _LABELLED.sub("", text.strip())
    lesson = tidy(text)
    if not lesson or lesson.casefold().strip(".…\"'") in _NOTHINGS or not any(map(_letter, lesson)):
        return (Finding(reason=Reason.EMPTY, message="it says nothing"),)
    found: list[tuple[Reason, str]] = []
    if _LAYOUT.search(text):
        found.append((Reason.FORM, "it has bullets, headings, a table or code; write plain prose"))
    if len(lesson) > LONGEST:
        message = f"it has {len(lesson)} characters; write at most {LONGEST}"
        found.append((Reason.LENGTH, message))
    fewest, most = count_sentences(_masked(text, ticker))
    if most < FEWEST or fewest > MOST:
        count = fewest if fewest > MOST else most
        plural = "" if count == 1 else "s"
        message = f"it has {count} sentence{plural}; write {FEWEST} to {MOST}"
        found.append((Reason.SENTENCES, message))
    if strange := not_given(_masked(lesson, ticker), given):
        cited = ", ".join(dict.fromkeys(figure.written for figure in strange))
        message = f"it cites {cited} as a percentage, which was not given; cite only given figures"
        found.append((Reason.FIGURES, message))
    if said := contradiction(lesson, verdict, rating, ticker):
        truth = f"the verdict is {verdict}" if verdict else "there is no verdict on it"
        found.append((Reason.VERDICT, f'it says "{said}", but {truth}'))
    if prompt and echoes(lesson, prompt):
        found.append((Reason.ECHO, "it repeats what it was given; say what to learn from it"))
    return tuple(Finding(reason=reason, message=message) for reason, message in found)


def tidy(text: str) -> str:
    """The lesson as it is stored: one paragraph, without a label or quotes around it."""
    text = " ".join(text.split())
    text = _LABELLED.sub("", text)
    if len(text) > 1 and (text[0], text[-1]) in _QUOTES and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def echoes(text: str, prompt: str) -> bool:
    """Whether most of a text stands word for word in the prompt; case and layout do not count."""
    lesson, source = _bare(text), _bare(prompt)
    if not lesson:
        return False
    width = min(_WINDOW if lesson.isascii() else _WINDOW // 2, len(lesson))
    starts = range(0, len(lesson) - width + 1, max(1, width // 2))
    copied = sum(lesson[start : start + width] in source for start in starts)
    return copied >= _ECHO_SHARE * len(starts)


_WINDOW = 32  # letters that two texts on the same facts hardly share by chance
_ECHO_SHARE = 0.6
_NOTHINGS = frozenset(
    {"none", "null", "n/a", "na", "nil", "nan", "undefined", "todo", "reflection"}
)
_QUOTES = frozenset({('"', '"'), ("'", "'"), ("\u201c", "\u201d"), ("\u00ab", "\u00bb")})
_LABELLED = re.compile(
    r"\A[*_#\s]*(?:reflection|lesson)\s*(?:learned)?[*_]*\s*:[*_]*\s*", re.IGNORECASE
)
_LAYOUT = re.compile(
    r"^[ \t]*(?:[-*+\u2022\u2023\u25aa\u25cf\u2043\u2013]\s+\S|\(?\d{1,2}[.)]\s+\S|\(?[a-h]\)\s+\S"
    r"|\#{1,6}\s*\S|>\s|\||[-=*_]{3,}\s*$)"
    r"|^[ \t]*\*\*[^*\n]+\*\*:?[ \t]*$"  # a line in bold
    r"|^[^\n.!?]{1,60}:[ \t]*$"  # a line that announces
    r"|```|\A[ \t]*[{\[<]",
    re.MULTILINE,
)


def _letter(char: str) -> bool:
    return char.isalpha()


def _bare(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in text if char.isalnum())


def _masked(text: str, ticker: str) -> str:
    """The text with its ticker as a plain word, so that ``BRK.B`` ends no sentence."""
    if not ticker:
        return text
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(ticker)}(?![A-Za-z0-9])", "it", text)

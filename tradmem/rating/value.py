"""What the text behind a label leaves possible: one rating, all five, or none."""

import re
from functools import lru_cache
from typing import NamedTuple

from tradmem.model import Rating
from tradmem.rating.words import (
    BESIDE,
    CJK_AFTER,
    FORMER,
    LEAD,
    NEGATION,
    NEGATION_AFTER,
    OTHER_THING,
    OTHERS,
    RATINGS,
    SINCE,
    TOWARDS,
    WHOLE,
    any_of,
    words,
)

Possible = frozenset[Rating]
ANY: Possible = frozenset(Rating)  # it says nothing about the rating
UNDECIDED: Possible = frozenset()
_SCALE = 3  # so many different ratings side by side are a scale or a template


class _Hit(NamedTuple):
    rating: Rating
    start: int
    end: int


def _key(phrase: str) -> str:
    """A phrase of the vocabulary without case, blanks and hyphens."""
    return re.sub(r"[\s-]+", "", phrase).casefold()


_RATING_OF = {
    _key(word): rating
    for rating, languages in RATINGS.items()
    for phrases in languages.values()
    for word in words(phrases)
}
_WHOLE_OF = {_key(word): rating for rating, phrases in WHOLE.items() for word in words(phrases)}

PHRASE = any_of(*(text for languages in RATINGS.values() for text in languages.values()))
RATING = re.compile(PHRASE, re.IGNORECASE)
NOT_OURS = re.compile(any_of(OTHERS, FORMER), re.IGNORECASE)


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_WHOLE = re.compile(r"(?>\W*)((?:[^.;!|]*[\w\u0900-\u0963])?)")
_LEAD = _compile(rf"(?>(?:{any_of(LEAD)}|[\W\d])*)")
_SINCE = _compile(any_of(SINCE))
_LEAD_SINCE = _compile(rf"(?>(?:{any_of(LEAD, SINCE)}|[\W\d])*)")
_CLAUSE = re.compile(r"[,;.:!?\u2013\u2014]| - ")
_NEGATION = _compile(any_of(NEGATION))
_ARROW = _compile(
    rf"(?>[^\w.;!?>→⇒➜➔⟶➝➞⮕▶►»]*)(?:[>→⇒➜➔⟶➝➞⮕▶►»]|から|에서)(?>(?:{any_of(LEAD)}|\W)*)"
)
_TOWARDS = _compile(rf"(?>\W*){any_of(TOWARDS)}\W*")
# A dash, a colon or the end of a clause begins a remark; any other sign sets side by side.
_BESIDE = _compile(rf"(?>(?:{any_of(BESIDE, TOWARDS)}|[^\w.;:!?←⇐\u2013\u2014-])*)")
_DENIED = _compile(
    r"\s(?:(?:is|are|was|would be|seems|looks|rating|sie|est|es|e|ar|ist|ware)\s)?"
    rf"{any_of(NEGATION_AFTER)}(?!\s(?:more|less|over|above|below|only|just)\b)"
)
# "Sell is warranted" is a rating, "Sell is premature" is none.
_AFFIRMED = _compile(
    r"\s(?:is|was|seems|looks)\s(?:now\s|still\s)?"
    r"(?:warranted|appropriate|justified|maintained|confirmed|reiterated|recommended|our|the)\b"
    rf"|\swas\s{PHRASE}"
)
_OTHER_THING = _compile(rf"\s?!*\?|\s{any_of(OTHER_THING)}|-\w|'\w")
_ENDED = _compile(rf"(?>(?:{any_of(CJK_AFTER)})*)(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")

_BOXES = "☐□⬜☑☒✅✔"
_UNTICKED = re.compile(rf"(?:\[\s?\]|[☐□⬜])[^\[{_BOXES}]*")
_LEADING = re.compile(
    r"(?:\d|[^\w(\[{<【《])*[(\[{<【《]+([^()\[\]{}<>【】《》]*)(?:[)\]}>】》]+|$)"
)
_REMARK = re.compile(
    r"\([^()]*(?:\)|$)|\[[^\[\]]*(?:\]|$)|\{[^{}]*(?:\}|$)|<[^<>]*(?:>|$)|【[^【】]*】|《[^《》]*》"
)


@lru_cache(maxsize=1024)
def read_value(value: str) -> Possible:
    """What a value says: its first rating, or the last one of a change of ratings.

    Three or more ratings side by side are a scale or an unfilled template and say nothing;
    two that differ are undecided; a rating that is denied leaves the other directions.
    """
    value = _without_remarks(_UNTICKED.sub(" ", value))
    whole = _WHOLE.match(value)
    if whole and (only := _WHOLE_OF.get(_key(whole[1]))):
        return frozenset({only})
    hits = [
        _Hit(rating, hit.start(), hit.end())
        for hit in RATING.finditer(value)
        if (rating := _RATING_OF.get(_key(hit[0])))
    ]
    if not hits:
        return ANY
    lead = value[: hits[0].start]
    if not _LEAD_SINCE.fullmatch(lead):
        denied = _NEGATION.search(_CLAUSE.split(lead)[-1])
        return _denial(hits[0].rating) if denied else ANY
    return _settle(value, hits, was=_SINCE.search(lead) is not None)


def _settle(value: str, hits: list[_Hit], *, was: bool) -> Possible:
    """The ratings of one chain of changes and choices; ``was``: it starts with a former one."""
    beside, end, changed = {hits[0].rating}, hits[0].end, False
    for hit in hits[1:]:
        gap = value[end : hit.start]
        if _ARROW.fullmatch(gap) or (was and not changed and _TOWARDS.fullmatch(gap)):
            beside, changed = {hit.rating}, True
        elif _BESIDE.fullmatch(gap):
            beside.add(hit.rating)
        else:
            break
        end = hit.end
    if len(beside) == 1:
        return ANY if was and not changed else _unless_continued(beside.pop(), value, end)
    return ANY if len(beside) >= _SCALE else UNDECIDED


def _unless_continued(rating: Rating, value: str, end: int) -> Possible:
    """A rating, unless the words behind it deny it or make it part of another thing."""
    if _DENIED.match(value, end):
        return _denial(rating)
    part = _OTHER_THING.match(value, end) and not _AFFIRMED.match(value, end)
    return ANY if part or not _ENDED.match(value, end) else frozenset({rating})


def _denial(rating: Rating) -> Possible:
    return frozenset(other for other in Rating if other.direction != rating.direction)


def _without_remarks(value: str) -> str:
    """A value without brackets; one that opens the value with a rating is markup around it."""
    leading = _LEADING.match(value)
    hit = RATING.search(leading[1]) if leading else None
    if leading and hit and _LEAD.fullmatch(leading[1], 0, hit.start()):
        value = leading[1] + value[leading.end() :]
    return _REMARK.sub(" ", _REMARK.sub(" ", value))

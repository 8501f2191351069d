"""Which of the five ratings a text gives, if it clearly gives one."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from tradmem.model import Rating
from tradmem.rating.lines import answer_lines
from tradmem.rating.value import ANY, NOT_OURS, PHRASE, RATING, Possible, read_value
from tradmem.rating.words import (
    LABEL_CORE,
    LABEL_FINAL,
    LABEL_OWN,
    LABEL_WEAK,
    OTHERS,
    any_of,
)

_OPENING, _WEAK, _PLAIN, _FINAL = range(4)
_MAX_CHOICES = 12  # lines of one list of ratings


class _Label(NamedTuple):
    rank: int
    value: str


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_CORE_NAME = _compile(any_of(LABEL_CORE))
_WEAK_NAME = _compile(any_of(LABEL_WEAK))
_FINAL_NAME = _compile(any_of(LABEL_FINAL))
_OTHERS = _compile(any_of(OTHERS))

_MARKS = (
    r"(?>\W*)(?>(?:\d{1,2}(?:\.\d{1,2})+\s|"
    r"(?:\d{1,2}(?:\.\d{1,2})*|[a-z]|[ivx]{1,4}|[一二三四五六七八九十]{1,3})\s?[.):、])?)(?>\W*)"
)
_NAME = any_of(LABEL_CORE, LABEL_WEAK, LABEL_FINAL, LABEL_OWN)
_NAMES = rf"(?>(?:{_NAME}(?:'s)?(?:\s?[/&]\s?|\s(?![\u2013\u2014-])|-(?=\w))?){{1,12}})"
_BRACKETS = r"(?>(?:\s?[(\[][^()\[\]]*[)\]])*)"
# "for NVDA", "für Siemens Energy", "on the stock": a name is known by its capitals.
_PROPER = r"(?-i:[A-Z0-9^][\w.&^=-]*)"
_ABOUT = (
    r"(?:\s?\b(?:for|on|of|fur|pour|sur|per|para|voor|untuk|as of|at)\s"
    rf"(?:{_PROPER}(?:\s{_PROPER}){{0,5}}|(?:the|this)\s(?:stock|shares?|company)))?"
)
_IS = r"(?:\s?(?:\b(?:is|remains|ist|est|es|e|ar|adalah)|为|為|是|は))?"
_LABEL = _compile(
    rf"{_MARKS}(?P<name>{_NAMES})[)\]}}]?(?P<aside>{_BRACKETS}{_ABOUT}{_BRACKETS}){_IS}"
    r"(?:\s?(?:[:|]|\s[\u2013\u2014-]+\s)(?P<value>.*)|\s?$)"
)
_CHOICE = _compile(
    r"(?>[-+>#•\s]*)(?:\d{1,2}[.)]\s?)?"
    rf"(?P<choice>(?:\[\s?x?\])?\W*{PHRASE}[^\w,:;?/|\u2013\u2014-]*)"
)
_OPENS = _compile(rf"{_MARKS}{PHRASE}[^\w.,:;?!/|\u2013\u2014-]*(?:[!。]|\.(?![\w.])|$)")
_RULE = re.compile(r"(?>[|:+\s]*)[-=][-=|:+\s]*")
_WORD = re.compile(r"\w")


def parse_rating(text: str) -> Rating | None:
    """The rating that a text clearly gives, or None; never a silent Hold.

    A rating stands behind a label that starts its line (``Rating: Buy``), or opens the text
    as a bare word. A label that says "final" outranks the others; two of the same rank that
    disagree give None. Takes time linear in the text's length and never raises.
    """
    possible, given = ANY, False
    votes = sorted(_votes(answer_lines(text, _is_label)), key=lambda vote: -vote[0])
    for _, rank in groupby(votes, key=lambda vote: vote[0]):
        for _, left in rank:
            possible &= left
            given = given or len(left) == 1
        if len(possible) <= 1:
            break
    return next(iter(possible)) if given and len(possible) == 1 else None


def _votes(lines: Sequence[str]) -> Iterator[tuple[int, Possible]]:
    """What each label of a text says, with the label's rank."""
    first = _next_line(lines, 0)
    if first < len(lines) and _opens(lines[first]):
        yield _OPENING, read_value(_choices(lines, first))
    for index, line in enumerate(lines):
        label = _label(line) if line else None
        if label and label.value:
            yield label.rank, _read(label.value)
        elif label:
            yield label.rank, _read_below(lines, index + 1, label.rank)
        if "|" in line and _is_rule(lines, index + 1):
            yield from _column_votes(lines, index)


@lru_cache(maxsize=1024)
def _opens(line: str) -> bool:
    """Whether a line begins with a rating as a bare word."""
    return _OPENS.match(line) is not None


@lru_cache(maxsize=1024)
def _label(line: str) -> _Label | None:
    """The label at the start of a line, and what stands behind it."""
    found = _LABEL.match(line)
    if not found:
        return None
    name, aside = found["name"], found["aside"]
    if NOT_OURS.search(aside) and not RATING.search(aside):
        return None
    if _FINAL_NAME.search(name) or _FINAL_NAME.search(aside):
        rank = _FINAL
    elif _CORE_NAME.search(name):
        rank = _PLAIN
    elif _WEAK_NAME.search(name):
        rank = _WEAK
    else:
        return None
    value = found["value"] or ""
    return _Label(rank, value if _WORD.search(value) else "")


def _is_label(name: str) -> bool:
    label = _label(name)
    return label is not None and not label.value


def _read(value: str) -> Possible:
    """A value, which may have a label of its own (``Decision: Rating: Sell``)."""
    inner = _label(value)
    return read_value(inner.value if inner and inner.value else value)


def _next_line(lines: Sequence[str], start: int) -> int:
    """The next line that holds a word."""
    while start < len(lines) and not _WORD.search(lines[start]):
        start += 1
    return start


def _read_below(lines: Sequence[str], start: int, rank: int) -> Possible:
    """The value of a label that stands alone on its line."""
    index = _next_line(lines, start)
    if index >= len(lines):
        return ANY
    inner = _label(lines[index])
    if inner and (rank < _FINAL or inner.rank == _WEAK):
        return ANY  # that line speaks for itself
    return _read(_choices(lines, index))


def _choices(lines: Sequence[str], start: int) -> str:
    """A line; a list of nothing but ratings becomes one line of choices."""
    choices: list[str] = []
    for line in lines[start : start + _MAX_CHOICES]:
        if not (choice := _CHOICE.fullmatch(line)):
            break
        choices.append(choice["choice"])
    return " / ".join(choices) or lines[start]


def _is_rule(lines: Sequence[str], index: int) -> bool:
    return index < len(lines) and _RULE.fullmatch(lines[index]) is not None


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.removeprefix("|").removesuffix("|").split("|")]


def _body(lines: Sequence[str], start: int) -> Iterator[list[str]]:
    """The rows of a table, down to its end or to the header of the next one."""
    for index in range(start, len(lines)):
        if _is_rule(lines, index):
            continue
        row = _cells(lines[index])
        if "|" not in lines[index] or (_is_rule(lines, index + 1) and any(map(_label, row))):
            return
        yield row


def _column_votes(lines: Sequence[str], header: int) -> Iterator[tuple[int, Possible]]:
    """The columns of a table that are headed by a label; rows that disagree are no rating."""
    names = _cells(lines[header])
    columns = [(at, label.rank) for at, name in enumerate(names) if (label := _label(name))]
    if not columns or _OTHERS.search(names[0]):
        return
    rows = [row for row in _body(lines, header + 2) if not NOT_OURS.search(row[0])]
    for at, rank in columns:
        said = {read_value(row[at]) for row in rows if at < len(row)} - {ANY}
        last = {read_value(row[at]) for row in rows if at < len(row) and _FINAL_NAME.search(row[0])}
        if len(last - {ANY}) == 1:
            yield _FINAL, (last - {ANY}).pop()
        elif len(said) == 1:
            yield rank, said.pop()

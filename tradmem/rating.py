"""Which of the five ratings a text gives, if it clearly gives one.

A rating stands behind a label that starts its line, or opens the text as a bare word. What
is somebody else's, negated, a legend or two at once is no rating: None, and never Hold.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from tradmem import rating_words as table
from tradmem.model import Rating

_TEXT_LIMIT = 2_000_000
_VALUE_LIMIT = 300  # characters behind a label that are looked at
_JSON_TRIES = 8

_HIDDEN = re.compile("[\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]")
_THINK = re.compile(
    r"[<\[◁](/?)(?:think|thinking|thought|thoughts|reasoning|scratchpad)\b[^<>\[\]◁▷]{0,200}[>\]▷]",
    re.IGNORECASE,
)
_HTML = re.compile(r"</?[a-z][^<>]{0,100}>", re.IGNORECASE)
_STRUCK = re.compile(r"~~[^~\n]{0,300}~~")
_MARKUP = re.compile(
    r"[*`~\"“”„‘’«»「」『』【】]|(?<![a-z0-9])_+|_+(?![a-z0-9])|\\boxed|\\text(?:bf)?"
)
_NUMBERING = re.compile(r"(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]\s+")
_ARROW = re.compile(r"[-=]+>|[→⇒➔➜➝➞⟶]")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_RULE = re.compile(r"[\s|:+-]*-[\s|:+-]*\Z")
_JOIN = re.compile(r"[\s)\]}]*(?::|\s[-–—]\s|\|)|[\s)\]}]*\Z")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class _Found(NamedTuple):
    """A rating behind a label; None if the label names two at once."""

    rank: int
    rating: Rating | None


def parse_rating(text: str) -> Rating | None:
    """The rating that a text clearly gives, or None.

    A label ("Rating", "Final recommendation", "评级" …) starts its line and is joined to
    its value by a colon, a spaced dash or a table bar, or the value is the next line. A
    label that says "final" outranks the others; two of the same rank that disagree are None.
    Reasoning blocks do not count. Broker scales and the main market languages are mapped
    onto the five levels. Never raises; the time grows with the length of the text.
    """
    text = _without_reasoning(text[:_TEXT_LIMIT])
    found, rest = _in_json(text)
    lines = [_plain(line) for line in _STRUCK.sub(" ", _HTML.sub(" ", rest)).splitlines()]
    found += _in_lines(lines)
    if found:
        top = max(item.rank for item in found)
        ratings = {item.rating for item in found if item.rank == top}
        return ratings.pop() if len(ratings) == 1 else None
    return _opening(lines)


def _without_reasoning(text: str) -> str:
    """The text outside of its reasoning blocks; one that is not closed hides all that follows."""
    kept: list[str] = []
    depth, end = 0, 0
    for tag in _THINK.finditer(text):
        if not depth:
            kept.append(text[end : tag.start()])
        if not tag[1]:
            depth += 1
        elif depth:
            depth -= 1
        else:  # the block was opened in the prompt
            kept.clear()
        end = tag.end()
    return "".join(kept) if depth else "".join([*kept, text[end:]])


def _plain(text: str) -> str:
    """Case, width, accents and markup removed."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = unicodedata.normalize("NFC", _HIDDEN.sub("", text))
    return _MARKUP.sub("", text.casefold()).strip()


@lru_cache(maxsize=16)
def _any_of(words: str) -> str:
    """An expression for any of some words, the longest first."""
    plain = sorted({_plain(word) for word in table.words(words)}, key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in plain)


_LEVELS = {
    _plain(word): rating for rating, words in table.VALUES.items() for word in table.words(words)
}
_VALUE = re.compile(rf"(?:(?:{_any_of(table.LEADS)})\s*)?({_any_of(','.join(_LEVELS))})")
_EDGE = re.compile(
    rf"(?![\w-])|-(?=\s|\Z)|(?={_any_of(table.SUFFIXES)})|(?<=[^\x00-\u024f])(?=[a-z])"
)
_NOT_BEFORE = re.compile(rf"\s*\?|[\s-]+(?:{_any_of(table.NOT_BEFORE)})(?!\w)")
_BESIDE = re.compile(
    rf"\s*(?:[/,、|&・]+\s*|[-–]\s*|\s(?:{_any_of(table.BESIDE)})\s+|(?:或者?|和|または|또는)\s*)"
)
_LABEL = re.compile(
    rf"(?:(?:{_any_of(table.QUALIFIERS)}|(?P<before>{_any_of(table.FINAL)}))\s*)*"
    rf"(?:(?P<noun>{_any_of(table.NOUNS)})|(?P<weak>{_any_of(table.WEAK_NOUNS)}))"
    rf"(?:\s*(?P<after>{_any_of(table.FINAL)}))?(?!\w)"
    r"(?:\s*\([^()]{0,60}\)|\s+(?:for|on|für|pour|para|per|voor)\s+[^\s:|]{1,40})?"
)


def _in_json(text: str) -> tuple[list[_Found], str]:
    """Ratings under the keys of the first JSON objects, and the text without those objects."""
    found: list[_Found] = []
    rest, at, decoder = "", 0, json.JSONDecoder()
    for _ in range(_JSON_TRIES):
        start = text.find("{", at)
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
            rest += text[at:end]
        else:
            rest += text[at:start]
            found += _in_value(value)
        at = end
    return found, rest + text[at:]


def _in_value(value: Any, depth: int = 0) -> Iterator[_Found]:
    if depth > 8:
        return
    if isinstance(value, list):
        for item in value:
            yield from _in_value(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str):
                label = _CAMEL.sub(" ", key).replace("_", " ")
                yield from _labelled(f"{_plain(label)}: {_plain(item)}")
            else:
                yield from _in_value(item, depth + 1)


def _in_lines(lines: list[str]) -> list[_Found]:
    found: list[_Found] = []
    column: int | None = None  # of the rating, in a table with a header row
    for number, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if "|" in line else []
        if column is not None and len(cells) > column:
            found += _labelled(f"rating: {cells[column]}")
            continue
        if not (cells and _RULE.match(line)):
            column = None
        here = _labelled(_start(line), lines, number)
        found += here
        if not here and len(cells) > 1 and _RULE.match(_next(lines, number)):
            column = _rating_column(cells)
    return found


def _rating_column(cells: list[str]) -> int | None:
    for number, cell in enumerate(cells):
        label = _LABEL.match(cell)
        if label and label["noun"] and label.end() == len(cell):
            return number
    return None


def _next(lines: list[str], number: int) -> str:
    return lines[number + 1] if number + 1 < len(lines) else ""


def _start(line: str) -> str:
    """A line without its list mark, quotation mark, heading mark or emoji."""
    line = _strip_left(line)
    numbered = _NUMBERING.match(line)
    return _strip_left(line[numbered.end() :]) if numbered else line


def _strip_left(line: str) -> str:
    start = 0
    while start < len(line) and not line[start].isalnum():
        start += 1
    return line[start:]


def _labelled(line: str, lines: list[str] | None = None, number: int = 0) -> list[_Found]:
    """The rating behind the label that starts a line, if it has one."""
    label = _LABEL.match(line)
    join = _JOIN.match(line, label.end()) if label else None
    if not label or not join:
        return []
    value = line[join.end() : join.end() + _VALUE_LIMIT].strip()
    on_next_line = not value
    if on_next_line:
        value = _following(lines or [], number)
    read = _read(value, bare=on_next_line)
    if read is None:
        return []
    final = bool(label["before"] or label["after"])
    return [_Found(rank=2 if final else 1 if label["noun"] else 0, rating=read[0])]


def _following(lines: list[str], number: int) -> str:
    """The next line that says anything."""
    for line in lines[number + 1 : number + 6]:
        text = _start(line)
        if text:
            return text[:_VALUE_LIMIT]
    return ""


def _read(value: str, *, bare: bool = False) -> tuple[Rating | None] | None:
    """The rating that a value gives: (rating,), (None,) for two at once, None for none.

    Args:
        value: what stands behind a label.
        bare: whether nothing but punctuation may follow the rating.
    """
    outside = _BRACKETS.sub(" ", value)
    value = outside if any(map(str.isalnum, outside)) else value
    value = _ARROW.split(value)[-1]
    first = _word(_strip_left(value))
    if first is None or (bare and re.match(r"\s*\w", first[1])):
        return None
    rating, rest = first
    while beside := _BESIDE.match(rest):
        other = _word(_strip_left(rest[beside.end() :]), alone=False)
        if other is None:
            break
        if other[0] is not rating:
            return (None,)
        rest = other[1]
    return (rating,)


def _word(text: str, *, alone: bool = True) -> tuple[Rating, str] | None:
    """The rating word that a text starts with, and what follows it.

    Args:
        text: without leading marks.
        alone: whether what follows may turn it into something else ("hold off").
    """
    found = _VALUE.match(text)
    if not found or not _EDGE.match(text, found.end()):
        return None
    if alone and _NOT_BEFORE.match(text, found.end()):
        return None
    return _LEVELS[re.sub(r"\s+", " ", found[1])], text[found.end() :]


def _opening(lines: list[str]) -> Rating | None:
    """The bare rating word that opens a text, before a full stop, a "!" or the line's end."""
    first = next((text for line in lines if (text := _start(line))), "")
    word = _word(first[:_VALUE_LIMIT])
    if word and re.match(r"[\s)\]}]*(?:\.(?!\w)|[!。]|\Z)", word[1]):
        return word[0]
    return None

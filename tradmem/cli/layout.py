"""Text in the columns of a terminal: tables that fit it, and paragraphs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple
from unicodedata import combining, east_asian_width

import click

from tradmem.cli.output import safe
from tradmem.model import NOTHING

_CUT = "…"
_GAP = 2
_LIST_MARK = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,3}[.)]|>|#{1,6})?[ \t]*")

Style = Mapping[str, Any]


class Cell(NamedTuple):
    """A text and how it looks, in the words of :func:`click.style`."""

    text: str
    style: Style = NOTHING


class Column(NamedTuple):
    """One column of a table. One without any text in its cells is not shown.

    Attributes:
        title: its heading.
        right: whether it is aligned to the right.
        drop: the higher, the sooner it goes when room is short; 0 stays.
        least: if above 0, the column takes what room is left, but no less than this.
    """

    title: str
    right: bool = False
    drop: int = 0
    least: int = 0


def table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], room: int) -> Iterator[str]:
    """Aligned lines, the heading first.

    Args:
        columns: from left to right.
        rows: one cell per column.
        room: columns of the screen; lines are longer only where nothing can be dropped.
    """
    cells = [[Cell(one_line(cell.text), cell.style) for cell in row] for row in rows]
    widths = _widths(columns, cells, room)
    heading = [Cell(column.title, {"dim": True}) for column in columns]
    for row in (heading, *cells):
        yield (" " * _GAP).join(_padded(columns, widths, row)).rstrip()


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], room: int) -> dict[int, int]:
    """The width of each column that is shown, by its number."""
    widths: dict[int, int] = {}
    for number, column in enumerate(columns):
        longest = max((cell_width(row[number].text) for row in rows), default=0)
        if longest:
            widths[number] = max(longest, len(column.title))
    while widths:
        least = {n: min(width, columns[n].least or width) for n, width in widths.items()}
        left = room - sum(least.values()) - _GAP * (len(least) - 1)
        soonest = max(widths, key=lambda n: columns[n].drop)
        if left >= 0 or not columns[soonest].drop:
            return {n: min(width, least[n] + max(left, 0)) for n, width in widths.items()}
        del widths[soonest]
    return widths


def _padded(
    columns: Sequence[Column], widths: Mapping[int, int], row: Sequence[Cell]
) -> Iterator[str]:
    for number, width in widths.items():
        text = cut(row[number].text, width)
        blanks = " " * (width - cell_width(text))
        styled = click.style(text, **row[number].style) if text and row[number].style else text
        is_last = number == max(widths)
        yield blanks + styled if columns[number].right else styled + blanks * (not is_last)


def one_line(text: str) -> str:
    """A text on one line, safe on a terminal."""
    return safe(" ".join(text.split()))


def cut(text: str, width: int) -> str:
    """The beginning of a text, within a number of columns."""
    if cell_width(text) <= width:
        return text
    left = width - len(_CUT)
    for number, char in enumerate(text):
        left -= _char_width(char)
        if left < 0:
            return text[:number].rstrip() + _CUT
    return text


def listed(items: Sequence[str], width: int, head: str) -> Iterator[str]:
    """Items with commas between them, none broken over two lines, hanging below a head."""
    line, is_empty = head, True
    for number, item in enumerate(items):
        word = item + "," * (number < len(items) - 1)
        if not is_empty and cell_width(line) + 1 + cell_width(word) > width:
            yield line
            line, is_empty = " " * cell_width(head), True
        line += word if is_empty else f" {word}"
        is_empty = False
    yield line


def paragraphs(text: str, width: int, indent: str = "  ") -> Iterator[str]:
    """The lines of a text, wrapped and indented; a wrapped list item hangs."""
    for line in safe(text.replace("\t", "    ")).split("\n"):
        found = _LIST_MARK.match(line)
        mark = found[0] if found else ""
        yield from _wrap(line[len(mark) :], width, indent + mark, indent + " " * len(mark))


def _wrap(text: str, width: int, first: str, then: str) -> Iterator[str]:
    line, used, is_empty = first, cell_width(first), True
    for word in text.split():
        for piece in _pieces(word, max(width - cell_width(then), 1)):
            size = cell_width(piece)
            if not is_empty and used + 1 + size > width:
                yield line.rstrip()
                line, used, is_empty = then, cell_width(then), True
            line += piece if is_empty else f" {piece}"
            used += size + (not is_empty)
            is_empty = False
    yield line.rstrip()


def _pieces(word: str, width: int) -> Iterator[str]:
    """A word, in parts where it is longer than a line (or holds no spaces, as Chinese)."""
    while cell_width(word) > width:
        fits = accumulate(map(_char_width, word))
        end = max(sum(size <= width for size in fits), 1)
        yield word[:end]
        word = word[end:]
    yield word


def cell_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


@lru_cache(maxsize=4096)
def _char_width(char: str) -> int:
    if combining(char) or char in "\u200b\u200d\ufe0f":
        return 0
    return 2 if east_asian_width(char) in "WF" else 1

"""The track record for people: tables, and in plain words what they say and what not."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import click

from tradmem.cli.layout import Cell, Column, paragraphs, table
from tradmem.cli.words import bold, counted, minute
from tradmem.lessons.attrition import Alarm
from tradmem.lessons.track import Group, Line
from tradmem.lessons.track_words import (
    CONVENTION,
    DUE,
    FATES,
    KINDS,
    NO_MEANS,
    NOTHING_YET,
    READING,
    alarm_line,
    hits,
    interval,
    is_news,
    means,
    name_of,
    share,
    verdict,
)

_HITS = (
    Column(""),
    *(Column(name, right=True) for name in ("RIGHT", "WRONG")),
    Column("NEUTRAL", right=True, drop=1),
    *(Column(name, right=True) for name in ("HIT", "INTERVAL", "WORTH", "SHRUNK")),
    *(Column(name, right=True) for name in ("CHANCE", "BUY")),
)
_MEANS = (
    Column(""),
    *(Column(name, right=True) for name in ("N", "SCORE", "INTERVAL", "ALWAYS BUY")),
    *(Column(name, right=True) for name in ("AHEAD", "INTERVAL")),
)
_APART = (
    Column(""),
    *(Column(name, right=True) for name in ("DECIDED", "RIGHT", "WRONG", "HIT")),
    *(Column(name, right=True) for name in ("WITHOUT", "INTERVAL")),
)


def page(
    lines: Sequence[Line], alarms: Iterable[Alarm], as_of: datetime, room: int
) -> Iterator[str]:
    """The track record in tables and words.

    Args:
        lines: in their order; those of a horizon stand together.
        alarms: of the whole record.
        as_of: the instant from which it looks, aware UTC.
        room: columns of the screen.
    """
    decided = counted(lines[0].attrition.decided, "decision")
    yield bold(f"Track record of {decided}, as of {minute(as_of)}")
    for alarm in alarms:
        for text in paragraphs(alarm_line(alarm), room, ""):
            yield click.style(text, fg="red")
    for horizon in dict.fromkeys(line.horizon for line in lines):
        yield ""
        yield bold(f"After {counted(horizon, 'session')}")
        yield from _horizon([line for line in lines if line.horizon == horizon], room)


def _horizon(lines: Sequence[Line], room: int) -> Iterator[str]:
    overall = lines[0]
    shown = [line for line in lines if is_news(line, lines)]
    judged = [line for line in shown if line.rate.n or line.track.judged]
    if judged:
        yield from _grouped(_HITS, [(line, hits(line)) for line in judged], room)
        yield ""
        yield from paragraphs(READING, room, "")
        yield ""
        for text in verdict(overall, lines):
            yield from paragraphs(text, room, "")
        yield from _means(shown, room)
    else:
        yield NOTHING_YET
    yield ""
    yield bold("What became of the decisions")
    columns = (Column(""), *(Column(title.upper(), right=True) for title in FATES.values()))
    yield from _grouped(columns, [(line, _fates(line)) for line in shown], room)
    if overall.attrition.open:
        yield ""
        yield from paragraphs(DUE, room, "")
    yield from _apart(overall, room)


def _grouped(
    columns: Sequence[Column], rows: Sequence[tuple[Line, Sequence[str]]], room: int
) -> Iterator[str]:
    """A table of lines with an empty one between the groups."""
    cells: list[Sequence[Cell]] = []
    before: Group | None = None
    for line, row in rows:
        if before not in (None, line.group):
            cells.append([Cell("")] * len(columns))
        cells.append([Cell(name_of(line)), *map(Cell, row)])
        before = line.group
    return table(columns, cells, room)


def _means(lines: Sequence[Line], room: int) -> Iterator[str]:
    rows = [(line, means(line)) for line in lines if line.score.value is not None]
    yield ""
    yield bold("Means, of one decision")
    if not rows:
        yield NO_MEANS
        return
    yield from _grouped(_MEANS, rows, room)
    yield ""
    yield from paragraphs(CONVENTION, room, "")


def _fates(line: Line) -> Sequence[str]:
    """What became of a line's decisions; a zero is left out, and so a column of them."""
    return [str(getattr(line.attrition, name) or "") for name in FATES]


def _apart(overall: Line, room: int) -> Iterator[str]:
    if not overall.apart:
        return
    yield ""
    yield bold("Looked at apart, for it could flatter")
    rows = []
    for kind in overall.apart:
        alone, without = kind.alone, kind.without
        counts = (kind.decided, alone.right, alone.n - alone.right)
        rates = (share(alone.value), share(without.value), interval(without))
        rows.append([Cell(KINDS[kind.name]), *(Cell(str(text)) for text in (*counts, *rates))])
    yield from table(_APART, rows, room)

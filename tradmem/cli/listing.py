"""Lists of entries: one table for all commands, and what is due on which date."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime

from tradmem.cli.layout import Cell, Column, listed, table
from tradmem.cli.words import called, from_now, result, says
from tradmem.journal.tagline import percent
from tradmem.model import Entry

_COLUMNS = (
    Column("DATE"),
    Column("TICKER"),
    Column("RATING"),
    Column("RESULT"),
    Column("RETURN", right=True, drop=1),
    Column("ALPHA", right=True),
    Column("KNOWN", drop=3),
    Column("AGENT", drop=2),
    Column("LESSON", drop=4, least=30),
    Column("ID"),
)


def entry_lines(entries: Iterable[Entry], room: int, indent: str = "") -> Iterator[str]:
    """A table of entries that fits the room, the heading first; nothing for no entries."""
    entries = list(entries)
    is_one = len({entry.agent for entry in entries}) == 1  # a column of one name says nothing
    rows = [_row(entry, "" if is_one else entry.agent) for entry in entries]
    if rows:
        for line in table(_COLUMNS, rows, room - len(indent)):
            yield indent + line


def _row(entry: Entry, agent: str) -> Sequence[Cell]:
    outcome = entry.outcome
    return (
        Cell(entry.date.isoformat()),
        Cell(entry.ticker),
        Cell(called(entry)),
        Cell("" if entry.recorded.is_note else result(entry).text, result(entry).style),
        Cell(percent(outcome.raw_return) if outcome else ""),
        Cell(percent(outcome.alpha) if outcome else ""),
        Cell(outcome.known_on.isoformat() if outcome else ""),
        Cell(agent),
        Cell(says(entry), {"dim": True}),
        Cell(entry.id, {"dim": True}),
    )


def due_lines(pending: Iterable[tuple[Entry, datetime]], now: datetime, room: int) -> Iterator[str]:
    """Pending decisions by the UTC date on which they are due, the earliest first."""
    days: dict[date, list[tuple[Entry, datetime]]] = {}
    for entry, due in sorted(pending, key=lambda pair: (pair[1], pair[0].ticker)):
        days.setdefault(due.date(), []).append((entry, due))
    for day, items in days.items():
        away = from_now(items[0][1], now)
        names = [f"{entry.ticker} {called(entry)}" for entry, _ in items]
        yield from listed(names, room, f"  {day}  {away:<12}  ")

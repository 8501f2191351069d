"""What is asked of the tables, and how the answers become what the journal returns."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date as Date  # noqa: N812 - as everywhere in this package
from datetime import datetime, timedelta
from typing import Any

from tradmem.journal.postgres import queries
from tradmem.journal.postgres.connection import Conn, Server
from tradmem.journal.postgres.queries import Queries
from tradmem.journal.postgres.rows import askable, entry_of
from tradmem.journal.selection import Wanted
from tradmem.journal.verdicts import CELLS, Counts, Sums
from tradmem.model import Entry

_ENDLESS = 1_000_000  # where nobody names a limit of other tickers


def memories(connection: Conn, ask: Queries, wanted: Wanted) -> list[Entry]:
    """The newest memories that are wanted, as they stood then."""
    if wanted.limit is not None and wanted.limit <= 0:
        return []
    return then(connection.execute(*memories_query(ask, wanted)).fetchall(), wanted.as_of)


def at_once(
    connection: Conn, ask: Queries, own: Wanted, others: Wanted
) -> tuple[list[Any], list[Any], list[Any]]:
    """The rows of two kinds of memories and of the counts, in one round trip."""
    values = {"ticker": askable(own.ticker or ""), "as_of": own.as_of}
    with connection.pipeline():
        found = [
            connection.execute(*memories_query(ask, wanted)) if wanted.limit else None
            for wanted in (own, others)
        ]
        counts = connection.execute(ask(queries.COUNTS), values)
    first, second = (cursor.fetchall() if cursor else [] for cursor in found)
    return first, second, counts.fetchall()


def memories_query(ask: Queries, wanted: Wanted) -> tuple[bytes, dict[str, Any]]:
    """The statement for some memories, and its values."""
    parts = []
    if wanted.lessons:
        parts.append("has_lesson")
    if not wanted.hidden:
        parts.append("NOT hidden")
    values = {
        "as_of": wanted.as_of,
        "day": day_after(wanted.as_of),
        "ticker": None if wanted.ticker is None else askable(wanted.ticker),
        "not_ticker": askable(wanted.not_ticker or ""),
    }
    if wanted.ticker is not None:
        parts.append("ticker = %(ticker)s")
    if wanted.distinct:
        which = " AND ".join(parts) or "true"
        return ask(queries.others(which, wanted.limit or _ENDLESS)), values
    if wanted.not_ticker:
        parts.append("ticker <> %(not_ticker)s")
    return ask(queries.memories(" AND ".join(parts) or "true", wanted.limit)), values


def day_after(instant: datetime) -> Date:
    """The date that it may be already at an instant, somewhere; the last one there is, at most."""
    day = instant.date()
    return day + timedelta(days=1) if day < Date.max else day


def then(rows: Sequence[Sequence[Any]], as_of: datetime) -> list[Entry]:
    """The entries of some rows as they stood at an instant."""
    stood = (entry_of(row).at(as_of) for row in rows)
    return [entry for entry in stood if entry]


def counts_of(rows: Sequence[Sequence[Any]]) -> tuple[Counts, ...]:
    """The counts that the sums of the database make."""
    found = []
    for horizon, cells, totals, raw, primaries, sums in rows:
        by_cell = dict(zip(cells, totals, strict=True))
        if any(totals):
            found.append(
                Counts(
                    horizon,
                    tuple(by_cell.get(cell, 0) for cell in range(CELLS)),
                    raw,
                    primaries,
                    Sums(*sums) if sums and sums[0] is not None else Sums(),
                )
            )
    return tuple(found)


class Lessons(Mapping[str, str]):
    """By the hash of a lesson, the entry that said it first; each asked for when it is wanted."""

    def __init__(self, server: Server, ask: Queries) -> None:
        self._server = server
        self._ask = ask

    def __getitem__(self, digest: str) -> str:
        query = self._ask(queries.LESSON)
        row = self._server.run(lambda c: c.execute(query, (askable(digest),)).fetchone())
        if row is None:
            raise KeyError(digest)
        return str(row[0])

    def _all(self) -> dict[str, str]:
        query = self._ask(queries.LESSONS)
        return dict(self._server.run(lambda c: c.execute(query).fetchall()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

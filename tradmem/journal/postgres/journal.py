"""The journal in PostgreSQL, for agents on many machines."""

import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from datetime import date as Date  # noqa: N812 - `date` is the name of a field elsewhere
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import psycopg

from tradmem.errors import ConflictError, LogBusy
from tradmem.journal.ahead import fetched
from tradmem.journal.base import Journal, MayRevise, OnConflict, Stored, place
from tradmem.journal.block import fold_now
from tradmem.journal.finding import Sought
from tradmem.journal.passages import Changes, passage_of
from tradmem.journal.postgres import claims, finding, queries, reading, upkeep, writing
from tradmem.journal.postgres.claims import LEASE, Claim
from tradmem.journal.postgres.connection import Conn, Server, explain
from tradmem.journal.postgres.place import where
from tradmem.journal.postgres.queries import Queries
from tradmem.journal.postgres.rows import askable, entry_of
from tradmem.journal.postgres.vectors import MAY_WRITE, StoredVectors
from tradmem.journal.selection import KEPT_PER_TICKER, Wanted
from tradmem.journal.verdicts import Counts
from tradmem.model import Addition, Decision, Entry, Problem

_ATTEMPTS = 20  # against others that record the same key at the same time
_AT_ONCE = 500  # entries that are read before they are wanted
_HEX = re.compile(r"[0-9a-f]+\Z")
_LOOK_AGAIN = 0.1  # seconds between looks at the resolvers' lock


class PostgresJournal:
    """Entries in one schema of a PostgreSQL database; any number of processes may use it.

    Entries and additions are only ever inserted. The schema is made by ``tradmem db upgrade``.

    Args:
        url: ``postgresql://user:password@host:port/database``, with ``?schema=NAME`` for
            another schema than ``tradmem``.
        schema: the same, and stronger.
        horizons: sessions after which outcomes are taken; an entry that still waits for
            one of them stays in the work queue.
        timeout: seconds to go on trying to reach a server that is away, or to wait for a lock.
        connections: of this process at most.

    Raises:
        UsageError: the URL names no database.
    """

    def __init__(
        self,
        url: str,
        *,
        schema: str | None = None,
        horizons: Sequence[int] = (),
        timeout: float = 30,
        connections: int = 8,
    ) -> None:
        self._place = where(url, schema)
        self.horizons = tuple(horizons)
        self._server = Server(self._place, timeout=timeout, connections=connections)
        self._ask = Queries(self._place.schema)
        self._resolver = threading.Lock()

    def __repr__(self) -> str:
        return f"PostgresJournal({self._place.shown!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all connections; the next call makes new ones."""
        self._server.close()

    @property
    def name(self) -> str:
        """The URL for people: without a password."""
        return self._place.shown

    # Writing

    def append(
        self,
        decision: Decision,
        *,
        on_conflict: OnConflict = OnConflict.KEEP,
        may_revise: MayRevise = lambda _: True,
    ) -> tuple[Entry, Stored]:
        """See :class:`~tradmem.journal.base.Journal`."""
        # The first attempt looks at nothing: mostly there is nothing with this key yet.
        placed, stored = place(decision, [], lambda _: False, on_conflict, may_revise)
        assert isinstance(placed, Decision)
        maybe: dict[str, tuple[Decision, Stored]] = {}  # what a lost connection may have stored
        olds: list[Entry] = []
        for anew in (False, *[True] * _ATTEMPTS):
            done, is_sure = self._record(placed, olds, anew=anew)
            if done:
                return fold_now(placed, ()), stored
            if not is_sure:
                maybe[placed.id] = (placed, stored)
            group = self.find(decision.date, decision.ticker)
            standing, stored = place(decision, group, self._is_taken, on_conflict, may_revise)
            if isinstance(standing, Entry):
                ours, before = maybe.get(standing.id, (None, stored))
                return standing, before if ours == standing.recorded else stored
            if twin := _twin(standing, group):
                raise ConflictError(
                    f"{standing.date} {standing.ticker} was decided already, as {twin.id}; "
                    f"{standing.id} cannot stand beside it"
                )
            placed, olds = standing, [old for old in group if _same_key(old, standing)]
        raise LogBusy(
            f"{self.name}: others keep recording {decision.date} {decision.ticker}; try again later"
        )

    def _record(
        self, decision: Decision, olds: Sequence[Entry], *, anew: bool
    ) -> tuple[bool, bool]:
        """Whether this stored it, and whether it is sure that no attempt of this did."""
        entry = fold_now(decision, ())
        attempts = 0

        def attempt(connection: Conn) -> bool:
            nonlocal attempts
            attempts += 1
            return writing.record(
                connection, self._ask, entry, anew=anew, horizons=self.horizons, olds=olds
            )

        return self._server.run(attempt), attempts < 2

    def _is_taken(self, entry_id: str) -> bool:
        return self._server.run(lambda c: writing.is_taken(c, self._ask, entry_id))

    def add(self, additions: Sequence[tuple[str, Addition]]) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        return self._server.run(
            lambda c: writing.add(c, self._ask, additions, horizons=self.horizons)
        )

    # Reading

    def get(self, entry_id: str) -> Entry | None:
        """See :class:`~tradmem.journal.base.Journal`."""
        return self.get_all([entry_id]).get(entry_id)

    def beginning(self, start: str) -> list[str]:
        """The ids that begin so, by their index."""
        query, ends = self._ask(queries.BEGINNING), f"{start}g"  # an id's last digit is an f
        if not _HEX.match(start):
            return []
        return [key for (key,) in self._server.run(lambda c: c.execute(query, (start, ends)))]

    def find(self, day: Date, ticker: str) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        found = self._entries(queries.BY_DAY, {"ticker": askable(ticker), "date": day})
        return sorted(found, key=lambda entry: entry.archived)

    def entries(self, *, archived: bool = True) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        if archived:
            return self._entries(queries.ALL)
        return self._entries(queries.IN_LOG, is_filed=True)

    def in_sequence(self) -> Iterator[Entry]:
        """All entries in the order in which they were stored, as of one instant, few in memory.

        Raises:
            LogError: the server went away meanwhile.
        """
        with self._of_its_own() as connection:
            try:
                with connection.transaction(), connection.cursor("sequence") as cursor:
                    cursor.itersize = _AT_ONCE
                    for row in cursor.execute(self._ask(queries.IN_SEQUENCE)):
                        yield entry_of(row)
            except psycopg.Error as error:
                raise explain(error, self._place) from error

    def latest(self, limit: int) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        return self._entries(queries.LATEST, (limit,), is_filed=True) if limit > 0 else []

    def unfinished(self) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        return self._entries(queries.UNFINISHED, is_filed=True)

    def lacking(self, horizons: Sequence[int]) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        return self._entries(queries.LACKING, (list(horizons),))

    def _entries(self, query: str, values: Any = None, *, is_filed: bool = False) -> list[Entry]:
        """The entries that a statement gives; of what follows from them, if ``is_filed``."""

        def read(connection: Conn) -> list[tuple[Any, ...]]:
            if is_filed:
                writing.file_if_writable(connection, self._ask, self.horizons)
            return connection.execute(self._ask(query), values).fetchall()

        return [entry_of(row) for row in self._server.run(read)]

    def _file(self) -> None:
        self._server.run(lambda c: writing.file_if_writable(c, self._ask, self.horizons))

    def memories(
        self,
        as_of: datetime,
        *,
        ticker: str | None = None,
        not_ticker: str | None = None,
        distinct: bool = False,
        lessons: bool = False,
        hidden: bool = False,
        limit: int | None = None,
    ) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        wanted = Wanted(as_of, ticker, not_ticker, distinct, lessons, hidden, limit)
        return self._server.run(lambda c: reading.memories(c, self._ask, wanted))

    def counts(self, ticker: str, as_of: datetime) -> tuple[Counts, ...]:
        """See :class:`~tradmem.journal.base.Journal`."""
        values = {"ticker": askable(ticker), "as_of": as_of}
        query = self._ask(queries.COUNTS)
        return reading.counts_of(self._server.run(lambda c: c.execute(query, values).fetchall()))

    def at_once(self, ticker: str, as_of: datetime, *, same: int, others: int) -> Journal:
        """See :class:`~tradmem.journal.ahead.AtOnce`: all of a recall in one round trip."""
        own = Wanted(as_of=as_of, ticker=ticker, not_ticker=None, limit=same)
        rest = Wanted(
            as_of=as_of, ticker=None, not_ticker=ticker, distinct=True, lessons=True, limit=others
        )
        found = self._server.run(lambda c: reading.at_once(c, self._ask, own, rest))
        return fetched(
            self,
            ticker=ticker,
            as_of=as_of,
            own=lambda limit: reading.then(found[0][:limit], as_of),
            others=lambda limit: reading.then(found[1][:limit], as_of),
            counts=reading.counts_of(found[2]),
            most=(same, others),
        )

    def passages(self, mark: Any = None) -> Changes:
        """See :class:`~tradmem.journal.base.Journal`."""

        def changed(connection: Conn) -> tuple[str, list[Any]]:
            writing.file_if_writable(connection, self._ask, self.horizons)
            # What is still being written now gets a number from here on, and comes next time.
            row = connection.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text")
            (now,) = row.fetchone() or ("0",)
            return now, connection.execute(self._ask(queries.CHANGED), (mark or "0",)).fetchall()

        now, rows = self._server.run(changed)
        return Changes(passages=[passage_of(entry_of(row)) for row in rows], mark=now)

    def vectors(self, model: str) -> StoredVectors | None:
        """See :class:`~tradmem.journal.nearness.VectorJournal`; a replica keeps none."""
        table = (f'"{self._place.schema}".vectors',)
        (may_write,) = self._server.run(lambda c: c.execute(MAY_WRITE, table).fetchone()) or (
            False,
        )
        return StoredVectors(self._server, self._ask, model) if may_write else None

    def holding(self, sought: Sought) -> Iterator[Entry]:
        """See :class:`~tradmem.journal.finding.FullTextJournal`."""
        self._file()
        return finding.holding(self._server, self._ask, sought)

    def holding_some(self, sought: Sought) -> Iterator[Entry]:
        """See :class:`~tradmem.journal.finding.FullTextJournal`."""
        self._file()
        return finding.holding_some(self._server, self._ask, sought)

    def get_all(self, ids: Iterable[str], *, replaced: bool = True) -> dict[str, Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        names = list(dict.fromkeys(ids))
        found = self._server.run(lambda c: writing.by_id(c, self._ask, names))
        if replaced or not found:
            return found
        query = self._ask(queries.REPLACED_OF)
        gone = self._server.run(lambda c: c.execute(query, (list(found),)).fetchall())
        return {key: entry for key, entry in found.items() if (key,) not in gone}

    def lessons(self) -> Mapping[str, str]:
        """See :class:`~tradmem.journal.base.Journal`."""
        return reading.Lessons(self._server, self._ask)

    def tickers(self) -> set[str]:
        """See :class:`~tradmem.journal.base.Journal`."""
        query = self._ask(queries.TICKERS)
        return {ticker for (ticker,) in self._server.run(lambda c: c.execute(query).fetchall())}

    def problems(self) -> list[Problem]:
        """See :class:`~tradmem.journal.base.Journal`: nobody can write what is no entry."""
        return []

    # Resolving

    def claim(
        self,
        due: datetime | None = None,
        *,
        limit: int | None = None,
        tickers: Iterable[str] | None = None,
        ids: Iterable[str] | None = None,
        lease: float = LEASE,
    ) -> Claim:
        """See :class:`~tradmem.journal.base.WorkQueue`."""
        return claims.claim(
            self._server,
            self._ask,
            due=due,
            limit=limit,
            tickers=tickers,
            ids=ids,
            lease=lease,
            horizons=self.horizons,
        )

    def resolving(self, timeout: float = 0) -> AbstractContextManager[None]:
        """See :class:`~tradmem.journal.base.Journal`; workers with claims may run beside."""
        return self._resolve_alone(timeout)

    @contextmanager
    def _resolve_alone(self, timeout: float) -> Iterator[None]:
        ends = time.monotonic() + timeout
        busy = LogBusy(f"{self.name} is being resolved by another process; try again later")
        if not self._resolver.acquire(timeout=max(timeout, 0)):
            raise busy
        try:
            while (connection := self._server.run(self._locked)) is None:
                if time.monotonic() >= ends:
                    raise busy
                time.sleep(_LOOK_AGAIN)
            with closing(connection):
                yield
        finally:
            self._resolver.release()

    def _locked(self, _: Conn) -> Conn | None:
        """A connection that holds the resolvers' lock while it is open; None if it is taken."""
        lock = "SELECT pg_try_advisory_lock(hashtext('tradmem'), hashtext(%s))"
        stay = (  # however long nothing is asked over it; not every server has the setting
            "SELECT set_config(name, '0', false) FROM pg_settings "
            "WHERE name = 'idle_session_timeout'"
        )
        with ExitStack() as unless_kept:
            connection = unless_kept.enter_context(closing(self._server.connect()))
            if connection.execute(lock, (self._place.schema,)).fetchone() != (True,):
                return None
            connection.execute(stay)
            unless_kept.pop_all()
            return connection

    def _of_its_own(self) -> Conn:
        return self._server.run(lambda _: self._server.connect())

    # Upkeep

    def measure(self, due: datetime) -> dict[str, Any]:
        """How large the log is, and how much of its work queue is due by an instant."""
        self._file()
        return self._server.run(lambda c: upkeep.measure(c, self._ask, due))

    def archive(self, keep: int, at: datetime) -> int:
        """Mark resolved entries beyond the newest as archived, and say how many.

        Never a pending or settled one, a note, one of the newest of its ticker, or one
        that still waits for an outcome at a further horizon.

        Args:
            keep: how many resolved entries stay.
            at: the clock, for the stamp.
        """
        moved = 0
        mark = upkeep.archived(at)
        while names := self._server.run(
            lambda c: upkeep.oldest(c, self._ask, keep, KEPT_PER_TICKER, self.horizons)
        ):
            self.add([(key, mark) for key in names])
            moved += len(names)
        return moved

    def mark_archived(self, ids: Sequence[str]) -> None:
        """Let some entries be archived, at no known instant, as those of a file's archive are."""
        for start in range(0, len(ids), _AT_ONCE):
            self.add([(key, upkeep.archived(None)) for key in ids[start : start + _AT_ONCE]])

    def rebuild(self) -> int:
        """Fold everything anew from entries and additions, and say how many entries there are.

        Others may go on meanwhile.
        """
        done, some = 0, 1
        after = ("", "")

        def fold_anew(connection: Conn) -> tuple[int, tuple[str, str]]:
            return upkeep.fold_anew(connection, self._ask, after, self.horizons)

        while some:
            some, after = self._server.run(fold_anew)
            done += some
        return done


def _twin(decision: Decision, group: Sequence[Entry]) -> Entry | None:
    """What stands under the same key and another id."""
    if decision.is_note:
        return None
    same = (e for e in group if not (e.recorded.is_note or e.edited))
    return next((entry for entry in same if entry.recorded.key == decision.key), None)


def _same_key(old: Entry, decision: Decision) -> bool:
    return not (old.recorded.is_note or decision.is_note) and old.agent == decision.agent

"""The journal in memory, for replays and tests: the same contract, without a file."""

import threading
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import date as Date  # noqa: N812 - `date` is the name of a field elsewhere
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from tradmem.errors import LogBusy, UnknownEntry
from tradmem.journal.base import (
    MayRevise,
    OnConflict,
    Stored,
    check_additions,
    is_replaced,
    lacks,
    newest_revisions,
    place,
)
from tradmem.journal.block import fold_now
from tradmem.journal.passages import Changes, passage_of
from tradmem.journal.selection import Wanted, last_taught, select
from tradmem.journal.tally import SILENT, Tally, judgements
from tradmem.journal.text import clean
from tradmem.journal.verdicts import Counts
from tradmem.model import Addition, Decision, Entry, Problem, Status


class _Place(NamedTuple):
    """Where a memory stands among all: by recency, the oldest first."""

    known_at: datetime
    date: Date
    id: str
    number: int


def _is_plain(entry: Entry) -> bool:
    """Whether there is but one instant at which an entry can have become a memory."""
    return sum(addition.outcome is not None for addition in entry.additions) <= 1


class RamJournal:
    """Entries in memory; nothing is archived, nothing survives the process."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._numbers: dict[str, int] = {}
        self._days: dict[tuple[Date, str], list[int]] = {}
        self._of_ticker: dict[str, list[int]] = {}
        self._orders: dict[str, list[_Place]] = {"": []}
        self._unfinished: dict[int, None] = {}
        self._replaced: set[int] = set()
        self._taken_back: set[int] = set()  # they taught something once, and do no more
        self._tallies: dict[str, Tally] = {}
        self._touched: list[int] = []
        self._lessons: dict[str, str] = {}
        self._threads = threading.RLock()
        self._resolver = threading.Lock()

    def __repr__(self) -> str:
        return f"RamJournal({len(self._entries)} entries)"

    def append(
        self,
        decision: Decision,
        *,
        on_conflict: OnConflict = OnConflict.KEEP,
        may_revise: MayRevise = lambda _: True,
    ) -> tuple[Entry, Stored]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._threads:
            group = self.find(decision.date, decision.ticker)
            placed, stored = place(
                decision, group, self._numbers.__contains__, on_conflict, may_revise
            )
            if isinstance(placed, Entry):
                return placed, stored
            entry = fold_now(placed, ())
            number = self._numbers[entry.id] = len(self._entries)
            self._entries.append(entry)
            self._days.setdefault((entry.date, entry.ticker), []).append(number)
            self._touched.append(number)
            self._of_ticker.setdefault(entry.ticker, []).append(number)
            self._hear(entry.recorded.extra, entry.id)
            self._file(number, entry)
            if stored is Stored.REVISED:
                self._tallies.pop(entry.ticker, None)
                newest = newest_revisions([*group, entry])
                self._replaced |= {
                    self._numbers[other.id]
                    for other in (*group, entry)
                    if is_replaced(other, newest)
                }
            return entry, stored

    def add(self, additions: Sequence[tuple[str, Addition]]) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        check_additions(additions)
        with self._threads:
            for name, _ in additions:
                if name not in self._numbers:
                    raise UnknownEntry(f"no entry has the id {name}; `tradmem log` lists them")
            for name, addition in additions:
                number = self._numbers[name]
                entry = self._entries[number]
                if addition.text and (text := clean(addition.text)) != addition.text:
                    addition = replace(addition, text=text)  # noqa: PLW2901
                if addition not in entry.additions:
                    now = fold_now(entry.recorded, (*entry.additions, addition))
                    self._entries[number] = now
                    self._touched.append(number)
                    self._hear(addition.data, name)
                    self._file(number, now, entry)
                    if addition.kind not in SILENT:
                        self._count(entry, now)
            return [self._entries[self._numbers[name]] for name, _ in additions]

    def _hear(self, data: Mapping[str, Any], name: str) -> None:
        if "lesson" in data:
            self._lessons.setdefault(str(data["lesson"]), name)

    def _count(self, before: Entry, now: Entry) -> None:
        """Keep the counts of a ticker; only what came anew is counted."""
        tally = self._tallies.get(now.ticker)
        if tally is None:
            return
        old, new = judgements(before), judgements(now)
        if new[: len(old)] == old and not self._is_replaced(now):
            tally.add(new[len(old) :])
        else:
            del self._tallies[now.ticker]

    def _file(self, number: int, entry: Entry, before: Entry | None = None) -> None:
        """Put an entry in its place among the memories, and take it from that of before."""
        if entry.status in (Status.PENDING, Status.SETTLED):
            self._unfinished[number] = None
        else:
            self._unfinished.pop(number, None)
        if before and entry.outcome is before.outcome and entry.outcomes == before.outcomes:
            return  # it teaches since when it did
        known_at, was = last_taught(entry), last_taught(before) if before else None
        if known_at and entry.known_at is None:
            self._taken_back.add(number)
        else:
            self._taken_back.discard(number)
        if known_at == was:
            return
        recorded = entry.recorded
        for key in ("", recorded.ticker):
            places = self._orders.setdefault(key, [])
            if was:
                del places[bisect_left(places, _Place(was, recorded.date, recorded.id, number))]
            if known_at:
                insort(places, _Place(known_at, recorded.date, recorded.id, number))

    def get(self, entry_id: str) -> Entry | None:
        """See :class:`~tradmem.journal.base.Journal`."""
        number = self._numbers.get(entry_id)
        return None if number is None else self._entries[number]

    def find(self, day: Date, ticker: str) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._threads:
            return [self._entries[number] for number in self._days.get((day, ticker), ())]

    def entries(self, *, archived: bool = True) -> list[Entry]:  # noqa: ARG002
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._threads:
            return sorted(self._entries, key=lambda entry: entry.date)

    def latest(self, limit: int) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        return self.entries()[-limit:] if limit > 0 else []

    def unfinished(self) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._threads:
            found = (self._entries[number] for number in sorted(self._unfinished))
            return [entry for entry in found if not self._is_replaced(entry)]

    def lacking(self, horizons: Sequence[int]) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._threads:
            return [e for e in self._entries if lacks(e, horizons) and not self._is_replaced(e)]

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
        with self._threads:
            newest = self._newest(wanted)
            if newest is not None:
                return newest
            return select([self], RamJournal._recallable, wanted).entries

    def _newest(self, wanted: Wanted) -> list[Entry] | None:
        """The same as a selection, where all that is wanted stood then as it stands now.

        None where an entry that may have been known earlier, or otherwise, has to be folded.
        """
        if wanted.limit == 0:
            return []
        found: dict[str, Entry] = {}
        as_of, today, limit = wanted.as_of, wanted.as_of.date(), wanted.limit
        others, distinct, entries = wanted.not_ticker, wanted.distinct, self._entries
        for known_at, day, name, number in reversed(self._orders.get(wanted.ticker or "", ())):
            entry = entries[number]
            ticker = entry.recorded.ticker
            if ticker == others or (day > today and day > wanted.last_date):
                continue
            if entry.changed_at > as_of:
                if known_at > as_of and _is_plain(entry):
                    continue
                return None
            key = ticker if distinct else name
            if key in found or number in self._replaced or number in self._taken_back:
                continue
            if not wanted.suits(entry):
                continue
            found[key] = entry
            if len(found) == limit:
                break
        return list(found.values())

    def _recallable(self, number: int) -> Entry | None:
        return None if number in self._replaced else self._entries[number]

    def _is_replaced(self, entry: Entry) -> bool:
        return bool(self._replaced) and self._numbers[entry.id] in self._replaced

    def newest_first(self, ticker: str = "") -> Iterator[tuple[bytes, int]]:
        """See :class:`~tradmem.journal.selection.Ordered`."""
        for known_at, _, _, number in reversed(self._orders.get(ticker, ())):
            yield known_at.date().isoformat().encode(), number

    def date_of(self, number: int) -> bytes:
        """See :class:`~tradmem.journal.selection.Ordered`."""
        return self._entries[number].date.isoformat().encode()

    def ticker_of(self, number: int) -> bytes:
        """See :class:`~tradmem.journal.selection.Ordered`."""
        return self._entries[number].ticker.encode()

    def counts(self, ticker: str, as_of: datetime) -> tuple[Counts, ...]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._threads:
            if ticker not in self._tallies:
                self._tallies[ticker] = Tally(
                    judgement
                    for number in self._of_ticker.get(ticker, ())
                    if (entry := self._recallable(number))
                    for judgement in judgements(entry)
                )
            return self._tallies[ticker].as_of(as_of)

    def passages(self, mark: Any = None) -> Changes:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._threads:
            numbers = dict.fromkeys(self._touched[mark or 0 :])
            found = [passage_of(self._entries[number]) for number in numbers]
            return Changes(passages=found, mark=len(self._touched))

    def get_all(self, ids: Iterable[str], *, replaced: bool = True) -> dict[str, Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._threads:
            found = (self.get(name) for name in ids)
            return {e.id: e for e in found if e and (replaced or not self._is_replaced(e))}

    def lessons(self) -> Mapping[str, str]:
        """See :class:`~tradmem.journal.base.Journal`."""
        return MappingProxyType(self._lessons)

    def tickers(self) -> set[str]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._threads:
            return set(self._of_ticker)

    def problems(self) -> list[Problem]:
        """See :class:`~tradmem.journal.base.Journal`: there is nothing to go wrong."""
        return []

    def resolving(self, timeout: float = 0) -> AbstractContextManager[None]:
        """See :class:`~tradmem.journal.base.Journal`."""
        return self._resolve_alone(timeout)

    @contextmanager
    def _resolve_alone(self, timeout: float) -> Iterator[None]:
        if not self._resolver.acquire(timeout=timeout):
            raise LogBusy("this journal is being resolved by another thread; try again later")
        try:
            yield
        finally:
            self._resolver.release()

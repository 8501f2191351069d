"""A full-text index over a journal, in memory, that answers as of any instant.

It holds one row per entry: its text as it stands now, under a number that grows with the
instant since when it stands so. As of an earlier instant the rows up to it count, and an
entry whose text has changed since is folded and looked at by itself; so what is found, and
how rare a word is, depends on nothing that was not known then.
"""

import gc
import threading
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tradmem.journal.base import Journal
from tradmem.journal.passages import Passage
from tradmem.lessons.fulltext import FullText
from tradmem.lessons.view import BITS, View, number_of

_BATCH = 20_000  # rows that are written at once
_FEW = 1_000  # rows that are worth sorting in one by one
_MOST_DEAD = 200  # replaced rows, beyond a tenth of those that stand


class Row(NamedTuple):
    """An entry in the index: what a passage says of it, apart from its text."""

    id: str
    ticker: str
    day: str
    made: datetime
    since: datetime
    teaches: bool
    sole: bool
    archived: bool
    digest: int


@contextmanager
def _no_collection() -> Iterator[None]:
    """Have no garbage looked for: a large log makes many objects, and none that is garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class SearchIndex:
    """The texts of a journal's entries; comes up to date with it when it is asked.

    Several threads may ask.

    Args:
        journal: what to look into.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._lock = threading.RLock()
        self._mark: Any = None
        self._start_over()

    def _start_over(self) -> None:
        self.memories = FullText()
        self.others = FullText()
        self.rows: dict[int, Row] = {}
        self._numbers: dict[str, int] = {}
        self.order: list[int] = []
        self.teaching: list[int] = []
        self.taught: list[int] = []  # what was, or may have been, another memory before
        self._first: dict[str, datetime] = {}
        self._next = 0
        self.dead = [0, 0]  # replaced rows of the others, and of the memories

    @contextmanager
    def view(self, as_of: datetime | None, *, memories: bool = False) -> Iterator[View]:
        """What could be found at an instant, for one question.

        Args:
            as_of: aware UTC; None for everything that is stored.
            memories: only what had taught something by then.
        """
        with self._lock:
            self._refresh()
            yield View(self, as_of or datetime.max.replace(tzinfo=UTC), memories=memories)

    def tickers(self, as_of: datetime) -> list[str]:
        """The tickers of what was decided or noted by an instant."""
        return [ticker for ticker, made in self._first.items() if made <= as_of]

    def number(self, name: str) -> int | None:
        """The number of an entry's row; None if it has none."""
        return self._numbers.get(name)

    def row_of(self, name: str, number: int) -> Row:
        """The row of an entry by its id, or else by its number."""
        return self.rows[self._numbers[name] if name else number]

    # Staying up to date

    def _refresh(self) -> None:
        if self._mark is None:
            with _no_collection():
                self._read_on()
        else:
            self._read_on()

    def _read_on(self) -> None:
        changes = self.journal.passages(self._mark)
        if changes.passages or changes.gone:
            for name in changes.gone:
                self._drop(name)
            self._take(changes.passages)
            if sum(self.dead) > len(self.rows) // 10 + _MOST_DEAD or self._next >> (BITS - 1):
                self._start_over()
                self._take(self.journal.passages().passages)
        self._mark = changes.mark

    def _take(self, passages: Sequence[Passage]) -> None:
        are_many = False
        for start in range(0, len(passages), _BATCH):
            fresh = [
                (passage, digest)
                for passage in passages[start : start + _BATCH]
                if self._drop(passage.id, unless=(digest := hash(passage)))
            ]
            fresh.sort(key=lambda pair: (pair[0].since, pair[0].day, pair[0].id))
            numbers = [self._add(passage, digest) for passage, digest in fresh]
            pairs = list(zip(numbers, (passage for passage, _ in fresh), strict=True))
            self.memories.add((number, p.text) for number, p in pairs if p.teaches)
            self.others.add((number, p.text) for number, p in pairs if not p.teaches)
            are_many = are_many or len(numbers) > _FEW
            if not are_many:
                self._order(numbers)
        if are_many:  # once for all
            self.order = sorted(self.rows)
            self.teaching = [n for n in self.order if self.rows[n].teaches]
            self.taught = [n for n in self.order if not self.rows[n].sole]

    def _order(self, numbers: Iterable[int]) -> None:
        """Put a few new rows into the orders."""
        for number in numbers:
            insort(self.order, number)
            if self.rows[number].teaches:
                insort(self.teaching, number)
            if not self.rows[number].sole:
                insort(self.taught, number)

    def _add(self, passage: Passage, digest: int) -> int:
        number = number_of(passage.since, self._next)
        self._next += 1
        self._numbers[passage.id] = number
        self.rows[number] = Row(
            passage.id,
            passage.ticker,
            passage.day,
            passage.made,
            passage.since,
            passage.teaches,
            passage.sole,
            passage.archived,
            digest,
        )
        first = self._first.get(passage.ticker)
        if first is None or passage.made < first:
            self._first[passage.ticker] = passage.made
        return number

    def _drop(self, name: str, unless: int | None = None) -> bool:
        """Let go of an entry's row; False if it stands already as it should."""
        number = self._numbers.get(name)
        if number is None:
            return True
        row = self.rows[number]
        if row.digest == unless:
            return False
        del self._numbers[name], self.rows[number]
        for numbers in (self.order, self.teaching, self.taught):
            place = bisect_left(numbers, number)
            if numbers[place : place + 1] == [number]:
                del numbers[place]
        self.dead[row.teaches] += 1
        return True

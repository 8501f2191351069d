"""A full-text index over a journal, in memory, that answers as of any instant.

It holds one row per entry: its text as it stands now, under a number that grows with the
instant since when it stands so. As of an earlier instant the rows up to it count, and an
entry whose text has changed since is folded and looked at by itself; so what is found, and
how rare a word is, depends on nothing that was not known then.
"""

import sqlite3
import threading
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from math import log
from typing import Any, NamedTuple

from tradmem.errors import TradmemError
from tradmem.journal.base import Journal
from tradmem.journal.passages import Passage, passage_of
from tradmem.lessons.words import TOKENIZER, Term, spaced
from tradmem.model import Entry

RAREST = 12  # words of a query by which its answers are ranked
COMMON = 500  # a word that as many entries hold tells little about any of them
_BITS = 24  # of a row's number, for rows of one second
_START = datetime(1, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_BATCH = 20_000  # rows that are written at once
_HASH_SIZE = 1 << 26  # bytes of new rows that SQLite gathers before it merges them
_MOST_DEAD = 1_000  # replaced rows, beyond as many as there are live ones


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


class Rare(NamedTuple):
    """A word, what holding it is worth (its inverse document frequency), and who holds it."""

    term: Term
    weight: float
    keys: list[int]


class Texts:
    """A few texts to look into for words, each named by its place."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._table = full_text_table()
        rows = ((place, spaced(text)) for place, text in enumerate(texts))
        self._table.executemany("INSERT INTO passages (rowid, text) VALUES (?, ?)", rows)

    def holding(self, term: Term) -> set[int]:
        """The places of the texts that hold a word or phrase."""
        return {place for (place,) in _match(self._table, term.match)}


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
        self.table = full_text_table()
        self.rows: dict[int, Row] = {}
        self._numbers: dict[str, int] = {}
        self.order: list[int] = []
        self.teaching: list[int] = []
        self._first: dict[str, datetime] = {}
        self.common: dict[tuple[str, bool], int] = {}
        self._next = self._dead = 0

    @contextmanager
    def view(self, as_of: datetime | None, *, memories: bool = False) -> "Iterator[View]":
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

    def row_of(self, name: str, number: int) -> Row:
        """The row of an entry by its id, or else by its number."""
        return self.rows[self._numbers[name] if name else number]

    # Staying up to date

    def _refresh(self) -> None:
        changes = self.journal.passages(self._mark)
        if changes.passages or changes.gone:
            for name in changes.gone:
                self._drop(name)
            self._take(changes.passages)
            if self._dead > len(self.rows) + _MOST_DEAD or self._next >> (_BITS - 1):
                self._start_over()
                self._take(self.journal.passages().passages)
        self._mark = changes.mark

    def _take(self, passages: Sequence[Passage]) -> None:
        for start in range(0, len(passages), _BATCH):
            fresh = [
                (passage, digest)
                for passage in passages[start : start + _BATCH]
                if self._drop(passage.id, unless=(digest := hash(passage)))
            ]
            fresh.sort(key=lambda pair: (pair[0].since, pair[0].day, pair[0].id))
            numbers = [self._add(passage, digest) for passage, digest in fresh]
            with self.table:
                self.table.executemany(
                    "INSERT INTO passages (rowid, text) VALUES (?, ?)",
                    zip(numbers, (spaced(passage.text) for passage, _ in fresh), strict=True),
                )
            if len(numbers) > _MOST_DEAD:
                self.order = sorted(self.rows)
                self.teaching = [n for n in self.order if self.rows[n].teaches]
            else:
                for number in numbers:
                    insort(self.order, number)
                    if self.rows[number].teaches:
                        insort(self.teaching, number)

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
        if self.rows[number].digest == unless:
            return False
        del self._numbers[name], self.rows[number]
        for numbers in (self.order, self.teaching):
            place = bisect_left(numbers, number)
            if numbers[place : place + 1] == [number]:
                del numbers[place]
        self._dead += 1
        self.common.clear()
        return True


class View:
    """What an index held at an instant. Keys name entries as they stood; the greater, the newer."""

    def __init__(self, index: SearchIndex, as_of: datetime, *, memories: bool) -> None:
        self.as_of = as_of
        self._index = index
        self._memories = memories
        self._second = number_of(as_of, 0)  # the first number of the last second
        self._end = self._second + (1 << _BITS)
        self._then = dict(self._earlier())
        self._keys = list(self._then)
        self._texts = Texts(passage_of(entry).text for entry in self._then.values())

    def _earlier(self) -> Iterator[tuple[int, Entry]]:
        """The entries whose row shows them as they became later, as they stood then."""
        rows, order = self._index.rows, self._index.order
        names = {
            rows[number].id: number
            for number in order[bisect_left(order, self._second) :]
            if rows[number].made <= self.as_of < rows[number].since
            and not (self._memories and rows[number].sole)
        }
        for name, entry in self._index.journal.get_all(names).items():
            then = entry.at(self.as_of)
            if then and (then.known_at or not self._memories):
                yield number_of(then.changed_at, names[name]), then

    def _counts(self, number: int) -> bool:
        row = self._index.rows.get(number)
        return row is not None and row.since <= self.as_of and (row.teaches or not self._memories)

    def __len__(self) -> int:
        numbers = self._index.teaching if self._memories else self._index.order
        second, end = bisect_left(numbers, self._second), bisect_left(numbers, self._end)
        return second + sum(map(self._counts, numbers[second:end])) + len(self._then)

    def keys(self) -> list[int]:
        """All keys, in no order."""
        return [*filter(self._counts, self._index.order), *self._then]

    def row(self, key: int) -> Row:
        """What is known of a key without its entry; the date, ticker and place are today's."""
        return self._index.row_of(self._then[key].id if key in self._then else "", key)

    def holding(self, *terms: Term, limit: int | None = None) -> list[int]:
        """The keys whose texts hold all of some words or phrases, the newest first."""
        found = []
        wanted = " AND ".join(term.match for term in terms)
        for (number,) in _match(self._index.table, wanted, self._end):
            if self._counts(number):
                found.append(number)
                if len(found) == limit:
                    break
        if self._then:
            places = set.intersection(*map(self._texts.holding, terms))
            found += (self._keys[place] for place in places)
            found = sorted(found, reverse=True)[:limit]
        return found

    def rarest(self, terms: Iterable[Term], most: int = RAREST) -> list[Rare]:
        """Those words that the fewest entries hold, the rarest first; words that none holds go.

        Of a word that ``COMMON`` entries or more hold only the newest of them are looked at,
        and how many there are is told from how densely these stand.
        """
        found: dict[Term, list[int]] = {}
        common = []
        for term in terms:
            if self._is_common(term):
                common.append(term)
            elif keys := self.holding(term, limit=COMMON):
                found[term] = keys
                if len(keys) == COMMON:
                    self._index.common[term.match, self._memories] = self._end - 1
        if sum(len(keys) < COMMON for keys in found.values()) < most:
            found |= {term: self.holding(term, limit=COMMON) for term in common}
        total = len(self)
        rare = []
        for term, keys in found.items():
            count = self._estimate(keys, total) if len(keys) == COMMON else len(keys)
            rare.append(Rare(term, log(1 + (total - count + 0.5) / (count + 0.5)), keys))
        return sorted(rare, key=lambda word: -word.weight)[:most]

    def _is_common(self, term: Term) -> bool:
        """Whether it was found to be common as of this instant or an earlier one."""
        return self._index.common.get((term.match, self._memories), self._end) < self._end

    def _estimate(self, keys: list[int], total: int) -> int:
        """How many entries hold a word of which only the newest keys are known."""
        numbers = self._index.teaching if self._memories else self._index.order
        span = bisect_left(numbers, self._end) - bisect_left(numbers, keys[-1])
        span += sum(key >= keys[-1] for key in self._then)
        return min(total, round(total * len(keys) / max(span, len(keys))))

    def entries(self, keys: Iterable[int], *, replaced: bool = True) -> dict[int, Entry]:
        """The entries of some keys as they stood, in the order of the keys."""
        keys = list(keys)
        names = {key: self._then[key].id if key in self._then else self.row(key).id for key in keys}
        there = self._index.journal.get_all(names.values(), replaced=replaced)
        found = {}
        for key, name in names.items():
            entry = there.get(name)
            then = self._then.get(key) or (entry and entry.at(self.as_of))
            if entry and then:
                found[key] = then
        return found


def number_of(since: datetime, sequence: int) -> int:
    """The number of a row: it grows with the second, and differs by the sequence's low bits."""
    return ((since - _START) // _SECOND << _BITS) + (sequence & ((1 << _BITS) - 1))


def full_text_table(*, keep: bool = False) -> sqlite3.Connection:
    """A connection with an empty full-text table ``passages``.

    Args:
        keep: whether it keeps the texts too, beside where which words are.

    Raises:
        TradmemError: this Python's SQLite has no FTS5.
    """
    table = sqlite3.connect(":memory:", check_same_thread=False)
    options = "" if keep else "content='', columnsize=0, "
    options += f"tokenize='{TOKENIZER}'"
    try:
        table.execute(f"CREATE VIRTUAL TABLE passages USING fts5(text, {options})")
    except sqlite3.OperationalError as error:
        raise TradmemError(
            f"no search: this Python's SQLite cannot ({error}); use a Python whose SQLite has FTS5"
        ) from error
    table.execute("INSERT INTO passages (passages, rank) VALUES ('hashsize', ?)", (_HASH_SIZE,))
    return table


def _match(table: sqlite3.Connection, wanted: str, end: int = 1 << 62) -> Iterator[tuple[int]]:
    query = "SELECT rowid FROM passages WHERE passages MATCH ? AND rowid < ? ORDER BY rowid DESC"
    yield from table.execute(query, (wanted, end))

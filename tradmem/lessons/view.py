"""What a full-text index held at an instant."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from math import log
from typing import TYPE_CHECKING, NamedTuple

from tradmem.journal.passages import passage_of
from tradmem.lessons.fulltext import Texts
from tradmem.lessons.words import Term
from tradmem.model import Entry

if TYPE_CHECKING:
    from tradmem.lessons.search import Row, SearchIndex

RAREST = 12  # words of a query by which its answers are ranked
COMMON = 500  # a word that as many entries hold tells little about any of them
BITS = 24  # of a row's number, for rows of one second
_START = datetime(1, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


class Rare(NamedTuple):
    """A word, what holding it is worth (its inverse document frequency), and who holds it."""

    term: Term
    weight: float
    keys: list[int]


class View:
    """What an index held at an instant. Keys name entries as they stood; the greater, the newer."""

    def __init__(self, index: "SearchIndex", as_of: datetime, *, memories: bool) -> None:
        self.as_of = as_of
        self._index = index
        self._memories = memories
        self._second = number_of(as_of, 0)  # the first number of the last second
        self._end = self._second + (1 << BITS)
        self._tables = [index.memories] if memories else [index.memories, index.others]
        second, end = (bisect_left(self._numbers, n) for n in (self._second, self._end))
        late = self._numbers[second:end]
        # Rows that match and are not meant: replaced ones, and later ones of the last second.
        dead = index.dead[True] if memories else sum(index.dead)
        self._astray = dead + sum(not self._stands(n) for n in late)
        self._then = dict(self._earlier())
        self._keys = list(self._then)
        self._texts = Texts(passage_of(entry).text for entry in self._then.values())

    def _earlier(self) -> Iterator[tuple[int, Entry]]:
        """The entries whose row shows them as they became later, as they stood then."""
        rows = self._index.rows
        order = self._index.taught if self._memories else self._index.order
        names = {
            rows[number].id: number
            for number in order[bisect_left(order, self._second) :]
            if rows[number].made <= self.as_of < rows[number].since
        }
        for name, entry in self._index.journal.get_all(names).items():
            then = entry.at(self.as_of)
            if then and (then.known_at or not self._memories):
                yield number_of(passage_of(then).since, names[name]), then

    @property
    def _numbers(self) -> list[int]:
        return self._index.teaching if self._memories else self._index.order

    def _counts(self, number: int) -> bool:
        row = self._index.rows.get(number)
        return row is not None and row.since <= self.as_of and (row.teaches or not self._memories)

    def __len__(self) -> int:
        numbers = self._numbers
        second, end = bisect_left(numbers, self._second), bisect_left(numbers, self._end)
        return second + sum(map(self._counts, numbers[second:end])) + len(self._then)

    def keys(self) -> list[int]:
        """All keys, in no order."""
        return [*filter(self._counts, self._index.order), *self._then]

    def row(self, key: int) -> "Row":
        """What is known of a key without its entry; the date, ticker and place are today's."""
        return self._index.row_of(self._then[key].id if key in self._then else "", key)

    def find(self, ids: Iterable[str]) -> list[int]:
        """The keys of some ids, as far as they are here."""
        changed = {entry.id: key for key, entry in self._then.items()}
        keys = []
        for name in ids:
            number = self._index.number(name)
            if name in changed:
                keys.append(changed[name])
            elif number is not None and self._counts(number):
                keys.append(number)
        return keys

    @property
    def changed(self) -> list[Entry]:
        """The entries that have become something else since, as they stood."""
        return list(self._then.values())

    def newness(self, key: int) -> tuple[int, str, str]:
        """An order that is the same whenever the index was built: second, date, id."""
        row = self.row(key)
        return (key >> BITS, row.day, row.id)

    def holding(self, *terms: Term, limit: int = -1) -> list[int]:
        """The keys whose texts hold all of some words or phrases, the newest first."""
        wanted = " AND ".join(term.match for term in terms)
        found = self._holding(wanted, limit)
        if len(found) == limit:  # those of the last second in an order of their own
            second = found[-1] >> BITS << BITS
            newer = bisect_left(found, -second, key=lambda key: -(key >> BITS << BITS))
            group = self._holding(wanted, start=second, end=second + (1 << BITS))
            group.sort(key=self.newness, reverse=True)
            found = found[:newer] + group[: limit - newer]
        return found

    def _holding(
        self, wanted: str, limit: int = -1, *, start: int = 0, end: int | None = None
    ) -> list[int]:
        end = self._end if end is None else min(end, self._end)
        found: list[int] = []
        for table in self._tables:
            numbers = table.holding(wanted, start=start, end=end, limit=limit)
            if self._astray:
                kept = [number for number in numbers if self._stands(number)]
                if len(kept) < len(numbers) == limit:
                    numbers = table.holding(wanted, start=start, end=end)
                    kept = [number for number in numbers if self._stands(number)]
                numbers = kept
            found += numbers
        if self._then:
            places = set(range(len(self._keys)))
            for match in wanted.split(" AND "):
                places &= self._texts.holding(Term("", match))
            found += (key for p in places if start <= (key := self._keys[p]) < end)
        if len(self._tables) > 1 or self._then:
            found.sort(reverse=True)
        return found if limit < 0 else found[:limit]

    def _count(self, wanted: str, limit: int) -> int:
        """How many hold something, if it is less than a limit; else the limit or more."""
        rough = sum(
            t.count(wanted, end=self._end, limit=limit + self._astray) for t in self._tables
        )
        if rough - self._astray >= limit or not (self._astray or self._then):
            return rough
        return len(self._holding(wanted, limit))

    def _stands(self, number: int) -> bool:
        """Whether a row is no replaced one, and none of later in the last second."""
        rows = self._index.rows
        return number in rows and (number < self._second or rows[number].since <= self.as_of)

    def rarest(self, terms: Iterable[Term], most: int = RAREST) -> list[Rare]:
        """Those words that the fewest entries hold, the rarest first; words that none holds go.

        Of a word that ``COMMON`` entries or more hold only the newest of them are looked at,
        and how many there are is told from how densely these stand.
        """
        found: list[tuple[int, Term]] = []  # how many hold it, up to as many as can matter
        # The longer a word, the rarer it mostly is, and the less there is to count then.
        for term in sorted(terms, key=lambda term: -len(term.text)):
            limit = found[most - 1][0] if len(found) >= most else COMMON
            count = self._count(term.match, limit)
            if count and (count < limit or len(found) < most):
                insort(found, (min(count, COMMON), term), key=lambda pair: pair[0])
        total = len(self)
        rare = []
        for count, term in found[:most]:
            keys = self.holding(term, limit=COMMON)
            there = self._estimate(keys, total) if len(keys) == COMMON else count
            rare.append(Rare(term, log(1 + (total - there + 0.5) / (there + 0.5)), keys))
        return sorted(rare, key=lambda word: -word.weight)

    def _estimate(self, keys: list[int], total: int) -> int:
        """How many entries hold a word of which only the newest keys are known."""
        numbers = self._numbers
        second = keys[-1] >> BITS << BITS
        span = bisect_left(numbers, self._end) - bisect_left(numbers, second)
        span += sum(key >= second for key in self._then)
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
    return ((since - _START) // _SECOND << BITS) + (sequence & ((1 << BITS) - 1))

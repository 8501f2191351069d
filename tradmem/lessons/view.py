"""What a full-text index held at an instant."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from math import log
from typing import TYPE_CHECKING, NamedTuple

from tradmem.journal.passages import passage_of
from tradmem.lessons.fulltext import Texts, match
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
                yield number_of(passage_of(then).since, names[name]), then

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

    def holding(self, *terms: Term, limit: int | None = None) -> list[int]:
        """The keys whose texts hold all of some words or phrases, the newest first."""
        found: list[int] = []
        rows, second, end = self._index.rows, self._second, 0
        for (number,) in match(self._index.table, " AND ".join(t.match for t in terms), self._end):
            if number < end:
                break
            row = rows.get(number)  # _counts, without the cost of a call
            if (
                row is not None
                and (row.teaches or not self._memories)
                and (number < second or row.since <= self.as_of)
            ):
                found.append(number)
                if len(found) == limit:
                    end = number >> BITS << BITS  # to the end of its second
        if self._then:
            places = set.intersection(*map(self._texts.holding, terms))
            found += (self._keys[place] for place in places)
            found.sort(reverse=True)
        return found if limit is None or len(found) <= limit else self._first(found, limit)

    def _first(self, keys: list[int], limit: int) -> list[int]:
        """The newest keys, those of the last second in an order of their own."""
        second = keys[limit - 1] >> BITS
        whole = bisect_left(keys, -second, key=lambda key: -(key >> BITS))
        group = [key for key in keys[whole:] if key >> BITS == second]
        return keys[:whole] + sorted(group, key=self.newness, reverse=True)[: limit - whole]

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

"""Which entries of some indexed files had taught something by an instant, newest first."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date as Date  # noqa: N812 - as everywhere in the journal
from datetime import datetime, timedelta
from heapq import merge, nlargest
from typing import NamedTuple, Protocol, TypeVar

from tradmem.journal.base import recency
from tradmem.model import Entry, Status

KEPT_PER_TICKER = 5  # of a ticker's newest, which never leave the log


class Ordered(Protocol):
    """Entries by number, in the order in which they taught something."""

    def newest_first(self, ticker: str = "") -> Iterator[tuple[bytes, int]]:
        """What may be recalled, of a ticker or of all, as (date known, number)."""
        ...

    def date_of(self, number: int) -> bytes:
        """The ISO date of an entry."""
        ...

    def ticker_of(self, number: int) -> bytes:
        """The ticker of an entry."""
        ...


class Wanted(NamedTuple):
    """The arguments of ``Journal.memories``."""

    as_of: datetime
    ticker: str | None
    not_ticker: str | None
    distinct: bool = False
    lessons: bool = False
    hidden: bool = False
    limit: int | None = None

    @property
    def last_date(self) -> Date:
        """The latest date that a decision of then can carry: it is tomorrow, east of UTC."""
        day = self.as_of.date()
        return day + timedelta(days=1) if day < Date.max else day

    def fits(self, entry: Entry) -> bool:
        """Whether an entry, as it stood then, is wanted as far as its state goes."""
        return entry.known_at is not None and self.suits(entry)

    def suits(self, entry: Entry) -> bool:
        """Whether a memory, as it stood then, is wanted."""
        if entry.hidden and not self.hidden:
            return False
        return not self.lessons or entry.status is not Status.SETTLED

    def sure_without_archive(self, log: Ordered, found: "Selection") -> bool:
        """Whether no archived entry could be among those wanted.

        Rotation leaves the newest of each ticker in the log; so long as nothing in it lies
        after ``as_of`` and none of its newest had to be passed over, those are the newest of all.
        """
        if self.limit is None or found.passed_over or len(found.entries) < self.limit:
            return False
        newest, _ = next(log.newest_first(), (b"", 0))
        if newest.decode() > self.as_of.date().isoformat():
            return False
        return self.distinct or (self.ticker is not None and self.limit <= KEPT_PER_TICKER)


def last_taught(entry: Entry) -> datetime | None:
    """When an entry last came to teach something, even if a person has taken that back since."""
    taken_back = (outcome.known_at for outcome in entry.outcomes)
    return entry.known_at or max(taken_back, default=None)


class Selection(NamedTuple):
    """The entries that were wanted, and whether newer ones were there but did not fit."""

    entries: list[Entry]
    passed_over: bool


Source = TypeVar("Source", bound=Ordered)


def select(
    indexes: Sequence[Source], entry: Callable[[Source, int], Entry | None], wanted: Wanted
) -> Selection:
    """Go through the tags from the newest on and parse only what may be wanted.

    A tag tells the date of the last outcome; as of an earlier instant the entry may have
    been known earlier, but never later. So once enough are found that were known on a later
    date than the next tag, nothing behind it can come before them.
    """
    best: dict[str, Entry] = {}
    seen: set[str] = set()
    day = wanted.last_date.isoformat().encode()
    cut = b""
    passed_over = False
    for known, index, number in _newest_first(indexes, wanted.ticker):
        if wanted.limit is not None and len(best) >= wanted.limit and known < cut:
            break
        if index.date_of(number) > day:
            passed_over = True
            continue
        if not _may_count(index, number, wanted, best, known):
            continue
        stored = entry(index, number)
        if stored is None or stored.id in seen:
            continue
        seen.add(stored.id)
        found = stored.at(wanted.as_of)
        if found is None or not wanted.fits(found):
            passed_over = True
            continue
        key = found.ticker if wanted.distinct else found.id
        if key in best and recency(best[key]) >= recency(found):
            continue
        best[key] = found
        if not wanted.limit or len(best) < wanted.limit:
            continue
        if not cut or _day_known(found) > cut:  # else the last of those wanted stays the last
            cut = nlargest(wanted.limit, map(_day_known, best.values()))[-1]
    newest = sorted(best.values(), key=recency, reverse=True)[: wanted.limit]
    return Selection(newest, passed_over)


def _day_known(entry: Entry) -> bytes:
    return (entry.known_on or entry.date).isoformat().encode()


def _may_count(
    index: Ordered, number: int, wanted: Wanted, best: dict[str, Entry], known: bytes
) -> bool:
    ticker = index.ticker_of(number).decode()
    if ticker == wanted.not_ticker:
        return False
    if not wanted.distinct or ticker not in best:
        return True
    newest = best[ticker].known_on
    return newest is None or newest.isoformat().encode() <= known


def _newest_first(
    indexes: Sequence[Source], ticker: str | None
) -> Iterator[tuple[bytes, Source, int]]:
    orders = [_backwards(index, ticker or "") for index in indexes]
    return merge(*orders, key=lambda item: item[0], reverse=True) if len(orders) > 1 else orders[0]


def _backwards(index: Source, ticker: str) -> Iterator[tuple[bytes, Source, int]]:
    for known, number in index.newest_first(ticker):
        yield known, index, number

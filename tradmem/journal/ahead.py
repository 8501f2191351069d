"""Answers that are fetched together, where a journal is a network away."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol, cast, runtime_checkable

from tradmem.journal.base import Journal
from tradmem.journal.verdicts import Counts
from tradmem.model import Entry


@runtime_checkable
class AtOnce(Protocol):
    """What a journal offers beside :class:`Journal` where each question takes a round trip."""

    def at_once(self, ticker: str, as_of: datetime, *, same: int, others: int) -> Journal:
        """The journal, with the answers in it that a recall will ask for.

        Args:
            ticker: in upper case.
            as_of: aware UTC.
            same: how many memories of the ticker.
            others: how many of other tickers.
        """
        ...


class Fetched:
    """A journal some of whose answers are there already; anything else is asked for.

    Args:
        journal: what else is asked.
        ticker: of the recall.
        as_of: of the recall, aware UTC.
        own: so many memories of the ticker.
        others: so many of other tickers.
        counts: of the ticker.
        most: how many there are of both, at most.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        ticker: str,
        as_of: datetime,
        own: Callable[[int], list[Entry]],
        others: Callable[[int], list[Entry]],
        counts: tuple[Counts, ...],
        most: tuple[int, int],
    ) -> None:
        self._journal = journal
        self._asked = (ticker, as_of)
        self._own = own
        self._others = others
        self._counts = counts
        self._most = most

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def memories(self, as_of: datetime, **wanted: Any) -> list[Entry]:
        """See :class:`Journal`."""
        ticker, then = self._asked
        limit = wanted.get("limit")
        if as_of == then and limit is not None:
            rest = {name: value for name, value in wanted.items() if name != "limit"}
            if rest == {"ticker": ticker} and limit <= self._most[0]:
                return self._own(limit)
            others = {"not_ticker": ticker, "distinct": True, "lessons": True}
            if rest == others and limit <= self._most[1]:
                return self._others(limit)
        return self._journal.memories(as_of, **wanted)

    def counts(self, ticker: str, as_of: datetime) -> tuple[Counts, ...]:
        """See :class:`Journal`."""
        if (ticker, as_of) == self._asked:
            return self._counts
        return self._journal.counts(ticker, as_of)


def ahead(journal: Journal, ticker: str, as_of: datetime, *, same: int, others: int) -> Journal:
    """A journal with the answers in it that a recall will ask for, where that saves anything."""
    # Of the two ways to ask, the one by the protocol takes a tenth of a whole recall.
    if getattr(journal, "at_once", None) is None:
        return journal
    return cast("AtOnce", journal).at_once(ticker, as_of, same=same, others=others)


def fetched(journal: Journal, **answers: Any) -> Journal:
    """A journal with some answers in it."""
    return cast("Journal", Fetched(journal, **answers))

"""Full text, where a journal has its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812 - as everywhere in this package
from datetime import datetime
from typing import Protocol, runtime_checkable

from tradmem.model import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What is looked for.

    Attributes:
        query: words, and phrases in quotation marks; an empty one finds everything.
        as_of: aware UTC; None for everything that is stored.
        ticker: only this one; None for all.
        since: only what carries this date or a later one.
        until: only what carries this date or an earlier one.
        archived: whether to look into the archive too.
    """

    query: str
    as_of: datetime | None = None
    ticker: str | None = None
    since: Date | None = None
    until: Date | None = None
    archived: bool = True


@runtime_checkable
class FullTextJournal(Protocol):
    """What a journal offers beside :class:`Journal` where it can search by itself."""

    def holding(self, sought: Sought) -> Iterator[Entry]:
        """The entries that hold all the words, as they stood, the newest date first."""
        ...

    def holding_some(self, sought: Sought) -> Iterator[Entry]:
        """Those that hold some of the words, the most first, then the newest."""
        ...


@runtime_checkable
class PrefixJournal(Protocol):
    """What a journal offers beside :class:`Journal` where it need not look at all ids."""

    def beginning(self, start: str) -> list[str]:
        """The ids that begin so."""
        ...

"""Claims on unfinished entries, where several resolvers share one journal."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from tradmem.journal.base import Journal
from tradmem.model import Addition, Entry


class Claimed(Protocol):
    """Entries that nobody else resolves, within ``with``; given back at its end."""

    @property
    def entries(self) -> Sequence[Entry]:
        """As they stood when they were claimed."""
        ...

    def add(self, additions: Sequence[tuple[str, Addition]]) -> list[Entry]:
        """See :meth:`Journal.add`; what was lost to another claim meanwhile stays as it is."""
        ...

    def later(self, dues: Mapping[str, datetime]) -> None:
        """From when on asking again for some of the entries can help, aware UTC, by id."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


@runtime_checkable
class WorkQueue(Protocol):
    """What a journal offers beside :class:`Journal` where several may resolve it at once."""

    def claim(
        self,
        due: datetime | None = None,
        *,
        limit: int | None = None,
        tickers: Iterable[str] | None = None,
        ids: Iterable[str] | None = None,
        lease: float = 60.0,
    ) -> Claimed:
        """Claim unfinished entries that nobody has claimed.

        Args:
            due: only those of which something was due by then, aware UTC, those due first
                before others; all by default.
            limit: at most this many.
            tickers: only these.
            ids: only these, also such as are finished.
            lease: seconds after which a claim runs out unless it is renewed, which it is for
                as long as its process lives.
        """
        ...


class Unshared:
    """Entries of a journal that only one resolver works on: there is nothing to claim."""

    def __init__(self, journal: Journal, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.add = journal.add

    def later(self, dues: Mapping[str, datetime]) -> None:
        """See :class:`Claimed`: such a journal is gone through from the start each time."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give nothing back."""


def claimed(journal: Journal, entries: Sequence[Entry]) -> Claimed:
    """A claim on some entries, as far as nobody else has one."""
    if isinstance(journal, WorkQueue):
        return journal.claim(ids=dict.fromkeys(entry.id for entry in entries))
    return Unshared(journal, entries)

"""Vectors of memories, where a journal keeps them for all who read it."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tradmem.journal.passages import Passage

Numbers = bytes  # a vector: float32, one after the other, in this machine's order


class Behind(NamedTuple):
    """An entry that may have become another since its vector was made.

    Attributes:
        passage: as it is.
        version: which version of the entry that is.
        digest: of the text that its vector is of; empty if it has none.
        since: from when on that text stood.
    """

    passage: Passage
    version: str
    digest: bytes
    since: datetime | None


class Made(NamedTuple):
    """A vector to be kept; ``numbers`` is None for a text that can have none."""

    ticker: str
    id: str
    version: str
    digest: bytes
    since: datetime
    numbers: Numbers | None


class Kept(NamedTuple):
    """A vector that is kept; ``numbers`` is None where an entry has none any more."""

    id: str
    ticker: str
    since: datetime
    numbers: Numbers | None


class KeptVectors(Protocol):
    """The vectors of one model, of which all have the same dimension."""

    @property
    def ranks(self) -> bool:
        """Whether the journal tells the nearest by itself."""
        ...

    def dimension(self) -> int:
        """How many numbers each has; 0 while there are none."""
        ...

    def behind(self) -> tuple[Any, Iterator[Sequence[Behind]]]:
        """What changed since all had their vectors, some at a time, and the mark up to there."""
        ...

    def put(self, made: Sequence[Made], dimension: int) -> None:
        """Keep some vectors, those of entries that are still of that version."""
        ...

    def done(self, mark: Any) -> None:
        """Say that everything up to a mark has its vector."""
        ...

    def by_digest(self, digests: Sequence[bytes]) -> dict[bytes, Numbers]:
        """The vectors of some texts, as far as they are there."""
        ...

    def nearest(
        self, numbers: Numbers, as_of: datetime, ticker: str, own: int, others: int
    ) -> list[Kept]:
        """The nearest of a ticker and of others that stand as they do since then."""
        ...

    def changed(self, mark: Any) -> tuple[Any, list[Kept]]:
        """What was kept since a mark, or all, and the mark for the next time."""
        ...


@runtime_checkable
class VectorJournal(Protocol):
    """What a journal offers beside :class:`Journal` where it can keep vectors."""

    def vectors(self, model: str) -> KeptVectors | None:
        """The vectors of a model; None where none can be kept."""
        ...

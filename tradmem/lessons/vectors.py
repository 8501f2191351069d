"""Vectors of the memories of a journal, in this process's own memory."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tradmem.journal.base import Journal
from tradmem.journal.passages import Passage
from tradmem.lessons.embed import Embedder, Vector
from tradmem.lessons.making import Vectors
from tradmem.lessons.matrix import Matrix, Near
from tradmem.model import Entry

_WORTH_KEEPING = 5_000  # texts at once
_AT_ONCE = 2_048  # texts whose vectors are lost if the next ones fail


class _Waiting(NamedTuple):
    """A memory that has no vector yet."""

    text: str
    since: datetime
    ticker: str


class VectorIndex(Vectors):
    """The vectors of a journal's memories; comes up to date with it when it is asked.

    Args:
        journal: whose memories.
        embedder: makes the vectors.
        folder: where vectors that cost something are kept; None keeps them in memory only.
    """

    def __init__(self, journal: Journal, embedder: Embedder, folder: Path | None = None) -> None:
        super().__init__(embedder, folder)
        self.journal = journal
        self._mark: Any = None
        self._waiting: dict[str, _Waiting] = {}
        self._digests: dict[str, int] = {}
        self._matrix = Matrix()

    def of(self, entries: Sequence[Entry], as_of: datetime) -> list[Vector | None]:
        """See :class:`Vectors`."""
        return [self._matrix.of(entry.id, as_of) for entry in entries]

    def _near(self, vector: Vector, as_of: datetime, ticker: str, most: int) -> list[Near]:
        return self._matrix.nearest(vector, as_of, ticker, most)

    def refresh(self) -> None:
        """See :class:`Vectors`."""
        with self._lock:
            changes = self.journal.passages(self._mark)
            self._mark = changes.mark
            for name in changes.gone:
                self._drop(name)
            for passage in changes.passages:
                self._note(passage)
            if len(self._waiting) >= _WORTH_KEEPING:
                self._open_store()
            while self._waiting:
                part = dict(islice(self._waiting.items(), _AT_ONCE))
                vectors = self._try([item.text for item in part.values()])
                if not vectors:
                    break
                for (name, item), vector in zip(part.items(), vectors, strict=True):
                    del self._waiting[name]
                    if vector is not None:
                        self._matrix.put(name, item.ticker, item.since, vector)

    def _note(self, passage: Passage) -> None:
        item = _Waiting(self.gist(passage), passage.since, passage.ticker)
        if not (passage.teaches and item.text.strip()):
            self._drop(passage.id)
        elif self._digests.get(passage.id) != hash(item):
            self._drop(passage.id)
            self._digests[passage.id] = hash(item)
            self._waiting[passage.id] = item

    def _drop(self, name: str) -> None:
        self._waiting.pop(name, None)
        self._digests.pop(name, None)
        self._matrix.drop(name)

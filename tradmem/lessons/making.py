"""Vectors of texts, made by an embedder that may fail, and kept where they cost something."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tradmem.errors import ModelError
from tradmem.journal.passages import Passage, passage_of
from tradmem.lessons.embed import Embedder, Vector
from tradmem.lessons.matrix import Near, best, digest, micros, similarity
from tradmem.lessons.vector_store import VectorStore
from tradmem.model import Entry

_MOST_LATELY = 8_192  # vectors of texts that are in no place
_PAUSE = 60.0  # seconds before a server that did not answer is asked again


class Vectors(ABC):
    """Vectors of texts, and which memories are the nearest to one of them.

    Several threads may ask.

    Args:
        embedder: makes the vectors.
        folder: where vectors that cost something are kept; None keeps them in memory only.

    Attributes:
        fault: why some memories have no vector; empty where all have one that can.
    """

    def __init__(self, embedder: Embedder, folder: Path | None = None) -> None:
        self.embedder = embedder
        self.fault = ""
        self._folder = folder
        self._store: VectorStore | None = None
        self._dimension = 0
        if embedder.is_costly:
            self._open_store()
        self._lock = threading.RLock()
        self._lately: dict[str, Vector] = {}
        self._not_before = 0.0

    @abstractmethod
    def refresh(self) -> None:
        """Come up to date with the journal; what has no vector afterwards is told in ``fault``."""

    @abstractmethod
    def of(self, entries: Sequence[Entry], as_of: datetime) -> list[Vector | None]:
        """The vectors of memories as they stood, as far as they are there already."""

    @abstractmethod
    def _near(self, vector: Vector, as_of: datetime, ticker: str, most: int) -> list[Near]:
        """The nearest of the memories that stand as they do since then."""

    def vector(self, text: str) -> Vector | None:
        """The vector of a query; None where it can have none."""
        return self.vectors([text[: self.embedder.longest]])[0]

    def vectors(self, texts: Sequence[str]) -> list[Vector | None]:
        """The vectors of some texts that are no memories as they stand now, or no longer are."""
        with self._lock:
            if len(self._lately) > _MOST_LATELY:
                self._lately.clear()
            keys = [_key(text) for text in texts]
            missing = dict.fromkeys(
                text for key, text in zip(keys, texts, strict=True) if key not in self._lately
            )
            found = self._try(list(missing), keep=self.embedder.is_costly)
            fresh = zip(map(_key, missing), found, strict=False)
            self._lately |= {key: vector for key, vector in fresh if vector is not None}
            return [self._lately.get(key) for key in keys]

    def gist(self, passage: Passage) -> str:
        """What of an entry becomes a vector: what it teaches, then what was decided."""
        return "\n".join(filter(None, (passage.lesson, passage.body)))[: self.embedder.longest]

    def nearest(
        self,
        vector: Vector,
        as_of: datetime,
        *,
        ticker: str,
        most: int,
        changed: Sequence[Entry] = (),
    ) -> list[str]:
        """The ids of the memories nearest to a vector; of those equally near, the newest.

        Args:
            vector: of length 1.
            as_of: aware UTC.
            ticker: the one that has places of its own.
            most: how many of it, and how many of others, see :func:`mixed`.
            changed: memories that have become something else since, as they stood.
        """
        with self._lock:
            near = self._near(vector, as_of, ticker, most) if most else []
        then = [passage_of(entry) for entry in changed]
        names = {passage.id for passage in then}
        near = [item for item in near if item.id not in names]
        made = self.vectors([self.gist(passage) for passage in then])
        for passage, other in zip(then, made, strict=True):
            if other is not None:
                since = micros(passage.since)
                near.append(Near(similarity(other, vector), since, passage.id, passage.ticker))
        return best(near, ticker, most)

    # Making

    def _open_store(self) -> None:
        if self._folder is not None and self._store is None:
            self._store = VectorStore(self._folder, self.embedder.model)
            self._dimension = self._dimension or self._store.dimension

    def _try(self, texts: Sequence[str], *, keep: bool = True) -> list[Vector | None]:
        """The vectors of some texts; none at all where the embedder gives none now."""
        if not texts or time.monotonic() < self._not_before:
            return []
        try:
            found = self._make(texts, keep=keep)
        except ModelError as error:
            self.fault = str(error)
            self._not_before = float("inf") if error.fatal else time.monotonic() + _PAUSE
            return []
        self.fault = ""
        return found

    def _make(self, texts: Sequence[str], *, keep: bool) -> list[Vector | None]:
        """The vectors of some texts, from the file as far as they are there.

        Raises:
            ModelError: the embedder gives none, or gives them of another dimension.
        """
        keys = [_key(text) for text in texts]
        store = self._store if keep else None
        there = store.get(keys) if store else {}
        missing = {k: text for k, text in zip(keys, texts, strict=True) if k not in there}
        for part in _parts(list(missing.items()), self.embedder.batch):
            made = self.embedder.embed([text for _, text in part])
            fresh = {k: v for (k, _), v in zip(part, made, strict=True) if v is not None}
            self._check(fresh.values())
            if store:
                store.put(fresh)
            there |= fresh
        return [there.get(key) for key in keys]

    def _check(self, vectors: Iterable[Vector]) -> None:
        for vector in vectors:
            self._dimension = self._dimension or len(vector)
            if len(vector) != self._dimension:
                kept = self._kept_in()
                raise ModelError(
                    "another dimension",
                    f"{self.embedder.model} gives {len(vector)} numbers, and gave "
                    f"{self._dimension} before{kept}",
                    fatal=True,
                )

    def _kept_in(self) -> str:
        """What to do where a model's vectors have another dimension than those kept."""
        return f"; delete {self._store.path} to begin anew" if self._store else ""


def _key(text: str) -> str:
    return digest(text).hex()


def _parts(items: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))

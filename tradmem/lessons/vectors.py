"""Vectors of memories: which of them are the nearest to a query, as of any instant."""

import hashlib
import threading
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tradmem.errors import ModelError
from tradmem.journal.base import Journal
from tradmem.journal.passages import Passage, passage_of
from tradmem.lessons.embed import Embedder, Vector
from tradmem.lessons.mixing import mixed
from tradmem.lessons.vector_store import VectorStore
from tradmem.model import Entry

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NEVER = np.iinfo(np.int64).max
_WORTH_KEEPING = 5_000  # texts at once
_AT_ONCE = 2_048  # texts whose vectors are lost if the next ones fail
_MOST_LATELY = 8_192  # vectors of texts that are in no place
_PAUSE = 60.0  # seconds before a server that did not answer is asked again
_OUT = -2.0  # less than any similarity
_SPARE = 4  # times as many of other tickers are looked at, since few of each are taken
_DIGITS = 6  # of a similarity that are the same on every machine and in every batch


class _Waiting(NamedTuple):
    """A memory that has no vector yet."""

    text: str
    since: int
    ticker: str


def gist(lesson: str, body: str, longest: int) -> str:
    """What of an entry becomes a vector: what it teaches, then what was decided."""
    return "\n".join(filter(None, (lesson, body)))[:longest]


class VectorIndex:
    """The vectors of a journal's memories; comes up to date with it when it is asked.

    Args:
        journal: whose memories.
        embedder: makes the vectors.
        folder: where vectors that cost something are kept; None keeps them in memory only.

    Attributes:
        fault: why some memories have no vector; empty where all have one that can.
    """

    def __init__(self, journal: Journal, embedder: Embedder, folder: Path | None = None) -> None:
        self.journal = journal
        self.embedder = embedder
        self.fault = ""
        self._folder = folder
        self._store: VectorStore | None = None
        self._dimension = 0
        if embedder.is_costly:
            self._open_store()
        self._lock = threading.RLock()
        self._mark: Any = None
        self._waiting: dict[str, _Waiting] = {}
        self._digests: dict[str, int] = {}
        self._places: dict[str, int] = {}
        self._free: list[int] = []
        self._ids: list[str] = []
        self._since = np.zeros(0, dtype=np.int64)
        self._codes: dict[str, int] = {}  # of the tickers, in the order of their coming
        self._tickers = np.zeros(0, dtype=np.int32)
        self._matrix = np.zeros((0, 0), dtype=np.float32)
        self._lately: dict[str, Vector] = {}
        self._not_before = 0.0

    def _open_store(self) -> None:
        if self._folder is not None and self._store is None:
            self._store = VectorStore(self._folder, self.embedder.model)
            self._dimension = self._dimension or self._store.dimension

    # Asking

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

    def of(self, name: str, as_of: datetime) -> Vector | None:
        """The vector of a memory that stands since then as it stands now; else None."""
        place = self._places.get(name)
        if place is None or self._since[place] > _micros(as_of):
            return None
        vector: Vector = self._matrix[place]
        return vector

    def gist(self, entry: Entry) -> str:
        """What of an entry becomes a vector."""
        passage = passage_of(entry)
        return gist(passage.lesson, passage.body, self.embedder.longest)

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
            near = self._nearest(vector, _micros(as_of), ticker, most)
        made = self.vectors([self.gist(entry) for entry in changed])
        for entry, other in zip(changed, made, strict=True):
            if other is not None:
                since = _micros(passage_of(entry).since)
                near.append((similarity(other, vector), since, entry.id, entry.ticker))
        own = nlargest(most, (item for item in near if item[3] == ticker))
        others = nlargest(most * _SPARE, (item for item in near if item[3] != ticker))
        ranked = sorted(own + others, reverse=True)
        return mixed(((name, found) for _, _, found, name in ranked), ticker, most)

    def _nearest(
        self, vector: Vector, as_of: int, ticker: str, most: int
    ) -> list[tuple[float, int, str, str]]:
        """Similarity, since, id and ticker of the nearest that stand as they do since then."""
        size = len(self._ids)
        if not size or not most:
            return []
        since, code = self._since[:size], self._codes.get(ticker, -1)
        near = _cosines(self._matrix[:size], vector)
        near[since > as_of] = _OUT
        is_own = self._tickers[:size] == code
        chosen = np.zeros(size, dtype=bool)
        for group, wanted in ((is_own, most), (~is_own, most * _SPARE)):
            of_group = near[group]
            if wanted < len(of_group):
                least = np.partition(of_group, len(of_group) - wanted)[len(of_group) - wanted]
                chosen |= group & (near >= least)
            else:
                chosen |= group
        names = list(self._codes)
        return [
            (float(near[n]), int(since[n]), self._ids[n], names[self._tickers[n]])
            for n in np.flatnonzero(chosen & (near > _OUT))
        ]

    # Staying up to date

    def refresh(self) -> None:
        """Come up to date with the journal; what has no vector afterwards is told in ``fault``."""
        with self._lock:
            changes = self.journal.passages(self._mark)
            self._mark = changes.mark
            for name in changes.gone:
                self._drop(name)
            for passage in changes.passages:
                self._note(passage)
            while self._waiting:
                part = dict(islice(self._waiting.items(), _AT_ONCE))
                vectors = self._try([item.text for item in part.values()])
                if not vectors:
                    break
                for (name, item), vector in zip(part.items(), vectors, strict=True):
                    del self._waiting[name]
                    if vector is not None:
                        self._put(name, item, vector)

    def _note(self, passage: Passage) -> None:
        item = _Waiting(
            gist(passage.lesson, passage.body, self.embedder.longest),
            _micros(passage.since),
            passage.ticker,
        )
        if not (passage.teaches and item.text.strip()):
            self._drop(passage.id)
        elif self._digests.get(passage.id) != hash(item):
            self._drop(passage.id)
            self._digests[passage.id] = hash(item)
            self._waiting[passage.id] = item

    def _drop(self, name: str) -> None:
        self._waiting.pop(name, None)
        self._digests.pop(name, None)
        place = self._places.pop(name, None)
        if place is not None:
            self._since[place] = _NEVER
            self._free.append(place)

    def _put(self, name: str, item: _Waiting, vector: Vector) -> None:
        if self._free:
            place = self._free.pop()
            self._ids[place] = name
        else:
            place = len(self._ids)
            self._ids.append(name)
            if place >= len(self._since):
                self._grow(len(vector))
        self._places[name] = place
        self._since[place] = item.since
        self._tickers[place] = self._codes.setdefault(item.ticker, len(self._codes))
        self._matrix[place] = vector

    def _grow(self, dimension: int) -> None:
        size = max(1_024, 2 * len(self._since))
        since = np.full(size, _NEVER, dtype=np.int64)
        tickers = np.zeros(size, dtype=np.int32)
        matrix = np.zeros((size, dimension), dtype=np.float32)
        since[: len(self._since)] = self._since
        tickers[: len(self._tickers)] = self._tickers
        if len(self._matrix):
            matrix[: len(self._matrix)] = self._matrix
        self._since, self._tickers, self._matrix = since, tickers, matrix

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
        if len(texts) >= _AT_ONCE and len(self._waiting) >= _WORTH_KEEPING:
            self._open_store()
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
                kept = f"; delete {self._store.path} to begin anew" if self._store else ""
                raise ModelError(
                    "another dimension",
                    f"{self.embedder.model} gives {len(vector)} numbers, and gave "
                    f"{self._dimension} before{kept}",
                    fatal=True,
                )


def similarity(one: Vector, other: Vector) -> float:
    """The cosine of the angle between two vectors of length 1."""
    return float(_cosines(one[np.newaxis], other)[0])


def _cosines(matrix: npt.NDArray[np.float32], vector: Vector) -> npt.NDArray[np.float32]:
    """Of each row with a vector; einsum, since BLAS would wake threads that then spin."""
    near: npt.NDArray[np.float32] = np.einsum("ij,j->i", matrix, vector)
    return np.round(near, _DIGITS)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _micros(instant: datetime) -> int:
    return (instant - _EPOCH) // _MICROSECOND


def _parts(items: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))

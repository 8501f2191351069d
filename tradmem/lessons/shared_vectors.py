"""Vectors that a journal keeps for all who read it: each is made once, by whoever is first."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tradmem.journal.nearness import Behind, KeptVectors, Made, Numbers
from tradmem.journal.passages import passage_of
from tradmem.lessons.embed import Embedder, Vector
from tradmem.lessons.making import Vectors
from tradmem.lessons.matrix import SPARE, Matrix, Near, digest, micros, similarity
from tradmem.model import Entry


class _Missing(NamedTuple):
    """An entry whose vector is missing, or is of another text or instant."""

    behind: Behind
    text: str
    digest: bytes


class SharedVectors(Vectors):
    """The vectors of memories that a journal keeps; made and kept when it is asked.

    Where the journal does not tell the nearest by itself, this process does, from a copy.

    Args:
        kept: by the journal, of the embedder's model.
        embedder: makes the vectors.
        folder: where vectors of other texts are kept, if they cost something.
    """

    def __init__(self, kept: KeptVectors, embedder: Embedder, folder: Path | None = None) -> None:
        super().__init__(embedder, folder)
        self._kept = kept
        self._copy = Matrix()
        self._mark: Any = None

    def refresh(self) -> None:
        """See :class:`Vectors`."""
        with self._lock:
            self._dimension = self._dimension or self._kept.dimension()
            mark, pages = self._kept.behind()
            if all(self._settle(page) for page in pages):
                self._kept.done(mark)
            if not self._kept.ranks:
                self._mark, rows = self._kept.changed(self._mark)
                for row in rows:
                    if row.numbers is None:
                        self._copy.drop(row.id)
                    else:
                        self._copy.put(row.id, row.ticker, row.since, _vector(row.numbers))

    def _settle(self, page: Sequence[Behind]) -> bool:
        """Make and keep the vectors of some entries; whether each has one that can."""
        missing = [item for behind in page if (item := self._missing(behind))]
        texts = {item.digest: item.text for item in missing if item.text}
        there: dict[bytes, Numbers | None] = dict(self._kept.by_digest(list(texts)))
        wanted = {key: text for key, text in texts.items() if key not in there}
        made = self._try(list(wanted.values()), keep=False)
        fresh = zip(wanted, made, strict=False)
        there |= {key: None if found is None else found.tobytes() for key, found in fresh}
        done = [item for item in missing if not item.text or item.digest in there]
        if done and self._dimension:
            self._kept.put(
                [
                    Made(
                        item.behind.passage.ticker,
                        item.behind.passage.id,
                        item.behind.version,
                        item.digest,
                        item.behind.passage.since,
                        there.get(item.digest),
                    )
                    for item in done
                ],
                self._dimension,
            )
        return len(made) == len(wanted)

    def _missing(self, behind: Behind) -> _Missing | None:
        passage = behind.passage
        text = self.gist(passage) if passage.teaches else ""
        if not text.strip():  # nothing to keep, unless it had a vector
            return _Missing(behind, "", b"") if behind.digest else None
        key = digest(text)
        is_there = (key, passage.since) == (behind.digest, behind.since)
        return None if is_there else _Missing(behind, text, key)

    def of(self, entries: Sequence[Entry], as_of: datetime) -> list[Vector | None]:
        """See :class:`Vectors`; by their texts, whenever these stood."""
        del as_of  # an entry that stood then has its text from then
        keys = [digest(self.gist(passage_of(entry))) for entry in entries]
        found = self._kept.by_digest(list(dict.fromkeys(keys)))
        return [_vector(found[key]) if key in found else None for key in keys]

    def _near(self, vector: Vector, as_of: datetime, ticker: str, most: int) -> list[Near]:
        if not self._kept.ranks:
            return self._copy.nearest(vector, as_of, ticker, most)
        rows = self._kept.nearest(vector.tobytes(), as_of, ticker, most, most * SPARE)
        return [
            Near(similarity(_vector(row.numbers), vector), micros(row.since), row.id, row.ticker)
            for row in rows
            if row.numbers
        ]

    def _kept_in(self) -> str:
        return "; name another model, or delete its vectors with `tradmem db vectors --forget`"


def _vector(numbers: Numbers) -> Vector:
    return np.frombuffer(numbers, dtype=np.float32)

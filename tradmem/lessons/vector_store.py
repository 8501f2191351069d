"""Vectors kept in a file between runs, with the model and the dimension that they are of."""

import json
import logging
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tradmem.errors import UsageError
from tradmem.lessons.embed import Vector

_log = logging.getLogger(__name__)


class VectorStore:
    """Vectors in one file per model, by the hash of their text; several logs may share it.

    A file that cannot be read or written costs time and nothing else.

    Args:
        folder: where the file is made.
        model: of which all vectors in it are.

    Attributes:
        dimension: of the vectors in it; 0 while there are none.

    Raises:
        UsageError: the file holds the vectors of another model.
    """

    def __init__(self, folder: Path, model: str) -> None:
        slug = re.sub(r"[^A-Za-z0-9.-]+", "-", model).strip("-.")
        self.path = folder / f"{slug}.sqlite"
        self.model = model
        self.dimension = 0
        self._table: sqlite3.Connection | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._table = sqlite3.connect(self.path, check_same_thread=False, timeout=5)
            self._table.execute("PRAGMA journal_mode=WAL")  # no sync per write, and none torn
            self._table.execute("PRAGMA synchronous=NORMAL")
            with self._table as table:
                table.execute("CREATE TABLE IF NOT EXISTS about (model TEXT, dimension INTEGER)")
                table.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, v BLOB)")
            about = self._table.execute("SELECT model, dimension FROM about").fetchone()
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)
            return
        if about:
            if about[0] != model:
                raise UsageError(
                    f"{self.path} holds vectors of {about[0]}, not of {model}; delete it"
                )
            self.dimension = int(about[1])

    def __del__(self) -> None:
        if self._table is not None:
            self._table.close()

    def get(self, keys: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are there, by key."""
        query = "SELECT text, v FROM vectors WHERE text IN (SELECT value FROM json_each(?))"
        return {
            key: np.frombuffer(raw, dtype=np.float32)
            for key, raw in self._do(query, (json.dumps(list(keys)),))
            if len(raw) == 4 * self.dimension
        }

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Keep some vectors, all of one dimension."""
        if vectors and not self.dimension:
            self.dimension = len(next(iter(vectors.values())))
            self._do("INSERT INTO about VALUES (?, ?)", (self.model, self.dimension))
        rows = [(key, vector.tobytes()) for key, vector in vectors.items()]
        if self._table is None:
            return
        try:
            with self._table as table:
                table.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            self._give_up(error)

    def _do(self, query: str, values: Sequence[Any]) -> Iterable[Any]:
        if self._table is None:
            return ()
        try:
            with self._table as table:
                return table.execute(query, values).fetchall()
        except sqlite3.Error as error:
            self._give_up(error)
            return ()

    def _give_up(self, error: Exception) -> None:
        _log.warning("vectors are not kept: cannot use %s: %s", self.path, error)
        if self._table is not None:
            self._table.close()
        self._table = None

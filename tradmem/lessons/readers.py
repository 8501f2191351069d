"""Which decisions saw a memory."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from tradmem.journal.base import Journal
from tradmem.model import Entry


class Readers:
    """By a memory's id, the decisions that saw it; comes up to date when it is asked."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._mark: Any = None
        self._readers: dict[str, dict[str, None]] = {}

    def of(self, ids: Iterable[str], as_of: datetime) -> dict[str, list[Entry]]:
        """The decisions that saw each of some memories, as they stood; replaced ones left out."""
        changes = self._journal.passages(self._mark)
        for passage in changes.passages:
            for name in passage.recalled:
                self._readers.setdefault(name, {})[passage.id] = None
        self._mark = changes.mark
        out = {}
        for name in ids:
            found = self._journal.get_all(self._readers.get(name, ()), replaced=False)
            out[name] = [then for entry in found.values() if (then := entry.at(as_of))]
        return out

"""A readable copy of a log in a file, kept up to date: for people, for editors, for git."""

import os
from pathlib import Path
from typing import Any

from tradmem.exchange.reading import Format
from tradmem.exchange.taking import Fate, recorded, take
from tradmem.exchange.whole import whole_of
from tradmem.exchange.writing import write_file
from tradmem.journal.base import Journal
from tradmem.journal.markdown import MarkdownJournal


class Mirror:
    """A markdown log that follows a journal; nothing that stands in it is ever taken out.

    Args:
        source: is only read.
        path: of the copy; the first look writes it, the later ones add to it.
    """

    def __init__(self, source: Journal, path: str | os.PathLike[str]) -> None:
        self.source = source
        self.path = Path(path)
        self._copy = MarkdownJournal(self.path, max_resolved=None)
        self._mark: Any = None

    def follow(self) -> int:
        """Bring the copy up to date, and say how many entries came or got something added.

        Raises:
            LogBusy: somebody resolves the copy.
            LogError: the journal cannot be read, or the copy cannot be written.
        """
        changes = self.source.passages(self._mark)
        if self._mark is None and not self.path.exists():
            entries = list(recorded(self.source))
            if entries:
                write_file(self.path, entries, Format.LOG)
            self._mark = changes.mark
            return len(entries)
        names = [passage.id for passage in changes.passages]
        found = self.source.get_all(names).values()
        told = take(self._copy, map(whole_of, found)) if names else []
        self._mark = changes.mark
        return sum(item.fate in (Fate.TAKEN, Fate.COMPLETED) for item in told)

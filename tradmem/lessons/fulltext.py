"""Full-text tables of SQLite, in memory."""

import sqlite3
from collections.abc import Iterable

from tradmem.errors import TradmemError
from tradmem.lessons.words import TOKENIZER, Term, plain, spaced

_HASH_SIZE = 1 << 26  # bytes of new rows that SQLite gathers before it merges them
_BEYOND = 1 << 62  # greater than the number of any row


class FullText:
    """A table of texts by number, which it can be asked for by their words.

    Args:
        keep: whether it keeps the texts too, as they are, beside where which words are; the
            others it folds.

    Raises:
        TradmemError: this Python's SQLite has no FTS5.
    """

    def __init__(self, *, keep: bool = False) -> None:
        self._written = spaced if keep else plain
        self.table = sqlite3.connect(":memory:", check_same_thread=False)
        options = "" if keep else "content='', columnsize=0, "
        options += f"tokenize='{TOKENIZER}'"
        try:
            self.table.execute(f"CREATE VIRTUAL TABLE texts USING fts5(text, {options})")
        except sqlite3.OperationalError as error:
            raise TradmemError(
                f"no search: this Python's SQLite cannot ({error}); use one whose SQLite has FTS5"
            ) from error
        self.table.execute("INSERT INTO texts (texts, rank) VALUES ('hashsize', ?)", (_HASH_SIZE,))

    def __del__(self) -> None:
        if hasattr(self, "table"):
            self.table.close()

    def add(self, rows: Iterable[tuple[int, str]]) -> None:
        """Take in some texts; the fastest where their numbers grow."""
        spread = ((number, self._written(text)) for number, text in rows)
        with self.table:
            self.table.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", spread)

    def holding(
        self, wanted: str, *, start: int = 0, end: int = _BEYOND, limit: int = -1
    ) -> list[int]:
        """The numbers from start to below end of the texts that match, the greatest first."""
        query = (
            "SELECT rowid FROM texts WHERE texts MATCH ? AND rowid >= ? AND rowid < ? "
            "ORDER BY rowid DESC LIMIT ?"
        )
        found = self.table.execute(query, (wanted, start, end, limit)).fetchall()
        return [number for (number,) in found]

    def count(self, wanted: str, *, end: int = _BEYOND, limit: int = -1) -> int:
        """How many there are; a tenth of the cost of having their numbers."""
        query = (
            "SELECT count(*) FROM (SELECT 1 FROM texts WHERE texts MATCH ? AND rowid < ? "
            "ORDER BY rowid DESC LIMIT ?)"
        )
        count: int = self.table.execute(query, (wanted, end, limit)).fetchone()[0]
        return count


class Texts:
    """A few texts to look into for words, each named by its place."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = FullText()
        self._texts.add(enumerate(texts))

    def holding(self, term: Term) -> set[int]:
        """The places of the texts that hold a word or phrase."""
        return set(self._texts.holding(term.match))

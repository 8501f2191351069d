"""Full-text tables of SQLite, in memory."""

import sqlite3
from collections.abc import Iterable, Iterator

from tradmem.errors import TradmemError
from tradmem.lessons.words import TOKENIZER, Term, spaced

_HASH_SIZE = 1 << 26  # bytes of new rows that SQLite gathers before it merges them


class Texts:
    """A few texts to look into for words, each named by its place."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._table = full_text_table()
        rows = ((place, spaced(text)) for place, text in enumerate(texts))
        self._table.executemany("INSERT INTO passages (rowid, text) VALUES (?, ?)", rows)

    def holding(self, term: Term) -> set[int]:
        """The places of the texts that hold a word or phrase."""
        return {place for (place,) in match(self._table, term.match)}


def full_text_table(*, keep: bool = False) -> sqlite3.Connection:
    """A connection with an empty full-text table ``passages``.

    Args:
        keep: whether it keeps the texts too, beside where which words are.

    Raises:
        TradmemError: this Python's SQLite has no FTS5.
    """
    table = sqlite3.connect(":memory:", check_same_thread=False)
    options = "" if keep else "content='', columnsize=0, "
    options += f"tokenize='{TOKENIZER}'"
    try:
        table.execute(f"CREATE VIRTUAL TABLE passages USING fts5(text, {options})")
    except sqlite3.OperationalError as error:
        raise TradmemError(
            f"no search: this Python's SQLite cannot ({error}); use a Python whose SQLite has FTS5"
        ) from error
    table.execute("INSERT INTO passages (passages, rank) VALUES ('hashsize', ?)", (_HASH_SIZE,))
    return table


def match(table: sqlite3.Connection, wanted: str, end: int = 1 << 62) -> Iterator[tuple[int]]:
    """The numbers of the rows that hold what is wanted, below an end, the greatest first."""
    query = "SELECT rowid FROM passages WHERE passages MATCH ? AND rowid < ? ORDER BY rowid DESC"
    return table.execute(query, (wanted, end))

"""The place in a text at which it holds what was searched for."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from tradmem.lessons.fulltext import FullText
from tradmem.lessons.words import Term, joined, spaced

_OPEN, _CLOSE = "\x02", "\x03"
_MARK = re.compile(f"[{_OPEN}{_CLOSE}]")
_MOST = 64  # words of an excerpt, by SQLite's own limit


class Piece(NamedTuple):
    """A part of an excerpt, and whether it is what was searched for."""

    text: str
    is_match: bool


def excerpts(texts: Sequence[str], terms: Sequence[Term], *, words: int = 24) -> list[list[Piece]]:
    """Of each text the part that holds the most of some words; the beginning if it holds none.

    Args:
        texts: of any length.
        terms: what was searched for.
        words: how long a part, at most.
    """
    words = max(1, min(words, _MOST))
    kept = FullText(keep=True)
    kept.add((place, _MARK.sub(" ", text)) for place, text in enumerate(texts))
    found = {}
    if terms:
        wanted = " OR ".join(dict.fromkeys(m for t in terms for m in (t.match, t.as_typed) if m))
        query = "SELECT rowid, snippet(texts, 0, ?, ?, '…', ?) FROM texts WHERE text MATCH ?"
        found = dict(kept.table.execute(query, (_OPEN, _CLOSE, words, wanted)))
    return [
        _pieces(found.get(place) or _beginning(text, words)) for place, text in enumerate(texts)
    ]


def _beginning(text: str, most: int) -> str:
    words = _MARK.sub(" ", spaced(text)).split(maxsplit=most)
    return " ".join(words[:most]) + "…" * (len(words) > most)


def _pieces(marked: str) -> list[Piece]:
    """Alternately what was not and what was searched for."""
    parts = _MARK.split(joined(" ".join(marked.split())))
    return [Piece(part, number % 2 == 1) for number, part in enumerate(parts) if part]

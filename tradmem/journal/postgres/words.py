"""Texts as PostgreSQL's full text takes them: plain words with a space between them."""

import re

from tradmem.journal.folding import folded
from tradmem.model import Act, Entry

# Scripts without spaces between words, and Korean: each character counts as a word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u30a1-\u30fe"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd\uac00-\ud7a3"
)
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
_LONGEST = 150_000  # characters of an entry; a tsvector ends at 1 MB
_LONGEST_WORD = 500
_PIECE = re.compile(r'"([^"]*)"|([^\s"]+)')
MOST_TERMS = 64


def words(text: str) -> list[str]:
    """The words of a text, each in its one form."""
    return [word[:_LONGEST_WORD] for word in _WORD.findall(folded(text))]


def words_of(entry: Entry) -> str:
    """Every word that an entry holds or ever held."""
    recorded = entry.recorded
    tags = [*entry.tags]
    for addition in entry.additions:
        found = addition.data.get("tags") if addition.kind == Act.REFLECTION else None
        tags += map(str, found) if isinstance(found, list | tuple) else ()
    texts = (entry.ticker, recorded.text, *(a.text for a in entry.additions), *tags)
    return indexed("\n".join(texts))


def indexed(text: str) -> str:
    """A text as the index takes it: its words, as far as it has room for them."""
    return " ".join(words(text[:_LONGEST]))


def terms(query: str) -> list[str]:
    """What a person searches for, each a word or words that stand side by side."""
    found: dict[str, None] = {}
    for phrase, word in _PIECE.findall(query):
        if term := " ".join(words(phrase or word)):
            found.setdefault(term)
    return list(found)[:MOST_TERMS]

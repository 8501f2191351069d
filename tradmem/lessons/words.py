"""The words of texts and queries, in any script, as the full-text index takes them.

Scripts that put no spaces between words (Chinese, Japanese, Thai) and Korean, which writes
particles onto them, are split into characters; a word of such a script is then a phrase.
That finds two-character words, which most Chinese ones are and trigrams cannot find, and
takes a quarter of the time and space of trigrams.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from tradmem.journal.folding import folded
from tradmem.journal.text import clean

TOKENIZER = "porter unicode61 remove_diacritics 2"
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3041-\u3096\u30a1-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003fffd"
    "\uac00-\ud7a3"  # Korean
)
_CHARACTER = re.compile(f"([{_UNSPACED}])")
_WORD = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
_PIECE = re.compile(r'"([^"]*)"|([^\s"]+)')
_SET_APART = re.compile(
    f" ?([{_UNSPACED}]) (?=[{_UNSPACED}\u3001-\u303f])|(?<=[\u3001-\u303f]) (?=[{_UNSPACED}])"
)
MOST_WORDS = 64  # of a query that is searched for
MOST_TERMS = 256  # of a query that is ranked by


class Term(NamedTuple):
    """Something to look for.

    Attributes:
        text: as a person would write it.
        match: as the index takes it: words in this order, side by side, folded.
    """

    text: str
    match: str

    @property
    def as_typed(self) -> str:
        """As an index takes it that keeps texts as they are."""
        return _phrase(spaced(self.text))


def spaced(text: str) -> str:
    """A text to be shown: compatible forms made one, characters that are words set apart."""
    if text.isascii():
        return text
    return _CHARACTER.sub(r" \1 ", unicodedata.normalize("NFKC", clean(text)))


def plain(text: str) -> str:
    """A text as it is indexed: folded, characters that are words set apart."""
    if text.isascii():
        return text
    return _CHARACTER.sub(r" \1 ", folded(clean(text)))


def joined(text: str) -> str:
    """The inverse of :func:`spaced`, for people to read."""
    if text.isascii():
        return text
    return _SET_APART.sub(r"\1", text.replace("  ", " "))


def asked_for(query: str) -> list[Term]:
    """What a person searches for: each word, and each phrase in quotation marks.

    Whatever else the query holds (operators, brackets, lone marks) is no more than text.
    """
    found: dict[str, Term] = {}
    for phrase, word in _PIECE.findall(clean(query)):
        term = _term(phrase or word)
        if term:
            found.setdefault(term.match.casefold(), term)
    return list(found.values())[:MOST_WORDS]


def terms_of(text: str) -> list[Term]:
    """The distinct words of a longer text, in their order; figures and single letters left out.

    A run of characters of an unspaced script gives its pairs.
    """
    found: dict[str, Term] = {}
    for word in _words(text):
        term = _term(word)
        if term and len(word) > 1 and not word.isdigit():
            found.setdefault(term.match.casefold(), term)
            if len(found) >= MOST_TERMS:
                break
    return list(found.values())


def _words(text: str) -> Iterator[str]:
    text = clean(text)
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    for run in _WORD.findall(text):
        if _CHARACTER.match(run):
            yield from (run[at : at + 2] for at in range(len(run) - 1))
        else:
            yield run


def _term(text: str) -> Term | None:
    match = _phrase(plain(text))
    return Term(" ".join(text.split()), match) if match else None


def _phrase(text: str) -> str:
    words = _WORD.findall(text)
    return f'"{" ".join(words)}"' if words else ""

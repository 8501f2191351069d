"""One form for what a person takes for the same word, in full text of every kind."""

import unicodedata
from functools import cache

# Marks that make another letter of it: nukta, kana's voicing, virama; Thai and Lao vowels.
_KEPT = frozenset({0, 7, 8, 9, *range(103, 133)})
_BEYOND = 0x1E950  # above it no mark combines


def folded(text: str) -> str:
    """A text without case, without diacritics, and with compatible forms made one.

    So that ``straße`` and ``STRASSE``, ``αύξηση`` and ``ΑΥΞΗΣΗ`` are the same.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        apart = unicodedata.normalize("NFD", text)
        if found := _marks().intersection(apart):  # a handful, where a pattern would try each
            for mark in found:
                apart = apart.replace(mark, "")
            text = unicodedata.normalize("NFC", apart)
    return text.casefold()


@cache
def _marks() -> frozenset[str]:
    """Every diacritic that goes."""
    found = map(chr, range(0x300, _BEYOND))
    return frozenset(mark for mark in found if unicodedata.combining(mark) not in _KEPT)

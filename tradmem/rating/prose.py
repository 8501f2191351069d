"""Which rating a few sentences of prose state outright, to set beside the one that was given.

Read is only what is said of the call itself ("I rate it Sell", "this is a Hold"). A sentence
that doubts, compares or looks back is nobody's rating: one that is missed costs little, one
that is made up tells people of a conflict that there is not.
"""

import re
from collections.abc import Iterator

from tradmem.model import Rating
from tradmem.rating.parse import parse_rating

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_DOUBT = re.compile(
    r"\b(?:not|never|no longer|rather|instead|than|unless|until|if|whether|why|would|could|might|"
    r"may|should have|was|were|had|earlier|previous(?:ly)?|prior|past|last|once|consensus|some|"
    r"analysts?|agenc(?:y|ies)|brokers?|market|others?|street)\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
_NAMES = {name: rating for rating in Rating for name in (rating.value, rating.upper())}
_RATING = rf"(?:an?\s+|the\s+)?[*_\"'“]*(?P<rating>{'|'.join(_NAMES)})\b"
_IT = (
    r"(?:[Ii]t|[Tt]h(?:is|at)|[Tt]h(?:e|is)\s+(?:stock|shares?|name|company)"
    r"|\^?[A-Z0-9][A-Z0-9.&=_^-]*)"
)
_IS = r"(?:is|remains|stays)\s+(?:(?:therefore|thus|hence|so|still|clearly|now)\s+)?"
_CALL = r"(?:rating|call|recommendation|verdict|decision|conclusion|stance)"
_CHOOSE = r"(?:recommend|suggest|advise|choose|pick|conclude|settle\s+on|go\s+with|stay|remain)"
_ALONE = r"(?=(?:an?\s+)?[*_\"'“]*\w+[*_\"'”]*(?:[.,;!]|$))"
# What stands before the rating; an article is asked for where the verb alone says little.
_OUTRIGHT = [
    re.compile(before + _RATING)
    for before in (
        rf"\b[Rr]at(?:e|es|ed|ing)\s+(?:{_IT}\s+)?(?:as\s+|at\s+)?",
        rf"\b(?:[Mm]y|[Oo]ur|[Tt]h(?:e|is))\s+(?:final\s+)?{_CALL}\s+{_IS}(?:to\s+)?",
        rf"\b{_IT}\s+{_IS}(?=an?\s)",
        rf"\b(?:I|[Ww]e)\s+{_CHOOSE}\s+(?:with\s+|at\s+|to\s+)?",
        rf"\bmakes?\s+{_IT}\s+(?=an?\s)",
        rf"\b(?:[Hh]ence|[Tt]herefore|[Tt]hus|[Ss]o),?\s+{_ALONE}",
    )
]


def stated_in_prose(text: str) -> tuple[Rating, ...]:
    """Every rating that some sentences give the call outright, each once, in their order.

    Args:
        text: plain prose, such as a thesis. Labels (``Rating: Sell``) are read in all the
            languages of :func:`tradmem.rating.parse_rating`, whole sentences in English.
    """
    return tuple(dict.fromkeys(_stated(text)))


def _stated(text: str) -> Iterator[Rating]:
    for sentence in filter(None, map(str.strip, _SENTENCE.split(text))):
        labelled = parse_rating(sentence)
        if labelled:
            yield labelled
        elif not _DOUBT.search(sentence):
            for pattern in _OUTRIGHT:
                for found in pattern.finditer(sentence):
                    yield _NAMES[found["rating"]]

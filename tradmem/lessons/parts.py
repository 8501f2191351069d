"""What the relevance of a memory is made of, and how a recall accounts for it."""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from tradmem.model import Entry


class Rank(StrEnum):
    """How a recall chooses."""

    PLAIN = "plain"  # the newest
    RELEVANT = "relevant"  # what has the most to do with a query


class PartName(StrEnum):
    """The parts of a score, each from 0 to 1."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    ENTITIES = "entities"
    RECENCY = "recency"
    RECORD = "record"


# What a part of 1 adds to a score. That decisions which saw a lesson came out well says little
# about the lesson: they share its ticker and its time. So the record counts for nothing.
DEFAULT_WEIGHTS: MappingProxyType[str, float] = MappingProxyType(
    {
        PartName.KEYWORD: 0.35,
        PartName.SEMANTIC: 0.25,
        PartName.ENTITIES: 0.2,
        PartName.RECENCY: 0.2,
        PartName.RECORD: 0.0,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a score.

    Attributes:
        name: which one.
        value: from 0 to 1.
        weight: what a value of 1 would add.
        points: what it adds: the product, to four digits.
        detail: where it comes from, in words.
    """

    name: PartName
    value: float
    weight: float
    points: float
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A memory that a recall looked at, what speaks for it, and what became of it.

    Attributes:
        entry: as it stood.
        parts: those that count, under any but the plain rule.
        score: the sum of their points.
        is_shown: whether the recall's text shows it.
        reason: why it is shown, or why it is not.
    """

    entry: Entry
    parts: tuple[Part, ...] = ()
    score: float = 0.0
    is_shown: bool = False
    reason: str = ""

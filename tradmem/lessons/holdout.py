"""Lessons held out of a recall by lot, so that it can be told later what they were worth.

The newest lessons go into every decision on their ticker, so decisions that saw a lesson and
those that did not differ in their time before they differ in anything else. Where a lot decides,
they differ in nothing but the lesson.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812 - `date` is the name of a field here
from functools import lru_cache
from typing import NamedTuple

from tradmem.errors import UsageError
from tradmem.lessons.reflect import lesson_hash
from tradmem.model import Entry

WITHHELD = "withheld by lot, so that what lessons are worth can be told"
_BYTES = 8  # of a hash, that make a number from 0 to 1
_WHOLE = 1 << 8 * _BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdout:
    """Which memories one decision does not get to see.

    The lot is drawn by hash, so it falls the same way whenever it is drawn, and whatever else
    is recalled.

    Attributes:
        share: of the memories that would be shown; from 0 to below 1.
        salt: another one draws other lots.
        ticker: whose decision it is, in upper case.
        date: of the decision.
        agent: who decides.
    """

    share: float
    ticker: str
    date: Date
    agent: str = ""
    salt: str = ""

    def withholds(self, entry: Entry) -> bool:
        """Whether the lot falls on a memory; it is one for all that say the same."""
        return self.among([entry])[0]

    def among(self, entries: Iterable[Entry]) -> list[bool]:
        """Of each of some memories, whether the lot falls on it."""
        whose = f"{self.salt}|{_whose(self.ticker, self.date, self.agent)}"
        return [drawn(whose + _said(entry)) < self.share for entry in entries]


class Lots(NamedTuple):
    """What a decision saw, what a lot kept from it, and the share of lots that do."""

    recalled: tuple[str, ...]
    withheld: tuple[str, ...] = ()
    share: float = 0.0


def lots(recalled: Iterable[str], withheld: Iterable[str], share: float) -> Lots:
    """What a decision keeps of its recall.

    Raises:
        UsageError: something was withheld although no lots are drawn, or was shown too.
    """
    found = Lots(tuple(recalled), tuple(withheld), float(share))
    if found.withheld and not share:
        raise UsageError(
            f"{found.withheld[0]} cannot be withheld: Settings(holdout=...) draws no lots"
        )
    for name in found.withheld:
        if name in found.recalled:
            raise UsageError(f"{name} cannot be both recalled and withheld")
    return found


def unit(ticker: str, date: Date, agent: str, entry: Entry) -> str:
    """What one lot is drawn for: a decision, and what a memory says as it stood then."""
    return _whose(ticker, date, agent) + _said(entry)


def _whose(ticker: str, date: Date, agent: str) -> str:
    return f"{ticker}|{date.isoformat()}|{agent}|"


def drawn(text: str) -> float:
    """A number from 0 to below 1 that a text stands for, as if it were drawn at random."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:_BYTES]) / _WHOLE


def _said(entry: Entry) -> str:
    """The normalised lesson or note; the id of what has neither."""
    text = entry.recorded.text if entry.recorded.is_note else entry.reflection
    return _hash(text, entry.ticker) if text else entry.id


_hash = lru_cache(maxsize=65536)(lesson_hash)

"""How often calls were right: counts over settled entries, with their sample size."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tradmem.journal.base import Journal
from tradmem.journal.tally import Counts, column_of
from tradmem.model import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """Verdicts on the decisions that took a side, and those on Hold apart.

    Attributes:
        right, wrong, neutral: Buy, Overweight, Underweight and Sell.
        hold_right, hold_wrong: Hold.
        unrated: settled without a rating, so without a verdict.
    """

    right: int = 0
    wrong: int = 0
    neutral: int = 0
    hold_right: int = 0
    hold_wrong: int = 0
    unrated: int = 0

    @property
    def judged(self) -> int:
        """Decisions that took a side and have a verdict."""
        return self.right + self.wrong + self.neutral

    @property
    def hit_rate(self) -> float | None:
        """Right / (right + wrong), as a fraction; None before there is either."""
        sided = self.right + self.wrong
        return self.right / sided if sided else None

    def line(self, subject: str) -> str:
        """One sentence for a prompt; empty while nothing was judged."""
        parts = []
        if self.judged:
            sided = f"{self.right} right, {self.wrong} wrong, {self.neutral} neutral"
            parts.append(f"{self.judged} {_calls(self.judged)} with a side: {sided}")
        holds = self.hold_right + self.hold_wrong
        if holds:
            parts.append(f"{holds} Hold: {self.hold_right} right, {self.hold_wrong} wrong")
        return f"Track record on {subject}: {'; '.join(parts)}." if parts else ""


def _calls(number: int) -> str:
    return "call" if number == 1 else "calls"


def track_of(journal: Journal, ticker: str, as_of: datetime) -> Track:
    """The track record on a ticker as it stood at an instant, aware UTC."""
    return Track(**journal.counts(ticker, as_of)._asdict())


def track_record(entries: Iterable[Entry]) -> Track:
    """The track record of settled and resolved entries, each as it stood at one instant.

    Forgotten entries count: forgetting hides a lesson from recall, never from statistics.
    """
    columns = Counter(
        Counts._fields[column_of(entry.rating, entry.verdict)] for entry in entries if entry.outcome
    )
    return Track(**columns)

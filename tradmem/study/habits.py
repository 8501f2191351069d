"""Which ratings an agent gives, how that drifts, and how often it changes its mind."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradmem.model import Rating

if TYPE_CHECKING:
    import pandas as pd

UNRATED = "Unrated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How often one rating was given.

    Attributes:
        rating: one of the five, or ``Unrated``.
        n: how often.
        share: of all decisions.
        before: of those in the first half of the dates.
        after: of those in the second half.
    """

    rating: str
    n: int
    share: float
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How an agent rates.

    Attributes:
        shares: by rating, from Buy to Sell, then Unrated.
        drift: half the sum of the differences of the shares between the first and the second
            half of the dates: 0 for the same habits, 1 for none in common.
        changes: decisions that have one of the same agent on the same ticker before them.
        changed: the share of those that give another rating.
        turnover: the mean change of exposure from an agent's decision on a ticker to its next; 2
            would be from Buy to Sell each time. None where there is no next one.
    """

    shares: tuple[Share, ...]
    drift: float
    changes: int
    changed: float | None
    turnover: float | None


def habits_of(frame: "pd.DataFrame") -> Habits:
    """The habits that decisions show, settled or not.

    Args:
        frame: one row per decision.
    """
    shares = tuple(_shares(frame))
    rated = frame[frame["exposure"].notna()].sort_values("decided_at", kind="stable")
    steps = rated.groupby(["ticker", "agent"], sort=False)["exposure"].diff().abs().dropna()
    return Habits(
        shares=shares,
        drift=sum(abs(share.after - share.before) for share in shares) / 2,
        changes=len(steps),
        changed=float((steps > 0).mean()) if len(steps) else None,
        turnover=float(steps.mean()) if len(steps) else None,
    )


def _shares(frame: "pd.DataFrame") -> Iterator[Share]:
    names = frame["rating"].map(lambda rating: str(rating) if isinstance(rating, str) else UNRATED)
    days = sorted(set(frame["date"]))
    is_early = frame["date"] < days[len(days) // 2]
    early, late = int(is_early.sum()), int((~is_early).sum())
    for name in (*map(str, Rating), UNRATED):
        found = names == name
        n = int(found.sum())
        if n:
            yield Share(
                rating=name,
                n=n,
                share=n / len(frame),
                before=int((found & is_early).sum()) / early if early else 0.0,
                after=int((found & ~is_early).sum()) / late if late else 0.0,
            )

"""Names side by side: whether higher ratings of a date did better, and how names move together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tradmem.lessons.chance import Skill
from tradmem.lessons.rates import Mean
from tradmem.study.rivals import word_of

if TYPE_CHECKING:
    import pandas as pd

MeanOf = Callable[["pd.DataFrame", "pd.Series[float]"], Mean]
LEAST_TICKERS = 5  # of a date, below which ranks say nothing
_LEAST_DATES = 20  # that two names have in common, below which a correlation says nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Whether, among the decisions of one date, the higher rating did better.

    Attributes:
        dates: with five tickers or more and ratings that differ.
        correlation: the mean over dates of Spearman's rank correlation of rating and alpha.
        skill: what may be said of it; None where too little is known.
        by_date: each date and its correlation.
    """

    dates: int
    correlation: Mean
    skill: Skill | None
    by_date: tuple[tuple["pd.Timestamp", float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breadth:
    """How much independent evidence the decisions of one date are.

    Attributes:
        dates: with any decision that has an outcome.
        per_date: decisions a date, the mean.
        tickers: how many names.
        co_movement: the mean correlation of the returns of two names; None of too few dates.
        independent: how many independent names they are worth, by the variance of their
            mean: n / (1 + (n - 1) x co-movement).
    """

    dates: int
    per_date: float
    tickers: int
    co_movement: float | None
    independent: float | None


def ranks_of(frame: "pd.DataFrame", mean: MeanOf) -> Ranks:
    """The rank correlation of rating and alpha, date by date.

    Args:
        frame: decisions with a score.
        mean: of values beside rows.
    """
    import pandas as pd  # noqa: PLC0415 - heavy

    found: list[tuple[Any, float, int]] = []
    for day, group in frame.groupby("date", sort=True):
        if group["ticker"].nunique() < LEAST_TICKERS or group["exposure"].nunique() < 2:
            continue
        rating, alpha = group["exposure"].astype(float).rank(), group["alpha"].astype(float).rank()
        value = rating.corr(alpha)
        if value == value:  # noqa: PLR0124 - NaN where all alphas are the same
            found.append((day, float(value), int(group["block"].iloc[0])))
    table = pd.DataFrame(found, columns=["date", "value", "block"])
    correlation = mean(table, table["value"].astype(float))
    return Ranks(
        dates=len(found),
        correlation=correlation,
        skill=word_of(correlation),
        by_date=tuple((day, value) for day, value, _ in found),
    )


def breadth_of(frame: "pd.DataFrame") -> Breadth:
    """How many decisions a date, and how much of their own each name moves.

    Args:
        frame: decisions with a score.
    """
    dates, tickers = frame["date"].nunique(), frame["ticker"].nunique()
    wide = frame.pivot_table(index="date", columns="ticker", values="raw_return", aggfunc="first")
    together = wide.astype(float).corr(min_periods=_LEAST_DATES).to_numpy()
    pairs = [
        float(together[row, column])
        for row in range(len(together))
        for column in range(row)
        if together[row, column] == together[row, column]
    ]
    shared = sum(pairs) / len(pairs) if pairs else None
    worth = None
    if shared is not None:
        worth = tickers / (1 + (tickers - 1) * max(shared, 0.0))
    return Breadth(
        dates=dates,
        per_date=len(frame) / dates if dates else 0.0,
        tickers=tickers,
        co_movement=shared,
        independent=worth,
    )

"""How sure a mean over dates is: the moving-block bootstrap, and what the data could show at all.

Neighbouring dates share windows, so dates are drawn in blocks of neighbours: H. Kuensch, Annals of
Statistics 17 (1989). Blocks of a fixed length on few dates vary too little; the deviations are
widened by Student's t for G - 1 degrees of freedom against the normal, and by
sqrt(1.2 G / (G - 1)), where G is how many blocks there are side by side: the same allowances as
those of :mod:`tradmem.lessons.rates`. Ends so far out that hardly any draw lies beyond them
follow from the outermost ones that draws tell, in the proportion of the normal distribution.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from math import ceil, log10, sqrt
from statistics import NormalDist, median
from typing import TYPE_CHECKING, Any

from tradmem.errors import UsageError
from tradmem.lessons.rates import LEAST_BLOCKS, OVERLAP
from tradmem.lessons.student import student_t

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS = 4000
LEVEL = 0.95
_LEAST_DRAWS = 10  # beyond a quantile that is taken from the draws themselves
_QUARTER = 0.25  # with however few draws
_POWER = 0.8  # with which the smallest difference would be shown
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean over dates, and how sure it is; there is no interval of fewer than ten blocks.

    Attributes:
        n: values.
        dates: on which they fall.
        blocks: of neighbouring dates side by side.
        mean: of the values; None of nothing.
        low: the lower end of the interval.
        high: its upper end.
        level: how often such an interval holds the truth.
        smallest: the smallest true mean that would be told from 0 four times out of five.
    """

    n: int
    dates: int
    blocks: int
    mean: float | None
    low: float | None
    high: float | None
    level: float
    smallest: float | None

    @property
    def is_shown(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def bootstrap(
    values: Iterable[tuple[date, float]],
    *,
    span: int,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = 0,
) -> Interval:
    """The mean of dated values with its moving-block interval.

    Args:
        values: pairs of a date and a value; several of one date stay together.
        span: calendar days of the longest window; a block covers two of them.
        level: how often the interval is to hold the truth.
        draws: how often the dates are drawn anew.
        seed: of these draws; the same seed gives the same interval.
    """
    import numpy as np  # noqa: PLC0415 - kept off the import of tradmem

    if not 0 < level < 1:
        raise UsageError(f"a level of {level} cannot be; it lies between 0 and 1")
    by_date: dict[date, list[float]] = {}
    for day, value in values:
        by_date.setdefault(day, []).append(value)
    days = sorted(by_date)
    sums = np.array([sum(by_date[day]) for day in days])
    counts = np.array([len(by_date[day]) for day in days])
    n, dates = int(counts.sum()), len(days)
    length = block_length(days, span)
    blocks = dates // length
    mean = float(sums.sum() / n) if n else None
    found = Interval(
        n=n,
        dates=dates,
        blocks=blocks,
        mean=mean,
        low=None,
        high=None,
        level=level,
        smallest=None,
    )
    if mean is None or blocks < LEAST_BLOCKS:
        return found
    chance = np.random.default_rng(seed)
    starts = chance.integers(0, dates - length + 1, (draws, ceil(dates / length)))
    drawn = _block_sums(sums, length)[starts].sum(1) / _block_sums(counts, length)[starts].sum(1)
    tail = (1 - level) / 2
    usual = _NORMAL.inv_cdf(1 - tail)
    wider = student_t(blocks - 1, level) / usual * sqrt(OVERLAP * blocks / (blocks - 1))
    off = (drawn - drawn.mean()) * wider
    told = max(tail, min(_LEAST_DRAWS / draws, _QUARTER))
    outside = usual / _NORMAL.inv_cdf(1 - told)
    below, above = (np.quantile(off, [told, 1 - told]) * outside).tolist()
    smallest = float(off.std()) * (usual + _NORMAL.inv_cdf(_POWER))
    return replace(found, low=mean - above, high=mean - below, smallest=smallest)


def _block_sums(values: "NDArray[Any]", length: int) -> "NDArray[Any]":
    import numpy as np  # noqa: PLC0415 - kept off the import of tradmem

    total = np.concatenate(([0.0], np.cumsum(values)))
    sums: NDArray[Any] = total[length:] - total[:-length]
    return sums


def block_length(days: list[date], span: int) -> int:
    """How many neighbouring dates cover two of the longest windows."""
    gaps = [(after - before).days for before, after in pairwise(days)]
    step = median(gaps) if gaps else 1
    return max(1, min(ceil(2 * span / step), max(len(days), 1)))


def in_percent(level: float) -> str:
    """A level below 1 in per cent, with so many digits that it is told from certainty."""
    return f"{level:.{max(2, ceil(-log10(100 * (1 - level))))}%}"

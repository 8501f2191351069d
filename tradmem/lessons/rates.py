"""Rates and means of things that overlap in time, with intervals that may be believed.

Holding windows overlap and tickers move together, so a thousand verdicts may say no more than
fifty independent ones would. Time is cut into blocks, and what varies is the sum over a block:
with x_i the i-th of n values in G blocks and m their mean,

    V = 1.2 x G / (G - 1) x sum over blocks of (sum of (x_i - m))^2 / n^2

is the variance of m (clustered by time, the factor G / (G - 1) as for few clusters; windows
still overlap across the ends of blocks, to which 1.2 makes a round allowance), and
m (1 - m) / V is how many independent verdicts the n are worth. Intervals are 95 %, with
Student's t for G - 1 degrees of freedom; that of a rate is E. B. Wilson's (Journal of the
American Statistical Association 22, 1927).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from tradmem.journal.verdicts import Sums
from tradmem.lessons.student import student_t

LEAST_BLOCKS = 10  # below which blocks are too few to tell how much they vary
LEAST_WORTH = 30  # independent verdicts below which no word is said of skill
HALF, THIRD = 1 / 2, 1 / 3  # what a rate is before anything is known: of a side, and of Hold
OVERLAP = 1.2
_DOUBT = 20  # verdicts that the shrunk rate adds at what is known beforehand


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often something was right, and how sure that is.

    Attributes:
        right: how often.
        n: of how many.
        blocks: of time that hold any of them.
        n_eff: how many independent ones they are worth.
        low: the lower end of the 95 % interval; None where there is none.
        high: its upper end.
        prior: what the rate is before anything is known.
    """

    right: int = 0
    n: int = 0
    blocks: int = 0
    n_eff: float = 0.0
    low: float | None = None
    high: float | None = None
    prior: float = HALF

    @property
    def value(self) -> float | None:
        """The plain rate, as a fraction; None of nothing."""
        return self.right / self.n if self.n else None

    @property
    def shrunk(self) -> float:
        """The rate drawn towards its prior, the more the less is known."""
        known = self.n_eff * (self.value or 0.0)
        return (known + _DOUBT * self.prior) / (self.n_eff + _DOUBT)

    @property
    def has_blocks(self) -> bool:
        """Whether there are blocks enough to tell how much they vary."""
        return self.blocks >= LEAST_BLOCKS

    @property
    def is_enough(self) -> bool:
        """Whether enough is known for a word about skill."""
        return self.has_blocks and self.n_eff >= LEAST_WORTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over outcomes, and how sure it is; there is none of fewer than ten blocks.

    Attributes:
        n: how many outcomes.
        blocks: of time that hold any of them.
        value: None where it may not be said.
        low: the lower end of the 95 % interval.
        high: its upper end.
    """

    n: int = 0
    blocks: int = 0
    value: float | None = None
    low: float | None = None
    high: float | None = None


def rate_of(sums: Sums, prior: float = HALF) -> Rate:
    """The rate from sums over blocks of time.

    With fewer than ten blocks, or where no block differs from the others, nothing is known
    of how blocks vary; a block then counts as one verdict.
    """
    n, right, blocks = sums.n, sums.right, sums.blocks
    if not n:
        return Rate(prior=prior)
    p = right / n
    # In whole numbers: n^2 times the sum of squares, so that 0 is 0.
    squares = n * n * sums.rr - 2 * n * right * sums.rn + right * right * sums.nn
    if blocks < LEAST_BLOCKS or squares == 0:
        n_eff = float(min(n, blocks))
    else:
        variance = OVERLAP * blocks / (blocks - 1) * squares / n**4
        n_eff = min(float(n), p * (1 - p) / variance)
    low, high = _wilson(p, n_eff, student_t(blocks - 1)) if blocks > 1 else (None, None)
    return Rate(right=right, n=n, blocks=blocks, n_eff=n_eff, low=low, high=high, prior=prior)


def _wilson(p: float, n: float, t: float) -> tuple[float, float]:
    share = t * t / n
    middle = (p + share / 2) / (1 + share)
    half = sqrt(share * (p * (1 - p) + share / 4)) / (1 + share)
    return max(0.0, middle - half), min(1.0, middle + half)


def mean_of(blocks: Iterable[Sequence[float]]) -> Mean:
    """The mean of the values of some blocks of time; a block without any does not count."""
    by_block = [values for values in blocks if values]
    n, number = sum(map(len, by_block)), len(by_block)
    if number < LEAST_BLOCKS:
        return Mean(n=n, blocks=number)
    sums = [fsum(values) for values in by_block]
    mean = fsum(sums) / n
    squares = fsum(
        (total - mean * len(values)) ** 2 for total, values in zip(sums, by_block, strict=True)
    )
    half = student_t(number - 1) * sqrt(OVERLAP * number / (number - 1) * squares) / n
    return Mean(n=n, blocks=number, value=mean, low=mean - half, high=mean + half)

"""Quantiles of Student's t, without a library: recall loads none.

The distribution function is the finite series of M. Abramowitz and I. Stegun, Handbook of
Mathematical Functions (1964), 26.7.3 and 26.7.4; for many degrees of freedom the quantile is
their expansion 26.7.5 around the normal one.
"""

from functools import lru_cache
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist

_MANY = 60  # from here on the expansion is right to eight digits
_STEPS = 60  # halvings: to the last bit of a float


def _within(t: float, freedom: int) -> float:
    """The probability that a t-distributed number lies between -t and t."""
    angle = atan(t / sqrt(freedom))
    term: float = cos(angle) if freedom % 2 else 1.0
    total = term
    for step in range(2 + freedom % 2, freedom - 1, 2):
        term *= cos(angle) * cos(angle) * (step - 1) / step
        total += term
    if freedom % 2 == 0:
        return sin(angle) * total
    return 2 / pi * (angle + (sin(angle) * total if freedom > 1 else 0.0))


@lru_cache(maxsize=1024)
def student_t(freedom: int, level: float = 0.95) -> float:
    """How many standard errors either way hold this share of a t distribution.

    Args:
        freedom: degrees of freedom, 1 or more.
        level: between 0 and 1; 0.95 gives the 97.5 % quantile.
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    if freedom >= _MANY:
        return z + sum(
            term / float(freedom) ** power for power, term in enumerate(_expansion(z), 1)
        )
    low, high = z, z
    while _within(high, freedom) < level:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
    return high


def _expansion(z: float) -> tuple[float, float, float, float]:
    """The numerators of 1/v, 1/v^2, 1/v^3 and 1/v^4."""
    return (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )

"""Quantiles of Student's t, against printed tables and against the density itself."""

from math import gamma, pi, sqrt

import numpy as np
import pytest

from tradmem.lessons.student import student_t

# The 97.5 % and 99.5 % points, as statistical tables print them.
TABLE = {
    1: (12.706, 63.657),
    2: (4.303, 9.925),
    3: (3.182, 5.841),
    4: (2.776, 4.604),
    5: (2.571, 4.032),
    9: (2.262, 3.250),
    10: (2.228, 3.169),
    15: (2.131, 2.947),
    20: (2.086, 2.845),
    25: (2.060, 2.787),
    30: (2.042, 2.750),
    40: (2.021, 2.704),
    60: (2.000, 2.660),
    120: (1.980, 2.617),
    10**9: (1.960, 2.576),
}


@pytest.mark.parametrize("freedom", TABLE)
def test_quantiles_are_those_of_the_tables(freedom):
    found = (student_t(freedom), student_t(freedom, 0.99))
    assert found == pytest.approx(TABLE[freedom], abs=0.00051)


@pytest.mark.parametrize("freedom", [1, 2, 3, 8, 25, 59, 60, 61, 150])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_density_holds_the_level_between_the_quantiles(freedom, level):
    """The density is integrated over t = tan(a), on which it is smooth and bounded."""
    scale = gamma((freedom + 1) / 2) / (sqrt(freedom * pi) * gamma(freedom / 2))
    end = np.arctan(student_t(freedom, level))
    angles = np.linspace(-end, end, 20_001)
    density = scale * (1 + np.tan(angles) ** 2 / freedom) ** (-(freedom + 1) / 2)
    assert np.trapezoid(density / np.cos(angles) ** 2, angles) == pytest.approx(level, abs=2e-7)


def test_the_expansion_takes_over_without_a_step():
    steps = np.diff([student_t(freedom) for freedom in range(50, 75)])
    assert (steps < 0).all()
    assert (np.diff(steps) > 0).all()

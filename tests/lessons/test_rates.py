"""Rates, means and their intervals, computed another way and at their edges."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradmem.journal.verdicts import Sums
from tradmem.lessons.rates import THIRD, mean_of, rate_of
from tradmem.lessons.student import student_t

blocks_of_verdicts = st.lists(st.lists(st.booleans(), min_size=1, max_size=30), max_size=40)


def sums(blocks):
    """The sums that a rate takes, from the verdicts of each block."""
    pairs = [(sum(block), len(block)) for block in blocks]
    return Sums(
        n=sum(n for _, n in pairs),
        right=sum(r for r, _ in pairs),
        blocks=len(pairs),
        rr=sum(r * r for r, _ in pairs),
        rn=sum(r * n for r, n in pairs),
        nn=sum(n * n for _, n in pairs),
    )


def wilson_by_roots(p, n, t):
    """Where |rate - p| is t standard errors of the rate itself: the two roots in the rate."""
    ends = np.roots([1 + t * t / n, -(2 * p + t * t / n), p * p])
    return sorted(float(end.real) for end in ends)


@given(blocks_of_verdicts)
def test_a_rate_is_worth_what_the_clustered_variance_says(blocks):
    rate = rate_of(sums(blocks))
    n, g = sum(map(len, blocks)), len(blocks)
    assert (rate.n, rate.right, rate.blocks) == (n, sum(map(sum, blocks)), g)
    if not n:
        assert (rate.value, rate.low, rate.high, rate.n_eff) == (None, None, None, 0)
        return
    p = rate.value
    assert p == pytest.approx(np.mean(np.concatenate([np.array(b, float) for b in blocks])))
    residuals = np.array([np.sum(np.array(block, float) - p) for block in blocks])
    variance = 1.2 * g / (g - 1) * np.sum(residuals**2) / n**2 if g > 1 else 0.0
    if g < 10 or np.allclose(residuals, 0, atol=1e-9):
        assert rate.n_eff == min(n, g)
    else:
        assert rate.n_eff == pytest.approx(min(n, p * (1 - p) / variance))
    if g < 2:
        assert (rate.low, rate.high) == (None, None)
        return
    ends = wilson_by_roots(p, rate.n_eff, student_t(g - 1))
    assert (rate.low, rate.high) == pytest.approx(ends, abs=1e-7)
    assert -1e-12 <= rate.low <= p + 1e-12
    assert p - 1e-12 <= rate.high <= 1 + 1e-12


def test_blocks_that_all_agree_count_as_one_verdict_each():
    """Twenty blocks of thirty right calls say no more than twenty right calls."""
    rate = rate_of(sums([[True] * 30] * 20))
    assert (rate.value, rate.n_eff, rate.high) == (1.0, 20, 1.0)
    assert rate.low == pytest.approx(20 / (20 + student_t(19) ** 2))


def test_blocks_that_differ_more_than_chance_are_worth_less_than_their_number():
    rate = rate_of(sums([[True] * 30, [False] * 30] * 10))
    assert rate.n_eff == pytest.approx(20 / 1.2 * 19 / 20)


def test_independent_verdicts_are_worth_nearly_their_number():
    draws = np.random.default_rng(1).random((400, 10)) < 0.6
    rate = rate_of(sums(draws.tolist()))
    assert 0.7 * 4000 < rate.n_eff <= 4000


def test_nine_blocks_are_too_few_to_tell_how_they_vary_and_ten_are_not():
    blocks = [[True, True, False, False], [True, True, True, False]] * 5
    nine, ten = rate_of(sums(blocks[:9])), rate_of(sums(blocks))
    assert (nine.has_blocks, nine.n_eff) == (False, 9)
    assert (ten.has_blocks, ten.n_eff) == (True, 40)


def test_a_word_takes_thirty_independent_verdicts_and_ten_blocks():
    split = [[True] * 5, [False] * 5]
    few, enough = rate_of(sums(split * 10)), rate_of(sums(split * 30))
    assert (few.is_enough, enough.is_enough) == (False, True)
    assert few.n_eff < 30 < enough.n_eff


def test_the_shrunk_rate_starts_at_its_prior_and_ends_at_the_plain_one():
    assert rate_of(Sums()).shrunk == 0.5
    assert rate_of(Sums(), THIRD).shrunk == pytest.approx(1 / 3)
    three = rate_of(sums([[True], [True], [True]]))
    assert three.shrunk == pytest.approx((3 + 10) / 23)
    many = rate_of(sums([[True, True, True, False]] * 5_000), THIRD)
    assert many.shrunk == pytest.approx((many.n_eff * 0.75 + 20 / 3) / (many.n_eff + 20))


values = st.floats(-0.5, 0.5, allow_nan=False)


@given(st.lists(st.lists(values, min_size=1, max_size=8), min_size=1, max_size=25))
def test_a_mean_has_the_clustered_interval_from_ten_blocks_on(blocks):
    mean = mean_of(blocks)
    n, g = sum(map(len, blocks)), len(blocks)
    assert (mean.n, mean.blocks) == (n, g)
    if g < 10:
        assert (mean.value, mean.low, mean.high) == (None, None, None)
        return
    m = np.mean(np.concatenate(blocks))
    squares = sum(np.sum(np.array(block) - m) ** 2 for block in blocks)
    half = student_t(g - 1) * sqrt(1.2 * g / (g - 1) * squares / n**2)
    assert (mean.value, mean.low, mean.high) == pytest.approx((m, m - half, m + half), abs=1e-12)


def test_the_order_of_values_does_not_move_a_mean():
    blocks = [[0.1 * number for number in range(first, 48, 12)] for first in range(12)]
    assert mean_of(blocks) == mean_of(blocks[::-1]) == mean_of(block[::-1] for block in blocks)


def test_blocks_without_values_do_not_count():
    blocks = [[0.1 * number] for number in range(12)]
    assert mean_of([*blocks, [], []]) == mean_of(blocks)

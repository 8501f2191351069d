"""Intervals cover the truth as often as they say, where windows overlap and tickers move together.

A year of daily decisions on five tickers, each held for five sessions: 1,260 verdicts whose
windows share up to four sessions with their neighbours, while half of each day's alpha is common
to all five (names of one industry).
"""

from datetime import date, timedelta

import numpy as np
import pytest

from tests.lessons.track_cases import BAND, settled
from tradmem import Rating
from tradmem.journal.verdicts import Sample, count
from tradmem.lessons.rates import rate_of
from tradmem.lessons.track import track

YEARS = 300
SESSIONS, TICKERS, HELD = 252, 5, 5
ERROR = 3 * np.sqrt(0.95 * 0.05 / YEARS)  # three standard errors of so many years
DAYS = [
    day for day in (date(2026, 1, 1) + timedelta(days=n) for n in range(380)) if day.weekday() < 5
][: SESSIONS + HELD]
ENTRY = np.array([day.toordinal() for day in DAYS[:SESSIONS]])
SPAN = np.array([day.toordinal() for day in DAYS[HELD:]]) - ENTRY
NOISE = 0.01  # standard deviation of a day's alpha
WIDE = 0.43 * NOISE * np.sqrt(HELD)  # the band: a third of all windows stay within it
RIGHT, NEUTRAL, WRONG = 0, 1, 2  # cells of a Buy; those of a Sell count alike


def alphas(draw):
    """Five-session alphas by session and ticker; half of their variance is common."""
    common, own = (
        draw.normal(size=(SESSIONS + HELD, 1)),
        draw.normal(size=(SESSIONS + HELD, TICKERS)),
    )
    daily = NOISE * (common + own) / np.sqrt(2)
    summed = np.vstack([np.zeros((1, TICKERS)), daily.cumsum(axis=0)])
    return (summed[HELD + 1 :] - summed[1:-HELD])[:SESSIONS]


def always_buy(_, found):
    """Nobody decides anything, and the truth is a half."""
    return np.ones_like(found), 0.5


def sticky_with_an_eye(draw, found):
    """Sides that turn every twenty sessions or so; one decision in five knows the future."""
    turns = draw.random(found.shape) < 0.05
    turns[0] = draw.random(TICKERS) < 0.5
    knows = draw.random(found.shape) < 0.2
    side = np.where(turns.cumsum(axis=0) % 2, 1.0, -1.0)
    return np.where(knows, np.sign(found), side), 0.6


def one_eye_for_all(draw, found):
    """The same side on all five for a month at a time, with an eye for one in ten."""
    side = np.repeat(draw.choice([-1.0, 1.0], SESSIONS // 21), 21)[:, None]
    knows = draw.random(found.shape) < 0.1
    return np.where(knows, np.sign(found), side), 0.55


def year(draw, decide):
    """The samples of one year, and the true rate."""
    found = alphas(draw)
    side, truth = decide(draw, found)
    gain = side * found
    cells = np.where(gain > WIDE, RIGHT, np.where(gain < -WIDE, WRONG, NEUTRAL))
    return found, side, cells, truth


def samples(cells):
    return [
        Sample(HELD, int(entry), int(span), int(cell), False, True)
        for entry, span, row in zip(ENTRY, SPAN, cells, strict=True)
        for cell in row
    ]


def plain_wilson(right, n, z=1.959964):
    """What one would write down who takes all verdicts for independent."""
    p, share = right / n, z * z / n
    half = z * np.sqrt(p * (1 - p) / n + share / n / 4)
    return (p + share / 2 - half) / (1 + share), (p + share / 2 + half) / (1 + share)


@pytest.mark.parametrize("decide", [always_buy, sticky_with_an_eye, one_eye_for_all])
def test_intervals_cover_the_truth_at_their_nominal_rate_and_plain_ones_do_not(decide):
    draw = np.random.default_rng(2026)
    covered = plain = 0
    for _ in range(YEARS):
        *_, cells, truth = year(draw, decide)
        rate = rate_of(count(HELD, samples(cells)).sums)
        assert rate.blocks >= 25
        assert 10 < rate.n_eff < rate.n
        covered += rate.low <= truth <= rate.high
        low, high = plain_wilson(rate.right, rate.n)
        plain += low <= truth <= high
    assert abs(covered / YEARS - 0.95) <= ERROR
    assert plain / YEARS < 0.85


def test_the_same_year_as_entries_gives_the_same_interval():
    """The simulation feeds the counts; this is the way from decisions and outcomes to them."""
    found, side, cells, _ = year(np.random.default_rng(7), sticky_with_an_eye)
    entries = [
        settled(
            DAYS[session],
            f"T{ticker}",
            Rating.BUY if side[session, ticker] > 0 else Rating.SELL,
            float(found[session, ticker]) * BAND / WIDE,
            span=int(SPAN[session]),
        )
        for session in range(SESSIONS)
        for ticker in range(TICKERS)
    ]
    assert track(entries).line(HELD).track.hit == rate_of(count(HELD, samples(cells)).sums)

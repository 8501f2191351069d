"""Sigma, band and beta: which closes they may see, and which they leave out."""

import random
from datetime import date
from itertools import pairwise
from math import sqrt
from statistics import stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.market.market_cases import ask, at, sessions, settled
from tradmem.market.calendars import calendar_of
from tradmem.market.outcome import Question, answer
from tradmem.market.prices import Bars, make_bars
from tradmem.model import Outcome

AS_OF = "2026-06-01T00:00:00Z"
DECIDED = "2026-03-02T15:00:00Z"
ENTRY = date(2026, 3, 2)
DAYS = sessions("NVDA", "2024-01-02", "2026-04-30")
PAST = [day for day in DAYS if day < ENTRY]

Walk = dict[date, float | None]


def walk(seed: int, days: list[date] = DAYS, step: float = 0.02) -> Walk:
    rnd, close, found = random.Random(seed), 100.0, {}
    for day in days:
        close *= 1 + rnd.gauss(0, step)
        found[day] = close
    return found


def returns(closes: Walk, days: list[date]) -> list[float]:
    return [(closes[b] or 0) / (closes[a] or 1) - 1 for a, b in pairwise(days)]


def outcome(closes: dict[str, Walk], **options: object) -> Outcome:
    return settled(ask(next(iter(closes)), DECIDED, AS_OF, closes, **options))


def test_band_is_a_share_of_sigma_over_the_sessions_held() -> None:
    own, index = walk(1), walk(2, step=0.01)
    for horizon in (1, 5, 20):
        found = outcome({"NVDA": own, "SPY": index}, horizon=horizon)
        last = PAST[-61:]
        excess = [a - b for a, b in zip(returns(own, last), returns(index, last), strict=True)]
        assert found.sigma == pytest.approx(stdev(excess), abs=1e-12)
        assert found.band == pytest.approx(0.43 * stdev(excess) * sqrt(horizon), abs=1e-12)
        assert "default_band" not in found.flags


def test_without_a_benchmark_the_raw_returns_are_judged() -> None:
    own = walk(1)
    found = outcome({"NVDA": own}, benchmarks={"NVDA": None})
    assert found.sigma == pytest.approx(stdev(returns(own, PAST[-61:])), abs=1e-12)
    assert found.beta is found.alpha_beta is None
    given_up = outcome({"NVDA": own})  # SPY is not there
    assert "no_benchmark" in given_up.flags
    assert given_up.sigma == found.sigma


def test_a_band_has_a_floor() -> None:
    still = dict.fromkeys(DAYS, 100.0)
    found = outcome({"EURUSD": still}, horizon=20)
    assert (found.sigma, found.band) == (0, pytest.approx(0.001 * 2))


@pytest.mark.parametrize(
    ("ticker", "usual"),
    [("NVDA", 0.01), ("BTCUSD", 0.03), ("EURUSD", 0.005), ("XAUUSD", 0.01), ("^VIX", 0.01)],
)
def test_fewer_than_forty_sessions_give_the_usual_band_of_the_asset_class(
    ticker: str, usual: float
) -> None:
    calendar = calendar_of(ticker)
    days = sessions(ticker, "2025-12-01", "2026-04-30")
    entry = calendar.first_closing_after(at(DECIDED))
    for returns_before, short in ((39, True), (40, False)):
        start = calendar.later(entry, 0)
        first = days[days.index(start) - 1 - returns_before]
        closes = walk(3, [day for day in days if day >= first])
        found = outcome({ticker: closes}, benchmarks={"*": None}, horizon=20)
        assert ("default_band" in found.flags) is short
        assert (found.sigma is None) is short
        if short:
            assert found.band == pytest.approx(usual * 2)


@pytest.mark.parametrize(("count", "there"), [(119, False), (120, True)])
def test_beta_needs_120_sessions(count: int, there: bool) -> None:
    kept = [day for day in DAYS if day >= PAST[-1 - count]]
    found = outcome({"NVDA": walk(1, kept), "SPY": walk(2, kept)})
    assert (found.beta is not None) is there
    assert (found.alpha_beta is not None) is there


def test_beta_of_a_leveraged_copy_is_its_leverage() -> None:
    index = walk(2, step=0.01)
    close, own = 100.0, {}
    for before, day in zip([None, *DAYS], DAYS, strict=False):
        move = (index[day] or 0) / (index[before] or 1) - 1 if before else 0
        close *= 1 + 2 * move
        own[day] = close
    found = outcome({"NVDA": own, "SPY": index})
    assert found.beta == pytest.approx(2, abs=1e-9)
    assert found.alpha_beta == pytest.approx(
        found.raw_return - 2 * (found.benchmark_return or 0), abs=1e-9
    )


def test_a_benchmark_of_other_hours_has_no_beta() -> None:
    tokyo = walk(2, sessions("^N225", "2024-01-04", "2026-04-30"))
    found = outcome({"NVDA": walk(1), "^N225": tokyo}, benchmarks="^N225")
    assert found.sigma is not None
    assert found.beta is found.alpha_beta is None


def test_jumps_before_the_decision_are_dropped_from_sigma_and_beta() -> None:
    """A split that the closes show is no volatility."""
    own, index = walk(1), walk(2)
    clean = outcome({"NVDA": own, "SPY": index})
    for leg, other in (("NVDA", "SPY"), ("SPY", "NVDA")):
        closes = {"NVDA": own, "SPY": index}
        split = {day: (c or 0) / (10 if day >= PAST[-30] else 1) for day, c in closes[leg].items()}
        found = outcome({"NVDA": own, "SPY": index, leg: split})
        last = PAST[-61:]
        excess = [a - b for a, b in zip(returns(own, last), returns(index, last), strict=True)]
        del excess[-30]
        assert found.sigma == pytest.approx(stdev(excess), abs=1e-12)
        assert found.beta == pytest.approx(clean.beta or 0, abs=0.05)
        assert other in closes


def test_the_close_of_the_entry_and_everything_after_are_not_looked_at() -> None:
    own, index = walk(1), walk(2)
    clean = outcome({"NVDA": own, "SPY": index})
    wild = {day: (c or 0) * (1.5 if day >= ENTRY else 1) for day, c in own.items()}
    found = outcome({"NVDA": wild, "SPY": index})
    assert (found.sigma, found.beta) == (clean.sigma, clean.beta)
    last = {day: (c or 0) * (1.2 if day == PAST[-1] else 1) for day, c in own.items()}
    assert outcome({"NVDA": last, "SPY": index}).sigma != clean.sigma


def test_a_benchmark_that_had_not_closed_yet_is_not_looked_at() -> None:
    """Decided after Tokyo's close, before New York's: that date is common, but not known."""
    tokyo = sessions("7203.T", "2025-06-02", "2026-04-30")
    own, index = walk(1, tokyo), walk(2)
    when = "2026-03-03T10:00:00Z"  # after Tokyo's close of the 3rd
    closes = {"7203.T": own, "SPY": index}
    clean = settled(ask("7203.T", when, AS_OF, closes, benchmarks="SPY"))
    wild = {d: (c or 0) * (1.3 if d == date(2026, 3, 3) else 1) for d, c in index.items()}
    for changed in ({"SPY": wild}, {"7203.T": {**own, date(2026, 3, 3): 1.0}}):
        found = settled(ask("7203.T", when, AS_OF, closes | changed, benchmarks="SPY"))
        assert found.sigma == clean.sigma
    before = {d: (c or 0) * (1.3 if d == date(2026, 3, 2) else 1) for d, c in index.items()}
    found = settled(ask("7203.T", when, AS_OF, closes | {"SPY": before}, benchmarks="SPY"))
    assert found.sigma != clean.sigma


def bars(ticker: str, closes: Walk) -> Bars:
    found = make_bars(ticker, list(closes.items()))
    assert isinstance(found, Bars)
    return found


def test_a_longer_fetch_changes_no_figure() -> None:
    """To the last bit, though most of the history is missing and years would have to be filled."""
    days = sessions("NVDA", "2018-01-02", "2026-04-30")
    rnd = random.Random(5)
    own = {d: c for d, c in walk(1, days).items() if rnd.random() < 0.4 or d >= ENTRY}
    index = walk(2, days)
    question = Question(ticker="NVDA", decided_at=at(DECIDED), benchmark="SPY")

    def ask_from(first: date, start: date) -> Outcome:
        cut = bars("NVDA", {day: close for day, close in own.items() if day >= first})
        index_cut = bars("SPY", {day: close for day, close in index.items() if day >= start})
        return settled(answer(question, cut, index_cut, as_of=at(AS_OF)))

    found = [
        ask_from(first, start)
        for first in (days[0], date(2022, 3, 3), date(2024, 3, 1))
        for start in (days[0], date(2023, 1, 3))
    ]
    assert found[0].beta is not None
    assert all(one == found[0] for one in found)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**9), st.integers(0, 30), st.booleans())
def test_bars_that_break_their_promises_are_mended(seed: int, where: int, shuffled: bool) -> None:
    """A source of the user's own may leave NaN, zeros, repeats or disorder in its bars."""
    days = DAYS[-80:]
    closes = walk(seed, days)
    broken = [(day, float(c or 0)) for day, c in closes.items()]
    broken.insert(where, (days[where], float("nan")))
    broken.insert(where, (days[where], 5.0))
    broken.append((date(2026, 2, 28), 0.0))
    if shuffled:
        head, tail = broken[: where + 1], broken[where + 1 :]
        random.Random(seed).shuffle(tail)
        broken = head + tail
    raw = Bars(
        symbol="NVDA",
        dates=tuple(day for day, _ in broken),
        closes=tuple(close for _, close in broken),
        raw_closes=tuple(close for _, close in broken),
    )
    question = Question(ticker="NVDA", decided_at=at(DECIDED))
    assert answer(question, raw, as_of=at(AS_OF)) == answer(
        question, bars("NVDA", closes), as_of=at(AS_OF)
    )

"""The brief: right figures, no levels, nothing from later."""

import json
from datetime import UTC, date, datetime, timedelta
from math import sqrt

import numpy as np
import pandas as pd
import pytest

from tradmem.briefing import Brief, brief
from tradmem.errors import PriceFault
from tradmem.market.calendars import calendar_of
from tradmem.market.frames import FramePrices

CALENDAR = calendar_of("NVDA")
FIRST = date(2024, 1, 2)


def days(count):
    """So many New York sessions from 2024-01-02 on."""
    found = [FIRST]
    while len(found) < count:
        found.append(CALENDAR.first_after(found[-1]))
    return found


def walk(count, seed, start=100.0, spread=0.02):
    steps = np.random.default_rng(seed).normal(0.0005, spread, count - 1)
    return pd.Series(start * np.cumprod([1.0, *(1 + steps)]), index=pd.Index(days(count)))


def after(session):
    """An instant at which the close of a session is final."""
    return CALENDAR.final_at(session)


def seen(closes, bench=None, ticker="NVDA", as_of=None):
    frame = {ticker: closes} | ({"SPY": bench} if bench is not None else {})
    return brief(ticker, FramePrices(frame), as_of or after(closes.index[-1]))


def test_every_figure_is_what_pandas_says_of_the_same_closes():
    own, bench = walk(300, 1), walk(300, 2, start=400.0, spread=0.01)
    found = seen(own, bench)
    for move, first, last in (
        (found.week, 5, 0),
        (found.month, 20, 0),
        (found.quarter, 60, 0),
        (found.year, 250, 20),
    ):
        past, recent = own.shift(first).iloc[-1], own.shift(last).iloc[-1]
        assert move.own == pytest.approx(recent / past - 1)
        expected = bench.shift(last).iloc[-1] / bench.shift(first).iloc[-1] - 1
        assert move.benchmark == pytest.approx(expected)
        assert move.strength == pytest.approx(move.own - expected)
    changes = own.pct_change().iloc[-60:]
    assert found.volatility == pytest.approx(changes.std() * sqrt(252))
    recent = own[own.index >= own.index[-1] - timedelta(weeks=52)]
    assert found.from_high == pytest.approx(own.iloc[-1] / recent.max() - 1)
    assert (found.last, found.benchmark, found.fault) == (own.index[-1], "SPY", None)


def test_a_brief_knows_nothing_of_closes_that_were_not_final():
    """The same brief comes from prices that end at the instant, and from all of them."""
    own, bench = walk(320, 3), walk(320, 4)
    session = own.index[280]
    instant = after(session)
    cut = {"NVDA": own.iloc[:281], "SPY": bench.iloc[:281]}
    whole = {"NVDA": own, "SPY": bench}
    before = brief("NVDA", FramePrices(cut), instant)
    assert before == brief("NVDA", FramePrices(whole), instant)
    assert before.last == session
    early = brief("NVDA", FramePrices(whole), instant - timedelta(seconds=1))
    assert early.last == own.index[279]


def test_the_text_names_no_price_level():
    own, bench = walk(300, 5), walk(300, 6)
    text = str(seen(own, bench))
    assert text == str(seen(own * 7.3, bench * 0.2))
    assert "strength against SPY" in text


def test_the_brief_travels_through_json():
    for found in (seen(walk(300, 7), walk(300, 8)), seen(walk(30, 7)), Brief(ticker="NVDA")):
        assert Brief.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_too_short_a_history_leaves_figures_out_and_says_so():
    found = seen(walk(250, 9), walk(250, 10))
    assert found.year is None
    assert found.quarter is not None
    assert "only 250 closes are known" in str(found)
    assert seen(walk(251, 9), walk(251, 10)).year is not None


def test_a_jump_leaves_out_the_figures_across_it():
    """An unadjusted split 30 sessions ago spoils the long figures, not the short ones."""
    own = walk(300, 11)
    own.iloc[-30:] /= 4
    found = seen(own, walk(300, 12))
    assert found.month is not None
    assert (found.quarter, found.year, found.volatility, found.from_high) == (None,) * 4


def test_a_jump_of_the_benchmark_leaves_out_the_benchmark_alone():
    bench = walk(300, 13)
    bench.iloc[-3:] *= 10
    found = seen(walk(300, 14), bench)
    assert found.week.benchmark is None
    assert found.year.benchmark is not None


def test_a_ticker_without_closes_is_a_fault_of_the_brief():
    found = brief("NVDA", FramePrices({"SPY": walk(10, 1)}), after(FIRST))
    assert found.fault is PriceFault.UNKNOWN_SYMBOL
    assert str(found) == "no prices for NVDA: unknown symbol (not in frame)"
    assert found.last is None


def test_a_missing_benchmark_is_told_and_leaves_the_own_figures():
    found = seen(walk(300, 15))
    assert found.fault is PriceFault.UNKNOWN_SYMBOL
    assert found.year.benchmark is None
    assert found.year.strength == found.year.own
    assert "- no prices for SPY: unknown symbol (not in frame)" in str(found)


def test_crypto_has_a_longer_year():
    index = [FIRST + timedelta(n) for n in range(400)]
    steps = np.random.default_rng(16).normal(0, 0.03, 399)
    own = pd.Series(np.cumprod([1.0, *(1 + steps)]), index=index)
    as_of = datetime(2025, 3, 1, tzinfo=UTC)
    found = brief("BTC-USD", FramePrices({"BTC-USD": own}), as_of)
    assert found.benchmark is None
    assert found.volatility == pytest.approx(own.pct_change().iloc[-60:].std() * sqrt(365))

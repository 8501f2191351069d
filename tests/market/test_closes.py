"""What was known of prices at an instant."""

from datetime import UTC, date, datetime, timedelta

from tradmem.errors import PriceError, PriceFault
from tradmem.market.closes import Closes, known_closes
from tradmem.market.frames import FramePrices
from tradmem.market.prices import make_bars

WEEK = {"2026-01-05": 100.0, "2026-01-06": 102.0, "2026-01-07": 51.0, "2026-01-08": 52.0}


def closes(as_of, prices=None, ticker="NVDA", days=30):
    return known_closes(prices or FramePrices({"NVDA": WEEK}), [ticker], as_of, days=days)[ticker]


def test_a_close_is_known_two_hours_after_the_session_closed():
    close = datetime(2026, 1, 6, 21, tzinfo=UTC)
    before = closes(close + timedelta(hours=2) - timedelta(microseconds=1))
    at = closes(close + timedelta(hours=2))
    assert before.dates == (date(2026, 1, 5),)
    assert at.dates == (date(2026, 1, 5), date(2026, 1, 6))
    assert at.closes == (100.0, 102.0)


def test_a_halved_close_is_named_as_a_jump():
    assert closes(datetime(2026, 1, 9, tzinfo=UTC)).jumps == (date(2026, 1, 7),)


def test_a_source_that_answers_beyond_the_span_gives_nothing_away():
    class Careless:
        def fetch(self, spans):
            return {"NVDA": make_bars("NVDA", list(WEEK.items()))}

    found = closes(datetime(2026, 1, 6, 12, tzinfo=UTC), Careless())
    assert found.dates == (date(2026, 1, 5),)


def test_days_that_the_market_does_not_trade_are_no_closes():
    prices = FramePrices({"NVDA": WEEK | {"2026-01-04": 1.0}})
    found = closes(datetime(2026, 1, 9, tzinfo=UTC), prices)
    assert found.dates[0] == date(2026, 1, 5)


def test_what_a_source_cannot_give_is_a_value():
    found = closes(datetime(2026, 1, 9, tzinfo=UTC), ticker="AMD")
    assert isinstance(found, PriceError)
    assert found.kind is PriceFault.UNKNOWN_SYMBOL
    early = closes(datetime(2026, 1, 5, 12, tzinfo=UTC))
    assert isinstance(early, PriceError)
    assert early.kind is PriceFault.NO_BARS


def test_the_last_close_on_or_before_a_day():
    known = Closes((date(2026, 1, 5), date(2026, 1, 7)), (100.0, 101.0), ())
    assert known.until(date(2026, 1, 4)) is None
    assert known.until(date(2026, 1, 6)) == 100.0
    assert known.until(date(2026, 1, 7)) == 101.0

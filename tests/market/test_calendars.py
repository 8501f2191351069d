"""Sessions, closes and the meaning of a bare date; instants checked against published hours."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradmem.clock import parse_instant
from tradmem.errors import UsageError
from tradmem.market.calendars import _exchange_class, calendar_of, decision_instant, today
from tradmem.market.symbols import MARKETS


def day(text: str) -> date:
    return date.fromisoformat(text)


def at(text: str) -> datetime:
    return parse_instant(text)


@pytest.mark.parametrize(
    ("ticker", "session", "close"),
    [
        ("NVDA", "2026-01-05", "2026-01-05T21:00Z"),
        ("NVDA", "2026-03-06", "2026-03-06T21:00Z"),  # the last session of winter time
        ("NVDA", "2026-03-09", "2026-03-09T20:00Z"),
        ("NVDA", "2025-10-31", "2025-10-31T20:00Z"),
        ("NVDA", "2025-11-03", "2025-11-03T21:00Z"),
        ("NVDA", "2025-11-28", "2025-11-28T18:00Z"),  # the day after Thanksgiving
        ("NVDA", "2025-12-24", "2025-12-24T18:00Z"),
        ("BRK.B", "2025-07-03", "2025-07-03T17:00Z"),
        ("VOD.L", "2026-03-27", "2026-03-27T16:30Z"),
        ("VOD.L", "2026-03-30", "2026-03-30T15:30Z"),
        ("VOD.L", "2025-12-24", "2025-12-24T12:30Z"),
        ("7203.T", "2024-11-01", "2024-11-01T06:00Z"),
        ("7203.T", "2024-11-05", "2024-11-05T06:30Z"),  # Tokyo trades half an hour longer
        ("0700.HK", "2026-02-16", "2026-02-16T04:00Z"),  # lunar new year's eve, half a day
        ("BHP.AX", "2025-12-24", "2025-12-24T03:10Z"),
        ("BHP.AX", "2026-04-02", "2026-04-02T05:00Z"),
        ("BHP.AX", "2026-04-07", "2026-04-07T06:00Z"),  # Easter and the end of summer time
        ("RELIANCE.NS", "2026-01-05", "2026-01-05T10:00Z"),
        ("600519.SH", "2026-01-05", "2026-01-05T07:00Z"),
        ("SAP.DE", "2026-07-01", "2026-07-01T15:30Z"),
        ("BTC-USD", "2026-01-10", "2026-01-11T00:00Z"),
        ("EURUSD=X", "2026-01-05", "2026-01-06T00:00Z"),
        ("EURUSD", "2026-07-01", "2026-07-01T23:00Z"),  # midnight in London, summer time
        ("GC=F", "2026-01-05", "2026-01-05T22:00Z"),
        ("XAUUSD", "2026-07-01", "2026-07-01T21:00Z"),
        ("EQNR.OL", "2026-01-05", "2026-01-05T21:00Z"),
        ("^N225", "2026-01-05", "2026-01-05T06:30Z"),
        ("^STOXX50E", "2026-01-05", "2026-01-05T21:00Z"),  # no benchmark here: New York's
    ],
)
def test_close_is_in_the_hours_of_the_market(ticker: str, session: str, close: str) -> None:
    calendar = calendar_of(ticker)
    assert calendar.close(day(session)) == at(close)
    assert calendar.final_at(day(session)) == at(close) + timedelta(hours=2)


@pytest.mark.parametrize(
    ("ticker", "closed"),
    [
        ("NVDA", "2026-01-19"),
        ("NVDA", "2025-01-09"),  # a day of mourning, known only once it was declared
        ("NVDA", "2012-10-29"),  # a hurricane
        ("NVDA", "2001-09-12"),
        ("7203.T", "2026-01-12"),
        ("7203.T", "2025-12-31"),
        ("0700.HK", "2026-02-17"),
        ("600519.SS", "2026-02-20"),
        ("000001.SZ", "2026-10-05"),
        ("RELIANCE.BO", "2026-01-26"),
        ("VOD.L", "2026-04-06"),
        ("BHP.AX", "2026-01-26"),
        ("ETH-USD", ""),
        ("EURUSD=X", "2026-01-10"),
        ("ES=F", "2026-01-11"),
        ("EQNR.OL", "2026-01-10"),
    ],
)
def test_market_is_closed_on_its_holidays(ticker: str, closed: str) -> None:
    if closed:
        assert not calendar_of(ticker).is_session(day(closed))
    else:
        week = [day("2025-12-22") + timedelta(days=n) for n in range(7)]
        assert all(map(calendar_of(ticker).is_session, week))


@pytest.mark.parametrize("ticker", ["EURUSD=X", "ES=F", "EQNR.OL"])
def test_rules_of_weekdays_know_no_holiday(ticker: str) -> None:
    assert calendar_of(ticker).is_session(day("2025-12-25"))


@pytest.mark.parametrize("suffix", MARKETS)
def test_zone_of_every_market_is_its_exchange_s(suffix: str) -> None:
    market = MARKETS[suffix]
    assert _exchange_class(market.calendar).tz.key == market.zone


@pytest.mark.parametrize("suffix", sorted(MARKETS.keys() - {".KS", ".KQ"}))
def test_every_market_has_sessions_that_close_in_daylight(suffix: str) -> None:
    """Seoul is left out because its calendar alone takes seconds to load."""
    calendar = calendar_of("A" + suffix)
    session = calendar.first_after(day("2026-01-07"))
    assert session == day("2026-01-08")
    assert 12 <= calendar.close(session).astimezone(calendar.zone).hour <= 18
    assert calendar.published(session)


def test_beyond_the_published_range_weekdays_stand_in() -> None:
    calendar = calendar_of("RELIANCE.NS")
    last = day("2026-12-31")
    assert (calendar.published(last), calendar.close(last)) == (True, at("2026-12-31T10:00Z"))
    assert [calendar.later(last, n) for n in (1, 2)] == [day("2027-01-01"), day("2027-01-04")]
    assert calendar.close(day("2027-01-04")) == at("2027-01-04T21:00Z")
    assert not calendar.published(day("2027-01-01"))
    assert calendar.first_closing_after(at("2026-12-31T10:00Z")) == day("2027-01-01")
    tokyo = calendar_of("7203.T")
    assert tokyo.is_session(day("1996-01-15"))  # a holiday, before what is published
    assert not tokyo.published(day("1996-01-15"))


def test_an_unknown_suffix_is_never_published() -> None:
    assert not calendar_of("EQNR.OL").published(day("2026-01-05"))
    assert calendar_of("BTC-EUR").published(day("2026-01-10"))


def test_sessions_are_the_same_whichever_years_are_asked_for_first() -> None:
    """The lists grow in both directions as questions come."""
    from tradmem.market.calendars import _exchange
    from tradmem.market.sessions import Calendar

    days = [day("2031-05-01"), day("1995-05-01"), day("2013-12-30"), day("2030-01-02")]
    grown = Calendar("XNYS", "America/New_York", _exchange("XNYS"))
    for asked in days:
        first = grown.first_after(asked)
        assert first > asked
    whole = _exchange("XNYS")(day("1990-01-01"), day("2035-01-01"))
    sessions = grown.sessions(day("1995-01-01"), day("2031-12-31"))
    inside = [d for d in whole[0] if day("1995-01-01") <= d <= day("2031-12-31")]
    assert [d for d in sessions if day("1995-01-01") <= d <= day("2031-12-31")] == inside
    closes = dict(zip(*whole, strict=True))
    assert all(grown.close(d) == closes[d] for d in inside)
    assert grown.between(inside[0], inside[-1]) == len(inside) - 1
    assert grown.later(inside[0], len(inside) - 1) == inside[-1]


def test_no_date_is_too_far_away_to_ask_about() -> None:
    calendar = calendar_of("ETH-USD")
    assert calendar.first_after(date.min) == day("1900-01-01")
    assert calendar.last_until(date.max) == day("2199-12-31")
    assert calendar.later(day("2199-12-30"), 10) == day("2199-12-31")


@settings(deadline=None)  # a calendar loads its years when first asked
@given(st.integers(0, 30 * 365 * 24 * 60), st.integers(0, 80))
def test_session_questions_agree_with_a_plain_search(minutes: int, count: int) -> None:
    instant = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    calendar = calendar_of("NVDA")
    days = [instant.date() + timedelta(days=n) for n in range(-12, 150)]
    sessions = [d for d in days if calendar.is_session(d)]
    after = [d for d in sessions if calendar.close(d) > instant]
    assert calendar.first_closing_after(instant) == after[0]
    assert calendar.later(after[0], count) == after[count]
    assert calendar.between(after[0], after[count]) == count
    assert (
        calendar.last_final(instant) == [d for d in sessions if calendar.final_at(d) <= instant][-1]
    )
    assert calendar.last_until(instant.date()) == [d for d in sessions if d <= instant.date()][-1]
    assert calendar.first_after(instant.date()) == next(d for d in sessions if d > instant.date())


@pytest.mark.parametrize(
    ("ticker", "now", "expected"),
    [
        ("NVDA", "2026-01-06T03:00Z", "2026-01-05"),
        ("BHP.AX", "2026-01-05T14:00Z", "2026-01-06"),
        ("7203.T", "2026-01-05T14:59Z", "2026-01-05"),
        ("7203.T", "2026-01-05T15:00Z", "2026-01-06"),
        ("BTC-USD", "2026-01-05T23:59Z", "2026-01-05"),
        ("EURUSD", "2026-07-01T23:30Z", "2026-07-02"),
        ("ES=F", "2026-01-06T04:59Z", "2026-01-05"),
        ("EQNR.OL", "2026-01-06T00:00Z", "2026-01-06"),
        ("^FTSE", "2026-07-01T23:30Z", "2026-07-02"),
    ],
)
def test_today_is_the_date_at_the_exchange(ticker: str, now: str, expected: str) -> None:
    assert today(ticker, at(now)) == day(expected)


@pytest.mark.parametrize(
    ("ticker", "dated", "now", "instant", "date_only"),
    [
        # Today, and until the next session has closed: the clock.
        ("NVDA", "2026-01-05", "2026-01-05T15:00Z", "2026-01-05T15:00Z", False),
        ("NVDA", "2026-01-05", "2026-01-06T02:00Z", "2026-01-06T02:00Z", False),
        ("NVDA", "2026-01-05", "2026-01-06T20:59:59Z", "2026-01-06T20:59:59Z", False),
        ("NVDA", "2026-01-05", "2026-01-06T21:00Z", "2026-01-05T20:59:59Z", True),
        ("NVDA", "2026-01-09", "2026-01-12T20:00Z", "2026-01-12T20:00Z", False),
        # A holiday and a weekend: the date's end.
        ("NVDA", "2026-01-19", "2026-03-01T00:00Z", "2026-01-19T23:59:59.999999Z", True),
        ("NVDA", "2026-01-10", "2026-01-12T20:00Z", "2026-01-12T20:00Z", False),
        ("NVDA", "2026-01-10", "2026-01-12T21:00Z", "2026-01-10T23:59:59.999999Z", True),
        # Early closes.
        ("NVDA", "2025-11-28", "2026-03-01T00:00Z", "2025-11-28T17:59:59Z", True),
        ("NVDA", "2025-12-23", "2025-12-24T17:59Z", "2025-12-24T17:59Z", False),
        ("NVDA", "2025-12-23", "2025-12-24T18:00Z", "2025-12-23T20:59:59Z", True),
        # East of Greenwich the day closes in the UTC morning.
        ("7203.T", "2026-01-06", "2026-01-05T16:00Z", "2026-01-05T16:00Z", False),
        ("7203.T", "2026-01-05", "2026-01-06T06:29Z", "2026-01-06T06:29Z", False),
        ("7203.T", "2026-01-05", "2026-01-06T06:30Z", "2026-01-05T06:29:59Z", True),
        ("BHP.AX", "2026-01-05", "2026-02-01T00:00Z", "2026-01-05T04:59:59Z", True),
        ("ETH-USD", "2026-01-10", "2026-01-11T23:59Z", "2026-01-11T23:59Z", False),
        ("ETH-USD", "2026-01-10", "2026-01-12T00:00Z", "2026-01-10T23:59:59Z", True),
        ("EURUSD", "2026-01-09", "2026-02-01T00:00Z", "2026-01-09T23:59:59Z", True),
        ("nvda", "2026-01-05", "2026-02-01T00:00Z", "2026-01-05T20:59:59Z", True),
    ],
)
def test_a_bare_date_means(
    ticker: str, dated: str, now: str, instant: str, date_only: bool
) -> None:
    assert decision_instant(ticker, day(dated), at(now)) == (at(instant), date_only)


@pytest.mark.parametrize(
    ("ticker", "dated", "now"),
    [
        ("NVDA", "2026-01-06", "2026-01-06T04:59Z"),  # still the 5th in New York
        ("BHP.AX", "2026-01-07", "2026-01-06T12:59Z"),
        ("ETH-USD", "2026-01-11", "2026-01-10T23:59Z"),
    ],
)
def test_a_date_later_than_today_is_refused(ticker: str, dated: str, now: str) -> None:
    with pytest.raises(
        UsageError, match=f"^{dated} is later than today, .* in {calendar_of(ticker).zone.key}"
    ):
        decision_instant(ticker, day(dated), at(now))
    assert decision_instant(ticker, day(dated), at(now) + timedelta(minutes=1))[1] is False


@settings(deadline=None)
@given(
    st.sampled_from(["NVDA", "7203.T", "BHP.AX", "VOD.L", "ETH-USD", "EURUSD", "ES=F", "X.NZ"]),
    st.dates(date(2024, 1, 1), date(2026, 6, 30)),
    st.integers(0, 12 * 24 * 60),
)
def test_a_bare_date_never_reaches_past_the_clock(ticker: str, dated: date, minutes: int) -> None:
    """Nor can its entry be a session that had closed before the date began."""
    zone: ZoneInfo = calendar_of(ticker).zone
    now = datetime.combine(dated, datetime.min.time(), zone).astimezone(UTC)
    now += timedelta(minutes=minutes)
    instant, date_only = decision_instant(ticker, dated, now)
    entry = calendar_of(ticker).first_closing_after(instant)
    assert instant <= now
    assert entry >= dated
    assert date_only == (instant != now)


def test_aliases_move_a_ticker_to_another_market() -> None:
    assert calendar_of("RELIANCE", {"RELIANCE": "RELIANCE.NS"}).name == "XBOM"
    assert today("TOYOTA", at("2026-01-05T15:00Z"), {"TOYOTA": "7203.T"}) == day("2026-01-06")

"""The calendar of a ticker, its today, and the instant that a bare date means.

The days of exchanges come from the package exchange_calendars. Past the range that it
publishes, and for a suffix that is not known, weekdays closing at 21:00 UTC stand in,
and an outcome that used one is flagged.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from importlib import import_module
from zoneinfo import ZoneInfo

from tradmem.clock import last_instant
from tradmem.errors import UsageError
from tradmem.market.sessions import FINAL_AFTER, Calendar, Days
from tradmem.market.symbols import Aliases, kind_of, market_of, yahoo_symbol
from tradmem.tickers import AssetClass

__all__ = [
    "FINAL_AFTER",
    "WEEKDAYS_FLAG",
    "Calendar",
    "calendar_of",
    "decision_instant",
    "today",
]

WEEKDAYS_FLAG = "calendar_weekdays"

# Where exchange_calendars states no bounds of its own.
_PUBLISHED = (date(1970, 1, 1), date(2099, 12, 31))
_DAY = timedelta(days=1)


def _daily(close: Callable[[date], datetime], days: int) -> Callable[[date, date], Days]:
    """Sessions by rule alone: the first ``days`` days of every week."""

    def build(low: date, high: date) -> Days:
        found = [
            day
            for day in (low + n * _DAY for n in range((high - low).days))
            if day.weekday() < days
        ]
        return found, [close(day) for day in found]

    return build


def _closes_at(hour: int, zone: str) -> Callable[[date], datetime]:
    """A close at an hour of the day in a zone; 24 is the day's end."""
    place = ZoneInfo(zone)

    def close(day: date) -> datetime:
        days, hours = divmod(hour, 24)
        return datetime.combine(day + days * _DAY, time(hours), place).astimezone(UTC)

    return close


def _exchange_class(code: str) -> type:
    module = import_module(f"exchange_calendars.exchange_calendar_{code.lower()}")
    found: type = getattr(module, f"{code}ExchangeCalendar")
    return found


def _published(code: str) -> tuple[date, date]:
    """The dates for which exchange_calendars has the exchange's own days."""
    known = _exchange_class(code)
    first, last = known.bound_min(), known.bound_max()  # type: ignore[attr-defined]
    return (
        max(_PUBLISHED[0], first.date()) if first is not None else _PUBLISHED[0],
        min(_PUBLISHED[1], last.date()) if last is not None else _PUBLISHED[1],
    )


def _exchange(code: str) -> Callable[[date, date], Days]:
    """The days of an exchange; weekdays where they are not published."""

    def build(low: date, high: date) -> Days:
        first, last = _published(code)
        first, end = max(first, low), min(last + _DAY, high)
        if first >= end:
            return _weekdays(low, high)
        schedule = _exchange_class(code)(start=first, end=end - _DAY).closes
        days, closes = _weekdays(low, first)
        days += [stamp.date() for stamp in schedule.index]
        seconds = schedule.dt.tz_convert(None).astype("datetime64[s]").astype("int64")
        closes += [datetime.fromtimestamp(second, UTC) for second in seconds.tolist()]
        after = _weekdays(end, high)
        return days + after[0], closes + after[1]

    return build


_weekdays = _daily(_closes_at(21, "UTC"), 5)


@lru_cache(maxsize=64)
def _exchange_calendar(code: str, zone: str) -> Calendar:
    return Calendar(code, zone, _exchange(code), lambda: _published(code))


_WEEKDAYS = Calendar("weekdays", "UTC", _weekdays, lambda: (date.max, date.min))
_BY_KIND = {
    AssetClass.CRYPTO: Calendar("crypto", "UTC", _daily(_closes_at(24, "UTC"), 7)),
    AssetClass.FX: Calendar("fx", "Europe/London", _daily(_closes_at(24, "Europe/London"), 5)),
    # CME's trading day ends at 17:00 in New York; the evening after it is the next day's.
    AssetClass.FUTURE: Calendar(
        "futures", "America/New_York", _daily(_closes_at(17, "America/New_York"), 5)
    ),
}


def calendar_of(ticker: str, aliases: Aliases = None) -> Calendar:
    """The calendar of a ticker; weekdays closing at 21:00 UTC where its suffix is unknown.

    Args:
        ticker: as the user wrote it.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.
    """
    return _calendar_of_symbol(yahoo_symbol(ticker, aliases))


@lru_cache(maxsize=16_384)
def _calendar_of_symbol(symbol: str) -> Calendar:
    kind = kind_of(symbol)
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    market = market_of(symbol)
    return _exchange_calendar(market.calendar, market.zone) if market else _WEEKDAYS


def today(ticker: str, now: datetime, aliases: Aliases = None) -> date:
    """The date at an instant, in the zone of the ticker's exchange."""
    return calendar_of(ticker, aliases).today(now)


def refuse_future(ticker: str, day: date, now: datetime, aliases: Aliases = None) -> None:
    """Let a decision carry no date that has not begun where its ticker trades.

    Raises:
        UsageError: the date is later than today.
    """
    if day < now.date() or day <= (here := today(ticker, now, aliases)):
        return
    zone = calendar_of(ticker, aliases).zone.key
    raise UsageError(
        f"{day} is later than today, {here} in {zone}; "
        f"a decision on {ticker} is dated today or earlier"
    )


def decision_instant(
    ticker: str, day: date, now: datetime, aliases: Aliases = None
) -> tuple[datetime, bool]:
    """The instant that a bare date means for a decision, and whether only the date is known.

    While the first session after the date has not closed, the decision is being made now.
    Later it is one second before the close on that date, or the date's last instant, UTC,
    where the market does not trade on it.

    Args:
        ticker: as the user wrote it.
        day: the date of the decision, in the zone of the ticker's exchange.
        now: what the clock says, aware UTC.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.

    Raises:
        UsageError: the date is later than today.
    """
    refuse_future(ticker, day, now, aliases)
    calendar = calendar_of(ticker, aliases)
    if calendar.close(calendar.first_after(day)) > now:
        return now, False
    if calendar.is_session(day):
        return calendar.close(day) - timedelta(seconds=1), True
    return last_instant(day), True

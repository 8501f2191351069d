"""When a replay decides: the dates of each ticker's exchange, in the order of their instants."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from tradmem.errors import UsageError
from tradmem.market.calendars import FINAL_AFTER, Calendar, calendar_of
from tradmem.market.symbols import Aliases

MARK = "replay"  # the key in a decision's ledger that tells when on its date it was made
BEFORE_CLOSE = timedelta(hours=1)  # before the close at which a decision then enters
_MOMENT = timedelta(seconds=1)


class DecideAt(StrEnum):
    """When on its date a decision is made, what it sees, and where it enters.

    Attributes:
        CLOSE: two hours after the close; sees this close, enters at the next session's.
        BEFORE_CLOSE: an hour before the close; sees the session before, enters at this close.
        SAME_CLOSE: sees this close and enters at it, which nobody can do: optimistic.
    """

    CLOSE = "close"
    BEFORE_CLOSE = "before_close"
    SAME_CLOSE = "same_close"

    @property
    def is_optimistic(self) -> bool:
        """Whether it enters at a close that it has seen."""
        return self is DecideAt.SAME_CLOSE


class Point(NamedTuple):
    """One decision to make.

    Attributes:
        instant: what the clock says then, aware UTC; closes that are final by then are seen.
        ticker: in upper case.
        day: the date of the decision, a session of the ticker's exchange.
        decided_at: the instant that counts for memory and entry, aware UTC.
    """

    instant: datetime
    ticker: str
    day: date
    decided_at: datetime


def points(
    tickers: Sequence[str],
    start: date,
    end: date,
    *,
    every: str | int,
    decide_at: DecideAt,
    aliases: Aliases = None,
) -> list[Point]:
    """All decisions from ``start`` to ``end``, both included, in the order of their instants.

    Those of one instant come in the order of ``tickers``.

    Args:
        tickers: in upper case.
        start: the first date that may be decided on.
        end: the last one.
        every: see :func:`chosen`.
        decide_at: when on each date.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.
    """
    found = []
    for ticker in tickers:
        calendar = calendar_of(ticker, aliases)
        sessions = (day for day in calendar.sessions(start, end) if start <= day <= end)
        for day in chosen(sessions, every):
            instant, decided_at = _instants(calendar, day, decide_at)
            found.append(Point(instant, ticker, day, decided_at))
    return sorted(found, key=lambda point: point.instant)


def chosen(sessions: Iterable[date], every: str | int) -> Iterator[date]:
    """Those of some sessions, in order, on which to decide.

    Args:
        sessions: ascending.
        every: ``day``, ``week`` or ``month`` (the first session of each), or a number of
            sessions, counted from the first one.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(every, int) and not isinstance(every, bool) and every >= 1:
        yield from (day for number, day in enumerate(sessions) if number % every == 0)
        return
    period = _PERIODS.get(str(every))
    if period is None:
        raise UsageError(
            f"every={every!r} cannot be; write day, week, month or a number of sessions"
        )
    last = None
    for day in sessions:
        if (now := period(day)) != last:
            last = now
            yield day


_PERIODS: Mapping[str, Callable[[date], tuple[int, ...] | tuple[date]]] = {
    "day": lambda day: (day,),
    "week": lambda day: day.isocalendar()[:2],
    "month": lambda day: (day.year, day.month),
}


def _instants(calendar: Calendar, day: date, decide_at: DecideAt) -> tuple[datetime, datetime]:
    """What the clock says at a decision, and the instant that counts for memory and entry."""
    close = calendar.close(day)
    if decide_at is DecideAt.BEFORE_CLOSE:
        return close - BEFORE_CLOSE, close - BEFORE_CLOSE
    final = close + FINAL_AFTER
    return (final, close - _MOMENT) if decide_at.is_optimistic else (final, final)

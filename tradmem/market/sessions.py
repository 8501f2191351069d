"""A market's sessions as plain lists: which days it trades, when they close, when that is final.

They are loaded sixteen years at a time, where a question first needs them, because the
source of an exchange's days takes a quarter of a second for any number of years, and
the outcome of one decision asks a dozen questions about days.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple, TypeVar, cast
from zoneinfo import ZoneInfo

FINAL_AFTER = timedelta(hours=2)  # from a close until a source's bar can be trusted

# No sessions are known outside these; the first or last one stands for all beyond.
_FIRST, _LAST = date(1900, 1, 1), date(2200, 1, 1)
_ERA, _ERA_START = 16, 1998  # years per load, and a year in which one starts
_MARGIN = timedelta(days=40)  # longer than any exchange's longest break
_DAY = timedelta(days=1)

_Answer = TypeVar("_Answer", bound=Callable[..., Any])


def _kept(answer: _Answer) -> _Answer:
    """The same, with its last answers at hand: decisions of one date ask the same questions.

    Calendars live as long as the process, and their answers never change.
    """
    return cast("_Answer", lru_cache(maxsize=4096)(answer))


Days = tuple[list[date], list[datetime]]  # sessions and their closes, both ascending


class _Table(NamedTuple):
    """The sessions in ``[low, high)``; questions about ``[start, stop]`` need no others."""

    low: date
    high: date
    start: date
    stop: date
    days: list[date]
    closes: list[datetime]
    places: dict[date, int]


_EMPTY = _Table(_LAST, _FIRST, date.max, date.min, [], [], {})


class Calendar:
    """The sessions of one market: days in its own zone, closes as aware UTC instants.

    Attributes:
        name: the exchange's code (MIC), or ``crypto``, ``fx``, ``futures``, ``weekdays``.
        zone: the zone in which its days are counted.
    """

    def __init__(
        self,
        name: str,
        zone: str,
        build: Callable[[date, date], Days],
        published: Callable[[], tuple[date, date]] = lambda: (date.min, date.max),
    ) -> None:
        self.name = name
        self.zone = ZoneInfo(zone)
        self._build = build
        self._find_published = published
        self._range: tuple[date, date] | None = None
        self._lock = Lock()
        self._table = _EMPTY

    def __repr__(self) -> str:
        return f"Calendar({self.name!r})"

    def published(self, day: date) -> bool:
        """Whether the market's own days are known for this date, not merely the weekdays."""
        if self._range is None:
            self._range = self._find_published()
        return self._range[0] <= day <= self._range[1]

    @_kept
    def today(self, instant: datetime) -> date:
        """The date at an instant, in the market's zone."""
        return instant.astimezone(self.zone).date()

    def is_session(self, day: date) -> bool:
        """Whether the market trades on a day."""
        return day in self._cover(day, day).places

    def sessions(self, first: date, last: date) -> Mapping[date, int]:
        """All sessions from ``first`` to ``last`` and perhaps more, each with its number.

        Only the difference between two numbers of one answer means anything.
        """
        return self._cover(first, last).places

    @_kept
    def close(self, session: date) -> datetime:
        """When a session closes, aware UTC.

        Raises:
            KeyError: the day is no session.
        """
        table = self._cover(session, session)
        return table.closes[table.places[session]]

    @_kept
    def final_at(self, session: date) -> datetime:
        """When the close of a session is final: two hours after it, aware UTC.

        Raises:
            KeyError: the day is no session.
        """
        return self.close(session) + FINAL_AFTER

    @_kept
    def first_closing_after(self, instant: datetime) -> date:
        """The first session that closes later than an instant."""
        table = self._cover(instant.date(), instant.date())
        return self._at(table, bisect_right(table.closes, instant))

    @_kept
    def last_final(self, instant: datetime) -> date:
        """The last session whose close is final at an instant."""
        table = self._cover(instant.date(), instant.date())
        return self._at(table, bisect_right(table.closes, instant - FINAL_AFTER) - 1)

    def first_after(self, day: date) -> date:
        """The first session after a day."""
        table = self._cover(day, day)
        return self._at(table, bisect_right(table.days, day))

    @_kept
    def last_until(self, day: date) -> date:
        """The last session on or before a day."""
        table = self._cover(day, day)
        return self._at(table, bisect_right(table.days, day) - 1)

    @_kept
    def later(self, session: date, count: int) -> date:
        """The session that comes ``count`` sessions after one.

        Raises:
            KeyError: the day is no session.
        """
        table = self._cover(session, session)
        place = table.places[session] + count
        while place >= len(table.days) and table.high < _LAST:
            table = self._cover(session, table.high)
            place = table.places[session] + count
        return self._at(table, place)

    @_kept
    def between(self, first: date, last: date) -> int:
        """How many sessions after ``first`` the session ``last`` is.

        Raises:
            KeyError: one of the days is no session.
        """
        places = self._cover(first, last).places
        return places[last] - places[first]

    @staticmethod
    def _at(table: _Table, place: int) -> date:
        return table.days[min(max(place, 0), len(table.days) - 1)]

    def _cover(self, first: date, last: date) -> _Table:
        """A table that answers for every day from ``first`` to ``last``."""
        table = self._table
        if table.start <= first and last <= table.stop:
            return table
        with self._lock:
            self._table = table = self._extend(self._table, first, last)
        return table

    def _extend(self, table: _Table, first: date, last: date) -> _Table:
        low, _ = _era(max(first, _FIRST + _MARGIN) - _MARGIN)
        _, high = _era(min(last, _LAST - _MARGIN) + _MARGIN)
        if table.days:
            low, high = min(low, table.low), max(high, table.high)
            days, closes = table.days, table.closes
            if low < table.low:
                more = self._build(low, table.low)
                days, closes = more[0] + days, more[1] + closes
            if high > table.high:
                more = self._build(table.high, high)
                days, closes = days + more[0], closes + more[1]
        else:
            days, closes = self._build(low, high)
        return _Table(
            low,
            high,
            low + _MARGIN if low > _FIRST else date.min,
            high - _MARGIN if high < _LAST else date.max,
            days,
            closes,
            {day: place for place, day in enumerate(days)},
        )


def _era(day: date) -> tuple[date, date]:
    """The block of years around a day that is loaded at once: its first day, and the next's."""
    day = min(max(day, _FIRST), _LAST - _DAY)
    year = _ERA_START + (day.year - _ERA_START) // _ERA * _ERA
    return max(date(year, 1, 1), _FIRST), min(date(year + _ERA, 1, 1), _LAST)

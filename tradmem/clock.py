"""Instants: aware UTC, written as ISO 8601 with a Z; dates are ``datetime.date``."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time

from tradmem.errors import UsageError

Clock = Callable[[], datetime]
AsOf = datetime | date | str | None


def system_clock() -> datetime:
    """The time of this machine, aware UTC."""
    return datetime.now(UTC)


def utc(instant: datetime) -> datetime:
    """The same instant in UTC.

    Raises:
        UsageError: the instant has no time zone, or is none.
    """
    if getattr(instant, "tzinfo", None) is UTC:
        return instant
    if not isinstance(instant, datetime):
        raise UsageError(f"{instant!r} is no instant; use an aware datetime")
    if instant.utcoffset() is None:
        raise UsageError(f"{instant} has no time zone; write it with one, such as {instant}+00:00")
    try:
        return instant.astimezone(UTC)
    except OverflowError as error:
        raise UsageError(f"{instant} is beyond the calendar") from error


def format_instant(instant: datetime) -> str:
    """ISO 8601 in UTC with a Z: ``2026-01-05T15:04:05Z``; microseconds only if there are any."""
    return utc(instant).replace(tzinfo=None).isoformat() + "Z"


def parse_instant(text: str) -> datetime:
    """Read what :func:`format_instant` wrote, or any ISO 8601 instant with a zone.

    Raises:
        UsageError: the text is no instant with a zone.
    """
    try:
        instant = datetime.fromisoformat(text)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{text!r} is no instant; write it like 2026-01-05T15:04:05Z") from error
    return utc(instant)


def parse_date(value: date | str) -> date:
    """A calendar date from ``YYYY-MM-DD``.

    Raises:
        UsageError: no such date.
    """
    if isinstance(value, datetime):
        raise UsageError(f"{value} is an instant; a date is wanted here, such as {value.date()}")
    if isinstance(value, date):
        return value
    try:
        found = date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{value!r} is no date; write it like 2026-01-05") from error
    if found.isoformat() != value:  # fromisoformat also takes 20260105 and 2026-W02-1
        raise UsageError(f"{value!r} is no date; write it like {found}")
    return found


def last_instant(day: date) -> datetime:
    """The last instant of a date, UTC."""
    return datetime.combine(day, time.max, UTC)


def as_instant(as_of: AsOf, now: datetime) -> datetime:
    """The instant that an ``as_of`` means; it never reaches past the clock.

    Args:
        as_of: an aware instant, a date (its last instant, UTC), either as ISO text, or None (now).
        now: what the clock says, aware UTC.

    Raises:
        UsageError: ``as_of`` is neither.
    """
    if as_of is None:
        return now
    if isinstance(as_of, str):
        as_of = parse_date(as_of) if len(as_of) <= len("2026-01-05") else parse_instant(as_of)
    asked = utc(as_of) if isinstance(as_of, datetime) else last_instant(parse_date(as_of))
    return min(asked, now)

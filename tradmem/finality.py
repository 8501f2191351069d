"""By when what an outcome needed can have been known, by the calendars of its symbols.

A calendar tells only of the days that its exchange has published. Of any other day, of a suffix
without a calendar, and of a day that is no session (a person may have typed it) the date alone
tells: no close of a day is known before the day has begun.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from datetime import date as Date  # noqa: N812 - as everywhere beside entries

from tradmem.model import Entry, Outcome

_GIVEN_UP = frozenset({"stopped", "no_benchmark"})
_SHORTER = timedelta(days=1)  # one session may close some hours earlier in its day than another


class Closes:
    """When sessions closed, each looked up once.

    Args:
        aliases: names under which a price source knows a ticker, by ticker.
    """

    def __init__(self, aliases: Mapping[str, str] | None = None) -> None:
        self._aliases = aliases
        self._found: dict[tuple[str, Date], datetime | None] = {}

    def at(self, symbol: str, day: Date) -> datetime | None:
        """When a symbol's session closed, aware UTC; None where no calendar tells."""
        key = (symbol, day)
        if key not in self._found:
            self._found[key] = self._look_up(symbol, day)
        return self._found[key]

    def earliest(self, entry: Entry, outcome: Outcome) -> tuple[datetime, str]:
        """Before when an outcome cannot have been known, and for want of what.

        That is when its last close became final; of one that was waited for in vain, when that
        wait can have been over at the earliest; of one without dates, when it was decided.
        """
        found = [(entry.recorded.known_at, "its decision was made")]
        for symbol, name, day in (
            (_symbol(entry, outcome), entry.ticker, outcome.exit_date),
            (_benchmark(outcome), outcome.benchmark, outcome.benchmark_exit_date),
        ):
            if day:
                found.append((self._final(symbol, day), f"the close of {name} on {day} is final"))
        decided_at = entry.recorded.decided_at
        if decided_at and not _GIVEN_UP.isdisjoint(outcome.flags):
            found.append((_given_up(decided_at, outcome.horizon), "its wait is over"))
        return max(found)

    def is_before(self, entry: Entry, outcome: Outcome) -> bool:
        """Whether an outcome starts from a close at or before the decision."""
        day, symbol = outcome.entry_date, _symbol(entry, outcome)
        decided_at = entry.recorded.decided_at
        if day is None:
            return False
        if decided_at is None:  # of another program, unless a person typed another date
            return day < entry.date and "date" not in entry.edited
        close = self.at(symbol, day) if symbol else None
        return close <= decided_at if close else day < decided_at.date()

    def _look_up(self, symbol: str, day: Date) -> datetime | None:
        from tradmem.market.calendars import calendar_of  # noqa: PLC0415 - only for audits

        calendar = calendar_of(symbol, self._aliases)
        is_told = calendar.published(day) and calendar.is_session(day)
        return calendar.close(day) if is_told else None

    def _final(self, symbol: str, day: Date) -> datetime:
        from tradmem.market.sessions import FINAL_AFTER  # noqa: PLC0415 - only for audits

        close = self.at(symbol, day) if symbol else None
        return close + FINAL_AFTER if close else datetime.combine(day, time.min, UTC)


def _symbol(entry: Entry, outcome: Outcome) -> str:
    """Whose calendar tells of an outcome; empty if none does.

    A ticker that a person typed is not the one whose closes were looked up.
    """
    return "" if "ticker" in entry.edited or _by_weekdays(outcome) else entry.ticker


def _benchmark(outcome: Outcome) -> str:
    return "" if _by_weekdays(outcome) else outcome.benchmark or ""


def _by_weekdays(outcome: Outcome) -> bool:
    """Whether it was reckoned before its exchange had published its days."""
    from tradmem.market.calendars import WEEKDAYS_FLAG  # noqa: PLC0415 - only for audits

    return WEEKDAYS_FLAG in outcome.flags


def _given_up(decided_at: datetime, horizon: int) -> datetime:
    """Before when missing closes cannot have been given up, whatever the calendar."""
    from tradmem.market.question import WAIT  # noqa: PLC0415 - only for audits

    return decided_at + timedelta(days=horizon) + WAIT - _SHORTER

"""What instants and dates mean for a decision on a ticker."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812 - `date` is the name of a field elsewhere
from datetime import datetime

from tradmem.clock import AsOf, as_instant, parse_date, parse_instant, utc
from tradmem.errors import UsageError
from tradmem.model import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Instants:
    """The instants of decisions, by the calendars of their tickers.

    Attributes:
        now: what the clock says, aware UTC.
        aliases: the names under which a price source knows a ticker, by ticker.
    """

    now: Callable[[], datetime]
    aliases: Mapping[str, str]

    def asked(self, ticker: str, as_of: AsOf, now: datetime | None = None) -> tuple[datetime, bool]:
        """What an instant or a bare date means for a decision, and whether only a date is known.

        Raises:
            UsageError: it is neither, or a date later than today.
        """
        now = now or self.now()
        if isinstance(as_of, str):
            as_of = parse_instant(as_of) if "T" in as_of or ":" in as_of else parse_date(as_of)
        if as_of is None or isinstance(as_of, datetime):
            return as_instant(as_of, now), False
        from tradmem.market.calendars import decision_instant  # noqa: PLC0415 - loads calendars

        return decision_instant(ticker, parse_date(as_of), now, self.aliases)

    def decided(
        self, ticker: str, day: Date, given: datetime | str | None, now: datetime
    ) -> tuple[datetime, bool]:
        """The instant of a decision of a date, and whether only the date is known.

        Args:
            ticker: in upper case.
            day: in the zone of the ticker's exchange.
            given: the instant, where it is known better.
            now: what the clock says.

        Raises:
            UsageError: the date is later than today, or the instant later than now.
        """
        if given is None:
            return self.asked(ticker, day, now)
        from tradmem.market.calendars import refuse_future  # noqa: PLC0415 - loads calendars

        refuse_future(ticker, day, now, self.aliases)
        instant = parse_instant(given) if isinstance(given, str) else utc(given)
        if instant > now:
            raise UsageError(f"decided_at {instant} is later than the clock, {now}")
        return instant, False

    def of(self, entry: Entry) -> datetime:
        """The instant of a decision in a log of another program, or written by hand."""
        try:
            return self.asked(entry.ticker, entry.date)[0]
        except UsageError:  # dated later than today
            return entry.recorded.known_at

    def date(self, ticker: str, as_of: AsOf, instant: datetime) -> Date:
        """The date of the decision that is asked about, in the zone of the ticker's exchange."""
        if isinstance(as_of, str) and len(as_of) == len("2026-01-05"):
            as_of = parse_date(as_of)
        if isinstance(as_of, Date) and not isinstance(as_of, datetime):
            return as_of
        from tradmem.market.calendars import today  # noqa: PLC0415 - loads calendars

        return today(ticker, instant, self.aliases)

    def entry_close(self, ticker: str, decided_at: datetime) -> datetime:
        """When the session at whose close a decision enters has closed."""
        from tradmem.market.calendars import calendar_of  # noqa: PLC0415 - loads calendars

        calendar = calendar_of(ticker, self.aliases)
        return calendar.close(calendar.first_closing_after(decided_at))

    def may_revise(self, entry: Entry) -> bool:
        """Whether the session at whose close a decision enters has not closed yet."""
        decided_at = entry.decided_at or entry.recorded.known_at
        return self.now() < self.entry_close(entry.ticker, decided_at)

"""A decision's question (what became of it?), its window, and the answer "not yet"."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from tradmem.clock import utc
from tradmem.errors import UsageError
from tradmem.market.calendars import Calendar, calendar_of
from tradmem.market.symbols import (
    Aliases,
    currency_of,
    index_basis,
    kind_of,
    suffix_of,
    yahoo_symbol,
)
from tradmem.tickers import AssetClass

WAIT = timedelta(hours=30 * 24)  # after the planned exit became final
HISTORY = timedelta(days=731)  # how far back from a decision a close counts for sigma and beta
MAX_HORIZON = 2520  # ten years of sessions


class Why(StrEnum):
    """Why a decision has no outcome."""

    NOT_DUE = "not_due"
    WAITING = "waiting"
    SUSPECT = "suspect"
    FAILED = "failed"
    UNRESOLVABLE = "unresolvable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """No outcome, and why.

    Attributes:
        kind: the reason in one word.
        reason: the reason for people, one line without a full stop.
        due: when asking again can change the answer, aware UTC; in the past where that
            is now (``FAILED``), None where only a person can change it (``SUSPECT``,
            ``UNRESOLVABLE``).
        known_at: when this was known, aware UTC, of an answer that time does not change
            (``SUSPECT``, ``UNRESOLVABLE``).
    """

    kind: Why
    reason: str
    due: datetime | None = None
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What became of a decision?

    Attributes:
        ticker: as the log has it.
        decided_at: an aware instant, kept as UTC.
        horizon: sessions to hold, 1 to 2520.
        benchmark: the benchmark's symbol; None for none.
        accepted_at: when a person accepted a suspect outcome, an aware instant, kept as UTC.

    Raises:
        UsageError: the horizon is out of range, or an instant has no time zone.
    """

    ticker: str
    decided_at: datetime
    horizon: int = 5
    benchmark: str | None = None
    accepted_at: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "decided_at", utc(self.decided_at))
        if self.accepted_at is not None:
            object.__setattr__(self, "accepted_at", utc(self.accepted_at))
        if not 1 <= self.horizon <= MAX_HORIZON:
            raise UsageError(
                f"a horizon of {self.horizon} sessions for {self.ticker} cannot be; "
                f"use 1 to {MAX_HORIZON}"
            )


class Listing(NamedTuple):
    """What rules and tables say of a symbol.

    Attributes:
        symbol: in Yahoo's spelling.
        kind: its asset class.
        calendar: its calendar.
        currency: what it is quoted in; its suffix where that is not known.
        basis: ``price`` or ``total`` of an index, by its construction; None otherwise.
    """

    symbol: str
    kind: AssetClass
    calendar: Calendar
    currency: str
    basis: str | None


def listing_of(ticker: str, aliases: Aliases = None) -> Listing:
    """What rules and tables say of a ticker, or of the symbol that ``aliases`` give it."""
    return _listing(yahoo_symbol(ticker, aliases))


@lru_cache(maxsize=16_384)
def _listing(symbol: str) -> Listing:
    return Listing(
        symbol,
        kind_of(symbol),
        calendar_of(symbol),
        currency_of(symbol) or suffix_of(symbol),
        index_basis(symbol),
    )


class Window(NamedTuple):
    """When and on what a decision is to be judged.

    Attributes:
        own: the ticker's listing.
        benchmark: the benchmark's; None where there is none, or it is the ticker itself.
        entry: planned entry, the first session that closes later than the decision.
        exit: planned exit, the horizon's number of sessions later.
        due: when the close of the planned exit is final, aware UTC.
        wait_ends: when missing closes are given up, aware UTC.
    """

    own: Listing
    benchmark: Listing | None
    entry: date
    exit: date
    due: datetime
    wait_ends: datetime


def window_of(question: Question, aliases: Aliases = None) -> Window:
    """When and on what a decision is to be judged, from the question alone."""
    own = listing_of(question.ticker, aliases)
    benchmark = listing_of(question.benchmark, aliases) if question.benchmark else None
    if benchmark == own:
        benchmark = None
    return Window(own, benchmark, *_dates(own.calendar, question.decided_at, question.horizon))


def due_of(ticker: str, decided_at: datetime, horizon: int, aliases: Aliases = None) -> datetime:
    """When the planned exit of a decision is final, aware UTC."""
    return _dates(listing_of(ticker, aliases).calendar, decided_at, horizon)[2]


@lru_cache(maxsize=4096)  # decisions of one instant share their dates
def _dates(
    calendar: Calendar, decided_at: datetime, horizon: int
) -> tuple[date, date, datetime, datetime]:
    """Planned entry and exit, when the exit is due, and when the wait ends."""
    entry = calendar.first_closing_after(decided_at)
    planned_exit = calendar.later(entry, horizon)
    due = calendar.final_at(planned_exit)
    return entry, planned_exit, due, due + WAIT


def history_start(question: Question) -> date:
    """The first date whose close counts for sigma and beta."""
    return _two_years_before(question.decided_at.date())


@lru_cache(maxsize=4096)
def _two_years_before(day: date) -> date:
    return day - HISTORY if day - date.min > HISTORY else date.min


def not_due(window: Window, as_of: datetime) -> Unsettled | None:
    """What to say while the planned exit is not final; None once it is."""
    if as_of >= window.due:
        return None
    close = window.own.calendar.close(window.exit)
    return Unsettled(
        kind=Why.NOT_DUE,
        reason=f"the exit session {window.exit} closes at {clock_text(close)} "
        f"and is final at {clock_text(window.due)}",
        due=window.due,
    )


def clock_text(instant: datetime) -> str:
    """An instant for people, to the minute: ``2026-01-12 23:00 UTC``."""
    return f"{instant:%Y-%m-%d %H:%M} UTC"

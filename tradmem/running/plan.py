"""What there is to do today, and what is done already."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812 - `date` is the name of a parameter here
from enum import StrEnum

from tradmem.clock import parse_date, utc
from tradmem.memory import Memory
from tradmem.model import Entry


class Fate(StrEnum):
    """What becomes of a ticker in a run."""

    OPEN = "open"  # still to be decided
    DECIDED = "decided"
    STANDING = "decided before"  # it was before the run, or another one came first
    CLOSED = "closed"  # its exchange has no session that day, and such days are skipped
    UNSTORED = "not stored"  # the graph decided, and recorded nothing
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One ticker and its day.

    Attributes:
        ticker: in upper case.
        day: of the decision, in the zone of the ticker's exchange.
        fate: ``OPEN``, or why there is nothing to do.
        entry: what was decided before, if that is why.
    """

    ticker: str
    day: Date
    fate: Fate = Fate.OPEN
    entry: Entry | None = None


def days_of(
    memory: Memory, tickers: Iterable[str], date: Date | str | None = None
) -> dict[str, Date]:
    """The date of each ticker's decision: as given, else today at its exchange.

    Raises:
        UsageError: it is no date, or later than today at one of the exchanges.
    """
    from tradmem.market.calendars import decision_instant, today  # noqa: PLC0415 - loads calendars

    now, aliases = utc(memory.clock()), memory.settings.aliases
    if not date:
        return {ticker: today(ticker, now, aliases) for ticker in tickers}
    day = parse_date(date)
    for ticker in tickers:
        decision_instant(ticker, day, now, aliases)
    return dict.fromkeys(tickers, day)


def plan(
    memory: Memory,
    days: Mapping[str, Date],
    *,
    skip_closed: bool = False,
    agent: str | None = "",
    earlier: Mapping[tuple[str, Date], str] | None = None,
) -> tuple[Planned, ...]:
    """What is to be decided, and what need not be.

    Args:
        memory: whose log tells what is decided.
        days: the date of each ticker.
        skip_closed: whether a day without a session at the ticker's exchange is skipped.
        agent: the name under which the graph records; None if it is not known.
        earlier: what its earlier runs decided, which tells in that case: ids by ticker and
            date.
    """
    found = []
    for ticker, day in days.items():
        entry = _standing(memory, ticker, day, agent, earlier or {})
        if entry:
            found.append(Planned(ticker=ticker, day=day, fate=Fate.STANDING, entry=entry))
        elif skip_closed and not _trades(memory, ticker, day):
            found.append(Planned(ticker=ticker, day=day, fate=Fate.CLOSED))
        else:
            found.append(Planned(ticker=ticker, day=day))
    return tuple(found)


def _trades(memory: Memory, ticker: str, day: Date) -> bool:
    from tradmem.market.calendars import calendar_of  # noqa: PLC0415 - loads calendars

    return calendar_of(ticker, memory.settings.aliases).is_session(day)


def _standing(
    memory: Memory,
    ticker: str,
    day: Date,
    agent: str | None,
    earlier: Mapping[tuple[str, Date], str],
) -> Entry | None:
    """What the graph has decided on a ticker on a day."""
    entries = [entry for entry in memory.journal.find(day, ticker) if not entry.recorded.is_note]
    if agent is None:
        name = earlier.get((ticker, day))
        return next((entry for entry in entries if entry.id == name), None)
    mine = [entry for entry in entries if entry.agent == agent]
    return max(mine, key=lambda entry: entry.revision, default=None)

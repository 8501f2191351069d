"""What is written down of two legs that were held: returns, band, beta and flags."""

from collections.abc import Mapping
from datetime import date, datetime
from math import sqrt
from typing import Any, NamedTuple

from tradmem.market.calendars import WEEKDAYS_FLAG
from tradmem.market.history import Before, Leg
from tradmem.market.prices import Bars
from tradmem.market.question import Listing, Question, Window, history_start
from tradmem.market.symbols import main_currency
from tradmem.model import NOTHING, Outcome, default_band

# A verdict is right, wrong or neutral about one third of the time each by chance: two
# thirds of a normal distribution lie more than 0.43 standard deviations from its mean.
BAND_WIDTH = 0.43
BAND_FLOOR = 0.001  # over five sessions


class Held(NamedTuple):
    """Two bars of one leg.

    Attributes:
        bars: as the source gave them.
        leg: the bars that count.
        entry: the place of the first in the leg.
        exit: the place of the last.
        stopped: whether the last is not the exit, but merely all that there was.
    """

    bars: Bars
    leg: Leg
    entry: int
    exit: int
    stopped: bool = False

    @property
    def entry_date(self) -> date:
        """The date of the first bar."""
        return self.leg.dates[self.entry]

    @property
    def exit_date(self) -> date:
        """The date of the last bar."""
        return self.leg.dates[self.exit]

    @property
    def gain(self) -> float:
        """The return from the first close to the last, a fraction."""
        return self.leg.closes[self.exit] / self.leg.closes[self.entry] - 1


def make_outcome(
    question: Question,
    window: Window,
    own: Held,
    benchmark: Held | None,
    *,
    known_at: datetime,
    accepted: bool = False,
) -> Outcome:
    """The outcome of a decision whose two legs are known.

    Args:
        question: the decision.
        window: the question's.
        own: the ticker's leg.
        benchmark: the benchmark's; None where there is none, or none to be had.
        known_at: when this was known, aware UTC.
        accepted: whether a person accepted closes that look wrong.
    """
    calendar, leg, bench = window.own.calendar, own.leg, benchmark if window.benchmark else None
    sessions = calendar.between(own.entry_date, own.exit_date)
    flags = _flags(window, own, benchmark)
    before = _before(question, window, own, bench)
    gain, market = own.gain, bench.gain if bench else None
    if before.sigma is None:
        flags.append("default_band")
        band = default_band(window.own.symbol, sessions)
    else:
        floor = BAND_FLOOR * sqrt(sessions / 5)
        band = max(BAND_WIDTH * before.sigma * sqrt(sessions), floor)
    if accepted:
        flags.append("accepted")
    return Outcome(
        horizon=question.horizon,
        sessions=sessions,
        raw_return=gain,
        alpha=None if market is None else gain - market,
        known_at=known_at,
        entry_date=leg.dates[own.entry],
        exit_date=leg.dates[own.exit],
        entry_price=leg.closes[own.entry],
        exit_price=leg.closes[own.exit],
        entry_close=leg.raw_closes[own.entry],
        exit_close=leg.raw_closes[own.exit],
        benchmark=question.benchmark if window.benchmark else None,
        sigma=before.sigma,
        band=band,
        source=_source(own, benchmark),
        flags=tuple(flags),
        **(_beside(bench, window.benchmark, before.beta, gain) if bench else NOTHING),
    )


def _before(question: Question, window: Window, own: Held, benchmark: Held | None) -> Before:
    """What the sessions before the decision say."""
    start, day = history_start(question), window.entry
    if benchmark is None or window.benchmark is None:
        return own.leg.before(day, start, None, beta=False)
    other = window.benchmark.calendar
    is_comparable = other is window.own.calendar
    if not is_comparable:
        day = min(day, other.first_closing_after(question.decided_at))
    return own.leg.before(day, start, benchmark.leg, beta=is_comparable)


def _beside(
    held: Held, listing: Listing | None, beta: float | None, gain: float
) -> Mapping[str, Any]:
    """What is written down of the benchmark's leg, and with a beta beside the ticker's return."""
    leg, entry, leave = held.leg, held.entry, held.exit
    return {
        "benchmark_return": held.gain,
        "benchmark_entry_date": leg.dates[entry],
        "benchmark_exit_date": leg.dates[leave],
        "benchmark_entry_price": leg.closes[entry],
        "benchmark_exit_price": leg.closes[leave],
        "benchmark_entry_close": leg.raw_closes[entry],
        "benchmark_exit_close": leg.raw_closes[leave],
        "basis": (listing and listing.basis) or held.bars.basis,
        "beta": beta,
        "alpha_beta": None if beta is None else gain - beta * held.gain,
    }


def _flags(window: Window, own: Held, benchmark: Held | None) -> list[str]:
    """What a reader should know of the two legs."""
    flags = []
    first, last = own.entry_date, own.exit_date
    calendar = window.own.calendar
    spans = min(first, window.exit), max(last, window.exit)
    published = all(map(calendar.published, spans))
    if own.stopped:
        flags.append("stopped")
    if benchmark and window.benchmark:
        other = window.benchmark.calendar
        if other is not calendar:
            flags.append("asynchronous")
            dates = (benchmark.entry_date, benchmark.exit_date)
            published = published and all(map(other.published, dates))
        if _currency(window.own, own) != _currency(window.benchmark, benchmark):
            flags.append("currency")
    elif window.benchmark:
        flags.append("no_benchmark")
    if not published:
        flags.append(WEEKDAYS_FLAG)
    for flag, events in (("split", own.bars.splits), ("ex_dividend", own.bars.dividends)):
        if events and any(first < day <= last for day in events):
            flags.append(flag)
    return flags


def _currency(listing: Listing, held: Held) -> str:
    """The currency as the source says it, else by the suffix."""
    return main_currency(held.bars.currency or listing.currency)


def _source(own: Held, benchmark: Held | None) -> str:
    if benchmark is None or benchmark.bars.source == own.bars.source:
        return own.bars.source
    return ", ".join(source for source in (own.bars.source, benchmark.bars.source) if source)

"""What is written down of two legs that were held: returns, band, beta and flags."""

from datetime import date, datetime
from math import sqrt
from typing import Any, NamedTuple

from tradmem.market.calendars import WEEKDAYS_FLAG
from tradmem.market.history import Leg
from tradmem.market.prices import Bars
from tradmem.market.question import Listing, Question, Window, history_start
from tradmem.market.symbols import main_currency
from tradmem.model import Outcome, default_band

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
    calendar = window.own.calendar
    sessions = calendar.between(own.entry_date, own.exit_date)
    flags = _flags(window, own, benchmark)
    start, day = history_start(question), window.entry
    if benchmark and window.benchmark:
        day = min(day, window.benchmark.calendar.first_closing_after(question.decided_at))
        comparable = window.benchmark.calendar is calendar
        before = own.leg.before(day, start, benchmark.leg, beta=comparable)
    else:
        before = own.leg.before(day, start, None, beta=False)
    gain, more = own.gain, _fields(own)
    if benchmark and window.benchmark:
        more |= _benchmark_fields(benchmark, window.benchmark, gain)
        if before.beta is not None:
            more["beta"] = before.beta
            more["alpha_beta"] = gain - before.beta * benchmark.gain
    if before.sigma is None:
        flags.append("default_band")
        more["band"] = default_band(window.own.symbol, sessions)
    else:
        floor = BAND_FLOOR * sqrt(sessions / 5)
        more["band"] = max(BAND_WIDTH * before.sigma * sqrt(sessions), floor)
    if accepted:
        flags.append("accepted")
    return Outcome(
        horizon=question.horizon,
        sessions=sessions,
        raw_return=gain,
        known_at=known_at,
        benchmark=question.benchmark if window.benchmark else None,
        sigma=before.sigma,
        source=_source(own, benchmark),
        flags=tuple(flags),
        **({"alpha": None} | more),
    )


def _fields(held: Held) -> dict[str, Any]:
    leg, entry, last = held.leg, held.entry, held.exit
    return {
        "entry_date": leg.dates[entry],
        "exit_date": leg.dates[last],
        "entry_price": leg.closes[entry],
        "exit_price": leg.closes[last],
        "entry_close": leg.raw_closes[entry],
        "exit_close": leg.raw_closes[last],
    }


def _benchmark_fields(held: Held, listing: Listing, gain: float) -> dict[str, Any]:
    fields = {f"benchmark_{name}": value for name, value in _fields(held).items()}
    fields["benchmark_return"] = held.gain
    fields["alpha"] = gain - held.gain
    fields["basis"] = listing.basis or held.bars.basis
    return fields


def _flags(window: Window, own: Held, benchmark: Held | None) -> list[str]:
    """What a reader should know of the two legs."""
    flags = []
    first, last = own.entry_date, own.exit_date
    calendar = window.own.calendar
    published = all(map(calendar.published, (window.exit, first, last)))
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
    if any(first < day <= last for day in own.bars.splits):
        flags.append("split")
    if any(first < day <= last for day in own.bars.dividends):
        flags.append("ex_dividend")
    return flags


def _currency(listing: Listing, held: Held) -> str:
    """The currency as the source says it, else by the suffix."""
    return main_currency(held.bars.currency or listing.currency)


def _source(own: Held, benchmark: Held | None) -> str:
    if benchmark is None or benchmark.bars.source == own.bars.source:
        return own.bars.source
    return ", ".join(source for source in (own.bars.source, benchmark.bars.source) if source)

"""The outcome of one decision, or why there is none yet.

Pure: what is known (a decision's instant, bars, an instant to judge from) goes in, a
value comes out. Whatever later instant it is asked from, a settled outcome stays the
same: it looks at nothing that was not final by the instant at which it was known.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import datetime
from math import log

from tradmem.errors import PriceError, PriceFault
from tradmem.market.figures import Held, make_outcome
from tradmem.market.history import leg_of
from tradmem.market.prices import Bars
from tradmem.market.question import (
    Question,
    Unsettled,
    Why,
    Window,
    clock_text,
    not_due,
    window_of,
)
from tradmem.market.symbols import Aliases
from tradmem.model import Outcome

__all__ = ["Question", "Unsettled", "Why", "Window", "answer", "not_due", "window_of"]

ENTRY_SESSIONS = 10  # after the planned entry, within which the first bar must come

_Given = Bars | PriceError | None


def answer(
    question: Question,
    bars: _Given,
    benchmark_bars: _Given = None,
    *,
    as_of: datetime,
    aliases: Aliases = None,
    window: Window | None = None,
) -> Outcome | Unsettled:
    """The outcome of a decision as of an instant, or why there is none.

    Args:
        question: the decision.
        bars: of its ticker, from :func:`tradmem.market.question.history_start` on, or
            why there are none.
        benchmark_bars: the same of ``question.benchmark``.
        as_of: aware UTC; only closes that are final by then are looked at.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.
        window: of the question, where the caller has it already.
    """
    window = window or window_of(question, aliases)
    if pending := not_due(window, as_of):
        return pending
    return _Case(question, window, bars, benchmark_bars, as_of).answer()


@dataclass(slots=True)
class _Case:
    """One due question on its way to an answer."""

    question: Question
    window: Window
    bars: _Given
    bench: _Given
    as_of: datetime

    @property
    def over(self) -> bool:
        """Whether the wait has ended, and the sources can speak of all of it."""
        return self.as_of >= self.window.wait_ends and self._ends_early() is None

    def _ends_early(self) -> Bars | None:
        """Bars from a source that ends before the wait does; it cannot tell what came after."""
        for bars, listing in ((self.bars, self.window.own), (self.bench, self.window.benchmark)):
            if not (isinstance(bars, Bars) and bars.until and listing):
                continue
            if bars.until < listing.calendar.last_final(self.window.wait_ends):
                return bars
        return None

    @property
    def limit(self) -> datetime:
        """By when a close has to be final to count."""
        return min(self.as_of, self.window.wait_ends)

    def answer(self) -> Outcome | Unsettled:
        own = self._passing(self.bars) or self._own()
        if isinstance(own, Unsettled):
            return own
        benchmark = None
        if self.window.benchmark:
            benchmark = self._passing(self.bench) or self._benchmark(own)
        if isinstance(benchmark, Unsettled):
            return benchmark
        known_at, accepted = self._known_at(own, benchmark), False
        if doubt := self._doubt(own, benchmark):
            at = self.question.accepted_at
            if at is None or at > self.as_of:
                return Unsettled(kind=Why.SUSPECT, reason=doubt, known_at=known_at)
            known_at, accepted = max(known_at, at), True
        return make_outcome(
            self.question, self.window, own, benchmark, known_at=known_at, accepted=accepted
        )

    def _passing(self, bars: _Given) -> Unsettled | None:
        """What to say of a fault that asking again can mend; it never ends a wait."""
        if not isinstance(bars, PriceError) or not bars.kind.passing:
            return None
        reason = " ".join(str(bars).split())
        return Unsettled(kind=Why.FAILED, reason=reason, due=self.window.due)

    def _own(self) -> Held | Unsettled:
        """Entry and exit of the ticker: the first bar in time, and the first after the horizon."""
        ticker, bars = self.question.ticker, self.bars
        calendar, planned = self.window.own.calendar, self.window.entry
        latest = calendar.later(planned, ENTRY_SESSIONS)
        if not isinstance(bars, Bars):
            return self._missing(f"no close of {ticker} from {planned} to {latest}", bars)
        leg = leg_of(bars, calendar, self.window.own.kind)
        end = bisect_right(leg.dates, calendar.last_final(self.limit))
        entry = bisect_left(leg.dates, planned)
        if entry >= end or leg.dates[entry] > latest:
            return self._missing(f"no close of {ticker} from {planned} to {latest}")
        target = calendar.later(leg.dates[entry], self.question.horizon)
        place = bisect_left(leg.dates, target, entry)
        if place < end:
            return Held(bars, leg, entry, place)
        if not self.over:
            awaited = calendar.final_at(target)
            return self._missing(f"no close of {ticker} on or after {target}", awaited=awaited)
        if end - 1 == entry:
            return self._missing(f"no close of {ticker} after {leg.dates[entry]}")
        return Held(bars, leg, entry, end - 1, stopped=True)

    def _benchmark(self, own: Held) -> Held | Unsettled | None:
        """The benchmark on its own last sessions by the same dates; None if that is given up."""
        listing, bars = self.window.benchmark, self.bench
        assert listing
        calendar = listing.calendar
        first, last = calendar.last_until(own.entry_date), calendar.last_until(own.exit_date)
        missing = first
        if isinstance(bars, Bars):
            leg = leg_of(bars, calendar, listing.kind)
            entry, end = leg.place(first), leg.place(last)
            final = last <= calendar.last_final(self.limit)
            if entry is not None and end is not None and final:
                return Held(bars, leg, entry, end)
            missing = first if entry is None else last
        if self.over:
            return None
        return self._missing(
            f"no close of the benchmark {self.question.benchmark} on {missing}",
            bars,
            awaited=calendar.final_at(missing),
        )

    def _missing(
        self, what: str, bars: _Given = None, *, awaited: datetime | None = None
    ) -> Unsettled:
        """No bar that would do: waiting, or given up now that the wait has ended."""
        ends = self.window.wait_ends
        # That a span holds no bars also depends on those that are not final yet.
        if isinstance(bars, PriceError) and bars.kind is not PriceFault.NO_BARS:
            what += f" ({bars.kind})"
        if self.over:
            reason = f"{what} by {clock_text(ends)}"
            return Unsettled(kind=Why.UNRESOLVABLE, reason=reason, known_at=ends)
        if awaited is not None and self.as_of < awaited < ends:
            reason = f"{what} yet: final at {clock_text(awaited)}"
            return Unsettled(kind=Why.WAITING, reason=reason, due=awaited)
        if self.as_of >= ends and (short := self._ends_early()):
            reason = f"{what}: {short.source} ends {short.until}"
            return Unsettled(kind=Why.FAILED, reason=reason, due=self.window.due)
        reason = f"{what} yet: waited for until {clock_text(ends)}"
        return Unsettled(kind=Why.WAITING, reason=reason, due=ends)

    def _known_at(self, own: Held, benchmark: Held | None) -> datetime:
        """When the last close that was needed was final, or the wait was over."""
        listing = self.window.benchmark
        if own.stopped or (listing and benchmark is None):
            return self.window.wait_ends
        known_at = self.window.own.calendar.final_at(own.exit_date)
        if listing and benchmark:
            known_at = max(known_at, listing.calendar.final_at(benchmark.exit_date))
        return known_at

    def _doubt(self, own: Held, benchmark: Held | None) -> str | None:
        """What makes the closes of either leg suspect; None if nothing does."""
        doubt = _jump(own, self.question.ticker)
        if doubt is None and benchmark:
            doubt = _jump(benchmark, f"the benchmark {self.question.benchmark}")
        return doubt and f"{doubt}; accept it, or mend the prices"


def _jump(held: Held, name: str) -> str | None:
    """The first jump from entry to exit, or split that the closes still show, in words."""
    leg = held.leg
    place = leg.jump_from(held.entry)
    if place < held.exit:
        before, after = leg.closes[place : place + 2]
        return (
            f"{name} closed at {before:g} on {leg.dates[place]} and at {after:g} "
            f"on {leg.dates[place + 1]}, a ratio of {after / before:.3g}"
        )
    for day, factor in held.bars.splits.items():
        if held.entry_date < day <= held.exit_date and factor > 0:
            place = bisect_left(leg.dates, day)
            move = log(leg.closes[place] / leg.closes[place - 1])
            # The closes show it where the split explains their move better than nothing does.
            if abs(move + log(factor)) < abs(move):
                return f"{name} split {factor:g} for 1 on {day} and its closes still show it"
    return None

"""The closes of a replay: all of them in its own hands, and what was known by its clock.

A :class:`World` holds the future. What it hands out, a :class:`KnownPrices`, holds only what
the clock has let through: there is no later close in it that anybody could ask for.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import NamedTuple

from tradmem.clock import AsOf, format_instant, last_instant, parse_date, parse_instant, utc
from tradmem.errors import LookAhead, PriceError, PriceFault, UsageError
from tradmem.market.calendars import Calendar
from tradmem.market.history import leg_of
from tradmem.market.prices import Bars, PriceSource, Span
from tradmem.market.question import HISTORY, listing_of
from tradmem.market.settle import fetch
from tradmem.market.symbols import Aliases
from tradmem.tickers import check_ticker

_BEFORE = datetime(1, 1, 1, tzinfo=UTC)
_MISSING = (PriceFault.UNKNOWN_SYMBOL, PriceFault.NOT_HELD)


class Closes(NamedTuple):
    """Closes that were final, ascending by date.

    Attributes:
        dates: sessions of the ticker's market.
        values: one per date, adjusted as the source gave them.
    """

    dates: tuple[date, ...]
    values: tuple[float, ...]


def load(
    source: PriceSource,
    tickers: Iterable[str],
    benchmarks: Iterable[str],
    start: date,
    end: date,
    *,
    aliases: Aliases = None,
) -> dict[str, Bars | PriceError]:
    """Everything that a replay may ever look at: nothing later than its end is asked for.

    Args:
        source: asked once.
        tickers: in upper case; each has to be in the source.
        benchmarks: likewise; one that the source does not have is left out of the answer.
        start: the first date of a decision; closes of the two years before count too.
        end: the last date.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.

    Raises:
        PriceError: a ticker cannot be had, or the source failed.
    """
    named, others = list(tickers), set(benchmarks)
    span = Span(start - HISTORY if start - date.min > HISTORY else date.min, end)
    found = dict(fetch(source, dict.fromkeys([*named, *sorted(others.difference(named))], span)))
    for symbol, bars in list(found.items()):
        if isinstance(bars, Bars):
            found[symbol] = _sound(bars, aliases)
            continue
        if bars.kind is PriceFault.NO_BARS:
            continue
        if symbol in named or bars.kind not in _MISSING:
            raise bars
        del found[symbol]
    return found


class _Tape:
    """The closes of one symbol that the clock has let through."""

    __slots__ = ("bars", "calendar", "closes", "dates", "dividends", "made", "raws", "splits")

    def __init__(self, calendar: Calendar, bars: Bars | None) -> None:
        self.calendar = calendar
        self.dates: list[date] = []
        self.closes: list[float] = []
        self.raws: list[float] = []
        self.splits: dict[date, float] = {}
        self.dividends: dict[date, float] = {}
        self.bars = bars and _without_closes(bars)
        self.made: dict[Span, Bars] = {}

    def cut(self, symbol: str, span: Span) -> Bars | PriceError:
        """The bars in a span, the same object as long as nothing has come."""
        if span not in self.made:
            low, high = bisect_left(self.dates, span.start), bisect_right(self.dates, span.end)
            if low >= high or self.bars is None:
                return PriceError(PriceFault.NO_BARS, symbol, f"{span.start} to {span.end}")
            self.made[span] = replace(
                self.bars,
                dates=tuple(self.dates[low:high]),
                closes=tuple(self.closes[low:high]),
                raw_closes=tuple(self.raws[low:high]),
                splits=_within(self.splits, span),
                dividends=_within(self.dividends, span),
            )
        return self.made[span]


def _without_closes(bars: Bars) -> Bars:
    """What is said of a symbol as a whole."""
    return replace(bars, dates=(), closes=(), raw_closes=(), splits={}, dividends={})


def _within(events: Mapping[date, float], span: Span) -> dict[date, float]:
    return {day: amount for day, amount in events.items() if span.start <= day <= span.end}


class KnownPrices:
    """A price source that ends at the replay's clock.

    Asking for a later date raises :class:`~tradmem.errors.LookAhead`; there is no later
    close in it. Adjusted closes are those of the source: a level shows the splits and
    dividends that came until it was asked, returns do not.
    """

    def __init__(self, aliases: Aliases = None) -> None:
        self._tapes: dict[str, _Tape] = {}
        self._aliases = aliases
        self._now: datetime | None = None

    def __repr__(self) -> str:
        until = format_instant(self._now) if self._now else "the beginning"
        return f"KnownPrices({len(self._tapes)} symbols, until {until})"

    def clock(self) -> datetime:
        """What time it is in the replay, aware UTC."""
        return self._now or _BEFORE

    @property
    def tickers(self) -> tuple[str, ...]:
        """The symbols that there are closes of, benchmarks among them."""
        return tuple(self._tapes)

    def last(self, ticker: str) -> date | None:
        """The date of the last close that is known; None if none is."""
        dates = self._tape(ticker).dates
        return dates[-1] if dates else None

    def closes(
        self,
        ticker: str,
        count: int | None = None,
        *,
        start: date | None = None,
        end: date | None = None,
    ) -> Closes:
        """The closes that are known of a ticker, ascending.

        Args:
            ticker: in any case.
            count: the last so many of them; all by default.
            start: none before this date.
            end: none after this date.

        Raises:
            LookAhead: the end lies beyond what is known.
            UsageError: there is no such ticker.
        """
        tape = self._tape(ticker)
        if end is not None:
            self._check(ticker, tape, end)
        low = 0 if start is None else bisect_left(tape.dates, start)
        high = len(tape.dates) if end is None else bisect_right(tape.dates, end)
        if count is not None:
            low = max(low, high - max(count, 0))
        return Closes(tuple(tape.dates[low:high]), tuple(tape.closes[low:high]))

    def fetch(self, spans: Mapping[str, Span]) -> dict[str, Bars | PriceError]:
        """See :class:`tradmem.market.prices.PriceSource`.

        Raises:
            LookAhead: a span ends beyond the last session that is final.
        """
        found: dict[str, Bars | PriceError] = {}
        for symbol, (start, end) in spans.items():
            tape = self._tapes.get(symbol.upper())
            if tape is None:
                found[symbol] = PriceError(PriceFault.UNKNOWN_SYMBOL, symbol, "not in this replay")
                continue
            self._check(symbol, tape, end)
            found[symbol] = tape.cut(symbol, Span(start, end))
        return found

    def _tape(self, ticker: str) -> _Tape:
        name = check_ticker(ticker)
        if name not in self._tapes:
            raise UsageError(f"{name} is not in this replay; it has {', '.join(self._tapes)}")
        return self._tapes[name]

    def _check(self, symbol: str, tape: _Tape, end: date) -> None:
        last = tape.calendar.last_final(self._now) if self._now else date.min
        if end > last:
            raise LookAhead(
                f"closes of {symbol} until {end} are not known yet; the last final one is of {last}"
            )


class World:
    """All closes of a replay, and its clock.

    Args:
        found: by symbol, from :func:`load`.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.
    """

    def __init__(self, found: Mapping[str, Bars | PriceError], aliases: Aliases = None) -> None:
        self.now: datetime | None = None
        self.known = KnownPrices(aliases)
        self.bars = found
        self._future: dict[Calendar, list[tuple[_Tape, Bars, int]]] = {}
        for symbol, bars in found.items():
            calendar = listing_of(symbol, aliases).calendar
            tape = _Tape(calendar, bars if isinstance(bars, Bars) else None)
            self.known._tapes[symbol] = tape  # noqa: SLF001 - the two are one, on either side
            if isinstance(bars, Bars):
                self._future.setdefault(calendar, []).append((tape, bars, 0))

    def fetch(self, spans: Mapping[str, Span]) -> dict[str, Bars | PriceError]:
        """The bars of each symbol from beginning to end, for whoever computes outcomes.

        By the rule of outcomes, nothing that is not final at the instant in question is looked
        at; handing out the same bars each time spares preparing them anew.
        """
        return {
            symbol: self.bars.get(symbol)
            or PriceError(PriceFault.UNKNOWN_SYMBOL, symbol, "not in this replay")
            for symbol in spans
        }

    def advance(self, now: datetime) -> None:
        """Let the clock go on, and with it what is known."""
        self.now = self.known._now = now  # noqa: SLF001 - the two are one, on either side
        for calendar, tapes in self._future.items():
            last = calendar.last_final(now)
            for number, (tape, bars, place) in enumerate(tapes):
                end = place
                while end < len(bars.dates) and bars.dates[end] <= last:
                    end += 1
                if end > place:
                    _reveal(tape, bars, place, end)
                    tapes[number] = (tape, bars, end)

    def traded_lately(self, ticker: str, sessions: int) -> bool:
        """Whether a close is known of one of the last so many final sessions."""
        tape = self.known._tapes[ticker]  # noqa: SLF001 - the two are one, on either side
        if not tape.dates or self.now is None:
            return False
        last = tape.calendar.last_final(self.now)
        return tape.dates[-1] >= last or tape.calendar.between(tape.dates[-1], last) < sessions


def _reveal(tape: _Tape, bars: Bars, place: int, end: int) -> None:
    """Let the closes of some places through, and what happened until then."""
    before = bars.dates[place - 1] if place else date.min
    last = bars.dates[end - 1]
    tape.dates.extend(bars.dates[place:end])
    tape.closes.extend(bars.closes[place:end])
    tape.raws.extend(bars.raw_closes[place:end])
    tape.made.clear()
    for events, known in ((bars.splits, tape.splits), (bars.dividends, tape.dividends)):
        known.update({day: n for day, n in events.items() if before < day <= last})


def _sound(bars: Bars, aliases: Aliases) -> Bars:
    """The same without closes on days that are no sessions of its market."""
    listing = listing_of(bars.symbol, aliases)
    leg = leg_of(bars, listing.calendar, listing.kind)
    if leg.dates == bars.dates and bars.until is None:
        return bars
    # A replay ends where its closes end, so that none of them has to tell its end.
    return replace(bars, dates=leg.dates, closes=leg.closes, raw_closes=leg.raw_closes, until=None)


def instant_of(as_of: AsOf, now: datetime) -> datetime:
    """The instant that an ``as_of`` asks for, no later than the replay's clock.

    The date of the clock itself means the clock.

    Raises:
        LookAhead: it lies later.
        UsageError: it is no instant and no date.
    """
    if as_of is None:
        return now
    if isinstance(as_of, str):
        as_of = parse_date(as_of) if len(as_of) <= len("2026-01-05") else parse_instant(as_of)
    if isinstance(as_of, datetime):
        asked, is_later = utc(as_of), utc(as_of) > now
    else:
        asked, is_later = last_instant(parse_date(as_of)), as_of > now.date()
    if is_later:
        raise LookAhead(f"{as_of} is not known yet; it is {format_instant(now)}")
    return min(asked, now)

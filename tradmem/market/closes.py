"""The closes that were known at an instant, for whoever looks at prices before deciding."""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import NamedTuple

from tradmem.errors import PriceError, PriceFault
from tradmem.market.history import leg_of
from tradmem.market.prices import PriceSource, Span
from tradmem.market.question import listing_of
from tradmem.market.settle import fetch
from tradmem.market.symbols import Aliases


class Closes(NamedTuple):
    """The final closes of one symbol up to an instant.

    Attributes:
        dates: sessions of its market, ascending.
        closes: one per date, adjusted as the source gave them at the time of asking.
        jumps: dates whose close is no ordinary move away from the one before (an
            unadjusted split, a misprint), by the rule that makes an outcome suspect.
    """

    dates: tuple[date, ...]
    closes: tuple[float, ...]
    jumps: tuple[date, ...]

    def until(self, day: date) -> float | None:
        """The last close on or before a day; None if there is none."""
        place = bisect_right(self.dates, day)
        return self.closes[place - 1] if place else None


def known_closes(
    source: PriceSource,
    tickers: Iterable[str],
    as_of: datetime,
    *,
    days: int,
    aliases: Aliases = None,
) -> dict[str, Closes | PriceError]:
    """What a price source knew at an instant: closes of sessions that were final by then.

    Args:
        source: asked once for all tickers; its faults are values.
        tickers: as the user wrote them.
        as_of: aware UTC.
        days: how many calendar days back from the last final session.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.
    """
    spans = {}
    for ticker in tickers:
        last = listing_of(ticker, aliases).calendar.last_final(as_of)
        spans[ticker] = Span(last - timedelta(days=days), last)
    found: dict[str, Closes | PriceError] = {}
    for ticker, bars in fetch(source, spans).items():
        if isinstance(bars, PriceError):
            found[ticker] = bars
            continue
        listing, span = listing_of(ticker, aliases), spans[ticker]
        leg = leg_of(bars, listing.calendar, listing.kind)
        end = bisect_right(leg.dates, span.end)  # whatever a source adds beyond was not known
        dates, closes = leg.dates[:end], leg.closes[:end]
        found[ticker] = (
            Closes(dates, closes, _jumps(dates, closes, leg.jump))
            if dates
            else PriceError(PriceFault.NO_BARS, ticker, f"{span.start} to {span.end}")
        )
    return found


def _jumps(
    dates: tuple[date, ...], closes: tuple[float, ...], jump: tuple[float, float]
) -> tuple[date, ...]:
    up, down = jump
    pairs = zip(closes, closes[1:], dates[1:], strict=False)
    return tuple(day for old, new, day in pairs if new / old >= up or new / old <= down)

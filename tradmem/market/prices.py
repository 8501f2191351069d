"""Where closes come from: the protocol of a price source, and the rules for what is a bar."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from math import isfinite
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tradmem.errors import PriceError, PriceFault, UsageError
from tradmem.market.symbols import Aliases, kind_of
from tradmem.model import NOTHING
from tradmem.tickers import AssetClass


class Span(NamedTuple):
    """The dates that are wanted of one symbol, both included."""

    start: date
    end: date


@dataclass(frozen=True, kw_only=True, eq=False)
class Bars:
    """The daily closes of one symbol, from one fetch and so from one adjustment.

    Attributes:
        symbol: as it was asked for.
        dates: in the exchange's own zone, ascending, each once.
        closes: adjusted for splits and dividends, one per date; every one finite and above 0.
        raw_closes: unadjusted, one per date; equal to ``closes`` where the source has no other.
        splits: by date, new shares per old one (2.0 is two for one).
        dividends: by ex-date, per share, in the quote's currency.
        currency: the quote's ISO currency code (``GBp`` is pence); None if unknown.
        basis: ``total`` if the closes are adjusted for dividends, ``price`` if not.
        source: the name of the source, as it goes into an outcome.
        until: the last date that the source can speak of, of any symbol; None if it is
            never behind. A close that is missing after it is no sign that trading stopped.
    """

    symbol: str
    dates: tuple[date, ...]
    closes: tuple[float, ...]
    raw_closes: tuple[float, ...]
    splits: Mapping[date, float] = field(default_factory=dict)
    dividends: Mapping[date, float] = field(default_factory=dict)
    currency: str | None = None
    basis: str = "total"
    source: str = ""
    until: date | None = None


@runtime_checkable
class PriceSource(Protocol):
    """Anything that has daily closes."""

    def fetch(self, spans: Mapping[str, Span]) -> Mapping[str, "Bars | PriceError"]:
        """The bars of each symbol in its span, or why there are none.

        Args:
            spans: by ticker as the log has it (upper case); a source that uses
                other names translates them itself.

        Returns:
            One answer per ticker asked for. A failure is a value, so that one
            symbol's fault never costs another its answer.
        """
        ...


class Row(NamedTuple):
    """One row of a source, as it came.

    Attributes:
        day: a date, an instant (its own local date counts) or ISO text.
        close: adjusted; anything but a finite number above 0 is no bar.
        raw_close: unadjusted; None where the source has no other.
        volume: as reported; None where it is not.
    """

    day: Any
    close: Any
    raw_close: Any = None
    volume: Any = None


def as_date(key: Any) -> date | None:
    """The date of a row: an instant's own local date, never shifted to UTC; None for NaT.

    Raises:
        UsageError: the key is no date.
    """
    if isinstance(key, datetime):
        return key.date() if key == key else None  # noqa: PLR0124 - only NaT differs from itself
    if isinstance(key, date):
        return key
    text = str(key).strip()
    if text in ("", "NaT", "nan", "None"):
        return None
    try:
        return date.fromisoformat(text if len(text) == len("20260105") else text[:10])
    except ValueError as error:
        raise UsageError(f"{text[:40]!r} is no date; write dates like 2026-01-05") from error


# What stands in a file where a number is missing.
_MISSING = frozenset({"", "na", "n/a", "#n/a", "null", "none", "-", "--", "."})


def price(value: Any) -> float | None:
    """A close as a float; None for what is no price (missing, NaN, infinite, zero, negative).

    Raises:
        UsageError: a text that is no number stands there; leaving it out would be a guess.
    """
    try:
        number = float(value)
    except TypeError:
        return None
    except ValueError as error:
        if str(value).strip().lower() in _MISSING:
            return None
        raise UsageError(f"{value!r} is no number") from error
    return number if isfinite(number) and number > 0 else None


def make_bars(
    symbol: str,
    rows: Iterable[Row | tuple[Any, ...]],
    *,
    span: Span | None = None,
    splits: Mapping[Any, Any] = NOTHING,
    dividends: Mapping[Any, Any] = NOTHING,
    currency: str | None = None,
    basis: str = "total",
    source: str = "",
    aliases: Aliases = None,
) -> Bars | PriceError:
    """Bars from raw rows, by the rules that hold for every source.

    A close that is missing, NaN, infinite, zero or negative is no bar, nor is an
    equity's with a reported volume of zero. A date twice is one bar, the later row's.
    Rows outside the span go; the rest is sorted.

    Raises:
        UsageError: a row has no date that can be read, or a close that is no number.
    """
    equity = kind_of(symbol, aliases) is AssetClass.EQUITY
    found: dict[date, tuple[float, float]] = {}
    for day, close, raw, volume in (Row(*row) for row in rows):
        when = as_date(day)
        try:
            value = price(close)
        except UsageError as error:
            raise UsageError(f"the close of {symbol} on {when}: {error}") from error
        if when is None or value is None or (span and not span.start <= when <= span.end):
            continue
        if equity and _is_zero(volume):
            continue
        found[when] = (value, price(raw) or value)
    if not found:
        return PriceError(PriceFault.NO_BARS, symbol, _dates(span))
    days = sorted(found)
    return Bars(
        symbol=symbol,
        dates=tuple(days),
        closes=tuple(found[day][0] for day in days),
        raw_closes=tuple(found[day][1] for day in days),
        splits=_events(splits, span),
        dividends=_events(dividends, span),
        currency=currency,
        basis=basis,
        source=source,
    )


def cut_bars(bars: Bars, symbol: str, span: Span) -> Bars | PriceError:
    """The part of longer bars that lies in a span, under the name that was asked for."""
    low, high = bisect_left(bars.dates, span.start), bisect_right(bars.dates, span.end)
    if low >= high:
        return PriceError(PriceFault.NO_BARS, symbol, _dates(span))
    return Bars(
        symbol=symbol,
        dates=bars.dates[low:high],
        closes=bars.closes[low:high],
        raw_closes=bars.raw_closes[low:high],
        splits=_events(bars.splits, span),
        dividends=_events(bars.dividends, span),
        currency=bars.currency,
        basis=bars.basis,
        source=bars.source,
        until=bars.until,
    )


def _is_zero(volume: Any) -> bool:
    try:
        return volume is not None and float(volume) == 0
    except (TypeError, ValueError):
        return False


def _events(events: Mapping[Any, Any], span: Span | None) -> dict[date, float]:
    """Splits or dividends by date, those in the span."""
    found = {}
    for key, value in events.items():
        day, amount = as_date(key), price(value)
        if day and amount and (span is None or span.start <= day <= span.end):
            found[day] = amount
    return found


def _dates(span: Span | None) -> str:
    return f"{span.start} to {span.end}" if span else ""

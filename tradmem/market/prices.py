"""Where closes come from: the protocol of a price source, and sources in memory and in files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple, Protocol, runtime_checkable

from tradmem.errors import PriceError


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

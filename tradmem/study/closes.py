"""The closes that decisions are drawn on: final ones only, and those that there are."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from tradmem.clock import AsOf, as_instant
from tradmem.journal.verdicts import dates_of
from tradmem.market.calendars import calendar_of
from tradmem.market.prices import Bars, PriceSource, Span
from tradmem.market.settle import fetch
from tradmem.market.symbols import Aliases
from tradmem.model import NOTHING, Entry

if TYPE_CHECKING:
    from tradmem.memory import Memory

_BEFORE = timedelta(days=400)  # for the momentum of the twelve months before a decision


class Closes(NamedTuple):
    """What a price source gave.

    Attributes:
        bars: by symbol.
        remarks: which closes there are none of, and why, one line each.
    """

    bars: Mapping[str, Bars] = NOTHING
    remarks: tuple[str, ...] = ()


def closes(memory: "Memory", as_of: AsOf = None) -> Mapping[str, Bars]:
    """The closes of all that a memory has decided on, and of the benchmarks, by symbol.

    What the memory's price source does not have is left out.

    Args:
        memory: whose decisions, and whose prices.
        as_of: only what was final then; now by default.

    Raises:
        LogError: the log cannot be read.
    """
    instant = as_instant(as_of, memory.clock())
    entries = memory.entries(as_of=instant)
    return closes_of(entries, memory.prices, instant, memory.settings.aliases).bars


def closes_of(
    entries: Iterable[Entry], source: PriceSource, as_of: datetime, aliases: Aliases = None
) -> Closes:
    """The closes of what was decided on, from a year before each first decision.

    Args:
        entries: as they stood at ``as_of``.
        source: asked once.
        as_of: only closes that were final then, aware UTC.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.
    """
    spans: dict[str, Span] = {}
    for entry in entries:
        if entry.recorded.is_note:
            continue
        outcome = entry.outcome
        first = min(entry.date, dates_of(outcome, entry.date)[0]) if outcome else entry.date
        for symbol in filter(None, (entry.ticker, outcome.benchmark if outcome else None)):
            last = calendar_of(symbol, aliases).last_final(as_of)
            start = first - _BEFORE if first - date.min > _BEFORE else date.min
            if start <= last:
                spans[symbol] = Span(min(start, spans.get(symbol, Span(start, last)).start), last)
    found = fetch(source, spans)
    return Closes(
        {symbol: bars for symbol, bars in found.items() if isinstance(bars, Bars)},
        tuple(str(bars) for bars in found.values() if not isinstance(bars, Bars)),
    )

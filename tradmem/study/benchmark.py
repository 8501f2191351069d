"""What a name is measured against in a study: the other names, bought at its entry and held.

An index of prices flatters closes that are adjusted for dividends, and names that one has picked
today flatter any index of their time. The equal weight of the other names carries both.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from tradmem.briefing import SKIPPED, YEAR
from tradmem.market.calendars import calendar_of
from tradmem.market.prices import Bars
from tradmem.market.symbols import Aliases

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST_NAMES = 5  # with a bar at entry, below which the index stands alone
_UP, _DOWN = 1.8, 0.55  # ratios of two closes that are no ordinary move


class Peers:
    """Returns of names that are bought together and held.

    Args:
        bars: by symbol.
        names: those that are each other's benchmark.
    """

    def __init__(self, bars: Mapping[str, Bars], names: Iterable[str]) -> None:
        import numpy as np  # noqa: PLC0415 - kept off the import of tradmem

        self.names = [name for name in names if name in bars]
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._days = sorted({day for name in self.names for day in bars[name].dates})
        self._places = {day: place for place, day in enumerate(self._days)}
        closes = np.full((len(self._days), len(self.names)), np.nan)
        for number, name in enumerate(self.names):
            rows = [self._places[day] for day in bars[name].dates]
            closes[rows, number] = bars[name].closes
        self._closes = closes
        self._held = _carried(closes)
        self._returns: dict[tuple[date, date], Floats | None] = {}

    def others(self, name: str, entry: date, leave: date) -> float | None:
        """The mean return of the other names with a bar at entry; None of too few names.

        Args:
            name: the one that is left out.
            entry: the date at whose close all are bought.
            leave: the date of the last close that counts.
        """
        import numpy as np  # noqa: PLC0415 - kept off the import of tradmem

        found = self._over(entry, leave)
        if found is None:
            return None
        there = ~np.isnan(found)
        if int(there.sum()) < LEAST_NAMES:
            return None
        number = self._numbers.get(name)
        if number is not None:
            there = there.copy()
            there[number] = False
        return float(found[there].mean())

    def _over(self, entry: date, leave: date) -> "Floats | None":
        """The return of each name from one date to another; NaN without a bar at the first."""
        if (entry, leave) not in self._returns:
            start = self._places.get(entry)
            end = bisect_right(self._days, leave) - 1
            self._returns[entry, leave] = (
                None if start is None else self._held[end] / self._closes[start] - 1
            )
        return self._returns[entry, leave]


def _carried(closes: "Floats") -> "Floats":
    """Each close stands until there is a next one."""
    import numpy as np  # noqa: PLC0415 - kept off the import of tradmem

    there = np.where(np.isnan(closes), 0, np.arange(len(closes))[:, None])
    np.maximum.accumulate(there, axis=0, out=there)
    carried: Floats = np.take_along_axis(closes, there, axis=0)
    return carried


class Momentum:
    """The strength of a name over a year but the last month, as :mod:`tradmem.briefing` has it.

    Args:
        bars: by symbol.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.
    """

    def __init__(self, bars: Mapping[str, Bars], aliases: Aliases = None) -> None:
        self._bars = bars
        self._aliases = aliases
        self._jumps = {name: _jumps(found.closes) for name, found in bars.items()}

    def strength(self, name: str, benchmark: str | None, instant: datetime) -> float | None:
        """The return less the benchmark's over the closes that were final; None of too few."""
        own = self._bars.get(name)
        if own is None:
            return None
        last = calendar_of(name, self._aliases).last_final(instant)
        place = bisect_right(own.dates, last) - 1
        start, end = place - YEAR, place - SKIPPED
        if start < 0 or self._jumped(name, start, end):
            return None
        move = own.closes[end] / own.closes[start] - 1
        return move - self._benchmark(benchmark, own.dates[start], own.dates[end])

    def _benchmark(self, name: str | None, first: date, last: date) -> float:
        bars = self._bars.get(name or "")
        if bars is None or name is None:
            return 0.0
        start, end = (bisect_right(bars.dates, day) - 1 for day in (first, last))
        if start < 0 or self._jumped(name, start, end):
            return 0.0
        return bars.closes[end] / bars.closes[start] - 1

    def _jumped(self, name: str, start: int, end: int) -> bool:
        return any(start < place <= end for place in self._jumps[name])


def _jumps(closes: Sequence[float]) -> list[int]:
    """The places whose close is no ordinary move away from the one before."""
    pairs = enumerate(pairwise(closes), 1)
    return [place for place, (old, new) in pairs if not _DOWN < new / old < _UP]

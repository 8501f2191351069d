"""The closes of a symbol on its sessions, and what they say before a decision: sigma and beta."""

from bisect import bisect_left
from datetime import date
from math import isfinite, sqrt
from operator import lt
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from tradmem.errors import PriceError
from tradmem.market.calendars import Calendar
from tradmem.market.prices import Bars, Row, make_bars
from tradmem.tickers import AssetClass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_OFTEN = 32  # questions to one pair of legs, after which all of its windows are computed at once
SIGMA_SESSIONS, SIGMA_LEAST = 60, 40
BETA_SESSIONS, BETA_LEAST = 250, 120

# Two consecutive closes with a ratio of so much or more, or so little or less, are no
# ordinary move: an unadjusted split, another currency, a misprint.
_JUMP = (1.8, 0.55)
_JUMPS = {AssetClass.CRYPTO: (5.0, 0.2)}


class Before(NamedTuple):
    """What the sessions before a decision say.

    Attributes:
        sigma: standard deviation of one session's judged return; None with fewer than 40.
        beta: of the ticker on its benchmark; None with fewer than 120, or without one.
    """

    sigma: float | None = None
    beta: float | None = None


class Leg:
    """The bars of one symbol that stand on sessions of its calendar.

    Attributes:
        dates: ascending, each a session.
        closes: adjusted, one per date.
        raw_closes: unadjusted, one per date.
        jump: the ratios of consecutive closes from which on a move is a jump: up, down.
    """

    __slots__ = (
        "__weakref__",
        "_array",
        "_jumps",
        "_pairs",
        "closes",
        "dates",
        "jump",
        "raw_closes",
    )

    def __init__(self, bars: Bars, calendar: Calendar, kind: AssetClass) -> None:
        dates, closes, raw_closes = _sound(bars)
        if dates:
            sessions = calendar.sessions(dates[0], dates[-1])
            if not all(map(sessions.__contains__, dates)):
                kept = [place for place, day in enumerate(dates) if day in sessions]
                dates = tuple(dates[place] for place in kept)
                closes = tuple(closes[place] for place in kept)
                raw_closes = tuple(raw_closes[place] for place in kept)
        self.dates, self.closes, self.raw_closes = dates, closes, raw_closes
        self.jump = _JUMPS.get(kind, _JUMP)
        self._array: Floats | None = None
        self._jumps: list[int] | None = None
        self._pairs: WeakKeyDictionary[Leg, _Series] = WeakKeyDictionary()

    def place(self, day: date) -> int | None:
        """Where the bar of a day stands; None if there is none."""
        place = bisect_left(self.dates, day)
        return place if place < len(self.dates) and self.dates[place] == day else None

    def jump_from(self, place: int) -> int:
        """Where the first jump from a place on begins; beyond all places where there is none."""
        if self._jumps is None:
            up, down = self.jump
            pairs = enumerate(zip(self.closes, self.closes[1:], strict=False))
            self._jumps = [n for n, (old, new) in pairs if not down < new / old < up]
        at = bisect_left(self._jumps, place)
        return self._jumps[at] if at < len(self._jumps) else len(self.dates)

    def before(self, day: date, start: date, benchmark: "Leg | None", *, beta: bool) -> Before:
        """What the common bars from ``start`` to the last one before ``day`` say.

        Args:
            day: the first date that was not known.
            start: the first date that counts, so that a longer fetch changes nothing.
            benchmark: the benchmark's leg; None judges the raw returns.
            beta: whether a beta means anything.
        """
        key = benchmark or self  # the leg itself stands for its raw returns
        series = self._pairs.get(key)
        if series is None:
            series = self._pairs[key] = _Series(self, benchmark)
        return series.before(day, start, beta=beta and benchmark is not None)

    def array(self) -> "Floats":
        """The adjusted closes as an array."""
        if self._array is None:
            import numpy as np  # noqa: PLC0415 - kept off the import of tradmem

            self._array = np.array(self.closes, dtype=np.float64)
        return self._array


class _Series:
    """Ratios of consecutive closes of one leg, or of two on their common dates.

    It holds no leg, so that the weak reference to the benchmark's can go.
    """

    __slots__ = ("_asked", "_betas", "_last", "_sigmas", "dates", "judged", "jumps", "ratios")

    def __init__(self, leg: Leg, benchmark: Leg | None) -> None:
        import numpy as np  # noqa: PLC0415 - kept off the import of tradmem

        own, self.dates = leg.array(), leg.dates
        if benchmark is None:
            self.judged = own[1:] / own[:-1]
            self.ratios = self.judged[None]
            jumps = _is_jump(self.judged, leg)
        else:
            bench = benchmark.array()
            if leg.dates != benchmark.dates:
                places = {day: place for place, day in enumerate(benchmark.dates)}
                common = [place for place, day in enumerate(leg.dates) if day in places]
                self.dates = tuple(leg.dates[place] for place in common)
                own = own[common]
                bench = bench[[places[day] for day in self.dates]]
            self.ratios = np.stack((own[1:] / own[:-1], bench[1:] / bench[:-1]))
            self.judged = self.ratios[0] - self.ratios[1]
            jumps = _is_jump(self.ratios[0], leg) | _is_jump(self.ratios[1], benchmark)
        self.jumps: list[int] = jumps.nonzero()[0].tolist()
        self._last: tuple[tuple[date, date, bool], Before] | None = None
        self._asked = 0
        self._sigmas: list[float] | None = None
        self._betas: list[float] | None = None

    def before(self, day: date, start: date, *, beta: bool) -> Before:
        """Over the last ratios whose two closes lie from ``start`` to before ``day``."""
        key = (day, start, beta)
        last = self._last
        if last is None or last[0] != key:  # one decision is often asked for several horizons
            # A ratio stands at the place of its earlier close.
            first, end = bisect_left(self.dates, start), bisect_left(self.dates, day) - 1
            self._asked += 1
            sigma = self._sigma(first, end)
            self._last = last = key, Before(sigma, self._beta(first, end) if beta else None)
        return last[1]

    def _sigma(self, first: int, end: int) -> float | None:
        """The sample standard deviation of what is judged."""
        window, count = self._window(max(first, end - SIGMA_SESSIONS), end)
        if count < SIGMA_LEAST:
            return None
        if self._asked > _OFTEN and count == SIGMA_SESSIONS and end - first >= count:
            if self._sigmas is None:
                self._sigmas = _sigmas(self.judged)
            return self._sigmas[end - count]
        from numpy import add  # noqa: PLC0415 - kept off the import of tradmem

        values = self.judged[window]
        off = values - add.reduce(values) / count
        return sqrt(float(add.reduce(off * off)) / (count - 1))

    def _beta(self, first: int, end: int) -> float | None:
        """The least-squares slope on the benchmark; None where that stands still."""
        window, count = self._window(max(first, end - BETA_SESSIONS), end)
        if count < BETA_LEAST:
            return None
        if self._asked > _OFTEN and count == BETA_SESSIONS and len(self.ratios) > 1:
            if self._betas is None:
                self._betas = _betas(self.ratios)
            found = self._betas[end - count]
            return found if isfinite(found) else None
        from numpy import add  # noqa: PLC0415 - kept off the import of tradmem

        values = self.ratios[:, window]
        off = values - add.reduce(values, axis=1)[:, None] / count
        shared, spread = add.reduce(off * off[1], axis=1).tolist()
        return float(shared / spread) if spread else None

    def _window(self, low: int, high: int) -> tuple["slice | list[int]", int]:
        """The places from ``low`` to before ``high`` that are no jumps, and how many they are."""
        if not self.jumps:
            return slice(low, high), high - low
        jumps = self.jumps[bisect_left(self.jumps, low) : bisect_left(self.jumps, high)]
        if not jumps:
            return slice(low, high), high - low
        kept = sorted(set(range(low, high)).difference(jumps))
        return kept, len(kept)


def _sigmas(judged: "Floats") -> list[float]:
    """That of each whole window, as one by one: the same sums in the same order."""
    from numpy import add, sqrt  # noqa: PLC0415 - kept off the import of tradmem
    from numpy.lib.stride_tricks import sliding_window_view  # noqa: PLC0415 - likewise

    windows = sliding_window_view(judged, SIGMA_SESSIONS)
    off = windows - (add.reduce(windows, axis=1) / SIGMA_SESSIONS)[:, None]
    found: list[float] = sqrt(add.reduce(off * off, axis=1) / (SIGMA_SESSIONS - 1)).tolist()
    return found


def _betas(ratios: "Floats") -> list[float]:
    """That of each whole window, as one by one; not finite where the benchmark stands still."""
    from numpy import add, errstate  # noqa: PLC0415 - kept off the import of tradmem
    from numpy.lib.stride_tricks import sliding_window_view  # noqa: PLC0415 - likewise

    own, bench = (sliding_window_view(row, BETA_SESSIONS) for row in ratios)
    own = own - (add.reduce(own, axis=1) / BETA_SESSIONS)[:, None]
    bench = bench - (add.reduce(bench, axis=1) / BETA_SESSIONS)[:, None]
    with errstate(divide="ignore", invalid="ignore"):
        shares = add.reduce(own * bench, axis=1) / add.reduce(bench * bench, axis=1)
    found: list[float] = shares.tolist()
    return found


def _is_jump(ratios: "Floats", leg: Leg) -> "NDArray[np.bool_]":
    up, down = leg.jump
    found: NDArray[np.bool_] = (ratios >= up) | (ratios <= down)
    return found


def _sound(bars: Bars) -> tuple[tuple[date, ...], tuple[float, ...], tuple[float, ...]]:
    """The dates and closes of bars, mended where a source broke what bars promise."""
    dates, closes, raw_closes = bars.dates, bars.closes, bars.raw_closes
    if (
        set(map(type, dates)) <= {date}
        and all(map(lt, dates, dates[1:]))
        and set(map(type, closes)) <= {float}
        and all(isfinite(close) and close > 0 for close in closes)
    ):
        return dates, closes, raw_closes
    rows = map(Row, dates, closes, raw_closes)
    mended = make_bars(bars.symbol, rows)
    if isinstance(mended, PriceError):
        return (), (), ()
    return mended.dates, mended.closes, mended.raw_closes


_LEGS: WeakKeyDictionary[Bars, dict[tuple[Calendar, AssetClass], Leg]] = WeakKeyDictionary()


def leg_of(bars: Bars, calendar: Calendar, kind: AssetClass) -> Leg:
    """The prepared leg of bars, made once for as long as the bars live."""
    legs = _LEGS.get(bars)
    if legs is None:
        legs = _LEGS[bars] = {}
    leg = legs.get((calendar, kind))
    if leg is None:
        leg = legs[calendar, kind] = Leg(bars, calendar, kind)
    return leg

"""A short brief on a ticker before a decision, from closes that were known by then only.

There are no price levels in it: every later dividend or split changes the adjusted closes
of the past, so that a level is not what was seen at the time. Returns stay as they were.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from math import sqrt
from statistics import stdev
from typing import Any, NamedTuple

from tradmem.clock import parse_date
from tradmem.errors import PriceError, PriceFault
from tradmem.lessons.template import percent
from tradmem.market.closes import Closes, known_closes
from tradmem.market.prices import PriceSource
from tradmem.market.symbols import Aliases, Benchmarks, benchmark_of, kind_of
from tradmem.tickers import AssetClass

YEAR = 250  # sessions that momentum looks back on, of which it leaves out the last
SKIPPED = 20
VOLATILITY = 60  # sessions
NEEDED = YEAR + 1  # closes for a year's momentum
_YEAR_HIGH = timedelta(weeks=52)
_DAYS = 400  # calendar days that hold 251 sessions of any market
_SESSIONS_A_YEAR = {AssetClass.CRYPTO: 365, AssetClass.FX: 260}


class Move(NamedTuple):
    """A return, and the benchmark's over the same dates; fractions.

    Attributes:
        own: the ticker's.
        benchmark: None where there is no benchmark, or no close of it.
    """

    own: float
    benchmark: float | None = None

    @property
    def strength(self) -> float:
        """The return less the benchmark's; the return itself where there is none."""
        return self.own - (self.benchmark or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What the closes of a ticker say, up to the last that was final.

    Returns are fractions; a figure is None where closes are missing, or where one of
    them jumps as no ordinary move does.

    Attributes:
        ticker: in upper case.
        benchmark: what it is measured against; None for none.
        last: the date of the last close.
        sessions: how many closes there were, up to some 400 days back.
        week, month, quarter: over the last 5, 20 and 60 sessions.
        year: over 250 sessions less the last 20, the "12-1 month" of the literature.
        volatility: of the last 60 sessions' returns, a year.
        from_high: distance from the highest close of 52 weeks, 0 or below.
        missing: whose closes are missing, the ticker's or else the benchmark's.
        fault: why they are.
        detail: what the source said of it.
    """

    ticker: str
    benchmark: str | None = None
    last: date | None = None
    sessions: int = 0
    week: Move | None = None
    month: Move | None = None
    quarter: Move | None = None
    year: Move | None = None
    volatility: float | None = None
    from_high: float | None = None
    missing: str = ""
    fault: PriceFault | None = None
    detail: str = ""

    @property
    def error(self) -> PriceError | None:
        """The fault as an exception that a policy may raise; None if nothing is missing."""
        return PriceError(self.fault, self.missing, self.detail) if self.fault else None

    def __str__(self) -> str:
        if self.last is None:
            return str(self.error or f"no prices for {self.ticker}")
        against = f", against {self.benchmark} (in brackets)" if self.benchmark else ""
        lines = [f"{self.ticker} up to the close of {self.last}{against}:"]
        for name, label in _MOVES.items():
            if move := getattr(self, name):
                beside = "" if move.benchmark is None else f" ({percent(move.benchmark)})"
                lines.append(f"- {label}: {percent(move.own)}{beside}")
        if self.year and self.year.benchmark is not None:
            lines.append(f"- strength against {self.benchmark}: {percent(self.year.strength)}")
        if self.volatility is not None:
            lines.append(f"- volatility: {self.volatility:.0%} a year, over {VOLATILITY} sessions")
        if self.from_high is not None:
            lines.append(f"- distance from the 52-week high: {percent(self.from_high)}")
        if self.sessions < NEEDED:
            lines.append(f"- only {self.sessions} closes are known")
        if self.error:
            lines.append(f"- {self.error}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The brief as JSON values, for a graph's state."""
        out = asdict(self) | {"last": self.last.isoformat() if self.last else None}
        for name in _MOVES:
            move = getattr(self, name)
            out[name] = list(move) if move else None
        return out | {"fault": self.fault.value if self.fault else None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Brief":
        """Read what :meth:`to_json` wrote."""
        values = dict(data)
        for name in _MOVES:
            values[name] = Move(*values[name]) if values[name] else None
        values["last"] = parse_date(values["last"]) if values["last"] else None
        values["fault"] = PriceFault(values["fault"]) if values["fault"] else None
        return cls(**values)


_MOVES = {
    "week": "last 5 sessions",
    "month": "last 20 sessions",
    "quarter": "last 60 sessions",
    "year": "250 sessions less the last 20",
}


def brief(
    ticker: str,
    source: PriceSource,
    as_of: datetime,
    *,
    benchmarks: Benchmarks = None,
    aliases: Aliases = None,
) -> Brief:
    """What the closes that were final at an instant say of a ticker.

    Args:
        ticker: in upper case.
        source: asked once; what it cannot give is a fault of the brief.
        as_of: aware UTC.
        benchmarks: see :func:`tradmem.market.symbols.benchmark_of`.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.
    """
    benchmark = benchmark_of(ticker, benchmarks, aliases)
    wanted = [ticker, benchmark] if benchmark else [ticker]
    found = known_closes(source, wanted, as_of, days=_DAYS, aliases=aliases)
    own = found[ticker]
    if isinstance(own, PriceError):
        return Brief(ticker=ticker, benchmark=benchmark, **_fault(own))
    other = found[benchmark] if benchmark else None
    bench = other if isinstance(other, Closes) else None
    return Brief(
        ticker=ticker,
        benchmark=benchmark,
        last=own.dates[-1],
        sessions=len(own.dates),
        week=_move(own, bench, 5),
        month=_move(own, bench, 20),
        quarter=_move(own, bench, 60),
        year=_move(own, bench, YEAR, SKIPPED),
        volatility=_volatility(own, _SESSIONS_A_YEAR.get(kind_of(ticker, aliases), 252)),
        from_high=_from_high(own),
        **_fault(other),
    )


def _fault(found: Closes | PriceError | None) -> dict[str, Any]:
    if not isinstance(found, PriceError):
        return {}
    return {"missing": found.symbol, "fault": found.kind, "detail": found.detail}


def _move(own: Closes, benchmark: Closes | None, first: int, last: int = 0) -> Move | None:
    """The move from ``first`` closes before the last one to ``last`` before it."""
    if len(own.dates) <= first:
        return None
    start, end = len(own.dates) - 1 - first, len(own.dates) - 1 - last
    days = own.dates[start], own.dates[end]
    if _jumps(own, *days):
        return None
    return Move(own.closes[end] / own.closes[start] - 1, _benchmark_move(benchmark, *days))


def _benchmark_move(benchmark: Closes | None, start: date, end: date) -> float | None:
    if benchmark is None or _jumps(benchmark, start, end):
        return None
    before, after = benchmark.until(start), benchmark.until(end)
    return after / before - 1 if before and after else None


def _jumps(closes: Closes, start: date, end: date) -> bool:
    return any(start < day <= end for day in closes.jumps)


def _volatility(own: Closes, sessions_a_year: int) -> float | None:
    """The standard deviation of daily returns, scaled to a year by the square root of time."""
    window = own.closes[-VOLATILITY - 1 :]
    if len(window) <= VOLATILITY or _jumps(own, own.dates[-VOLATILITY - 1], own.dates[-1]):
        return None
    return stdev(new / old - 1 for old, new in pairwise(window)) * sqrt(sessions_a_year)


def _from_high(own: Closes) -> float | None:
    first = own.dates[-1] - _YEAR_HIGH
    if own.dates[0] > first or _jumps(own, first, own.dates[-1]):
        return None
    high = max(close for day, close in zip(own.dates, own.closes, strict=True) if day >= first)
    return own.closes[-1] / high - 1

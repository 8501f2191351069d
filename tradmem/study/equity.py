"""One illustrative equity curve: overlapping sub-portfolios, bought and held, with costs."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil, inf
from typing import TYPE_CHECKING, Any, NamedTuple

from tradmem.errors import UsageError
from tradmem.market.prices import Bars

if TYPE_CHECKING:
    import pandas as pd

    from tradmem.study.replay import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What one unit of money became, on paper.

    An illustration: it trades at closes, borrows shares for nothing, and earns nothing on cash.

    Attributes:
        dates: sessions with a close of any name.
        values: of the decisions.
        always_buy: had every rating been a Buy, at the same costs.
        portfolios: how many overlapping sub-portfolios shared the money.
        costs: basis points of what was traded.
        traded: how often the money was turned over in all, one way.
    """

    dates: tuple[date, ...]
    values: tuple[float, ...]
    always_buy: tuple[float, ...]
    portfolios: int
    costs: float
    traded: float


class _Trade(NamedTuple):
    """The positions that one date's decisions open."""

    entry: date
    weights: dict[str, float]


def equity_curve(replay: "Replay", *, costs: float = 10.0, horizon: int | None = None) -> Curve:
    """The equity curve of a replay.

    The money is shared by as many sub-portfolios as there are dates of entry in one holding
    window. Each in turn is put into the names of one date, equally, each with its rating's
    exposure, and held until it is its turn again.

    Args:
        replay: whose decisions.
        costs: basis points of each trade.
        horizon: in sessions; the memory's first by default.

    Raises:
        UsageError: nothing has entered, at that horizon, or the costs are below zero or no number.
    """
    from tradmem.study.frame import decisions_frame  # noqa: PLC0415 - loads pandas

    if not 0 <= costs < inf:
        raise UsageError(f"costs of {costs} basis points cannot be; use 0 or more")
    wanted = replay.memory.settings.horizons[0] if horizon is None else horizon
    frame = decisions_frame(replay.entries(), replay.bars, tickers=replay.tickers)
    frame = frame[(frame["horizon"] == wanted) & frame["score"].notna()]
    if frame.empty:
        raise UsageError("nothing has entered yet; there is no equity curve")
    trades = _trades(frame, "exposure")
    days = sorted({day for name in replay.tickers for day in _dates(replay.bars, name)})
    days = [day for day in days if trades[0].entry <= day <= replay.end]
    count = _overlap(trades, wanted, days)
    market = _Market(replay.bars, days)
    values, traded = market.run(trades, count, costs / 1e4)
    all_buy = [trade._replace(weights=_equal(trade.weights)) for trade in trades]
    return Curve(
        dates=tuple(days),
        values=tuple(values),
        always_buy=tuple(market.run(all_buy, count, costs / 1e4)[0]),
        portfolios=count,
        costs=costs,
        traded=traded,
    )


def _dates(bars: Mapping[str, Bars], name: str) -> Sequence[date]:
    return bars[name].dates if name in bars else ()


def _trades(frame: "pd.DataFrame", column: str) -> list[_Trade]:
    """Each date of entry with its weights, which sum to 1 or less."""
    found = []
    day: Any  # a Timestamp
    for day, group in frame.groupby("entry_date", sort=True):
        last = group.drop_duplicates("ticker", keep="last")
        weights = (last[column].astype(float) / len(last)).tolist()
        found.append(
            _Trade(
                date.fromisoformat(str(day)[:10]), dict(zip(last["ticker"], weights, strict=True))
            )
        )
    return found


def _equal(weights: Mapping[str, float]) -> dict[str, float]:
    return dict.fromkeys(weights, 1 / len(weights))


def _overlap(trades: Sequence[_Trade], horizon: int, days: Sequence[date]) -> int:
    """How many dates of entry fall into one holding window, on average."""
    first, last = (bisect_right(days, trades[at].entry) for at in (0, -1))
    step = (last - first) / (len(trades) - 1) if len(trades) > 1 else horizon
    return max(1, ceil(horizon / step - 1e-9))


class _Market:
    """Closes by day, the last one standing where there is none."""

    def __init__(self, bars: Mapping[str, Bars], days: Sequence[date]) -> None:
        self._days = days
        self._closes = {
            name: [
                found.closes[place - 1] if (place := bisect_right(found.dates, day)) else None
                for day in days
            ]
            for name, found in bars.items()
        }

    def run(self, trades: Sequence[_Trade], count: int, cost: float) -> tuple[list[float], float]:
        """The value on each day, and how often the money was turned over."""
        at = {trade.entry: number for number, trade in enumerate(trades)}
        cash = [1 / count] * count
        held: list[dict[str, float]] = [{} for _ in range(count)]  # shares by name
        values, traded = [], 0.0
        for place, day in enumerate(self._days):
            worth = [
                money + sum(shares * self._close(name, place) for name, shares in positions.items())
                for money, positions in zip(cash, held, strict=True)
            ]
            if day in at:
                number = at[day] % count
                wanted = {
                    name: weight * worth[number] / close
                    for name, weight in trades[at[day]].weights.items()
                    if (close := self._close(name, place)) > 0
                }
                names = {*wanted, *held[number]}
                turned = sum(
                    abs(wanted.get(name, 0.0) - held[number].get(name, 0.0))
                    * self._close(name, place)
                    for name in names
                )
                paid = turned * cost
                traded += turned
                worth[number] -= paid
                spent = sum(shares * self._close(name, place) for name, shares in wanted.items())
                cash[number], held[number] = worth[number] - spent, wanted
            values.append(sum(worth))
        return values, traded

    def _close(self, name: str, place: int) -> float:
        return self._closes[name][place] or 0.0

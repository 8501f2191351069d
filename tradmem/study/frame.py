"""The decisions of a replay or a log as one table, with what each is measured against."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from tradmem.errors import UsageError
from tradmem.journal.verdicts import dates_of
from tradmem.market.prices import Bars
from tradmem.model import Entry, Outcome
from tradmem.model_settings import last_day
from tradmem.policies import by_strength
from tradmem.study.benchmark import Momentum, Peers

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("id", "date", "month", "ticker", "agent", "rating", "exposure", "status", "decided_at"),
    *("horizon", "is_own", "sessions", "entry_date", "exit_date", "raw_return", "benchmark"),
    *("index_alpha", "peers_return", "alpha", "score", "verdict", "band", "sigma"),
    *("momentum", "model", "cutoff", "is_hindsight", "is_optimistic", "flags"),
)


def decisions_frame(
    entries: Iterable[Entry],
    bars: Mapping[str, Bars] | None = None,
    *,
    tickers: Iterable[str] = (),
    is_optimistic: bool = False,
) -> "pd.DataFrame":
    """One row per decision and outcome, or one per decision without any.

    ``alpha`` is the return less that of the other names, where there are closes of five names
    or more at entry; else less the index's. ``score`` is the rating's exposure times alpha.
    ``momentum`` is the exposure that 12-1 momentum would have had. ``is_hindsight`` says
    whether the model's stated cutoff, a date or a month, is as late as the decision or later;
    None where it states none.

    Args:
        entries: decisions; notes are left out.
        bars: closes by symbol, for the other names and for momentum.
        tickers: the names that are each other's benchmark; those of the entries by default.
        is_optimistic: whether the decisions had seen the close at which they entered.
    """
    import pandas as pd  # noqa: PLC0415 - heavy

    decisions = [entry for entry in entries if not entry.recorded.is_note]
    names = list(dict.fromkeys([*tickers, *(entry.ticker for entry in decisions)]))
    measure = _Measure(bars or {}, names, is_optimistic=is_optimistic)
    rows = [row for entry in decisions for row in measure.rows(entry)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in ("date", "entry_date", "exit_date"):
        frame[name] = pd.to_datetime(frame[name])
    return frame


def _is_hindsight(day: date, cutoff: str) -> bool | None:
    try:
        return day <= last_day(cutoff)
    except UsageError:
        return None


class _Measure:
    """What decisions are measured with."""

    def __init__(self, bars: Mapping[str, Bars], names: list[str], *, is_optimistic: bool) -> None:
        self._peers = Peers(bars, names)
        self._momentum = Momentum(bars)
        self._benchmarks = {name for name in bars if name not in names}
        self._is_optimistic = is_optimistic

    def rows(self, entry: Entry) -> Iterator[dict[str, Any]]:
        """The rows of one decision, that of its own horizon first."""
        common = self._common(entry)
        own = entry.outcome
        if own is None:
            yield common | {"horizon": entry.recorded.horizon, "is_own": True}
            return
        for outcome in entry.outcomes:
            yield common | self._outcome(entry, outcome) | {"is_own": outcome is own}

    def _common(self, entry: Entry) -> dict[str, Any]:
        recorded = entry.recorded
        cutoff = recorded.extra.get("cutoff")
        strength = self._strength(entry)
        return {
            "id": entry.id,
            "date": entry.date,
            "month": f"{entry.date:%Y-%m}",
            "ticker": entry.ticker,
            "agent": entry.agent,
            "rating": entry.rating,
            "exposure": entry.rating.exposure if entry.rating else None,
            "status": entry.status,
            "decided_at": recorded.known_at,
            "momentum": None if strength is None else by_strength(strength).exposure,
            "model": recorded.extra.get("model"),
            "cutoff": cutoff,
            "is_hindsight": _is_hindsight(entry.date, cutoff) if isinstance(cutoff, str) else None,
            "is_optimistic": self._is_optimistic or "late" in recorded.flags,
            "flags": recorded.flags,
        }

    def _strength(self, entry: Entry) -> float | None:
        benchmark = entry.outcome.benchmark if entry.outcome else None
        return self._momentum.strength(entry.ticker, benchmark, entry.recorded.known_at)

    def _outcome(self, entry: Entry, outcome: Outcome) -> dict[str, Any]:
        first, last = dates_of(outcome, entry.date)
        peers = self._peers.others(entry.ticker, first, last)
        alpha = outcome.alpha if peers is None else outcome.raw_return - peers
        exposure = entry.rating.exposure if entry.rating else None
        return {
            "horizon": outcome.horizon,
            "sessions": outcome.sessions,
            "entry_date": first,
            "exit_date": last,
            "raw_return": outcome.raw_return,
            "benchmark": outcome.benchmark,
            "index_alpha": outcome.alpha,
            "peers_return": peers,
            "alpha": alpha,
            "score": None if exposure is None or alpha is None else exposure * alpha,
            "verdict": outcome.verdict(entry.rating, entry.ticker),
            "band": outcome.band,
            "sigma": outcome.sigma,
            "flags": (*entry.recorded.flags, *outcome.flags),
        }

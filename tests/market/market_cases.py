"""Helpers of the outcome tests: worked cases, and bars on the sessions of a market."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from tradmem.clock import as_instant, parse_date, parse_instant
from tradmem.market.calendars import calendar_of, decision_instant
from tradmem.market.frames import FramePrices
from tradmem.market.outcome import Question, Unsettled
from tradmem.market.settle import settle
from tradmem.model import Outcome

LATE = datetime(2026, 11, 30, tzinfo=UTC)  # the clock of a case that does not say
Answer = Outcome | Unsettled


def at(text: str) -> datetime:
    """An instant."""
    return parse_instant(text)


def sessions(ticker: str, first: str, last: str) -> list[date]:
    """The sessions of a ticker between two dates."""
    low, high = parse_date(first), parse_date(last)
    return [day for day in calendar_of(ticker).sessions(low, high) if low <= day <= high]


def series(
    days: Iterable[date], start: float = 100.0, step: float = 1.01
) -> dict[date, float | None]:
    """Closes that grow by the same factor each day."""
    return {day: start * step**n for n, day in enumerate(days)}


def ask(
    ticker: str,
    decided_at: str,
    as_of: str,
    closes: Mapping[str, Mapping[Any, float | None]],
    *,
    horizon: int = 5,
    benchmarks: Any = None,
    accepted_at: str | None = None,
    **options: Any,
) -> Answer:
    """What became of one decision."""
    question = Question(
        ticker=ticker,
        decided_at=at(decided_at),
        horizon=horizon,
        accepted_at=at(accepted_at) if accepted_at else None,
    )
    source = FramePrices(closes, **options)
    [found] = settle([question], source, as_of=at(as_of), benchmarks=benchmarks)
    return found


def run_case(case: Mapping[str, Any]) -> Answer:
    """A worked case, the way a decision with its date or instant is recorded and resolved."""
    now = at(case["now"]) if "now" in case else LATE
    if "decided_at" in case:
        decided_at = at(case["decided_at"])
    else:
        decided_at, _ = decision_instant(case["ticker"], parse_date(case["date"]), now)
    [found] = settle(
        [Question(ticker=case["ticker"], decided_at=decided_at, horizon=case["horizon"])],
        FramePrices(case["bars"]),
        as_of=as_instant(case["as_of"], now),
        benchmarks=case["benchmark"],
    )
    return found


def settled(found: Answer) -> Outcome:
    """The outcome, or the reason why there is none as a failure."""
    assert isinstance(found, Outcome), found
    return found


def unsettled(found: Answer) -> Unsettled:
    """The reason, or the outcome as a failure."""
    assert isinstance(found, Unsettled), found
    return found


def without(closes: Mapping[date, float | None], *days: str) -> dict[date, float | None]:
    """The same closes without those of some days."""
    gone = {parse_date(day) for day in days}
    return {day: close for day, close in closes.items() if day not in gone}

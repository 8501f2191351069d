"""Settled entries made of plain numbers, for the tests of lessons."""

from datetime import UTC, date, datetime

from tradmem.lessons.reflect import Case
from tradmem.model import Act, Addition, Decision, Outcome, Rating, entry_id, fold


def settled(
    rating=Rating.BUY,
    raw=0.06,
    alpha=0.045,
    *,
    band=0.021,
    sessions=5,
    horizon=5,
    ticker="NVDA",
    benchmark="SPY",
    market="derived",
    flags=(),
    day=date(2026, 1, 5),
    text="Rating: Buy\nOrders grow faster than capacity.",
    agent="",
):
    """A settled entry; the benchmark's return follows from raw and alpha unless it is given."""
    if market == "derived":
        market = None if alpha is None else raw - alpha
    outcome = Outcome(
        horizon=horizon,
        sessions=sessions,
        raw_return=raw,
        alpha=alpha,
        band=band,
        benchmark=None if alpha is None else benchmark,
        benchmark_return=market,
        known_at=datetime(2026, 1, 12, 23, tzinfo=UTC),
        flags=flags,
    )
    decision = Decision(
        id=entry_id(day, ticker, agent),
        date=day,
        ticker=ticker,
        text=text,
        rating=rating,
        agent=agent,
    )
    return fold(decision, [Addition(kind=Act.OUTCOME, outcome=outcome)])


def case(*args, related=(), **options):
    return Case(entry=settled(*args, **options), related=tuple(related))

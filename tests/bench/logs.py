"""Large logs to measure with: resolved entries of about 1.3 KB, as a year of runs leaves them."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from tradmem import Addition, Decision, Outcome, Rating
from tradmem.journal.block import fold_now
from tradmem.journal.format import render
from tradmem.model import entry_id

TICKERS = [f"T{number:02}" for number in range(50)]
PROSE = (
    "Revenue grew faster than costs and the guidance was raised; the shares trade below their "
    "average of five years, and the momentum of the last quarter holds against the index. "
)
LESSONS = [
    f"Next time, look at {what} before the size is settled."
    for what in ("costs", "orders", "debt", "rates", "margins", "cash", "rivals", "demand", "stock")
]


def resolved(number: int, body: str = PROSE, lesson: str = "") -> bytes:
    """The block of one resolved entry; 50 tickers a day."""
    day = date(2010, 1, 4) + timedelta(days=number // len(TICKERS))
    ticker = TICKERS[number % len(TICKERS)]
    decided_at = datetime.combine(day, time(15), UTC)
    known_at = decided_at + timedelta(days=7, hours=8)  # New York's close is final then
    alpha = ((number * 37) % 200 - 100) / 1000
    recorded = Decision(
        id=entry_id(day, ticker),
        date=day,
        ticker=ticker,
        text=f"**Rating**: Buy\n\n{body}",
        rating=Rating.BUY,
        decided_at=decided_at,
        recorded_at=decided_at,
        horizon=5,
    )
    outcome = Outcome(
        horizon=5,
        sessions=5,
        raw_return=alpha + 0.01,
        alpha=alpha,
        known_at=known_at,
        entry_date=day,
        exit_date=day + timedelta(days=7),
        entry_price=100.0,
        exit_price=100.0 * (1.01 + alpha),
        benchmark="SPY",
        benchmark_return=0.01,
        sigma=0.012,
        band=0.0115,
        source="bench",
    )
    additions = (
        Addition(kind="outcome", at=known_at, outcome=outcome),
        Addition(
            kind="reflection",
            at=known_at,
            text=lesson
            or f"The Buy on {ticker} came out at {alpha:+.1%}. {LESSONS[number // 50 % 9]}",
            data={"model": "template"},
        ),
    )
    return render(fold_now(recorded, additions))


def write_log(path: Path, entries: int) -> int:
    """Write a log of this many entries; its size in bytes."""
    with path.open("wb") as file:
        for number in range(entries):
            file.write(resolved(number))
    return path.stat().st_size

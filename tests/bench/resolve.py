"""The cost of resolving: requests to the price source, and the time an entry takes beside it."""

import random
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from tradmem import FramePrices, Memory, Settings
from tradmem.market.prices import Span

TICKERS = [f"T{number:02}" for number in range(50)]
ENTRIES = 1_000


class Counted:
    """A price source that counts its requests, one per symbol, and its own time."""

    def __init__(self, source: FramePrices) -> None:
        self.source, self.requests, self.seconds = source, 0, 0.0

    def fetch(self, spans: Mapping[str, Span]):
        start = time.process_time()
        found = self.source.fetch(spans)
        self.seconds += time.process_time() - start
        self.requests += len(spans)
        return found


def walks() -> FramePrices:
    """Two years of weekdays for each ticker and SPY, the same every time."""
    chance = random.Random(7)
    days = [date(2024, 1, 1) + timedelta(days=n) for n in range(760)]
    closes = {}
    for ticker in [*TICKERS, "SPY"]:
        close, series = 100.0, {}
        for day in days:
            if day.weekday() < 5:
                close *= 1 + chance.gauss(0, 0.01)
                series[day.isoformat()] = close
        closes[ticker] = series
    return FramePrices(closes)


def main() -> None:
    """Resolve a thousand decisions that have all come due."""
    with tempfile.TemporaryDirectory() as folder:
        now = datetime(2025, 6, 2, 15, tzinfo=UTC)
        source = Counted(walks())
        memory = Memory.open(
            Path(folder) / "memory.md",
            prices=source,
            settings=Settings(max_resolved=None),
            clock=lambda: now,
        )
        for number in range(ENTRIES):
            day = date(2025, 2, 3) + timedelta(days=number // len(TICKERS))
            text = f"**Rating**: Buy\n\nNumber {number}."
            memory.record(TICKERS[number % len(TICKERS)], day, text, rating="Buy")
        start = time.process_time()
        report = memory.resolve()
        seconds = time.process_time() - start - source.seconds
    each = seconds / ENTRIES * 1000
    print(f"\nresolve {ENTRIES} entries on {len(TICKERS)} tickers, lessons by the template")
    print(f"  settled {len(report.settled)}, with a lesson {len(report.reflected)}")
    print(f"  requests to the source: {source.requests} (at most {len(TICKERS) + 1})")
    print(f"  beside the source's own time: {each:.3f} ms of processor an entry (at most 1 ms)")


if __name__ == "__main__":
    main()

"""One process of a fleet: records and resolves on a shared database until it is killed."""

import os
import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from tests.market_data import flat_prices
from tradmem import Memory, PostgresJournal, RamJournal, Settings, TemplateReflector, TradmemError
from tradmem.journal.base import Journal
from tradmem.model import Rating

TICKERS = [f"T{number}" for number in range(12)]
NOW = datetime(2026, 2, 2, 12, tzinfo=UTC)
LEASE = 2.0


def memory_on(log: str, timeout: float = 20) -> Memory:
    return memory_of(PostgresJournal(log, horizons=(5,), timeout=timeout))


def memory_of(journal: Journal) -> Memory:
    return Memory(
        journal,
        prices=flat_prices([*TICKERS, "SPY"]),
        reflector=TemplateReflector(),
        settings=Settings(),
        clock=lambda: NOW,
    )


def warm_up() -> None:
    """Load all that a decision and its outcome take, so that what is forked has it."""
    memory = memory_of(RamJournal())
    memory.record("T1", "2026-01-05", "Rating: Buy", decided_at="2026-01-05T15:00:00Z")
    memory.resolve()


warm_up()


def main(log: str, path: str) -> None:
    """Never ends by itself; each id is appended to the file once the database acknowledged it."""
    memory = memory_on(log)
    chance = random.Random(os.getpid())
    with Path(path).open("a", encoding="utf-8") as file:
        while True:
            try:
                for _ in range(chance.randrange(1, 6)):
                    day = date(2026, 1, 5) + timedelta(days=chance.randrange(5))
                    # Few agents, so that processes also race for one key.
                    done = memory.record(
                        chance.choice(TICKERS),
                        day,
                        "Rating: Buy. Decided together.",
                        rating=Rating.BUY,
                        agent=f"a{chance.randrange(40)}",
                        decided_at=f"{day}T15:00:00Z",
                    )
                    file.write(f"{done.entry.id}\n")
                    file.flush()
                for _ in memory.work(batch=chance.randrange(1, 8), lease=LEASE):
                    if chance.random() < 0.3:
                        break
            except TradmemError as error:
                file.write(f"# {error}\n")

"""The cost of searching and of recall by relevance, on texts with words as common as in prose."""

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from pathlib import Path

from tests.bench.logs import TICKERS, resolved
from tradmem import Memory, Settings
from tradmem.model import entry_id

ENTRIES = 100_000
NOW = datetime(2031, 1, 6, 15, tzinfo=UTC)
WORDS = 20_000  # distinct ones; the n-th is 1/n as common as the first
SYLLABLES = [
    first + last for first in "bdfgklmnprstvz" for last in ("a", "e", "i", "o", "u", "an", "er")
]


class Prose:
    """Texts of made-up words, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        named = random.Random(1)
        words = ("".join(named.choices(SYLLABLES, k=named.randint(2, 4))) for _ in range(3 * WORDS))
        self.words = list(dict.fromkeys(words))[:WORDS]
        self.weights = list(accumulate(1 / n for n in range(1, len(self.words) + 1)))

    def __call__(self, length: int) -> str:
        return " ".join(self.random.choices(self.words, cum_weights=self.weights, k=length))


def write_log(path: Path, entries: int) -> None:
    """A log of resolved entries of about 1.3 KB, no two of which say the same."""
    prose = Prose(2)
    with path.open("wb") as file:
        for number in range(entries):
            file.write(resolved(number, prose(28), prose(12)))


class Timed:
    """Seconds of an operation: of the clock, and of this process alone."""

    def __init__(self, operation: Callable[[], object], times: int = 1) -> None:
        clock, cpu = [], []
        for _ in range(times):
            start, started = time.perf_counter(), time.process_time()
            operation()
            clock.append(time.perf_counter() - start)
            cpu.append(time.process_time() - started)
        self.clock, self.cpu = statistics.median(clock), statistics.median(cpu)


def measure(path: Path, embeddings: str) -> list[tuple[str, Timed, str]]:
    """Rows of what was done, how long it took, and how long it may take."""
    settings = Settings(max_resolved=None, embeddings=embeddings, vectors=path.parent)
    memory = Memory.open(path, settings=settings, clock=lambda: NOW)
    opened = Timed(lambda: memory.recall(TICKERS[7]))
    prose, tickers = Prose(3), iter(TICKERS * 100)
    built = Timed(lambda: memory.search("")) if embeddings == "none" else None

    def relevant() -> None:
        query = f"{prose(200)} {TICKERS[9]} and {TICKERS[11]}"
        memory.recall(next(tickers), rank="relevant", query=query)

    first = Timed(relevant)
    for _ in TICKERS:
        relevant()
    after = Timed(relevant, 50)
    rows = [(f"relevant recall, warm, embeddings {embeddings}", after, "40 ms")]
    if built is None:
        return [
            (f"first relevant recall, embeddings {embeddings}", first, "once"),
            (rows[0][0], after, "60 ms"),
        ]
    early = date(2012, 6, 1)
    day = early + timedelta(days=1)

    def record() -> None:
        memory.record("T07", NOW.date(), prose(40), agent=next(agents))
        memory.search(prose(1))

    agents = (f"a{number}" for number in range(1000))
    return [
        ("open + recall by the plain rule", opened, ""),
        ("index built", built, "5 s"),
        *rows,
        (
            "relevant recall, warm, years ago",
            Timed(lambda: memory.recall("T07", early, rank="relevant", query=prose(200)), 20),
            "",
        ),
        ("search for two words", Timed(lambda: memory.search(prose(2)), 50), ""),
        ("search as of years ago", Timed(lambda: memory.search(prose(2), as_of=day), 20), ""),
        ("record, then search", Timed(record, 20), ""),
    ]


def main() -> None:
    print(f"\n{'entries':>8}  {'operation':44} {'clock':>10} {'cpu':>10}  at most")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "memory.md"
        write_log(path, ENTRIES)
        assert entry_id(date(2010, 1, 4), TICKERS[0]).encode() in path.read_bytes()[:400]
        for embeddings in ("none", "wordllama"):
            for what, taken, bound in measure(path, embeddings):
                figures = f"{_milliseconds(taken.clock)} {_milliseconds(taken.cpu)}"
                print(f"{ENTRIES:>8}  {what:44} {figures}  {bound}")


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:>7.1f} ms"


if __name__ == "__main__":
    main()

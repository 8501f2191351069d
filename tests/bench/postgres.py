"""The cost of a shared log: record, recall, search and drain, each beside what it is measured by.

``python -m tests.bench.postgres [ENTRIES]``; 1,000,000 entries take some four minutes.
"""

import hashlib
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import psycopg

from tests.bench.postgres_rows import fill
from tests.market_data import flat_prices
from tests.postgres.server import TestServer, with_schema
from tradmem import Memory, PostgresJournal, RamJournal, Settings, TemplateReflector
from tradmem.journal.finding import Sought
from tradmem.journal.postgres.migrating import upgrade
from tradmem.journal.postgres.rows import identity_of
from tradmem.model import Decision, Rating, entry_id

ENTRIES = 50_000
ALL = 1_000_000
TICKERS = 1_000
NOW = datetime(2031, 1, 6, 15, tzinfo=UTC)
WORKERS_NOW = datetime(2026, 2, 2, 12, tzinfo=UTC)
CALL = 0.05  # seconds that a source of prices, and a model, take for an answer
TEXT = "**Rating**: Hold\n\n" + "word " * 200


def milliseconds(operation: Callable[[], object], times: int) -> float:
    """Of one operation, the median of several."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        operation()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


def bare(url: str) -> Callable[[], object]:
    """INSERT and COMMIT of the same row, into a table with a key and nothing else."""
    connection = psycopg.connect(url, prepare_threshold=0)
    connection.execute(
        "CREATE TABLE IF NOT EXISTS bare (ticker text, id text, date date, text text, "
        "identity json, PRIMARY KEY (ticker, id))"
    )
    start = time.perf_counter_ns()
    numbers = iter(range(start, start + 1_000_000))
    identity = identity_of(Decision(id="0" * 12, date=NOW.date(), ticker="AAPL", text=TEXT))

    def once() -> None:
        name = hashlib.sha256(b"%d" % next(numbers)).hexdigest()[:12]
        row = ("AAPL", name, NOW.date(), TEXT, identity)
        connection.execute("INSERT INTO bare VALUES (%s, %s, %s, %s, %s)", row)
        connection.commit()

    return once


def record(memory: Memory) -> Callable[[], object]:
    numbers = iter(range(1_000_000))
    start = os.getpid()

    def once() -> object:
        agent = f"a{start}-{next(numbers)}"
        return memory.record("AAPL", NOW.date(), TEXT, rating=Rating.HOLD, agent=agent)

    return once


def append(journal: PostgresJournal) -> Callable[[], object]:
    numbers = iter(range(1_000_000))

    def once() -> object:
        agent = f"b{next(numbers)}"
        name = entry_id(NOW.date(), "AAPL", agent)
        made = Decision(id=name, date=NOW.date(), ticker="AAPL", text=TEXT, agent=agent)
        return journal.append(replace(made, decided_at=NOW, recorded_at=NOW))

    return once


def concurrently(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Of two operations, the medians of several rounds, so that a busy disk hits both."""
    rounds = [(milliseconds(one, 60), milliseconds(other, 60)) for _ in range(5)]
    return statistics.median(r[0] for r in rounds), statistics.median(r[1] for r in rounds)


class Slow:
    """Answers that take as long as a server's."""

    def __init__(self, inner: object) -> None:
        self._inner = inner

    related = 0

    def fetch(self, spans):
        time.sleep(CALL)
        return self._inner.fetch(spans)

    def reflect(self, cases):
        for case in cases:
            time.sleep(CALL)
            yield from self._inner.reflect([case])


def worker(log: str) -> None:
    """One worker, in a process of its own, until the queue is empty."""
    warm = Memory(RamJournal(), prices=flat_prices(["T0", "SPY"]), clock=lambda: WORKERS_NOW)
    warm.record("T0", "2026-01-05", "Rating: Buy", decided_at="2026-01-05T15:00:00Z")
    warm.resolve()  # loads what it needs
    memory = worker_memory(log)
    memory.journal.tickers()
    print("ready", flush=True)
    sys.stdin.readline()
    done = sum(len(report.settled) for report in memory.work(batch=5))
    print(done, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, flush=True)


def worker_memory(log: str) -> Memory:
    tickers = [f"T{number:04}" for number in range(40)]
    return Memory(
        PostgresJournal(log, horizons=(5,)),
        prices=Slow(flat_prices([*tickers, "SPY"])),
        reflector=Slow(TemplateReflector()),
        settings=Settings(),
        clock=lambda: WORKERS_NOW,
    )


def drain(log: str, workers: int, entries: int) -> tuple[float, int]:
    """Seconds until several workers have resolved some entries, and the largest one's MB."""
    memory = worker_memory(log)
    for number in range(entries):
        day = date(2026, 1, 5) + timedelta(days=number % 5)
        decided = f"{day}T15:00:00Z"
        ticker, agent = f"T{number % 40:04}", f"{workers}-{number}"
        memory.record(ticker, day, "Rating: Buy", rating="Buy", agent=agent, decided_at=decided)
    memory.journal.close()
    command = [sys.executable, "-m", "tests.bench.postgres", "worker", log]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(workers)]
    for process in running:
        process.stdout.readline()
    start = time.perf_counter()
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate()[0].split() for process in running]
    seconds = time.perf_counter() - start
    assert sum(int(done) for done, _ in told) == entries
    return seconds, max(int(size) for _, size in told)


def measure(entries: int) -> None:
    server = TestServer(hasty=False, own=True)
    try:
        schema = "bench"
        with psycopg.connect(server.url, autocommit=True) as connection:
            upgrade(connection, schema)
            # For the filling alone; what is measured runs as a server does by default.
            server.psql("ALTER SYSTEM SET max_wal_size = '8GB'", "ALTER SYSTEM SET fsync = off")
            server.psql("SELECT pg_reload_conf()")
            start = time.perf_counter()
            fill(connection, schema, entries, tickers=TICKERS, pending=1_000, archived=0.5)
            seconds = time.perf_counter() - start
            server.psql("ALTER SYSTEM RESET fsync", "SELECT pg_reload_conf()", "CHECKPOINT")
        time.sleep(1.0)
        log = with_schema(server.url, schema)
        print(f"{entries:,} entries, {TICKERS:,} tickers, filled in {seconds:.0f} s")
        _show(server.url, log)
        _drain(server.new_log(partitions=16))
    finally:
        server.stop()


def _show(url: str, log: str) -> None:
    memory = Memory(PostgresJournal(log, horizons=(5,)), settings=Settings(), clock=lambda: NOW)
    memory.recall("T0007")
    stored, beside = concurrently(append(memory.journal), bare(url))
    ours, raw = concurrently(record(memory), bare(url))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    early = datetime(2011, 6, 1, tzinfo=UTC)
    journal = memory.journal
    rows = [
        ("append to the journal", stored, beside, "2.5 x INSERT and COMMIT"),
        ("record", ours, raw, "2.5 x INSERT and COMMIT"),
        ("recall", milliseconds(lambda: memory.recall("T0007"), 200), 5.0, "5 ms"),
        (
            "recall as of 2011",
            milliseconds(lambda: memory.recall("T0007", early), 200),
            5.0,
            "5 ms",
        ),
        ("counts of a ticker", milliseconds(lambda: journal.counts("T0007", NOW), 100), 5.0, ""),
        ("claim and release 20", milliseconds(lambda: _claim(journal), 30), 5.0, ""),
        ("search, a rare word", milliseconds(lambda: _search(journal, "n4711"), 20), 5.0, ""),
        ("search, a common one", milliseconds(lambda: _search(journal, "guidance"), 5), 5.0, ""),
    ]
    for name, taken, measured_by, bound in rows:
        print(
            f"{name:24} {taken:9.3f} ms  {measured_by:9.3f} ms {taken / measured_by:6.2f}  {bound}"
        )
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    found = journal.measure(NOW)
    print(f"memory grew by {grown / 1024:.1f} MB; the log takes {found['bytes'] / 1e6:,.0f} MB")
    journal.close()


def _claim(journal: PostgresJournal) -> None:
    with journal.claim(NOW, limit=20) as claim:
        assert len(claim.entries) == 20


def _search(journal: PostgresJournal, query: str) -> None:
    assert next(journal.holding(Sought(query=query)), None)


def _drain(log: str) -> None:
    print("drain, answers of 50 ms")
    base = None
    for workers in (1, 4):
        seconds, size = drain(log, workers, 200)
        base = base or seconds
        bound = "at least 3 x" if workers == 4 else ""
        print(f"  {workers} workers {seconds:7.2f} s  {base / seconds:5.2f} x  {size} MB  {bound}")


def main(entries: int = ENTRIES) -> None:
    measure(entries)


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else ALL)

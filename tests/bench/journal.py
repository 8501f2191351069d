"""The cost of recording, recalling and adding, and how it grows with the log."""

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.bench.logs import TICKERS, resolved, write_log
from tradmem import Addition, Memory, Outcome, Settings
from tradmem.lessons.hits import line_of

SIZES = (1_000, 10_000, 100_000)
NOW = datetime(2031, 1, 6, 15, tzinfo=UTC)


def median(operation: Callable[[], object], times: int) -> float:
    """Seconds of one operation, the median of several."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        operation()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def open_memory(path: Path) -> Memory:
    settings = Settings(max_resolved=None)
    return Memory.open(path, settings=settings, clock=lambda: NOW)


def peak_memory() -> int:
    """Bytes; of this process alone, unlike what ``getrusage`` says after an exec."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def cold(path: str, what: str) -> None:
    """In a process of its own, after imports: read the bytes, or open and recall."""
    import tradmem.journal.glance  # noqa: F401 - which recall imports when it needs it

    gc.collect()  # what the imports left behind
    before = peak_memory()
    start = time.perf_counter()
    if what == "read":
        Path(path).read_bytes()
    else:
        open_memory(Path(path)).recall(TICKERS[7])
    seconds = time.perf_counter() - start
    print(json.dumps([seconds, peak_memory() - before]))


def in_new_process(path: Path, what: str, times: int = 5) -> tuple[float, float]:
    results = []
    for _ in range(times):
        command = [sys.executable, "-m", "tests.bench.journal", str(path), what]
        done = subprocess.run(command, capture_output=True, check=True)
        results.append(json.loads(done.stdout))
    return statistics.median(r[0] for r in results), max(r[1] for r in results)


def raw_append(folder: Path) -> float:
    block = resolved(0)
    descriptor = os.open(folder / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        return median(lambda: (os.write(descriptor, block), os.fsync(descriptor)), 300)
    finally:
        os.close(descriptor)


def raw_replace(path: Path) -> float:
    data, copy = path.read_bytes(), path.with_name("copy")

    def once() -> None:
        with copy.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        copy.replace(path.with_name("target"))

    return median(once, 5)


def lessons(start: int) -> list[tuple[str, Addition]]:
    """100 outcomes and 100 lessons for entries that stand in the log already."""
    additions = []
    for number in range(start, start + 100):
        name = resolved(number).split(b'"id":"', 1)[1][:12].decode()
        outcome = Outcome(horizon=20, sessions=20, raw_return=0.02, alpha=0.01, known_at=NOW)
        additions += [
            (name, Addition(kind="outcome", at=NOW, outcome=outcome)),
            (name, Addition(kind="reflection", at=NOW, text="It held. Do it again.")),
        ]
    return additions


def measure(entries: int) -> list[tuple[str, float, float, str]]:
    """Rows of (operation, seconds or bytes, the raw cost, what the ratio may be)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "memory.md"
        size = write_log(path, entries)
        reading, _ = in_new_process(path, "read")
        recalling, peak = in_new_process(path, "recall")
        memory = open_memory(path)
        numbers = iter(range(10_000))
        day = NOW.date()

        def record() -> None:
            number = next(numbers)
            text = f"**Rating**: Hold\n\nNumber {number}. " + "word " * 200
            memory.record(f"N{number % 40:02}", day - timedelta(days=number // 40), text)

        memory.recall(TICKERS[7])
        record()
        raw = raw_append(folder)
        recording = median(record, 300)
        warm = median(lambda: memory.recall(TICKERS[7]), 200)
        tracked = median(lambda: line_of(memory.journal, TICKERS[7], NOW), 200)
        starts = iter(range(0, 700, 100))
        adding = median(lambda: memory.journal.add(lessons(next(starts))), 5)
        writing = raw_replace(path)
    return [
        ("record, warm", recording, raw, "6 x"),
        ("open + recall, cold", recalling, reading, "5 x"),
        ("recall, warm", warm, 0.001, "1 ms"),
        ("track record of a ticker, warm", tracked, 0.0001, "1 x 0.1 ms"),
        ("add 100 outcomes and lessons", adding, writing, "2.5 x"),
        ("peak memory of a cold recall", peak, size, "3 x"),
    ]


def main() -> None:
    print(f"{'entries':>8}  {'operation':30} {'ours':>10} {'raw':>10} {'ratio':>6}  at most")
    for entries in SIZES:
        for name, ours, raw, bound in measure(entries):
            show = (lambda n: f"{n / 2**20:.1f} MB") if "memory" in name else _milliseconds
            figures = f"{show(ours):>10} {show(raw):>10} {ours / raw:>6.2f}"
            print(f"{entries:>8}  {name:30} {figures}  {bound}")


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.3f} ms"


if __name__ == "__main__":
    cold(*sys.argv[1:]) if len(sys.argv) > 1 else main()

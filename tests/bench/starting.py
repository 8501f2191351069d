"""How long a command takes from start to end, in a process of its own.

The measure is ``python -c "import click, rich.table"``, what a command line with a table costs
before it does anything.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tests.bench.logs import resolved

ROOT = Path(__file__).parents[2]
RUNS = 15
ENTRIES = 1_000
MOST = 2.0  # times the measure that `tradmem log` may take


def best(command: list[str], env: Mapping[str, str]) -> float:
    """Seconds of the quickest of some runs: what else the machine does only slows them."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, env=dict(env), check=False, capture_output=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print how long each takes, and how often the measure that is."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "memory.md"
        log.write_bytes(b"".join(map(resolved, range(ENTRIES))))
        env = {**os.environ, "PYTHONPATH": str(ROOT), "TRADMEM_LOG": str(log), "NO_COLOR": "1"}
        python = [sys.executable]
        measure = best([*python, "-c", "import click, rich.table"], env)
        print(f"\nStarting, on a log of {ENTRIES:,} entries")
        print(f"{'import click, rich.table':<34}{measure * 1e3:8.0f} ms")
        for words in (
            ["log"],
            ["log", "--limit", "0"],
            ["log", "--verdict", "wrong", "--limit", "0"],
            ["show", "last"],
            ["status"],
            ["--help"],
        ):
            seconds = best([*python, "-m", "tradmem", *words], env)
            times = seconds / measure
            mark = "" if words != ["log"] else f"  (at most {MOST:g})"
            name = " ".join(["tradmem", *words])
            print(f"{name:<34}{seconds * 1e3:8.0f} ms{times:6.1f} x{mark}")


if __name__ == "__main__":
    main()

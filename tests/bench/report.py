"""How long the report of a log takes, from the file to the page."""

import os
import tempfile
import time
from pathlib import Path

from tests.bench.logs import write_log
from tradmem import Memory
from tradmem.study.report import write_report
from tradmem.study.report.library import library

ENTRIES = 5_000
MOST = 5.0  # seconds


def main() -> None:
    """Print how long it takes, and how large the page is."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "memory.md"
        write_log(log, ENTRIES)
        print(f"\nreport of {ENTRIES:,} entries")
        os.environ["TRADMEM_CACHE"] = str(Path(folder) / "cache")
        for which in ("the first report of an installation", "the next one"):
            library.cache_clear()
            started = time.perf_counter()
            page = write_report(Memory.open(log), Path(folder) / "report.html")
            seconds = time.perf_counter() - started
            print(f"  from the log to the page, {which}: {seconds:.2f} s (at most {MOST:.0f} s)")
        print(f"  the page: {page.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()

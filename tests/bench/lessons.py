"""The cost of the plain rule, of the track record and of what lessons are worth."""

import tempfile
from dataclasses import replace
from pathlib import Path

from tests.bench.logs import TICKERS
from tests.bench.recall import ENTRIES, NOW, Timed, write_log
from tradmem import Memory, Settings
from tradmem.lessons.hits import line_of
from tradmem.lessons.track import track
from tradmem.lessons.utility import lesson_utility

DRAWN = 20_000  # decisions with a hold-out, of eight memories each
TAGS = [f"tag{number}" for number in range(20)]


def with_lots(entries):
    """The newest decisions as if each had seen seven earlier ones, and an eighth been withheld."""
    tagged = [
        replace(entry, tags=(TAGS[number % len(TAGS)],)) for number, entry in enumerate(entries)
    ]
    first = len(tagged) - DRAWN
    for number in range(first, len(tagged)):
        names = [tagged[number - 1000 - 7 * n].id for n in range(8)]
        recorded = replace(
            tagged[number].recorded,
            recalled=tuple(names[:7]),
            withheld=tuple(names[7:]),
            holdout=0.125,
        )
        tagged[number] = replace(tagged[number], recorded=recorded)
    return tagged


def main() -> None:
    print(f"\n{'entries':>8}  {'operation':44} {'clock':>10} {'cpu':>10}  at most")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "memory.md"
        write_log(path, ENTRIES)
        settings = Settings(max_resolved=None, embeddings="none")
        memory = Memory.open(path, settings=settings, clock=lambda: NOW)
        memory.recall(TICKERS[0])
        tickers = iter(TICKERS * 10)
        journal = memory.journal
        rows = [
            ("first plain recall on a ticker", Timed(lambda: memory.recall(next(tickers)), 50), ""),
            (
                "plain recall, warm",
                Timed(lambda: memory.recall(next(tickers)), 200),
                "1 ms",
            ),
            (
                "its line of the track record",
                Timed(lambda: line_of(journal, next(tickers), NOW), 200),
                "100 ms",
            ),
        ]
        entries = memory.entries()
        drawn = with_lots(entries)
        rows += [
            ("whole track record, entries at hand", Timed(lambda: track(entries)), ""),
            (
                f"lesson utility, {DRAWN:,} decisions with lots",
                Timed(lambda: lesson_utility(drawn)),
                "",
            ),
        ]
        for what, taken, bound in rows:
            figures = f"{taken.clock * 1000:>7.1f} ms {taken.cpu * 1000:>7.1f} ms"
            print(f"{ENTRIES:>8}  {what:44} {figures}  {bound}")


if __name__ == "__main__":
    main()

"""Writes ``logs/example.md``: a small run that shows every state of an entry.

    python tests/example_run.py

The closes are the demo's. The companies in them were decided on by the momentum policy;
the one that the closes do not have, by hand.
"""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from tradmem.agent import build_graph, momentum_policy
from tradmem.demo import BENCHMARK, demo_prices
from tradmem.journal.markdown import MarkdownJournal
from tradmem.market.calendars import calendar_of
from tradmem.memory import Memory
from tradmem.settings import Settings

EXAMPLE = Path(__file__).parents[1] / "logs" / "example.md"
TITLE = "# An example log\n\nWritten by `python tests/example_run.py`; README.md explains it.\n\n"
DECISIONS = [
    (date(2022, 1, 3), "FB"),
    (date(2022, 1, 3), "XOM"),
    (date(2022, 1, 10), "JPM"),
    (date(2022, 1, 10), "XOM"),
    (date(2022, 1, 24), "AAPL"),
    (date(2022, 1, 24), "note"),
    (date(2022, 1, 31), "JPM"),
    (date(2022, 2, 7), "XOM"),
    (date(2022, 2, 14), "AAPL"),
    (date(2022, 2, 14), "JPM"),
]
BY_HAND = """\
**Rating**: Underweight

The new spending on headsets will weigh on margins before it brings in anything.
One step below Hold, no further: advertising still grows."""
NOTE = "The Federal Reserve meets this week. A call for five sessions is mostly a call on that."


def write_example(path: Path) -> None:
    """Write the example log."""
    now = datetime(2022, 1, 1, tzinfo=UTC)
    path.write_text(TITLE, encoding="utf-8")
    memory = Memory(
        MarkdownJournal(path),
        prices=demo_prices(),
        settings=Settings(benchmark=BENCHMARK),
        clock=lambda: now,
    )
    graph = build_graph(memory, momentum_policy)
    calendar = calendar_of(BENCHMARK)
    for day, what in DECISIONS:
        now = calendar.close(day) - timedelta(hours=1)
        if what == "note":
            memory.note(NOTE)
        elif what == "FB":
            memory.record(what, day, BY_HAND, rating="Underweight", agent="desk")
        else:
            graph.invoke({"ticker": what})
    now = datetime(2022, 2, 15, 12, tzinfo=UTC)
    memory.resolve(reflect=False)  # as when no model answers: outcomes are kept, lessons follow


if __name__ == "__main__":
    with TemporaryDirectory() as folder:  # lock files stay there
        write_example(Path(folder) / EXAMPLE.name)
        EXAMPLE.write_bytes((Path(folder) / EXAMPLE.name).read_bytes())

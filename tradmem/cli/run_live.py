"""A run on a terminal: one line for the whole, one for each ticker that is in hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from tradmem.cli.output import safe
from tradmem.cli.run_page import item_line
from tradmem.running.plan import Fate
from tradmem.running.report import Event, EventKind, Watch

if TYPE_CHECKING:
    from rich.progress import TaskID


@contextmanager
def live() -> Iterator[Watch]:
    """What shows each event on the terminal behind stderr, and leaves nothing at the end."""
    columns = (
        SpinnerColumn("line"),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Live(bars)


class _Live:
    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._whole = bars.add_task("starting", total=None)
        self._open: dict[str, TaskID] = {}
        self._count = self._done = 0

    def __call__(self, event: Event) -> None:
        match event.kind:
            case EventKind.WAITING:
                self._say_whole("waiting for another run")
            case EventKind.RESOLVING:
                self._say_whole(f"resolving: {event.node}, {event.done} of {event.total}")
            case EventKind.STARTED:
                self._count = sum(each.fate is Fate.OPEN for each in event.tickers)
                self._say_whole(f"deciding: 0 of {self._count}")
            case EventKind.NODE:
                self._say(event.ticker, event.node)
            case EventKind.RETRY:
                self._say(event.ticker, f"again in {event.pause:g} s")
            case EventKind.TICKER if event.item:
                self._drop(event.item.ticker)
                if event.item.fate not in (Fate.STANDING, Fate.CLOSED):
                    self._done += 1
                    self._bars.console.print(Text(safe(item_line(event.item))))
                self._say_whole(f"deciding: {self._done} of {self._count}")
            case EventKind.ENDED:
                self._bars.stop()

    def _say_whole(self, text: str) -> None:
        self._bars.update(self._whole, description=safe(text))

    def _say(self, ticker: str, text: str) -> None:
        shown = safe(f"{ticker}: {text}")
        if ticker not in self._open:
            self._open[ticker] = self._bars.add_task(shown, total=None)
        self._bars.update(self._open[ticker], description=shown)

    def _drop(self, ticker: str) -> None:
        if ticker in self._open:
            self._bars.remove_task(self._open.pop(ticker))

"""A bar on a terminal for what walks through days."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date

from tradmem.cli.output import say

Show = Callable[[int, int, date], None]


@contextmanager
def days_bar(*, wanted: bool, elsewhere: str = "") -> Iterator[Show | None]:
    """What to call with how many are done, of how many, and the day; None where nothing shows it.

    Args:
        wanted: whether anybody wants to see it.
        elsewhere: a line that is said instead where there is no terminal.
    """
    if not sys.stderr.isatty() or not wanted:
        if wanted and elsewhere:
            say(elsewhere)
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn("  {task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("loading")

        def show(done: int, total: int, day: date) -> None:
            bars.update(task, completed=done, total=total, description=f"{day}")

        yield show

"""``mirror``: a readable copy of a log, kept up to date."""

import threading
from pathlib import Path

import click

from tradmem.cli import options
from tradmem.cli.opening import is_same, now, open_journal
from tradmem.cli.output import say, write
from tradmem.cli.words import counted, minute
from tradmem.cli.worker import stopping
from tradmem.errors import LogError, UsageError
from tradmem.exchange.mirror import Mirror


@click.command()
@click.argument("path", metavar="FILE")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="Go on, looking so often, until a signal; else look once.",
)
@options.log
def mirror(*, path: str, every: float | None, log: str) -> None:
    """Keep a markdown copy of a log up to date, for people and git.

    What is in the copy stays in it; what was edited there is not brought back.
    """
    if is_same(log, Path(path)):
        raise UsageError(f"{path} is the log itself; name another file")
    found = Mirror(open_journal(log), path)
    if every is None:
        write(f"{counted(found.follow(), 'entry', 'entries')} brought up to date in {path}")
        return
    with stopping("stopping") as stop:
        _follow(found, every, stop)


def _follow(found: Mirror, every: float, stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            if many := found.follow():
                write(f"{minute(now())}: {counted(many, 'entry', 'entries')} brought up to date")
        except LogError as error:  # the server, or another writer, is there again soon
            say(f"{error}; looking again in {every:g} s")
        stop.wait(every)

"""``watch``: the status, kept fresh."""

import sys
import time

import click

from tradmem.cli import options
from tradmem.cli.opening import now, open_memory
from tradmem.cli.output import colours, say, write
from tradmem.cli.standing import standing_of
from tradmem.cli.status import page, wanted_of
from tradmem.cli.words import dim, minute
from tradmem.errors import TradmemError

_CLEAR = "\x1b[H\x1b[2J\x1b[3J"


@click.command()
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Between two looks.",
)
@click.option("--times", type=click.IntRange(min=1), metavar="N", help="End after so many looks.")
@options.log
def watch(*, interval: float, times: int | None, log: str) -> None:
    """Show the status, and keep it fresh.

    On a terminal each look takes the place of the one before, elsewhere it follows it.
    Ctrl-C ends it. Asks nothing of the network.
    """
    memory = open_memory(log)
    looks = 0
    try:
        while True:
            lines = [f"{minute(now())}, every {interval:g} s; Ctrl-C ends it", ""]
            try:
                standing = standing_of(memory, log)
                lines += page(log, standing, wanted_of(standing, log))
            except TradmemError as error:  # a log in the middle of being moved is there again soon
                say(str(error))
            if sys.stdout.isatty() and colours(sys.stdout):
                sys.stdout.write(_CLEAR)
            write(dim(lines[0]))
            write("\n".join(lines[1:]))
            sys.stdout.flush()
            looks += 1
            if looks == times:
                return
            time.sleep(interval)
            if not sys.stdout.isatty():
                write()
    except KeyboardInterrupt:
        write()

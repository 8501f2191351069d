"""What a run shows while it works: bars on a terminal, lines elsewhere, events for programs."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from tradmem.cli.group import DEBUG
from tradmem.cli.output import say, width, write
from tradmem.cli.run_page import digest, item_line
from tradmem.cli.words import counted
from tradmem.errors import TradmemError
from tradmem.running.plan import Fate
from tradmem.running.record import RunState
from tradmem.running.report import Event, EventKind, RunReport, TickerRun, Watch, line_of
from tradmem.running.telling import event_json


@contextmanager
def watching(*, as_json: bool, quiet: bool) -> Iterator[Watch]:
    """What is called with each event of a run.

    Args:
        as_json: events on stdout, one a line.
        quiet: nothing before the end.
    """
    if as_json:
        out = sys.stdout
        yield unbroken(lambda event: _print_event(event, out))
    elif quiet:
        yield lambda _: None
    elif sys.stderr.isatty() and sys.stdout.isatty():
        from tradmem.cli.run_live import live

        with live() as show:
            yield unbroken(_Lines(show=show))
    else:
        yield unbroken(_Lines())


def tell(report: RunReport, *, as_json: bool, quiet: bool, one: bool) -> None:
    """What is said when all is done: the digest on stdout, and faults on stderr."""
    if as_json:
        return
    if quiet:
        _only_faults(report)
        return
    _tell_faults(report)
    for line in digest(report, width(), in_full=one):
        write(line)


def unbroken(watch: Watch) -> Watch:
    """The same, that goes silent when nobody reads any more: no run stops for that."""
    silent = False

    def told(event: Event) -> None:
        nonlocal silent
        if silent:
            return
        try:
            watch(event)
        except BrokenPipeError:
            silent = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for the flush at the end

    return told


class _Lines:
    """A line for each thing that happens, on stderr.

    Args:
        show: what shows the run on a terminal, in place of the lines that it needs no more.
    """

    def __init__(self, show: Watch | None = None) -> None:
        self._show = show
        self._heard: set[str] = set()

    def __call__(self, event: Event) -> None:
        if self._show:
            self._show(event)
        match event.kind:
            case EventKind.WAITING:
                say(f"another run is under way; waiting {event.pause:g} s for it at most")
            case EventKind.STOPPING:
                say(
                    f"stopping: what is in hand may take {event.pause:g} s more; "
                    "a second signal leaves it"
                )
            case EventKind.RETRY:
                assert event.error
                again = f"again in {event.pause:g} s"
                say(f"{event.ticker}: {' '.join(str(event.error).split())}; {again}")
            case EventKind.RESOLVED if event.resolved and event.resolved.settled:
                done = event.resolved
                say(
                    f"resolved {len(done.settled)}, "
                    f"{counted(len(done.reflected), 'lesson')} written"
                )
            case EventKind.TICKER:
                assert event.item
                self._item(event.item)

    def _item(self, item: TickerRun) -> None:
        """One line for a ticker, and what a person should hear of, once."""
        if item.fate in (Fate.DECIDED, Fate.UNSTORED) and not self._show:
            say(item_line(item))
        _tell_notices(item, self._heard)


def _tell_notices(item: TickerRun, heard: set[str]) -> None:
    notices = list(item.notices)
    if item.fate is Fate.UNSTORED:
        notices.append(
            f"{item.ticker}: the graph stored no decision in this log; does it record, "
            "and not in a log of its own?"
        )
    for notice in notices:
        if notice not in heard:
            heard.add(notice)
            say(notice)


def _tell_faults(report: RunReport) -> None:
    """Say what failed, one line each, for who reads only that."""
    for item in report.of(Fate.FAILED):
        assert item.error
        say(f"{item.ticker}: {_described(item.error)}")
    for error in (report.resolve_error, report.record_error):
        if error:
            say(_described(error))


def _described(error: BaseException) -> str:
    hint = "" if isinstance(error, TradmemError) else f"; {DEBUG} shows where"
    return line_of(error) + hint


def _only_faults(report: RunReport) -> None:
    """What a person has to hear of, and nothing else."""
    heard: set[str] = set()
    for item in report.tickers:
        _tell_notices(item, heard)
    for failure in report.failures():
        say(f"{failure.what}: {failure.why}" + (f" - {failure.todo}" if failure.todo else ""))
    if report.state is RunState.INTERRUPTED:
        say(f"interrupted: {', '.join(report.undone()) or 'nothing'} left to decide")


def _print_event(event: Event, out: TextIO) -> None:
    """One JSON object on a line of its own, at once; ASCII, so that any pipe takes it."""
    out.write(json.dumps(event_json(event), allow_nan=False) + "\n")
    out.flush()

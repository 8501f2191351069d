"""``resolve --worker`` and ``--once``: take a share of the work queue of a database."""

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tradmem.cli.group import DONE, FAILED
from tradmem.cli.output import say, write, write_json
from tradmem.cli.words import minute
from tradmem.errors import LogError, UsageError
from tradmem.memory import Memory
from tradmem.resolving import ResolveReport
from tradmem.rows import as_json as json_of

_SIGNALS = ("SIGINT", "SIGTERM")
_FINISHING = "stopping after what was begun; once more breaks it off"


def work_off(
    memory: Memory,
    tickers: Iterable[str] | None,
    *,
    reflect: bool,
    every: float | None,
    as_json: bool,
) -> int:
    """Take a share of the work queue; until nothing is due, or for ever, looking so often."""
    if every is None:
        return drain(memory, tickers, reflect=reflect, as_json=as_json)
    return serve(memory, tickers, reflect=reflect, every=every)


def drain(memory: Memory, tickers: Iterable[str] | None, *, reflect: bool, as_json: bool) -> int:
    """Resolve until nothing is due, and say what was done.

    Returns:
        The exit status: 1 if something failed.
    """
    failed = False
    found: list[ResolveReport] = []
    with stopping(_FINISHING) as stop:
        for report in memory.work(tickers=tickers, reflect=reflect, stop=stop.is_set):
            failed = failed or bool(report.failed)
            if as_json:
                found.append(report)
            else:
                _tell(memory, report)
    if as_json:
        write_json(
            json_of(item.entry) | {"group": group, "why": item.reason}
            for report in found
            for group, item in report.items()
        )
    return FAILED if failed else DONE


def serve(memory: Memory, tickers: Iterable[str] | None, *, reflect: bool, every: float) -> int:
    """Resolve whatever comes due, until a signal asks to stop; what was begun is finished.

    Args:
        memory: on a database.
        tickers: only these; all by default.
        reflect: whether to have lessons written.
        every: seconds between looks at an empty queue, or at a server that does not answer.
    """
    wanted = None if tickers is None else list(tickers)
    with stopping(_FINISHING) as stop:
        while not stop.is_set():
            try:
                for report in memory.work(tickers=wanted, reflect=reflect, stop=stop.is_set):
                    _tell(memory, report)
            except UsageError:
                raise
            except LogError as error:
                say(f"{error}; asking again in {every:g} s")
            stop.wait(every)
    say("stopped; nothing is left half done")
    return DONE


def _tell(memory: Memory, report: ResolveReport) -> None:
    from tradmem.cli.resolve import summary

    write(f"{minute(memory.clock())}: {summary(report)}")
    for told in report.failed:
        entry = told.entry
        write(f"  failed: {entry.date} {entry.ticker} ({entry.id}): {told.reason}")


@contextmanager
def stopping(said: str) -> Iterator[threading.Event]:
    """An event that the first signal sets, which is said; the second ends the process as ever."""
    stop = threading.Event()
    before: dict[int, Any] = {}

    def ask(number: int, _: FrameType | None) -> None:
        stop.set()
        signal.signal(number, before[number])
        say(said)

    if threading.current_thread() is threading.main_thread():
        for name in _SIGNALS:
            number = getattr(signal, name)
            before[number] = signal.getsignal(number)
            signal.signal(number, ask)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

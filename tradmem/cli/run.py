"""``run``: let the agent, or somebody's graph, decide on a watchlist."""

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tradmem.cli import options
from tradmem.cli.group import BUSY, DEBUG, DONE, FAILED
from tradmem.cli.opening import configuration, now, open_memory
from tradmem.cli.output import say
from tradmem.cli.run_watch import tell, watching
from tradmem.errors import LogBusy, LogError, UsageError
from tradmem.opening import is_database
from tradmem.running.record import RunLog, RunState
from tradmem.running.watchlist import read_watchlist, tickers_of
from tradmem.settings_file import DEFAULT_LOG

if TYPE_CHECKING:
    from tradmem.memory import Memory
    from tradmem.running.driving import Graph
    from tradmem.running.report import RunReport

_DEMO = "demo"


@click.command()
@click.argument("tickers", nargs=-1, metavar="[TICKER]...")
@click.option(
    "--watchlist",
    metavar="FILE",
    help="A file of tickers, one a line; - reads them from standard input.",
)
@click.option("--date", metavar="DATE", help="Of the decisions; today at each exchange by default.")
@click.option(
    "--graph",
    metavar="NAME",
    help="module:attribute, path.py:attribute, or a name in langgraph.json.",
)
@click.option("--skip-closed", is_flag=True, help="Leave out what does not trade that day.")
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    metavar="N",
    help="Tickers that are decided at once.",
)
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    metavar="N",
    help="Further tries of a ticker after a passing fault.",
)
@click.option(
    "--wait",
    type=options.AMOUNT,
    default=3600,
    show_default=True,
    metavar="SECONDS",
    help="For another run over the same log.",
)
@click.option("--no-wait", is_flag=True, help="Leave at once if another run is under way.")
@click.option(
    "--max-cost",
    type=options.AMOUNT,
    metavar="USD",
    help="Ask a model no further once that much is spent.",
)
@options.log
@options.prices
@options.benchmark
@options.reflector
@click.option("--quiet", "-q", is_flag=True, help="Say only what went wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print events, one JSON object a line.")
def run(
    *,
    tickers: tuple[str, ...],
    watchlist: str | None,
    date: str | None,
    graph: str | None,
    skip_closed: bool,
    concurrency: int,
    retries: int,
    wait: float,
    no_wait: bool,
    max_cost: float | None,
    log: str,
    prices: str,
    benchmark: str | None,
    reflector: str,
    quiet: bool,
    as_json: bool,
) -> int:
    """Let the agent decide on tickers.

    First settles what has come due, once; then each ticker is recalled for, looked at,
    decided and recorded, several at a time. Where the current folder has a langgraph.json,
    the graph that it declares decides; it is handed a ticker and a date.

    Made to be started once a day and left alone: what is decided today is not decided
    again, a ticker that fails touches no other, and days that were missed are resolved,
    never decided afterwards. What was done is kept in a file beside the log.

    Exit status: 0 done, or nothing to do; 1 something failed, and what; 2 wrong use; 3
    another run is under way; 130 or 143 if it was told to stop.
    """
    names = _watchlist(tickers, watchlist)
    memory = open_memory(
        log, prices=prices, benchmark=benchmark, reflector=reflector, max_cost=max_cost
    )
    if prices.lower() == _DEMO and not date:
        _check_demo()
    from tradmem.running.report import RunOptions
    from tradmem.running.stopping import Stop

    os.environ["TRADMEM_LOG"] = log
    asked = RunOptions(
        skip_closed=skip_closed,
        concurrency=concurrency,
        retries=retries,
        wait=0.0 if no_wait else wait,
        max_cost=max_cost,
    )
    runs, stop = RunLog(DEFAULT_LOG if is_database(log) else log), Stop()
    with watching(as_json=as_json, quiet=quiet) as watch:
        more = {"date": date, "options": asked, "watch": watch, "stop": stop, "runs": runs}
        report = _driven(memory, names, graph, quiet=quiet or as_json, **more)
    if report is None:
        return _as_shells_count(stop.why)
    tell(report, as_json=as_json, quiet=quiet, one=len(names) == 1)
    _trace(report)
    status = _status(report)
    if report.left:
        _leave(memory, status)
    return status


def _driven(
    memory: "Memory", names: Sequence[str], graph: str | None, *, quiet: bool, **more: Any
) -> "RunReport | None":
    """The run itself; None if it was told to stop while another one was waited for."""
    from tradmem.running.once import run_once
    from tradmem.running.stopping import on_signals

    # What a graph prints is neither digest nor event.
    with redirect_stdout(sys.stderr), memory.handed_out(), on_signals(more["stop"]) as stop:
        driven = _graph(graph, quiet=quiet)
        try:
            return run_once(memory, names, graph=driven, **more)
        except LogBusy:
            if stop.is_asked:
                return None
            raise


def _watchlist(tickers: tuple[str, ...], file: str | None) -> tuple[str, ...]:
    """The tickers that are named and those in a file; without either, the settings'.

    Raises:
        UsageError: nobody names any.
    """
    names = tickers_of(tickers, read_watchlist(file) if file else ())
    names = names or tickers_of(configuration().watchlist)
    if not names:
        raise UsageError(
            "name tickers to decide on, a file of them with --watchlist, or a watchlist in "
            "the settings"
        )
    return names


def _check_demo() -> None:
    """Refuse to look for today among closes that ended long ago.

    Raises:
        UsageError: they have.
    """
    from tradmem.market.sample import last_day

    if now().date() > last_day():
        raise UsageError(
            f"the demo's prices end on {last_day()}; name a day with --date, "
            f"such as --date {last_day()}"
        )


def _graph(name: str | None, *, quiet: bool) -> "Graph | None":
    """The graph that is meant, loaded; None for our own agent."""
    from tradmem.running.graphs import find_graph, load_graph

    folder = Path.cwd()
    found = find_graph(name, folder)
    if found is None:
        return None
    graph = load_graph(*found, folder)
    if not quiet:
        say(f"the graph {found[0]} decides" + (f" ({found[1]})" if found[0] != found[1] else ""))
    return graph


def _trace(report: "RunReport") -> None:
    """Show where failures came from, to whoever asked for it."""
    if click.get_current_context().meta.get(DEBUG):
        for error in (report.resolve_error, *(item.error for item in report.tickers)):
            if error:
                traceback.print_exception(error)


def _status(report: "RunReport") -> int:
    if report.state is RunState.INTERRUPTED:
        return _as_shells_count(report.stopped)
    if report.state is RunState.FAILED:
        return BUSY if report.is_busy else FAILED
    return DONE


def _as_shells_count(name: str) -> int:
    """The exit status of who was ended by a signal."""
    return 128 + int(getattr(signal, name, signal.SIGINT))


def _leave(memory: "Memory", status: int) -> None:
    """End the process although threads are at work, but in the middle of no write."""
    from tradmem.journal import files
    from tradmem.journal.beside import beside

    sys.stdout.flush()
    sys.stderr.flush()
    path = getattr(memory.journal, "path", None)
    if path is None:
        os._exit(status)
    try:
        with files.Lock(beside(path, ".lock"), of=path).held(5.0):
            os._exit(status)
    except LogError:
        os._exit(status)

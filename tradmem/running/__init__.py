"""Daily runs over a watchlist: resolve once, then decide what is still open.

The names below are loaded when they are used: who only reads the record of runs needs no graph.
"""

from typing import TYPE_CHECKING

from tradmem.lazy import lazy

if TYPE_CHECKING:
    from tradmem.running.driving import Graph
    from tradmem.running.graphs import find_graph, load_graph
    from tradmem.running.once import run_once
    from tradmem.running.plan import Fate
    from tradmem.running.record import RunLog, RunRecord, RunState
    from tradmem.running.report import (
        Event,
        EventKind,
        Failure,
        RunOptions,
        RunReport,
        TickerRun,
    )
    from tradmem.running.stopping import Stop, on_signals
    from tradmem.running.watchlist import read_watchlist

__all__ = [
    "Event",
    "EventKind",
    "Failure",
    "Fate",
    "Graph",
    "RunLog",
    "RunOptions",
    "RunRecord",
    "RunReport",
    "RunState",
    "Stop",
    "TickerRun",
    "find_graph",
    "load_graph",
    "on_signals",
    "read_watchlist",
    "run_once",
]

_HOMES = {
    "driving": "Graph",
    "graphs": "find_graph load_graph",
    "once": "run_once",
    "plan": "Fate",
    "record": "RunLog RunRecord RunState",
    "report": "Event EventKind Failure RunOptions RunReport TickerRun",
    "stopping": "Stop on_signals",
    "watchlist": "read_watchlist",
}

__getattr__, __dir__ = lazy(__name__, _HOMES)

"""Daily runs over a watchlist: resolve once, then decide what is still open.

The names below are loaded when they are used: who only reads the record of runs needs no graph.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_PLACES = {
    "driving": ("Graph",),
    "graphs": ("find_graph", "load_graph"),
    "once": ("run_once",),
    "plan": ("Fate",),
    "record": ("RunLog", "RunRecord", "RunState"),
    "report": ("Event", "EventKind", "Failure", "RunOptions", "RunReport", "TickerRun"),
    "stopping": ("Stop", "on_signals"),
    "watchlist": ("read_watchlist",),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"tradmem.running.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The threads of a run: each takes one ticker after the other, and tells what became of it."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any

from tradmem.errors import LogError, ModelError
from tradmem.lessons.meter import Meter, metered
from tradmem.memory import Memory
from tradmem.model import Entry
from tradmem.running.budget import Budget
from tradmem.running.driving import Graph
from tradmem.running.faults import is_passing
from tradmem.running.plan import Fate, Planned
from tradmem.running.report import Event, EventKind, RunOptions, TickerRun
from tradmem.running.stopping import Stop, Stopped

_HOPELESS = 5  # tickers in a row, after which nothing is tried again in an outage
_STEP = 4.0  # times as long, from one pause to the next
_DECIDED_AS = ("rating", "decision", "final_trade_decision")  # where a graph may say its decision


class Finished:
    """A thread has nothing left to do."""


class Crew:
    """Some threads at work on some tickers.

    Args:
        memory: whose log the decisions go to.
        graph: what decides.
        options: how.
        stop: what ends the work.
        told: gets an :class:`Event` for whatever happens, and a :class:`Finished` for each
            thread that ends.
        spent: what the run has spent before.
    """

    def __init__(
        self,
        memory: Memory,
        graph: Graph,
        *,
        options: RunOptions,
        stop: Stop,
        told: "SimpleQueue[Event | Finished]",
        spent: Meter,
    ) -> None:
        self._memory, self._graph, self._options = memory, graph, options
        self._stop, self._told = stop, told
        self.meters: dict[str, Meter] = {}
        self._in_vain = 0  # tickers in a row that were given up for what should have passed
        self._budget = Budget(options.max_cost, spent)

    def begin(self, todo: Iterable[Planned]) -> int:
        """Start the threads for what is to be decided, each in this context; how many."""
        waiting = deque(todo)
        count = min(self._options.concurrency, len(waiting))
        for number in range(count):
            context = copy_context()
            threading.Thread(
                target=context.run,
                args=(self._work, waiting),
                name=f"tradmem-run-{number}",
                daemon=True,  # work in hand does not keep a process alive that was told to end
            ).start()
        return count

    def _work(self, waiting: deque[Planned]) -> None:
        try:
            while not self._stop.is_asked:
                try:
                    planned = waiting.popleft()
                except IndexError:
                    return
                item = self._one(planned)
                self._tell(EventKind.TICKER, item=item)
        finally:
            self._told.put(Finished())

    def _one(self, planned: Planned) -> TickerRun:
        """What becomes of one ticker, whatever its graph does; again after what passes."""
        started, tries, anew, found = time.monotonic(), 0, False, dict[str, Any]()
        with metered() as meter:
            self.meters[planned.ticker] = meter
            before = self._ids(planned)
            while not found:
                tries += 1
                try:
                    with self._budget.share(meter, self._stop):
                        state = self._graph.decide(
                            planned.ticker,
                            planned.day.isoformat(),
                            on_node=self._on_node(planned.ticker),
                            anew=anew,
                        )
                    found = self._came_of(planned, state, before)
                except Stopped:
                    found = {"fate": Fate.INTERRUPTED}
                except BaseException as error:  # noqa: BLE001 - a graph is foreign code
                    found = self._after(planned, error, tries)
                    # What was looked at holds the fault, unless it came after the looking.
                    anew = not isinstance(error, LogError | ModelError)
        return TickerRun(
            ticker=planned.ticker,
            day=planned.day,
            tries=tries,
            seconds=time.monotonic() - started,
            usage=meter.usage,
            **found,
        )

    def _after(self, planned: Planned, error: BaseException, tries: int) -> dict[str, Any]:
        """What a failed try comes to; nothing if there is to be another one."""
        passing = is_passing(error)
        if tries > self._options.retries or not passing or self._in_vain >= _HOPELESS:
            self._in_vain += passing
            return {"fate": Fate.FAILED, "error": error}
        pause = self._options.pause * _STEP ** (tries - 1)
        self._tell(EventKind.RETRY, ticker=planned.ticker, error=error, pause=pause)
        return {"fate": Fate.INTERRUPTED} if self._stop.wait(pause) else {}

    def _ids(self, planned: Planned) -> set[str]:
        return {entry.id for entry in self._memory.journal.find(planned.day, planned.ticker)}

    def _on_node(self, ticker: str) -> Callable[[str], None]:
        def told(node: str) -> None:
            if self._stop.is_over:
                raise Stopped
            self._tell(EventKind.NODE, ticker=ticker, node=node)

        return told

    def _came_of(
        self, planned: Planned, state: Mapping[str, Any], before: set[str]
    ) -> dict[str, Any]:
        entry, is_new = standing(self._memory, planned, state, before)
        said = next((str(state[key]) for key in _DECIDED_AS if state.get(key)), "")
        if entry is None:
            return {"fate": Fate.UNSTORED, "said": said, "notices": _notices(state)}
        self._in_vain = 0
        fate = Fate.DECIDED if is_new else Fate.STANDING
        return {"fate": fate, "entry": entry, "said": said, "notices": _notices(state)}

    def _tell(self, kind: EventKind, **what: Any) -> None:
        self._told.put(Event(kind=kind, at=self._memory.clock(), **what))


def standing(
    memory: Memory, planned: Planned, state: Mapping[str, Any], before: set[str]
) -> tuple[Entry | None, bool]:
    """The entry that stands for a decision, and whether this run made it.

    Args:
        memory: whose log.
        planned: the ticker and its day.
        state: in which the graph ended.
        before: the ids that were there when it began.
    """
    there = memory.journal.find(planned.day, planned.ticker)
    fresh = [entry for entry in there if entry.id not in before and not entry.recorded.is_note]
    named = memory.journal.get(str(state["entry_id"])) if state.get("entry_id") else None
    entry = named or (fresh[-1] if fresh else None)
    if entry is None:
        old = [one for one in there if not one.recorded.is_note]
        return (old[-1] if old else None), False
    return entry, entry.id not in before


def _notices(state: Mapping[str, Any]) -> tuple[str, ...]:
    given = state.get("notices") or ()
    several = isinstance(given, list | tuple)
    return tuple(str(notice) for notice in (given if several else (given,)))

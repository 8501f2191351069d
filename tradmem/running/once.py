"""One run over a watchlist, as it is started once a day and left alone."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date as Date  # noqa: N812 - `date` is the name of a parameter here
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any

from tradmem.agent import default_policy
from tradmem.clock import format_instant, utc
from tradmem.errors import LogBusy, LogError, UsageError
from tradmem.lessons.meter import Meter, metered
from tradmem.lessons.reflect import Usage
from tradmem.memory import Memory
from tradmem.model import Entry
from tradmem.nodes import resolved_before
from tradmem.resolving import ResolveReport
from tradmem.running.alone import alone
from tradmem.running.crew import Crew, Finished
from tradmem.running.driving import OWN, Graph, own_graph
from tradmem.running.plan import Fate, Planned, days_of, plan
from tradmem.running.record import RunLog
from tradmem.running.report import Event, EventKind, RunOptions, RunReport, TickerRun, Watch
from tradmem.running.settling import Settling
from tradmem.running.stopping import Stop
from tradmem.running.telling import ended_json
from tradmem.running.watchlist import tickers_of

_LOOK = 0.1  # seconds between two looks at whether to stop


def run_once(
    memory: Memory,
    tickers: Iterable[str],
    *,
    date: Date | str | None = None,
    graph: Any = None,
    options: RunOptions | None = None,
    watch: Watch = lambda _: None,
    stop: Stop | None = None,
    runs: RunLog | None = None,
) -> RunReport:
    """Resolve what is due, once; then let a graph decide on each ticker that is still open.

    A ticker that was decided on that day is left as it is, so a second start does nothing
    twice. One ticker's failure touches no other. Days that were missed are never decided
    afterwards: what was pending then is resolved. What was done goes to the record of runs
    beside the log, see :class:`tradmem.running.record.RunLog`.

    Args:
        memory: what is remembered with; its clock tells the day.
        tickers: in any case; a repeated one counts once.
        date: of the decisions; today in the zone of each ticker's exchange by default.
        graph: a compiled LangGraph graph that takes a ticker and a date and records in
            this memory, or a :class:`~tradmem.running.graphs.Graph`; by default the
            reference agent with its default policy.
        options: how it goes about it.
        watch: called in this thread with whatever happens.
        stop: by which another thread or a signal may end the run.
        runs: the record of runs, and the lock beside it; by default what stands beside the
            log, and none for a log that is no file.

    Raises:
        UsageError: no ticker, one that can be none, or an impossible date; nothing was done.
        LogBusy: another run over this log did not end in time; nothing was done.
        LogError: the log cannot be read or written.
    """
    names = tickers_of(tickers)
    if not names:
        raise UsageError("there is no ticker to run for; name one, or a watchlist")
    days_of(memory, names, date)  # refuses what cannot be, before anything is waited for
    driven = _make_graph(memory, graph)
    options, stop = options or RunOptions(), stop or Stop()
    path = getattr(memory.journal, "path", None)
    runs = runs or (RunLog(path) if path else None)
    run = _Run(memory, options, watch, stop, runs)
    with alone(runs, options.wait, stop, run.wait), memory.handed_out():
        return run.go(names, date, *driven)


def _make_graph(memory: Memory, graph: Any) -> tuple[str, str | None, Callable[[], Graph]]:
    """A graph's name, the agent that it records as, and itself, made when it is wanted."""
    if graph is None:
        policy = default_policy(memory)
        return OWN, "", lambda: own_graph(memory, policy)
    if isinstance(graph, Graph):
        return graph.name, graph.agent, lambda: graph
    if not hasattr(graph, "invoke"):
        raise UsageError(f"{type(graph).__name__} is no graph; hand in a compiled one")
    made = Graph(str(getattr(graph, "name", "") or "graph"), graph)
    return made.name, made.agent, lambda: made


class _Run:
    """A run half-way."""

    def __init__(
        self, memory: Memory, options: RunOptions, watch: Watch, stop: Stop, runs: RunLog | None
    ) -> None:
        self._memory, self._options, self._watch, self._stop = memory, options, watch, stop
        self._runs = runs
        self._told: SimpleQueue[Any] = SimpleQueue()
        self._id, self._graph, self._started = "", OWN, utc(memory.clock())
        self._record_error: BaseException | None = None
        self._is_stopping = self._is_cut = self._left = False

    def wait(self, error: LogBusy) -> None:
        """Tell that another run over the log is waited for."""
        self._tell(EventKind.WAITING, error=error, pause=self._options.wait)

    def go(
        self,
        names: Sequence[str],
        date: Date | str | None,
        graph: str,
        agent: str | None,
        make: Callable[[], Graph],
    ) -> RunReport:
        """The whole of it, once nobody else is at it."""
        started = self._started = self._now()
        days = days_of(self._memory, names, date)
        self._graph = graph
        self._id = f"{started:%Y%m%dT%H%M%SZ}-{os.urandom(2).hex()}"
        told = {"started": format_instant(started), "graph": graph, "pid": os.getpid()}
        self._note("started", started, **told, tickers={k: str(v) for k, v in days.items()})
        report = RunReport(id=self._id, graph=graph, started=started, ended=started, tickers=())
        try:
            with metered() as spent:
                resolved, error = self._resolve()
            report = replace(report, resolved=resolved, resolve_error=error)
            planned = self._plan(days, agent)
            self._tell(EventKind.STARTED, tickers=planned)
            items, usage = self._decide(planned, make, resolved, spent)
            report = replace(report, tickers=items, usage=usage)
        except BaseException as broken:
            self._stop.request(type(broken).__name__)
            self._is_cut |= not isinstance(broken, Exception)
            self._end(replace(report, error=broken))
            raise
        return self._end(report)

    def _plan(self, days: dict[str, Date], agent: str | None) -> tuple[Planned, ...]:
        earlier = self._runs.decided(self._graph) if self._runs and agent is None else {}
        skip = self._options.skip_closed
        return plan(self._memory, days, skip_closed=skip, agent=agent, earlier=earlier)

    def _resolve(self) -> tuple[ResolveReport, BaseException | None]:
        """What was settled and taught; and what broke that off, if anything but a stop did.

        Raises:
            LogError: the log cannot be read or written.
        """
        settling = Settling(self._memory, self._stop, self._told)
        if not settling.begin():
            return ResolveReport(), None
        self._pump(1, lambda _: None)
        report = settling.report()
        self._is_cut |= settling.is_cut
        error = None if settling.is_cut else settling.error
        self._tell(EventKind.RESOLVED, resolved=report, error=error)
        return report, error

    # Deciding

    def _decide(
        self,
        planned: Sequence[Planned],
        make: Callable[[], Graph],
        resolved: ResolveReport,
        spent: Meter,
    ) -> tuple[tuple[TickerRun, ...], Usage]:
        """What becomes of each ticker, and what all of the run took."""
        todo = [each for each in planned if each.fate is Fate.OPEN]
        found: dict[str, TickerRun] = {}

        def take(item: TickerRun) -> None:
            found[item.ticker] = item
            if item.fate is Fate.DECIDED and item.entry:
                more = {"ticker": item.ticker, "date": str(item.day), "id": item.entry.id}
                self._note("ticker", self._now(), **more)
            self._tell(EventKind.TICKER, item=item)

        meters = {}
        if todo and not self._stop.is_asked:
            with resolved_before(self._memory, resolved):
                crew = Crew(
                    self._memory,
                    make(),
                    options=self._options,
                    stop=self._stop,
                    told=self._told,
                    spent=spent,
                )
                self._pump(crew.begin(todo), take)
            meters = crew.meters
        for each in planned:
            if each.ticker not in found:
                take(self._left_over(each, meters.get(each.ticker)))
        usage = sum((meter.usage for meter in meters.values()), spent.usage)
        if spent.unpriced or any(meter.unpriced for meter in meters.values()):
            usage = replace(usage, cost=None)
        return tuple(found[each.ticker] for each in planned), usage

    def _left_over(self, planned: Planned, meter: Meter | None) -> TickerRun:
        """What no thread told of: nothing was to be done, or it was left in the middle."""
        fate, entry = planned.fate, planned.entry
        if fate is Fate.OPEN:
            # One that was begun may have come as far as its decision; looking for it waits
            # for a write that is under way.
            entry = self._recorded(planned) if meter else None
            fate = Fate.DECIDED if entry else Fate.INTERRUPTED
        usage = meter.usage if meter else Meter().usage
        return TickerRun(
            ticker=planned.ticker, day=planned.day, fate=fate, entry=entry, usage=usage
        )

    def _recorded(self, planned: Planned) -> Entry | None:
        """The decision that this run recorded on a ticker."""
        for entry in self._memory.journal.find(planned.day, planned.ticker):
            at = entry.recorded.recorded_at
            if at and at >= self._started and not entry.recorded.is_note:
                return entry
        return None

    # Ending

    def _pump(self, threads: int, take: Callable[[TickerRun], None]) -> None:
        """Tell what threads tell until all have ended, or have to be left."""
        while threads:
            try:
                said = self._told.get(timeout=_LOOK)
            except Empty:
                said = None
            if self._stop.is_asked and not self._is_stopping:
                self._is_stopping = True
                self._tell(EventKind.STOPPING, pause=self._stop.grace)
            if isinstance(said, Finished):
                threads -= 1
            elif said is not None and said.item:
                take(said.item)
            elif said is not None:
                self._watch(said)
            elif self._stop.is_over:
                self._left = True
                return

    def _end(self, report: RunReport) -> RunReport:
        """The report as it is told and put on record."""
        cut = self._left or self._is_cut or bool(report.of(Fate.INTERRUPTED))
        report = replace(
            report,
            ended=self._now(),
            pending=() if report.error else self._pending(),
            stopped=self._stop.why if cut else "",
            left=self._left,
        )
        self._note("ended", report.ended, **ended_json(report))
        report = replace(report, record_error=self._record_error)
        self._tell(EventKind.ENDED, report=report)
        return report

    def _pending(self) -> tuple[tuple[Entry, datetime], ...]:
        waiting = self._memory.journal.unfinished()
        dues = [(entry, due) for entry in waiting if (due := self._memory.due(entry))]
        return tuple(sorted(dues, key=lambda pair: (pair[1], pair[0].ticker)))

    def _note(self, event: str, at: datetime, **what: Any) -> None:
        """Add to the record of runs; that it cannot be written stops no run."""
        if self._runs is None:
            return
        try:
            self._runs.add(event, self._id, format_instant(at), **what)
        except LogError as error:
            self._record_error = error

    def _tell(self, kind: EventKind, **what: Any) -> None:
        self._watch(Event(kind=kind, at=self._now(), **what))

    def _now(self) -> datetime:
        return utc(self._memory.clock())

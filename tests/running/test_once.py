"""A run over a watchlist: what it decides, what it leaves, what it repeats."""

import threading
import time
from collections import Counter

import pytest

from tests.agent_world import World, random_closes
from tradmem.agent import Call, build_graph
from tradmem.errors import LogBusy, LogError, ModelError, PriceError, PriceFault, UsageError
from tradmem.journal.markdown import MarkdownJournal
from tradmem.lessons.reflect import FaultKind
from tradmem.market.frames import FramePrices
from tradmem.model import Status
from tradmem.running import (
    EventKind,
    Graph,
    RunLog,
    RunOptions,
    RunState,
    Stop,
    run_once,
)

NAMES = ["NVDA", "AMD", "MU", "IBM", "GE"]
CLOSES = random_closes([*NAMES, "SPY"], 330)
DAYS = list(CLOSES["NVDA"])
START = 300
QUICK = RunOptions(pause=0.01, wait=5.0)


@pytest.fixture
def world(tmp_path):
    return World(CLOSES, MarkdownJournal(tmp_path / "memory.md")).go(DAYS[START])


class Deciding:
    """A policy that notes whom it was asked about, and does what it is told to on the way."""

    def __init__(self, on_the_way=lambda ticker, turn: None):
        self.asked, self._on_the_way = Counter(), on_the_way
        self._lock = threading.Lock()

    def __call__(self, situation):
        with self._lock:
            self.asked[situation.ticker] += 1
            turn = self.asked[situation.ticker]
        self._on_the_way(situation.ticker, turn)
        return Call("Buy", f"A call on {situation.ticker}.")


def run(world, names=NAMES, policy=None, *, options=QUICK, **more):
    from tradmem.running.driving import own_graph

    graph = own_graph(world.memory, policy or Deciding())
    return run_once(world.memory, names, graph=graph, options=options, **more)


def fates(report):
    return [item.fate.value for item in report.tickers]


def runs(world):
    return RunLog(world.journal.path).runs()


# What is done, and what is not done twice


def test_what_is_due_is_resolved_once_for_all_tickers(world):
    run(world)
    world.go(DAYS[START + 6])
    fetches = []

    class Counting(FramePrices):
        def fetch(self, spans):
            if len(spans) > 2:  # a brief asks for a ticker and its benchmark
                fetches.append(set(spans))
            return super().fetch(spans)

    later = World(CLOSES, world.journal, prices=Counting(CLOSES)).go(DAYS[START + 6])
    report = run(later)
    assert fetches == [{*NAMES, "SPY"}]
    assert len(report.resolved.settled) == len(report.resolved.reflected) == len(NAMES)
    assert all(len(item.entry.recalled) == 4 for item in report.tickers)
    assert [entry.ticker for entry, _ in report.pending] == sorted(NAMES)


def test_a_fault_of_the_prices_is_met_once_and_stops_no_decision(world):
    run(world)
    asked = []

    class Down(FramePrices):
        def fetch(self, spans):
            if len(spans) > 2:
                asked.append(1)
                return {name: PriceError(PriceFault.RATE_LIMITED, name) for name in spans}
            return super().fetch(spans)

    later = World(CLOSES, world.journal, prices=Down(CLOSES)).go(DAYS[START + 6])
    report = run(later)
    assert len(asked) == 1
    assert fates(report) == ["decided"] * len(NAMES)
    assert report.state is RunState.FAILED
    (failure,) = {f._replace(what="") for f in report.failures() if "AMD" in f.why}
    assert (failure.why, failure.todo) == (
        "no prices for AMD: rate limited",
        "it stays due, and the next run asks again by itself",
    )


def test_a_second_start_asks_nobody_and_says_so(world):
    first = run(world)
    policy = Deciding()
    report = run(world, policy=policy)
    assert policy.asked == {}
    assert fates(report) == ["decided before"] * len(NAMES)
    assert [item.entry.id for item in report.tickers] == [i.entry.id for i in first.tickers]
    assert [each.state for each in runs(world)] == [RunState.DONE, RunState.NOTHING]


def test_a_half_failed_run_repeats_only_what_is_missing(world):
    def fail(ticker, turn):
        if ticker in ("AMD", "GE"):
            raise RuntimeError(f"no view on\n{ticker}")

    report = run(world, policy=Deciding(fail))
    assert fates(report) == ["decided", "failed", "decided", "decided", "failed"]
    assert report.undone() == ("AMD", "GE")
    failures = {failure.what: failure for failure in report.failures()}
    assert failures["AMD"].why == "RuntimeError: no view on AMD"
    policy = Deciding()
    assert run(world, policy=policy).state is RunState.DONE
    assert policy.asked == {"AMD": 1, "GE": 1}
    assert sorted(entry.ticker for entry in world.memory.entries()) == sorted(NAMES)


def test_missed_days_are_resolved_and_never_decided(world):
    run(world)
    world.go(DAYS[START + 8])
    run(world)
    days = {entry.date: entry.status for entry in world.memory.entries()}
    assert days == {DAYS[START]: Status.RESOLVED, DAYS[START + 8]: Status.PENDING}


def test_a_repeated_ticker_counts_once_and_a_bad_one_stops_everything(world):
    assert len(run(world, ["nvda", "NVDA "]).tickers) == 1
    for bad in (["AMD", "A|B"], [], [None]):
        with pytest.raises(UsageError):
            run(world, bad)
    with pytest.raises(UsageError, match="later than today"):
        run(world, date="2100-01-04")
    assert [entry.ticker for entry in world.memory.entries()] == ["NVDA"]


def test_each_exchange_has_its_own_day_and_its_own_holidays(world):
    """New York on the evening of a Friday is Saturday in Tokyo."""
    friday = DAYS[START]
    while friday.weekday() != 4:
        friday = DAYS[DAYS.index(friday) + 1]
    world.go(world.before_close(friday))
    report = run(world, ["NVDA", "7203.T"], options=RunOptions(skip_closed=True))
    assert fates(report) == ["decided", "closed"]
    nvda, toyota = report.tickers
    assert (toyota.day - nvda.day).days == 1


# Faults


def test_passing_faults_are_tried_again_and_others_are_not(world):
    kinds = {
        "NVDA": ModelError(FaultKind.RATE_LIMITED, "slow down"),
        "AMD": ModelError(FaultKind.UNAUTHORISED, "no", fatal=True),
        "MU": ConnectionError("reset"),
        "IBM": ValueError("nonsense"),
        "GE": PriceError(PriceFault.UNKNOWN_SYMBOL, "GE"),
    }

    def fail(ticker, turn):
        if turn == 1:
            raise kinds[ticker]

    policy, retried = Deciding(fail), []

    def watch(event):
        if event.kind is EventKind.RETRY:
            retried.append((event.ticker, event.pause))

    report = run(world, policy=policy, watch=watch)
    assert policy.asked == {"NVDA": 2, "AMD": 1, "MU": 2, "IBM": 1, "GE": 1}
    assert fates(report) == ["decided", "failed", "decided", "failed", "failed"]
    assert sorted(retried) == [("MU", 0.01), ("NVDA", 0.01)]
    assert [item.tries for item in report.tickers] == [2, 1, 2, 1, 1]


def test_a_fault_that_goes_on_is_given_up_after_the_retries(world):
    def fail(ticker, turn):
        raise ModelError(FaultKind.TIMED_OUT, "too slow")

    policy = Deciding(fail)
    report = run(world, ["NVDA"], policy)
    assert policy.asked == {"NVDA": 3}
    (failure,) = report.failures()
    assert failure.todo.startswith("run again later")
    assert run(world, ["NVDA"], policy, options=RunOptions(retries=0)).tickers[0].tries == 1


def test_in_an_outage_the_later_tickers_are_not_tried_again(world):
    def fail(ticker, turn):
        raise ModelError(FaultKind.UNREACHABLE, "nobody there")

    policy, names = Deciding(fail), [f"T{n}" for n in range(9)]
    options = RunOptions(pause=0.001, concurrency=1, retries=1)
    assert fates(run(world, names, policy, options=options)) == ["failed"] * 9
    assert [policy.asked[name] for name in names] == [2] * 5 + [1] * 4


def test_prices_that_come_back_are_looked_at_anew(world):
    """A try after a fault of the prices must not find the fault in what was looked at before."""
    turns = []

    class Once(FramePrices):
        def fetch(self, spans):
            turns.append(1)
            if len(turns) == 1:
                return {name: PriceError(PriceFault.UNREACHABLE, name) for name in spans}
            return super().fetch(spans)

    flaky = World(CLOSES, world.journal, prices=Once(CLOSES)).go(DAYS[START])
    seen = []

    def look(situation):
        seen.append(situation.brief.error)
        if situation.brief.error:
            raise situation.brief.error
        return Call("Hold", "Nothing new.")

    report = run(flaky, ["NVDA"], look)
    assert fates(report) == ["decided"]
    assert [bool(error) for error in seen] == [True, False]


def test_a_decision_that_could_not_be_stored_at_once_is_not_paid_for_again(world, monkeypatch):
    policy, store = Deciding(), world.memory.record
    busy = [LogBusy("in use"), LogBusy("in use")]

    def record(*args, **kwargs):
        if busy:
            raise busy.pop()
        return store(*args, **kwargs)

    monkeypatch.setattr(world.memory, "record", record)
    report = run(world, ["NVDA"], policy)
    assert (fates(report), policy.asked) == (["decided"], {"NVDA": 1})
    assert report.tickers[0].tries == 3


class _DumbError(Exception):
    def __str__(self):
        raise ValueError("no words")


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), _DumbError(), ValueError("x" * 9999)]
)
def test_a_graph_cannot_end_the_run(world, error):
    def fail(ticker, turn):
        if ticker == "AMD":
            raise error

    report = run(world, policy=Deciding(fail))
    assert fates(report).count("decided") == len(NAMES) - 1
    (failure,) = report.failures()
    assert type(error).__name__ in failure.why
    assert len(failure.why) < 600


def test_a_reflector_that_breaks_stops_no_decision(world):
    class Broken:
        related = 0

        def reflect(self, cases):
            raise RuntimeError("out of memory")

    run(world, ["NVDA"])
    world.go(DAYS[START + 6])
    world.memory.reflector = Broken()
    report = run(world, ["NVDA"])
    assert (report.state, fates(report)) == (RunState.FAILED, ["decided"])
    (failure,) = report.failures()
    assert failure[:2] == ("resolving", "RuntimeError: out of memory")


def test_a_log_that_cannot_be_used_is_one_line_and_no_run(tmp_path):
    world = World(CLOSES, MarkdownJournal(tmp_path)).go(DAYS[START])
    with pytest.raises(LogError, match="it is a folder"):
        run(world)
    assert list(tmp_path.parent.glob("*.runs.jsonl")) == []


def test_a_record_that_cannot_be_written_is_told_and_stops_no_decision(world):
    (world.journal.path.parent / "memory.md.runs.jsonl").mkdir()
    report = run(world, ["NVDA"])
    assert fates(report) == ["decided"]
    assert [failure.what for failure in report.failures()] == ["the record of runs"]


def test_a_watcher_that_breaks_ends_the_run_with_its_record(world):
    def watch(event):
        if event.kind is EventKind.TICKER:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        run(world, watch=watch)
    (record,) = runs(world)
    assert record.state in (RunState.FAILED, RunState.INTERRUPTED)


# Several at once


def test_so_many_tickers_are_decided_at_once_and_no_more(world):
    busy, most = [], []

    def work(ticker, turn):
        busy.append(ticker)
        time.sleep(0.05)
        most.append(len(busy))
        busy.remove(ticker)

    run(world, policy=Deciding(work), options=RunOptions(concurrency=2))
    assert max(most) == 2


def test_a_run_waits_for_another_one_and_then_does_nothing_twice(world):
    policy = Deciding(lambda ticker, turn: time.sleep(0.05))
    waited, reports = [], []

    def start():
        own = World(CLOSES, MarkdownJournal(world.journal.path)).go(DAYS[START])
        watch = lambda event: waited.append(event.kind)  # noqa: E731
        reports.append(run(own, policy=policy, watch=watch))

    threads = [threading.Thread(target=start) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(policy.asked.values()) == {1}
    assert len(world.memory.entries()) == len(NAMES)
    assert EventKind.WAITING in waited
    assert sorted(report.state for report in reports) == ["done", "nothing to do", "nothing to do"]


def test_a_run_that_may_not_wait_leaves_and_leaves_no_record(world):
    with RunLog(world.journal.path).lock.held(0), pytest.raises(LogBusy, match="another run"):
        run(world, options=RunOptions(wait=0))
    assert runs(world) == []


# Stopping


def test_a_stop_ends_what_is_in_hand_and_begins_nothing(world):
    stop, started = Stop(), threading.Event()

    def work(ticker, turn):
        started.set()
        time.sleep(0.2)

    threading.Thread(target=lambda: (started.wait(), stop.request("SIGTERM"))).start()
    report = run(world, policy=Deciding(work), options=RunOptions(concurrency=2), stop=stop)
    assert fates(report) == ["decided"] * 2 + ["interrupted"] * 3
    assert (report.state, report.stopped, report.left) == (RunState.INTERRUPTED, "SIGTERM", False)
    assert runs(world)[0].data["stopped"] == "SIGTERM"
    policy = Deciding()
    assert run(world, policy=policy).state is RunState.DONE
    assert set(policy.asked) == {"MU", "IBM", "GE"}


def test_a_second_request_leaves_what_is_in_hand(world):
    stop, started, end = Stop(), threading.Event(), threading.Event()

    def work(ticker, turn):
        started.set()
        end.wait(10)

    def ask():
        started.wait()
        stop.request("SIGINT")
        stop.request("SIGINT")

    threading.Thread(target=ask).start()
    begun = time.monotonic()
    report = run(world, ["NVDA", "AMD"], Deciding(work), stop=stop)
    end.set()
    assert time.monotonic() - begun < 5
    assert (fates(report), report.left) == (["interrupted"] * 2, True)


def test_a_stop_while_resolving_keeps_what_was_written(world):
    run(world)
    world.go(DAYS[START + 6])
    stop, lessons = Stop(), []
    template = world.memory.reflector

    class Slow:
        related = 0

        def reflect(self, cases):
            for lesson in template.reflect(cases):
                lessons.append(lesson)
                if len(lessons) == 2:
                    stop.request("SIGTERM")
                yield lesson

    world.memory.reflector = Slow()
    report = run(world, stop=stop)
    assert fates(report) == ["interrupted"] * len(NAMES)
    assert report.state is RunState.INTERRUPTED
    found = Counter(entry.status for entry in world.memory.entries())
    assert found == {Status.RESOLVED: 2, Status.SETTLED: len(NAMES) - 2}
    told = runs(world)[-1].data["resolved"]
    assert (len(told["settled"]), len(told["reflected"])) == (len(NAMES), 2)


def test_a_stop_during_a_pause_does_not_wait_for_its_end(world):
    stop = Stop()

    def fail(ticker, turn):
        stop.request("SIGTERM")
        raise ModelError(FaultKind.RATE_LIMITED)

    begun = time.monotonic()
    report = run(world, ["NVDA"], Deciding(fail), options=RunOptions(pause=60), stop=stop)
    assert fates(report) == ["interrupted"]
    assert time.monotonic() - begun < 5


# Graphs of others


def test_a_graph_is_known_by_the_name_under_which_its_node_records(world):
    policy = Deciding()
    graph = build_graph(world.memory, policy, agent="house")
    assert fates(run_once(world.memory, NAMES, graph=graph)) == ["decided"] * len(NAMES)
    RunLog(world.journal.path).path.unlink()
    assert fates(run_once(world.memory, NAMES, graph=graph)) == ["decided before"] * len(NAMES)
    assert set(policy.asked.values()) == {1}
    other = build_graph(world.memory, policy, agent="other")
    assert fates(run_once(world.memory, ["NVDA"], graph=other)) == ["decided"]


def test_a_graph_that_tells_no_name_is_known_by_the_record_of_runs(world):
    from langchain_core.runnables import RunnableLambda

    asked = []

    def decide(given):
        asked.append(given["ticker"])
        day, name = given["date"], given["ticker"]
        text = f"**Rating**: Buy\n\nThe {len(asked)}th call."
        world.memory.record(name, day, text, agent="somebody")
        return {}

    graph = Graph("theirs", RunnableLambda(decide))
    assert graph.agent is None
    world.memory.record("AMD", DAYS[START], "**Rating**: Sell", agent="a person")
    report = run_once(world.memory, NAMES, graph=graph)
    assert fates(report) == ["decided"] * len(NAMES)
    assert [item.entry.agent for item in report.tickers] == ["somebody"] * len(NAMES)
    assert fates(run_once(world.memory, NAMES, graph=graph)) == ["decided before"] * len(NAMES)
    assert len(asked) == len(NAMES)


def test_what_is_no_graph_is_refused(world):
    with pytest.raises(UsageError, match="int is no graph"):
        run_once(world.memory, ["NVDA"], graph=7)


def test_a_graph_that_asks_a_person_fails_in_one_line(world):
    from typing import TypedDict

    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import interrupt

    class State(TypedDict, total=False):
        ticker: str
        date: str
        decision: str

    graph = StateGraph(State)
    graph.add_node("ask", lambda state: {"decision": interrupt("Buy or\nsell?")})
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    report = run_once(world.memory, ["NVDA"], graph=graph.compile(InMemorySaver()))
    (failure,) = report.failures()
    assert "stopped to ask a person (Buy or sell?)" in failure.why


@pytest.mark.parametrize(
    "state", [None, 7, {"notices": 7}, {"entry_id": {"x": 1}, "notices": {"a": 1}}, {"rating": [1]}]
)
def test_whatever_a_graph_ends_in_is_told_in_words(world, state):
    from langchain_core.runnables import RunnableLambda

    report = run_once(world.memory, ["NVDA"], graph=RunnableLambda(lambda _: state))
    assert fates(report) == (["not stored"] if isinstance(state, dict) else ["failed"])
    for failure in report.failures():
        assert "it has to end in a state" in failure.why


def test_nodes_are_told_as_they_begin(world):
    nodes = []

    def watch(event):
        if event.kind is EventKind.NODE:
            nodes.append(event.node)

    run(world, ["NVDA"], watch=watch)
    assert nodes == ["resolve", "recall", "analyse", "decide", "record"]


def test_a_log_in_memory_has_no_record_and_needs_no_lock():
    world = World(CLOSES).go(DAYS[START])
    assert fates(run(world)) == ["decided"] * len(NAMES)
    assert {entry.ticker for entry in world.memory.entries()} == set(NAMES)


@pytest.mark.parametrize(
    "bad",
    [
        {"concurrency": 0},
        {"concurrency": True},
        {"retries": -1},
        {"retries": 1.5},
        {"pause": float("nan")},
        {"wait": "5"},
        {"wait": None},
        {"max_cost": float("inf")},
    ],
)
def test_options_that_cannot_be_are_refused(bad):
    with pytest.raises(UsageError):
        RunOptions(**bad)

"""The reference graph, end to end, on a simulated clock."""

import json

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.agent_world import World, cut, random_closes
from tradmem.agent import Call, build_graph, momentum_policy
from tradmem.clock import parse_instant
from tradmem.errors import PriceError, TradmemError, UsageError
from tradmem.journal.format import render
from tradmem.model import Rating, Verdict
from tradmem.nodes import resolve_node, resolved_before
from tradmem.settings import Settings

# A year's drift of the one well above, of the other well below the benchmark.
CLOSES = random_closes(["UP", "DOWN", "SPY"], 420, drift={"UP": 0.003, "DOWN": -0.003})
DAYS = list(CLOSES["UP"])
WEEKS = DAYS[300:400:5]


def replay(closes, weeks, policy=momentum_policy, tickers=("UP", "DOWN")):
    world = World(closes)
    graph = build_graph(world.memory, policy)
    for day in weeks:
        world.go(day)
        for ticker in tickers:
            graph.invoke({"ticker": ticker})
    return world


def test_a_year_of_runs_decides_settles_teaches_and_recalls():
    world = replay(CLOSES, WEEKS)
    entries = world.memory.entries()
    assert len(entries) == 2 * len(WEEKS)
    assert [e.id for e in entries if e.reflection] == [e.id for e in entries if e.date < WEEKS[-2]]
    last = entries[-1]
    assert len(last.recalled) == 5 + 1
    first = world.memory.get(entries[0].id)
    assert (first.ticker, first.rating) == ("UP", Rating.BUY)
    assert entries[1].rating is Rating.SELL
    assert {e.verdict for e in entries} >= {Verdict.RIGHT, Verdict.WRONG}


def test_no_decision_depends_on_anything_later():
    """A world that ends with a decision's day writes the same log up to there, byte for byte."""
    whole = replay(CLOSES, WEEKS).memory.entries()
    for end in (3, 11, len(WEEKS)):
        day = WEEKS[end - 1]
        ended = replay(cut(CLOSES, day), WEEKS[:end]).memory
        as_of = World.before_close(day)
        expected = [entry.at(as_of) for entry in whole if entry.date <= day]
        assert b"".join(map(render, ended.entries())) == b"".join(map(render, expected))


def test_what_a_policy_sees_was_known_by_then():
    seen = []

    def watch(situation):
        seen.append(situation)
        return Call("Buy", f"A call on {situation.ticker}.")

    world = replay(CLOSES, WEEKS[:8], watch)
    for situation in seen:
        assert situation.as_of == World.before_close(situation.date)
        assert situation.brief.last < situation.date
        assert all(memory.known_at <= situation.as_of for memory in situation.memories)
        assert all(memory.additions for memory in situation.memories)
    last = seen[-1]
    assert (last.ticker, last.track.judged) == ("DOWN", 6)
    assert [memory.ticker for memory in last.memories] == ["DOWN"] * 5 + ["UP"]
    assert all(memory.reflection in last.memory for memory in last.memories)
    stored = world.memory.entries()[-1]
    assert stored.recalled == tuple(memory.id for memory in last.memories)


def test_a_poor_record_costs_the_momentum_policy_a_step_and_is_cited():
    """It buys what rose for a year and falls now."""
    closes = random_closes(["UP", "SPY"], 420, drift={"UP": 0.004})
    for number, day in enumerate(DAYS[300:]):
        closes["UP"][day] = closes["UP"][DAYS[299]] * 0.99 ** (number + 1)
    entries = replay(closes, WEEKS[:6], tickers=["UP"]).memory.entries()
    assert [entry.rating for entry in entries[:3]] == [Rating.BUY] * 3
    stepped = entries[3]
    assert stepped.rating is Rating.OVERWEIGHT
    assert set(stepped.cited) == {entries[0].id, entries[1].id}
    assert "one step back, from Buy to Overweight" in stepped.decision


def test_the_state_is_json_and_says_what_happened():
    world = World(CLOSES).go(WEEKS[0])
    state = build_graph(world.memory, momentum_policy).invoke({"ticker": "up"})
    assert json.loads(json.dumps(state)) == state
    entry = world.memory.get(state["entry_id"])
    assert (entry.ticker, entry.decision) == ("UP", state["decision"])
    assert state["rating"] == entry.rating == "Buy"
    assert state["status"] == "recorded"
    assert parse_instant(state["as_of"]) == world.now
    assert state["analysis"].startswith("UP up to the close of")


def test_a_text_alone_is_a_decision_and_an_agent_has_its_name():
    world = World(CLOSES).go(WEEKS[0])
    graph = build_graph(world.memory, lambda _: "I cannot decide.", agent="desk")
    state = graph.invoke({"ticker": "UP"})
    entry = world.memory.get(state["entry_id"])
    assert (entry.decision, entry.rating, entry.agent) == ("I cannot decide.", None, "desk")
    assert "unrated" in state["notices"][0]


@pytest.mark.parametrize("answer", [None, 7, "", Call("Buy", "  "), Call("Maybe", "Perhaps.")])
def test_what_is_no_decision_is_refused_and_not_stored(answer):
    world = World(CLOSES).go(WEEKS[0])
    with pytest.raises(UsageError):
        build_graph(world.memory, lambda _: answer).invoke({"ticker": "UP"})
    assert world.memory.entries() == []


def test_without_closes_there_is_no_decision_but_a_policy_of_ones_own_may_go_on():
    world = World({"SPY": CLOSES["SPY"]}).go(WEEKS[0])
    with pytest.raises(PriceError, match="UP"):
        build_graph(world.memory, momentum_policy).invoke({"ticker": "UP"})
    assert world.memory.entries() == []
    graph = build_graph(world.memory, lambda seen: Call("Hold", f"Blind: {seen.brief}"))
    state = graph.invoke({"ticker": "UP"})
    assert state["decision"] == "Blind: no prices for UP: unknown symbol (not in frame)"


def test_a_run_that_a_checkpointer_keeps_starts_afresh_every_day():
    """The date of the first run must not stick to the thread, nor what it found."""
    world = World(CLOSES)
    graph = build_graph(world.memory, momentum_policy, InMemorySaver())
    thread = {"configurable": {"thread_id": "up"}}
    found = []
    for day in WEEKS[:3]:
        world.go(day)
        found.append(graph.invoke({"ticker": "UP"}, thread))
    assert [world.memory.get(state["entry_id"]).date for state in found] == WEEKS[:3]
    assert found[2]["resolved"] == [found[0]["entry_id"]]
    assert all(state["notices"] == [] for state in found)


def test_one_tickers_failure_leaves_the_others_alone():
    world = World({"UP": CLOSES["UP"], "SPY": CLOSES["SPY"]}).go(WEEKS[0])
    graph = build_graph(world.memory, momentum_policy)
    found = graph.batch([{"ticker": "UP"}, {"ticker": "DOWN"}], return_exceptions=True)
    assert found[0]["status"] == "recorded"
    assert isinstance(found[1], TradmemError)


def test_async_runs_work_too():
    import asyncio

    world = World(CLOSES).go(WEEKS[0])
    graph = build_graph(world.memory, momentum_policy)

    async def both():
        return await asyncio.gather(*(graph.ainvoke({"ticker": t}) for t in ("UP", "DOWN")))

    found = asyncio.run(both())
    assert {state["rating"] for state in found} == {"Buy", "Sell"}
    assert len(world.memory.entries()) == 2


def test_a_benchmark_of_the_settings_counts_for_brief_and_outcome():
    world = World(CLOSES, settings=Settings(benchmark="DOWN")).go(WEEKS[0])
    graph = build_graph(world.memory, momentum_policy)
    state = graph.invoke({"ticker": "UP"})
    assert state["brief"]["benchmark"] == "DOWN"
    world.go(WEEKS[2])
    graph.invoke({"ticker": "UP"})
    assert world.memory.get(state["entry_id"]).outcome.benchmark == "DOWN"


@pytest.mark.parametrize("given", [{}, {"date": "2024-06-03"}, {"ticker": None}])
def test_a_run_without_a_ticker_is_refused_in_one_line(given):
    graph = build_graph(World(CLOSES).go(WEEKS[0]).memory, momentum_policy)
    with pytest.raises(UsageError, match="the state has no 'ticker'; start the graph with one"):
        graph.invoke(given)


def test_what_was_resolved_before_a_run_is_handed_on_and_not_asked_again():
    world = World(CLOSES).go(WEEKS[0])
    graph = build_graph(world.memory, momentum_policy)
    first = graph.invoke({"ticker": "UP"})["entry_id"]
    world.go(WEEKS[2])
    report = world.memory.resolve()

    class Broken:
        def fetch(self, spans):
            raise AssertionError("asked again")

    blind = World(CLOSES, world.journal, prices=Broken()).go(WEEKS[2])
    with resolved_before(world.memory, report):
        assert resolve_node(blind.memory)({}) == {"resolved": [first], "notices": []}
        only = resolve_node(blind.memory, ticker="ticker")
        assert only({"ticker": "amd"}) == {"resolved": [], "notices": []}
        other = World(CLOSES).go(WEEKS[2])
        assert resolve_node(other.memory)({})["resolved"] == []

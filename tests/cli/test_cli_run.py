"""``run``: our own agent, or somebody's graph by the conventions of the LangGraph CLI."""

import json
import os
import sys
from datetime import timedelta

import pytest

from tests.cli.world import MONDAY, SETTLED, one_line
from tradmem.model import Status

GRAPH = """
from typing import TypedDict

from langgraph.graph import END, START, StateGraph

from tradmem import Memory
from tradmem.nodes import recall_node, record_node, resolve_node

class State(TypedDict, total=False):
    ticker: str
    date: str
    past_context: str
    recalled: list[str]
    as_of: str
    decision: str
    rating: str
    notices: list[str]
    resolved: list[str]
    entry_id: str
    status: str

def decide(state):
    if state["ticker"] == "AAPL":
        raise RuntimeError("no view\\non apples")
    return {"decision": "Analysts say so.", "rating": "Underweight"}

def build(memory):
    graph = StateGraph(State)
    steps = {
        "resolve": resolve_node(memory), "recall": recall_node(memory),
        "decide": decide, "record": record_node(memory, agent="house"),
    }
    before = START
    for name, step in steps.items():
        graph.add_node(name, step)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph

uncompiled = build(Memory.open())
compiled = uncompiled.compile()

def factory():
    return compiled

def configured(config):
    assert "configurable" in config
    return uncompiled

async def later():
    return compiled

number = 7

silent_graph = StateGraph(State)
silent_graph.add_node("decide", decide)
silent_graph.add_edge(START, "decide")
silent = silent_graph.compile()

async def decide_later(state):
    return {"decision": "Said later.", "rating": "Hold"}

waiting_graph = StateGraph(State)
waiting_graph.add_node("decide", decide_later)
waiting_graph.add_node("record", record_node(Memory.open()))
waiting_graph.add_edge(START, "decide")
waiting_graph.add_edge("decide", "record")
"""


@pytest.fixture(autouse=True)
def path(monkeypatch):
    """The folder of a graph is put on the path, and its modules loaded: for one test."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in [name for name in sys.modules if name.startswith(("house", "_graph_"))]:
        del sys.modules[name]


def declare(world, place="./house.py:compiled", **more) -> None:
    (world.folder / "house.py").write_text(GRAPH)
    graphs = {"agent": place, **more.pop("graphs", {})}
    (world.folder / "langgraph.json").write_text(json.dumps({"graphs": graphs, **more}))


def run(world, *words, **options):
    return world.run("run", *words, "--prices", world.prices, **options)


# Our own agent


def test_our_agent_settles_recalls_decides_and_records(world):
    first = world.record("NVDA")
    world.now = SETTLED
    result = run(world, "nvda")
    assert result.exit_code == 0
    old, new = world.memory.entries()
    assert (old.id, old.status) == (first, Status.RESOLVED)
    assert (new.ticker, str(new.date), new.recalled) == ("NVDA", "2026-01-13", (first,))
    head, *text = result.stdout.splitlines()
    assert head.split() == ["2026-01-13", "NVDA", str(new.rating or "Unrated"), "recorded", new.id]
    assert new.decision.split("\n", maxsplit=1)[0] == text[0].strip()


def test_several_tickers_are_a_line_each_and_a_second_start_does_nothing_twice(world):
    assert [
        line.split()[1:4:2] for line in run(world, "NVDA", "AAPL", "NVDA").stdout.splitlines()
    ] == [
        ["NVDA", "recorded"],
        ["AAPL", "recorded"],
    ]
    again = world.json("run", "NVDA", "AAPL", "--prices", world.prices)
    assert [item["stored"] for item in again] == ["unchanged", "unchanged"]
    assert len(world.memory.entries()) == 2


def test_a_ticker_without_prices_fails_alone_and_stores_nothing(world):
    result = run(world, "MSFT", "NVDA")
    assert result.exit_code == 1
    assert result.stderr == (
        f"tradmem: MSFT: no prices for MSFT: not in this source ({world.prices})\n"
    )
    assert [entry.ticker for entry in world.memory.entries()] == ["NVDA"]
    found = world.json("run", "MSFT", "NVDA", "--prices", world.prices)
    assert found[0]["error"].startswith("no prices for MSFT")
    assert found[1]["error"] is None


def test_a_date_decides_for_that_day(world):
    world.now = SETTLED
    run(world, "NVDA", "--date", "2026-01-09")
    (entry,) = world.memory.entries()
    assert str(entry.date) == "2026-01-09"
    assert entry.decided_at < MONDAY + timedelta(days=5)


def test_the_demos_prices_come_with_their_own_benchmark(world):
    result = world.run("run", "AAPL", "--prices", "demo", "--date", "2022-06-01")
    assert result.exit_code == 0, result.stderr
    (entry,) = world.memory.entries()
    assert "^GSPC" in entry.decision


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["NVDA", "A|B"], "'A|B' is no ticker"),
        (["NVDA\nX"], "is no ticker"),
        (["../x"], "is no ticker"),
        (["NVDA", "--date", "2026-02-30"], "is no date"),
        (["NVDA", "--date", "2026-01-07"], "later than today"),
        (["NVDA", "--graph", "nowhere:graph"], "the graph nowhere:graph cannot be loaded"),
        (["NVDA", "--graph", "nowhere"], "there is no graph 'nowhere'"),
        (["NVDA", "--graph", "./nowhere.py:graph"], "there is no file"),
        (["NVDA", "--graph", "json:nowhere"], "has no attribute 'nowhere'"),
        (["NVDA", "--graph", "json:decoder"], "is no graph but module"),
        ([], "missing argument 'TICKER...'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(world, words, said):
    result = run(world, *words)
    assert result.exit_code == 2
    assert said in one_line(result)
    assert not world.log.parent.exists()


# Somebody's graph


@pytest.mark.parametrize("name", ["compiled", "uncompiled", "factory", "configured", "later"])
def test_the_graph_that_langgraph_json_declares_decides(world, name):
    declare(world, f"./house.py:{name}")
    world.record("NVDA")
    world.now = SETTLED
    result = run(world, "NVDA")
    assert result.exit_code == 0, result.stderr
    old, new = world.memory.entries()
    assert old.outcome.source == world.prices.name  # it works with what the options say
    assert (new.rating, new.agent, new.recalled) == ("Underweight", "house", (old.id,))
    assert result.stdout.split()[:5] == ["2026-01-13", "NVDA", "Underweight", "recorded", new.id]
    assert "the graph agent decides (./house.py:" in result.stderr


def test_a_graph_of_async_nodes_is_driven_too(world):
    declare(world, "./house.py:waiting_graph")
    result = run(world, "NVDA")
    assert result.exit_code == 0, result.stderr
    assert world.memory.entries()[0].decision == "Said later."


def test_a_failure_in_a_node_stays_with_its_ticker(world):
    declare(world)
    result = run(world, "AAPL", "NVDA")
    assert result.exit_code == 1
    assert "tradmem: AAPL: RuntimeError: no view on apples; --debug shows where\n" in result.stderr
    assert [entry.ticker for entry in world.memory.entries()] == ["NVDA"]
    assert "Traceback" in run(world, "AAPL", "--debug").stderr


def test_a_graph_that_stores_nothing_is_told_so(world):
    declare(world, "./house.py:silent")
    result = run(world, "NVDA")
    assert result.exit_code == 0
    assert "NVDA  Underweight  not stored" in result.stdout
    assert "the graph stored no decision" in result.stderr
    assert world.memory.entries() == []


def test_one_of_several_graphs_has_to_be_named(world):
    declare(world, graphs={"quiet": {"path": "./house.py:silent"}})
    result = run(world, "NVDA")
    assert result.exit_code == 2
    assert "several graphs (agent, quiet); name one with --graph" in one_line(result)
    assert "the graph quiet decides" in run(world, "NVDA", "--graph", "quiet").stderr


def test_a_graph_may_be_named_by_module_or_path(world):
    (world.folder / "house.py").write_text(GRAPH)
    for name in ("house:compiled", "house.py:compiled", "./house.py:compiled"):
        result = run(world, "NVDA", "--graph", name)
        assert result.exit_code == 0, result.stderr
        assert f"the graph {name} decides" in result.stderr


def test_the_environment_that_langgraph_json_names_is_set(world, monkeypatch):
    monkeypatch.setenv("HOUSE_SET", "outside")
    monkeypatch.delenv("HOUSE_KEY", raising=False)
    (world.folder / ".env").write_text("# keys\nHOUSE_KEY='a=b'\nexport HOUSE_SET=inside\n\n")
    declare(world, env=".env")
    run(world, "NVDA")
    assert (os.environ.pop("HOUSE_KEY"), os.environ["HOUSE_SET"]) == ("a=b", "outside")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot read"),
        ("[]", "declares no graphs"),
        ('{"graphs": {"agent": 7}}', "the graph 'agent' needs a place"),
        ('{"graphs": {"agent": "./gone.py:graph"}}', "there is no file"),
        ('{"graphs": {"agent": "./house.py:number"}}', "is no graph but int"),
        ('{"graphs": {"agent": "./broken.py:graph"}}', "ZeroDivisionError: division by zero"),
        ('{"graphs": {"agent": "./house.py:graph"}, "env": "none.env"}', "none.env"),
    ],
)
def test_a_declaration_that_leads_nowhere_is_one_line(world, text, said):
    declare(world)
    (world.folder / "broken.py").write_text("1 / 0")
    (world.folder / "langgraph.json").write_text(text)
    result = run(world, "NVDA")
    assert result.exit_code == 2
    assert said in one_line(result)
    assert not world.log.parent.exists()

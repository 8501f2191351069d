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
    print("noise")
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


def rows(result, heading):
    """The rows of a table of the digest, in words."""
    lines = result.stdout.split(f"\n{heading}\n")[1].split("\n\n")[0].splitlines()
    return [line.split() for line in lines[1:]]


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
    assert rows(result, "Decided") == [
        ["2026-01-13", "NVDA", str(new.rating or "Unrated"), "recorded", new.id]
    ]
    assert f"\n  {new.decision.splitlines()[0]}\n" in result.stdout
    assert rows(result, "Resolved")[0][:4] == ["2026-01-05", "NVDA", "Buy", "right"]
    assert "1 decided, 1 resolved (1 right), 1 lesson, 1 pending" in result.stdout


def test_a_second_start_on_the_same_day_does_nothing_and_says_so(world):
    first = run(world, "NVDA", "AAPL", "NVDA")
    assert [row[1] for row in rows(first, "Decided")] == ["NVDA", "AAPL"]
    before = world.log.read_bytes()
    again = run(world, "NVDA", "AAPL")
    assert again.exit_code == 0
    assert "nothing to do: NVDA, AAPL decided already" in again.stdout
    assert [row[3:5] for row in rows(again, "Decided")] == [["decided", "before"]] * 2
    assert world.log.read_bytes() == before


def test_events_are_one_object_a_line(world):
    events = [json.loads(line) for line in run(world, "MSFT", "NVDA", "--json").stdout.splitlines()]
    kinds = [event["event"] for event in events]
    assert (kinds[0], kinds[-1]) == ("started", "ended")
    assert [e["node"] for e in events if e.get("node") and e["ticker"] == "NVDA"] == [
        "resolve", "recall", "analyse", "decide", "record",
    ]  # fmt: skip
    (entry,) = world.memory.entries()
    told = {event["ticker"]: event for event in events if event["event"] == "ticker"}
    assert (told["NVDA"]["id"], told["NVDA"]["decision"]) == (entry.id, entry.decision)
    assert told["MSFT"]["error"].startswith("no prices for MSFT")
    ended = events[-1]
    assert (ended["state"], ended["calls"], ended["cost"]) == ("failed", 0, 0.0)
    assert [item["outcome"] for item in ended["tickers"]] == ["failed", "decided"]
    assert ended["failures"][0]["todo"].startswith("take a source that has it")


def test_a_ticker_without_prices_fails_alone_and_stores_nothing(world):
    result = run(world, "MSFT", "NVDA")
    assert result.exit_code == 1
    assert f"tradmem: MSFT: no prices for MSFT: not in this source ({world.prices})\n" in (
        result.stderr
    )
    assert "Failed\n  MSFT: no prices for MSFT" in result.stdout
    assert [entry.ticker for entry in world.memory.entries()] == ["NVDA"]


def test_quiet_says_only_what_went_wrong(world):
    result = run(world, "MSFT", "NVDA", "--quiet")
    assert (result.exit_code, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("tradmem: MSFT: no prices for MSFT")
    assert "take the ticker off the watchlist" in line
    assert run(world, "NVDA", "-q").output == ""


def test_a_watchlist_is_a_file_of_tickers_and_adds_to_those_that_are_named(world):
    path = world.folder / "tickers.txt"
    path.write_text("# mine\nnvda, AAPL  # two\n\nSPY\n")
    result = run(world, "AAPL", "--watchlist", path)
    assert result.exit_code == 0
    assert [row[1] for row in rows(result, "Decided")] == ["AAPL", "NVDA", "SPY"]
    piped = run(world, "--watchlist", "-", input="SPY\n")
    assert "nothing to do: SPY decided already" in piped.stdout


def test_the_settings_name_the_watchlist_where_nothing_else_does(world):
    (world.folder / "tradmem.toml").write_text('watchlist = ["NVDA", "SPY"]\n')
    assert [row[1] for row in rows(run(world), "Decided")] == ["NVDA", "SPY"]
    assert "nothing to do: SPY decided already" in run(world, "SPY").stdout


def test_a_closed_exchange_is_left_out_where_that_is_asked_for(world):
    """The third of January 2026 is a Saturday."""
    world.now = MONDAY - timedelta(days=2)
    result = run(world, "NVDA", "AAPL", "--skip-closed")
    assert result.exit_code == 0
    assert "nothing to do: NVDA, AAPL without a session on 2026-01-03" in result.stdout
    assert not world.log.exists()
    assert run(world, "NVDA").exit_code == 0
    assert str(world.memory.entries()[0].date) == "2026-01-03"


def test_another_run_under_way_is_waited_for_or_left(world):
    from tradmem.running.record import RunLog

    world.log.parent.mkdir()
    with RunLog(world.log).lock.held(0):
        result = run(world, "NVDA", "--no-wait")
        assert result.exit_code == 3
        assert "another run over" in one_line(result)
        waited = run(world, "NVDA", "--wait", "0.2")
        assert waited.exit_code == 3
        assert "waiting 0.2 s for it at most" in waited.stderr
    assert not world.log.exists()
    assert run(world, "NVDA", "--no-wait").exit_code == 0


def test_what_comes_due_between_two_starts_is_resolved_by_the_second(world):
    world.record("NVDA")
    world.now = SETTLED - timedelta(hours=24)  # the exit session has not closed yet
    run(world, "AAPL")
    world.now += timedelta(hours=11)
    result = run(world, "AAPL", "--date", "2026-01-12")
    assert (
        "nothing to decide: AAPL decided already, 1 resolved (1 right), 1 lesson" in result.stdout
    )


def test_the_demos_prices_need_a_day_that_they_have(world):
    result = world.run("run", "AAPL", "--prices", "demo")
    assert result.exit_code == 2
    assert "the demo's prices end on 2022-12-28; name a day with --date" in one_line(result)


def test_a_ticker_that_the_demo_lacks_is_told_those_that_it_has(world):
    result = world.run("run", "FOO", "--prices", "demo", "--date", "2022-06-01")
    assert result.exit_code == 1
    assert "not in this source (the demo's prices: AAPL, JNJ, JPM, WMT, XOM)" in result.stderr


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
        ([], "name tickers to decide on, a file of them"),
        (["--watchlist", "gone.txt"], "cannot read the watchlist gone.txt: no such file"),
        (["NVDA", "--wait", "nan"], "'nan' is no number from 0 on"),
        (["NVDA", "--concurrency", "0"], "0 is not in the range"),
        (["NVDA", "--max-cost", "inf"], "'inf' is no number from 0 on"),
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
    assert rows(result, "Decided") == [["2026-01-13", "NVDA", "Underweight", "recorded", new.id]]
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
    assert "in decide" in run(world, "AAPL", "--debug").stderr


def test_a_graph_that_stores_nothing_is_told_so(world):
    declare(world, "./house.py:silent")
    result = run(world, "NVDA")
    assert result.exit_code == 0
    assert rows(result, "Decided") == [["2026-01-05", "NVDA", "Underweight", "not", "stored"]]
    assert "the graph stored no decision" in result.stderr
    assert world.memory.entries() == []


def test_what_a_graph_prints_is_neither_digest_nor_event(world):
    declare(world)
    result = run(world, "NVDA")
    assert ("noise" in result.stdout, "noise" in result.stderr) == (False, True)
    for line in run(world, "SPY", "--json").stdout.splitlines():
        json.loads(line)


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

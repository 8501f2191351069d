"""The deployable application: loaded by its path, as a server does."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tests.agent_world import World, random_closes
from tradmem.errors import LogError, PriceError
from tradmem.journal.markdown import MarkdownJournal
from tradmem.market.frames import FramePrices
from tradmem.memory import Memory
from tradmem.model import Status
from tradmem.variables import VARIABLES

ROOT = Path(__file__).parents[1]
APP = ROOT / "graph" / "agent.py"
CLOSES = random_closes(["NVDA", "SPY"], 330)


def load(monkeypatch, log, path=APP):
    """The module, as the LangGraph server loads it: from its file, in no package."""
    monkeypatch.setenv("TRADMEM_LOG", str(log))
    for name in (*VARIABLES["api_key"], *VARIABLES["base_url"]):
        monkeypatch.delenv(name, raising=False)
    spec = spec_from_file_location("deployed", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_langgraph_json_names_the_graph():
    declared = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    (target,) = declared.values()
    path, attribute = target.rsplit(":", 1)
    assert (ROOT / path).resolve() == APP
    assert attribute == "graph"


def test_the_graph_is_compiled_and_leaves_storage_to_the_server(monkeypatch, tmp_path):
    from langgraph.graph.state import CompiledStateGraph

    graph = load(monkeypatch, tmp_path / "memory.md").graph
    assert isinstance(graph, CompiledStateGraph)
    assert graph.checkpointer is None
    assert graph.store is None
    assert set(graph.get_input_jsonschema()["properties"]) == {"ticker", "date"}
    names = ["resolve", "recall", "analyse", "decide", "record"]
    assert [name for name in graph.get_graph().nodes if not name.startswith("__")] == names


def test_loading_it_writes_nothing(monkeypatch, tmp_path):
    load(monkeypatch, tmp_path / "logs" / "memory.md")
    assert list(tmp_path.iterdir()) == []


def test_it_imports_tradmem_and_langgraph_only_by_full_names():
    tree = ast.parse(APP.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module.split(".")[0] in {"tradmem", "langgraph"}
        assert not isinstance(node, ast.Import)


def test_a_run_decides_on_the_memory_that_is_handed_out(monkeypatch, tmp_path):
    """The deployed graph's own nodes, on prices and a clock of the test."""
    world = World(CLOSES, MarkdownJournal(tmp_path / "memory.md"))
    with world.memory.handed_out():
        graph = load(monkeypatch, "").graph
    state = graph.invoke({"ticker": "NVDA"})
    (entry,) = Memory.open(tmp_path / "memory.md").entries()
    assert (entry.id, entry.status) == (state["entry_id"], Status.PENDING)


def test_it_works_on_the_log_that_the_environment_names(monkeypatch, tmp_path):
    graph = load(monkeypatch, tmp_path).graph
    with pytest.raises(LogError, match=f"cannot write {tmp_path}: it is a folder"):
        graph.invoke({"ticker": "NVDA"})


EXAMPLES = re.findall(
    r"```python\n(.*?)```", APP.with_name("README.md").read_text(encoding="utf-8"), re.DOTALL
)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_in_the_readme_builds_a_graph(number, tmp_path):
    """In a subprocess, since it opens the log that the environment names."""
    shutil.copytree(APP.parent, tmp_path / "graph")
    code = EXAMPLES[number] + "\nprint(sorted(graph.get_graph().nodes))"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TRADMEM_LOG": "memory.md"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=env,
    )
    assert done.returncode == 0, done.stderr
    assert "'record'" in done.stdout
    assert not (tmp_path / "memory.md").exists()


def test_two_analysts_debate_and_the_decision_remembers_what_it_saw(monkeypatch, tmp_path):
    world = World(CLOSES, MarkdownJournal(tmp_path / "memory.md"))
    days = list(CLOSES["NVDA"])
    with world.memory.handed_out():
        debate = load(monkeypatch, "", APP.with_name("debate.py"))
        world.go(days[300])
        first = debate.graph.invoke({"ticker": "NVDA"})
        world.go(days[306])
        nodes = [next(iter(step)) for step in debate.graph.stream({"ticker": "NVDA"})]
    assert nodes == [
        "resolve",
        "recall",
        "analyse",
        "bull_speaks",
        "bear_speaks",
        "judge",
        "record",
    ]
    old, new = world.memory.entries()
    assert (old.agent, old.status, new.recalled) == ("debate", Status.RESOLVED, (old.id,))
    assert first["bull"].startswith("Bull: ")
    assert first["bull"] in old.decision
    assert first["bear"] in old.decision
    assert old.rating == first["rating"]


def test_the_judge_leans_to_the_side_with_more_points(monkeypatch, tmp_path):
    """A ticker that rises over every span against one that falls over every span."""
    closes = random_closes(["UP", "DOWN", "SPY"], 330, drift={"UP": 0.01, "DOWN": -0.01})
    world = World(closes, MarkdownJournal(tmp_path / "memory.md"))
    with world.memory.handed_out():
        debate = load(monkeypatch, "", APP.with_name("debate.py"))
        found = {name: debate.graph.invoke({"ticker": name})["rating"] for name in ("UP", "DOWN")}
    assert found == {"UP": "Buy", "DOWN": "Sell"}


def test_a_voice_of_ones_own_speaks_for_both_sides(monkeypatch, tmp_path):
    world = World(CLOSES, MarkdownJournal(tmp_path / "memory.md"))
    heard = []

    def speak(side, state):
        heard.append((side, state.get("bull"), bool(state["analysis"])))
        return f"I am the {side}."

    debate = load(monkeypatch, tmp_path / "other.md", APP.with_name("debate.py"))
    debate.build(world.memory, speak).invoke({"ticker": "NVDA"})
    assert heard == [("bull", None, True), ("bear", "I am the bull.", True)]
    assert "I am the bear." in world.memory.entries()[0].decision


def test_without_prices_nobody_has_an_opinion(monkeypatch, tmp_path):
    world = World(CLOSES, MarkdownJournal(tmp_path / "memory.md"), prices=FramePrices({}))
    debate = load(monkeypatch, tmp_path / "other.md", APP.with_name("debate.py"))
    with pytest.raises(PriceError):
        debate.build(world.memory).invoke({"ticker": "NVDA"})
    assert world.memory.entries() == []

"""The deployable application: loaded by its path, as a server does."""

import ast
import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tests.agent_world import World, random_closes
from tradmem.errors import LogError
from tradmem.journal.markdown import MarkdownJournal
from tradmem.memory import Memory
from tradmem.model import Status
from tradmem.variables import VARIABLES

ROOT = Path(__file__).parents[1]
APP = ROOT / "graph" / "agent.py"
CLOSES = random_closes(["NVDA", "SPY"], 330)


def load(monkeypatch, log):
    """The module, as the LangGraph server loads it: from its file, in no package."""
    monkeypatch.setenv("TRADMEM_LOG", str(log))
    for name in (*VARIABLES["api_key"], *VARIABLES["base_url"]):
        monkeypatch.delenv(name, raising=False)
    spec = spec_from_file_location("deployed", APP)
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


def test_the_example_in_the_readme_builds_a_graph():
    """In a subprocess, since it opens the log that the environment names."""
    text = APP.with_name("README.md").read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    code += "\nprint(sorted(graph.get_graph().nodes))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "'decide'" in done.stdout

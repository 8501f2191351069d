"""``run`` in a process of its own: signals, and pipes of every kind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tradmem.journal.markdown import MarkdownJournal
from tradmem.running import RunLog, RunState

ROOT = Path(__file__).parents[2]
HOUSE = """
import pathlib, time
from typing import TypedDict
from langgraph.graph import END, START, StateGraph
from tradmem import Memory
from tradmem.nodes import record_node

class State(TypedDict, total=False):
    ticker: str
    date: str
    decision: str
    entry_id: str
    status: str
    notices: list[str]

def decide(state):
    pathlib.Path("begun-" + state["ticker"]).touch()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        time.sleep(0.01)
    text = "**Rating**: Hold\\n\\nCaf\\u00e9 \\u4e70 \\u2026"
    return {"decision": text, "notices": ["\\u4e70 \\U0001f680"]}

graph = StateGraph(State)
graph.add_node("decide", decide)
graph.add_node("record", record_node(Memory.open()))
graph.add_edge(START, "decide")
graph.add_edge("decide", "record")
graph.add_edge("record", END)
graph = graph.compile()
"""


def start(folder, *words, seconds=0.0, **options):
    (folder / "house.py").write_text(HOUSE.replace("SECONDS", str(seconds)), encoding="utf-8")
    (folder / "langgraph.json").write_text('{"graphs": {"agent": "./house.py:graph"}}')
    env = {name: value for name, value in os.environ.items() if not name.startswith("TRADMEM_")}
    env |= {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", **options.pop("env", {})}
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    command = [sys.executable, "-m", "tradmem", "run", *words]
    return subprocess.Popen(command, cwd=folder, env=env, **given)


def until_begun(folder, ticker="NVDA"):
    for _ in range(600):
        if (folder / f"begun-{ticker}").exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{ticker} was never begun")


def recorded(folder):
    return [entry.ticker for entry in MarkdownJournal(folder / "logs" / "memory.md").entries()]


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_signal_ends_what_is_in_hand_and_says_what_is_left(tmp_path, name, status):
    process = start(tmp_path, "NVDA", "AMD", "--concurrency", "1", seconds=0.5)
    until_begun(tmp_path)
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=30)
    assert process.returncode == status, err
    assert recorded(tmp_path) == ["NVDA"]
    assert f"interrupted ({name}), 1 decided, 1 interrupted" in out.decode()
    assert "Not reached\n  AMD - run again later" in out.decode()
    (run,) = RunLog(tmp_path / "logs" / "memory.md").runs()
    assert (run.state, run.data["stopped"]) == (RunState.INTERRUPTED, name)
    again = start(tmp_path, "NVDA", "AMD", "-q")
    assert (again.communicate(timeout=60), again.returncode)[1] == 0
    assert recorded(tmp_path) == ["NVDA", "AMD"]


def test_a_second_signal_leaves_what_is_in_hand_at_once(tmp_path):
    process = start(tmp_path, "NVDA", seconds=60)
    until_begun(tmp_path)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    time.sleep(0.4)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 143
    assert time.monotonic() - began < 8
    assert b"a second signal leaves it" in err
    assert recorded(tmp_path) == []


@pytest.mark.parametrize("encoding", ["gbk", "cp1252", "ascii", "utf-8"])
def test_any_pipe_takes_what_is_printed(tmp_path, encoding):
    process = start(tmp_path, "NVDA", env={"PYTHONIOENCODING": encoding})
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "Rating" in out.decode(encoding)
    assert "tradmem: NVDA: Hold, recorded" in err.decode(encoding).replace("\r", "")
    again = start(tmp_path, "NVDA", "--json", env={"PYTHONIOENCODING": encoding})
    lines = again.communicate(timeout=60)[0].decode("ascii").splitlines()
    assert json.loads(lines[-1])["state"] == "nothing to do"


def test_a_reader_that_leaves_stops_no_decision(tmp_path):
    process = start(tmp_path, "NVDA", "AMD", "--json", "--concurrency", "1", seconds=0.2)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(30) in (0, 141), process.stderr.read()
    process.stderr.close()
    assert recorded(tmp_path) == ["NVDA", "AMD"]


def test_a_signal_while_another_run_is_waited_for_ends_the_wait(tmp_path):
    (tmp_path / "logs").mkdir()
    with RunLog(tmp_path / "logs" / "memory.md").lock.held(0):
        process = start(tmp_path, "NVDA", stderr=subprocess.STDOUT)
        told = b""
        while b"another run is under way" not in told:
            told = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 143
    assert not (tmp_path / "logs" / "memory.md").exists()

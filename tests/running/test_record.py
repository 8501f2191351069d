"""The record of runs: lines that are only added, and what can be told from them."""

import json
import signal
import subprocess
import sys
from datetime import date, timedelta

import pytest

from tests.agent_world import World, random_closes
from tradmem.errors import LogError
from tradmem.journal.markdown import MarkdownJournal
from tradmem.running import RunLog, RunState, run_once

CLOSES = random_closes(["NVDA", "AMD", "SPY"], 330)
DAYS = list(CLOSES["NVDA"])
AT = "2026-01-05T15:00:00Z"


@pytest.fixture
def log(tmp_path):
    return RunLog(tmp_path / "logs" / "memory.md")


def begin(log, run="a", graph="tradmem", **more):
    log.add("started", run, AT, started=AT, graph=graph, **more)


def test_a_run_is_told_by_its_lines(log):
    assert log.runs() == []
    begin(log)
    log.add("ticker", "a", AT, ticker="NVDA", date="2026-01-05", id="0123456789ab")
    log.add("ended", "a", AT, started=AT, state="done", graph="tradmem", calls=3)
    (run,) = log.runs()
    assert (run.id, run.state, run.graph) == ("a", RunState.DONE, "tradmem")
    assert run.decided == {("NVDA", date(2026, 1, 5)): "0123456789ab"}
    assert run.data["calls"] == 3
    assert run.ended == run.started


def test_what_has_no_end_died_unless_it_is_under_way(log):
    begin(log, "a")
    begin(log, "b")
    assert [run.state for run in log.runs()] == [RunState.DIED, RunState.DIED]
    with log.lock.held(0):
        assert [run.state for run in log.runs()] == [RunState.DIED, RunState.UNDER_WAY]


def test_decisions_are_told_by_graph(log):
    for run, graph in (("a", "one"), ("b", "two")):
        begin(log, run, graph)
        log.add("ticker", run, AT, ticker="NVDA", date="2026-01-05", id=run * 12)
    assert log.decided("one") == {("NVDA", date(2026, 1, 5)): "a" * 12}
    assert log.decided("three") == {}


def test_a_line_that_cannot_be_read_costs_no_other(log):
    begin(log, "a")
    with log.path.open("ab") as file:
        file.write(b'\xff\xfe\n[]\n7\n{"run":"x"}\n{"run":"y","event":"ended","at":"never"}\n')
        file.write(b'{"event":"started","run":"torn')
    begin(log, "b")
    log.add("ticker", "b", AT, ticker="NVDA", date="someday", id="b" * 12)
    assert [(run.id, dict(run.decided)) for run in log.runs()] == [("a", {}), ("b", {})]


def test_a_record_that_cannot_be_read_or_written_is_one_line(log):
    log.path.mkdir(parents=True)
    with pytest.raises(LogError, match="cannot read the record of runs in"):
        log.runs()
    with pytest.raises(LogError, match="cannot write"):
        begin(log)


def test_two_logs_in_one_folder_have_a_record_each(tmp_path):
    one, two = RunLog(tmp_path / "memory.md"), RunLog(tmp_path / "memory.txt")
    begin(one)
    assert (len(one.runs()), two.runs()) == (1, [])
    with one.lock.held(0), two.lock.held(0):
        pass


def test_the_last_line_holds_the_whole_run(tmp_path):
    world = World(CLOSES, MarkdownJournal(tmp_path / "memory.md")).go(DAYS[300])
    run_once(world.memory, ["NVDA"])
    world.go(DAYS[306] + timedelta(0))
    report = run_once(world.memory, ["NVDA", "AMD"])
    lines = (tmp_path / "memory.md.runs.jsonl").read_text().splitlines()
    ended = json.loads(lines[-1])
    assert ended["event"] == "ended"
    assert ended["run"] == report.id
    assert [t["outcome"] for t in ended["tickers"]] == ["decided", "decided"]
    assert ended["resolved"]["settled"] == [world.memory.entries()[0].id]
    assert sum(ended["resolved"]["verdicts"].values()) == 1
    assert [pending["ticker"] for pending in ended["pending"]] == ["AMD", "NVDA"]
    assert (ended["calls"], ended["cost"], ended["failures"]) == (0, 0.0, [])


CRASH = """
import os, signal, sys
from tests.agent_world import World
from tests.running.test_record import CLOSES, DAYS
from tradmem.agent import Call, build_graph
from tradmem.journal.markdown import MarkdownJournal
from tradmem.running import RunOptions, run_once
from langgraph.checkpoint.sqlite import SqliteSaver

folder, deadly, name = sys.argv[1], sys.argv[2], sys.argv[3]

def decide(situation):
    with open(f"{folder}/paid", "a") as file:
        file.write(situation.ticker + "\\n")
    return Call("Buy", f"Paid for {situation.ticker}.")

world = World(CLOSES, MarkdownJournal(f"{folder}/memory.md")).go(DAYS[300])
store = world.memory.record

def record(ticker, *args, **kwargs):
    if ticker == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    return store(ticker, *args, **kwargs)

world.memory.record = record
with SqliteSaver.from_conn_string(f"{folder}/checkpoints.sqlite") as saver:
    graph = build_graph(world.memory, decide, saver if name == "kept" else None, agent="house")
    options = RunOptions(concurrency=1)
    report = run_once(world.memory, ["NVDA", "AMD"], graph=graph, options=options)
print(*(item.fate for item in report.tickers), sep="; ")
"""


def crash(folder, deadly="", name="kept"):
    command = [sys.executable, "-W", "ignore", "-c", CRASH, str(folder), deadly, name]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_run_that_died_after_the_model_call_goes_on_without_paying_again(tmp_path):
    """With a checkpointer; the killed process had decided on the second ticker, not stored it."""
    died = crash(tmp_path, deadly="AMD")
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert (tmp_path / "paid").read_text().split() == ["NVDA", "AMD"]
    log = RunLog(tmp_path / "memory.md")
    assert [run.state for run in log.runs()] == [RunState.DIED]
    again = crash(tmp_path)
    assert again.stdout.strip() == "decided before; decided", again.stderr
    assert (tmp_path / "paid").read_text().split() == ["NVDA", "AMD"]
    entries = MarkdownJournal(tmp_path / "memory.md").entries()
    assert [(entry.ticker, entry.decision) for entry in entries] == [
        ("NVDA", "Paid for NVDA."),
        ("AMD", "Paid for AMD."),
    ]
    assert [run.state for run in log.runs()] == [RunState.DIED, RunState.DONE]


def test_without_a_checkpointer_only_what_was_not_stored_is_paid_for_again(tmp_path):
    crash(tmp_path, deadly="AMD", name="none")
    again = crash(tmp_path, name="none")
    assert again.stdout.strip() == "decided before; decided", again.stderr
    assert (tmp_path / "paid").read_text().split() == ["NVDA", "AMD", "AMD"]
    assert len(MarkdownJournal(tmp_path / "memory.md").entries()) == 2

"""``replay``: what a person types, and what comes of it."""

import json

import pytest

from tests.cli.world import one_line
from tradmem import MarkdownJournal

ARGS = ["replay", "NVDA", "AAPL", "--start", "2025-07-01", "--end", "2025-12-31"]


def replayed(world, *more):
    return world.run(*ARGS, "--prices", str(world.prices), *more, log=False)


def test_a_replay_prints_figures_simpler_rules_and_what_to_mind(world):
    done = replayed(world)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("54 decisions on 2 tickers from 2025-07-01 to 2025-12-31;")
    for words in ("By rating", "always Buy", "12-1 momentum", "entry at a close is a convention"):
        assert words in done.stdout
    assert not world.log.exists()


def test_json_is_one_object_with_what_the_page_says(world):
    (told,) = json.loads(replayed(world, "--json", "--every", "month", "--seed", "3").stdout)
    assert told["attrition"]["decided"] == told["decided"] == 12
    assert (told["every"], told["decide_at"], told["optimistic"]) == ("month", "close", False)
    assert {rival["name"] for rival in told["rivals"]} >= {"always Buy", "always Hold", "chance"}


def test_a_log_keeps_the_replay_and_is_gone_on_with(world):
    short = ["--log", "study/replay.md", "--agent", "mom", "--horizon", "3"]
    first = world.run(*ARGS[:-1], "2025-09-30", "--prices", str(world.prices), *short, log=False)
    again = replayed(world, *short)
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert "28 of them from an earlier run" in " ".join(again.stdout.split())
    entries = MarkdownJournal(world.folder / "study" / "replay.md").entries()
    assert {(e.agent, e.recorded.horizon) for e in entries} == {("mom", 3)}


def test_your_own_log_is_refused(world):
    world.run("record", "NVDA", "Buy")
    done = replayed(world, "--log", "logs/memory.md")
    assert done.exit_code == 2
    assert "replay into a log of its own" in one_line(done)


def test_hindsight_of_the_entry_close_is_shouted(world):
    done = replayed(world, "--decide-at", "same_close")
    assert done.stdout.startswith("OPTIMISTIC")


@pytest.mark.parametrize("decide_at", ["close", "before_close", "same_close"])
def test_the_log_of_a_replay_passes_the_audit_and_hindsight_of_a_close_is_told(world, decide_at):
    done = replayed(world, "--log", "study/replay.md", "--decide-at", decide_at)
    withheld = sum(len(e.withheld) for e in MarkdownJournal("study/replay.md").entries())
    assert withheld > 0
    assert f"{withheld} of " in done.stdout
    told = world.run("audit", "--log", "study/replay.md", log=False)
    assert (told.exit_code, told.stdout) == (0, "")
    assert "none before it was known" in told.stderr
    assert ("54 decisions were replayed with same_close" in told.stderr) is (
        decide_at == "same_close"
    )


def test_names_can_be_hidden(world):
    assert replayed(world, "--anonymise").exit_code == 0


def test_a_graph_decides_with_the_replay_s_memory(world):
    (world.folder / "mine.py").write_text(
        "from tradmem.memory import Memory\n"
        "class Compiled:\n"
        "    memory = Memory.open()\n"
        "    def invoke(self, state, config=None):\n"
        "        seen = self.memory.recall(state['ticker'])\n"
        "        now = self.memory.clock().date()\n"
        "        text = f'Sell. {now}'\n"
        "        self.memory.record(state['ticker'], state['date'], text, recalled=seen)\n"
        "        return state\n"
        "graph = Compiled()\n",
        encoding="utf-8",
    )
    done = replayed(world, "--graph", "mine.py:graph", "--log", "study/graph.md")
    assert done.exit_code == 0, done.output
    entries = MarkdownJournal(world.folder / "study" / "graph.md").entries()
    assert len(entries) == 54
    assert all(str(entry.date) in entry.decision for entry in entries)
    assert entries[-1].recalled


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["replay"], "missing argument"),
        (["replay", "NVDA", "--start", "2025-01-01"], "missing option '--end'"),
        ([*ARGS, "--every", "fortnight"], "every='fortnight'"),
        ([*ARGS[:2], "MSFT", *ARGS[3:]], "no prices for MSFT"),
        ([*ARGS[:4], "2027-01-01", "--end", "2027-02-01"], "nothing was decided"),
        ([*ARGS[:4], "1990-01-02", "--end", "1990-01-31"], "the last 10 sessions (10 times)"),
        ([*ARGS, "--graph", "nothing.py:graph"], "there is no file"),
    ],
)
def test_what_cannot_be_is_one_line(world, args, message):
    done = world.run(*args, "--prices", str(world.prices), log=False)
    assert done.exit_code in (1, 2)
    assert message in one_line(done)

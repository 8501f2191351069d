"""``status`` on the daily runs, and on what the last one left to do."""

import json

from tests.cli.world import SETTLED, write_closes
from tradmem.running import RunLog


def run(world, *words):
    return world.run("run", *words, "--prices", world.prices, "--retries", "0")


def test_the_last_runs_are_listed_and_a_good_one_needs_nobody(world):
    run(world, "NVDA", "AAPL")
    world.now = SETTLED
    run(world, "NVDA")
    result = world.run("status")
    assert result.exit_code == 0
    lines = result.stdout.split("Last runs\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[3:] for line in lines[1:]] == [["done", "1", "2"], ["done", "2"]]
    (found,) = world.json("status")
    assert [each["state"] for each in found["runs"]] == ["done", "done"]
    assert "Nothing needs a person." in result.stdout


def test_a_run_that_failed_needs_a_person_until_one_goes_well(world):
    run(world, "NVDA", "MSFT")
    result = world.run("status")
    assert result.exit_code == 1
    assert "the run of 2026-01-05 15:04 UTC failed: MSFT: no prices for MSFT" in result.stdout
    assert "take the ticker off the watchlist" in result.stdout
    run(world, "NVDA")
    assert world.run("status").exit_code == 0


def test_a_failure_about_entries_is_over_once_they_have_an_outcome(world):
    world.record("NVDA")
    world.now = SETTLED
    empty = write_closes(world.folder / "other.csv", "SPY")
    run = ("run", "SPY", "--prices", empty, "--retries", "0")
    assert world.run(*run).exit_code == 1
    said = world.run("status").stdout
    assert "failed: NVDA 2026-01-05" in said
    assert "it stays due, and the next run asks again by itself" in said
    world.resolve()
    result = world.run("status")
    assert "failed: NVDA" not in result.stdout
    assert result.exit_code == 0


def test_a_run_that_was_killed_is_told_and_one_under_way_is_not_blamed(world):
    log = RunLog(world.log)
    at = "2026-01-05T15:00:00Z"
    world.record("NVDA")
    log.add("started", "a", at, started=at, graph="tradmem")
    result = world.run("status")
    assert result.exit_code == 1
    assert "the run of 2026-01-05 15:00 UTC was killed before its end" in result.stdout
    with log.lock.held(0):
        result = world.run("status")
    assert result.exit_code == 0
    assert "under way" in result.stdout
    log.add("ended", "a", at, started=at, state="interrupted", stopped="SIGTERM")
    assert "was interrupted (SIGTERM)" in world.run("status").stdout


def test_a_record_that_somebody_spoilt_breaks_nothing(world):
    world.record("NVDA")
    log = RunLog(world.log)
    at = "2026-01-05T15:00:00Z"
    spoilt = {"tickers": 7, "failures": [3], "resolved": [], "calls": "many", "cost": []}
    log.add("ended", "a", at, started=at, state="failed", **spoilt)
    assert world.run("status").exit_code == 0
    assert json.loads(world.run("status", "--json").stdout)[0]["runs"][0]["failures"] == []


def test_odd_lines_in_the_record_of_runs_break_nothing(world):
    world.record()
    ended = '"event":"ended","at":"2026-01-05T00:00:00Z","started":"2026-01-05T00:00:00Z"'
    world.log.with_name("memory.md.runs.jsonl").write_text(
        'null\n[]\n{"half\n{"event":"started","run":"w"}\n'
        f'{{{ended},"run":5,"state":"done","tickers":3,"failures":"x","cost":NaN,"resolved":[]}}\n'
        f'{{{ended},"run":"y","state":"failed","tickers":[1],"failures":[1,{{"what":"a\\u001b"}}],'
        '"cost":1e999,"calls":"3","resolved":{"settled":3}}\n'
    )
    (found,) = world.json("status")
    assert [(each["state"], each["cost"]) for each in found["runs"]] == [
        ("done", None),
        ("failed", None),
    ]
    assert "failed: a\\x1b" in world.run("status").stdout

"""``show``: an entry is found by any of its names, and everything about it is told."""

import re
from datetime import timedelta

import pytest

from tests.cli.world import MONDAY, MONTHS_LATER, SETTLED, delist, one_line
from tradmem.model import note_id


@pytest.fixture
def told(world):
    """A right Buy that a later decision saw, with its id and the later one's."""
    first, _ = world.settle_week()
    seen = world.json("recall", "NVDA")[0]["id"]
    world.now = SETTLED
    second = world.record("NVDA", "Sell", "--recalled", seen, "--cited", seen)
    world.first, world.second = first, second
    return world


def test_an_outcome_is_told_with_both_legs_their_dates_and_the_band(told):
    result = told.run("show", told.first)
    entry = told.memory.get(told.first)
    outcome = entry.outcome
    lines = result.stdout.splitlines()
    assert lines[0] == f"2026-01-05 NVDA Buy  right  {told.first}"
    assert lines[1] == told.memory.journal.where(told.first)
    own = next(line for line in lines if line.startswith("  NVDA"))
    assert own.split() == [
        *("NVDA", "2026-01-05", "2026-01-12"),
        *(f"{outcome.entry_price:.2f}", f"{outcome.exit_price:.2f}"),
        f"{outcome.raw_return:+.1%}",
    ]
    benchmark = next(line for line in lines if line.startswith("  SPY"))
    assert benchmark.split()[1:3] == ["2026-01-05", "2026-01-12"]
    assert (
        f"alpha {outcome.alpha:+.1%} against a band of ±{outcome.band:.1%}: right" in result.stdout
    )
    assert "Known        2026-01-12 23:00 UTC" in result.stdout
    assert "Lesson (template)" in result.stdout
    assert "A thesis on NVDA." in result.stdout


def test_what_it_had_seen_and_what_has_seen_it_are_listed(told):
    later = told.run("show", told.second).stdout
    assert told.first in later.partition("It had seen")[2]
    assert "Cites" in later
    assert "Due          2026-01-21 23:00 UTC" in later
    earlier = told.run("show", told.first).stdout
    assert told.second in earlier.partition("Seen by")[2]
    found = told.json("show", told.first)[0]
    assert found["seen_by"] == [told.second]
    assert found["where"] == told.memory.journal.where(told.first)


@pytest.mark.leaky
def test_a_memory_that_the_log_does_not_hold_is_counted(world):
    world.memory.record("NVDA", "2026-01-05", "x", rating="Buy", recalled=["0123456789ab"])
    assert "1 entry that this log does not hold" in world.run("show", "last").stdout


@pytest.mark.parametrize("name", ["id", "prefix", "upper", "date", "ticker", "last"])
def test_an_entry_is_found_by_any_of_its_names(told, name):
    words = {
        "id": [told.second],
        "prefix": [told.second[:6]],
        "upper": [told.second.upper()],
        "date": ["nvda", "2026-01-13"],
        "ticker": ["NVDA"],
        "last": ["last"],
    }[name]
    assert told.run("show", *words).stdout.startswith("2026-01-13 NVDA Sell  pending")
    assert "Sell" in told.run("history", *words).stdout.splitlines()[1]


def test_a_ticker_and_a_date_may_name_several(world):
    world.record("NVDA", "Buy", "--agent", "bull")
    world.record("NVDA", "Sell", "--agent", "bear")
    assert [entry["agent"] for entry in world.json("show", "NVDA", "2026-01-05")] == [
        "bull",
        "bear",
    ]
    assert world.run("show", "NVDA", "2026-01-05").stdout.count("Decision\n") == 2
    assert "names 2 entries; write one of" in one_line(world.run("history", "NVDA", "2026-01-05"))


def test_as_of_shows_an_entry_as_it_stood_then(told):
    then = told.run("show", told.first, "--as-of", "2026-01-12T22:59:59Z").stdout
    assert then.startswith(f"2026-01-05 NVDA Buy  pending  {told.first}")
    assert "Outcome" not in then
    assert "Seen by" not in then
    result = told.run("show", told.second, "--as-of", "2026-01-06")
    assert result.exit_code == 1
    assert "there is no entry" in one_line(result)


@pytest.mark.leaky
def test_the_history_tells_each_act_with_its_instant(told):
    told.now += timedelta(minutes=1)
    told.run("forget", told.first, "--reason", "a fluke")
    history = told.run("show", told.first).stdout.partition("History\n")[2].splitlines()
    assert [line.split("  ")[1] for line in history] == [
        "2026-01-05 15:04 UTC",
        *["2026-01-13 12:00 UTC"] * 2,
        "2026-01-13 12:01 UTC",
    ]
    assert history[-1].endswith("forgotten: a fluke")


def test_a_note_and_an_unresolvable_one_say_what_they_are(world):
    world.run("note", "Thin days.", "--ticker", "NVDA")
    note = world.run("show", "last").stdout
    assert note.startswith("2026-01-05 NVDA Note  ")
    assert "Thin days." in note
    world.record("AAPL")
    delist(world.prices, "AAPL")
    world.now = MONTHS_LATER
    world.resolve()
    page = world.run("show", "AAPL").stdout
    assert page.startswith("2026-01-05 AAPL Buy  unresolvable  ")
    assert "Given up     no close of AAPL from 2026-01-05" in page


def test_without_a_benchmark_the_return_is_judged(world):
    world.record("NVDA", "Hold")
    world.now = SETTLED
    world.resolve("--benchmark", "none")
    page = world.run("show", "last").stdout
    assert "Alpha        n/a, there is no benchmark" in page
    assert "return +" in page
    assert ": wrong (outside it)" in page


def test_an_alpha_at_the_edge_of_its_band_is_told_with_digits_that_tell_them_apart(told):
    text = re.sub(r'"alpha":[^,]+', '"alpha":0.01238', told.log.read_text())
    text = re.sub(r'"band":[^,]+', '"band":0.01231', text)
    told.log.write_text(re.sub(r"(\| NVDA \| Buy \| [^|]+ \|) [^|]+ \|", r"\1 +1.2% |", text))
    page = told.run("show", told.first).stdout
    assert "alpha +1.24% against a band of ±1.23%: right" in page


def test_a_hand_edit_is_told(told):
    text = told.log.read_text()
    told.log.write_text(text.replace("| NVDA | Sell | pending", "| NVDA | Hold | pending"))
    assert "Edited       rating, by hand in the file" in told.run("show", told.second).stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([], 2, "name one entry"),
        (["NVDA", "2026-01-05", "x"], 2, "name one entry"),
        (["NVDA", "2026-02-30"], 2, "is no date"),
        (["A|B", "2026-01-05"], 2, "is no ticker"),
        (["NVDA", "2026-01-06"], 1, "there is no entry NVDA 2026-01-06"),
        (["MSFT"], 1, "there is no entry MSFT"),
        (["deadbeef"], 1, "there is no entry deadbeef"),
        (["../x"], 1, "there is no entry ../x"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(told, words, status, said):
    result = told.run("show", *words)
    assert result.exit_code == status
    assert said in one_line(result)


def test_what_is_not_there_is_looked_for_in_the_same_log(told):
    named = f" --log {told.log}` lists them"
    assert f"`tradmem log NVDA{named}" in told.run("show", "nvda", "2026-01-06").stderr
    assert f"`tradmem log{named}" in told.run("show", "MSFT").stderr
    silent = told.run(
        "forget", "MSFT", "--reason", "x", log=False, env={"TRADMEM_LOG": str(told.log)}
    )
    assert silent.stderr.endswith("; `tradmem log` lists them\n")


def test_an_entry_of_a_log_that_is_not_there_is_told_so(world):
    for command in (["show", "last"], ["history", "NVDA"], ["undo", "last", "--reason", "x"]):
        result = world.run(*command)
        assert result.exit_code == 1
        assert f"there is no log at {world.log} yet" in one_line(result)


def test_a_beginning_of_several_ids_is_ambiguous(world):
    texts: dict[str, str] = {}
    for number in range(10_000):
        text = f"note {number}"
        twice = note_id(MONDAY.date(), "*", text)[:4]
        if twice in texts:
            break
        texts[twice] = text
    world.run("note", text)
    world.run("note", texts[twice])
    result = world.run("show", twice)
    assert result.exit_code == 2
    assert f"{twice} is the beginning of 2 ids" in one_line(result)


def test_one_letter_of_an_id_is_enough_where_no_other_id_begins_so(told):
    entries = told.memory.entries()
    (first, second) = (entry.id for entry in entries if entry.ticker == "NVDA")
    apart = next(n for n in range(1, 13) if sum(e.id[:n] == second[:n] for e in entries) == 1)
    assert told.json("show", second[:apart])[0]["id"] == second
    assert first != second


def test_a_ticker_that_another_id_begins_with_is_the_ticker(world):
    """Its letters are hexadecimal, so that an act on it must not take place elsewhere."""
    notes = (f"Note {number}." for number in range(10**5))
    text = next(n for n in notes if note_id(MONDAY.date(), "*", n).startswith("fd"))
    world.run("note", text, "--date", MONDAY.date())
    own = world.record("FD")
    assert world.json("show", "FD")[0]["id"] == own
    world.run("forget", "fd", "--reason", "wrong ticker")
    assert world.memory.get(own).forgotten

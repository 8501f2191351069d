"""``status`` and ``check``: what waits, what is wrong, and whether a person has to look."""

from datetime import timedelta

import pytest

from tests.cli.world import MONDAY, MONTHS_LATER, SETTLED, delist, one_line
from tradmem.cli.words import from_now


def test_pending_decisions_are_listed_by_the_day_on_which_they_are_due(world):
    world.record("NVDA")
    world.record("AAPL", "Sell")
    world.now = MONDAY + timedelta(days=1)
    world.record("NVDA", "Hold", "--horizon", "20")
    result = world.run("status")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "3 entries: 3 pending"
    assert lines[1].startswith(f"  {world.log}  ")
    at = lines.index("Pending, by the day on which it is due")
    assert [" ".join(line.split()) for line in lines[at + 1 : at + 3]] == [
        "2026-01-12 in 6 days AAPL Sell, NVDA Buy",
        "2026-02-04 in 29 days NVDA Hold",
    ]
    assert lines[-1] == "Nothing needs a person."


def test_a_due_decision_is_nobodys_business_until_it_stays_due(world):
    world.record()
    world.now = SETTLED
    early = world.run("status")
    assert (early.exit_code, "Due\n  2026-01-12" in early.stdout) == (0, True)
    world.now = SETTLED + timedelta(days=7)
    late = world.run("status")
    assert late.exit_code == 1
    assert "1 decision due for over 7 days, no outcome" in late.stdout
    world.resolve()
    assert world.run("status").exit_code == 0


def test_an_outcome_without_a_lesson_is_told_and_calls_for_a_person_when_it_stays_so(world):
    world.record()
    world.now = SETTLED
    world.resolve("--no-reflect")
    early = world.run("status")
    assert early.exit_code == 0
    assert "Settled, without a lesson yet\n  2026-01-05 NVDA Buy" in early.stdout
    world.now = SETTLED + timedelta(days=8)
    late = world.run("status")
    assert late.exit_code == 1
    assert "1 outcome known for over 7 days, no lesson" in late.stdout


def test_what_was_given_up_calls_for_a_person_until_somebody_takes_note(world):
    name = world.record("AAPL")
    delist(world.prices, "AAPL")
    world.now = MONTHS_LATER
    world.resolve()
    result = world.run("status")
    assert result.exit_code == 1
    assert f"({name}) is unresolvable: no close of AAPL" in result.stdout
    world.run("forget", name, "--reason", "delisted, nothing to be done")
    assert world.run("status").exit_code == 0


def test_a_fault_in_the_file_calls_for_a_person(world):
    world.record()
    world.log.write_text(world.log.read_text().replace("| pending]", "| pendign]"))
    result = world.run("status")
    assert result.exit_code == 1
    assert f"  {world.log}:1: no entry: the state 'pendign' cannot be read" in result.stdout


def test_status_as_json_is_one_object_in_an_array(world):
    first = world.record()
    (found,) = world.json("status")
    assert found["counts"]["pending"] == found["entries"] == 1
    assert found["pending"] == [
        {"id": first, "date": "2026-01-05", "ticker": "NVDA", "due": "2026-01-12T23:00:00Z"}
    ]
    assert found["files"] == [{"path": str(world.log), "bytes": world.log.stat().st_size}]
    assert found["needs_person"] == found["problems"] == []


def test_without_a_log_there_is_nothing_to_say_but_that(world):
    for command in ("status", "check"):
        result = world.run(command)
        assert result.exit_code == 0
        assert "there is no log at" in one_line(result)
    told = f"`tradmem run --log {world.log}` starts one"
    assert told in one_line(world.run("status"))


def test_a_sound_log_has_no_problem(world):
    world.settle_week()
    result = world.run("check")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"tradmem: {world.log}: 2 entries, no problem\n"


def test_every_problem_is_a_line_that_an_editor_can_jump_to(world):
    world.record("NVDA")
    world.record("AAPL")
    text = world.log.read_text()
    world.log.write_text(text.replace("[2026-01-05 | AAPL", "[2026-01-35 | AAPL") + "\n[2026-01-")
    result = world.run("check")
    assert result.exit_code == 1
    lines = world.log.read_text().splitlines()
    at = next(n for n, line in enumerate(lines, 1) if "| AAPL" in line)
    torn = "an entry that was not written to its end; it is kept, and is no entry"
    assert result.stdout.splitlines() == [
        f"{world.log}:{at}: no entry: '2026-01-35' is no date; write it like 2026-01-05",
        f"{world.log}:{len(lines)}: {torn}",
    ]
    assert [item["line"] for item in world.json("check")] == [at, len(lines)]


def test_a_hand_edit_is_a_note_and_no_problem(world):
    name = world.record()
    world.log.write_text(world.log.read_text().replace("| Buy | pending", "| Sell | pending"))
    result = world.run("check")
    assert result.exit_code == 0
    assert result.stdout == (
        f"{world.log}:1: note: {name} (2026-01-05 NVDA Sell) was edited by hand: rating\n"
    )
    assert [item["kind"] for item in world.json("check")] == ["note"]


@pytest.mark.parametrize("command", ["status", "check", "log"])
def test_a_log_that_is_no_utf8_text_is_one_line(world, command):
    world.log.parent.mkdir()
    world.log.write_bytes("[2026-01-05 | NVDA | Buy | pending]".encode("utf-16"))
    result = world.run(command)
    assert result.exit_code == 1
    assert "it is UTF-16" in one_line(result)


def test_what_went_wrong_last_week_is_told(world):
    right, wrong = world.settle_week()
    page = world.run("status").stdout
    assert "Judged in the last 7 days: 1 right, 1 wrong, 0 neutral" in page
    told = page.split("Judged")[1].split("\n\n")[0]
    assert (wrong in told, right in told) == (True, False)
    for n in range(10):  # more than are shown
        world.record("AAPL", "Buy", "--agent", f"a{n}", "--date", "2026-01-05")
    world.resolve()
    lister = f"`tradmem log --verdict wrong --known-since 7d --log {world.log}` lists all"
    assert lister in world.run("status").stdout
    world.now += timedelta(days=9)
    assert "Judged" not in world.run("status").stdout
    (found,) = world.json("status")
    assert found["judged"] == []


@pytest.mark.parametrize(
    ("hours", "told"),
    [
        (5.95 * 24, "in 6 days"),
        (47, "in 2 days"),
        (23.8, "in 1 day"),
        (23, "in 23 hours"),
        (1.6, "in 2 hours"),
        (0.99, "in 59 minutes"),
        (0.001, "now"),
        (-36, "2 days ago"),
    ],
)
def test_how_far_away_is_rounded_and_not_cut(hours, told):
    assert from_now(MONDAY + timedelta(hours=hours), MONDAY) == told


def test_a_rating_with_a_typing_error_is_told_with_the_nearest_right_one(world):
    world.record("NVDA")
    world.log.write_text(world.log.read_text().replace("| Buy |", "| Byu |"))
    result = world.run("check")
    assert result.exit_code == 0
    wanted = (
        f"{world.log}:1: note: the rating 'Byu' is none, and reads as Unrated; the nearest is Buy"
    )
    assert wanted in result.stdout.splitlines()
    world.log.write_text(world.log.read_text().replace("| Byu |", "| unrated |"))
    assert "the rating" not in world.run("check").stdout


@pytest.mark.parametrize("words", [["log"], ["status"], ["check"], ["record", "NVDA", "Buy."]])
def test_a_log_whose_path_holds_a_nul_is_one_line(world, words):
    result = world.run(*words, "--log", "a\0b", log=False)
    assert (result.exit_code, "NUL" in one_line(result)) == (2, True)


def test_several_closes_on_one_date_are_told_once(world):
    world.record("NVDA")
    world.record("AAPL")
    lines = world.prices.read_text().splitlines()
    lines.append(lines[-1].replace(",", ",9", 1))
    world.prices.write_text("\n".join(lines))
    world.now = SETTLED
    result = world.resolve()
    assert result.stderr.count("has several closes of NVDA on 2026-02-27; the last one counts") == 1


def test_what_the_last_run_found_suspect_calls_for_a_person_until_it_is_accepted(world):
    name = world.record("NVDA")
    lines = world.prices.read_text().splitlines()
    head = lines[0].split(",").index("NVDA")
    for number, line in enumerate(lines):
        if line.startswith("2026-01-09"):  # from here on a tenth: a split that nobody told
            for later in range(number, len(lines)):
                cells = lines[later].split(",")
                cells[head] = str(float(cells[head]) / 10)
                lines[later] = ",".join(cells)
    world.prices.write_text("\n".join(lines) + "\n")
    world.now = SETTLED
    world.run("run", "AAPL", "--prices", world.prices, "--benchmark", "SPY")
    result = world.run("status")
    assert f"({name}) is suspect" in result.stdout
    assert f"`tradmem resolve --accept {name} --log {world.log}`" in result.stdout
    by_environment = world.run("status", log=False, env={"TRADMEM_LOG": str(world.log)})
    assert f"`tradmem resolve --accept {name}`" in by_environment.stdout
    assert result.exit_code == 1
    assert world.json("status")[0]["suspect"] == [name]
    assert world.resolve("--accept", name).exit_code == 0
    assert "suspect" not in world.run("status").stdout


def test_as_of_an_instant_the_status_is_what_it_was_then(world):
    world.settle_week()
    world.now = SETTLED + timedelta(days=1)
    world.record("SPY")
    result = world.run("status", "--as-of", "2026-01-06")
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "2 entries as of 2026-01-06 23:59 UTC: 2 pending"
    assert "2026-01-12 in 6 days AAPL Buy, NVDA Buy" in lines
    assert str(world.log) not in result.stdout
    assert "Nothing needs a person" in world.run("status", "--as-of", "0001-01-01").stdout
    (then,) = world.json("status", "--as-of", "2026-01-13")
    assert (then["counts"]["resolved"], then["entries"], then["files"]) == (2, 2, [])
    assert (then["as_of"], len(then["judged"])) == ("2026-01-13T23:59:59.999999Z", 2)
    (now,) = world.json("status")
    assert (now["as_of"], now["entries"], now["counts"]["pending"]) == (None, 3, 1)


def test_what_stayed_due_at_an_instant_needed_a_person_then(world):
    world.record()
    world.now = MONTHS_LATER
    early = world.run("status", "--as-of", "2026-01-13")
    late = world.run("status", "--as-of", "2026-01-25")
    assert (early.exit_code, late.exit_code) == (0, 1)
    assert "1 decision due for over 7 days" in late.stdout

"""``stats --lessons``, and a hold-out on the command line."""

import json

import pytest

from tests.cli.test_cli_stats import squeezed, write
from tests.cli.world import one_line
from tests.lessons.utility_world import world as made
from tradmem import Memory, Settings

pytestmark = pytest.mark.leaky  # the worlds are made after the fact, by a generator


@pytest.fixture
def told(world):
    """A world in which lessons on earnings help, and those on moods do nothing."""
    write(world, made(1, ["earnings", "mood"], effects={"earnings": 0.015}, days=300))
    return world


def test_the_tag_that_helps_is_told_with_how_sure_that_is(told):
    result = told.run("stats", "--lessons")
    assert result.exit_code == 0, result.output
    lines = squeezed(result.stdout)
    assert lines[1].startswith("600 decisions with a hold-out, after 5 sessions.")
    rows = {line.split()[0]: line for line in lines if line}
    assert rows["earnings"].endswith("helps")
    assert rows["mood"].endswith("untold")
    text = " ".join(lines)
    assert "2 tags were looked at, 1 found at a false discovery rate of 10%" in text
    assert "track-record line was there in both" in text


def test_json_tells_the_same_as_the_memory(told):
    overall, *tags = told.json("stats", "--lessons")
    found = told.memory.lesson_utility()
    assert (overall["decisions"], overall["horizon"], overall["without"]) == (600, 5, 2)
    assert [tag["tag"] for tag in tags] == ["earnings", "mood"]
    assert [tag["utility"] for tag in tags] == [line.utility for line in found.tags]
    assert tags[0]["finding"] == "helps"


def test_as_of_an_early_day_there_is_not_enough_yet(told):
    text = " ".join(squeezed(told.run("stats", "--lessons", "--as-of", "2024-02-15").stdout))
    assert "Not enough yet:" in text
    assert "helps" not in text


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_every_line_fits_the_screen(told, columns):
    result = told.run("stats", "--lessons", env={"COLUMNS": str(columns)})
    assert max(map(len, result.stdout.splitlines())) <= columns


def test_a_log_without_a_hold_out_says_how_to_have_one(world):
    world.record()
    text = " ".join(squeezed(world.run("stats", "--lessons").stdout))
    assert "Not enough yet: a hold-out has to withhold some lessons by lot" in text
    assert "1 decision made without a hold-out tells nothing." in text


def test_no_log_is_said_and_is_no_failure(world):
    result = world.run("stats", "--lessons")
    assert result.exit_code == 0
    assert "there is no log" in result.stderr
    assert world.json("stats", "--lessons")[0]["decisions"] == 0


@pytest.mark.parametrize("words", [("--by", "ticker"), ("--horizon", "5", "--horizon", "20")])
def test_what_makes_no_sense_together_is_refused_in_one_line(told, words):
    result = told.run("stats", "--lessons", *words)
    assert result.exit_code == 2
    assert "--lessons takes no" in one_line(result)


def test_what_a_recall_withheld_is_recorded_by_name(world, monkeypatch):
    """The line that recall says is what record takes."""
    world.settle_week()
    lots = Settings(holdout=1 - 1e-9)

    def open_memory(log, **_):
        return Memory.open(log, settings=lots, clock=world.clock)

    for command in ("recall", "record"):
        monkeypatch.setattr(f"tradmem.cli.{command}.open_memory", open_memory)
    said = world.run("recall", "NVDA").stderr
    assert "a hold-out withheld some memories" in said
    words = said[said.index("--withheld") :].split()
    assert len(words) == 4
    found = json.loads(world.run("record", "NVDA", "**Rating**: Buy", *words, "--json").stdout)
    assert found[0]["withheld"] == words[1::2]
    assert "A lot kept from it" in world.run("show", found[0]["id"]).stdout

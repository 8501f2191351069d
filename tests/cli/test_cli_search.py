"""``search`` finds words, and ``recall --explain`` accounts for what a recall shows."""

import json

import pytest

from tests.cli.world import MONDAY, one_line
from tradmem.rows import as_json


@pytest.fixture
def week(world):
    """A right Buy on NVDA and a wrong one on AAPL, and a note that came later."""
    world.nvda, world.aapl = world.settle_week()
    world.run("note", "Guidance was raised in April.", "--ticker", "NVDA")
    world.noted = world.memory.search("april")[0].id
    return world


def ids(found):
    return [entry["id"] for entry in found]


def test_each_entry_is_a_line_and_below_it_the_place_in_bold(week):
    result = week.run("search", "thesis", env={"FORCE_COLOR": "1", "NO_COLOR": None})
    lines = result.stdout.splitlines()
    assert len(lines) == 4
    assert all("A \x1b[1mthesis\x1b[0m on" in line for line in lines[1::2])
    outcome = week.memory.get(week.nvda).outcome
    figures = f"{outcome.raw_return:+.1%}, alpha {outcome.alpha:+.1%}"
    plain = week.run("search", "thesis").stdout.splitlines()
    assert f"2026-01-05 NVDA Buy  right  {figures}  {week.nvda}" in plain


def test_json_prints_the_entries(week):
    found = week.json("search", "guidance", "raises")
    assert found == [as_json(week.memory.get(week.noted))]
    assert week.json("search", "nothing-like-it") == []


def test_options_narrow_what_is_found(week):
    assert ids(week.json("search", "thesis", "--ticker", "aapl")) == [week.aapl]
    assert ids(week.json("search", "--since", "2026-01-13")) == [week.noted]
    assert ids(week.json("search", "--since", "1d")) == [week.noted]
    assert set(ids(week.json("search", "--until", "2026-01-05"))) == {week.nvda, week.aapl}
    right = json.dumps({"verdict": "right"})
    assert ids(week.json("search", "thesis", "--where", right)) == [week.nvda]
    assert len(week.json("search", "--limit", "1")) == 1
    assert len(week.json("search", "--limit", "0")) == 3
    as_of = MONDAY.isoformat()
    then = week.json("search", "thesis", "--as-of", as_of)
    assert {entry["status"] for entry in then} == {"pending"}
    assert week.json("search", "april", "--as-of", as_of) == []


def test_a_limit_beyond_all_numbers_of_entries_is_none(week):
    assert week.json("search", "thesis", "-n", 10**20) == week.json("search", "thesis", "-n", 0)


def test_what_is_not_all_that_was_asked_for_is_said(week):
    some = week.run("search", "april", "zebra")
    assert week.noted in some.stdout
    assert some.stderr == "tradmem: no entry holds all of these words; these hold some\n"
    more = week.run("search", "thesis", "-n", "1")
    assert more.stderr == "tradmem: these are the first 1; --limit 0 shows all\n"
    none = week.run("search", "zebra")
    assert (none.stdout, none.exit_code) == ("", 0)
    assert none.stderr == f"tradmem: nothing is found in {week.log}\n"
    whole = week.run("search", "april", "guidance")
    assert whole.stderr == ""


def test_a_log_that_is_not_there_is_said_to_be_so(world):
    result = world.run("search", "x")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "which is not there yet" in result.stderr


@pytest.mark.parametrize("query", ['"', "AND", "(", "*", '"a" OR', "-x", "\ud800", "NEAR(a, b)"])
def test_no_query_is_wrong(query, week):
    result = week.run("search", "--", query)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--where", "{"], "--where is no JSON"),
        (["--where", '{"ratin": "Buy"}'], "the nearest is rating"),
        (["--where", '{"alpha": {"gr": 1}}'], "the nearest is gt"),
        (["--where", "3"], "is no filter"),
        (["--since", "soon"], "is no date"),
        (["--ticker", "A|B"], "is no ticker"),
        (["--as-of", "then"], "is no date"),
        (["--limit", "-1"], "-1"),
    ],
    ids=str,
)
def test_wrong_use_is_one_line_and_status_2(words, said, week):
    result = week.run("search", "thesis", *words)
    assert result.exit_code == 2
    assert said in one_line(result)


def test_a_text_from_the_log_cannot_drive_the_terminal(world):
    world.run("record", "NVDA", "Rating: Buy\n\nA thesis \x1b[31m with \u202e marks")
    shown = world.run("search", "thesis").stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_recall_explains_every_part_and_that_they_sum(week):
    query = "--query", "NVDA: guidance is raised, a thesis on AAPL"
    explained = week.json("recall", "NVDA", "--rank", "relevant", *query, "--explain")
    assert {item["id"] for item in explained} == {week.nvda, week.aapl, week.noted}
    for item in explained:
        assert round(sum(part["points"] for part in item["parts"]), 4) == item["score"]
        assert item["is_shown"]
        assert item["reason"]
    text = week.run("recall", "NVDA", *query, "--explain").stdout
    assert text.startswith("Shown\n")
    assert text.count("VALUE  WEIGHT  POINTS") == 3
    for item in explained:
        assert f"{item['score']:.4f}" in text
        assert item["id"] in text


def test_recall_by_relevance_prints_what_a_program_gets(week):
    query = "guidance is raised"
    expected = week.memory.recall("NVDA", rank="relevant", query=query).text
    assert week.run("recall", "NVDA", "--rank", "relevant", "--query", query).stdout == expected
    assert week.run("recall", "NVDA", "--query", "-", input=query).stdout == expected
    plain = week.run("recall", "NVDA").stdout
    assert plain == week.memory.recall("NVDA").text
    assert "newest first" in plain


def test_the_plain_rule_is_explained_too(week):
    text = week.run("recall", "NVDA", "--explain").stdout
    assert "among the newest of the ticker" in text
    assert "POINTS" not in text
    result = week.run("recall", "NVDA", "--rank", "relevant")
    assert result.exit_code == 2
    assert "needs a --query" in one_line(result)

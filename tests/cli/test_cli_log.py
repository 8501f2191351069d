"""``log``: what is listed, in which order, and what the filters let through."""

import csv
import io
from datetime import timedelta

import pytest

from tests.cli.world import MONDAY, SETTLED, one_line
from tradmem.journal.markdown import MarkdownJournal
from tradmem.market.frames import FilePrices
from tradmem.memory import Memory


@pytest.fixture
def full(world):
    """A right Buy, a wrong Buy, a pending Sell of an agent, an unrated one, and a note."""
    world.settle_week()
    world.record("NVDA", "Sell", "--agent", "bear")
    world.run("record", "AAPL", "No view.\x1b[31m")
    world.run("note", "Index changes\ncrowd the close.")
    return world


def rows(result) -> list[str]:
    """The tickers and results of the table's rows."""
    lines = result.stdout.splitlines()
    assert lines[0].split()[:2] == ["DATE", "TICKER"]
    return [" ".join(line.split()[1:4]) for line in lines[1:]]


@pytest.mark.parametrize("words", [["log"], ["log", "list"]])
def test_help_and_errors_call_the_command_as_it_is_typed(world, words):
    assert "Usage: tradmem log [OPTIONS] [TICKER]..." in world.run(*words, "--help").stdout
    assert one_line(world.run(*words, "--odd")).endswith("see tradmem log --help")


def test_entries_are_listed_newest_first_with_verdicts_and_figures(full):
    result = full.run("log")
    assert result.exit_code == 0
    assert rows(result)[1:] == [
        "AAPL Unrated pending",
        "NVDA Sell pending",
        "AAPL Buy wrong",
        "NVDA Buy right",
    ]
    assert rows(result)[0].startswith("* Note")
    entry = full.memory.entries()[0]
    line = result.stdout.splitlines()[-1]
    assert f"{entry.outcome.alpha:+.1%}" in line
    assert line.endswith(entry.id)
    assert full.run("log", "list").stdout == result.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--ticker", "nvda"], ["NVDA Sell pending", "NVDA Buy right"]),
        (["-t", "AAPL", "-t", "NVDA", "-n", "1"], ["AAPL Unrated pending"]),
        (["--verdict", "wrong"], ["AAPL Buy wrong"]),
        (["--verdict", "WRONG", "--verdict", "right"], ["AAPL Buy wrong", "NVDA Buy right"]),
        (["AAPL", "aapl"], ["AAPL Unrated pending", "AAPL Buy wrong"]),
        (["AAPL", "-t", "NVDA", "-v", "right"], ["NVDA Buy right"]),
        (["MSFT"], []),
        (["--status", "resolved"], ["AAPL Buy wrong", "NVDA Buy right"]),
        (["--rating", "Sell"], ["NVDA Sell pending"]),
        (["--rating", "unrated"], ["AAPL Unrated pending"]),
        (["--agent", "bear"], ["NVDA Sell pending"]),
        (["--until", "2026-01-05"], ["AAPL Buy wrong", "NVDA Buy right"]),
        (["--since", "1w", "--rating", "sell"], ["NVDA Sell pending"]),
        (["--since", "7d", "--verdict", "right"], []),
        (["--since", "8d", "--verdict", "right"], ["NVDA Buy right"]),
        (["--grep", "no VIEW"], ["AAPL Unrated pending"]),
        (["--grep", "thesis on A", "--rating", "buy"], ["AAPL Buy wrong"]),
        (["--as-of", "2026-01-06"], ["AAPL Buy pending", "NVDA Buy pending"]),
        (["--as-of", "2026-01-06", "--verdict", "right"], []),
    ],
)
def test_filters_let_through_what_they_name(full, words, expected):
    result = full.run("log", *words)
    assert result.exit_code == 0
    if expected:
        assert rows(result) == expected
    else:
        assert "no entry" in one_line(result)


def test_a_note_on_the_whole_market_is_found_by_its_star(full):
    assert [entry["note"] for entry in full.json("log", "--ticker", "*")] == [
        "Index changes\ncrowd the close."
    ]


def test_only_the_newest_twenty_are_listed_unless_more_are_asked_for(world):
    for number in range(25):
        world.now = MONDAY + timedelta(days=number)
        world.record("NVDA")
    result = world.run("log")
    assert len(rows(result)) == 20
    assert "--limit 0 shows all" in result.stderr
    assert len(rows(world.run("log", "--limit", "0"))) == 25
    assert len(rows(world.run("log", "-n", "25"))) == 25
    assert world.run("log", "-n", "25").stderr == ""
    assert len(rows(world.run("log", "-n", "3", "-t", "NVDA"))) == 3
    assert len(world.json("log")) == 25
    assert len(world.json("log", "--limit", "2")) == 2


def test_archived_entries_are_listed_too(world):
    for number in range(20):
        world.now = MONDAY + timedelta(days=number)
        world.record("NVDA")
    world.now = MONDAY + timedelta(days=60)
    journal = MarkdownJournal(world.log, max_resolved=8)
    Memory(journal, prices=FilePrices(world.prices), clock=world.clock).resolve()
    (archive,) = journal.archives()
    assert len(journal.entries(archived=False)) == 8
    found = world.json("log")
    assert [entry["archived"] for entry in found] == [False] * 8 + [True] * 12
    assert len(rows(world.run("log", "-n", "11"))) == 11
    assert world.run("show", found[-1]["id"]).stdout.splitlines()[1] == f"{archive}:1"
    assert str(archive) in world.run("status").stdout


def test_json_is_one_array_with_the_names_of_the_design(full):
    found = full.json("log")
    assert [entry["ticker"] for entry in found] == ["*", "AAPL", "NVDA", "AAPL", "NVDA"]
    right = found[-1]
    assert (right["verdict"], right["status"], right["rating"]) == ("right", "resolved", "Buy")
    outcome = right["outcome"]
    assert outcome["entry_date"] == "2026-01-05"
    assert outcome["exit_date"] == "2026-01-12"
    assert outcome["known_at"] == "2026-01-12T23:00:00Z"
    assert outcome["alpha"] == full.memory.entries()[0].outcome.alpha
    assert right["outcomes"] == [outcome]


def test_csv_has_one_line_per_entry_with_plain_values(full):
    result = full.run("log", "--csv")
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["ticker"] for row in found] == ["*", "AAPL", "NVDA", "AAPL", "NVDA"]
    outcome = full.memory.entries()[0].outcome
    assert float(found[-1]["raw_return"]) == outcome.raw_return
    assert found[-1]["decided_at"] == "2026-01-05T15:04:05Z"
    assert found[0]["note"] == "Index changes\ncrowd the close."
    assert found[1]["raw_return"] == ""


def test_an_empty_log_and_a_missing_one_are_told_apart(world):
    assert "there is no log at" in one_line(world.run("log"))
    assert world.json("log") == []
    assert not world.log.parent.exists()
    world.log.parent.mkdir()
    world.log.touch()
    assert "holds no entry" in one_line(world.run("log"))


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--ticker", "A|B"], 2, "is no ticker"),
        (["--since", "last week"], 2, "write it like 2026-01-05, or 7d for a week back"),
        (["--until", "2026-02-30"], 2, "is no date"),
        (["--grep", "("], 2, "'(' is no regular expression"),
        (["--verdict", "great"], 2, "'great' is not one of"),
        (["--limit", "-1"], 2, "invalid value for '--limit'"),
        (["--json", "--csv"], 2, "exclude each other"),
        (["N V"], 2, "is no ticker"),
    ],
)
def test_a_filter_that_can_match_nothing_is_refused(full, words, status, told):
    result = full.run("log", *words)
    assert result.exit_code == status
    assert told in one_line(result)


def test_a_log_that_is_a_folder_is_one_line(world):
    world.log.mkdir(parents=True)
    for words in (["log"], ["show", "last"], ["status"], ["check"], ["recall", "NVDA"]):
        result = world.run(*words)
        assert result.exit_code == 1
        assert "it is a folder" in one_line(result)
    for words in (["record", "NVDA", "x"], ["note", "x"], ["resolve"], ["run", "NVDA"]):
        result = world.run(*words)
        assert result.exit_code == 1
        assert f"{world.log}: it is a folder" in one_line(result)


def test_the_log_is_found_by_environment_and_by_default(world):
    world.record()
    other = {"TRADMEM_LOG": str(world.log)}
    assert "NVDA" in world.run("log", log=False, env=other).stdout
    assert "NVDA" in world.run("log", log=False).stdout  # logs/memory.md of the current folder
    assert world.run("log", "path", log=False).stdout == f"{world.log}\n"
    assert world.run("log", "path", "--log", "x.md", log=False).stdout.endswith("/x.md\n")


@pytest.mark.parametrize("columns", [60, 80, 100, 120, 200])
def test_rows_fit_the_terminal(full, columns):
    result = full.run("log", env={"COLUMNS": str(columns)})
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert ("LESSON" in lines[0]) == (columns > 100)
    assert all(line.split()[-1] == line[-12:] for line in lines[1:])


def test_text_from_the_log_cannot_drive_the_terminal(full):
    result = full.run("show", "AAPL", SETTLED.date())
    assert "No view.\\x1b[31m" in result.stdout
    assert "\x1b" not in result.stdout


def test_colours_are_shown_where_they_are_asked_for(full):
    plain = full.run("log").stdout
    coloured = full.run("log", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[31mwrong\x1b[0m" in coloured
    assert "\x1b[32mright\x1b[0m" in coloured
    assert "\x1b" not in plain


def test_agents_are_listed_where_there_are_several(full):
    assert "bear" in full.run("log").stdout
    assert "AGENT" not in full.run("log", "--agent", "bear").stdout

"""``export`` and ``import``: round trips, past decisions, what is refused and why."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from pyarrow import parquet

from tests.cli.world import SETTLED, one_line
from tradmem import MarkdownJournal, Memory, Rating
from tradmem.journal.tagline import percent

DATA = Path(__file__).parents[1] / "data"
FORMULA = "=cmd|'/C calc'!A0\n\nFirst line is a formula; \"quotes\", commas,\nand\ttabs."


@pytest.fixture
def full(world):
    """Resolved, pending, unrated and forgotten ones, a note, an agent, and hostile text."""
    names = [world.record("NVDA"), later(world).record("AAPL")]
    world.now = SETTLED
    world.resolve()
    later(world).record("NVDA", "Sell", "--agent", "bear")
    later(world).run("record", "AAPL", FORMULA)
    later(world).memory.record(
        "SPY", "2026-01-12", "- a <!-- ENTRY_END --> [2026-01-05 | X | Buy] -->"
    )
    later(world).run("note", "Index changes\ncrowd the close.")
    later(world).run("forget", names[0], "--reason", "wrong -- ticker")
    return world


def later(world):
    """The same world a minute later."""
    world.now += timedelta(minutes=1)
    return world


def other(world, name: str = "other.md") -> Path:
    return world.folder / "logs" / name


def entries(path: Path) -> list:
    return MarkdownJournal(path).entries()


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet", "pages/"])
def test_there_and_back_is_the_same_log_to_the_byte(full, name):
    done = full.run("export", name)
    assert done.exit_code == 0, done.output
    result = full.run("import", name.rstrip("/"), "--log", other(full), log=False)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "6 taken"
    assert other(full).read_bytes() == full.log.read_bytes()
    again = full.run("import", name.rstrip("/"), "--log", other(full), log=False)
    assert again.stdout == "6 unchanged\n"
    assert other(full).read_bytes() == full.log.read_bytes()


def test_pages_keep_the_order_of_what_was_recorded_in_one_second(world):
    for ticker, agent in (("NVDA", ""), ("AAPL", ""), ("NVDA", "bear"), ("SPY", ""), ("AAPL", "x")):
        world.record(ticker, "Buy", "--agent", agent)
    world.run("note", "Index changes.", "--ticker", "NVDA")
    world.run("export", "pages/")
    world.run("import", "pages", "--log", other(world), log=False)
    assert other(world).read_bytes() == world.log.read_bytes()
    world.run("import", "pages/NVDA.md", "--log", other(world, "one.md"), log=False)
    known = [entry.id for entry in MarkdownJournal(world.log).in_sequence()]
    one = [entry.id for entry in MarkdownJournal(other(world, "one.md")).in_sequence()]
    assert one == [known[0], known[2], known[5]]


def test_csv_keeps_ids_texts_and_exact_numbers_and_says_what_it_cannot(full):
    done = full.run("export", "out.csv")
    assert "CSV cannot carry acts of 1 entry" in done.stderr
    full.run("import", "out.csv", "--log", other(full), log=False)
    before, after = entries(full.log), entries(other(full))
    for one, two in zip(before, after, strict=True):
        assert one.recorded == two.recorded
        assert (one.outcomes, one.reflection, one.note) == (two.outcomes, two.reflection, two.note)
    assert [e.forgotten for e in before] != [e.forgotten for e in after]
    again = full.run("import", "out.csv", "--log", other(full), log=False)
    assert again.stdout == "6 unchanged\n"


def test_a_text_that_a_spreadsheet_would_run_is_made_harmless(full):
    full.run("export", "out.csv")
    rows = list(csv.DictReader(io.StringIO((full.folder / "out.csv").read_text(encoding="utf-8"))))
    assert all(row["decision"][:1] not in ("=", "+", "-", "@") for row in rows)
    shown = csv.DictReader(io.StringIO(full.run("log", "--csv").stdout))
    assert all(row["decision"][:1] not in ("=", "+", "-", "@") for row in shown)


def test_an_export_as_of_an_instant_holds_only_what_was_known(full):
    full.run("export", "then.jsonl", "--as-of", "2026-01-06")
    lines = [json.loads(line) for line in (full.folder / "then.jsonl").read_text().splitlines()]
    assert [(line["ticker"], line["status"]) for line in lines] == [
        ("NVDA", "pending"),
        ("AAPL", "pending"),
    ]
    assert all(line["record"]["additions"] == [] for line in lines)


def test_the_destination_may_be_named_by_an_option(full):
    assert full.run("export", "one.md").exit_code == 0
    assert full.run("export", "--out", "two.md").exit_code == 0
    assert (full.folder / "two.md").read_bytes() == (full.folder / "one.md").read_bytes()
    for wrong in ((), ("one.jsonl", "--out", "two.jsonl")):
        told = full.run("export", *wrong)
        assert told.exit_code == 2
        assert one_line(told) == "name one file or folder to write to: tradmem export FILE"


def test_filters_choose_what_is_exported_and_stdout_is_a_destination(full):
    result = full.run("export", "-", "--format", "jsonl", "-v", "wrong")
    (line,) = result.stdout.splitlines()
    assert json.loads(line)["verdict"] == "wrong"


def test_pages_have_front_matter_links_and_nothing_live(full):
    full.run("export", "pages/")
    assert {path.name for path in (full.folder / "pages").iterdir()} == {
        *("AAPL.md", "NVDA.md", "SPY.md", "Market.md"),
    }
    page = (full.folder / "pages" / "NVDA.md").read_text(encoding="utf-8")
    head = page.split("---\n")[1].splitlines()
    assert head[0] == 'ticker: "NVDA"'
    assert {"entries: 2", "right: 1", "first: 2026-01-05"} <= set(head)
    first = entries(full.log)[0]
    assert f"`{first.id}` ^{first.id}" in page
    assert percent(first.outcome.alpha) in page


def test_a_link_leads_from_a_decision_to_what_it_saw(world):
    seen = world.settle_week()[0]
    name = world.record("AAPL", "Sell", "--recalled", seen)
    world.run("export", "pages/")
    page = (world.folder / "pages" / "AAPL.md").read_text(encoding="utf-8")
    assert f"Saw: [[NVDA#^{seen}|2026-01-05 NVDA Buy]]" in page
    back = (world.folder / "pages" / "NVDA.md").read_text(encoding="utf-8")
    assert f"Seen by: [[AAPL#^{name}|" in back


def test_a_file_that_is_there_is_replaced_only_by_force(full):
    path = full.folder / "out.jsonl"
    path.write_text("mine")
    assert "is there already; add --force" in one_line(full.run("export", "out.jsonl"))
    assert path.read_text() == "mine"
    assert full.run("export", "out.jsonl", "--force").exit_code == 0
    (full.folder / "pages").mkdir()
    (full.folder / "pages" / "NVDA.md").write_text("# My own notes on NVDA\n")
    assert "no page of tradmem" in one_line(full.run("export", "pages/"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["export", "out.xlsx"], "does not tell by its name what it is"),
        (["export", "-"], "standard output takes --format csv or jsonl"),
        (["import", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
        (["import", "nowhere.md"], "there is no file nowhere.md"),
        (["import", "nowhere.parquet"], "cannot read nowhere.parquet"),
        (["import", "logs"], "holds no page that `tradmem export` wrote"),
        (["import", "bad.csv"], "it has no column for the date or for the ticker"),
        (
            ["import", "call.csv"],
            "which it is, as in --column text=NAME (it has date, ticker, call, Why)",
        ),
        (["import", "past.csv", "--column", "txt=x"], "is no MEANING=NAME"),
        (["import", "twice.csv"], "it has two columns 'date'"),
        (["export", "postgresql://u:secret@h/d"], "a database takes entries by `tradmem import"),
        (["import", "past.csv", "--column", "text=x"], "there is no column 'x'"),
    ],
)
def test_what_cannot_be_is_one_line(full, words, told):
    (full.folder / "bad.csv").write_text("a,b\n1,2\n")
    (full.folder / "past.csv").write_text("date,ticker,rating\n2026-01-05,NVDA,Buy\n")
    (full.folder / "call.csv").write_text("date,ticker,call,Why\n2026-01-05,NVDA,Buy,x\n")
    (full.folder / "twice.csv").write_text("date,date,ticker\n2026-01-05,2026-01-06,NVDA\n")
    result = full.run(*words)
    assert result.exit_code == 2
    assert told in one_line(result)


# Past decisions


def test_a_table_of_past_decisions_comes_in_flagged_and_is_resolved(world):
    world.now = world.now.replace(month=2)
    (world.folder / "past.csv").write_text(
        "Decision Date;Symbol;Action;Rationale\n"
        "2026-01-05;nvda;BUY;Guidance was raised.\n"
        "2026-01-06 00:00:00;AAPL;;**Rating**: Sell\n"
        "2026-01-07;SPY;unrated;\n"
    )
    result = world.run("import", "past.csv", "--agent", "desk")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "3 taken")
    found = world.memory.entries()
    assert [(str(e.date), e.ticker, e.rating, e.agent) for e in found] == [
        ("2026-01-05", "NVDA", Rating.BUY, "desk"),
        ("2026-01-06", "AAPL", Rating.SELL, "desk"),
        ("2026-01-07", "SPY", None, "desk"),
    ]
    assert all({"imported", "date_only", "late"} <= set(e.recorded.flags) for e in found)
    assert str(found[0].decided_at) == "2026-01-05 20:59:59+00:00"  # one second before the close
    assert world.run("import", "past.csv", "--agent", "desk").stdout == "3 unchanged\n"
    assert world.resolve().exit_code == 0
    assert found[0].id == world.memory.entries()[0].id
    assert world.memory.entries()[0].verdict


@pytest.mark.parametrize(
    "separator", ["sep=;\n", "SEP=;\r\n", "sep=;;;;\n", chr(34) + "sep=;" + chr(34) + "\n"]
)
def test_a_table_may_name_its_separator_first_as_excel_has_it(world, separator):
    table = separator + 'date;ticker;rating;text\n2026-01-05;NVDA;Buy;"a, b; c, d"\nx\n'
    (world.folder / "past.csv").write_bytes(table.encode())
    result = world.run("import", "past.csv")
    assert "past.csv:4" in result.output
    assert "it has 1 field and not 4" in result.output
    assert [e.decision for e in world.memory.entries()] == ["a, b; c, d"]


def test_each_row_that_is_refused_is_told_with_its_line_and_the_others_come(world):
    (world.folder / "past.csv").write_text(
        "date,ticker,rating,text\n"
        "2026-01-05,NVDA,Buy,fine\n"
        "05/01/2026,NVDA,Buy,x\n"
        "2026-01-05,N V,Buy,x\n"
        "2026-01-05,AAPL,long,x\n"
        "2027-01-05,AAPL,Buy,x\n"
        "2026-01-05,AAPL,,\n"
        "2026-01-05,NVDA,Sell,another\n"
        "2026-01-05,SPY\n"
    )
    result = world.run("import", "past.csv", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert Counter(item["fate"] for item in found) == {"taken": 1, "kept out": 1, "refused": 6}
    reasons = {item["where"]: item["reason"] for item in found if item["fate"] == "refused"}
    for line, told in (
        (3, "is no date; write it like 2026-01-05"),
        (4, "is no ticker"),
        (5, "'long' is no rating; use one of Buy"),
        (6, "later than today"),
        (7, "neither a rating nor a text"),
        (9, "2 fields and not 4"),
    ):
        assert told in reasons[f"past.csv:{line}"]
    assert [e.decision for e in world.memory.entries()] == ["fine"]


def test_a_dry_run_writes_nothing_and_tells_the_same(world):
    (world.folder / "past.csv").write_text("date,ticker,rating\n2026-01-05,NVDA,Buy\n")
    told = world.run("import", "past.csv", "--dry-run")
    assert not world.log.exists()
    assert told.stdout.splitlines()[-1] == "Nothing was written; it would be: 1 taken"
    assert world.run("import", "past.csv").stdout.splitlines()[-1] == "1 taken"


def test_a_log_of_trading_agents_comes_in_and_counts_as_imported(world):
    world.now = world.now.replace(year=2027)
    source = DATA / "journals" / "tradingagents-0.4.md"
    result = world.run("import", source)
    assert result.exit_code == 0, result.output
    before, after = entries(source), entries(world.log)
    assert [(e.id, e.decision, e.status, e.reflection) for e in after] == [
        (e.id, e.decision, e.status, e.reflection) for e in before
    ]
    assert world.run("import", source).stdout.splitlines()[-1] == f"{len(before)} unchanged"


def test_what_a_log_holds_that_is_no_entry_is_told(world):
    world.now = world.now.replace(year=2027)
    result = world.run("import", DATA / "journals" / "merge-conflict.md")
    assert result.exit_code == 1
    assert "a conflict marker" in result.stdout


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"identity": {}}',
        '{"record": 5}',
        '{"record": {"decision": "x", "identity": {"id": "xyz"}, "additions": []}}',
        (
            '{"decision": "x", "additions": [{"add": "outcome"}], "identity": '
            '{"id": "0123456789ab", "date": "2026-01-05", "ticker": "NVDA", "rating": "Buy"}}'
        ),
        (
            '{"decision": "x", "additions": [], "identity": {"id": "0123456789ab", '
            '"date": "2026-01-05", "ticker": "NVDA\\nX", "rating": "Buy"}}'
        ),
        (
            '{"decision": "x", "additions": [], "identity": {"id": "0123456789ab", "date": '
            '"2026-01-05", "ticker": "NVDA", "rating": "Buy", '
            '"decided_at": "2030-01-01T00:00:00Z"}}'
        ),
        (
            '{"decision": 5, "additions": [], "identity": {"id": "0123456789ab", '
            '"date": "2026-01-05", "ticker": "NVDA", "rating": "Buy"}}'
        ),
        "[" * 100_000,
        (
            '{"decision": "x", "additions": [{"add": "later", "x": NaN}], "identity": '
            '{"id": "0123456789ab", "date": "2026-01-05", "ticker": "NVDA", "rating": "Buy"}}'
        ),
        (
            '{"decision": "x", "additions": [], "identity": {"id": "0123456789ab", '
            '"date": "2026-01-05", "ticker": "NVDA", "rating": "Buy", "torn": true}}'
        ),
        (
            '{"decision": "x", "additions": [], "identity": {"id": "0123456789ab", '
            '"date": "2026-01-05", "ticker": "NVDA", "rating": "Buy", "add": "outcome"}}'
        ),
        (
            '{"decision": "x", "additions": [], "identity": {"id": "0123456789ab", '
            '"date": "9999-12-31", "ticker": "NVDA", "rating": "Buy"}}'
        ),
        (
            '{"decision": "x", "additions": [], "identity": {"id": "0123456789ab", "date": '
            '"2026-01-05", "ticker": "NVDA", "recalled_as_of": "2099-01-01T00:00:00Z"}}'
        ),
        *(
            (
                '{"decision": "x", "identity": {"id": "0123456789ab", "date": "2026-01-05", '
                f'"ticker": "NVDA", "rating": "Buy"}}, "additions": [{addition}]}}'
            )
            for addition in (
                '{"add": "unresolvable", "reason": "x", "known_at": "2099-01-01T00:00:00Z"}',
                (
                    '{"add": "outcome", "known_at": "2026-01-12T23:00:00Z", "horizon": 5, '
                    '"sessions": 5, "raw": 0.1, "at": "2099-01-01T00:00:00Z"}'
                ),
                (
                    '{"add": "outcome", "known_at": "2026-01-12T23:00:00Z", "horizon": 5, '
                    '"sessions": -3, "raw": 0.1}'
                ),
                (
                    '{"add": "outcome", "known_at": "2026-01-12T23:00:00Z", "horizon": 5, '
                    '"sessions": 5, "raw": 1e308}'
                ),
            )
        ),
    ],
)
def test_a_line_that_is_no_entry_is_refused_and_the_next_one_comes(world, line):
    good = {"date": "2026-01-05", "ticker": "AAPL", "text": "Buy."}
    (world.folder / "x.jsonl").write_text(f"{line}\n{json.dumps(good)}\n")
    result = world.run("import", "x.jsonl")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "1 taken, 1 refused"
    assert [e.ticker for e in Memory.open(world.log).entries()] == ["AAPL"]


def test_a_row_that_nests_too_deep_is_refused_and_the_next_one_comes(world):
    header = "id,date,ticker,status,decision,decision_flags,known_at,extra"
    rows = [
        f"{number:012x},2026-01-05,NVDA,pending,x,,,{extra}"
        for number, extra in enumerate(["[" * 100_000, ""])
    ]
    (world.folder / "x.csv").write_text("\n".join([header, *rows, ""]))
    result = world.run("import", "x.csv")
    assert result.stdout.splitlines()[-1] == "1 taken, 1 refused"


@pytest.mark.parametrize(
    "words",
    [
        ("export", "-", "--format", "csv"),
        ("export", "-", "--format", "jsonl"),
        ("log", "--csv"),
        ("log", "--json"),
    ],
    ids=" ".join,
)
def test_no_text_in_a_table_drives_a_terminal(world, words):
    Memory.open(world.log).note("A \x1b[31m B \x9b31m C \u202e D")
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "tradmem", *words, "--log", str(world.log)]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run(command, stdout=theirs, stdin=theirs, env=env, check=True, timeout=60)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "31m B" in shown
    assert not re.search("[\x1b\x9b\u202e]", shown)


def test_json_says_the_same_although_it_drives_no_terminal(world):
    text = "A \x1b[31m \x7f\x9b31m \u202e \u2028 漢字"
    Memory.open(world.log).note(text)
    for words in (("log", "--json"), ("export", "-", "--format", "jsonl")):
        printed = world.run(*words).stdout
        assert "漢字" in printed
        found = json.loads(printed)
        assert (found[0] if isinstance(found, list) else found)["note"] == text


def test_flat_rows_of_json_lines_are_read_as_those_of_parquet_are(full):
    full.run("export", "out.parquet")
    rows = parquet.read_table(full.folder / "out.parquet").drop(["record"]).to_pylist()
    lines = [json.dumps(row, default=str).replace(" 00:00:00", "") for row in rows]
    lines[0] = json.dumps(rows[0] | {"status": "note", "note": "x"}, default=str)
    (full.folder / "flat.jsonl").write_text("\n".join(lines))
    result = full.run("import", "flat.jsonl", "--log", other(full), log=False)
    assert "it is a note and has the outcome of a decision" in " ".join(result.stdout.split())
    assert result.stdout.splitlines()[-1] == "5 taken, 1 refused"
    assert [e.id for e in entries(other(full))] == [e.id for e in entries(full.log)[1:]]


def test_lines_of_json_with_keys_of_their_own_are_each_read_and_a_note_is_no_decision(world):
    lines = [
        {"date": "2026-01-05", "ticker": "NVDA", "rating": "Buy", "outcome": {"raw_return": 0.1}},
        {"date": "2026-01-05", "symbol": "AAPL", "action": "Sell", "note": "Weak."},
        {"date": "2026-01-05", "ticker": "SPY", "note": "Thin.", "outcome": {"raw_return": 0.1}},
        {"date": "2026-01-05", "ticker": "SPY", "status": "note", "note": "Thin."},
        {"date": "2026-01-05", "rating": "Buy"},
    ]
    path = world.folder / "past.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    found = world.json("import", path)
    assert [item["fate"] for item in found] == ["taken", "taken", *["refused"] * 3]
    assert [item["reason"][:13] for item in found[2:]] == ["it is a note,"] * 2 + ["it has no col"]
    assert [(e.ticker, str(e.rating), e.status) for e in entries(world.log)] == [
        ("NVDA", "Buy", "pending"),
        ("AAPL", "Sell", "pending"),
    ]

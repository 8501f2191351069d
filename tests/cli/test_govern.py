"""The commands that govern entries, and those that tell what happened."""

import json

import pytest

from tests.governance_world import SAME, WHY, Life
from tradmem import MarkdownJournal
from tradmem.cli import cli
from tradmem.journal.format import render
from tradmem.journal.ledger import write_line


@pytest.fixture
def life(tmp_path, monkeypatch):
    monkeypatch.setenv("TRADMEM_LOG", str(tmp_path / "memory.md"))
    monkeypatch.setenv("TRADMEM_ACTOR", "desk")
    monkeypatch.setenv("COLUMNS", "120")
    return Life(MarkdownJournal(tmp_path / "memory.md"))


@pytest.fixture
def run(life, capsys):
    """Run a command line; its status, its lines on stdout, its last line on stderr."""

    def command(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main([str(word) for word in words], obj=lambda: life.now)
        out, err = capsys.readouterr()
        return ended.value.code, out.splitlines(), err.strip()

    return command


def test_a_dry_run_changes_no_byte_and_says_what_would_be(life, run):
    old, new = life.learn(0, SAME[0]), life.learn(1, SAME[1])
    life.learn(2, SAME[2])
    life.day(20)
    life.memory.forget(old, **WHY)
    before = life.journal.path.read_bytes()
    for words in (
        ("forget", new),
        ("expire", new, "2026-02-01"),
        ("supersede", old, new),
        ("undo", old),
        ("consolidate", "--least", 2),
    ):
        code, lines, _ = run(*words, "--reason", "why not", "--dry-run")
        assert code == 0
        assert lines[0].startswith("would be ")
    assert life.journal.path.read_bytes() == before


def test_each_act_is_stored_with_its_reason_and_actor_and_said(life, run):
    old, new = life.learn(0, "Earnings move it."), life.learn(1, "Guidance moves it.")
    life.day(20)
    acts = [
        (("expire", old[:6], "2026-03-01"), "valid until 2026-03-01 23:59 UTC  2026-01-05  NVDA"),
        (("supersede", old, new), f"superseded by {new}  2026-01-05  NVDA"),
        (("undo", old), "undone: the supersede of 2026-01-25 15:00 UTC  2026-01-05  NVDA"),
        (("forget", old, "--actor", "head"), "forgotten  2026-01-05  NVDA"),
    ]
    for words, told in acts:
        code, lines, _ = run(*words, "--reason", "because")
        assert (code, len(lines)) == (0, 1)
        assert lines[0].startswith(told)
    stored = life.memory.get(old).additions[2:]
    assert [act.kind for act in stored] == [words[0] for words, _ in acts]
    assert {act.data["reason"] for act in stored} == {"because"}
    assert [act.data["actor"] for act in stored] == ["desk"] * 3 + ["head"]


def test_undo_says_what_hides_the_entry_still(life, run):
    name = life.learn(0, "Earnings move it.")
    life.day(20)
    life.memory.expire(name, "2026-01-20", **WHY)
    life.memory.forget(name, **WHY)
    code, _, err = run("undo", name, "--reason", "no")
    assert code == 0
    assert "hidden still: expired at 2026-01-20" in err
    code, _, err = run("undo", name, "--act", "forget", "--reason", "no")
    assert (code, "nothing to undo" in err) == (2, True)


def test_an_act_without_a_reason_or_on_nothing_is_refused_in_one_line(life, run):
    name = life.learn(0, "Earnings move it.")
    assert run("forget", name)[0] == 2
    code, lines, err = run("expire", "000000000000", "2026-03-01", "--reason", "x")
    assert (code, lines) == (1, [])
    assert "000000000000" in err
    code, _, err = run("expire", name, "next week", "--reason", "x")
    assert (code, err.count("\n")) == (2, 0)


def test_an_entry_is_named_as_for_show_by_every_act(life, run):
    old, new = life.learn(0, "Earnings move it."), life.learn(1, "Guidance moves it.")
    life.day(20)
    first, second = ("NVDA", "2026-01-05"), ("NVDA", "2026-01-06")
    for words, told in (
        (("forget", *first), "forgotten"),
        (("undo", old[:5].upper()), "undone: the forget"),
        (("expire", *first, "2026-03-01"), "valid until 2026-03-01"),
        (("supersede", *first, *second), f"superseded by {new}"),
        (("undo", *first), "undone: the supersede"),
        (("supersede", *first, "last"), f"superseded by {new}"),
    ):
        code, lines, err = run(*words, "--reason", "x")
        assert (code, err) == (0, "")
        assert (lines[0].startswith(told), lines[0].endswith(old)) == (True, True), lines
    code, lines, _ = run("forget", "nvda", "--reason", "x")
    assert (code, lines[0].endswith(new)) == (0, True)
    assert "the latest forget" not in run("undo", "last", "--reason", "x")[2]


def test_a_name_that_could_mean_two_things_changes_nothing(life, run):
    life.learn(0, "Earnings move it.")
    life.day(20)
    run("record", "NVDA", "Sell it.", "--date", "2026-01-05", "--agent", "bear")
    before = life.journal.path.read_bytes()
    for words, told in (
        (("forget", "NVDA", "2026-01-05"), "names 2 entries; write one of"),
        (("expire", "NVDA", "2026-01-05"), "NVDA 2026-01-05 names an entry; say until when"),
        (("supersede", "NVDA", "2026-01-05"), "names 2 entries; write one of"),
        (("supersede", "last"), "name two entries"),
        (("expire", "2026-03-01"), "name one entry"),
    ):
        code, lines, err = run(*words, "--reason", "x")
        assert (code, lines, told in err) == (2, [], True), err
    assert life.journal.path.read_bytes() == before


def test_consolidate_prints_the_notes_and_undo_takes_them_back(life, run):
    names = [life.learn(number, text) for number, text in enumerate(SAME)]
    life.day(20)
    code, lines, _ = run("consolidate")
    assert code == 0
    assert lines[0].startswith("standing for 3 entries  2026-01-07  NVDA  Note")
    assert all(name in "\n".join(lines) for name in names)
    code, _, err = run("consolidate")
    assert (code, "nothing to consolidate" in err) == (0, True)
    note = life.seen()[0]
    code, lines, _ = run("undo", note, "--reason", "too short")
    assert [line.split("  ")[0].split(" of ")[0] for line in lines] == ["forgotten"] + [
        "undone: the supersede"
    ] * 3


def test_consolidate_gives_json(life, run):
    names = [life.learn(number, text) for number, text in enumerate(SAME)]
    life.day(20)
    (found,) = json.loads("\n".join(run("consolidate", "--dry-run", "--json")[1]))
    assert found["sources"] == names[::-1]
    assert found["note"]["links"] == names[::-1]


def test_a_note_may_be_given_its_end(life, run):
    run("note", "Thin until the holiday.", "--valid-until", "2026-01-09")
    (entry,) = life.memory.entries()
    assert entry.valid_until.isoformat().startswith("2026-01-09T23:59:59")
    assert json.loads("\n".join(run("log", "--json")[1]))[0]["hidden"] is False
    life.day(9)
    assert json.loads("\n".join(run("log", "--json")[1]))[0]["hidden"] is True


def test_show_says_what_hides_an_entry_and_why(life, run):
    old, new = life.learn(0, "Earnings move it."), life.learn(1, "Guidance moves it.")
    life.day(20)
    life.memory.expire(old, "2026-01-20", **WHY)
    life.memory.supersede(old, new, reason="said better", actor="desk")
    life.memory.forget(old, reason="wrong ticker")
    page = "\n".join(run("show", old)[1])
    assert "Forgotten    wrong ticker\n" in page
    assert f"Superseded   by {new}: said better (desk)" in page
    assert "Valid until  2026-01-20 23:59 UTC, which has passed" in page
    then = "\n".join(run("show", old, "--as-of", "2026-01-24")[1])
    assert "Forgotten" not in then
    assert "Superseded" not in then


def test_history_tells_who_did_what_and_when(life, run):
    old = life.learn(0, "Earnings move it.")
    life.day(20)
    life.memory.expire(old, "2026-01-30", reason="quarter over", actor="desk")
    life.day(21)
    seen = life.memory.recall("NVDA")
    life.memory.record("NVDA", "2026-01-26", "Rating: Buy", agent="momentum", recalled=seen)
    life.day(22)
    life.memory.undo(old, reason="not over", actor="head")
    code, lines, _ = run("history", old)
    assert code == 0
    assert [line.split()[:4] for line in lines[1:]] == [
        ["2026-01-05", "15:00", "UTC", "recorded"],
        ["2026-01-12", "16:00", "UTC", "outcome"],
        ["2026-01-12", "17:00", "UTC", "lesson"],
        ["2026-01-25", "15:00", "UTC", "given"],
        ["2026-01-26", "15:00", "UTC", "recalled"],
        ["2026-01-27", "15:00", "UTC", "undone"],
    ]
    events = json.loads("\n".join(run("history", old, "--json")[1]))
    assert [event["who"] for event in events] == [
        "",
        "test",
        "template",
        "desk",
        "momentum",
        "head",
    ]
    assert [event["undone"] for event in events] == [False] * 3 + [True] + [False] * 2
    assert events[1]["known_at"] == "2026-01-12T15:00:00Z"


@pytest.mark.leaky
def test_audit_prints_each_offender_with_its_place_and_fails(life, run):
    life.learn(0, "Earnings move it.")
    code, lines, err = run("audit")
    assert (code, lines) == (0, [])
    assert "1 entry" in err
    raw = life.journal.path.read_text(encoding="utf-8")
    act = {"add": "forget", "known_at": "2026-01-06T00:00:00Z", "at": "2026-02-01T00:00:00Z"}
    head, body = raw.split("\n\nDECISION:", 1)
    forged = f"{head}\n{write_line(act | {'reason': 'x'})}\n\nDECISION:{body}"
    life.journal.path.write_text(forged, encoding="utf-8")
    code, lines, _ = run("audit")
    assert (code, len(lines)) == (1, 1)
    assert lines[0].startswith(f"{life.journal.path}:1: 2026-01-05 NVDA Buy (")
    (found,) = json.loads("\n".join(run("audit", "--json")[1]))
    assert found["leak"] == "act known before its stamp"


def test_audit_of_a_log_that_is_not_there_says_so(run):
    code, lines, err = run("audit")
    assert (code, lines) == (0, [])
    assert "no log" in err


def test_every_act_leaves_the_text_of_the_file_as_it_was(life, run):
    """Only the ledger grows; the rest of the block stays byte for byte."""
    name = life.learn(0, "Earnings move it.")
    before = life.journal.path.read_text(encoding="utf-8").splitlines()
    life.day(20)
    run("expire", name, "2026-03-01", "--reason", "x -- y")
    run("forget", name, "--reason", "<!-- ENTRY_END -->")
    run("undo", name, "--reason", "z")
    after = life.journal.path.read_text(encoding="utf-8").splitlines()
    assert [line for line in after if line in before] == before
    assert len(after) == len(before) + 3
    (entry,) = life.memory.entries()
    assert [act.data["reason"] for act in entry.additions[2:]] == [
        "x -- y",
        "<!-- ENTRY_END -->",
        "z",
    ]
    assert render(entry).decode().splitlines()[: len(after)] == after

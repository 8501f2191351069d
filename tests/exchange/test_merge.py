"""Two versions of a log joined, in the library and by git itself."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.journal.making import DECIDED, KNOWN, decision, forgetting, lesson, note, outcome
from tradmem import LogError, MarkdownJournal, Rating
from tradmem.exchange.merge import merge
from tradmem.journal.base import OnConflict
from tradmem.journal.format import parse

ROOT = Path(__file__).parents[2]


class Log:
    """A log in a file, grown step by step; ``data`` is what it holds."""

    def __init__(self, path, data=b""):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.path = path
        self.journal = MarkdownJournal(path, max_resolved=None)

    @property
    def data(self):
        return self.path.read_bytes()

    def record(self, ticker, text="Buy.", hours=0, **more):
        at = DECIDED + timedelta(hours=hours)
        made = decision(text, ticker=ticker, decided_at=at, recorded_at=at, **more)
        return self.journal.append(made)[0].id


@pytest.fixture
def world(tmp_path):
    """A log on two machines, one entry on each of them the same."""
    base = Log(tmp_path / "base.md")
    base.name = base.record("NVDA")
    return base, Log(tmp_path / "ours.md", base.data), Log(tmp_path / "theirs.md", base.data)


def ids(data):
    return [entry.id for entry in parse(data).entries]


def test_entries_of_both_sides_are_there_once_the_earlier_first(world):
    base, ours, theirs = world
    b = theirs.record("BBB", hours=1)
    a = ours.record("AAA", hours=2)
    c = theirs.record("CCC", hours=3)
    found = merge(ours.data, base.data, theirs.data)
    assert ids(found.data) == [base.name, b, a, c]
    assert (found.taken, found.conflicts) == ((b, c), ())
    assert parse(found.data).problems == ()
    assert merge(theirs.data, base.data, ours.data).data == found.data


def test_what_each_side_added_to_one_entry_is_there_once(world):
    base, ours, theirs = world
    for side in (ours, theirs):  # both resolved it, each by itself
        side.journal.add([(base.name, outcome(at=KNOWN + timedelta(hours=len(side.path.name))))])
    theirs.journal.add([(base.name, lesson())])
    ours.journal.add([(base.name, forgetting())])
    found = merge(ours.data, base.data, theirs.data)
    (entry,) = parse(found.data).entries
    assert [a.kind for a in entry.additions] == ["outcome", "forget", "reflection"]
    assert (entry.forgotten, entry.reflection) == (True, "It was right. Do it again.")
    assert found.completed == (base.name,)
    assert found.data.count(b"resolved:") == 1


def test_what_only_one_side_changed_is_taken_to_the_byte(world):
    base, ours, theirs = world
    theirs.journal.add([(base.name, outcome())])
    assert merge(ours.data, base.data, theirs.data).data == theirs.data
    assert merge(theirs.data, base.data, ours.data).data == theirs.data


def test_an_edit_by_hand_on_one_side_and_an_outcome_on_the_other_both_stay(world):
    base, ours, theirs = world
    ours.path.write_bytes(ours.data.replace(b"| Buy |", b"| Sell |"))
    theirs.journal.add([(base.name, outcome())])
    for one, two in ((ours, theirs), (theirs, ours)):
        (entry,) = parse(merge(one.data, base.data, two.data).data).entries
        assert (entry.rating, entry.outcome.raw_return) == (Rating.SELL, 0.06)


def test_what_one_side_rotated_away_stays_away_unless_the_other_added_to_it(world):
    base, ours, theirs = world
    ours.path.write_bytes(b"")
    ours.record("AAA", hours=1)
    theirs.record("BBB", hours=2)
    assert base.name not in ids(merge(ours.data, base.data, theirs.data).data)
    assert base.name not in ids(merge(theirs.data, base.data, ours.data).data)
    theirs.journal.add([(base.name, outcome())])
    assert base.name in ids(merge(ours.data, base.data, theirs.data).data)


def test_one_key_with_two_texts_stands_twice_and_the_earlier_counts(world):
    base, ours, theirs = world
    name = ours.record("AAA", "Buy it.", hours=2)
    theirs.record("AAA", "Sell it.", hours=1)
    found = merge(ours.data, base.data, theirs.data)
    assert ids(found.data) == [base.name, name, name]
    assert "says one thing here and another there" in found.conflicts[0]
    assert [e.decision for e in parse(found.data).entries][1:] == ["Sell it.", "Buy it."]
    assert merge(theirs.data, base.data, ours.data).data == found.data
    assert any("stands at line" in p.message for p in parse(found.data).problems)


def test_without_a_common_past_everything_of_both_is_there(tmp_path):
    one, two = Log(tmp_path / "1.md"), Log(tmp_path / "2.md")
    names = [one.record("AAA", hours=1), two.record("BBB"), two.record("CCC", hours=2)]
    found = merge(one.data, b"", two.data)
    assert ids(found.data) == [names[1], names[0], names[2]]
    assert parse(found.data).problems == ()
    assert merge(b"", b"", two.data).data == two.data
    assert merge(one.data, b"", b"").data == one.data


def test_text_that_is_no_entry_is_lost_on_neither_side(world):
    base, ours, theirs = world
    ours.path.write_bytes(b"# My log\n\n" + ours.data)
    broken = b"[2026-99-99 | X | Buy | pending]\n\nDECISION:\nx\n\n<!-- ENTRY_END -->\n\n"
    theirs.path.write_bytes(theirs.data + broken + b"A remark at the end\n")
    ours.path.write_bytes(ours.data + b"[2026-01-05 | TORN | Buy")
    name = ours.record("AAA", hours=1)
    found = merge(ours.data, base.data, theirs.data).data
    assert found.startswith(b"# My log\n\n[2026-01-05 | NVDA")
    for piece in (b"2026-99-99", b"A remark at the end", b"TORN"):
        assert found.count(piece) == 1
    assert ids(found) == [base.name, name]


def test_a_torn_tail_on_each_side_swallows_nothing(world):
    base, ours, theirs = world
    ours.path.write_bytes(ours.data + b"[2026-01-06 | OURS | B")
    theirs.path.write_bytes(theirs.data + b"[2026-01-06 | THEIRS | B")
    found = merge(ours.data, base.data, theirs.data).data
    assert ids(found) == [base.name]
    after = Log(base.path.with_name("after.md"), found)
    late = after.record("AAA")
    assert ids(after.data) == [base.name, late]


def test_the_newline_style_of_ours_stays(world):
    base, ours, theirs = world
    theirs.record("BBB", "Two\nlines.")
    crlf = ours.data.replace(b"\n", b"\r\n")
    found = merge(crlf, base.data.replace(b"\n", b"\r\n"), theirs.data).data
    assert found.count(b"\n") == found.count(b"\r\n")
    assert [e.decision for e in parse(found).entries] == ["Buy.", "Two\nlines."]


def test_notes_and_revisions_join_like_all_others(world):
    base, ours, theirs = world
    theirs.journal.append(note("Guides low.", at=DECIDED))
    both = decision("Sell.", rating=Rating.SELL, revision=1)
    ours.journal.append(
        replace(both, recorded_at=DECIDED + timedelta(days=1)), on_conflict=OnConflict.EXACT
    )
    found = parse(merge(ours.data, base.data, theirs.data).data).entries
    assert [(e.ticker, e.revision, e.note) for e in found] == [
        ("NVDA", 0, ""),
        ("NVDA", 0, "Guides low."),
        ("NVDA", 1, ""),
    ]


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False))
def test_whatever_both_sides_did_is_there_and_joining_again_changes_nothing(chance):
    with TemporaryDirectory() as folder:
        base = Log(Path(folder) / "base.md")
        grow(base, chance, "B", 4)
        sides = [Log(Path(folder) / name, base.data) for name in ("one.md", "two.md")]
        for name, side in zip("OT", sides, strict=True):
            grow(side, chance, name, 6)
        past, one, two = base.data, *(side.data for side in sides)
    found, other = merge(one, past, two), merge(two, past, one)
    log = parse(found.data)
    assert (log.problems, found.conflicts) == ((), ())
    wanted = {e.id: e for data in (one, two) for e in parse(data).entries}
    assert ids(found.data) == ids(other.data)
    assert set(ids(found.data)) == set(wanted)
    for entry in log.entries:
        acts = {
            (a.kind, a.at)
            for e in (*parse(one).entries, *parse(two).entries)
            if e.id == entry.id
            for a in e.additions
            if a.kind == "forget"
        }
        assert acts <= {(a.kind, a.at) for a in entry.additions}
        sides_of = [e for d in (one, two) for e in parse(d).entries if e.id == entry.id]
        assert bool(entry.outcome) == any(e.outcome for e in sides_of)
        assert len([a for a in entry.additions if a.kind == "outcome"]) <= 1
    for again in (one, two, found.data):
        assert merge(found.data, past, again).data == found.data


def grow(log, chance, name, steps):
    """Some decisions, outcomes and acts, at instants that no other side uses."""
    for number in range(steps):
        entries = log.journal.entries()
        hours = chance.randrange(1000) + len(name) + number / 7
        if not entries or chance.random() < 0.5:
            text = chance.choice(["Buy.", "Two\nlines.", "<!-- ENTRY_END -->", "[2026-01-05 | x]"])
            log.record(f"{name}{number}", text, hours=hours)
            continue
        entry = chance.choice(entries)
        at = KNOWN + timedelta(hours=hours)
        act = forgetting(at) if entry.outcome else outcome(at=at)
        log.journal.add([(entry.id, act)])


# With git


def run(folder, *words, check=True):
    given = {**os.environ, "PYTHONPATH": str(ROOT), "GIT_CONFIG_GLOBAL": os.devnull}
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@a", "GIT_COMMITTER_NAME": "a"}
    given |= names | {"GIT_COMMITTER_EMAIL": "a@a", "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(
        words, cwd=folder, env=given, capture_output=True, text=True, check=check, timeout=60
    )


@pytest.fixture
def repository(tmp_path):
    """A repository with a log, and the merge driver set up by the command."""
    folder = tmp_path / "repo"
    log = Log(folder / "logs" / "memory.md")
    log.record("NVDA")
    run(folder, "git", "init", "-q", "-b", "main")
    run(folder, sys.executable, "-m", "tradmem", "merge", "--install", "--log", "logs/memory.md")
    run(folder, "git", "add", ".")
    run(folder, "git", "commit", "-qm", "one")
    run(folder, "git", "branch", "night")
    return folder, log


def test_git_joins_what_two_machines_committed(repository):
    folder, log = repository
    day = [log.record("AAA", hours=1)]
    log.journal.add([(log.journal.entries()[0].id, outcome())])
    run(folder, "git", "commit", "-qam", "day")
    run(folder, "git", "checkout", "-q", "night")
    night = [log.record("BBB", hours=2)]
    log.journal.add([(log.journal.entries()[0].id, outcome(at=KNOWN + timedelta(hours=9)))])
    run(folder, "git", "commit", "-qam", "night")
    done = run(folder, "git", "merge", "main", "-m", "both", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tradmem: logs/memory.md: 1 entry taken" in done.stdout + done.stderr
    entries = log.journal.entries()
    assert [e.id for e in entries][1:] == day + night
    assert [a.kind for a in entries[0].additions] == ["outcome"]
    assert log.journal.problems() == []
    assert run(folder, "git", "status", "--porcelain").stdout == ""


def test_git_leaves_to_a_person_what_contradicts_itself(repository):
    folder, log = repository
    log.record("AAA", "Buy it.", hours=1)
    run(folder, "git", "commit", "-qam", "day")
    run(folder, "git", "checkout", "-q", "night")
    log.record("AAA", "Sell it.", hours=2)
    run(folder, "git", "commit", "-qam", "night")
    done = run(folder, "git", "merge", "main", "-m", "both", check=False)
    assert done.returncode == 1
    assert "says one thing here and another there" in done.stderr + done.stdout
    assert b"<<<<<<<" not in log.data
    assert log.data.count(b"| AAA |") == 2


def test_installing_twice_writes_one_line_each(repository):
    folder, _ = repository
    before = (folder / ".gitattributes").read_text()
    run(folder, sys.executable, "-m", "tradmem", "merge", "--install", "--log", "logs/memory.md")
    assert (folder / ".gitattributes").read_text() == before
    assert before.splitlines()[0] == "/logs/memory.md merge=tradmem"


def test_a_log_with_blanks_and_brackets_in_its_name_is_one_that_git_knows(tmp_path):
    run(tmp_path, "git", "init", "-q")
    name = 'my "log" [1].md'
    run(tmp_path, sys.executable, "-m", "tradmem", "merge", "--install", "--log", name)
    archived = 'archive/my "log" [1]-2026.md'
    said = run(tmp_path, "git", "check-attr", "-z", "merge", name, archived, "other.md").stdout
    assert said.split("\0")[2::3] == ["tradmem", "tradmem", "unspecified"]


def test_what_is_no_text_is_refused_by_its_side():
    with pytest.raises(LogError, match="cannot read theirs: it is UTF-16"):
        merge(b"", b"", b"\xff\xfea\0")

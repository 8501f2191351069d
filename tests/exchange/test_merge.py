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
from tradmem import Addition, LogError, MarkdownJournal, Rating
from tradmem.clock import format_instant
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


def test_the_later_of_two_acts_stands_whichever_side_did_it(world):
    base, ours, theirs = world

    def act(kind, hour, **data):
        return Addition(kind=kind, at=KNOWN + timedelta(hours=hour), data=data)

    def expire(hour, day):
        return act("expire", hour, valid_until=f"2026-03-{day:02}T00:00:00Z")

    ours.journal.add([(base.name, expire(1, 1)), (base.name, expire(4, 4))])
    theirs.journal.add([(base.name, act("forget", 2)), (base.name, expire(3, 3))])
    undo = {"undoes": "forget", "undoes_at": format_instant(KNOWN + timedelta(hours=2))}
    theirs.journal.add([(base.name, act("undo", 5, **undo))])
    found = merge(ours.data, base.data, theirs.data)
    other = merge(theirs.data, base.data, ours.data)
    assert found.data == other.data
    (entry,) = parse(found.data).entries
    assert (entry.valid_until.day, entry.forgotten) == (4, False)
    assert [a.at for a in entry.additions] == [KNOWN + timedelta(hours=n) for n in range(1, 6)]
    assert merge(found.data, base.data, theirs.data).data == found.data


def test_an_act_whose_clock_went_back_still_follows_what_it_takes_back(world):
    base, ours, theirs = world
    done = KNOWN + timedelta(hours=9)
    base.journal.add([(base.name, forgetting(done))])
    ours, theirs = (Log(side.path, base.data) for side in (ours, theirs))
    undo = {"undoes": "forget", "undoes_at": format_instant(done)}
    theirs.journal.add([(base.name, Addition(kind="undo", at=KNOWN, data=undo))])
    ours.journal.add([(base.name, outcome())])
    for data in (
        merge(ours.data, base.data, theirs.data),
        merge(theirs.data, base.data, ours.data),
    ):
        assert [entry.forgotten for entry in parse(data.data).entries] == [False]


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


def pieces(data):
    """The blocks of a log in any order, and the text after the last."""
    log = parse(data.replace(b"\r\n", b"\n"))
    blocks = [block.raw.strip() for block in log.blocks if block.raw.strip()]
    return sorted(blocks), log.tail.strip()


def swaps(one, base, two):
    """What joining two versions gives, checked to be stable and the same from either side."""
    found, other = merge(one, base, two), merge(two, base, one)
    assert pieces(found.data) == pieces(other.data)
    assert sorted(found.conflicts) == sorted(other.conflicts)
    for side in (one, two, found.data):
        again = merge(found.data, base, side)
        assert again.data == found.data
        assert again.conflicts == (found.conflicts if side != found.data else again.conflicts)
        assert pieces(merge(side, base, found.data).data) == pieces(found.data)
    return found


def test_joining_a_conflict_again_adds_no_block_again(world):
    base, ours, theirs = world
    ours.record("AAA", "Buy it.", hours=2)
    theirs.record("AAA", "Sell it.", hours=1)
    assert len(ids(swaps(ours.data, base.data, theirs.data).data)) == 3


def test_a_third_machine_adds_its_own_text_to_a_conflict_and_no_other(world):
    base, ours, theirs = world
    third = Log(base.path.with_name("third.md"), base.data)
    for log, text in ((ours, "Buy it."), (theirs, "Sell it."), (third, "Hold it.")):
        log.record("AAA", text, hours=len(text))
    two = merge(ours.data, base.data, theirs.data).data
    three = swaps(two, base.data, third.data)
    texts = [entry.decision for entry in parse(three.data).entries]
    assert texts[:2] == ["Buy.", "Buy it."]
    assert sorted(texts[2:]) == ["Hold it.", "Sell it."]
    assert "delete one of them" in three.conflicts[0]


def test_once_a_person_has_chosen_the_other_text_stays_away(world):
    base, ours, theirs = world
    ours.record("AAA", "Buy it.", hours=2)
    theirs.record("AAA", "Sell it.", hours=1)
    both = merge(ours.data, base.data, theirs.data).data
    first = next(block.raw for block in parse(both).blocks if b"Sell it." in block.raw)
    chosen = both.replace(first, b"")
    found = merge(chosen, both, both)
    assert [entry.decision for entry in parse(found.data).entries] == ["Buy.", "Buy it."]
    assert found.conflicts == ()


def test_what_a_person_typed_stays_whichever_side_it_is_on(world):
    base, ours, theirs = world
    base.journal.add([(base.name, outcome()), (base.name, lesson("A lesson with a tpyo."))])
    ours.path.write_bytes(base.data)
    theirs.path.write_bytes(b"# My log\n\n" + base.data.replace(b"tpyo", b"typo"))
    ours.journal.add([(base.name, forgetting())])
    found = swaps(ours.data, base.data, theirs.data)
    (entry,) = parse(found.data).entries
    assert (entry.forgotten, entry.reflection) == (True, "A lesson with a typo.")
    assert found.data.startswith(b"# My log\n")
    assert found.conflicts == ()


def test_a_lesson_that_two_people_typed_over_is_left_to_them(world):
    base, ours, theirs = world
    base.journal.add([(base.name, outcome()), (base.name, lesson("A lesson."))])
    ours.path.write_bytes(base.data.replace(b"A lesson.", b"Sell earlier."))
    theirs.path.write_bytes(base.data.replace(b"A lesson.", b"Buy later."))
    found = swaps(ours.data, base.data, theirs.data)
    assert {e.reflection for e in parse(found.data).entries} == {"Sell earlier.", "Buy later."}
    assert len(found.conflicts) == 1


def test_each_side_has_its_own_lesson_and_the_earlier_one_stands_on_both(world):
    base, ours, theirs = world
    for hours, side in ((5, ours), (3, theirs)):
        at = KNOWN + timedelta(hours=hours)
        side.journal.add([(base.name, outcome(at=at)), (base.name, lesson(f"{hours}.", at=at))])
    found = swaps(ours.data, base.data, theirs.data)
    assert [e.reflection for e in parse(found.data).entries] == ["3."]


def test_a_torn_text_that_was_closed_off_is_not_put_behind_again(world):
    base, ours, theirs = world
    ours.path.write_bytes(ours.data + b"[2026-01-06 | OURS | B")
    theirs.path.write_bytes(theirs.data + b"[2026-01-06 | THEIRS | B")
    found = merge(ours.data, base.data, theirs.data).data
    for side in (ours.data, theirs.data):
        for again in (merge(found, base.data, side), merge(side, base.data, found)):
            assert (again.data.count(b"OURS"), again.data.count(b"THEIRS")) == (1, 1)
        assert merge(found, base.data, side).data == found


@pytest.mark.parametrize("settled", [(), ("one",), ("two",), ("one", "two")])
def test_two_who_chose_differently_from_an_entry_that_stood_twice_lose_neither(tmp_path, settled):
    """Each side deleted the one that the other kept; a person has to choose again."""
    sides = {}
    for word in ("one", "two"):
        side = Log(tmp_path / f"{word}.md")
        name = side.record("NVDA", f"Buy, for reason {word}.")
        sides[word] = (side, side.data)
        if word in settled:
            side.journal.add([(name, outcome())])
    base = b"\n".join(before for _, before in sides.values())
    one, two = (side.data for side, _ in sides.values())
    for ours, theirs in ((one, two), (two, one)):
        merged = merge(ours, base, theirs)
        found = {e.recorded.text: len(e.additions) for e in parse(merged.data).entries}
        assert found == {f"Buy, for reason {w}.": int(w in settled) for w in ("one", "two")}
        assert len(merged.conflicts) == 1
        assert merge(merged.data, theirs, theirs).data == merged.data
    assert merge(one, base, one).data == one


def test_an_entry_that_stands_twice_on_one_side_is_there_once(world):
    base, ours, theirs = world
    name = theirs.record("AAA")
    theirs.path.write_bytes(theirs.data + parse(theirs.data).blocks[1].raw)
    theirs.journal.add([(name, outcome())])
    assert len(ids(theirs.data)) == 3
    found = swaps(ours.data, base.data, theirs.data)
    assert ids(found.data) == [base.name, name]
    assert parse(found.data).entries[1].outcome


def test_a_remark_at_the_end_that_one_side_took_away_stays_away(world):
    base, ours, _ = world
    base.path.write_bytes(base.data + b"A remark at the end\n")
    name = ours.record("AAA")
    found = swaps(ours.data, base.data, base.data)
    assert (ids(found.data), b"A remark" in found.data) == ([base.name, name], False)


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_joining_is_stable_the_same_from_either_side_and_loses_nothing(chance):
    with TemporaryDirectory() as folder:
        base = Log(Path(folder) / "base.md")
        live(base, chance, 4)
        sides = [Log(Path(folder) / name, base.data) for name in ("one.md", "two.md")]
        for side in sides:
            live(side, chance, 5)
        past, one, two = base.data, *(side.data for side in sides)
    if chance.random() < 0.3:
        two = two.replace(b"\n", b"\r\n")
    found = swaps(one, past, two)
    entries = [parse(data.replace(b"\r\n", b"\n")).entries for data in (one, two, past)]
    stand = [(e.id, e.decision) for e in parse(found.data.replace(b"\r\n", b"\n")).entries]
    assert len(set(stand)) == len(stand)
    known = {(e.id, e.decision) for e in entries[2]}
    for side in entries[:2]:
        assert {(e.id, e.decision) for e in side} - known <= set(stand)


def live(log, chance, steps):
    """Decisions, some on a key that the other side decides too, outcomes, acts and edits."""
    for _ in range(steps):
        entries = log.journal.entries()
        hours = chance.randrange(1000) + chance.random()
        at = KNOWN + timedelta(hours=hours)
        step = chance.random()
        if not entries or step < 0.4:
            name = chance.choice(["AAA", "BBB", f"T{chance.randrange(10**6)}"])
            log.record(name, chance.choice(["Buy.", "Hold on.", "Two\nlines."]), hours=hours)
            continue
        entry = chance.choice(entries)
        if step < 0.6:
            log.journal.add([(entry.id, lesson(at=at) if entry.outcome else outcome(at=at))])
        elif step < 0.75:
            log.journal.add([(entry.id, forgetting(at))])
        elif step < 0.85:
            edit = chance.choice([(b"| Buy |", b"| Sell |"), (b"Buy.", b"Buy it all.")])
            log.path.write_bytes(log.data.replace(*edit, 1))
        else:
            log.path.write_bytes(b"A remark.\n\n" + log.data.lstrip())


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
    assert (folder / ".gitignore").read_text().splitlines().count("/logs/memory.md*.lock") == 1
    assert (folder / "logs" / "memory.md.lock").exists()
    assert ".lock" not in run(folder, "git", "ls-files").stdout
    assert before.splitlines()[0] == "/logs/memory.md merge=tradmem"


def test_what_stands_in_files_of_git_stays_to_the_byte(tmp_path):
    run(tmp_path, "git", "init", "-q")
    install = (sys.executable, "-m", "tradmem", "merge", "--install", "--log", "memory.md")
    before = b"build/\r\n\xff\xfe no utf-8"
    (tmp_path / ".gitignore").write_bytes(before)
    run(tmp_path, *install)
    assert (tmp_path / ".gitignore").read_bytes() == before + b"\n/memory.md*.lock\n"
    (tmp_path / ".gitignore").unlink()
    (tmp_path / ".gitignore").mkdir()
    done = run(tmp_path, *install, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("tradmem: cannot add to ")


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

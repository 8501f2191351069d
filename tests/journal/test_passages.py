"""Texts for a search: read from a block without parsing it, the same as with parsing it."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.journal.making import (
    DATA,
    DAY,
    DECIDED,
    KNOWN,
    additions,
    decision,
    decisions,
    forgetting,
    lesson,
    note,
    outcome,
    texts,
)
from tradmem import Addition, MarkdownJournal, RamJournal
from tradmem.journal.block import fold_now, read_block
from tradmem.journal.format import render, split
from tradmem.journal.passages import glimpse, passage_of
from tradmem.journal.text import clean

LONG = outcome(KNOWN + timedelta(days=14), horizon=20)


def block(recorded, *added):
    return render(fold_now(recorded, added))


def unstamped(kind):
    """A resolved entry of which a person typed an addition: nothing says when."""
    line = rb'("add":"%s"),"at":"[^"]*"' % kind
    return re.sub(line, rb"\1", block(decision(), outcome(), lesson()))


@given(decisions(), st.lists(additions(), max_size=4) | st.just([outcome(), lesson()]), texts)
def test_a_glimpse_is_what_parsing_gives_or_nothing(recorded, added, said):
    said = clean(said) or "Said."
    added = [replace(a, text=said) if a.text else a for a in added]
    raw = block(replace(recorded, text=clean(recorded.text)), *added)
    passage = glimpse(raw)
    if passage is not None:
        assert passage == passage_of(read_block(raw).entry)


@pytest.mark.parametrize(
    "raw",
    [
        block(decision()),
        block(decision("Two\n\nparagraphs: REFLECTION: no, NOTE: no, [2026-01-05 | is text.")),
        block(decision(), outcome()),
        block(decision(), outcome(), lesson()),
        block(decision(), outcome(), lesson(tags=["earnings beat", "芯片"])),
        block(decision(horizon=5), outcome(), lesson(), LONG),
        block(decision(horizon=20), outcome(), LONG, lesson()),
        block(decision(), outcome(), lesson(), forgetting()),
        block(decision(recalled=("91aa03c2d7f0", "0" * 12)), outcome(), lesson()),
        block(note()),
        block(note("業績は上方修正された。")),
        block(note(), forgetting()),
    ],
)
def test_whatever_is_as_we_write_it_is_not_parsed(raw):
    assert glimpse(raw) == passage_of(read_block(raw).entry)


@pytest.mark.parametrize(
    "raw",
    [
        block(decision(), outcome(), lesson("First."), outcome(alpha=-0.2), lesson("Second.")),
        block(decision(), outcome(), lesson(), outcome(alpha=-0.2)),
        block(decision(), outcome(), lesson()).replace(b"+4.5%", b"-4.5%"),
        block(decision(), outcome(), lesson()).replace(b" | 5d |", b" | 6d |"),
        block(decision(), outcome()).replace(
            b"| +6.0% | +4.5% | 5d | resolved:2026-01-12", b"| pending"
        ),
        block(decision()).replace(b"\n\n<!--", b"\n\nNOTE:\nBy hand.\n\n<!--"),
        block(decision()).replace(b"\n\n<!--", b"\n\nREFLECTION:\nBy hand.\n\n<!--"),
        block(decision(), Addition(kind="unresolvable", at=KNOWN, data={"reason": "delisted"})),
        block(decision(), outcome(), Addition(kind="later", at=KNOWN + timedelta(days=9))),
        block(decision()).replace(b"\n", b"\r\n"),
        b"# A title\n\n" + block(decision()),
        unstamped(b"outcome"),
        unstamped(b"reflection"),
    ],
)
def test_what_a_person_or_a_correction_touched_is_parsed(raw):
    assert glimpse(raw) is None
    assert read_block(raw).entry


@pytest.mark.parametrize("path", sorted((DATA / "journals").glob("*.md")), ids=lambda p: p.stem)
def test_other_peoples_blocks_are_read_the_same_or_parsed(path):
    data = path.read_bytes()
    for start, end in split(data):
        raw, passage = data[start:end], glimpse(data[start:end])
        if passage is not None:
            assert passage == passage_of(read_block(raw).entry)


def test_a_forgotten_entry_says_what_it_always_said():
    before = passage_of(fold_now(decision(), (outcome(), lesson())))
    assert passage_of(fold_now(decision(), (outcome(), lesson(), forgetting()))) == before


@pytest.mark.parametrize(
    ("added", "since", "sole"),
    [
        ((), DECIDED, True),
        ((outcome(),), KNOWN, True),
        ((outcome(), lesson()), KNOWN, True),
        ((outcome(), lesson(), LONG), KNOWN + timedelta(days=14), False),
        (
            (outcome(), lesson(), outcome(KNOWN + timedelta(days=1), alpha=-0.2)),
            KNOWN + timedelta(days=1),
            False,
        ),
        ((Addition(kind="unresolvable", at=KNOWN, data={"reason": "x"}),), KNOWN, False),
    ],
)
def test_a_passage_says_since_when_it_holds(added, since, sole):
    passage = passage_of(fold_now(decision(), added))
    assert (passage.made, passage.since, passage.sole) == (DECIDED, since, sole)


@pytest.fixture(params=["markdown", "ram"])
def journal(request, tmp_path):
    return MarkdownJournal(tmp_path / "memory.md") if request.param == "markdown" else RamJournal()


def test_only_what_changed_comes_again(journal):
    first = journal.append(decision())[0]
    journal.append(decision(day=DAY + timedelta(days=1)))
    mark = journal.passages().mark
    assert list(journal.passages(mark).passages) == []
    journal.add([(first.id, outcome()), (first.id, lesson())])
    new = journal.append(note())[0]
    changes = journal.passages(mark)
    assert {p.id: p.lesson for p in changes.passages} == {
        first.id: "It was right. Do it again.",
        new.id: "",
    }
    assert list(changes.gone) == []


def test_what_another_process_or_a_person_did_comes_too(tmp_path):
    path = tmp_path / "memory.md"
    journal, other = MarkdownJournal(path), MarkdownJournal(path)
    one = journal.append(decision("One"))[0]
    two = journal.append(decision("Two", day=DAY + timedelta(days=1)))[0]
    mark = journal.passages().mark
    three = other.append(decision("Three", day=DAY + timedelta(days=2)))[0]
    changes = journal.passages(mark)
    assert [p.id for p in changes.passages] == [three.id]
    text = path.read_text(encoding="utf-8")
    end = "<!-- ENTRY_END -->\n\n"
    path.write_text(text[text.index(end) + len(end) :].replace("Two", "Other"), encoding="utf-8")
    changes = journal.passages(changes.mark)
    assert list(changes.gone) == [one.id]
    assert {p.id: p.body for p in changes.passages}[two.id] == "Other"


def test_an_entry_that_rotates_comes_from_the_archive(tmp_path):
    journal = MarkdownJournal(tmp_path / "memory.md", max_resolved=1)
    days = [DAY + timedelta(days=n) for n in range(8)]
    entries = [journal.append(decision(day=day))[0] for day in days]
    mark = journal.passages().mark
    for number, entry in enumerate(entries):
        known = KNOWN + timedelta(days=number)
        journal.add([(entry.id, outcome(known)), (entry.id, lesson(at=known))])
    changes = journal.passages(mark)
    assert list(changes.gone) == []
    there = {passage.id: passage.archived for passage in changes.passages}
    assert there == {entry.id: number < 3 for number, entry in enumerate(entries)}
    text = journal.path.read_text(encoding="utf-8")
    archive = journal.archives()[0]
    journal.path.write_text(text + archive.read_text(encoding="utf-8"), encoding="utf-8")
    passages = {p.id: p.archived for p in journal.passages().passages}
    assert passages == dict.fromkeys(there, False)


def test_entries_are_had_by_their_ids(journal):
    first = journal.append(decision())[0]
    second = journal.append(decision("Rating: Sell"), on_conflict="revise")[0]
    ids = [second.id, "0" * 12, first.id]
    assert journal.get_all(ids) == {second.id: second, first.id: first}
    assert list(journal.get_all(ids)) == [second.id, first.id]
    assert journal.get_all(ids, replaced=False) == {second.id: second}

"""Everything that ever happened to an entry is told, in order, with who did it."""

from datetime import timedelta

import pytest

from tests.governance_world import SAME, START, WHY, Life, on
from tests.journal.making import decision, lesson, outcome
from tradmem import MarkdownJournal, RamJournal, UnknownEntry
from tradmem.history import BY_HAND


@pytest.fixture(params=["markdown", "ram"])
def life(request, tmp_path):
    markdown = request.param == "markdown"
    return Life(MarkdownJournal(tmp_path / "memory.md") if markdown else RamJournal())


def told(life, name):
    return [(event.kind, event.who, event.text) for event in life.memory.history(name)]


def test_what_saw_cited_built_on_and_replaced_an_entry_is_told(life):
    first = life.learn(0, SAME[0])
    at = life.day(10)
    later = decision(
        "Later.",
        day=on(10),
        agent="desk two",
        decided_at=at,
        recorded_at=at,
        recalled=(first,),
        recalled_as_of=at,
        cited=(first,),
    )
    saw = life.journal.append(later)[0].id
    life.journal.add([(saw, outcome(life.day(17)))])
    built = lesson("Again.", at=life.day(18), links=[first])
    life.journal.add([(saw, built)])
    for number in (19, 20):
        life.learn(number, SAME[number - 18])
    life.day(40)
    note = life.memory.consolidate(**WHY)[0].note
    found = told(life, first)
    assert found[0] == ("recorded", "", "Buy")
    assert found[1] == ("outcome", "test", "+6.0% in 5 sessions, alpha +4.5%")
    assert found[2] == ("reflection", "template", SAME[0])
    name = f"2026-01-15 NVDA Buy ({saw})"
    assert found[3:6] == [
        ("recalled", "desk two", f"for {name}"),
        ("cited", "desk two", f"by {name}"),
        ("linked", "template", f"by the lesson of {name}"),
    ]
    of_note = f"2026-01-25 NVDA Note ({note.id})"
    assert sorted(found[6:]) == [
        ("linked", "desk", f"by {of_note}"),
        ("supersede", "desk", f"by {note.id}: because"),
    ]
    standing = told(life, note.id)
    assert standing[0] == ("recorded", "desk", "because")
    assert ("superseding", "desk", f"2026-01-05 NVDA Buy ({first})") in standing
    assert len([event for event in standing if event[0] == "superseding"]) == 3


def test_acts_and_their_undoing_are_told_with_instants_and_an_expiry_when_it_comes(life):
    name = life.learn(0, "Earnings move it.")
    life.day(10)
    life.memory.expire(name, life.day(10) + (on(15) - on(10)), reason="for now", actor="desk")
    assert life.memory.history(name)[-1].kind == "expire"
    life.day(16)
    *_, act, end = life.memory.history(name)
    assert (end.kind, end.at) == ("expired", START + (on(15) - on(0)))
    assert (act.who, act.text) == ("desk", "valid until 2026-01-20 15:00 UTC: for now")
    life.memory.undo(name, reason="for good", actor="head")
    *_, act, undo = life.memory.history(name)
    assert (act.kind, act.undone) == ("expire", True)
    assert (undo.kind, undo.who, undo.at) == ("undo", "head", life.now)
    assert undo.text == "the expire of 2026-01-15 15:00 UTC: for good"


def test_a_revision_is_told_of_the_first(life):
    first = life.memory.record("NVDA", "2026-01-05", "Rating: Buy", agent="a").entry
    life.memory.record("NVDA", "2026-01-05", "Rating: Buy", agent="b")
    second = life.memory.record(
        "NVDA", "2026-01-05", "Rating: Sell", agent="a", on_conflict="revise"
    ).entry
    assert told(life, first.id)[1:] == [("revised", "a", f"as 2026-01-05 NVDA Sell ({second.id})")]
    assert len(told(life, second.id)) == 1


def test_what_was_edited_or_archived_comes_last_and_has_no_instant(tmp_path):
    life = Life(MarkdownJournal(tmp_path / "memory.md", max_resolved=2))
    names = [life.learn(number, f"Lesson {'abcdefgh'[number]}.") for number in range(8)]
    path = life.journal.path
    text = path.read_text(encoding="utf-8").replace("NVDA | Buy | +6.0%", "NVDA | Hold | +6.0%", 1)
    path.write_text(text, encoding="utf-8")
    edited = next(entry for entry in life.memory.entries() if entry.edited)
    last = life.memory.history(edited.id)[-1]
    assert (last.at, last.kind, last.who, last.text) == (None, "edited", BY_HAND, "rating")
    assert life.memory.history(names[0])[-1].kind == "archived"


def test_a_lesson_typed_into_the_file_follows_what_stands_before_it(tmp_path):
    life = Life(MarkdownJournal(tmp_path / "memory.md"))
    name = life.learn(0, "")
    path = life.journal.path
    text = path.read_text(encoding="utf-8")
    text = text.replace("\n<!-- ENTRY_END", "\nREFLECTION:\nTyped.\n\n<!-- ENTRY_END")
    path.write_text(text, encoding="utf-8")
    life.day(20)
    life.memory.forget(name, **WHY)
    assert [(event.kind, event.who) for event in life.memory.history(name)] == [
        ("recorded", ""),
        ("outcome", "test"),
        ("reflection", BY_HAND),
        ("forget", "desk"),
    ]


def test_as_of_an_instant_only_what_was_known_then_is_told(life):
    """The same as the history of a log that ends there."""
    first = life.learn(0, SAME[0])
    at = life.day(10)
    seen = life.memory.recall("NVDA")
    text = "**Rating**: Buy"
    life.memory.record("NVDA", on(10), text, recalled=seen, decided_at=at, agent="desk")
    life.day(12)
    life.memory.forget(first, **WHY)
    life.day(14)
    life.memory.undo(first, **WHY)
    life.day(40)

    def kinds(number):
        as_of = START + timedelta(days=number)
        return [event.kind for event in life.memory.history(first, as_of)]

    assert kinds(1) == ["recorded"]
    assert kinds(8) == ["recorded", "outcome", "reflection"]
    assert kinds(11) == ["recorded", "outcome", "reflection", "recalled"]
    assert kinds(13)[-1] == "forget"
    (act,) = [
        e
        for e in life.memory.history(first, START + timedelta(days=13))
        if e.who == "desk" and e.kind == "forget"
    ]
    assert not act.undone
    assert life.memory.history(first, life.now) == life.memory.history(first)
    with pytest.raises(UnknownEntry, match="was not there yet at 2026-01-04"):
        life.memory.history(first, "2026-01-04")

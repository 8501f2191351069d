"""Whole entries between journals: ids kept, nothing twice, nothing that stands changed."""

from collections import Counter
from dataclasses import fields, replace
from datetime import timedelta
from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.journal.making import (
    DAY,
    KNOWN,
    additions,
    decision,
    decisions,
    forgetting,
    lesson,
    note,
    outcome,
)
from tradmem import Addition, Decision, LogBusy, MarkdownJournal, Outcome, RamJournal, Rating
from tradmem.errors import UsageError
from tradmem.exchange.flat import COLUMNS, row_of, whole_of_row
from tradmem.exchange.reading import Format, Reader
from tradmem.exchange.taking import Fate, copy, take
from tradmem.exchange.whole import Whole, from_json, to_json
from tradmem.exchange.writing import write_file
from tradmem.journal.base import OnConflict
from tradmem.journal.text import clean


@pytest.fixture
def log(tmp_path):
    journal = MarkdownJournal(tmp_path / "one" / "memory.md", max_resolved=None)
    journal.append(decision("Buy.\n\n# Heading"))
    old, _ = journal.append(decision("Sell.", ticker="AAPL", rating=Rating.SELL))
    journal.append(
        decision("Hold.", ticker="AAPL", rating=Rating.HOLD), on_conflict=OnConflict.REVISE
    )
    journal.append(note("A note."))
    journal.append(decision("No view.", ticker="BRK.B", rating=None, agent="bear"))
    first = journal.entries()[0].id
    journal.add([(first, outcome()), (first, lesson()), (first, outcome(horizon=20))])
    journal.add([(first, forgetting()), (old.id, outcome(raw=-0.1))])
    return journal


def test_there_and_back_is_the_same_to_the_byte(log, tmp_path):
    ram, back = RamJournal(), MarkdownJournal(tmp_path / "two" / "memory.md", max_resolved=None)
    assert Counter(t.fate for t in copy(log, ram)) == {"taken": 5}
    assert ram.entries() == log.entries()
    copy(ram, back)
    assert back.path.read_bytes() == log.path.read_bytes()


def test_a_half_of_a_character_comes_back_from_json_lines_and_nothing_is_added_again(log, tmp_path):
    name, reason = log.entries()[0].id, "\ud83d torn by a model"
    log.add([(name, forgetting(reason=reason))])
    write_file(tmp_path / "all.jsonl", log.entries(), Format.JSONL)
    found = [*Reader(now=KNOWN + timedelta(days=99)).read(tmp_path / "all.jsonl")]
    assert Counter(t.fate for t in take(log, found)) == {Fate.UNCHANGED: 5}
    back = RamJournal()
    take(back, found)
    assert back.get(name) == log.get(name)
    assert reason in [act.data.get("reason") for act in back.get(name).additions]


@pytest.mark.parametrize("act", [outcome(), lesson(), Addition(kind="reopen", at=KNOWN)])
def test_a_note_that_is_said_to_have_an_outcome_is_refused(act):
    with pytest.raises(UsageError, match=f"a note and has the {act.kind} of a decision"):
        from_json(to_json(Whole(note("Guides low."), (act,))))
    assert from_json(to_json(Whole(note("Guides low."), (forgetting(),)))).recorded.is_note


def test_a_row_carries_what_was_noted_beside_a_decision_and_no_outcome_of_a_note():
    journal = RamJournal()
    entry, _ = journal.append(decision("Buy."))
    journal.add([(entry.id, outcome()), (entry.id, Addition(kind="remark", text="Sized small."))])
    row = row_of(journal.get(entry.id))
    back = whole_of_row(row, KNOWN)
    assert (back.recorded.is_note, back.recorded.text) == (False, "Buy.")
    assert back.additions[-1] == Addition(kind="remark", text="Sized small.")
    with pytest.raises(UsageError, match="a note and has the outcome of a decision"):
        whole_of_row(row | {"status": "note"}, KNOWN)
    without = {name: value for name, value in row.items() if name != "status"}
    assert not whole_of_row(without, KNOWN).recorded.is_note


def test_a_second_copy_does_nothing(log, tmp_path):
    back = MarkdownJournal(tmp_path / "two" / "memory.md", max_resolved=None)
    copy(log, back)
    before = back.path.read_bytes()
    assert {t.fate for t in copy(log, back)} == {Fate.UNCHANGED}
    assert back.path.read_bytes() == before


def test_archived_entries_come_too(tmp_path):
    source = MarkdownJournal(tmp_path / "one.md", max_resolved=1)
    for number in range(9):
        entry, _ = source.append(decision(f"n {number}", day=DAY + timedelta(days=number)))
        source.add([(entry.id, outcome(KNOWN + timedelta(days=number))), (entry.id, lesson())])
    assert source.archives()
    target = MarkdownJournal(tmp_path / "two.md", max_resolved=1)
    copy(source, target)
    assert {e.id for e in target.entries()} == {e.id for e in source.entries()}
    assert target.path.read_bytes() == source.path.read_bytes()


def test_what_was_added_elsewhere_since_completes_an_entry(log):
    ram = RamJournal()
    name = log.entries()[1].id
    copy(log, ram)
    ram.add([(name, lesson("Later. It was wrong."))])
    (changed,) = [t for t in copy(ram, log) if t.fate is not Fate.UNCHANGED]
    assert (changed.fate, changed.added) == (Fate.COMPLETED, ("reflection",))
    assert log.get(name).reflection == "Later. It was wrong."


def test_two_accounts_of_one_outcome_are_one_and_the_first_stands():
    here, there = RamJournal(), RamJournal()
    for journal, raw, text in ((here, 0.06, "Mine. Yes."), (there, 0.0601, "Theirs. Yes.")):
        entry, _ = journal.append(decision())
        journal.add([(entry.id, outcome(raw=raw)), (entry.id, lesson(text))])
    there.add(
        [(entry.id, outcome(raw=0.07, flags=("corrected",))), (entry.id, lesson("New. Yes."))]
    )
    (found,) = copy(there, here)
    assert found.added == ("outcome", "reflection")
    now = here.get(entry.id)
    assert [a.outcome.raw_return for a in now.additions if a.outcome] == [0.06, 0.07]
    assert now.reflection == "New. Yes."


def test_giving_up_on_one_side_takes_no_outcome_from_the_other():
    gave_up = Addition(kind="unresolvable", at=KNOWN, known_at=KNOWN, data={"reason": "no closes"})
    for there, here in permutations([[outcome(), lesson()], [gave_up]]):
        one, other = RamJournal(), RamJournal()
        for journal, added in ((one, there), (other, here)):
            entry, _ = journal.append(decision())
            journal.add([(entry.id, addition) for addition in added])
        copy(one, other)
        assert other.get(entry.id).status == "resolved"
        assert [taken.fate for taken in copy(one, other)] == [Fate.UNCHANGED]


@pytest.mark.parametrize(("theirs", "is_taken"), [(0.045, True), (0.04502, True), (-0.02, False)])
def test_a_lesson_comes_only_with_the_figures_that_it_was_written_from(theirs, is_taken):
    here, there = RamJournal(), RamJournal()
    for journal, alpha in ((here, 0.045), (there, theirs)):
        entry, _ = journal.append(decision())
        journal.add([(entry.id, outcome(alpha=alpha))])
    there.add([(entry.id, lesson("Theirs. Yes."))])
    copy(there, here)
    assert here.get(entry.id).reflection == ("Theirs. Yes." if is_taken else "")
    assert [taken.fate for taken in copy(there, here)] == [Fate.UNCHANGED]


def test_a_decision_that_stands_otherwise_is_kept_out(log):
    other = RamJournal()
    other.append(decision("Sell everything.", rating=Rating.SELL))
    before = log.path.read_bytes()
    (found,) = copy(other, log)
    assert (found.fate, "stands with another text" in found.reason) == (Fate.KEPT_OUT, True)
    assert log.path.read_bytes() == before


def test_an_id_of_its_own_is_kept_and_its_key_is_taken_once():
    odd = replace(decision("Buy."), id="0123456789ab")
    journal = RamJournal()
    assert take(journal, [Whole(odd)])[0].fate is Fate.TAKEN
    assert journal.get("0123456789ab").decision == "Buy."
    again = take(journal, [Whole(decision("Buy."), (outcome(),))])[0]
    assert (again.fate, again.id) == (Fate.COMPLETED, "0123456789ab")
    assert take(journal, [Whole(decision("Sell."))])[0].fate is Fate.KEPT_OUT


def test_a_dry_run_tells_the_same_and_writes_nothing(log, tmp_path):
    target = MarkdownJournal(tmp_path / "two" / "memory.md", max_resolved=None)
    wholes = [Whole(decision("Buy.")), Whole(decision("Buy."), (outcome(),)), Whole(decision("X"))]
    told = take(target, wholes, dry_run=True)
    assert not target.path.exists()
    assert take(target, wholes) == told
    assert [t.fate for t in told] == ["taken", "completed", "kept out"]


def test_nobody_may_resolve_meanwhile(log, tmp_path):
    with log.resolving(), pytest.raises(LogBusy):
        copy(RamJournal(), log)


@pytest.mark.parametrize("make", [RamJournal, None], ids=["ram", "markdown"])
def test_an_exact_append_is_under_its_own_id_or_not_at_all(make, tmp_path):
    journal = make() if make else MarkdownJournal(tmp_path / "m.md")
    odd = replace(decision("Buy."), id="0123456789ab")
    entry, stored = journal.append(odd, on_conflict=OnConflict.EXACT)
    assert (entry.id, entry.revision, stored) == ("0123456789ab", 0, "recorded")
    assert journal.append(odd, on_conflict=OnConflict.EXACT)[1] == "unchanged"
    other = replace(odd, text="Sell.")
    assert journal.append(other, on_conflict=OnConflict.EXACT)[1] == "kept"
    later = replace(decision("Hold.", revision=3), id="0123456789ac")
    assert journal.append(later, on_conflict=OnConflict.EXACT)[1] == "revised"
    assert [e.id for e in journal.unfinished()] == ["0123456789ac"]


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(decisions(), st.lists(additions(), max_size=4))
def test_as_json_and_back_is_the_same_entry(recorded, more):
    recorded = replace(recorded, text=clean(recorded.text))
    more = tuple(replace(a, text=clean(a.text)) if a.text else a for a in more)
    whole = Whole(recorded, more)
    assert from_json(to_json(whole)) == whole


def test_a_row_has_a_column_for_everything_that_is_recorded():
    """What an entry shows under another name, or what says only which kind of entry it is."""
    own = {"text": "decision", "flags": "decision_flags", "horizon": "decided_horizon"}
    recorded = {own.get(field.name, field.name) for field in fields(Decision)} - {"is_note"}
    outcomes = {"outcome_flags" if f.name == "flags" else f.name for f in fields(Outcome)}
    assert recorded | outcomes <= set(COLUMNS)

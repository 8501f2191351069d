"""What a person changes in the file is respected, and said."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.journal import made
from tests.journal.made import fill, made_id
from tests.journal.making import KNOWN, decision, forgetting, lesson, outcome
from tradmem import MarkdownJournal, Memory, Rating, Status
from tradmem.journal.passages import passage_of
from tradmem.journal.tally import Tally, judgements

FAR = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def log(tmp_path):
    """A resolved NVDA, a pending AAPL; and a function that edits the file's text."""
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    first, _ = journal.append(decision("Rating: Buy\nEnter near 190."))
    second, _ = journal.append(decision("Rating: Sell", ticker="AAPL", rating=Rating.SELL))
    journal.add([(first.id, outcome()), (first.id, lesson())])

    def edit(old, new, times=1):
        text = path.read_text(encoding="utf-8")
        assert text.count(old) >= times
        path.write_text(text.replace(old, new, times), encoding="utf-8")
        return MarkdownJournal(path)

    return first.id, second.id, edit, path


def test_an_edited_rating_counts_and_the_verdict_follows(log):
    name, _, edit, _ = log
    entry = edit("[2026-01-05 | NVDA | Buy |", "[2026-01-05 | NVDA | Sell |").get(name)
    assert (entry.rating, entry.verdict, entry.edited) == (Rating.SELL, "wrong", ("rating",))
    assert entry.status is Status.RESOLVED


def test_edited_figures_count_and_the_rest_of_the_outcome_stays(log):
    name, _, edit, _ = log
    entry = edit("| +6.0% | +4.5% | 5d |", "| +6.0% | -4.5% | 4d |").get(name)
    assert (entry.outcome.raw_return, entry.outcome.alpha, entry.outcome.sessions) == (
        0.06,
        -0.045,
        4,
    )
    assert entry.outcome.known_at == KNOWN
    assert entry.edited == ("figures",)
    assert entry.verdict == "wrong"


@pytest.mark.parametrize("figures", ["6% | 4.5% | 5d", "6.00% | +04.5% | 05d", "+6.0%|+4.50%|5d"])
def test_the_same_figures_in_another_spelling_are_no_edit(log, figures):
    name, _, edit, path = log
    before = MarkdownJournal(path).get(name)
    assert edit("| +6.0% | +4.5% | 5d |", f"| {figures} |").get(name) == before


def test_figures_beyond_all_bounds_are_told_and_their_entry_is_left_alone(log):
    _, other, edit, path = log
    journal = edit("| +6.0% | +4.5% |", f"| +6.0% | {'9' * 30}% |")
    before = path.read_bytes()
    assert [entry.id for entry in journal.entries()] == [other]
    assert ["beyond all bounds" in problem.message for problem in journal.problems()] == [True]
    journal.add([(other, outcome())])
    start = before.index(b"[2026-01-05 | NVDA")
    block = before[start : before.index(b"<!-- ENTRY_END -->")]
    assert block in path.read_bytes()


@pytest.mark.parametrize("day", ["2026-01-05", "2026-03-01"])
def test_an_edited_day_of_resolution_is_told_and_changes_nothing(log, day):
    """When an outcome was known is what the ledger says; the tag only shows it."""
    name, _, edit, path = log
    before = MarkdownJournal(path).get(name)
    journal = edit("resolved:2026-01-12]", f"resolved:{day}]")
    assert journal.get(name) == replace(before, edited=("resolved",))
    assert [e.id for e in journal.memories(KNOWN)] == [name]
    assert journal.memories(KNOWN - timedelta(seconds=1)) == []
    assert journal.problems() == []


def test_an_edited_date_and_ticker_count_and_the_id_stands(log):
    name, other, edit, _ = log
    edit("[2026-01-05 | NVDA |", "[2026-01-06 | NVDL |")
    journal = edit("[2026-01-05 | AAPL |", "[2026-01-02 | AAPL |")
    entry = journal.get(name)
    assert (entry.date, entry.ticker, entry.edited) == (
        date(2026, 1, 6),
        "NVDL",
        ("date", "ticker"),
    )
    assert journal.get(other).edited == ("date",)
    assert [e.ticker for e in journal.entries()] == ["AAPL", "NVDL"]


def test_an_archived_entry_whose_year_was_edited_is_found_at_its_date(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path, max_resolved=1)
    for number in range(8):
        day, known = date(2026, 1, 5 + number), KNOWN + timedelta(days=number)
        entry, _ = journal.append(decision(f"Rating: Buy {number}", day=day))
        journal.add([(entry.id, outcome(known)), (entry.id, lesson())])
    archive = tmp_path / "archive" / "memory-2026.md"
    text = archive.read_text(encoding="utf-8")
    archive.write_text(text.replace("[2026-01-05 |", "[2027-01-04 |"), encoding="utf-8")
    moved = decision("Rating: Buy 0", day=date(2027, 1, 4))
    for seen in (journal, MarkdownJournal(path)):
        assert [entry.decision for entry in seen.find(moved.date, "NVDA")] == ["Rating: Buy 0"]
        assert seen.latest(2) == seen.entries()[-2:]
        assert seen.append(moved)[1] == "unchanged"


def test_an_id_taken_by_an_edited_entry_means_the_next_free_revision(log):
    name, _, edit, _ = log
    journal = edit("[2026-01-05 | NVDA |", "[2026-01-06 | NVDA |")
    entry, stored = journal.append(decision("Rating: Hold", rating=Rating.HOLD))
    assert (stored, entry.revision) == ("recorded", 1)
    assert entry.id != name
    assert journal.append(decision("Rating: Hold", rating=Rating.HOLD))[1] == "unchanged"


def test_a_corrected_lesson_is_the_lesson(log):
    name, _, edit, _ = log
    entry = edit("It was right. Do it again.", "It was luck. Do it smaller.").get(name)
    assert entry.reflection == "It was luck. Do it smaller."
    assert entry.edited == ("reflection",)
    assert entry.additions[-1].data == {"model": "template", "edited": True}


@pytest.mark.parametrize("said", ["It was right. Do it again.", "DECISION: right. Do it again."])
def test_the_lesson_that_a_person_had_corrected_may_come_again(log, said):
    """A template says the same of the same figures."""
    name, _, edit, path = log
    known = KNOWN + timedelta(days=1)
    again = [outcome(known), lesson(said, at=known + timedelta(hours=2))]
    MarkdownJournal(path).add([(name, addition) for addition in again])
    first = path.read_text(encoding="utf-8").count("REFLECTION:")
    journal = edit(said.replace("DECISION:", "DECISION\\:"), "I know better. Wait.")
    known = KNOWN + timedelta(days=9)
    more = [outcome(known), lesson(said, at=known + timedelta(hours=2))]
    journal.add([(name, addition) for addition in more])
    entry = MarkdownJournal(path).get(name)
    told = [act.text for act in entry.additions if act.kind == "reflection"]
    assert (first, len(told), entry.reflection) == (2, 3, said)
    assert told.count("I know better. Wait.") == 1
    assert entry.edited == ("reflection",)


def test_an_edited_decision_is_read_and_told(log):
    name, _, edit, _ = log
    entry = edit("Enter near 190.", "Enter near 180.").get(name)
    assert entry.decision == "Rating: Buy\nEnter near 180."
    assert entry.edited == ("decision",)


def test_a_deleted_lesson_leaves_the_entry_due(log):
    name, _, edit, _ = log
    journal = edit("\n\nREFLECTION:\nIt was right. Do it again.", "")
    assert journal.get(name).status is Status.SETTLED
    assert name in [entry.id for entry in journal.unfinished()]


def test_a_note_below_a_decision_is_kept_with_it(log):
    name, _, edit, _ = log
    journal = edit("Do it again.\n", "Do it again.\n\nNOTE:\nMine: too large a position.\n")
    entry = journal.get(name)
    assert entry.note == "Mine: too large a position."
    assert entry.reflection == "It was right. Do it again."
    assert entry.edited == ()
    journal.add([(name, outcome(KNOWN + timedelta(days=30), horizon=20))])
    again = MarkdownJournal(journal.path).get(name)
    assert (again.note, len(again.outcomes)) == (entry.note, 2)


def test_a_note_typed_as_a_block_of_its_own_is_a_note(log):
    *_, path = log
    with path.open("a", encoding="utf-8") as file:
        file.write("[2026-01-09 | * | Note]\n\nNOTE:\nThin markets.\n\n<!-- ENTRY_END -->\n")
    journal = MarkdownJournal(path)
    note = journal.entries()[-1]
    assert (note.status, note.ticker, note.note) == (Status.NOTE, "*", "Thin markets.")
    assert journal.problems() == []
    journal.append(decision(day=date(2026, 1, 12)))
    assert len(MarkdownJournal(path).entries()) == 4


def test_pending_typed_back_is_pending_until_another_outcome_comes(log):
    name, _, edit, path = log
    journal = edit("| +6.0% | +4.5% | 5d | resolved:2026-01-12]", "| pending]")
    assert journal.get(name).status is Status.PENDING
    assert name in [entry.id for entry in journal.unfinished()]
    later = outcome(KNOWN + timedelta(days=9), raw=0.01, alpha=0.0)
    journal.add([(name, later)])
    entry = MarkdownJournal(path).get(name)
    assert (entry.status, entry.outcome.raw_return, entry.reflection) == (Status.SETTLED, 0.01, "")
    assert [a.kind for a in entry.additions] == ["outcome", "reflection", "reopen", "outcome"]


@pytest.mark.parametrize("typed", ["| pending]", "| unresolvable | bad closes]"])
def test_what_a_person_takes_back_is_recalled_as_of_before_the_last_stamp(log, typed):
    """Recall, statistics and the entry itself tell the same of every instant."""
    name, _, edit, _ = log
    journal = edit("| +6.0% | +4.5% | 5d | resolved:2026-01-12]", typed)
    last = STAMPS["lesson"]
    for instant, there in (
        (KNOWN - timedelta(seconds=1), False),
        (KNOWN, True),
        (last - timedelta(seconds=1), True),
        (last, False),
        (last + timedelta(days=99), False),
    ):
        memory = Memory(journal, clock=lambda: last + timedelta(days=100))
        assert (journal.get(name).at(instant).outcome is not None) is there
        assert (name in memory.recall("NVDA", instant).ids) is there
        assert bool(journal.counts("NVDA", instant)) is there
        found = memory.search("Enter near", ticker="NVDA", as_of=instant)
        assert [entry.outcome is not None for entry in found] == [there]


def test_unresolvable_typed_by_hand_is_given_up(log):
    _, other, edit, _ = log
    journal = edit("| AAPL | Sell | pending]", "| AAPL | Sell | unresolvable | delisted]")
    entry = journal.get(other)
    assert (entry.status, entry.reason) == (Status.UNRESOLVABLE, "delisted")
    assert journal.unfinished() == []


def test_blocks_can_be_put_in_another_order_and_deleted(log):
    name, other, _, path = log
    text = path.read_text(encoding="utf-8")
    cut = text.index("[2026-01-05 | AAPL")
    path.write_text(text[cut:] + text[:cut], encoding="utf-8")
    journal = MarkdownJournal(path)
    assert [entry.id for entry in journal.entries()] == [other, name]
    path.write_text(text[:cut], encoding="utf-8")
    assert [entry.id for entry in journal.entries()] == [name]
    assert journal.get(other) is None
    assert journal.problems() == []


def test_an_edit_survives_the_next_addition(log):
    name, _, edit, path = log
    journal = edit("[2026-01-05 | NVDA | Buy | +6.0% |", "[2026-01-05 | NVDA | Hold | +0.5% |")
    edit("| +4.5% | 5d", "| +0.2% | 5d")
    journal.add([(name, lesson("A second thought. Keep it."))])
    entry = MarkdownJournal(path).get(name)
    assert (entry.rating, entry.outcome.raw_return, entry.outcome.alpha) == (
        Rating.HOLD,
        0.005,
        0.002,
    )
    assert entry.reflection == "A second thought. Keep it."
    assert set(entry.edited) == {"rating", "figures"}
    assert "edited" in entry.outcome.flags


def test_an_entry_that_stands_twice_lacks_an_outcome_once(log):
    name, _, _, path = log
    text = path.read_text(encoding="utf-8")
    path.write_text(text + text, encoding="utf-8")
    assert [entry.id for entry in MarkdownJournal(path).lacking([20])] == [name]


def test_of_an_entry_that_stands_twice_the_first_stands_while_others_rotate(tmp_path):
    """What a second version of the log was pasted below still waited for its outcome."""
    path = tmp_path / "memory.md"
    fill(MarkdownJournal(path), [0])
    journal = MarkdownJournal(tmp_path / "other.md")
    journal.append(made.decision(0))
    with path.open("ab") as file:
        file.write(journal.path.read_bytes())
    journal = MarkdownJournal(path, max_resolved=2)
    before = journal.get(made_id(0))
    fill(journal, range(1, 40))
    assert journal.archives()
    assert before.status is Status.RESOLVED
    assert MarkdownJournal(path).get(before.id) == before
    assert journal.unfinished() == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (',"date"', ',"id":"bbbbbbbbbbbb","date"'),
        (',"date"', ',"id":5,"date"'),
        (',"date"', ',"add":"mark","date"'),
    ],
)
def test_the_first_id_of_an_identity_stands(log, old, new):
    name, _, edit, path = log
    journal = edit(old, new)
    assert {entry.id for entry in journal.entries()} >= {name}
    assert journal.get(name) in journal.entries()
    journal.add([(name, forgetting())])
    assert MarkdownJournal(path).get(name).forgotten


@pytest.mark.parametrize("act", ["reopen", "unresolvable"])
def test_figures_that_are_typed_back_make_an_entry_due_for_a_lesson(log, act):
    """Its lesson was dropped when a new outcome was asked for, or it was given up."""
    name, other, edit, path = log
    line = f'<!-- tradmem: {{"add":"{act}","at":"2026-02-01T00:00:00Z"}} -->\n'
    edit("\nDECISION:", line + "\nDECISION:")
    assert MarkdownJournal(path).get(name).status is Status.SETTLED
    assert {entry.id for entry in MarkdownJournal(path).unfinished()} == {name, other}


def test_a_line_that_says_twice_what_it_adds_is_read_alike_by_all(log):
    name, _, edit, path = log
    line = '<!-- tradmem: {"add":"forget","at":"2026-02-01T00:00:00Z","add":"unresolvable"} -->\n'
    edit("\nDECISION:", line + "\nDECISION:")
    journal = MarkdownJournal(path)
    passages = {passage.id: passage for passage in journal.passages().passages}
    assert passages[name] == passage_of(journal.get(name))
    wanted = Tally(judgements(journal.get(name))).as_of(FAR)
    assert journal.counts("NVDA", FAR) == wanted
    assert name in [entry.id for entry in journal.unfinished()]


def test_the_line_of_an_entry_is_told(log):
    name, other, edit, path = log
    journal = edit("[2026-01-05 | NVDA", "# Title\n\n[2026-01-05 | NVDA")
    assert journal.where(name) == f"{path}:3"
    lines = path.read_text(encoding="utf-8").split("\n")
    _, line = journal.where(other).rsplit(":", 1)
    assert lines[int(line) - 1].startswith("[2026-01-05 | AAPL")
    assert journal.where("000000000000") == ""


STAMPS = {"outcome": KNOWN + timedelta(hours=1), "lesson": KNOWN + timedelta(hours=2)}
TYPED = {
    "a remark": ("Do it again.\n", "Do it again.\n\nNOTE:\nMine.\n"),
    "figures": ("| +6.0% | +4.5% | 5d |", "| +6.0% | -4.5% | 4d |"),
    "pending": ("| +6.0% | +4.5% | 5d | resolved:2026-01-12]", "| pending]"),
    "unresolvable": ("| +6.0% | +4.5% | 5d | resolved:2026-01-12]", "| unresolvable | bad data]"),
    "a second lesson": ("Do it again.\n", "Do it again.\n\nREFLECTION:\nNever again.\n"),
}


@pytest.mark.parametrize("what", TYPED)
def test_what_is_typed_was_not_there_before_the_last_stamp_above_it(log, what):
    """Nobody stamped it, but it was typed into a file that held that stamp already."""
    name, _, edit, _ = log
    before = MarkdownJournal(log[3]).get(name)
    after = edit(*TYPED[what]).get(name)
    last = STAMPS["lesson"]
    for instant in (KNOWN - timedelta(days=1), KNOWN, last - timedelta(seconds=1)):
        then, now = before.at(instant), after.at(instant)
        assert (now.status, now.outcomes, now.reflection, now.note) == (
            then.status,
            then.outcomes,
            then.reflection,
            then.note,
        )
    assert after.at(last).additions == after.additions


@pytest.mark.parametrize("what", TYPED)
def test_it_keeps_its_place_in_time_when_more_is_added(log, what):
    name, _, edit, path = log
    edit(*TYPED[what]).add([(name, outcome(KNOWN + timedelta(days=30), horizon=20))])
    entry = MarkdownJournal(path).get(name)
    then = entry.at(STAMPS["lesson"])
    in_ledger = what != "a remark"  # which stands in the text alone, below whatever was stamped
    assert len(then.additions) == 2 + in_ledger
    assert len(entry.additions) == 4
    assert len(entry.at(STAMPS["lesson"] - timedelta(seconds=1)).additions) == 2


def test_a_lesson_that_was_typed_over_is_known_from_the_last_stamp_of_all(log):
    """Its own stamp is that of the text which it replaced."""
    name, _, edit, path = log
    forgotten = KNOWN + timedelta(days=9)
    MarkdownJournal(path).add([(name, forgetting(at=forgotten))])
    journal = edit("It was right. Do it again.", "It was luck. Do it smaller.")
    entry = journal.get(name)
    early = entry.at(forgotten - timedelta(seconds=1))
    assert (early.status, early.reflection) == (Status.SETTLED, "")
    assert entry.at(forgotten).reflection == "It was luck. Do it smaller."
    (passage,) = [p for p in journal.passages().passages if p.id == name]
    assert (passage.lesson, passage.since) == ("It was luck. Do it smaller.", forgotten)
    assert passage == passage_of(entry)


def test_without_any_stamp_what_is_typed_is_as_old_as_the_outcome_above_it(tmp_path):
    path = tmp_path / "memory.md"
    path.write_text(
        "[2026-01-05 | NVDA | Buy | +6.0% | +4.5% | 5d]\n"
        '<!-- tradmem: {"v":1,"id":"1f0c7e9a42b5"} -->\n\nDECISION:\nBuy.\n\n'
        "REFLECTION:\nRight.\n\nNOTE:\nMine.\n\n<!-- ENTRY_END -->\n",
        encoding="utf-8",
    )
    (entry,) = MarkdownJournal(path).entries()
    then = entry.at(entry.outcome.known_at)
    assert (then.reflection, then.note) == ("Right.", "Mine.")
    before = entry.at(entry.outcome.known_at - timedelta(seconds=1))
    assert (before.status, before.note) == (Status.PENDING, "")

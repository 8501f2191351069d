"""What every journal does: one suite, run against each of them."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.journal.making import (
    DAY,
    DECIDED,
    KNOWN,
    TEXTS,
    decision,
    forgetting,
    lesson,
    note,
    outcome,
)
from tradmem import (
    Addition,
    ConflictError,
    LogBusy,
    MarkdownJournal,
    Memory,
    PostgresJournal,
    RamJournal,
    Rating,
    Status,
    UnknownEntry,
    UsageError,
)
from tradmem.journal.base import OnConflict
from tradmem.journal.text import clean

FAR = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["markdown", "rotating", "ram", "postgres"])
def journal(request, tmp_path):
    if request.param == "postgres":
        with PostgresJournal(request.getfixturevalue("postgres_log")) as found:
            yield found
        return
    if request.param == "ram":
        yield RamJournal()
        return
    limit = 2 if request.param == "rotating" else None
    yield MarkdownJournal(tmp_path / "memory.md", max_resolved=limit)


def verdicts(journal, ticker, as_of):
    """How often each verdict was known by then, those that there are."""
    names = ("right", "wrong", "neutral", "hold_right", "hold_wrong", "unrated")
    (counts,) = journal.counts(ticker, as_of) or (None,)
    return {name: n for name in names if counts and (n := getattr(counts, name))}


def grow(journal, count, *, ticker="NVDA", start=0):
    """Resolved entries, one a day; the n-th is known n days after the first."""
    entries = []
    for number in range(start, start + count):
        day = DAY + timedelta(days=number)
        entry, _ = journal.append(decision(f"number {number}", day=day, ticker=ticker))
        known = KNOWN + timedelta(days=number)
        text = f"Lesson {number} on {ticker}. Keep it."
        journal.add([(entry.id, outcome(known)), (entry.id, lesson(text, at=known))])
        entries.append(journal.get(entry.id))
    return entries


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["id"])
def test_a_text_comes_out_as_it_went_in_also_through_rotation(case, journal):
    text = clean(case["text"])
    kept = journal.append(note(case["text"]))[0].id
    first = journal.append(decision(case["text"]))[0].id
    journal.add([(first, outcome()), (first, lesson(case["text"]))])
    grow(journal, 8, start=1)
    assert journal.get(kept).note == text
    entry = journal.get(first)
    assert (entry.decision, entry.reflection, entry.status) == (text, text, Status.RESOLVED)
    assert len(journal.entries()) == 10
    assert journal.problems() == []


def test_the_same_again_is_a_no_op_before_and_after_it_was_resolved(journal):
    entry, stored = journal.append(decision())
    assert (stored, entry.status) == ("recorded", Status.PENDING)
    assert journal.append(decision()) == (entry, "unchanged")
    journal.add([(entry.id, outcome()), (entry.id, lesson())])
    again, stored = journal.append(decision())
    assert (stored, again.status) == ("unchanged", Status.RESOLVED)
    grow(journal, 8, start=1)
    assert journal.append(decision())[1] == "unchanged"
    assert len(journal.entries()) == 9


def test_another_text_or_rating_is_kept_out_revised_or_refused(journal):
    first, _ = journal.append(decision("Rating: Buy"))
    other = decision("Rating: Sell", rating=Rating.SELL)
    assert journal.append(other) == (first, "kept")
    with pytest.raises(ConflictError, match=first.id):
        journal.append(other, on_conflict=OnConflict.ERROR)
    with pytest.raises(ConflictError, match="cannot be revised"):
        journal.append(other, on_conflict=OnConflict.REVISE, may_revise=lambda _: False)
    second, stored = journal.append(other, on_conflict=OnConflict.REVISE)
    assert (stored, second.revision, second.id != first.id) == ("revised", 1, True)
    assert journal.append(other) == (second, "unchanged")
    third, _ = journal.append(decision("Rating: Buy"), on_conflict=OnConflict.REVISE)
    assert third.revision == 2
    assert [e.id for e in journal.find(DAY, "NVDA")] == [first.id, second.id, third.id]


def test_another_agent_is_another_key(journal):
    one, _ = journal.append(decision(agent="one"))
    two, stored = journal.append(decision("Rating: Sell", agent="two"))
    assert (stored, one.id != two.id, two.revision) == ("recorded", True, 0)


def test_a_replaced_revision_is_neither_resolved_counted_nor_recalled(journal):
    old, _ = journal.append(decision("Rating: Buy"))
    new, _ = journal.append(
        decision("Rating: Sell", rating=Rating.SELL), on_conflict=OnConflict.REVISE
    )
    assert [e.id for e in journal.unfinished()] == [new.id]
    journal.add([(e.id, outcome()) for e in (old, new)])
    assert [e.id for e in journal.memories(FAR)] == [new.id]
    assert verdicts(journal, "NVDA", FAR) == {"wrong": 1}
    assert {e.id for e in journal.entries()} == {old.id, new.id}


@pytest.mark.parametrize("first", [0, 1])
def test_a_revision_that_comes_from_elsewhere_replaces_the_older_one_in_whatever_file(
    journal, first
):
    """A copy of one revision is taken over when the other was resolved long ago."""
    both = [decision("first"), decision("second", rating=Rating.SELL, revision=1)]
    there, comes = both[first], both[1 - first]
    journal.append(there, on_conflict=OnConflict.EXACT)
    journal.add([(there.id, outcome()), (there.id, lesson())])
    grow(journal, 8, start=1)
    journal.append(comes, on_conflict=OnConflict.EXACT)
    old, new = both
    assert [e.id for e in journal.unfinished()] == ([new.id] if first == 0 else [])
    journal.add([(comes.id, outcome()), (comes.id, lesson("Another. Keep it."))])
    days = sorted(e.date for e in journal.memories(FAR))
    assert days == [DAY + timedelta(days=number) for number in range(9)]
    assert old.id not in [e.id for e in journal.memories(FAR)]
    assert verdicts(journal, "NVDA", FAR) == {"right": 8, "wrong": 1}
    assert list(journal.get_all([old.id, new.id], replaced=False)) == [new.id]


def test_a_revision_that_waits_keeps_the_one_before_it_from_counting(journal):
    """Also where rotation could take the older one away."""
    old, _ = journal.append(decision("first"))
    journal.add([(old.id, outcome()), (old.id, lesson())])
    new, _ = journal.append(decision("second", rating=Rating.SELL), on_conflict=OnConflict.REVISE)
    grow(journal, 8, start=1)
    assert [e.id for e in journal.unfinished()] == [new.id]
    assert verdicts(journal, "NVDA", FAR) == {"right": 8}
    assert old.id not in [e.id for e in journal.memories(FAR)]


def test_an_addition_that_stands_is_not_added_again(journal):
    entry, _ = journal.append(decision())
    for _ in range(2):
        (now,) = journal.add([(entry.id, outcome())])
    assert len(now.additions) == 1
    assert journal.get(entry.id) == now


def test_an_unknown_id_adds_nothing_at_all(journal):
    entry, _ = journal.append(decision())
    with pytest.raises(UnknownEntry, match="000000000000"):
        journal.add([(entry.id, outcome()), ("000000000000", outcome())])
    assert journal.get(entry.id).additions == ()
    assert journal.get("000000000000") is None


def test_an_archived_entry_takes_additions_too(journal):
    entries = grow(journal, 12)
    journal.add([(entries[0].id, forgetting())])
    assert journal.get(entries[0].id).hidden
    assert len(journal.entries()) == 12


def test_entries_come_by_date_then_as_they_were_recorded(journal):
    days = [date(2026, 1, 7), date(2026, 1, 5), date(2026, 1, 7), date(2026, 1, 6)]
    tickers = ["A", "B", "C", "D"]
    for day, ticker in zip(days, tickers, strict=True):
        journal.append(decision(day=day, ticker=ticker))
    assert [e.ticker for e in journal.entries()] == ["B", "D", "A", "C"]


def test_unfinished_are_the_pending_and_the_settled(journal):
    pending, settled, resolved, gone = (
        journal.append(decision(ticker=ticker))[0].id for ticker in "ABCD"
    )
    journal.append(note())
    journal.add([(settled, outcome()), (resolved, outcome()), (resolved, lesson())])
    gave_up = outcome().__class__(kind="unresolvable", at=KNOWN, data={"reason": "no price"})
    journal.add([(gone, gave_up)])
    assert [e.id for e in journal.unfinished()] == [pending, settled]
    assert journal.get(gone).reason == "no price"


def test_memories_are_the_newest_known_by_then(journal):
    entries = grow(journal, 12)
    names = [entry.id for entry in entries]
    assert [e.id for e in journal.memories(FAR, ticker="NVDA", limit=5)] == names[:-6:-1]
    assert [e.id for e in journal.memories(FAR, ticker="NVDA")] == names[::-1]
    then = KNOWN + timedelta(days=6)
    assert [e.id for e in journal.memories(then, ticker="NVDA", limit=3)] == names[6:3:-1]
    just_before = then - timedelta(microseconds=1)
    assert [e.id for e in journal.memories(just_before, ticker="NVDA", limit=3)] == names[5:2:-1]
    assert journal.memories(KNOWN - timedelta(seconds=1)) == []


def test_memories_of_others_are_at_most_one_a_ticker(journal):
    for ticker in ("A", "B", "C", "D"):
        grow(journal, 3, ticker=ticker, start=ord(ticker) - 65)
    found = journal.memories(FAR, not_ticker="D", distinct=True, limit=2)
    assert [(e.ticker, e.date) for e in found] == [
        ("C", DAY + timedelta(days=4)),
        ("B", DAY + timedelta(days=3)),
    ]


def test_lessons_only_leaves_out_what_is_settled(journal):
    entries = grow(journal, 2)
    settled, _ = journal.append(decision(day=DAY + timedelta(days=3)))
    journal.add([(settled.id, outcome(KNOWN + timedelta(days=3)))])
    assert [e.id for e in journal.memories(FAR, lessons=True)] == [e.id for e in entries[::-1]]
    assert journal.memories(FAR)[0].id == settled.id
    found = journal.memories(FAR, not_ticker="X", distinct=True, lessons=True, limit=3)
    assert [e.id for e in found] == [entries[-1].id]


def test_a_forgotten_memory_is_hidden_from_then_on_and_counted_for_ever(journal):
    entries = grow(journal, 3)
    at = KNOWN + timedelta(days=10)
    journal.add([(entries[2].id, forgetting(at))])
    names = [e.id for e in entries]
    assert [e.id for e in journal.memories(FAR)] == [names[1], names[0]]
    assert [e.id for e in journal.memories(FAR, hidden=True)] == names[::-1]
    earlier = journal.memories(at - timedelta(seconds=1))
    assert [e.id for e in earlier] == names[::-1]
    assert not any(e.hidden for e in earlier)
    assert verdicts(journal, "NVDA", FAR) == {"right": 3}


def test_a_note_is_a_memory_from_the_instant_of_its_storing(journal):
    entry, _ = journal.append(note(at=DECIDED))
    assert [e.id for e in journal.memories(DECIDED)] == [entry.id]
    assert journal.memories(DECIDED - timedelta(seconds=1)) == []
    assert journal.append(note(at=DECIDED + timedelta(days=1))) == (entry, "unchanged")


def test_a_correction_counts_from_its_instant_and_not_before(journal):
    entry, _ = journal.append(decision())
    journal.add([(entry.id, outcome()), (entry.id, lesson())])
    later = KNOWN + timedelta(days=30)
    assert verdicts(journal, "NVDA", FAR) == {"right": 1}
    journal.add([(entry.id, outcome(later, raw=-0.05, alpha=-0.06))])
    assert verdicts(journal, "NVDA", later - timedelta(seconds=1)) == {"right": 1}
    assert verdicts(journal, "NVDA", later) == {"wrong": 1}
    (then,) = journal.memories(later - timedelta(seconds=1))
    (now,) = journal.memories(later)
    assert (then.status, then.outcome.raw_return) == (Status.RESOLVED, 0.06)
    assert (now.status, now.outcome.raw_return) == (Status.SETTLED, -0.05)
    assert [e.id for e in journal.unfinished()] == [entry.id]


@pytest.mark.parametrize("taken", ["asked for anew", "given up"])
def test_what_was_taken_back_is_a_memory_until_then_and_none_since(journal, taken):
    names = [entry.id for entry in grow(journal, 3)]
    at = KNOWN + timedelta(days=9)
    anew = Addition(kind="reopen", at=at)
    gave_up = Addition(kind="unresolvable", at=at, data={"reason": "bad closes"})
    journal.add([(names[2], anew if taken == "asked for anew" else gave_up)])
    before = at - timedelta(seconds=1)
    assert [e.id for e in journal.memories(before, ticker="NVDA", limit=2)] == names[:0:-1]
    assert [e.id for e in journal.memories(at, ticker="NVDA", limit=2)] == names[1::-1]
    assert [e.id for e in journal.memories(FAR)] == names[1::-1]
    assert verdicts(journal, "NVDA", before) == {"right": 3}
    assert verdicts(journal, "NVDA", at) == {"right": 2}
    grow(journal, 12, start=3)
    assert journal.get(names[2]).archived is False
    again = outcome(at + timedelta(days=30), alpha=-0.1)
    journal.add([(names[2], again)])
    assert journal.memories(FAR, limit=1)[0].id == names[2]
    assert names[2] not in [e.id for e in journal.memories(at + timedelta(days=29))]
    assert names[2] in [e.id for e in journal.memories(before)]


def test_counts_see_through_the_archive(journal):
    grow(journal, 12)
    assert verdicts(journal, "NVDA", FAR) == {"right": 12}
    assert verdicts(journal, "NVDA", KNOWN + timedelta(days=3)) == {"right": 4}
    assert verdicts(journal, "AAPL", FAR) == {}


def test_lacking_are_those_without_an_outcome_at_a_horizon(journal):
    entries = grow(journal, 2)
    journal.append(decision(ticker="AAPL"))
    journal.add([(entries[0].id, outcome(KNOWN, horizon=20))])
    assert [e.id for e in journal.lacking([20])] == [entries[1].id]
    assert journal.lacking([5]) == []


def test_one_resolver_at_a_time(journal):
    with journal.resolving(), pytest.raises(LogBusy), journal.resolving():
        pass
    with journal.resolving():
        pass


def test_a_lesson_of_a_replaced_revision_was_said_all_the_same(journal):
    entry, _ = journal.append(decision())
    journal.append(decision("otherwise"), on_conflict=OnConflict.REVISE)
    journal.add([(entry.id, outcome()), (entry.id, lesson(lesson="ab" * 32))])
    assert dict(journal.lessons()) == {"ab" * 32: entry.id}


@pytest.mark.parametrize(
    "figures",
    [
        {"horizon": -3},
        {"horizon": 10**30},
        {"raw": 1e308},
        {"alpha": -1e308},
        {"raw": float("nan")},
    ],
)
def test_an_outcome_beyond_all_bounds_is_refused_and_nothing_is_added(journal, figures):
    entry, _ = journal.append(decision())
    with pytest.raises(UsageError, match=r"is 0 to 99999 sessions|cannot be"):
        journal.add([(entry.id, forgetting()), (entry.id, outcome(**figures))])
    assert journal.get(entry.id).additions == ()


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("undo", {"undoes": "forget"}, r"an addition in the ledger \(undo\) has no undoes_at"),
        ("undo", {"undoes_at": "soon"}, r"an addition in the ledger \(undo\) cannot be read"),
        ("expire", {"reason": "old"}, r"an addition in the ledger \(expire\) has no valid_until"),
        ("reflection", {"model": "x"}, "an empty reflection cannot be stored"),
        ("remark", {"when": DAY}, "something holds what is no JSON"),
        ("remark", {"size": float("inf")}, "something holds what is no JSON"),
    ],
)
def test_an_addition_that_could_not_be_read_back_is_refused_in_the_same_words(
    kind, data, words, journal
):
    entry, _ = journal.append(decision())
    broken = Addition(kind=kind, at=KNOWN, data=data)
    with pytest.raises(UsageError, match=words):
        journal.add([(entry.id, forgetting()), (entry.id, broken)])
    assert journal.get(entry.id) == entry


SAME_WORD = [
    ("Die Straße ist frei.", "STRASSE"),
    ("DIE STRASSE IST FREI.", "straße"),
    ("Ο τζίρος είχε αύξηση.", "ΑΥΞΗΣΗ"),
    ("Η ΑΥΞΗΣΗ του τζίρου.", "αύξηση"),
    ("Ещё растёт.", "еще"),
    ("The naïve café.", "NAIVE"),
    ("ｆｕｌｌ width", "full"),
]


@pytest.mark.parametrize(("text", "query"), SAME_WORD)
def test_a_word_is_found_however_it_is_written(text, query, journal):
    memory = Memory(journal)
    entry, _ = journal.append(decision(text))
    journal.append(decision("Nothing of it.", ticker="AAPL"))
    assert [found.id for found in memory.search(query)] == [entry.id]


def test_a_letter_with_another_sound_is_another_letter(journal):
    journal.append(decision("かき"))
    assert Memory(journal).search("がき") == []


@pytest.mark.parametrize("odd", ["a\0b", "\ud800", "0" * 11 + "\udfff"])
def test_a_name_that_none_can_have_is_nobodys(odd, journal):
    entry, _ = journal.append(decision())
    journal.add([(entry.id, outcome()), (entry.id, lesson())])
    assert journal.get(odd) is None
    assert list(journal.get_all([odd, entry.id])) == [entry.id]
    assert journal.find(DAY, odd) == []
    assert journal.memories(FAR, ticker=odd) == []
    assert [found.id for found in journal.memories(FAR, not_ticker=odd)] == [entry.id]
    assert journal.counts(odd, FAR) == ()
    assert journal.lessons().get(odd) is None
    with pytest.raises(UnknownEntry):
        journal.add([(entry.id, forgetting()), (odd, forgetting())])
    assert not journal.get(entry.id).forgotten


def test_an_entry_is_found_by_the_beginning_of_its_id(journal):
    entries = [journal.append(decision(ticker=ticker))[0] for ticker in ("A", "B", "C", "D")]
    memory = Memory(journal)
    for entry in entries:
        assert memory.get(entry.id[:8]).id == entry.id
    assert memory.get("ffff00001111") is None
    assert memory.get("zzzzzz") is None
    assert memory.get("%%%%%%") is None

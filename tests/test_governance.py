"""Forgetting, expiry, supersession, undo and consolidation, as a user calls them."""

from datetime import timedelta

import pytest

from tests.governance_world import SAME, START, WHY, Life, on
from tradmem import MarkdownJournal, RamJournal, Rating, UnknownEntry, UsageError
from tradmem.model import Act


@pytest.fixture(params=["markdown", "ram"])
def life(request, tmp_path):
    markdown = request.param == "markdown"
    return Life(MarkdownJournal(tmp_path / "memory.md") if markdown else RamJournal())


def acts(entry):
    return [(act.kind, act.data["reason"], act.data["actor"]) for act in entry.additions[2:]]


def test_an_expiry_hides_from_its_instant_on_and_never_from_before_its_stamp(life):
    name = life.learn(0, "Earnings move it.")
    life.day(10)
    entry = life.memory.expire(name[:6], START + timedelta(days=20), **WHY)
    assert (entry.hidden, entry.valid_until) == (False, START + timedelta(days=20))
    assert not life.memory.get(name).hidden
    assert not life.memory.entries()[0].hidden
    assert life.seen() == [name]
    life.day(20)
    assert life.memory.get(name).expired
    assert life.seen() == []
    assert life.seen(number=19) == [name]
    assert life.memory.expire(name, START + timedelta(days=20), **WHY).additions == entry.additions

    other = life.learn(21, "Breadth leads it.")
    life.day(40)
    assert life.memory.expire(other, "2026-01-30", **WHY).hidden
    assert life.seen(number=39) == [other]


@pytest.mark.parametrize("wrong", ["soon", "2026-13-01", "2026-01-05T10:00:00"])
def test_an_end_that_is_no_instant_is_refused(life, wrong):
    name = life.learn(0, "Earnings move it.")
    with pytest.raises(UsageError):
        life.memory.expire(name, wrong, **WHY)
    assert len(life.memory.get(name).additions) == 2


def test_a_note_may_be_valid_until_a_date(life):
    note = life.memory.note("Low volume until the holiday.", valid_until="2026-01-09").entry
    assert not note.hidden
    life.day(4)
    assert life.seen() == [note.id]
    life.day(5)
    assert life.seen() == []
    assert life.seen(number=4) == [note.id]
    with pytest.raises(UsageError, match="passed"):
        life.memory.note("Too late.", valid_until="2026-01-09")


def test_the_entry_that_supersedes_stands_alone_from_then_on(life):
    old = life.learn(0, "Earnings move it.")
    new = life.learn(1, "Guidance moves it, not earnings.")
    life.day(20)
    assert life.memory.supersede(old, new, **WHY).superseded_by == new
    assert life.seen() == [new]
    assert life.seen(number=19) == [new, old]
    assert life.seen("AAPL") == [new]
    assert acts(life.memory.supersede(old, new, **WHY)) == [("supersede", "because", "desk")]


def test_an_entry_supersedes_neither_itself_nor_another_while_it_is_hidden(life):
    old, new = life.learn(0, "One."), life.learn(1, "Two.")
    life.day(20)
    with pytest.raises(UsageError, match="itself"):
        life.memory.supersede(old, old, **WHY)
    life.memory.supersede(old, new, **WHY)
    with pytest.raises(UsageError, match=f"superseded by {new}"):
        life.memory.supersede(new, old, **WHY)
    with pytest.raises(UnknownEntry):
        life.memory.supersede(old, "000000000000", **WHY)
    assert not life.memory.get(new).hidden


def test_undo_takes_back_one_act_after_the_other_and_the_past_stays(life):
    name = life.learn(0, "Earnings move it.")
    life.day(10)
    life.memory.expire(name, "2026-01-01", **WHY)
    life.day(11)
    life.memory.forget(name, **WHY)
    life.day(12)
    assert life.memory.undo(name, **WHY)[0].hidden
    life.day(13)
    (entry,) = life.memory.undo(name, reason="was right", actor="head")
    assert not entry.hidden
    assert acts(entry)[-1] == ("undo", "was right", "head")
    assert [bool(life.seen(number=number)) for number in range(9, 14)] == [True] + [False] * 3 + [
        True
    ]
    with pytest.raises(UsageError, match="nothing to undo"):
        life.memory.undo(name, **WHY)
    life.day(14)
    assert life.memory.undo(name, kind="undo", **WHY)[0].expired
    with pytest.raises(UsageError, match="no forget in force"):
        life.memory.undo(name, kind=Act.FORGET, **WHY)


def test_forgetting_twice_is_once(life):
    name = life.learn(0, "Earnings move it.")
    life.day(10)
    life.memory.forget(name, **WHY)
    life.day(11)
    assert len(life.memory.forget(name, **WHY).additions) == 3


@pytest.mark.parametrize("wrong", [{"reason": " "}, {"reason": "x", "actor": "a\nb"}])
def test_every_act_needs_a_reason_and_an_actor_of_one_line(life, wrong):
    name, other = life.learn(0, "One."), life.learn(1, "Two.")
    memory = life.memory
    for act in (
        lambda: memory.forget(name, **wrong),
        lambda: memory.expire(name, "2026-02-01", **wrong),
        lambda: memory.supersede(name, other, **wrong),
        lambda: memory.undo(name, **wrong),
        lambda: memory.consolidate(**wrong),
    ):
        with pytest.raises(UsageError, match=r"reason|actor"):
            act()


def test_a_dry_run_says_what_an_entry_would_be_and_writes_nothing(life):
    names = [life.learn(number, "The same words each time.") for number in range(3)]
    life.day(20)
    memory, before = life.memory, life.journal.entries()
    assert memory.forget(names[0], dry_run=True, **WHY).forgotten
    assert memory.expire(names[0], "2026-01-02", dry_run=True, **WHY).expired
    assert memory.supersede(names[0], names[1], dry_run=True, **WHY).superseded_by == names[1]
    (would,) = memory.consolidate(dry_run=True, **WHY)
    assert life.journal.entries() == before
    (done,) = memory.consolidate(**WHY)
    assert (would.note, would.sources) == (done.note, done.sources)
    stored = life.journal.entries()
    undone = memory.undo(done.note.id, dry_run=True, **WHY)
    assert life.journal.entries() == stored
    assert memory.undo(done.note.id, **WHY) == undone


def test_lessons_that_say_the_same_become_one_note_that_links_them(life):
    names = [life.learn(number, text) for number, text in enumerate(SAME)]
    odd = life.learn(3, "A weak dollar explains most of it.")
    other = life.learn(4, SAME[0], ticker="AAPL")
    life.day(20)
    ((note, sources),) = [(c.note, c.sources) for c in life.memory.consolidate(**WHY)]
    assert (note.ticker, note.date, note.links) == ("NVDA", on(2), tuple(names[::-1]))
    assert [entry.superseded_by for entry in sources] == [note.id] * 3
    assert "3 decisions on NVDA from 2026-01-05 to 2026-01-07" in note.note
    assert SAME[2] in note.note
    assert life.seen() == [note.id, odd, other]
    assert life.seen(number=19) == [odd, *names[::-1], other]
    assert life.memory.consolidate(**WHY) == ()


def test_the_same_words_about_the_opposite_are_kept_apart(life):
    text = "The market moved as one and the company's own news did not count."
    life.learn(0, text)
    life.learn(1, text, alpha=-0.045)
    life.learn(2, text)
    life.learn(3, text, rating=Rating.SELL)
    life.day(20)
    assert life.memory.consolidate(**WHY) == ()
    ((_, sources),) = [(c.note, c.sources) for c in life.memory.consolidate(least=2, **WHY)]
    assert [entry.date for entry in sources] == [on(2), on(0)]


def test_lessons_with_a_tag_in_common_become_one_note_that_counts_and_quotes(life):
    texts = ["Alpha came late.", "Breadth was thin.", "Costs rose first.", "Demand held up."]
    for number, text in enumerate(texts):
        life.learn(number, text, alpha=0.045 - 0.03 * number, tags=["earnings", f"t{number}"])
    life.learn(5, "Nothing to do with it.", tags=["rates"])
    life.day(30)
    ((note, sources),) = [(c.note, c.sources) for c in life.memory.consolidate(**WHY)]
    assert len(sources) == 4
    assert note.tags == ("earnings",)
    assert note.note == (
        "4 lessons on NVDA about earnings (decisions from 2026-01-05 to 2026-01-08): "
        "2 right, 2 wrong, 0 neutral.\n\n"
        "- 2026-01-08 Buy, wrong: Demand held up.\n"
        "- 2026-01-07 Buy, wrong: Costs rose first.\n"
        "- 2026-01-06 Buy, right: Breadth was thin.\n\n"
        "The log holds 1 more that says other things."
    )


def test_only_a_tag_or_a_ticker_can_be_asked_for(life):
    for number in range(3):
        life.learn(number, f"{'abc'[number]} lesson.", tags=["earnings"])
        life.learn(number, SAME[number], ticker="AAPL", tags=["rates"])
    life.day(20)
    found = life.memory.consolidate(tag="earnings", dry_run=True, **WHY)
    assert [c.note.ticker for c in found] == ["NVDA"]
    found = life.memory.consolidate(ticker="aapl", dry_run=True, **WHY)
    assert [c.note.ticker for c in found] == ["AAPL"]
    with pytest.raises(UsageError, match="least is 1"):
        life.memory.consolidate(least=1, **WHY)


def test_a_later_consolidation_takes_in_the_earlier_note(life):
    names = [life.learn(number, text) for number, text in enumerate(SAME)]
    life.day(20)
    first = life.memory.consolidate(**WHY)[0].note
    later = [life.learn(30 + number, text) for number, text in enumerate(SAME)]
    life.day(50)
    (done,) = life.memory.consolidate(**WHY)
    assert {entry.id for entry in done.sources} == {first.id, *later}
    assert "6 decisions on NVDA from 2026-01-05 to 2026-02-06" in done.note.note
    assert life.seen() == [done.note.id]
    life.day(51)
    life.memory.undo(done.note.id, **WHY)
    assert life.visible() == {first.id, *later}
    life.day(52)
    life.memory.undo(first.id, **WHY)
    assert life.visible() == {*later, *names}


@pytest.mark.parametrize("later", [timedelta(0), timedelta(days=1)])
def test_a_consolidation_can_be_undone_and_done_again(life, later):
    names = [life.learn(number, text) for number, text in enumerate(SAME)]
    life.day(20)
    note = life.memory.consolidate(**WHY)[0].note
    life.now += later
    undone = life.memory.undo(note.id, **WHY)
    assert [entry.id for entry in undone] == [note.id, *names[::-1]]
    assert life.seen() == names[::-1]
    life.now += later
    assert life.memory.consolidate(**WHY)[0].note.id == note.id
    assert life.seen() == [note.id]


def test_a_consolidation_that_a_crash_cut_short_goes_on(life):
    names = [life.learn(number, text) for number, text in enumerate(SAME)]
    life.day(20)
    add = life.journal.add
    life.journal.add = lambda _: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        life.memory.consolidate(**WHY)
    life.journal.add = add
    assert len(life.seen()) == 4
    life.day(21)
    (done,) = life.memory.consolidate(**WHY)
    assert [entry.id for entry in done.sources] == names[::-1]
    assert life.seen() == [done.note.id]


def test_what_is_hidden_for_a_while_is_found_again_although_entries_rotate(tmp_path):
    life = Life(MarkdownJournal(tmp_path / "memory.md", max_resolved=10))
    names = [life.learn(number, f"Lesson {'abcdefghij'[number]}.") for number in range(10)]
    life.day(30)
    life.memory.forget(names[9], **WHY)
    for number in range(9):
        life.learn(31 + number, f"Other {number}.", ticker="AAPL")
    life.day(60)
    assert {name for name in names if life.memory.get(name).archived} == {*names[:4]}
    assert life.seen()[:5] == names[4:9][::-1]
    assert life.seen(number=29)[:5] == names[5:10][::-1]
    life.memory.undo(names[9], **WHY)
    assert life.seen()[:5] == names[5:10][::-1]


def test_an_older_entry_in_the_log_takes_no_place_from_a_newer_one_in_the_archive(tmp_path):
    """What has no lesson yet does not rotate, and may be older than what did."""
    life = Life(MarkdownJournal(tmp_path / "memory.md", max_resolved=10))
    old = life.learn(0, "")
    names = [life.learn(1 + number, f"Lesson {'abcdefghij'[number]}.") for number in range(10)]
    for number in range(9):
        life.learn(31 + number, f"Other {number}.", ticker="AAPL")
    life.day(60)
    life.memory.forget(names[9], **WHY)
    archived = [name for name in names if life.memory.get(name).archived]
    assert names[4] in archived
    assert not life.memory.get(old).archived
    assert life.seen()[:5] == names[4:9][::-1]

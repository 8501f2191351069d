"""Memories withheld by lot: what a recall then shows, and what the decision keeps of it."""

import json
from collections import Counter
from datetime import date, timedelta

import pytest

from tests.governance_world import START, Life, on
from tradmem import MarkdownJournal, RamJournal, Settings, UsageError
from tradmem.journal.format import parse
from tradmem.lessons.holdout import WITHHELD, Holdout
from tradmem.nodes import recall_node, record_node

HALF = Settings(holdout=0.5, holdout_salt="z", embeddings="none")
TEXTS = [f"The Buy was right since reason {word} held." for word in "abcdefgh"]


def life(journal=None, settings=HALF, lessons=6):
    found = Life(journal or RamJournal(), settings=settings)
    for number, text in enumerate(TEXTS[:lessons]):
        found.learn(number, text, tags=["earnings"])
    found.day(30)
    return found


@pytest.fixture
def some():
    """A memory of which some are withheld on the day of the decision, and others are not."""
    return life()


def test_what_is_withheld_leaves_its_place_empty_and_the_rest_as_it_was(some):
    plain = life(settings=Settings()).memory.recall("NVDA")
    seen = some.memory.recall("NVDA")
    assert seen.withheld
    assert seen.memories
    assert {*seen.ids, *(e.id for e in seen.withheld)} == set(plain.ids)
    text = plain.text
    for entry in seen.withheld:
        start = text.index(f"{entry.date} NVDA")
        end = text.index("\n\n", start) if "\n\n" in text[start:] else text.index("\n</", start)
        text = text[:start] + text[end:].removeprefix("\n\n")
    assert seen.text.replace("\n", "") == text.replace("\n", "")


def test_an_account_says_what_a_lot_took(some):
    seen = some.memory.recall("NVDA", explain=True)
    assert {out.entry.id for out in seen.left_out if out.reason == WITHHELD} == {
        entry.id for entry in seen.withheld
    }
    ranked = some.memory.recall("NVDA", rank="relevant", query="which reason held", explain=True)
    assert {e.id for e in ranked.withheld} == {
        item.entry.id for item in ranked.explained if item.reason == WITHHELD
    }
    assert set(ranked.ids) == {item.entry.id for item in ranked.explained if item.is_shown}


def test_the_track_record_stays_although_every_lesson_is_withheld():
    all_but_none = Settings(holdout=1 - 1e-12)
    seen = life(settings=all_but_none).memory.recall("NVDA")
    assert not seen.memories
    assert len(seen.withheld) == 5
    assert "Track record on NVDA: 6 calls" in seen.text
    assert "reason" not in seen.text


def test_a_decision_keeps_what_was_withheld_from_it(some, tmp_path):
    log = tmp_path / "memory.md"
    there = life(MarkdownJournal(log))
    seen = there.memory.recall("NVDA")
    done = there.memory.record("NVDA", on(30), "**Rating**: Buy", recalled=seen)
    names = tuple(entry.id for entry in seen.withheld)
    entry = MarkdownJournal(log).get(done.entry.id)
    assert (entry.withheld, entry.recorded.holdout) == (names, 0.5)
    line = next(ln for ln in log.read_text().splitlines() if done.entry.id in ln)
    ledger = json.loads(line.removeprefix("<!-- tradmem: ").removesuffix(" -->"))
    assert (ledger["withheld"], ledger["holdout"]) == (list(names), 0.5)
    events = there.memory.history(names[0])
    assert [event.kind for event in events][-1] == "withheld"
    assert not there.memory.audit()


def test_that_nothing_was_withheld_is_kept_too():
    """Else the decisions on which no lot fell could not be told from those without lots."""
    there = life(settings=Settings(holdout=1e-9))
    seen = there.memory.recall("NVDA")
    entry = there.memory.record("NVDA", on(30), "**Rating**: Buy", recalled=seen).entry
    assert (entry.withheld, entry.recorded.holdout) == ((), 1e-9)


def test_a_log_without_hold_out_is_written_as_before(tmp_path):
    log = tmp_path / "memory.md"
    there = life(MarkdownJournal(log), settings=Settings())
    there.memory.record("NVDA", on(30), "**Rating**: Buy", recalled=there.memory.recall("NVDA"))
    assert "withheld" not in log.read_text()
    assert "holdout" not in log.read_text()


@pytest.mark.parametrize(
    "told",
    ['"withheld":"none"', '"withheld":["a"]', '"holdout":"much"', '"withheld":[1],"holdout":7.0'],
)
def test_what_another_program_wrote_under_these_names_is_left_as_it_is(told):
    block = (
        "[2026-01-05 | NVDA | Buy | pending]\n"
        f'<!-- tradmem: {{"v":1,"id":"1f0c7e9a42b5",{told}}} -->\n\n'
        "DECISION:\nBuy.\n\n<!-- ENTRY_END -->\n\n"
    )
    log = parse(block.encode())
    (entry,) = (block.entry for block in log.blocks if block.entry)
    assert (entry.withheld, entry.recorded.holdout) == ((), 0.0)
    assert json.loads(f"{{{told}}}").items() <= entry.recorded.extra.items()
    assert not log.problems


def test_the_nodes_pass_it_on(some):
    state = {"ticker": "NVDA", "date": on(30).isoformat(), "decision": "**Rating**: Hold"}
    state |= recall_node(some.memory, agent="desk")(state)
    assert state["withheld"]
    state |= record_node(some.memory, agent="desk")(state)
    entry = some.memory.get(state["entry_id"])
    assert entry.withheld == tuple(state["withheld"])
    assert entry.recorded.holdout == 0.5
    again = some.memory.recall("NVDA", on(30), agent="desk")
    assert [e.id for e in again.withheld] == state["withheld"]


def test_without_a_hold_out_the_nodes_record_none():
    there = life(settings=Settings())
    state = {"ticker": "NVDA", "date": on(30).isoformat(), "decision": "**Rating**: Hold"}
    state |= recall_node(there.memory)(state)
    assert state["withheld"] is None
    entry = there.memory.get(record_node(there.memory)(state)["entry_id"])
    assert entry.recorded.holdout == 0.0


def test_a_lot_falls_the_same_way_for_the_same_decision_and_anew_for_another(some):
    def lots(as_of=None, agent="", **settings):
        found = life(settings=Settings(holdout=0.5, **settings)) if settings else some
        return {entry.id for entry in found.memory.recall("NVDA", as_of, agent=agent).withheld}

    first = lots()
    assert lots() == first
    assert lots(START + timedelta(days=30)) == first == lots("2026-02-04") == lots(on(30))
    others = [lots(agent=name) for name in "abcd"] + [lots(holdout_salt=name) for name in "abcd"]
    others += [lots(START + timedelta(days=30 - n)) for n in range(1, 5)]
    assert sum(other != first for other in others) >= 8


def test_one_lot_falls_on_all_that_say_the_same():
    lots = Holdout(share=0.5, ticker="NVDA", date=date(2026, 2, 4))
    here = Life(RamJournal())
    pairs = []
    for number, text in enumerate(TEXTS):
        names = [here.learn(number, text), here.learn(number, text, ticker="AAPL")]
        pairs.append({lots.withholds(here.memory.get(name)) for name in names})
    assert Counter(map(len, pairs)) == {1: len(TEXTS)}
    assert len(set(map(frozenset, pairs))) == 2


def test_lots_fall_as_often_as_their_share_says():
    there = Life(RamJournal())
    entry = there.memory.get(there.learn(0, TEXTS[0]))
    fallen = sum(
        Holdout(share=0.1, ticker="NVDA", date=on(number), salt="s").withholds(entry)
        for number in range(4000)
    )
    assert 400 - 4 * 19 < fallen < 400 + 4 * 19


def test_what_cannot_have_been_withheld_is_refused(some):
    names = some.memory.recall("NVDA").ids
    with pytest.raises(UsageError, match="both recalled and withheld"):
        some.memory.record("NVDA", on(30), "Buy", recalled=names, withheld=names[:1])
    without = life(settings=Settings())
    with pytest.raises(UsageError, match="draws no lots"):
        without.memory.record("NVDA", on(30), "Buy", withheld=names[:1])
    with pytest.raises(UsageError, match="extra cannot hold 'withheld'"):
        some.memory.record("NVDA", on(30), "Buy", extra={"withheld": []})


@pytest.mark.parametrize("share", [1, 1.5, -0.1, float("nan"), "0.1", True])
def test_a_share_that_cannot_be_is_refused(share):
    with pytest.raises(UsageError, match="holdout"):
        Settings(holdout=share)


def test_a_salt_is_a_text():
    with pytest.raises(UsageError, match="holdout_salt"):
        Settings(holdout_salt=7)


def test_ids_from_an_iterator_are_all_kept(some):
    names = some.memory.recall("NVDA").ids
    done = some.memory.record("NVDA", on(30), "Buy", recalled=iter(names), withheld=iter(()))
    assert done.entry.recalled == names
    assert done.entry.recorded.holdout == 0.5


def test_utility_is_told_from_what_the_memory_recorded(some):
    """From recall through record and outcome to the pairs that are counted."""
    shown = withheld = 0
    for number in range(30, 60):
        some.day(number)
        seen = some.memory.recall("NVDA")
        lessons = [*seen.memories, *seen.withheld]
        assert all(entry.tags == ("earnings",) for entry in lessons)
        some.memory.record(
            "NVDA", on(number), "**Rating**: Buy", recalled=seen, decided_at=some.now
        )
        shown, withheld = shown + len(seen.memories), withheld + len(seen.withheld)
    found = some.memory.lesson_utility()
    assert (found.decisions, found.open, found.without) == (0, 30, 6)
    from tests.journal.making import outcome

    some.day(80)
    entries = [entry for entry in some.memory.entries() if entry.recorded.holdout]
    some.journal.add([(entry.id, outcome(some.now)) for entry in entries])
    found = some.memory.lesson_utility()
    assert (found.decisions, found.overall.shown, found.overall.withheld) == (30, shown, withheld)
    assert [line.tag for line in found.tags] == ["earnings"]
    assert some.memory.lesson_utility(as_of=on(60)).decisions == 0
    assert some.memory.lesson_utility(tickers="AAPL").decisions == 0
    assert some.memory.lesson_utility(since=on(50)).decisions == 10

"""Counts kept while entries come, against counting everything anew as of each instant."""

from dataclasses import replace
from datetime import timedelta
from random import Random
from statistics import median
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.journal.making import forgetting, lesson
from tests.lessons.track_cases import (
    DOWN,
    FAR,
    FLAT,
    MONDAY,
    UP,
    decided,
    happened,
    noon,
    settled,
)
from tradmem import Addition, MarkdownJournal, RamJournal, Rating
from tradmem.journal.base import OnConflict, is_replaced, newest_revisions
from tradmem.journal.block import read_block
from tradmem.journal.format import render
from tradmem.journal.glance import glance
from tradmem.journal.tally import Tally, judgements
from tradmem.journal.verdicts import count, samples
from tradmem.lessons.hits import track_of, tracks_of
from tradmem.lessons.track import track

TICKERS = ("NVDA", "BTC-USD")
alphas = st.sampled_from([UP, DOWN, FLAT, None])


@st.composite
def acts(draw):
    """What happens to one decision: (instant at which it is stored, addition)."""
    day = MONDAY + timedelta(days=draw(st.integers(0, 60)))
    horizon = draw(st.sampled_from([5, 5, 20, None]))
    recorded = decided(
        day,
        draw(st.sampled_from(TICKERS)),
        draw(st.sampled_from([*Rating, None])),
        horizon=horizon,
        agent=draw(st.sampled_from(["", "desk"])),
    )
    own = horizon or 5
    leave = noon(day) + timedelta(days=7 * own // 5, hours=10)
    found = []
    if draw(st.booleans()):
        data = {"reason": "no price"}
        gave_up = leave + timedelta(days=1)
        found.append((gave_up, Addition(kind="unresolvable", at=gave_up, data=data)))
        leave += timedelta(days=draw(st.integers(2, 9)))
    if draw(st.integers(0, 5)):
        more = {"span": draw(st.sampled_from([7, 8, 12])), "known_at": leave}
        first = happened(day, draw(alphas), horizon=own, **more)
        found.append((leave, first))
        found.append((leave, lesson(f"Lesson of {day}. Keep it.", at=leave)))
        if draw(st.booleans()):
            found.append((leave, Addition(kind="reopen")))
        for wait in draw(st.lists(st.integers(1, 30), max_size=2)):
            later = leave + timedelta(days=wait)
            changed = happened(day, draw(alphas), horizon=own, known_at=later, span=7)
            found.append((later, changed))
        if draw(st.booleans()):
            other = 25 - own
            known = noon(day) + timedelta(days=7 * other // 5, hours=10)
            second = happened(day, draw(alphas), horizon=other, span=other, known_at=known)
            found.append((max(known, leave), second))
        if draw(st.booleans()):
            hidden = leave + timedelta(days=3)
            found.append((hidden, forgetting(hidden)))
    return recorded, found


histories = st.lists(acts(), min_size=1, max_size=8, unique_by=lambda act: act[0].id)


def from_scratch(journal, ticker, instant):
    """All entries of the ticker as they stood then, counted one by one."""
    entries = [entry for entry in journal.entries() if entry.ticker == ticker]
    newest = newest_revisions(entries)
    found = {}
    for entry in entries:
        then = entry.at(instant)
        if then and not is_replaced(then, newest):
            for sample in samples(then):
                found.setdefault(sample.horizon, []).append(sample)
    return tuple(count(horizon, found[horizon]) for horizon in sorted(found))


def instants_of(history):
    found = {when for _, stored in history for when, _ in stored}
    return sorted(found | {FAR} | {when - timedelta(seconds=1) for when in found})


@pytest.fixture(params=["ram", "markdown", "rotating"], scope="module")
def fresh(request, tmp_path_factory):
    def make():
        if request.param == "ram":
            return RamJournal()
        path = tmp_path_factory.mktemp("log") / "memory.md"
        return MarkdownJournal(path, max_resolved=1 if request.param == "rotating" else None)

    return make


@settings(max_examples=10, deadline=None)
@given(history=histories, order=st.randoms(use_true_random=False))
def test_counts_as_of_any_instant_are_those_counted_from_scratch(fresh, history, order):
    """Asked in between and in any order, whatever came late, was corrected or taken back."""
    journal = fresh()
    for recorded, _ in history:
        journal.append(recorded)
    steps = [(when, recorded.id, act) for recorded, stored in history for when, act in stored]
    steps.sort(key=lambda step: step[0])
    if order.random() < 0.3:
        order.shuffle(steps)
    instants = instants_of(history)
    for number in range(0, len(steps), 3):
        journal.add([(name, act) for _, name, act in steps[number : number + 3]])
        for ticker in TICKERS:
            instant = order.choice(instants)
            assert journal.counts(ticker, instant) == from_scratch(journal, ticker, instant)
    for instant in order.sample(instants, len(instants)):
        for ticker in TICKERS:
            assert journal.counts(ticker, instant) == from_scratch(journal, ticker, instant)


@settings(max_examples=15, deadline=None)
@given(histories)
def test_recall_and_the_tables_tell_the_same_numbers(history):
    journal = RamJournal()
    for recorded, stored in history:
        journal.append(recorded)
        journal.add([(recorded.id, act) for _, act in stored])
    for instant in instants_of(history):
        entries = [then for entry in journal.entries() if (then := entry.at(instant))]
        record = track(entries)
        for ticker in TICKERS:
            for found in tracks_of(journal, ticker, instant):
                assert found == record.line(found.horizon, "ticker", ticker).track


@given(acts())
def test_a_glance_sees_what_parsing_sees_or_nothing(act):
    recorded, stored = act
    journal = RamJournal()
    journal.append(recorded)
    journal.add([(recorded.id, addition) for _, addition in stored])
    entry = journal.get(recorded.id)
    block = render(entry)
    seen = glance(block)
    assert seen is None or sorted(seen) == sorted(judgements(read_block(block).entry))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"alpha": None},
        {"rating": Rating.HOLD, "alpha": FLAT},
        {"flags": ("stopped", "default_band")},
        {"decision": {"horizon": None}},
        {"decision": {"agent": 'x","horizon":9', "flags": ("late",)}},
    ],
)
def test_a_glance_is_enough_for_what_we_write(more):
    entry = settled(**more)
    known = entry.known_at
    more_acts = [lesson("It was right. Do it again.", at=known), forgetting(known)]
    second = happened(MONDAY, DOWN, horizon=20, span=28)
    journal = RamJournal()
    journal.append(entry.recorded)
    journal.add([(entry.id, act) for act in (*entry.additions, *more_acts, second)])
    full = journal.get(entry.id)
    assert len(full.outcomes) == 2
    for shown in (entry, full):
        for block in (render(shown), render(shown).replace(b"\n", b"\r\n")):
            seen = glance(block)
            assert seen is not None
            assert sorted(seen) == sorted(judgements(read_block(block).entry))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"| Buy |", b"| Sell |"),
        (b"+5.0% | +4.0%", b"-5.0% | -4.0%"),
        (b"| 5d |", b"| 6d |"),
        (b'"horizon":5,"sessions"', b'"horizon":20,"sessions"'),
        (b'"known_at":"2026-01-12', b'"known_at":"2025-12-12'),
    ],
)
def test_an_edited_block_counts_as_it_is_read(old, new, tmp_path):
    """The tag wins, also for the counts."""
    path = tmp_path / "memory.md"
    block = render(settled())
    path.write_bytes(block.replace(old, new))
    journal = MarkdownJournal(path)
    assert journal.counts("NVDA", FAR) == from_scratch(journal, "NVDA", FAR)


def test_an_entry_in_the_log_and_in_the_archive_is_counted_once(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path, max_resolved=1)
    for number in range(9):
        entry = settled(MONDAY + timedelta(days=number))
        journal.append(entry.recorded)
        journal.add([(entry.id, entry.additions[0]), (entry.id, lesson(at=entry.known_at))])
    (archive,) = journal.archives()
    assert journal.counts("NVDA", FAR)[0].right == 9
    path.write_bytes(path.read_bytes() + archive.read_bytes())
    assert journal.counts("NVDA", FAR)[0].right == 9
    assert MarkdownJournal(path).counts("NVDA", FAR)[0].right == 9


def test_a_revision_takes_the_verdict_of_what_it_replaces(fresh):
    journal = fresh()
    entry = settled()
    journal.append(entry.recorded)
    journal.add([(entry.id, entry.additions[0])])
    assert journal.counts("NVDA", FAR)[0].right == 1
    other = replace(entry.recorded, text="**Rating**: Sell", rating=Rating.SELL)
    revised, _ = journal.append(other, on_conflict=OnConflict.REVISE)
    assert journal.counts("NVDA", FAR) == ()
    journal.add([(revised.id, entry.additions[0])])
    assert journal.counts("NVDA", FAR)[0].wrong == 1


def test_the_track_of_a_ticker_is_at_the_horizon_of_most_of_its_decisions():
    journal = RamJournal()
    for number in range(5):
        day = MONDAY + timedelta(days=number)
        entry = settled(day, decision={"horizon": 20 if number else 5}, span=28)
        journal.append(entry.recorded)
        journal.add([(entry.id, entry.additions[0])])
    assert [found.horizon for found in tracks_of(journal, "NVDA", FAR)] == [20, 5]
    assert (track_of(journal, "NVDA", FAR).right, track_of(journal, "AAPL", FAR).right) == (4, 0)


def test_a_replay_asks_as_cheaply_at_its_end_as_at_its_start():
    """Each step counts one more verdict; what was counted is not counted again."""
    tally, taken, draw = Tally(), [], Random(1)
    (like,) = judgements(settled())
    for number in range(6000):
        day = MONDAY + timedelta(days=number)
        sample = like.sample._replace(entry=day.toordinal(), cell=draw.choice([0, 1, 2]))
        started = perf_counter()
        tally.add([like._replace(known_at=noon(day), sample=sample)])
        (counts,) = tally.as_of(noon(day))
        taken.append(perf_counter() - started)
        assert sum(counts.cells) == number + 1
    early, late = median(taken[100:1100]), median(taken[-1000:])
    assert late < 5 * early

"""No read looks ahead: what was known at an instant is what a log cut off there would tell."""

import tempfile
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.histories import GOVERNING, KINDS, TICKERS, History
from tradmem import MarkdownJournal, RamJournal
from tradmem.lessons.parts import Rank

SHARED = "/dev/shm" if Path("/dev/shm").is_dir() else None  # where a sync costs nothing

steps = st.tuples(
    st.sampled_from(KINDS),
    st.integers(0, 15),
    st.integers(0, 15),
    st.sampled_from([0, 1, 5, 24]),
    st.sampled_from([0, 0, 2, 30]),
)
histories = st.lists(steps, min_size=10, max_size=45)


def grown(journal, plan, kind=History):
    history = kind(journal)
    for step in plan:
        history.grow(*step)
    history.now += timedelta(hours=20)
    return history


def shown(memory, instant):
    """What every recall as of an instant shows, leaves out, and says, and what a search finds."""
    found = []
    for ticker in TICKERS:
        for rank in Rank:
            seen = memory.recall(ticker, instant, rank=rank, query="Do earnings or rates move it?")
            left_out = [(item.entry.id, item.reason) for item in seen.left_out]
            found.append((seen.ids, left_out, seen.text))
        hits = memory.search("earnings", ticker=ticker, as_of=instant)
        found.append(([entry.id for entry in hits], [], ""))
    return found


def states(entries):
    """What entries are, without the stamps by which that was told."""
    return {
        entry.id: (
            *(entry.status, entry.outcomes, entry.verdict, entry.reflection, entry.reason),
            *(entry.tags, entry.links, entry.forgotten, entry.superseded_by),
            *(entry.valid_until, entry.expired),
        )
        for entry in entries
    }


def instants(history):
    """Each instant at which something became known, and one between them."""
    known = sorted({step.known for step in history.steps} | {step.clock for step in history.steps})
    return [instant for moment in known for instant in (moment, moment + timedelta(minutes=7))]


def check(history, journals, picks):
    """Compare recalls as of some instants with recalls in logs that end there.

    In the log that ends there nothing is hidden by an ``as_of``: all that it holds counts.
    """
    moments = instants(history)
    for pick in picks if moments else ():
        instant = moments[pick % len(moments)]
        expected = shown(history.memory, instant)
        stood = states(history.memory.entries(as_of=instant))
        for journal in journals():
            cut = history.cut_off(journal, instant)
            assert states(entry.by(instant) for entry in journal.entries()) == stood
            end, history.now = history.now, instant
            assert shown(cut, None) == expected
            history.now = end


picks = st.lists(st.integers(0, 200), min_size=4, max_size=4)


@settings(deadline=None, max_examples=50)
@given(histories, picks)
def test_a_recall_as_of_an_instant_is_that_of_a_log_cut_off_there(plan, picks):
    check(grown(RamJournal(), plan), lambda: [RamJournal()], picks)


@settings(deadline=None, max_examples=12)
@given(histories, picks)
def test_the_same_in_a_file_whose_entries_rotate(plan, picks):
    with tempfile.TemporaryDirectory(dir=SHARED) as folder:
        names = iter(range(100))

        def journal():
            return MarkdownJournal(Path(folder) / f"{next(names)}" / "memory.md", max_resolved=1)

        history = grown(journal(), plan)
        check(history, lambda: [journal(), RamJournal()], picks[:2])


@pytest.mark.leaky  # in the history without consolidations, their notes are not there
@settings(deadline=None, max_examples=60)
@given(histories)
def test_hiding_changes_no_count_and_every_history_passes_the_audit(plan):
    history = grown(RamJournal(), plan)
    assert history.memory.audit() == ()
    plain = history.replay(RamJournal(), lambda step: step.kind not in GOVERNING)
    for instant in instants(history)[::5]:
        for ticker in TICKERS:
            counts = history.memory.journal.counts(ticker, instant)
            assert counts == plain.journal.counts(ticker, instant)


@pytest.mark.long
@settings(deadline=None, max_examples=1000)
@given(histories, picks)
def test_many_more_of_them(plan, picks):
    check(grown(RamJournal(), plan), lambda: [RamJournal()], picks)


def test_the_histories_hold_every_kind_of_step():
    """A generator that made nothing of some kind would prove nothing about it."""
    chance = Random(1)
    plan = [
        (chance.choice(KINDS), chance.randrange(16), chance.randrange(16), 1, 0) for _ in range(200)
    ]
    history = grown(RamJournal(), plan)
    assert {step.kind for step in history.steps} == set(KINDS)
    assert any(entry.hidden for entry in history.memory.entries())
    assert any(seen for seen, _, _ in shown(history.memory, None))

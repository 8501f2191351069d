"""What hides an entry, from when on, and what lifts it again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.journal.making import DECIDED, KNOWN, decision, forgetting, lesson, note, outcome
from tradmem.clock import format_instant
from tradmem.journal.format import parse, render
from tradmem.model import Addition, fold, in_force

T0 = datetime(2026, 2, 1, 12, tzinfo=UTC)


def day(number):
    return T0 + timedelta(days=number)


def forget(at):
    return forgetting(at=day(at))


def expire(at, until):
    return Addition(kind="expire", at=day(at), data={"valid_until": format_instant(day(until))})


def supersede(at, by="91aa03c2d7f0"):
    return Addition(kind="supersede", at=day(at), data={"by": by})


def undo(at, kind, of):
    data = {"undoes": kind, "undoes_at": format_instant(day(of))}
    return Addition(kind="undo", at=day(at), data=data)


def entry(*acts):
    found = fold(decision(), (outcome(), lesson(), *acts))
    assert found
    return found


def hidden_from(*acts, until=12):
    """The days on which an entry is hidden, and the same where the log ends on that day."""
    whole = entry(*acts)
    found = [number for number in range(until) if whole.at(day(number)).hidden]
    for number in range(until):
        known = [act for act in acts if act.at <= day(number)]
        assert entry(*known).at(day(number)).hidden == (number in found)
    return found


@pytest.mark.parametrize(
    ("acts", "days"),
    [
        ([], []),
        ([forget(3)], range(3, 12)),
        ([supersede(3)], range(3, 12)),
        ([expire(3, 6)], range(6, 12)),
        ([expire(6, 3)], range(6, 12)),
        ([expire(2, 5), expire(3, 8)], range(8, 12)),
        ([expire(2, 4), expire(6, 9)], [4, 5, *range(9, 12)]),
        ([forget(3), undo(5, "forget", 3)], [3, 4]),
        ([supersede(3), undo(5, "supersede", 3)], [3, 4]),
        ([expire(2, 5), expire(3, 8), undo(4, "expire", 3)], range(5, 12)),
        ([expire(2, 5), undo(7, "expire", 2)], [5, 6]),
        ([forget(2), undo(4, "forget", 2), undo(6, "undo", 4)], [2, 3, *range(6, 12)]),
        ([forget(2), supersede(3), undo(5, "forget", 2)], range(2, 12)),
        ([forget(2), forget(4), undo(6, "forget", 4)], range(2, 12)),
        ([forget(2), undo(4, "forget", 3)], range(2, 12)),
        ([forget(2), undo(4, "expire", 2)], range(2, 12)),
        ([undo(2, "forget", 4), forget(4)], range(4, 12)),
    ],
)
def test_an_act_hides_from_its_own_instant_and_an_undo_shows_from_its_own(acts, days):
    assert hidden_from(*acts) == list(days)


def test_an_undo_takes_back_no_outcome_and_no_lesson():
    acts = [outcome(), lesson()]
    undoing = [
        Addition(
            kind="undo",
            at=day(3),
            data={"undoes": act.kind, "undoes_at": format_instant(act.at)},
        )
        for act in acts
    ]
    assert in_force([*acts, *undoing]) == [*acts, *undoing]


def test_an_act_that_claims_to_have_been_known_earlier_is_known_when_it_was_stamped():
    early = Addition(kind="forget", at=day(5), known_at=day(1), data={"reason": "x"})
    assert hidden_from(early) == list(range(5, 12))


@pytest.mark.parametrize("broken", [{}, {"valid_until": "soon"}, {"valid_until": 7}])
def test_an_expiry_without_an_instant_does_nothing_and_is_a_problem_of_its_file(broken):
    found = entry(Addition(kind="expire", at=day(3), data=broken))
    assert not found.hidden
    raw = render(found)
    log = parse(raw, "memory.md")
    assert [problem.line for problem in log.problems] == [1]
    assert "ledger" in str(log.problems[0])
    assert log.entries[0].reflection == found.reflection


def test_an_expiry_to_come_hides_only_once_the_clock_is_there():
    found = entry(expire(3, 6))
    assert found.hidden
    assert not found.by(day(5)).hidden
    assert found.by(day(6)).hidden
    assert found.by(day(5)).additions == found.additions


def test_a_note_may_carry_its_end_from_the_start():
    kept = fold(replace(note(), valid_until=DECIDED + timedelta(5)), ())
    (read,) = parse(render(kept)).entries
    assert read == kept
    assert not read.at(DECIDED + timedelta(4)).hidden
    assert read.at(DECIDED + timedelta(5)).hidden
    longer = Addition(
        kind="expire",
        at=DECIDED + timedelta(1),
        data={"valid_until": format_instant(DECIDED + timedelta(9))},
    )
    extended = fold(read.recorded, (longer,))
    assert not extended.at(DECIDED + timedelta(8)).hidden
    assert extended.at(DECIDED + timedelta(9)).hidden


def test_hiding_leaves_verdict_and_counts_alone():
    found = entry(forget(1), supersede(2), expire(3, 3))
    assert found.hidden
    assert found.verdict == "right"
    assert found.known_at == KNOWN


def test_every_act_comes_back_from_a_file_as_it_was():
    acts = [expire(1, 5), supersede(2), undo(3, "supersede", 2), undo(4, "undo", 3)]
    (read,) = parse(render(entry(*acts))).entries
    assert read == entry(*acts)
    assert (read.superseded_by, read.valid_until) == ("91aa03c2d7f0", day(5))

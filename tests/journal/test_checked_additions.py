"""What may be added is told by the kinds of its values alone, where that is enough."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from tradmem import Addition, Outcome, UsageError
from tradmem.journal.ledger import check_addition, reread

NOON = datetime(2026, 1, 12, 12, tzinfo=UTC)
EAST = NOON.astimezone(timezone(timedelta(hours=9)))
MADE = Outcome(horizon=5, sessions=5, raw_return=0.06, alpha=0.045, known_at=NOON)
PLAIN = [
    Addition(kind="reflection", at=NOON, text="It held.", data={"model": "template", "n": 1}),
    Addition(kind="outcome", at=NOON, outcome=MADE),
    Addition(kind="outcome", at=NOON, outcome=replace(MADE, sigma=0.01, flags=("late",))),
    Addition(kind="outcome", at=EAST, outcome=replace(MADE, exit_date=date(2026, 1, 12))),
    Addition(kind="reflection", at=NOON, text="It fell.", data={"links": ["91aa03c2d7f0"]}),
    Addition(kind="expire", at=NOON, data={"valid_until": "2026-02-01T00:00:00Z"}),
    Addition(kind="word_of_a_later_version", data={"of": {"any": [1.5, None]}}),
]
ODD = [
    Addition(kind="expire", at=NOON),
    Addition(kind="undo", at=NOON, data={"undoes": "forget", "undoes_at": "soon"}),
    Addition(kind="reflection", at=NOON, text=" \n\t", data={"model": "template"}),
    Addition(kind="remark", at=NOON),
    Addition(kind="remark", at=NOON, text="So.", data={"when": NOON}),
    Addition(kind="remark", at=NOON, text="So.", data={"size": float("nan")}),
    Addition(kind="outcome", at=NOON, outcome=replace(MADE, sigma=float("inf"))),
    Addition(kind="outcome", at=NOON, outcome=replace(MADE, sigma="wide")),
    Addition(kind="outcome", at=NOON, outcome=replace(MADE, source=object())),
    Addition(kind="outcome", at=NOON, outcome=replace(MADE, flags=5)),
    Addition(kind="outcome", at=NOON, outcome=replace(MADE, exit_date="tomorrow")),
    Addition(kind="outcome", at=NOON, outcome=replace(MADE, extra={"note": b"bytes"})),
]


@pytest.mark.parametrize("addition", PLAIN, ids=lambda addition: addition.kind)
def test_what_can_be_read_again_is_let_pass(addition):
    check_addition(addition)
    read = reread(addition)
    assert (read.outcome, dict(read.data)) == (addition.outcome, dict(addition.data))


@pytest.mark.parametrize("addition", ODD, ids=lambda addition: addition.kind)
def test_what_cannot_be_read_again_is_refused_before_it_is_stored(addition):
    with pytest.raises(UsageError):
        check_addition(addition)

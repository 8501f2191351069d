"""The language that chooses entries, over the columns of a flat row."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.journal.making import DAY, DECIDED, KNOWN, decision, lesson, note, outcome
from tradmem import Rating, UsageError
from tradmem.filters import OPERATORS, entry_test
from tradmem.journal.block import fold_now
from tradmem.rows import COLUMNS, as_row

RIGHT = fold_now(
    decision("We buy NVDA.", agent="Desk"), (outcome(), lesson("It held.", tags=["earnings-beat"]))
)
WRONG = fold_now(
    decision("We sell.", ticker="AMD", day=DAY + timedelta(days=3), rating=Rating.SELL),
    (outcome(KNOWN + timedelta(days=3), alpha=0.05),),
)
PENDING = fold_now(decision("Unclear.", ticker="BRK.B", rating=None), ())
NOTE = fold_now(note("Guides low."), ())
ALL = {"right": RIGHT, "wrong": WRONG, "pending": PENDING, "note": NOTE}


def chosen(where):
    test = entry_test(where)
    return [name for name, entry in ALL.items() if test(entry)]


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (None, ["right", "wrong", "pending", "note"]),
        ({}, ["right", "wrong", "pending", "note"]),
        ({"rating": "Buy"}, ["right"]),
        ({"rating": "buy"}, ["right"]),
        ({"rating": Rating.SELL}, ["wrong"]),
        ({"rating": {"eq": None}}, ["pending", "note"]),
        ({"rating": None}, ["pending", "note"]),
        ({"rating": {"in": ["Buy", "Sell"]}}, ["right", "wrong"]),
        ({"rating": ["Sell", None]}, ["wrong", "pending", "note"]),
        ({"rating": {"ne": "Buy"}}, ["wrong", "pending", "note"]),
        ({"verdict": "right"}, ["right"]),
        ({"status": ["pending", "note"]}, ["pending", "note"]),
        ({"alpha": {"gt": 0.045}}, ["wrong"]),
        ({"alpha": {"gte": 0.045}}, ["right", "wrong"]),
        ({"alpha": {"lt": 0.05}}, ["right"]),
        ({"alpha": {"lte": 0.05, "gt": 0}}, ["right", "wrong"]),
        ({"alpha": {"ne": 0.05}}, ["right", "pending", "note"]),
        ({"sessions": 5}, ["right", "wrong"]),
        ({"date": "2026-01-08"}, ["wrong"]),
        ({"date": {"gt": date(2026, 1, 5)}}, ["wrong"]),
        ({"decided_at": {"lt": "2026-01-05T15:04:06Z"}}, ["right", "pending"]),
        ({"decided_at": "2026-01-05"}, ["right", "pending"]),
        ({"decided_at": {"gt": "2026-01-05"}}, ["wrong"]),
        ({"decided_at": DECIDED}, ["right", "pending"]),
        ({"known_at": {"gte": datetime(2026, 1, 15, 23, tzinfo=UTC)}}, ["wrong"]),
        ({"agent": "desk"}, ["right"]),
        ({"agent": ""}, ["wrong", "pending", "note"]),
        ({"decision": {"contains": "nvda"}}, ["right"]),
        ({"note": {"contains": "LOW"}}, ["note"]),
        ({"tags": {"contains": "Earnings-Beat"}}, ["right"]),
        ({"tags": {"contains": "earnings"}}, []),
        ({"tags": {"eq": []}}, ["wrong", "pending", "note"]),
        ({"hidden": False, "archived": {"ne": True}}, ["right", "wrong", "pending", "note"]),
        ({"and": [{"alpha": {"gt": 0}}, {"ticker": "AMD"}]}, ["wrong"]),
        ({"or": [{"ticker": "AMD"}, {"status": "note"}]}, ["wrong", "note"]),
        ({"not": {"or": [{"ticker": "AMD"}, {"status": "note"}]}}, ["right", "pending"]),
        ({"or": []}, []),
        ({"and": []}, ["right", "wrong", "pending", "note"]),
        ({"ticker": "NVDA", "or": [{"status": "note"}, {"rating": "Buy"}]}, ["right", "note"]),
    ],
    ids=str,
)
def test_a_filter_chooses(where, names):
    assert chosen(where) == names


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"ratin": "Buy"}, "'ratin'; the nearest is rating"),
        ({"aplha": {"gt": 0}}, "the nearest is alpha"),
        ({"alpha": {"greater": 0}}, "no operator 'greater'; the nearest is"),
        ({"alpha": {"gtt": 0}}, "the nearest is gt"),
        ({"gt": 0}, "stands below a field"),
        ({"alpha": {"gt": "much"}}, "alpha is a number; 'much' is not"),
        ({"alpha": {"gt": None}}, '"gt" takes a number'),
        ({"alpha": True}, "alpha is a number; True is not"),
        ({"alpha": {"contains": "1"}}, "alpha is a number; it takes eq, ne, gt"),
        ({"rating": {"gt": "Hold"}}, "rating is a text; it takes eq"),
        ({"rating": "Hodl"}, "choose one of Buy, Overweight, Hold"),
        ({"date": "yesterday"}, "date: 'yesterday' is no date"),
        ({"decided_at": "2026-01-05T10:00"}, "decided_at: .* has no time zone"),
        ({"hidden": "no"}, "hidden is true or false"),
        ({"tags": {"contains": ["a"]}}, '"contains" takes a text'),
        ({"rating": {"in": "Buy"}}, '"in" takes a list'),
        ({"or": {"rating": "Buy"}}, '"or" takes a list'),
        ({"not": ["x"]}, "is no filter"),
        ([], "is no filter"),
        ("rating", "is no filter"),
        ({7: 7}, "there is no field 7"),
    ],
    ids=str,
)
def test_what_cannot_be_is_told_in_one_line_before_anything_is_looked_at(where, said):
    with pytest.raises(UsageError, match=said) as caught:
        entry_test(where)
    assert "\n" not in str(caught.value)


def test_a_filter_without_end_is_refused():
    where = {"ticker": "NVDA"}
    for _ in range(5000):
        where = {"not": where}
    with pytest.raises(UsageError, match="too deeply"):
        entry_test(where)


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
anything = st.recursive(
    values,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*COLUMNS, *OPERATORS, "and", "or", "not"]) | st.text(max_size=5),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(anything)
def test_anything_else_is_a_filter_or_wrong_use(where):
    try:
        test = entry_test(where)
    except UsageError as error:
        assert str(error)  # noqa: PT017
    else:
        assert all(test(entry) in (True, False) for entry in ALL.values())


@given(st.sampled_from(COLUMNS), st.sampled_from(sorted(ALL)))
def test_every_column_can_be_asked_for_by_what_stands_in_it(name, which):
    value = as_row(ALL[which])[name]
    value = list(value) if isinstance(value, tuple) else value
    assert which in chosen({name: {"eq": value}})
    assert which not in chosen({name: {"ne": value}})
    assert which in chosen({"not": {name: {"ne": value}}})


@pytest.mark.parametrize("value", [10**400, [1, 10**400]])
def test_a_number_beyond_every_float_is_compared_as_it_is(value):
    assert chosen({"not": {"revision": value}}) >= chosen({"revision": 2})
    assert chosen({"revision": {"lt": 10**400}}) == chosen({"revision": {"gt": -(10**400)}})
    assert chosen({"revision": {"gt": 10**400}}) == chosen({"revision": {"lt": -(10**400)}})
    assert not chosen({"revision": {"gt": 10**400}})

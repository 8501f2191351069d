"""What follows from an entry is found once while the entry is at hand."""

from dataclasses import replace
from datetime import UTC, date, datetime

from tradmem.lessons.per_entry import per_entry
from tradmem.model import Decision, Entry


def an_entry(number=0):
    recorded = Decision(id=f"{number:012}", date=date(2026, 1, 5), ticker="NVDA", text="Buy")
    return Entry(recorded=recorded, changed_at=datetime(2026, 1, 5, tzinfo=UTC))


def test_it_is_asked_for_once_and_of_an_equal_entry_again():
    asked = []
    find = per_entry(8)(lambda entry: asked.append(entry) or len(asked))
    one = an_entry()
    twin = replace(one)
    assert one == twin
    assert [find(one), find(one), find(twin), find(one)] == [1, 1, 2, 1]


def test_no_more_entries_are_held_than_it_says_and_none_is_taken_for_another():
    find = per_entry(3)(lambda entry: entry.id)
    for number in range(2000):  # each is gone before the next one takes its address
        assert find(an_entry(number)) == f"{number:012}"
    (kept,) = (cell.cell_contents for cell in find.__closure__ if type(cell.cell_contents) is dict)
    assert len(kept) <= 3

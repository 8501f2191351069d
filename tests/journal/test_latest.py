"""The newest entries of a journal are the end of all its entries, at any limit."""

from datetime import UTC, date, datetime, timedelta
from random import Random

import pytest

from tradmem.journal.markdown import MarkdownJournal
from tradmem.journal.ram import RamJournal
from tradmem.model import Addition, Decision, Outcome, Rating

START = date(2024, 11, 1)


def fill(journal, *, days=90, seed=7):
    """Decisions in an order that is not that of their dates, most of them resolved."""
    order = list(range(days))
    Random(seed).shuffle(order)
    for number in order:
        day = START + timedelta(days=number)
        instant = datetime(day.year, day.month, day.day, 15, tzinfo=UTC)
        entry, _ = journal.append(
            Decision(
                id="",
                date=day,
                ticker=f"T{number % 4}",
                text=f"**Rating**: Buy, number {number}",
                rating=Rating.BUY,
                decided_at=instant,
            )
        )
        if number % 5:
            outcome = Outcome(
                horizon=5,
                sessions=5,
                raw_return=0.01,
                alpha=0.01,
                known_at=instant + timedelta(days=7),
            )
            journal.add([(entry.id, Addition(kind="outcome", at=instant, outcome=outcome))])
            journal.add([(entry.id, Addition(kind="reflection", at=instant, text="A lesson."))])


@pytest.mark.parametrize("limit", [0, 1, 7, 60, 89, 90, 500])
def test_the_latest_entries_are_the_end_of_all_entries(tmp_path, limit):
    journals = [RamJournal(), MarkdownJournal(tmp_path / "memory.md", max_resolved=20)]
    for journal in journals:
        fill(journal)
        everything = journal.entries()
        assert len(everything) == 90
        assert journal.latest(limit) == everything[len(everything) - min(limit, 90) :]
    assert len(list((tmp_path / "archive").iterdir())) == 2


def test_a_repeat_that_a_crash_left_in_the_archive_is_listed_once(tmp_path):
    path = tmp_path / "memory.md"
    fill(MarkdownJournal(path, max_resolved=None))
    before = path.read_bytes()
    journal = MarkdownJournal(path, max_resolved=20)
    entry = next(entry for entry in journal.entries() if entry.status == "pending")
    journal.add([(entry.id, Addition(kind="remark", text="moves the oldest out"))])
    assert (tmp_path / "archive").exists()
    path.write_bytes(before)
    journal = MarkdownJournal(path)
    assert journal.latest(90) == journal.entries()
    assert len(journal.latest(500)) == 90

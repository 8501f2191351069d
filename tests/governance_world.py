"""A memory with lessons made by hand, for the tests of governance, history and audit."""

from datetime import UTC, date, datetime, timedelta

from tests.journal.making import decision, lesson, outcome
from tradmem import Memory, Rating
from tradmem.model import entry_id

START = datetime(2026, 1, 5, 15, tzinfo=UTC)
WHY = {"reason": "because", "actor": "desk"}
# Near-identical: a word apart from each other, besides the figures.
SAME = [
    "The Buy was right: guidance was raised by 3% and the shares followed within days.",
    "The Buy was right: guidance was raised by 7% and its shares followed within days.",
    "The Buy was right: guidance was raised by 12% and the shares followed within two days.",
]


class Life:
    """A memory, its clock in days from ``START``, and entries with the lesson that is asked for."""

    def __init__(self, journal, **settings):
        self.journal = journal
        self.now = START
        self.memory = Memory(journal, clock=lambda: self.now, **settings)

    def day(self, number):
        """Set the clock."""
        self.now = START + timedelta(days=number)
        return self.now

    def learn(self, number, text, *, ticker="NVDA", rating=Rating.BUY, alpha=0.045, **more):
        """A decision of a day, resolved a week later, with its lesson; the id."""
        at, day = self.day(number), START.date() + timedelta(days=number)
        recorded = decision(
            f"Decision of day {number}.",
            day=day,
            ticker=ticker,
            rating=rating,
            decided_at=at,
            recorded_at=at,
        )
        self.journal.append(recorded)
        known = at + timedelta(days=7)
        name = entry_id(day, ticker)
        leave = known.date() - timedelta(days=1)  # its close is final in the night
        told = outcome(known, alpha=alpha, entry_date=day, exit_date=leave)
        written = lesson(text, at=known + timedelta(hours=2), **more)
        self.journal.add([(name, told), (name, written)] if text else [(name, told)])
        return name

    def seen(self, ticker="NVDA", number=None):
        """The ids that a recall shows, now or as of a day."""
        as_of = None if number is None else START + timedelta(days=number)
        return list(self.memory.recall(ticker, as_of).ids)

    def visible(self):
        """The ids of all that recall could show now."""
        return {entry.id for entry in self.journal.memories(self.now)}


def on(number):
    """The date of a day."""
    return date(2026, 1, 5) + timedelta(days=number)

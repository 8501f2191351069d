"""Libraries with a simulated clock, for the tests of the plugins."""

from datetime import UTC, date, datetime, timedelta

from tests.cli.world import closes
from tradmem.journal.markdown import MarkdownJournal
from tradmem.journal.ram import RamJournal
from tradmem.market.frames import FramePrices
from tradmem.memory import Memory
from tradmem.model import Rating
from tradmem.plugin.libraries import Library

MONDAY = datetime(2026, 1, 5, 15, 4, 5, tzinfo=UTC)  # a session, an hour after its opening
LATER = datetime(2026, 1, 13, 12, tzinfo=UTC)  # the close of 12 January is final
SCOPE = "US technology companies and our calls on them"


class World:
    """A library whose clock is set by hand."""

    def __init__(self, path=None, **kwargs):
        self.now = MONDAY
        journal = MarkdownJournal(path) if path else RamJournal()
        self.memory = Memory(journal, prices=FramePrices(closes()), clock=self.clock)
        self.library = Library(
            name="us-tech", memory=self.memory, **{"description": SCOPE, **kwargs}
        )

    def clock(self):
        return self.now

    def go(self, when):
        self.now = when
        return self

    def wait(self, **span):
        self.now += timedelta(**span)
        return self

    def decide(self, ticker="NVDA", text="**Rating**: Buy\n\nGuidance was raised.", **kwargs):
        day = kwargs.pop("date", date(2026, 1, 5))
        return self.memory.record(ticker, day, text, **kwargs).entry

    def taught(self):
        """Two decisions of Monday, both with a lesson by now."""
        self.decide()
        self.decide("AAPL", "Margins are at their peak.", rating=Rating.SELL)
        self.go(LATER)
        self.memory.resolve()
        return self

"""A small market with a simulated clock, for the tests of nodes, agent and demo."""

from datetime import date, datetime, timedelta

import numpy as np

from tradmem.journal.ram import RamJournal
from tradmem.market.calendars import calendar_of
from tradmem.market.frames import FramePrices
from tradmem.memory import Memory

CALENDAR = calendar_of("SPY")
FIRST = date(2024, 1, 2)


def sessions(count, first=FIRST):
    """So many New York sessions from a date on."""
    found = [CALENDAR.first_after(first - timedelta(days=1))]
    while len(found) < count:
        found.append(CALENDAR.first_after(found[-1]))
    return found


def random_closes(tickers, count=330, *, seed=1, drift=None):
    """Closes by ticker and date; ``drift`` gives some a daily tendency."""
    drift = drift or {}
    generator = np.random.default_rng(seed)
    days = sessions(count)
    found = {}
    for ticker in tickers:
        steps = generator.normal(drift.get(ticker, 0.0), 0.01, count - 1)
        closes = 100 * np.cumprod([1.0, *(1 + steps)])
        found[ticker] = dict(zip(days, closes.tolist(), strict=True))
    return found


def cut(closes, last):
    """The same closes, as if the world ended with a date."""
    return {
        ticker: {day: close for day, close in column.items() if day <= last}
        for ticker, column in closes.items()
    }


class World:
    """A memory whose clock is set by hand."""

    def __init__(self, closes, journal=None, **kwargs):
        self.now = self.before_close(max(next(iter(closes.values()))))
        self.closes = closes
        self.journal = journal or RamJournal()
        kwargs.setdefault("prices", FramePrices(closes))
        self.memory = Memory(self.journal, clock=lambda: self.now, **kwargs)

    @staticmethod
    def before_close(day):
        """An hour before the close of a session."""
        return CALENDAR.close(day) - timedelta(hours=1)

    def go(self, when):
        """Set the clock: to an instant, or to an hour before the close of a session."""
        self.now = when if isinstance(when, datetime) else self.before_close(when)
        return self

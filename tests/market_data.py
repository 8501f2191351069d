"""Closes made up for tests."""

from datetime import date, timedelta

from tradmem import FramePrices


def flat_prices(tickers, *, start=date(2025, 6, 2), days=260):
    """Closes of weekdays that rise by a little each day, each ticker from its own level."""
    weekdays = [day for n in range(days * 2) if (day := start + timedelta(days=n)).weekday() < 5]
    return FramePrices(
        {
            ticker: {
                day.isoformat(): round((100 + place) * (1 + 0.001 * n), 4)
                for n, day in enumerate(weekdays[:days])
            }
            for place, ticker in enumerate(tickers)
        }
    )

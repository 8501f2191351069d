"""The closes that travel with the package; SOURCE.md beside them says whence, and their limits."""

import csv
import gzip
from datetime import date
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tradmem.market.frames import FramePrices

TICKERS = ("AAPL", "JNJ", "JPM", "WMT", "XOM")
BENCHMARK = "^GSPC"  # a price index, against closes that are adjusted for dividends
SOURCE = "demo"


@cache
def _closes() -> dict[str, dict[date, float]]:
    """Closes by ticker and date."""
    packed = files("tradmem").joinpath("demo", "closes.csv.gz").read_bytes()
    header, *rows = csv.reader(gzip.decompress(packed).decode().splitlines())
    days = [date.fromisoformat(row[0]) for row in rows]
    return {
        ticker: {day: float(row[place]) for day, row in zip(days, rows, strict=True)}
        for place, ticker in enumerate(header)
        if place
    }


def demo_prices() -> "FramePrices":
    """Real closes of five companies and of the S&P 500, 2020-12-01 to 2022-12-28.

    They are adjusted for splits and dividends; the index is a price index. Outcomes
    name ``demo`` as their source.
    """
    from tradmem.market.frames import FramePrices  # noqa: PLC0415 - loads pandas

    return FramePrices(_closes(), source=SOURCE)


def last_day() -> date:
    """The last session that the closes cover."""
    return max(_closes()[BENCHMARK])


def demo_days(year: int) -> list[date]:
    """The sessions of a year that the closes cover."""
    return [day for day in _closes()[BENCHMARK] if day.year == year]

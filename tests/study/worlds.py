"""Markets to replay, and agents that know nothing, everything, or how to peek."""

import csv
import gzip
from datetime import date
from functools import cache
from pathlib import Path
from random import Random

from tradmem import FramePrices, Rating, Settings
from tradmem.policies import Call

DATA = Path(__file__).parents[1] / "data"
INDEX = "^GSPC"
SETTINGS = Settings(benchmark=INDEX)


@cache
def real_closes():
    """Ten companies and the S&P 500 from 2000 on."""
    with gzip.open(DATA / "us_closes.csv.gz", "rt", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    days = [date.fromisoformat(row[0]) for row in rows]
    return {
        name: {day: float(row[at]) for day, row in zip(days, rows, strict=True)}
        for at, name in enumerate(header)
        if at
    }


def names():
    return [name for name in real_closes() if name != INDEX]


def prices(until=None):
    """The closes, or those of a world that is cut off at a date."""
    closes = real_closes()
    if until:
        closes = {
            name: {day: close for day, close in column.items() if day <= until}
            for name, column in closes.items()
        }
    return FramePrices(closes)


def by_chance(moment):
    """An agent without any skill."""
    rating = Random(moment.seed).choice(list(Rating))
    return Call(rating, f"**Rating**: {rating}\n\nDrawn for {moment.ticker} on {moment.date}.")


def by_memory(moment):
    """An agent whose rating follows from everything that it was shown."""
    wrong = sum(entry.verdict == "wrong" for entry in moment.memories)
    closes = moment.prices.closes(moment.ticker, 20).values
    rising = closes[-1] > closes[0]
    rating = [Rating.HOLD, Rating.BUY, Rating.OVERWEIGHT][rising + (wrong < 3)]
    seen = f"{len(moment.memory)} characters, {wrong} wrong, {closes[-1]}"
    return Call(rating, f"**Rating**: {rating}\n\n{moment.ticker}: {seen}; {moment.track.line('')}")

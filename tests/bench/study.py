"""The cost of a replay, from beginning to end, in time and memory; and a sweep by two workers."""

import random
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from itertools import pairwise
from multiprocessing import get_context

from tradmem import FramePrices, Settings
from tradmem.market.calendars import calendar_of
from tradmem.policies import Call
from tradmem.study import replay, sweep

TICKERS = [f"T{number:02}" for number in range(19)]
INDEX = "^GSPC"
START, END = date(2000, 1, 3), date(2022, 8, 26)  # 5,700 sessions
SHORT = {"start": "2000-01-03", "end": "2001-06-29"}
_RATINGS = ("Buy", "Overweight", "Hold", "Underweight", "Sell")


def walks() -> FramePrices:
    """Closes of every session, the same every time; the names move with the index."""
    chance = random.Random(7)
    days = [day for day in calendar_of("SPY").sessions(START, END) if START <= day <= END]
    market = [chance.gauss(0.0003, 0.01) for _ in days]
    closes: dict[str, dict[date, float]] = {}
    for name in (*TICKERS, INDEX):
        close, series = 100.0, {}
        for day, move in zip(days, market, strict=True):
            close *= 1 + move + (0.0 if name == INDEX else chance.gauss(0, 0.01))
            series[day] = close
        closes[name] = series
    return FramePrices(closes)


def decide(moment):
    """A plain function that looks at closes and at what it was told."""
    closes = moment.prices.closes(moment.ticker, 2).values
    rising = closes[-1] > closes[0]
    wrong = sum(entry.verdict == "wrong" for entry in moment.memories)
    rating = _RATINGS[(0 if rising else 3) + (wrong > 2)]
    return Call(rating, f"**Rating**: {rating}\n\n{moment.ticker} at the close of {moment.date}.")


def measure() -> None:
    """A decision on each of 19 tickers in each of 5,700 sessions."""
    prices = walks()
    marks: list[tuple[int, float]] = [(0, time.process_time())]

    def note(done: int, total: int, _: date) -> None:
        if done * 10 >= total * len(marks):
            marks.append((done, time.process_time()))

    settings = Settings(benchmark=INDEX)
    done = replay(
        decide, TICKERS, prices, START, END, every="day", settings=settings, progress=note
    )
    seconds = marks[-1][1] - marks[0][1]
    tenths = [after[1] - before[1] for before, after in pairwise(marks)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nreplay of {done.decided} decisions, {len(TICKERS)} tickers, template lessons")
    print(f"  decisions a second: {done.decided / seconds:.0f} (at least 5,000)")
    print(f"  the last tenth beside the first: {tenths[-1] / tenths[0]:.2f} x (at most 1.3 x)")
    print(f"  memory of the process: {peak:.0f} MB (at most 1,024)")


def compare_workers() -> None:
    """The same sweep by one process and by two."""
    configurations = {f"seed {seed}": {"decide": decide, "seed": seed} for seed in range(8)}
    shared = {"tickers": TICKERS, "prices": walks(), "settings": Settings(benchmark=INDEX)}
    taken = {}
    for workers in (1, 2):
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
            sweep({"warm": {"decide": decide}, "up": {"decide": decide}}, executor=executor,
                  **shared, start="2000-01-03", end="2000-01-31")  # fmt: skip
            started = time.perf_counter()
            found = sweep(configurations, executor=executor, every="day", **shared, **SHORT)
            taken[workers] = time.perf_counter() - started
        assert not any(swept.failed for swept in found)
    print("\nsweep of 8 replays")
    print(f"  two workers beside one: {taken[1] / taken[2]:.2f} x as fast (at least 1.6 x)")


def main() -> None:
    """Both."""
    measure()
    compare_workers()


if __name__ == "__main__":
    main()

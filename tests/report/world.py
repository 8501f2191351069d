"""Memories to report on: one of plain decisions on invented closes, and one of hostile texts."""

import math
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from tradmem import FramePrices, Memory, Settings
from tradmem.market.calendars import calendar_of

RATINGS = ("Buy", "Overweight", "Hold", "Underweight", "Sell")
TICKERS = ("AAA", "BBB", "CCC", "DDD")
START, END = date(2024, 1, 2), date(2025, 12, 30)

LONG = "Donaudampfschifffahrt" * 60
HOSTILE = {
    "script": "</script><script>window.hacked = 'script'</script>",
    "comment": "<!-- <script> -->\n<!--<script><!-- ]]> --!> </textarea></title></style>",
    "image": '<img src=x onerror="window.hacked = \'image\'"><svg onload="window.hacked = 1">',
    "link": "[go](javascript:window.hacked='link') <a href=\"javascript:window.hacked='a'\">x</a>",
    "separators": "one\u2028two\u2029three\u0085four\x0bfive \u0000 \ufeff end",
    "right to left": "\u202eevil gnp.exe\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d",
    "long": LONG,
    "template": "$data ${title} {{constructor.constructor('window.hacked=1')()}} %s {0} $$",
    "entity": "&lt;b&gt; &amp;quot; &#x3c;script&#x3e; \\u003cscript\\u003e \" ' `",
}
HOSTILE_AGENT = '"><img src=x onerror=window.hacked=1>'


def sessions() -> list[date]:
    return list(calendar_of("SPY").sessions(START, END))


def closes() -> dict[str, dict[date, float]]:
    """Closes that swing, each name in its own rhythm."""
    days = sessions()
    found = {
        name: {
            day: round(
                100 * (place + 1) * math.exp(0.08 * math.sin(n / (7 + 3 * place) + place)), 4
            )
            for n, day in enumerate(days)
        }
        for place, name in enumerate(TICKERS)
    }
    found["SPY"] = {day: round(400 * 1.0003**n, 4) for n, day in enumerate(days)}
    return found


class Clock:
    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def at(day: date) -> datetime:
    return datetime.combine(day, time(15), UTC)


def plain(log: Path, weeks: int = 30, every: int = 5) -> Memory:
    """Decisions every few sessions, by two agents, resolved as they come due."""
    clock = Clock(at(START))
    memory = Memory.open(
        log, prices=FramePrices(closes()), settings=Settings(benchmark="SPY"), clock=clock
    )
    days = [day for day in sessions() if day >= date(2024, 9, 3)][: weeks * every : every]
    for number, day in enumerate(days):
        clock.now = at(day)
        memory.resolve()
        for place, ticker in enumerate(TICKERS):
            rating = RATINGS[(number + 2 * place) % 5]
            memory.record(
                ticker,
                day,
                f"**Rating**: {rating}\n\nThesis {number} on {ticker}.",
                agent="alpha" if place % 2 else "beta",
                recalled=memory.recall(ticker),
            )
    return memory


def hostile(log: Path) -> Memory:
    """Decisions whose texts try to get out of the page, resolved with texts as lessons too."""
    clock = Clock(at(date(2025, 3, 3)))
    memory = Memory.open(
        log, prices=FramePrices(closes()), settings=Settings(benchmark="SPY"), clock=clock
    )
    for number, text in enumerate(HOSTILE.values()):
        day = date(2025, 3, 3) + timedelta(days=number % 5)
        clock.now = at(day)
        memory.record(
            TICKERS[number % 4], day, f"**Rating**: Buy\n\n{text}", agent=f"{HOSTILE_AGENT}{number}"
        )
        memory.note(text, ticker="*")
    clock.now = at(date(2025, 4, 1))
    memory.resolve()
    return memory

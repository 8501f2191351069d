"""What chance would have hit, and what may be said beside it."""

from enum import StrEnum
from typing import NamedTuple

from tradmem.journal.verdicts import ALWAYS_BUY, UNRATED, Counts
from tradmem.lessons.rates import Rate


class Skill(StrEnum):
    """What may be said of a hit rate beside that of chance."""

    BETTER = "better than chance"
    WORSE = "worse than chance"
    UNTOLD = "not told from chance"


class Chance(NamedTuple):
    """The rates that need no skill; None where no outcome tells.

    Attributes:
        hit: of calls with a side, if the same ratings were dealt out at random.
        hold: of Hold, likewise.
        always_buy: had every rating been a Buy.
    """

    hit: float | None
    hold: float | None
    always_buy: float | None


def by_chance(counts: Counts, pool: Counts) -> Chance:
    """What chance would hit at the same frequencies of ratings, in closed form.

    Of the outcomes beyond the band a share u went up, and a share b of the calls with a side
    said so; if neither knows of the other, b u + (1 - b) (1 - u) of them agree.

    Args:
        counts: of the ratings that are dealt out.
        pool: of the outcomes among which they are.
    """
    up, down = (sum(pool.cells[c] for c, v in ALWAYS_BUY.items() if v == way) for way in (1, 0))
    moves, rated = up + down, sum(pool.cells[:UNRATED])
    hold_chance = (rated - moves) / rated if rated else None
    long, short = sum(counts.cells[:3]), sum(counts.cells[6:UNRATED])
    if not moves:
        return Chance(None, hold_chance, None)
    u = up / moves
    if not long + short:
        return Chance(None, hold_chance, u)
    b = long / (long + short)
    return Chance(b * u + (1 - b) * (1 - u), hold_chance, u)


def skill(rate: Rate, chance: float | None) -> Skill | None:
    """What may be said of a rate beside that of chance; None where too little is known."""
    if chance is None or not rate.is_enough or rate.low is None or rate.high is None:
        return None
    if rate.low > chance:
        return Skill.BETTER
    return Skill.WORSE if rate.high < chance else Skill.UNTOLD

"""Worlds in which it is known what each lesson is worth, made by a seeded generator."""

import random
from datetime import date, timedelta

from tests.journal.making import decision, lesson, outcome
from tradmem import Rating
from tradmem.clock import last_instant
from tradmem.lessons.holdout import Holdout
from tradmem.model import fold

MONDAY = date(2024, 1, 1)


def memory(number, *tags, day=MONDAY - timedelta(days=20), ticker="NVDA", text=""):
    """A resolved entry whose lesson says something of its own."""
    made = decision("Buy.", day=day, ticker=ticker, agent=f"m{number}")
    told = outcome(last_instant(day + timedelta(days=7)))
    said = lesson(text or f"Lesson {'abcdefghijklmnopqrstuvwxyz'[number % 26]}.", tags=list(tags))
    return fold(made, [told, said])


def world(seed, tags, *, days=400, effects=None, share=0.3, regime=None):
    """Decisions on two tickers a day, each with a memory per tag before it.

    Args:
        seed: of the scores and the salt.
        tags: one memory of each is recalled for every decision.
        days: of decisions.
        effects: what seeing a tag adds to a score.
        share: withheld.
        regime: what a day adds to each score, by its number; and only on days where it is
            above 0 is the last tag's memory recalled.
    """
    rng = random.Random(seed)
    memories = [memory(number, tag) for number, tag in enumerate(tags)]
    decisions = []
    for number in range(days):
        day = MONDAY + timedelta(days=number)
        moved, extra = rng.gauss(0, 0.02), regime(number) if regime else 0.0
        for ticker in ("NVDA", "AAPL"):
            lots = Holdout(share=share, ticker=ticker, date=day, salt=str(seed))
            found = memories[: len(memories) - (regime is not None and extra <= 0)]
            kept = [m for m in found if not lots.withholds(m)]
            worth = sum((effects or {}).get(m.tags[0], 0.0) for m in kept)
            score = moved + extra + worth + rng.gauss(0, 0.02)
            decisions.append(saw(kept, found, score, day=day, ticker=ticker, share=share))
    return memories + decisions


def saw(kept, found, alpha, *, day, ticker="NVDA", share=0.3, **more):
    """A settled Buy that was shown some of the memories that were found."""
    made = decision(
        "Buy.",
        day=day,
        ticker=ticker,
        rating=Rating.BUY,
        recalled=tuple(m.id for m in kept),
        withheld=tuple(m.id for m in found if m not in kept),
        holdout=share,
        **more,
    )
    dates = {"entry_date": day, "exit_date": day + timedelta(days=7)}
    return fold(made, [outcome(last_instant(day + timedelta(days=7)), alpha=alpha, **dates)])

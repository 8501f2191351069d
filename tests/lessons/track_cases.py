"""Decisions with outcomes, made by hand or drawn at random, for the track record."""

from datetime import UTC, date, datetime, time, timedelta

from hypothesis import strategies as st

from tradmem import Addition, Decision, Outcome, RamJournal, Rating
from tradmem.journal.block import fold_now
from tradmem.model import entry_id

MONDAY = date(2026, 1, 5)
FAR = datetime(2040, 1, 1, tzinfo=UTC)
BAND = 0.01
UP, FLAT, DOWN = 0.04, 0.001, -0.04


def noon(day):
    return datetime.combine(day, time(12), UTC)


def decided(day=MONDAY, ticker="NVDA", rating=Rating.BUY, *, agent="", horizon=5, **more):
    """A decision at noon of its date."""
    known = {"decided_at": noon(day), "recorded_at": noon(day)} | more
    return Decision(
        id=entry_id(day, ticker, agent, known.get("revision", 0)),
        date=day,
        ticker=ticker,
        text=f"**Rating**: {rating}",
        rating=rating,
        agent=agent,
        horizon=horizon,
        **known,
    )


def happened(day, alpha=UP, *, horizon=5, span=7, raw=None, flags=(), known_at=None, **more):
    """An outcome of a decision of this date, known on the evening of its exit."""
    leave = day + timedelta(days=span)
    known_at = known_at or noon(leave) + timedelta(hours=11)
    outcome = Outcome(
        horizon=horizon,
        sessions=horizon,
        raw_return=(alpha or 0.0) + 0.01 if raw is None else raw,
        alpha=alpha,
        known_at=known_at,
        entry_date=day,
        exit_date=leave,
        band=BAND,
        flags=tuple(flags),
        **more,
    )
    return Addition(kind="outcome", at=known_at, outcome=outcome)


def settled(day=MONDAY, ticker="NVDA", rating=Rating.BUY, alpha=UP, *, decision=None, **more):
    """An entry with one outcome."""
    recorded = decided(day, ticker, rating, **(decision or {}))
    return fold_now(recorded, (happened(day, alpha, horizon=recorded.horizon or 5, **more),))


def pending(day=MONDAY, ticker="NVDA", rating=Rating.BUY, **more):
    return fold_now(decided(day, ticker, rating, **more), ())


def journal_of(entries, journal=None):
    """A journal, in memory by default, with these entries."""
    journal = journal or RamJournal()
    for entry in entries:
        journal.append(entry.recorded)
        journal.add([(entry.id, addition) for addition in entry.additions])
    return journal


@st.composite
def records(draw, most=60):
    """Entries on several tickers and days, some of them unrated, stopped, or without an alpha."""
    keys = st.tuples(st.integers(0, 250), st.sampled_from(["AAPL", "NVDA", "BTC-USD"]))
    entries = []
    for number, ticker in draw(st.lists(keys, unique=True, max_size=most)):
        day = MONDAY + timedelta(days=number)
        rating = draw(st.sampled_from([*Rating, None]))
        alpha = draw(st.sampled_from([UP, FLAT, DOWN]) | st.floats(-0.1, 0.1) | st.none())
        entries.append(
            settled(
                day,
                ticker,
                rating,
                alpha,
                span=draw(st.sampled_from([7, 7, 7, 8, 11])),
                raw=draw(st.floats(-0.1, 0.1)),
                flags=draw(st.sampled_from([(), (), ("stopped",)])),
                decision={
                    "agent": draw(st.sampled_from(["", "desk"])),
                    "flags": draw(st.sampled_from([(), ("date_only",), ("late",)])),
                },
            )
            if draw(st.integers(0, 9))
            else pending(day, ticker, rating)
        )
    return entries

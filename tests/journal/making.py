"""Decisions, additions and entries of every kind, made by hand or drawn by hypothesis."""

import json
import string
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from hypothesis import strategies as st

from tradmem import Addition, Decision, Outcome, Rating
from tradmem.model import entry_id, note_id

DATA = Path(__file__).parents[1] / "data"
TEXTS = json.loads((DATA / "texts.json").read_text(encoding="utf-8"))
DAY = date(2026, 1, 5)
DECIDED = datetime(2026, 1, 5, 15, 4, 5, tzinfo=UTC)
KNOWN = datetime(2026, 1, 12, 23, tzinfo=UTC)

# Everything that str.splitlines takes for the end of a line.
SEPARATORS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
PIECES = [
    *("DECISION:", "REFLECTION:", "NOTE:", "<!-- ENTRY_END -->", "<!-- tradmem: {} -->", "\\"),
    *("[2026-01-05 | NVDA | Buy | pending]", "<<<<<<< HEAD", ">>>>>>> x", "=======", "-->", "--"),
    *("\n", "\r\n", "\n\n", " ", "\t", "\x00", "\ufeff", "\ud800", "words", *SEPARATORS),
    '<!-- tradmem: {"torn":true} -->',
]
texts = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
instants = st.integers(1_600_000_000, 1_900_000_000).map(lambda s: datetime.fromtimestamp(s, UTC))
days = st.dates(date(2020, 1, 1), date(2030, 1, 1))
numbers = st.floats(-0.9, 9, allow_nan=False)
words = st.text(string.ascii_lowercase + "-_ ", max_size=12)


def decision(text="Rating: Buy", *, day=DAY, ticker="NVDA", rating=Rating.BUY, **more):
    known = {"decided_at": DECIDED + (day - DAY), "recorded_at": DECIDED + (day - DAY)}
    name = entry_id(day, ticker, more.get("agent", ""), more.get("revision", 0))
    return Decision(id=name, date=day, ticker=ticker, text=text, rating=rating, **(known | more))


def note(text="Guides low.", *, day=DAY, ticker="NVDA", at=DECIDED):
    name = note_id(day, ticker, text)
    return Decision(id=name, date=day, ticker=ticker, text=text, is_note=True, recorded_at=at)


def outcome(known=KNOWN, *, raw=0.06, alpha=0.045, horizon=5, at=None, **more):
    values = {"benchmark": "SPY", "band": 0.01, "source": "test"} | more
    return Addition(
        kind="outcome",
        at=at or known + timedelta(hours=1),
        outcome=Outcome(
            horizon=horizon,
            sessions=horizon,
            raw_return=raw,
            alpha=alpha,
            known_at=known,
            **values,
        ),
    )


def lesson(text="It was right. Do it again.", *, at=KNOWN + timedelta(hours=2), **data):
    return Addition(kind="reflection", at=at, text=text, data={"model": "template"} | data)


def forgetting(at=KNOWN + timedelta(days=1), reason="wrong ticker"):
    return Addition(kind="forget", at=at, data={"reason": reason})


@st.composite
def lots(draw):
    """What a hold-out withheld, where there was one."""
    if draw(st.booleans()):
        return {}
    names = draw(st.lists(st.sampled_from(["b" * 12, "c" * 12]), max_size=2))
    return {"withheld": tuple(names), "holdout": draw(st.sampled_from([0.1, 0.5]))}


@st.composite
def decisions(draw):
    day, ticker = draw(days), draw(st.sampled_from(["NVDA", "BRK.B", "^N225", "ETH-USD"]))
    agent = draw(st.sampled_from(["", "desk one"]))
    revision = draw(st.integers(0, 2))
    return Decision(
        id=entry_id(day, ticker, agent, revision),
        date=day,
        ticker=ticker,
        text=draw(texts),
        rating=draw(st.sampled_from([*Rating, None])),
        agent=agent,
        revision=revision,
        decided_at=draw(instants | st.none()),
        recorded_at=draw(instants | st.none()),
        horizon=draw(st.none() | st.integers(1, 60)),
        recalled=tuple(draw(st.lists(st.sampled_from(["91aa03c2d7f0", "0" * 12]), max_size=2))),
        recalled_as_of=draw(instants | st.none()),
        **draw(lots()),
        flags=tuple(draw(st.lists(st.sampled_from(["late", "date_only"]), max_size=2))),
        extra=draw(st.dictionaries(st.sampled_from(["cutoff", "prompt"]), words, max_size=2)),
    )


@st.composite
def additions(draw):
    """One stamped addition with a text of any kind."""
    at = draw(instants)
    kind = draw(st.sampled_from(["outcome", "reflection", "unresolvable", "forget", "later"]))
    if kind == "outcome":
        return Addition(
            kind=kind,
            at=at,
            outcome=Outcome(
                horizon=draw(st.sampled_from([1, 5, 20])),
                sessions=draw(st.integers(1, 30)),
                raw_return=draw(numbers),
                alpha=draw(numbers | st.none()),
                known_at=draw(instants),
                entry_date=draw(days | st.none()),
                entry_price=draw(st.floats(0.01, 1e6) | st.none()),
                benchmark=draw(st.sampled_from([None, "SPY"])),
                sigma=draw(st.floats(0.0001, 0.5) | st.none()),
                band=draw(st.floats(0.001, 0.5) | st.none()),
                flags=tuple(draw(st.lists(st.sampled_from(["stopped", "currency"]), max_size=2))),
            ),
        )
    if kind == "reflection":
        text = draw(texts.filter(lambda text: text.strip()))
        return Addition(kind=kind, at=at, text=text, data={"model": draw(words)})
    return Addition(kind=kind, at=at, data={"reason": draw(texts)})

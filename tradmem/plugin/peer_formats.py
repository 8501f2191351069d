"""What TradingAgents' decision log says of an entry, in its formats, and what it adds to one."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from math import isfinite
from operator import index
from typing import Any

from tradmem.errors import UsageError
from tradmem.journal.tagline import NO_ALPHA, UNRATED, percent
from tradmem.journal.text import escape
from tradmem.lessons.recall import Recall
from tradmem.model import Act, Addition, Entry, Outcome, Status

_SOURCE = "TradingAgents"
_CUT = 300  # characters of a decision that stands for a lesson


def as_dict(entry: Entry) -> dict[str, Any]:
    """A decision as its ``load_entries`` gives it."""
    outcome = entry.outcome
    return {
        "date": entry.date.isoformat(),
        "ticker": entry.ticker,
        "rating": str(entry.rating or UNRATED),
        "pending": entry.status is Status.PENDING,
        "raw": percent(outcome.raw_return) if outcome else None,
        "alpha": percent(outcome.alpha) if outcome else None,
        "holding": f"{outcome.sessions}d" if outcome else None,
        "decision": entry.decision.strip(),
        "reflection": entry.reflection.strip(),
    }


def paragraphs(found: Recall) -> Iterator[str]:
    """What was recalled under its headings; no text can pass for another entry."""
    same = [entry for entry in found.memories if entry.ticker == found.ticker]
    others = [entry for entry in found.memories if entry.ticker != found.ticker]
    if same:
        yield f"Past analyses of {found.ticker} (most recent first):"
        yield from map(_in_full, same)
    if others:
        yield "Recent cross-ticker lessons:"
        yield from map(_lesson_only, others)


def _in_full(entry: Entry) -> str:
    if entry.recorded.is_note:
        return f"{_tag(entry)}\n\nNOTE:\n{escape(entry.note.strip())}"
    parts = [_tag(entry), f"DECISION:\n{escape(entry.decision.strip())}"]
    if entry.reflection:
        parts.append(f"REFLECTION:\n{escape(entry.reflection.strip())}")
    return "\n\n".join(parts)


def _lesson_only(entry: Entry) -> str:
    text = entry.reflection or entry.note or entry.decision
    shown = text.strip() if entry.reflection or len(text) <= _CUT else f"{text[:_CUT]}..."
    return f"{_tag(entry, short=True)}\n{escape(shown)}"


def _tag(entry: Entry, *, short: bool = False) -> str:
    head = f"{entry.date} | {entry.ticker}"
    if entry.recorded.is_note:
        return f"[{head} | Note]"
    told = as_dict(entry)
    figures = [told["raw"]] if short else [told["raw"], told["alpha"], told["holding"]]
    return f"[{head} | {told['rating']} | {' | '.join(f or NO_ALPHA for f in figures)}]"


def additions_of(update: Mapping[str, Any], entry: Entry, now: datetime) -> Iterator[Addition]:
    """The outcome and the lesson of an update; both are known from now on.

    Raises:
        UsageError: a figure is no number, or the lesson no text.
    """
    try:
        sessions = index(update["holding_days"])
    except TypeError as error:
        held = update["holding_days"]
        raise UsageError(f"holding_days is {held!r}; it is a number of sessions") from error
    raw, alpha = _figure("raw_return", update), _figure("alpha_return", update)
    if raw is None:
        raise UsageError("raw_return is None; an outcome has one")
    reflection = update.get("reflection") or ""
    if not isinstance(reflection, str):
        raise UsageError(f"reflection is {reflection!r:.60}; it is a text")
    outcome = Outcome(
        horizon=entry.recorded.horizon or sessions,
        sessions=sessions,
        raw_return=raw,
        alpha=alpha,
        known_at=now,
        source=_SOURCE,
    )
    yield Addition(kind=Act.OUTCOME, at=now, known_at=now, outcome=outcome)
    if reflection.strip():
        yield Addition(kind=Act.REFLECTION, at=now, text=reflection, data={"model": _SOURCE})


def _figure(name: str, update: Mapping[str, Any]) -> float | None:
    value = update.get(name)
    if value is None:
        return None
    try:
        figure = float(value)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} is {value!r}; it is a fraction such as 0.042") from error
    if not isfinite(figure):
        raise UsageError(f"{name} is {value!r}; it is a fraction such as 0.042")
    return figure

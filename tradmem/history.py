"""Everything that ever happened to an entry: what was added to it, and what saw or replaced it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from tradmem.clock import parse_instant
from tradmem.errors import UsageError
from tradmem.journal.tagline import UNRATED, percent
from tradmem.model import Act, Addition, Entry, in_force

BY_HAND = "by hand"
_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to an entry.

    Attributes:
        at: when, aware UTC, by the clock that stamped it; None where nobody did.
        kind: ``recorded``; the kind of an addition (see :class:`~tradmem.model.Act`);
            ``expired`` (an expiry has come), ``recalled``, ``withheld``, ``cited``, ``linked``,
            ``superseding``, ``revised``; ``edited`` and ``archived``.
        who: an actor, an agent, a model or a price source; ``by hand`` for what a person
            typed into the file; empty where nobody said.
        text: figures, the lesson, the reason, or the other entry.
        known_at: when it counts as known, aware UTC, where that is not ``at``.
        undone: whether a later act took it back.
    """

    at: datetime | None
    kind: str
    who: str = ""
    text: str = ""
    known_at: datetime | None = None
    undone: bool = False


def history_at(entry: Entry, others: Iterable[Entry], instant: datetime) -> tuple[Event, ...]:
    """What had happened to an entry by an instant, from what was known then alone.

    What no clock was there for (an edit of the tag, the move to the archive) is left out.

    Returns:
        The events in order; none if the entry was not there yet.
    """
    then = entry.at(instant)
    if then is None:
        return ()
    seen = (before for other in others if (before := other.at(instant)))
    found = history(then, seen, instant)
    return tuple(event for event in found if event.kind not in _UNDATED)


def history(entry: Entry, others: Iterable[Entry], now: datetime) -> tuple[Event, ...]:
    """What happened to an entry, in order; what nobody stamped follows what it came after.

    Args:
        entry: whose history.
        others: everything in the log and its archives, by date.
        now: an expiry that is still to come has not happened.
    """
    events = [*own_events(entry), *_expiry(entry, now)]
    events += [event for other in others if other.id != entry.id for event in _met(entry, other)]
    events += _since(entry)
    when: list[datetime] = []
    last = recorded_at(entry)
    for event in events:
        last = _NEVER if event.kind in _UNDATED else event.at or last
        when.append(last)
    order = sorted(range(len(events)), key=lambda number: when[number])
    return tuple(events[number] for number in order)


def recorded_at(entry: Entry) -> datetime:
    """When a decision or a note was stored, as far as its ledger tells."""
    return entry.recorded.recorded_at or entry.recorded.known_at


def own_events(entry: Entry) -> Iterator[Event]:
    """The recording, and what was added since, in the order of the log."""
    recorded = entry.recorded
    stamp = recorded.recorded_at or recorded.decided_at
    yield Event(
        at=stamp,
        kind="recorded",
        who=recorded.agent or str(recorded.extra.get("actor", "")),
        text=str(recorded.extra.get("reason", "")) if recorded.is_note else called(entry),
        known_at=recorded.known_at if recorded.known_at != stamp else None,
    )
    standing = {id(addition) for addition in in_force(entry.additions)}
    for addition in entry.additions:
        known_at = addition.outcome.known_at if addition.outcome else addition.known_at
        yield Event(
            at=addition.at,
            kind=addition.kind,
            who=who_did(addition),
            text=told_of(addition),
            known_at=known_at if known_at != addition.at else None,
            undone=id(addition) not in standing,
        )


def called(entry: Entry) -> str:
    """The rating as the tag has it; ``Note`` for a note."""
    return "Note" if entry.recorded.is_note else str(entry.rating or UNRATED)


def named(entry: Entry) -> str:
    """An entry on one line: ``2026-01-05 NVDA Buy (1f0c7e9a42b5)``."""
    return f"{entry.date} {entry.ticker} {called(entry)} ({entry.id})"


def who_did(addition: Addition) -> str:
    """The actor, model or price source behind an addition, as far as the ledger tells."""
    data = addition.data
    source = addition.outcome.source if addition.outcome else ""
    told = str(data.get("actor") or data.get("model") or source)
    return told or ("" if addition.at else BY_HAND)


def told_of(addition: Addition) -> str:
    """What an addition says, and the reason that it gives."""
    data, reason = addition.data, str(addition.data.get("reason", ""))
    if outcome := addition.outcome:
        held = f"{percent(outcome.raw_return)} in {outcome.sessions} sessions"
        flags = f" ({', '.join(outcome.flags)})" if outcome.flags else ""
        return f"{held}, alpha {percent(outcome.alpha)}{flags}"
    match addition.kind:
        case Act.EXPIRE:
            subject = f"valid until {_minute(data.get('valid_until'))}"
        case Act.SUPERSEDE:
            subject = f"by {data.get('by')}"
        case Act.UNDO:
            subject = f"the {data.get('undoes')} of {_minute(data.get('undoes_at'))}"
        case _:
            subject = addition.text
    return ": ".join(part for part in (subject, reason) if part)


def _minute(text: object) -> str:
    """An instant of a ledger for people; as it stands there if it is none."""
    try:
        return f"{parse_instant(str(text)):%Y-%m-%d %H:%M} UTC"
    except UsageError:
        return str(text)


def _expiry(entry: Entry, now: datetime) -> Iterator[Event]:
    """The moment from which on it is hidden, which is later than the act if that came late."""
    acts = [act.at for act in in_force(entry.additions) if act.kind == Act.EXPIRE and act.at]
    end = entry.valid_until
    if end is not None and end <= now:
        yield Event(at=max([end, *acts[-1:]]), kind="expired")


_UNDATED = ("edited", "archived")


def _since(entry: Entry) -> Iterator[Event]:
    """What is plain to see, although no clock was there when it happened."""
    if entry.edited:
        yield Event(at=None, kind="edited", who=BY_HAND, text=", ".join(entry.edited))
    if entry.archived:
        yield Event(at=None, kind="archived", text="it stands in the archive")


def _met(entry: Entry, other: Entry) -> Iterator[Event]:
    """What another entry had to do with it."""
    name, recorded = entry.id, other.recorded
    stamp = recorded.recorded_at or recorded.known_at
    if name in recorded.recalled:
        seen_at = recorded.recalled_as_of
        known_at = seen_at if seen_at != stamp else None
        text = f"for {named(other)}"
        yield Event(at=stamp, kind="recalled", who=other.agent, text=text, known_at=known_at)
    if name in recorded.withheld:
        yield Event(at=stamp, kind="withheld", who=other.agent, text=f"from {named(other)}")
    if name in recorded.cited:
        yield Event(at=stamp, kind="cited", who=other.agent, text=f"by {named(other)}")
    if recorded.is_note and name in other.links:
        yield Event(at=stamp, kind="linked", who=_actor(other), text=f"by {named(other)}")
    if _revises(other, entry):
        yield Event(at=stamp, kind="revised", who=other.agent, text=f"as {named(other)}")
    for act in other.additions:
        if act.kind == Act.SUPERSEDE and act.data.get("by") == name:
            yield Event(at=act.at, kind="superseding", who=who_did(act), text=named(other))
        elif act.kind == Act.REFLECTION and name in act.data.get("links", ()):
            text = f"by the lesson of {named(other)}"
            yield Event(at=act.at, kind="linked", who=who_did(act), text=text)


def _revises(newer: Entry, older: Entry) -> bool:
    is_note = newer.recorded.is_note or older.recorded.is_note
    same = newer.recorded.key[:3] == older.recorded.key[:3]
    return same and not is_note and newer.revision > older.revision


def _actor(entry: Entry) -> str:
    return str(entry.recorded.extra.get("actor", ""))

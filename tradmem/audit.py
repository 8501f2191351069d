"""Proof from the log alone that no decision saw what was not known yet.

Every decision names the memories that it saw and the instant of that recall; every outcome,
lesson, note and act names the instant at which it was known. The audit compares them, and
looks for stamps that cannot be true. It trusts the log's instants and the calendars of
exchanges, and nothing else. A decision replayed with ``same_close`` says itself that it saw the
close at which it enters; that is marked, and no finding.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from tradmem.clock import format_instant
from tradmem.finality import Closes
from tradmem.governance import why_hidden
from tradmem.history import named, recorded_at
from tradmem.lessons.consolidate import is_consolidation
from tradmem.model import GOVERNING, Act, Addition, Entry, Outcome, fold, known

_ALWAYS = datetime.min.replace(tzinfo=UTC)


class Leak(StrEnum):
    """What can be wrong with what an entry saw, or with its stamps."""

    UNKNOWN = "unknown id"
    NOT_KNOWN = "not known yet"
    NOT_STORED = "not stored yet"
    HIDDEN = "hidden by then"
    LATE_RECALL = "recall after the decision"
    EARLY_RECORD = "recorded before the decision"
    EARLY_OUTCOME = "outcome known before its closes"
    EARLY_ENTRY = "entered before the decision"
    EARLY_LESSON = "lesson before its outcome"
    EARLY_STAMP = "stamped before it was known"
    BACKDATED = "act known before its stamp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that an audit found.

    Attributes:
        entry: whose recall, outcome, lesson or act it is.
        leak: what is wrong, in a fixed word or two.
        message: the same with its instants, one line without a full stop.
        other: the id of the memory that was seen, where it is about one.
    """

    entry: Entry
    leak: Leak
    message: str
    other: str = ""

    def __str__(self) -> str:
        return f"{named(self.entry)}: {self.leak}: {self.message}"


def audit(
    entries: Iterable[Entry], aliases: Mapping[str, str] | None = None
) -> tuple[Finding, ...]:
    """Whatever shows that something was seen before it was known, by date and file order.

    Args:
        entries: everything in the log and its archives, folded without an ``as_of``; of
            several with the same id the first is taken for what was seen.
        aliases: names under which a price source knows a ticker, by ticker.
    """
    everything, closes = list(entries), Closes(aliases)
    by_id = {entry.id: entry for entry in reversed(everything)}
    return tuple(finding for entry in everything for finding in _of(entry, by_id, closes))


def _of(entry: Entry, by_id: Mapping[str, Entry], closes: Closes) -> Iterator[Finding]:
    yield from _recording(entry)
    yield from _sight(entry, by_id)
    yield from _outcomes(entry, closes)
    yield from _lessons(entry, by_id)
    yield from _acts(entry, by_id)


def _recording(entry: Entry) -> Iterator[Finding]:
    """The stamps of the decision itself."""
    recorded = entry.recorded
    decided_at, seen_at = recorded.decided_at, recorded.recalled_as_of
    if decided_at and recorded.recorded_at and recorded.recorded_at < decided_at:
        message = f"stored {_at(recorded.recorded_at)}, decided {_at(decided_at)}"
        yield Finding(entry=entry, leak=Leak.EARLY_RECORD, message=message)
    if seen_at and seen_at > recorded.known_at:
        message = f"recalled {_at(seen_at)}, decided {_at(recorded.known_at)}"
        yield Finding(entry=entry, leak=Leak.LATE_RECALL, message=message)


def _sight(entry: Entry, by_id: Mapping[str, Entry]) -> Iterator[Finding]:
    """What the decision saw and named, each as it stood at the instant of the recall."""
    recorded = entry.recorded
    seen_at = min(recorded.recalled_as_of or recorded.known_at, recorded.known_at)
    for name in recorded.recalled:
        yield from _memory(entry, by_id.get(name), name, seen_at, recorded.recorded_at)
        if seen := by_id.get(name):
            yield from _hidden(entry, seen, seen_at)
            yield from _untaught(entry, seen, recorded.recorded_at)
    for name in recorded.cited:
        if name not in recorded.recalled:
            at, stored = recorded.known_at, recorded.recorded_at
            yield from _memory(entry, by_id.get(name), name, at, stored)
    if is_consolidation(entry):
        for name in entry.links:
            yield from _memory(entry, by_id.get(name), name, recorded_at(entry), None)


def _memory(
    entry: Entry, seen: Entry | None, name: str, at: datetime, stored_at: datetime | None
) -> Iterator[Finding]:
    """Whether a memory taught something by an instant, and stood in the log by another."""
    if seen is None:
        message = f"{name} stands neither in the log nor in an archive"
        yield Finding(entry=entry, leak=Leak.UNKNOWN, message=message, other=name)
        return
    taught = list(_taught(seen))
    first = min((known_at for known_at, _ in taught), default=None)
    if first is None or first > at:
        since = f"known {_at(first)}" if first else "which has taught nothing yet"
        message = f"saw {named(seen)} at {_at(at)}, {since}"
        yield Finding(entry=entry, leak=Leak.NOT_KNOWN, message=message, other=name)
        return
    first_stored = min(stored for known_at, stored in taught if known_at <= at)
    if stored_at and first_stored > stored_at:
        message = f"saw {named(seen)}, stored {_at(first_stored)}, itself stored {_at(stored_at)}"
        yield Finding(entry=entry, leak=Leak.NOT_STORED, message=message, other=name)


def _hidden(entry: Entry, seen: Entry, at: datetime) -> Iterator[Finding]:
    """Whether a memory was seen while recall had to leave it out.

    Of the acts of that very instant any number may have come a moment after the recall.
    """
    acts = seen.additions
    now = [number for number, act in enumerate(acts) if act.kind in GOVERNING and act.at == at]
    why = ""
    for kept in range(len(now), -1, -1):
        late = now[kept:]
        so_far = [act for number, act in enumerate(acts) if number not in late]
        then = fold(seen.recorded, so_far, as_of=at)
        if then is None or not then.hidden:
            return
        why = why or why_hidden(then)
    message = f"saw {named(seen)} at {_at(at)}: {why}"
    yield Finding(entry=entry, leak=Leak.HIDDEN, message=message, other=seen.id)


def _untaught(entry: Entry, seen: Entry, stored_at: datetime | None) -> Iterator[Finding]:
    """Whether another ticker's entry was seen before it had the lesson that is shown of it."""
    if seen.ticker == entry.ticker or stored_at is None:
        return
    written = [a.at or _ALWAYS for a in seen.additions if a.kind == Act.REFLECTION]
    if written and min(written) > stored_at:
        message = f"saw {named(seen)}, its lesson stored {_at(min(written))}"
        message += f", itself stored {_at(stored_at)}"
        yield Finding(entry=entry, leak=Leak.NOT_STORED, message=message, other=seen.id)


def _taught(entry: Entry) -> Iterator[tuple[datetime, datetime]]:
    """When a memory came to teach something: as known, and as stored, for each of its outcomes.

    That a person asked for another outcome since takes nothing back from who saw the first.
    """
    recorded = entry.recorded
    if recorded.is_note:
        yield recorded.known_at, recorded.recorded_at or _ALWAYS
        return
    primary = recorded.horizon
    for addition in entry.additions:
        if outcome := addition.outcome:
            primary = primary or outcome.horizon
            if outcome.horizon == primary:
                yield max(outcome.known_at, recorded.known_at), addition.at or _ALWAYS


def _outcomes(entry: Entry, closes: Closes) -> Iterator[Finding]:
    """Whether each outcome could be known when it says, and began after the decision."""
    decided_at = entry.recorded.decided_at
    for addition in entry.additions:
        outcome = addition.outcome
        if outcome is None:
            continue
        since, awaited = closes.earliest(entry, outcome)
        if outcome.known_at < since:
            message = f"known {_at(outcome.known_at)}, {awaited} {_at(since)}"
            yield Finding(entry=entry, leak=Leak.EARLY_OUTCOME, message=message)
        if closes.is_before(entry, outcome):
            decided = _at(decided_at) if decided_at else str(entry.date)
            message = f"decided {decided}, entered at the close of {outcome.entry_date}"
            yield Finding(entry=entry, leak=Leak.EARLY_ENTRY, message=message)


def _lessons(entry: Entry, by_id: Mapping[str, Entry]) -> Iterator[Finding]:
    """Whether each lesson followed its outcome, and built on what was known with it."""
    outcome_of: tuple[Addition, Outcome] | None = None
    primary = entry.recorded.horizon
    for when, addition in known(entry.additions, entry.recorded):
        if addition.outcome:
            primary = primary or addition.outcome.horizon
            if addition.outcome.horizon == primary:
                outcome_of = (addition, addition.outcome)
        elif addition.kind == Act.REFLECTION and addition.at:
            if outcome_of is None:
                message = f"written {_at(addition.at)}, and there is no outcome before it"
                yield Finding(entry=entry, leak=Leak.EARLY_LESSON, message=message)
                continue
            source, outcome = outcome_of
            since = max(outcome.known_at, source.at or outcome.known_at)
            if addition.at < since:
                message = f"written {_at(addition.at)}, its outcome is of {_at(since)}"
                yield Finding(entry=entry, leak=Leak.EARLY_LESSON, message=message)
            for name in addition.data.get("links", ()):
                yield from _memory(entry, by_id.get(name), name, when or addition.at, addition.at)


def _acts(entry: Entry, by_id: Mapping[str, Entry]) -> Iterator[Finding]:
    """Whether each addition was stamped when it was known, and what replaces was there."""
    for addition in entry.additions:
        at = addition.at
        known_at = addition.outcome.known_at if addition.outcome else addition.known_at
        if at is None:
            continue
        if addition.kind in GOVERNING and known_at and known_at < at:
            message = f"{addition.kind} stamped {_at(at)} claims {_at(known_at)}"
            yield Finding(entry=entry, leak=Leak.BACKDATED, message=message)
        elif known_at and known_at > at:
            message = f"{addition.kind} stamped {_at(at)}, known only {_at(known_at)}"
            yield Finding(entry=entry, leak=Leak.EARLY_STAMP, message=message)
        if addition.kind == Act.SUPERSEDE:
            name = str(addition.data.get("by", ""))
            new = by_id.get(name)
            if new is None:
                message = f"superseded by {name}, which stands neither in the log nor in an archive"
                yield Finding(entry=entry, leak=Leak.UNKNOWN, message=message, other=name)
            elif new.recorded.known_at > at:
                message = f"superseded {_at(at)} by {named(new)}, made {_at(new.recorded.known_at)}"
                yield Finding(entry=entry, leak=Leak.NOT_KNOWN, message=message, other=name)


def _at(instant: datetime) -> str:
    return format_instant(instant)

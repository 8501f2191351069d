"""Whole entries into a journal: under their own ids, each once, nothing taken twice."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

from tradmem.clock import last_instant
from tradmem.errors import ConflictError
from tradmem.exchange.whole import Whole, whole_of
from tradmem.journal.base import Journal, OnConflict, Stored
from tradmem.journal.tagline import percent
from tradmem.journal.text import clean
from tradmem.model import Act, Addition, Decision, Entry, Outcome

# What happens once, or once a horizon: the second of a kind there is the second of a kind here.
_COUNTED = frozenset({Act.OUTCOME, Act.REFLECTION, Act.UNRESOLVABLE, Act.REOPEN})
_ATTEMPTED = 500  # additions in one write


@runtime_checkable
class Archiving(Protocol):
    """A journal in which an entry is archived by a mark; a file archives by itself."""

    def mark_archived(self, ids: Sequence[str]) -> None:
        """Let some entries be archived."""
        ...


class Fate(StrEnum):
    """What became of an entry that was to be taken."""

    TAKEN = "taken"
    COMPLETED = "completed"  # it stood; something that was added to it elsewhere was not here
    UNCHANGED = "unchanged"
    KEPT_OUT = "kept out"  # another one stands in its place
    REFUSED = "refused"  # it can be none


_HERE = (Fate.TAKEN, Fate.COMPLETED, Fate.UNCHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of one entry.

    Attributes:
        fate: in a word.
        id: of the entry, where there is one.
        what: its date and ticker, or what stood there instead.
        added: the kinds of the additions that came with it.
        reason: why it was kept out or refused.
        where: the file and line that it comes from.
    """

    fate: Fate
    id: str = ""
    what: str = ""
    added: tuple[str, ...] = ()
    reason: str = ""
    where: str = ""


def copy(source: Journal, target: Journal, *, dry_run: bool = False) -> list[Taken]:
    """Bring every entry of a journal into another one, with its id and all that was added.

    What the target has already is left as it is; copying again does nothing. Entries come
    in the order in which they were recorded, so that a log that was copied elsewhere and
    back is the same to the byte, as far as nobody edited it by hand.

    Args:
        source: is only read.
        target: into which.
        dry_run: only say what would be done.

    Raises:
        LogBusy: somebody resolves the target.
        LogError: it could not be stored; what was stored before stays, and another copy
            goes on from there.
    """
    return take(target, in_order(recorded(source)), dry_run=dry_run)


def recorded(source: Journal) -> Iterable[Entry]:
    """All entries, in the order in which they were stored as far as the journal knows it."""
    in_sequence: Callable[[], Iterator[Entry]] | None = getattr(source, "in_sequence", None)
    if in_sequence is None:
        return sorted(source.entries(), key=recorded_at)
    return in_sequence()


def in_order(entries: Iterable[Entry]) -> Iterator[Whole]:
    """Whole entries in the order in which they were recorded, a repeated one once."""
    seen: set[str] = set()
    for entry in entries:
        if entry.id not in seen:
            seen.add(entry.id)
            yield whole_of(entry)


def recorded_at(entry: Entry) -> datetime:
    """When an entry was recorded; its date's end where nobody stamped it."""
    recorded = entry.recorded
    if recorded.recorded_at:
        return recorded.recorded_at
    try:
        return last_instant(recorded.date)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def take(target: Journal, wholes: Iterable[Whole], *, dry_run: bool = False) -> list[Taken]:
    """Bring whole entries into a journal, in their order.

    Nothing that stands changes: of an entry that is here already only additions are taken
    that are missing; a decision that stands otherwise is kept out.

    Args:
        target: into which.
        wholes: see :mod:`tradmem.exchange.whole`.
        dry_run: only say what would be done.

    Raises:
        LogBusy: somebody resolves the target.
        LogError: it could not be stored.
    """
    found: list[Taken] = []
    wanted: list[tuple[str, Addition]] = []
    archived: list[str] = []
    new: dict[str, Whole] = {}  # in a dry run, what would stand by now
    with nullcontext() if dry_run else target.resolving():
        for whole in wholes:
            taken, missing = _take(target, whole, new if dry_run else None)
            found.append(taken)
            wanted += [(taken.id, addition) for addition in missing]
            if whole.archived and taken.fate in _HERE:
                archived.append(taken.id)
            if len(wanted) >= _ATTEMPTED and not dry_run:
                target.add(wanted)
                wanted = []
        if wanted and not dry_run:
            target.add(wanted)
        if archived and not dry_run and isinstance(target, Archiving):
            target.mark_archived(archived)
    return found


def _take(
    target: Journal, whole: Whole, new: dict[str, Whole] | None
) -> tuple[Taken, Sequence[Addition]]:
    """What becomes of one entry, and the additions that it still lacks."""
    recorded = replace(whole.recorded, text=clean(whole.recorded.text))
    here = _standing(target, recorded, new or {})
    told = Taken(
        fate=Fate.UNCHANGED,
        id=recorded.id,
        what=f"{recorded.date} {recorded.ticker}",
        where=whole.where,
    )
    if here is None:
        reason = _store(target, recorded, whole, new)
        if reason:
            return replace(told, fate=Fate.KEPT_OUT, reason=reason), ()
        kinds = tuple(addition.kind for addition in whole.additions)
        return replace(told, fate=Fate.TAKEN, added=kinds), whole.additions
    if not _is_same(here.recorded, recorded):
        reason = f"{here.recorded.id} stands with another text or rating"
        return replace(told, fate=Fate.KEPT_OUT, reason=reason), ()
    missing = lacking(here.additions, whole.additions)
    kinds = tuple(addition.kind for addition in missing)
    fate = Fate.COMPLETED if missing else Fate.UNCHANGED
    return replace(told, fate=fate, id=here.recorded.id, added=kinds), missing


def _store(target: Journal, recorded: Decision, whole: Whole, new: dict[str, Whole] | None) -> str:
    """Append a decision as it is; why it could not be, if another one came in between."""
    if new is not None:
        new[recorded.id] = whole._replace(recorded=recorded)
        return ""
    try:
        entry, stored = target.append(recorded, on_conflict=OnConflict.EXACT)
    except ConflictError as error:
        return str(error)
    return "" if stored is not Stored.KEPT else f"{entry.id} stands with another text or rating"


def _standing(target: Journal, recorded: Decision, new: dict[str, Whole]) -> Whole | None:
    """What stands under the id of a decision, or else under its key."""
    if recorded.id in new:
        return new[recorded.id]
    entry = target.get(recorded.id)
    if entry is None and not recorded.is_note:
        group = target.find(recorded.date, recorded.ticker)
        entry = next(
            (e for e in group if e.recorded.key == recorded.key and not e.recorded.is_note), None
        )
    return whole_of(entry) if entry else None


def _is_same(one: Decision, other: Decision) -> bool:
    return (one.date, one.ticker, one.text, one.rating, one.agent, one.is_note) == (
        *(other.date, other.ticker, other.text, other.rating, other.agent, other.is_note),
    )


def lacking(here: Sequence[Addition], there: Sequence[Addition]) -> tuple[Addition, ...]:
    """The additions of one account of an entry that another account of it lacks.

    Outcomes of a horizon, lessons and the like are counted: where each account has one,
    written by itself, the one here stands. Everything else is compared as it is. Giving up
    takes back no outcome that it did not know of, and a lesson comes only with the figures
    that it was written from.
    """
    counts = Counter(_name(addition) for addition in here)
    seen: Counter[Hashable] = Counter()
    missing: list[Addition] = []
    told: Outcome | None = None  # from which the other account goes on
    for addition in there:
        if addition.text:
            addition = replace(addition, text=clean(addition.text))  # noqa: PLW2901
        told = _latest(told, addition)
        name = _name(addition)
        if name is None:
            missing += [addition] * (addition not in here and addition not in missing)
            continue
        seen[name] += 1
        if seen[name] > counts[name] and _fits(addition, told, [*here, *missing]):
            missing.append(addition)
    return tuple(missing)


def _fits(addition: Addition, told: Outcome | None, here: Sequence[Addition]) -> bool:
    """Whether what an account adds is true of the outcome that stands here."""
    stands: Outcome | None = None
    for one in here:
        stands = _latest(stands, one)
    if stands is None:
        return True
    if addition.kind == Act.UNRESOLVABLE:
        return told is not None
    return addition.kind != Act.REFLECTION or told is None or _figures(told) == _figures(stands)


def _latest(outcome: Outcome | None, addition: Addition) -> Outcome | None:
    """The latest outcome of the horizon that came first."""
    new = addition.outcome
    return new if new and (outcome is None or new.horizon == outcome.horizon) else outcome


def _figures(outcome: Outcome) -> tuple[str, str]:
    """What a lesson cites of an outcome."""
    return (percent(outcome.raw_return), percent(outcome.alpha))


def _name(addition: Addition) -> Hashable:
    """Under which an addition is counted; None if it is compared."""
    if addition.kind not in _COUNTED:
        return None
    return (addition.kind, addition.outcome.horizon if addition.outcome else None)

"""What people and programs do to entries that stand: hide them, replace them, take it back.

Every act is one more addition with its instant, its reason and who did it. A read as of an
earlier instant does not know of it; statistics never do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date as Date  # noqa: N812 - as everywhere in this package
from datetime import datetime

from tradmem.arguments import check_text
from tradmem.clock import format_instant, last_instant, parse_date, parse_instant, utc
from tradmem.errors import UsageError
from tradmem.journal.base import Journal
from tradmem.journal.text import clean
from tradmem.lessons.consolidate import Cluster, clusters, is_consolidation, note_text
from tradmem.lessons.digest import Digest, Digester
from tradmem.lessons.reflect import NO_USAGE, Fault, Usage
from tradmem.model import GOVERNING, Act, Addition, Decision, Entry, fold, in_force, note_id

_NAME_LENGTH = 64
_HIDING = tuple(act for act in Act if act in GOVERNING and act is not Act.UNDO)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mandate:
    """Who acts, when and why, and whether only to say what would be done.

    Attributes:
        at: what the clock says, aware UTC.
        reason: one line.
        actor: a person or a program; empty if nobody said.
        dry_run: whether nothing is to be written.

    Raises:
        UsageError: there is no reason, or the actor is no name.
    """

    at: datetime
    reason: str
    actor: str = ""
    dry_run: bool = False

    def __post_init__(self) -> None:
        check_text(self.actor, "actor")
        if not check_text(self.reason, "reason").strip():
            raise UsageError("there is no reason; say why, it is kept with the entry")
        if len(self.actor) > _NAME_LENGTH or not self.actor.isprintable():
            raise UsageError(
                f"{self.actor[:60]!r} is no name of an actor; use up to {_NAME_LENGTH} "
                "printable characters"
            )

    def act(self, kind: Act, **data: str) -> Addition:
        """One addition of this mandate."""
        told = {"reason": self.reason, **({"actor": self.actor} if self.actor else {})}
        return Addition(kind=kind, at=self.at, data=data | told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """Lessons that one note stands for from now on.

    Attributes:
        note: as it is then, or would be; its links name the sources.
        sources: lessons and earlier notes, each superseded by the note, the newest first.
        fault: why the template worded the note although a model was asked; else empty.
        usage: what asking a model took.
    """

    note: Entry
    sources: tuple[Entry, ...]
    fault: str = ""
    usage: Usage = NO_USAGE


def until(valid_until: datetime | Date | str) -> datetime:
    """The instant that an end of validity means, aware UTC; a date means its last instant.

    Raises:
        UsageError: it is neither an instant with a zone nor a date.
    """
    if isinstance(valid_until, str):
        has_time = len(valid_until) > len("2026-01-05")
        valid_until = parse_instant(valid_until) if has_time else parse_date(valid_until)
    if isinstance(valid_until, datetime):
        return utc(valid_until)
    return last_instant(parse_date(valid_until))


def forget(journal: Journal, entry: Entry, mandate: Mandate) -> Entry:
    """Hide an entry from recall; what is forgotten already stays as it is."""
    if entry.forgotten:
        return entry
    return _do(journal, [(entry, mandate.act(Act.FORGET))], mandate)[0]


def expire(journal: Journal, entry: Entry, end: datetime, mandate: Mandate) -> Entry:
    """Hide an entry from an instant on, in place of whatever end it had before."""
    if entry.valid_until == end:
        return entry
    addition = mandate.act(Act.EXPIRE, valid_until=format_instant(end))
    return _do(journal, [(entry, addition)], mandate)[0]


def supersede(journal: Journal, old: Entry, new: Entry, mandate: Mandate) -> Entry:
    """Hide an entry because another one stands in its place.

    Raises:
        UsageError: the other one is the same, or hidden itself.
    """
    if old.id == new.id:
        raise UsageError(f"{old.id} cannot supersede itself; name the entry that replaces it")
    if why := why_hidden(new.by(mandate.at)):
        raise UsageError(
            f"{new.id} is hidden itself ({why}); name an entry that stands, or undo that first"
        )
    if old.superseded_by == new.id:
        return old
    return _do(journal, [(old, mandate.act(Act.SUPERSEDE, by=new.id))], mandate)[0]


def why_hidden(entry: Entry) -> str:
    """What hides an entry from recall, in words; empty if nothing does."""
    found = ["forgotten"] * entry.forgotten
    found += [f"superseded by {entry.superseded_by}"] * bool(entry.superseded_by)
    if entry.expired and entry.valid_until:
        found.append(f"expired at {format_instant(entry.valid_until)}")
    return ", ".join(found)


def undo(
    journal: Journal, entry: Entry, mandate: Mandate, kind: Act | None = None
) -> tuple[Entry, ...]:
    """Take back the latest act on an entry that is in force.

    On a note that stands for lessons and has no act of its own: every lesson gets its place
    back, and the note is forgotten.

    Args:
        journal: where it stands.
        entry: whose.
        mandate: who, when and why.
        kind: the latest act of this kind; by default the latest that hides it.

    Returns:
        The entries that were acted on, this one first.

    Raises:
        UsageError: there is nothing to undo.
    """
    wanted = _HIDING if kind is None else (kind,)
    acts = [act for act in in_force(entry.additions) if act.kind in wanted and act.at]
    if acts:
        return tuple(_do(journal, [(entry, _undoing(acts[-1], mandate))], mandate))
    if kind is not None or not is_consolidation(entry):
        what = "no act" if kind is None else f"no {kind}"
        raise UsageError(f"{entry.id} has {what} in force; there is nothing to undo")
    steps = [(entry, mandate.act(Act.FORGET))]
    for name in entry.links:
        source = journal.get(name)
        steps += [
            (source, _undoing(act, mandate))
            for act in (in_force(source.additions) if source else ())
            if act.kind == Act.SUPERSEDE and act.data.get("by") == entry.id and source
        ]
    return tuple(_do(journal, steps, mandate))


def _undoing(act: Addition, mandate: Mandate) -> Addition:
    assert act.at is not None
    return mandate.act(Act.UNDO, undoes=str(act.kind), undoes_at=format_instant(act.at))


def consolidate(
    journal: Journal,
    mandate: Mandate,
    *,
    ticker: str | None,
    tag: str,
    least: int,
    digester: Digester | None = None,
    clock: Callable[[], datetime] | None = None,
) -> tuple[Consolidation, ...]:
    """Write one note for each cluster of lessons, and let it supersede them.

    A note carries the date of its newest lesson, by which notes of one instant are ordered.
    A crash in between leaves a note beside lessons that still stand; doing it again goes on.

    Args:
        journal: where the lessons are.
        mandate: who, when and why.
        ticker: only this one's lessons.
        tag: only lessons with this tag.
        least: lessons that a cluster needs.
        digester: words the notes; the template by default, where that fails, and in a dry run,
            for which no model is asked.
        clock: stamps a note that took a while to word.

    Raises:
        UsageError: ``least`` is below 2.
    """
    if least < 2:
        raise UsageError(f"least is {least}; a note stands for at least 2 lessons")
    memories = journal.memories(mandate.at, ticker=ticker, lessons=True)
    by_id = {entry.id: entry for entry in reversed(journal.entries())} if memories else {}
    found = clusters(memories, by_id, tag=tag, least=least)
    if digester is None or mandate.dry_run:
        return tuple(_consolidated(journal, cluster, mandate, None) for cluster in found)
    done = []
    for cluster, digest in zip(found, digester.digest(found), strict=True):
        now = replace(mandate, at=max(mandate.at, clock() if clock else mandate.at))
        there = journal.get_all(entry.id for entry in cluster.sources).values()
        if all(entry.by(now.at).hidden for entry in there):
            continue  # somebody else was faster
        done.append(_consolidated(journal, cluster, now, digest))
    return tuple(done)


def _consolidated(
    journal: Journal, cluster: Cluster, mandate: Mandate, digest: Digest | Fault | None
) -> Consolidation:
    """One cluster, with the note as it was worded, or in the template's words."""
    extra = cluster.extra() | {"reason": mandate.reason}
    extra |= {"actor": mandate.actor} if mandate.actor else {}
    text, day = note_text(cluster), cluster.evidence[0].date
    if isinstance(digest, Digest):
        text = digest.text
        extra |= {"model": digest.model} | ({"hindsight": True} if digest.hindsight else {})
    decision = Decision(
        id=note_id(day, cluster.ticker, clean(text)),
        date=day,
        ticker=cluster.ticker,
        text=text,
        is_note=True,
        recorded_at=mandate.at,
        extra=extra,
    )
    note = _note(journal, decision, mandate)
    steps = [(entry, mandate.act(Act.SUPERSEDE, by=note.id)) for entry in cluster.sources]
    sources = _do(journal, [pair for pair in steps if pair[0].id != note.id], mandate)
    return Consolidation(
        note=note,
        sources=tuple(sources),
        fault=digest.message if isinstance(digest, Fault) else "",
        usage=digest.usage if digest else NO_USAGE,
    )


def _note(journal: Journal, decision: Decision, mandate: Mandate) -> Entry:
    """The note, stored; the same one, if an undo had it forgotten, is shown again."""
    if mandate.dry_run:
        note = fold(decision, ())
        assert note is not None
        return note
    note = journal.append(decision)[0]
    return undo(journal, note, mandate)[0] if note.forgotten else note


def _do(journal: Journal, steps: Sequence[tuple[Entry, Addition]], mandate: Mandate) -> list[Entry]:
    """Add to entries, or only fold what they would be; one entry for each that is named."""
    steps = [(entry, _anew(entry, addition)) for entry, addition in steps]
    if not mandate.dry_run:
        found = journal.add([(entry.id, addition) for entry, addition in steps])
        return list({entry.id: entry.by(mandate.at) for entry in found}.values())
    acts: dict[str, list[Addition]] = {}
    entries: Mapping[str, Entry] = {entry.id: entry for entry, _ in steps}
    for entry, addition in steps:
        acts.setdefault(entry.id, []).append(addition)
    return [_would_be(entries[name], more).by(mandate.at) for name, more in acts.items()]


def _anew(entry: Entry, addition: Addition) -> Addition:
    """An act that was done and undone within one instant can be done again."""
    times = 1
    while addition in entry.additions:
        times += 1
        addition = replace(addition, data={**addition.data, "times": times})
    return addition


def _would_be(entry: Entry, more: Sequence[Addition]) -> Entry:
    found = fold(
        entry.recorded, (*entry.additions, *more), edited=entry.edited, archived=entry.archived
    )
    assert found is not None
    return found

"""What every journal does, and what they share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date as Date  # noqa: N812 - `date` is the name of a field elsewhere
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from tradmem.errors import ConflictError
from tradmem.journal.ledger import check_addition
from tradmem.journal.tagline import check_outcome
from tradmem.journal.text import clean
from tradmem.model import Addition, Decision, Entry, Problem, entry_id, note_id

if TYPE_CHECKING:
    from tradmem.journal.passages import Changes
    from tradmem.journal.verdicts import Counts


class OnConflict(StrEnum):
    """What to do when a key is recorded again with another text or rating.

    ``exact`` is for a copy from another journal: a decision is stored under the id and the
    revision that it carries, whatever its key; one whose id stands already is kept out.
    """

    KEEP = "keep"
    REVISE = "revise"
    ERROR = "error"
    EXACT = "exact"


class Stored(StrEnum):
    """What came of an append."""

    RECORDED = "recorded"
    UNCHANGED = "unchanged"
    KEPT = "kept"
    REVISED = "revised"


MayRevise = Callable[[Entry], bool]


class Journal(Protocol):
    """The one interface to stored entries. It can append and add; nothing else changes it."""

    def append(
        self,
        decision: Decision,
        *,
        on_conflict: OnConflict = OnConflict.KEEP,
        may_revise: MayRevise = lambda _: True,
    ) -> tuple[Entry, Stored]:
        """Store a decision or a note, durably, before it returns.

        Its id and revision are settled here: the same key with the same text and rating
        is a no-op, another text or rating is handled as ``on_conflict`` says.

        Args:
            decision: what to store.
            on_conflict: what to do if the key stands with another text or rating.
            may_revise: whether an entry that stands may still be revised.

        Returns:
            The entry that stands for the key now, and what was done.

        Raises:
            ConflictError: the conflict may not be handled as asked.
            LogError: it could not be stored; nothing changed.
        """
        ...

    def add(self, additions: Sequence[tuple[str, Addition]]) -> list[Entry]:
        """Add to entries, all in one write per file; an addition that stands is a no-op.

        Args:
            additions: pairs of an entry's id and what to add to it.

        Returns:
            The entries as they are then, one per pair.

        Raises:
            UnknownEntry: no entry has such an id; nothing was added.
            UsageError: an addition could not be read back, see :func:`check_additions`;
                nothing was added.
            LogError: it could not be stored; nothing changed.
        """
        ...

    def get(self, entry_id: str) -> Entry | None:
        """The entry with an id, from wherever it stands."""
        ...

    def find(self, day: Date, ticker: str) -> list[Entry]:
        """The entries of a date and a ticker, archived ones last."""
        ...

    def entries(self, *, archived: bool = True) -> list[Entry]:
        """All entries, a repeated one at each of its places, by date, then in file order."""
        ...

    def latest(self, limit: int) -> list[Entry]:
        """The end of :meth:`entries`, at most ``limit`` of them, in its order."""
        ...

    def unfinished(self) -> list[Entry]:
        """Those pending or settled, in file order; no repeats and no replaced revisions."""
        ...

    def lacking(self, horizons: Sequence[int]) -> list[Entry]:
        """Those with an outcome, in the log, that have none yet at one of some horizons."""
        ...

    def memories(
        self,
        as_of: datetime,
        *,
        ticker: str | None = None,
        not_ticker: str | None = None,
        distinct: bool = False,
        lessons: bool = False,
        hidden: bool = False,
        limit: int | None = None,
    ) -> list[Entry]:
        """What had taught something by an instant, the newest first, as it stood then.

        Notes, settled and resolved entries; nothing forgotten, expired or superseded by then,
        and nothing replaced by a revision.
        Ordered by the instant at which it was known, then date, then id, newest first.

        Args:
            as_of: aware UTC.
            ticker: only this one.
            not_ticker: all but this one.
            distinct: at most the newest of each ticker.
            lessons: only notes and resolved entries.
            hidden: forgotten, expired and superseded ones too.
            limit: at most this many.
        """
        ...

    def counts(self, ticker: str, as_of: datetime) -> "tuple[Counts, ...]":
        """The verdicts on a ticker that were known by an instant, archived ones too.

        One for each horizon that has any, the shortest first. Hidden entries count,
        replaced revisions do not.
        """
        ...

    def passages(self, mark: Any = None) -> "Changes":
        """The texts of the entries that are new or were changed since a mark, or of all.

        Of an entry in the log and its archive the log's; replaced revisions too. What has
        not changed may come again.

        Args:
            mark: of the last :class:`~tradmem.journal.passages.Changes`, of this journal.
        """
        ...

    def get_all(self, ids: Iterable[str], *, replaced: bool = True) -> dict[str, Entry]:
        """The entries with some ids, as far as they are there, in the order of the ids.

        Args:
            ids: 12 hex digits each.
            replaced: whether those for which a later revision stands are wanted too.
        """
        ...

    def lessons(self) -> Mapping[str, str]:
        """By the normalised hash of a lesson, the entry that said it first."""
        ...

    def tickers(self) -> set[str]:
        """The tickers of all entries."""
        ...

    def problems(self) -> list[Problem]:
        """What a person should look at."""
        ...

    def resolving(self, timeout: float = 0) -> AbstractContextManager[None]:
        """Be the only one who resolves this journal.

        Raises:
            LogBusy: somebody else does.
        """
        ...


def place(
    decision: Decision,
    group: Sequence[Entry],
    taken: Callable[[str], bool],
    on_conflict: OnConflict,
    may_revise: MayRevise,
) -> tuple[Decision | Entry, Stored]:
    """Where a decision or note goes among those with its date and ticker.

    Returns:
        The entry that stands already, or the decision under its final id and revision.

    Raises:
        ConflictError: the key is taken, and may not be revised or was not to be.
    """
    if (text := clean(decision.text)) != decision.text:
        decision = replace(decision, text=text)
    if on_conflict is OnConflict.EXACT:
        return _exact(decision, group, taken)
    if decision.is_note:
        name = note_id(decision.date, decision.ticker, decision.text)
        same = next((entry for entry in group if entry.id == name), None)
        return (same, Stored.UNCHANGED) if same else (replace(decision, id=name), Stored.RECORDED)
    standing = [e for e in group if not e.recorded.is_note and e.agent == decision.agent]
    if not standing:
        return _free(decision, 0, taken), Stored.RECORDED
    newest = max(standing, key=lambda entry: entry.revision)
    if (newest.decision, newest.rating) == (decision.text, decision.rating):
        return newest, Stored.UNCHANGED
    key = f"{decision.date} {decision.ticker}" + (f" ({decision.agent})" * bool(decision.agent))
    if on_conflict is OnConflict.KEEP:
        return newest, Stored.KEPT
    if on_conflict is OnConflict.ERROR:
        raise ConflictError(
            f"{key} was decided already, otherwise, as {newest.id}; record it with "
            "on_conflict='revise' to replace it, or 'keep' to leave it"
        )
    if not may_revise(newest):
        raise ConflictError(
            f"{key} cannot be revised any more: its entry session has closed; {newest.id} stands"
        )
    return _free(decision, newest.revision + 1, taken), Stored.REVISED


def _exact(
    decision: Decision, group: Sequence[Entry], taken: Callable[[str], bool]
) -> tuple[Decision | Entry, Stored]:
    if not taken(decision.id):
        is_one_of_several = not decision.is_note and any(
            entry.agent == decision.agent and not entry.recorded.is_note for entry in group
        )
        return decision, Stored.REVISED if is_one_of_several else Stored.RECORDED
    standing = next((entry for entry in group if entry.id == decision.id), None)
    if standing is None:
        raise ConflictError(
            f"{decision.id} is the id of another decision, on another date or ticker"
        )
    same = (standing.recorded.text, standing.rating) == (decision.text, decision.rating)
    return standing, Stored.UNCHANGED if same else Stored.KEPT


def _free(decision: Decision, revision: int, taken: Callable[[str], bool]) -> Decision:
    while taken(name := entry_id(decision.date, decision.ticker, decision.agent, revision)):
        revision += 1
    if (name, revision) == (decision.id, decision.revision):
        return decision
    return replace(decision, id=name, revision=revision)


def newest_revisions(entries: Iterable[Entry]) -> dict[tuple[Date, str, str], int]:
    """The highest revision of each date, ticker and agent."""
    newest: dict[tuple[Date, str, str], int] = {}
    for entry in entries:
        if not entry.recorded.is_note:
            key = (entry.date, entry.ticker, entry.agent)
            newest[key] = max(newest.get(key, 0), entry.revision)
    return newest


def is_replaced(entry: Entry, newest: dict[tuple[Date, str, str], int]) -> bool:
    """Whether a later revision stands for the entry."""
    key = (entry.date, entry.ticker, entry.agent)
    return not entry.recorded.is_note and entry.revision < newest.get(key, 0)


def check_additions(additions: Sequence[tuple[str, Addition]]) -> None:
    """See to it that additions can be stored and read back.

    Raises:
        UsageError: an outcome is beyond all bounds, or an addition lacks what it cannot do
            without, or holds what is no JSON.
    """
    for _, addition in additions:
        if addition.outcome:
            check_outcome(addition.outcome)
        check_addition(addition)


def recency(entry: Entry) -> tuple[datetime, Date, str]:
    """The order of memories: the instant at which it was known, the date, the id."""
    known_at = entry.known_at
    assert known_at is not None
    return (known_at, entry.date, entry.id)


def lacks(entry: Entry, horizons: Sequence[int]) -> bool:
    """Whether an entry has an outcome, but none at one of some horizons."""
    return bool(entry.outcomes) and not set(horizons) <= {o.horizon for o in entry.outcomes}

"""One run over what is unfinished: settle what has come due, then have lessons written."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tradmem.errors import UnknownEntry
from tradmem.journal.base import Journal
from tradmem.lessons.filing import COMPARED, Filer
from tradmem.lessons.reflect import NO_USAGE, Case, Lesson, Reflector, Usage
from tradmem.model import Act, Addition, Entry, Outcome, Status
from tradmem.settings import Settings

if TYPE_CHECKING:
    from tradmem.market.prices import PriceSource
    from tradmem.market.question import Unsettled

_FLUSH_SECONDS = 2.0  # how much of a model's paid work a crash may cost
_PATIENCE = timedelta(hours=6)  # with what only a person can mend
_LOST = "another resolver took it over, since this one was silent for too long"
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What became of one entry in a run.

    Attributes:
        entry: as it is after the run.
        reason: why, one line without a full stop; empty where the entry says it all.
        due: when asking again can help, aware UTC; None if time changes nothing.
    """

    entry: Entry
    reason: str = ""
    due: datetime | None = None

    def __iter__(self) -> Iterator[Entry | str | datetime | None]:
        return iter((self.entry, self.reason, self.due))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveReport:
    """What a run did with each entry that was pending or settled.

    Attributes:
        settled: got an outcome in this run.
        reflected: got a lesson in this run.
        not_due: the holding window has not traded yet.
        waiting: due, but a close is missing.
        suspect: the closes jump; a person has to accept them, or mend the data.
        failed: a price source or a model did not answer; the reason says which.
        unresolvable: given up in this run.
        usage: what asking a model took.
    """

    settled: tuple[Resolution, ...] = ()
    reflected: tuple[Resolution, ...] = ()
    not_due: tuple[Resolution, ...] = ()
    waiting: tuple[Resolution, ...] = ()
    suspect: tuple[Resolution, ...] = ()
    failed: tuple[Resolution, ...] = ()
    unresolvable: tuple[Resolution, ...] = ()
    usage: Usage = NO_USAGE

    def items(self) -> Iterator[tuple[str, Resolution]]:
        """Every resolution with the name of its group."""
        for group in GROUPS:
            for resolution in getattr(self, group):
                yield group, resolution


GROUPS = tuple(f.name for f in fields(ResolveReport) if f.name != "usage")
CORRECTION = 0.0005  # a return or alpha that moved by less is the same number


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One outcome to ask for.

    Attributes:
        entry: whose.
        horizon: in sessions.
        by_person: whether a person asked again; the answer is then known when it came.
        accept: whether a suspect outcome is to be taken.
        recheck: whether an outcome stands, and only another one counts.
    """

    entry: Entry
    horizon: int
    by_person: bool = False
    accept: bool = False
    recheck: bool = False

    @property
    def standing(self) -> Outcome | None:
        """The outcome that the entry has at this horizon."""
        return next((o for o in self.entry.outcomes if o.horizon == self.horizon), None)


@dataclass(slots=True, kw_only=True)
class Run:
    """One run, half-way.

    Attributes:
        journal: whose resolver lock the caller holds.
        prices: asked for at most once, and only if something is due.
        now: the clock, for every stamp.
        decided_at: the instant of an entry of which only the date is known.
        started: the clock when the run began; what a person accepts is accepted then.
        add: stores additions; the journal's own way by default.
        later: by id, when asking again can help, of what was asked for in vain.
    """

    journal: Journal
    prices: Callable[[], "PriceSource"]
    reflector: Reflector
    settings: Settings
    now: Callable[[], datetime]
    decided_at: Callable[[Entry], datetime]
    started: datetime
    progress: Progress = lambda *_: None
    add: Callable[[Sequence[tuple[str, Addition]]], list[Entry]] | None = None
    later: dict[str, datetime] = field(default_factory=dict)
    found: dict[str, list[Resolution]] = field(default_factory=dict)
    usage: Usage = NO_USAGE

    def report(self) -> ResolveReport:
        """What was done."""
        groups = {name: tuple(items) for name, items in self.found.items()}
        return ResolveReport(**groups, usage=self.usage)

    def primary(self, entry: Entry) -> int:
        """The horizon that an entry is judged by: its own, that of its outcome, or the default."""
        if entry.recorded.horizon:
            return entry.recorded.horizon
        return entry.outcomes[0].horizon if entry.outcomes else self.settings.horizons[0]

    def asks(
        self,
        *,
        pending: Iterable[Entry],
        lacking: Iterable[Entry],
        again: Iterable[Entry],
        accepted: AbstractSet[str],
        retry_unresolvable: bool,
        recheck: bool,
    ) -> list[Ask]:
        """What to ask for.

        Args:
            pending: entries without an outcome, or whose outcome a person took back.
            lacking: entries without an outcome at one of the settings' further horizons.
            again: entries to go through for what a person asks again.
            accepted: ids whose closes are to be taken as they are.
            retry_unresolvable: whether to retry what was given up.
            recheck: whether to recheck what has an outcome.
        """
        asks = [
            Ask(
                entry=entry,
                horizon=self.primary(entry),
                by_person=any(o.horizon == self.primary(entry) for o in entry.outcomes),
                accept=entry.id in accepted,
            )
            for entry in pending
        ]
        asks += [
            Ask(entry=entry, horizon=horizon, accept=entry.id in accepted)
            for entry in lacking
            for horizon in self.settings.horizons[1:]
            if horizon not in {outcome.horizon for outcome in entry.outcomes}
        ]
        for entry in again:
            if retry_unresolvable and entry.status is Status.UNRESOLVABLE:
                asks.append(Ask(entry=entry, horizon=self.primary(entry), by_person=True))
            elif recheck and entry.outcome:
                asks += [
                    Ask(entry=entry, horizon=outcome.horizon, recheck=True)
                    for outcome in entry.outcomes
                ]
        return asks

    def settle(self, asks: Sequence[Ask], as_of: datetime) -> list[Entry]:
        """Ask for outcomes, all at once, and store them in one write.

        Returns:
            The entries that are due for a lesson now.
        """
        if not asks:
            return []
        from tradmem.market.question import Question  # noqa: PLC0415 - loads calendars
        from tradmem.market.settle import settle  # noqa: PLC0415 - loads numpy

        self.progress("prices", 0, len(asks))
        source = self.prices()
        if any(ask.recheck for ask in asks):  # what was kept would only tell the same again
            source = getattr(source, "source", source)
        answers = settle(
            [
                Question(
                    ticker=ask.entry.recorded.ticker,
                    decided_at=ask.entry.decided_at or self.decided_at(ask.entry),
                    horizon=ask.horizon,
                    accepted_at=self.started if ask.accept else None,
                )
                for ask in asks
            ],
            source,
            as_of=as_of,
            benchmarks=self.settings.benchmark,
            aliases=self.settings.aliases,
        )
        self.progress("prices", len(asks), len(asks))
        now = self.now()
        additions: list[tuple[Entry, Addition]] = []
        for ask, answer in zip(asks, answers, strict=True):
            addition = _addition(ask, answer, now)
            if addition:
                additions.append((ask.entry, addition))
            elif not isinstance(answer, Outcome):
                self._tell(ask, answer)
        stored = self._add(additions)
        for entry, addition in stored:
            gave_up = addition.kind == Act.UNRESOLVABLE
            self._note("unresolvable" if gave_up else "settled", entry, entry.reason)
        due = {entry.id: entry for entry, _ in stored if entry.status is Status.SETTLED}
        return list(due.values())

    def _add(self, additions: Sequence[tuple[Entry, Addition]]) -> list[tuple[Entry, Addition]]:
        """Store additions, and give each that was stored with its entry as it is then.

        What a person has deleted since it was read, or another resolver has taken over, is
        told, and keeps nothing of the rest back.
        """
        add, left = self.add or self.journal.add, list(additions)
        while left:
            try:
                add([(entry.id, addition) for entry, addition in left])
                break
            except UnknownEntry:
                there = [(entry, addition) for entry, addition in left if self._is_there(entry)]
                if len(there) == len(left):
                    raise
                left = there
        now = self.journal.get_all(entry.id for entry, _ in left)
        stored = []
        for entry, addition in additions:
            if entry.id not in now:
                self._note("failed", entry, "it was taken out of the log meanwhile")
            elif not _has(now[entry.id], addition):
                self._note("failed", now[entry.id], _LOST)
            else:
                stored.append((now[entry.id], addition))
        return stored

    def _is_there(self, entry: Entry) -> bool:
        return self.journal.get(entry.id) is not None

    def _tell(self, ask: Ask, answer: "Unsettled") -> None:
        """Report why there is no outcome; a further horizon that is not due is no news."""
        due = answer.due or self.started + _PATIENCE
        self.later[ask.entry.id] = min(due, self.later.get(ask.entry.id, due))
        is_primary = ask.horizon == self.primary(ask.entry)
        if is_primary and not ask.recheck:
            self._note(answer.kind.value, ask.entry, answer.reason, answer.due)
        elif answer.kind not in ("not_due", "unresolvable"):
            reason = f"after {ask.horizon} sessions: {answer.reason}"
            self._note(answer.kind.value, ask.entry, reason, answer.due)

    def reflect(self, due: Sequence[Entry]) -> None:
        """Have the lessons written, and store them a few at a time."""
        if not due:
            return
        cases = [Case(entry=entry, related=self._related(entry)) for entry in due]
        filer = filer_of(self.journal, self.now(), self.reflector.related)
        waiting: list[tuple[Entry, Addition]] = []
        flushed = time.monotonic()
        answers = zip(cases, self.reflector.reflect(cases), strict=True)
        try:
            for done, (case, answer) in enumerate(answers, 1):
                if answer.usage is not NO_USAGE:
                    self.usage += answer.usage
                if isinstance(answer, Lesson):
                    waiting.append((case.entry, self._filed(filer, answer, case.entry)))
                else:
                    self._note("failed", case.entry, answer.message)
                self.progress("lessons", done, len(cases))
                if time.monotonic() - flushed > _FLUSH_SECONDS:
                    self._store(waiting)
                    flushed = time.monotonic()
        finally:  # what was paid for is kept, whatever a reflector raises and whoever interrupts
            self._store(waiting)

    def _filed(self, filer: Filer, lesson: Lesson, entry: Entry) -> Addition:
        data = filer.file(lesson, entry)
        return Addition(kind=Act.REFLECTION, at=self.now(), text=lesson.text, data=data)

    def _store(self, lessons: list[tuple[Entry, Addition]]) -> None:
        """Write what has come, and empty the list; what cannot be written is not tried twice."""
        taken, lessons[:] = list(lessons), []
        for entry, _ in self._add(taken):
            self._note("reflected", entry)

    def _related(self, entry: Entry) -> tuple[Entry, ...]:
        """What was known when the outcome became known, the ticker's own first."""
        most = min(self.settings.related, self.reflector.related)
        if not most or entry.known_at is None:
            return ()
        own = self.journal.memories(entry.known_at, ticker=entry.ticker, limit=most + 1)
        others = self.journal.memories(
            entry.known_at, not_ticker=entry.ticker, distinct=True, lessons=True, limit=most
        )
        return tuple(memory for memory in (*own, *others) if memory.id != entry.id)[:most]

    def _note(
        self, group: str, entry: Entry, reason: str = "", due: datetime | None = None
    ) -> None:
        resolution = Resolution(entry=entry, reason=reason, due=due)
        self.found.setdefault(group, []).append(resolution)


def _addition(ask: Ask, answer: "Outcome | Unsettled", now: datetime) -> Addition | None:
    """What an answer adds to an entry, if anything."""
    if isinstance(answer, Outcome):
        flag = "asked_again" if ask.by_person else ""
        if ask.recheck:
            if ask.standing and _agree(ask.standing, answer):
                return None
            flag = "corrected"
        if flag:
            answer = replace(answer, known_at=now, flags=(*answer.flags, flag))
        return Addition(kind=Act.OUTCOME, at=now, outcome=answer)
    if answer.kind == "unresolvable" and ask.entry.status is Status.PENDING and not ask.standing:
        data = {"reason": answer.reason}
        known_at = now if ask.by_person else answer.known_at
        return Addition(kind=Act.UNRESOLVABLE, at=now, known_at=known_at, data=data)
    return None


def _has(entry: Entry, addition: Addition) -> bool:
    """Whether an addition was stored, and not kept out by another resolver's claim."""
    kind, at = addition.kind, addition.at
    return any(a.at == at and a.kind == kind for a in entry.additions)


def _agree(standing: Outcome, fresh: Outcome) -> bool:
    """Whether two outcomes tell the same returns, to within a rounding."""
    if abs(standing.raw_return - fresh.raw_return) > CORRECTION:
        return False
    if standing.alpha is None or fresh.alpha is None:
        return standing.alpha is fresh.alpha
    return abs(standing.alpha - fresh.alpha) <= CORRECTION


def filer_of(journal: Journal, now: datetime, recent: int) -> Filer:
    """What new lessons are filed against; ``recent`` tells whether texts are compared."""
    newest = journal.memories(now, lessons=True, limit=COMPARED) if recent else []
    texts = ((entry.id, text) for entry in newest if (text := entry.reflection or entry.note))

    def known(name: str) -> datetime | None:
        entry = journal.get(name)
        return entry.known_at if entry else None

    return Filer(
        seen=journal.lessons(),
        tickers=journal.tickers(),
        recent=deque(texts, maxlen=COMPARED),
        known=known,
    )

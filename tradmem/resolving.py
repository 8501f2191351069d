"""One run over what is unfinished: settle what has come due, then have lessons written."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING

from tradmem.journal.base import Journal
from tradmem.lessons.reflect import Case, Lesson, Reflector
from tradmem.model import Act, Addition, Entry, Outcome, Status
from tradmem.settings import Settings

if TYPE_CHECKING:
    from tradmem.market.prices import PriceSource
    from tradmem.market.question import Question, Unsettled

_FLUSH_SECONDS = 2.0  # how much of a model's paid work a crash may cost
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
    """

    settled: tuple[Resolution, ...] = ()
    reflected: tuple[Resolution, ...] = ()
    not_due: tuple[Resolution, ...] = ()
    waiting: tuple[Resolution, ...] = ()
    suspect: tuple[Resolution, ...] = ()
    failed: tuple[Resolution, ...] = ()
    unresolvable: tuple[Resolution, ...] = ()

    def items(self) -> Iterator[tuple[str, Resolution]]:
        """Every resolution with the name of its group."""
        for group in fields(self):
            for resolution in getattr(self, group.name):
                yield group.name, resolution


@dataclass(slots=True, kw_only=True)
class Run:
    """One run, half-way.

    Attributes:
        journal: whose resolver lock the caller holds.
        prices: asked for at most once, and only if something is due.
        now: the clock, for every stamp.
        decided_at: the instant of an entry of which only the date is known.
    """

    journal: Journal
    prices: Callable[[], "PriceSource"]
    reflector: Reflector
    settings: Settings
    now: Callable[[], datetime]
    decided_at: Callable[[Entry], datetime]
    progress: Progress = lambda *_: None
    found: dict[str, list[Resolution]] = field(default_factory=dict)

    def report(self) -> ResolveReport:
        """What was done."""
        return ResolveReport(**{name: tuple(items) for name, items in self.found.items()})

    def settle(self, pending: Sequence[Entry], as_of: datetime) -> list[Entry]:
        """Give the pending entries their outcomes, in one write; those that got one."""
        if not pending:
            return []
        from tradmem.market.settle import settle  # noqa: PLC0415 - loads numpy

        self.progress("prices", 0, len(pending))
        answers = settle(
            [self._question(entry) for entry in pending],
            self.prices(),
            as_of=as_of,
            benchmarks=self.settings.benchmark,
            aliases=self.settings.aliases,
        )
        self.progress("prices", len(pending), len(pending))
        now = self.now()
        additions: list[tuple[str, Addition]] = []
        for entry, answer in zip(pending, answers, strict=True):
            addition = _addition(entry, answer, now)
            if addition:
                additions.append((entry.id, addition))
            elif not isinstance(answer, Outcome):
                self._note(answer.kind.value, entry, answer.reason, answer.due)
        stored = self.journal.add(additions) if additions else []
        for entry in stored:
            self._note("settled" if entry.outcome else "unresolvable", entry, entry.reason)
        return [entry for entry in stored if entry.status is Status.SETTLED]

    def _question(self, entry: Entry) -> "Question":
        from tradmem.market.question import Question  # noqa: PLC0415 - loads calendars

        return Question(
            ticker=entry.ticker,
            decided_at=entry.decided_at or self.decided_at(entry),
            horizon=entry.recorded.horizon or self.settings.horizons[0],
        )

    def reflect(self, due: Sequence[Entry]) -> None:
        """Have the lessons written, and store them a few at a time."""
        cases = [Case(entry=entry, related=self._related(entry)) for entry in due]
        waiting: list[tuple[str, Addition]] = []
        flushed = time.monotonic()
        for done, (case, answer) in enumerate(
            zip(cases, self.reflector.reflect(cases), strict=True), 1
        ):
            if isinstance(answer, Lesson):
                waiting.append((case.entry.id, _reflection(answer, self.now())))
            else:
                self._note("failed", case.entry, answer.message)
            self.progress("lessons", done, len(cases))
            if time.monotonic() - flushed > _FLUSH_SECONDS:
                self._store(waiting)
                waiting, flushed = [], time.monotonic()
        self._store(waiting)

    def _store(self, lessons: Sequence[tuple[str, Addition]]) -> None:
        for entry in self.journal.add(lessons) if lessons else ():
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


def _addition(entry: Entry, answer: "Outcome | Unsettled", now: datetime) -> Addition | None:
    """What an answer adds to an entry, if anything."""
    if isinstance(answer, Outcome):
        if entry.outcomes:  # a person typed `pending` again: known when the new answer came
            flags = (*answer.flags, "asked_again")
            answer = replace(answer, known_at=now, flags=flags)
        return Addition(kind=Act.OUTCOME, at=now, outcome=answer)
    if answer.kind == "unresolvable":
        known_at = now if entry.outcomes else answer.known_at
        data = {"reason": answer.reason}
        return Addition(kind=Act.UNRESOLVABLE, at=now, known_at=known_at, data=data)
    return None


def _reflection(lesson: Lesson, now: datetime) -> Addition:
    return Addition(kind=Act.REFLECTION, at=now, text=lesson.text, data=lesson.ledger())

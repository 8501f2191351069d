"""How a memory stands, or stood at an earlier instant, and what a person should look at."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from tradmem.cli.opening import exchanges_of, now
from tradmem.cli.status_runs import wanted_by
from tradmem.cli.words import called, counted
from tradmem.lessons.exchanges import STUCK_AFTER
from tradmem.memory import Memory
from tradmem.model import Entry, Problem, Status
from tradmem.opening import is_database
from tradmem.running.record import RunLog, RunRecord, RunState
from tradmem.settings_file import DEFAULT_LOG

_PATIENCE = timedelta(days=7)  # in which daily runs settle whatever has closes
RECENT = timedelta(days=7)


class Standing(NamedTuple):
    """How a memory stands.

    Attributes:
        entries: all of them.
        pending: those that wait for their outcome, with the instant at which it is due.
        attempts: how often a model was asked in vain for the lesson of an entry, by its id.
        problems: what is wrong in the files; it carries no date, so nothing of the past.
        now: the instant in question.
        runs: the daily runs, the oldest first.
        is_past: whether this is how it stood at an earlier instant.
    """

    entries: Sequence[Entry]
    pending: Sequence[tuple[Entry, datetime]]
    attempts: Mapping[str, int]
    problems: Sequence[Problem]
    now: datetime
    runs: Sequence[RunRecord] = ()
    is_past: bool = False

    @property
    def overdue(self) -> list[tuple[Entry, datetime]]:
        """Pending decisions whose outcome is due."""
        return [(entry, due) for entry, due in self.pending if due <= self.now]

    @property
    def without_lesson(self) -> list[Entry]:
        """Those that are settled, and wait for their lesson."""
        return [entry for entry in self.entries if entry.status is Status.SETTLED]

    @property
    def stuck(self) -> list[Entry]:
        """Those of them that a model is not asked about any more."""
        return [e for e in self.without_lesson if self.attempts.get(e.id, 0) >= STUCK_AFTER]

    @property
    def given_up(self) -> list[Entry]:
        """Those that are unresolvable, and that nobody has taken note of by forgetting them."""
        return [e for e in self.entries if e.status is Status.UNRESOLVABLE and not e.hidden]

    @property
    def suspects(self) -> list[Entry]:
        """Those that the last run found suspect, and that are pending still."""
        found = self.runs[-1].data.get("resolved") if self.runs else None
        names = found.get("suspect") if isinstance(found, dict) else None
        return [e for e, _ in self.pending if isinstance(names, list) and e.id in names]

    @property
    def judged(self) -> list[Entry]:
        """Those whose outcome came within the last seven days, the newest first."""
        day = self.now.date()
        found = [e for e in self.entries if e.outcome and day - e.outcome.known_on <= RECENT]
        return sorted(found, key=lambda e: (e.outcome and e.outcome.known_at, e.date), reverse=True)

    def wanted(self) -> Iterator[str]:
        """What a person should look at, one line each, and how."""
        patience = f"for over {counted(_PATIENCE.days, 'day')}"
        late = sum(self.now - due > _PATIENCE for _, due in self.overdue)
        if late:
            yield f"{counted(late, 'decision')} due {patience}, no outcome: see `tradmem resolve`"
        stuck = self.stuck
        known = [e.known_at for e in self.without_lesson if e.known_at and e not in stuck]
        late = sum(self.now - known_at > _PATIENCE for known_at in known)
        if late:
            yield f"{counted(late, 'outcome')} known {patience}, no lesson: see `tradmem resolve`"
        for entry in stuck:
            yield (
                f"{name_of(entry)} is stuck: {self.attempts[entry.id]} answers of the model were "
                f"of no use; `tradmem show {entry.id} --exchange` shows them, and "
                "`tradmem resolve --retry-stuck` asks again"
            )
        for entry in self.suspects:
            yield (
                f"{name_of(entry)} is suspect: closes in its window jump, by a split or bad data; "
                f"mend the data, or take them with `tradmem resolve --accept {entry.id}`"
            )
        for entry in self.given_up:
            yield (
                f"{name_of(entry)} is unresolvable: {entry.reason}; retry it with "
                "`tradmem resolve --retry-unresolvable`, or take note of it "
                f"with `tradmem forget {entry.id} --reason TEXT`"
            )
        unfinished = [entry.id for entry, _ in self.pending]
        yield from wanted_by(self.runs, [*unfinished, *(e.id for e in self.without_lesson)])
        for problem in self.problems:
            yield str(problem)


def standing_of(memory: Memory, log: str, as_of: datetime | None = None) -> Standing:
    """How a memory stands now, or as an instant knew it."""
    instant = as_of or now()
    entries = memory.entries(as_of=as_of)
    unfinished = memory.journal.unfinished() if as_of is None else entries
    runs = RunLog(DEFAULT_LOG if is_database(log) else log or DEFAULT_LOG).runs()
    return Standing(
        entries=entries,
        pending=[(entry, due) for entry in unfinished if (due := memory.due(entry))],
        attempts=exchanges_of(log).attempts(as_of),
        problems=memory.journal.problems() if as_of is None else (),
        now=instant,
        runs=runs if as_of is None else [_then(r, as_of) for r in runs if r.started <= as_of],
        is_past=as_of is not None,
    )


def _then(run: RunRecord, instant: datetime) -> RunRecord:
    """A run as it stood at an instant after its start."""
    if run.ended is None or run.ended <= instant:
        return run
    return replace(run, state=RunState.UNDER_WAY, ended=None, decided={}, data={})


def name_of(entry: Entry) -> str:
    """An entry in a few words, with its id."""
    return f"{entry.date} {entry.ticker} {called(entry)} ({entry.id})"

"""``status``: how the memory stands, and whether a person has to look at something."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import click

from tradmem.cli import options
from tradmem.cli.group import DONE, FAILED
from tradmem.cli.listing import due_lines, entry_lines
from tradmem.cli.opening import exchanges_of, is_there, now, open_journal, open_memory
from tradmem.cli.output import safe, say, width, without_password, write, write_json
from tradmem.cli.status_runs import run_lines, run_object, wanted_by
from tradmem.cli.words import bold, called, counted, dim, from_now
from tradmem.clock import format_instant
from tradmem.journal.markdown import MarkdownJournal
from tradmem.lessons.exchanges import STUCK_AFTER
from tradmem.memory import Memory
from tradmem.model import Entry, Problem, Status, Verdict
from tradmem.opening import is_database
from tradmem.running.record import RunLog, RunRecord
from tradmem.settings_file import DEFAULT_LOG

_PATIENCE = timedelta(days=7)  # in which daily runs settle whatever has closes
_RECENT = timedelta(days=7)
_SHOWN = 10  # calls that went wrong
_COMMAND = re.compile(r"`(tradmem (?:resolve|forget|show)\b[^`]*)`")


class Standing(NamedTuple):
    """How a memory stands.

    Attributes:
        entries: all of them.
        pending: those that wait for their outcome, with the instant at which it is due.
        attempts: how often a model was asked in vain for the lesson of an entry, by its id.
        problems: what is wrong in the files.
        now: when this was asked.
        runs: the daily runs, the oldest first.
    """

    entries: Sequence[Entry]
    pending: Sequence[tuple[Entry, datetime]]
    attempts: Mapping[str, int]
    problems: Sequence[Problem]
    now: datetime
    runs: Sequence[RunRecord] = ()

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
        since = (self.now - _RECENT).date()
        found = [e for e in self.entries if e.outcome and e.outcome.known_on >= since]
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
                f"{_name(entry)} is stuck: {self.attempts[entry.id]} answers of the model were of "
                f"no use; `tradmem show {entry.id} --exchange` shows them, and "
                "`tradmem resolve --retry-stuck` asks again"
            )
        for entry in self.suspects:
            yield (
                f"{_name(entry)} is suspect: closes in its window jump, by a split or bad data; "
                f"mend the data, or take them with `tradmem resolve --accept {entry.id}`"
            )
        for entry in self.given_up:
            yield (
                f"{_name(entry)} is unresolvable: {entry.reason}; retry it with "
                "`tradmem resolve --retry-unresolvable`, or take note of it "
                f"with `tradmem forget {entry.id} --reason TEXT`"
            )
        unfinished = [entry.id for entry, _ in self.pending]
        yield from wanted_by(self.runs, [*unfinished, *(e.id for e in self.without_lesson)])
        for problem in self.problems:
            yield str(problem)


@click.command()
@options.log
@options.as_json
def status(*, log: str, as_json: bool) -> int:
    """Say what is pending, and what needs a person.

    Asks nothing of the network. Exit status 1 if something needs a person: a decision or
    lesson that stays due, one that was given up, a fault in the file.
    """
    standing = standing_of(open_memory(log), log)
    wanted = wanted_of(standing, log)
    if as_json:
        write_json([_object(log, standing, wanted)])
    elif not standing.entries and not is_there(log):
        say(f"there is no log at {log} yet; `tradmem record` or `tradmem run` starts one")
    else:
        for line in page(log, standing, wanted):
            write(line)
    return FAILED if wanted else DONE


def wanted_of(standing: Standing, log: str) -> list[str]:
    """What a person should look at, with commands that name the log where this one did."""
    source = click.get_current_context().get_parameter_source("log")
    if source is not click.core.ParameterSource.COMMANDLINE:
        return list(standing.wanted())
    named = shlex.quote(without_password(log))
    return [_COMMAND.sub(lambda m: f"`{m[1]} --log {named}`", line) for line in standing.wanted()]


def standing_of(memory: Memory, log: str) -> Standing:
    """How a memory stands now."""
    unfinished = memory.journal.unfinished()
    return Standing(
        entries=memory.entries(),
        pending=[(entry, due) for entry in unfinished if (due := memory.due(entry))],
        attempts=exchanges_of(log).attempts(),
        problems=memory.journal.problems(),
        now=now(),
        runs=RunLog(DEFAULT_LOG if is_database(log) else log or DEFAULT_LOG).runs(),
    )


def page(log: str, standing: Standing, wanted: Sequence[str]) -> Iterator[str]:
    """How a memory stands, for people."""
    room = width()
    counts = Counter(entry.status for entry in standing.entries)
    total = counted(len(standing.entries), "entry", "entries")
    told = ", ".join(f"{counts[kind]:,} {kind}" for kind in Status if counts[kind])
    yield bold(f"{total}: {told}" if told else total)
    for path in _files(log):
        yield dim(f"  {path}  {_size(path)}")
    coming = [(entry, due) for entry, due in standing.pending if due > standing.now]
    if standing.overdue:
        yield from ("", bold("Due"), *due_lines(standing.overdue, standing.now, room))
    if coming:
        yield from ("", bold("Pending, by the day on which it is due"))
        yield from due_lines(coming, standing.now, room)
    if standing.judged:
        yield from ("", *_judged_lines(standing.judged, room))
    if standing.without_lesson:
        yield from ("", bold("Settled, without a lesson yet"))
        for entry in standing.without_lesson:
            assert entry.known_at
            yield f"  {_name(entry)}, known {from_now(entry.known_at, standing.now)}"
    yield from run_lines(standing.runs, room)
    yield ""
    if wanted:
        yield bold("Needs a person")
        for line in wanted:  # not wrapped: an editor may jump to the place that it names
            yield f"  {safe(line)}"
    else:
        yield "Nothing needs a person."


def _judged_lines(judged: Sequence[Entry], room: int) -> Iterator[str]:
    """The verdicts of the last days, and the calls that went wrong."""
    counts = Counter(entry.verdict for entry in judged)
    told = [f"{counts[kind]} {kind}" for kind in Verdict]
    yield bold(f"Judged in the last {counted(_RECENT.days, 'day')}: {', '.join(told)}")
    wrong = [entry for entry in judged if entry.verdict is Verdict.WRONG]
    yield from entry_lines(wrong[:_SHOWN], room, "  ")
    if len(wrong) > _SHOWN:
        yield dim("  `tradmem log --verdict wrong --known-since 7d` lists all that went wrong")


def _name(entry: Entry) -> str:
    return f"{entry.date} {entry.ticker} {called(entry)} ({entry.id})"


def _files(log: str) -> list[Path]:
    """The log and its archives, below the log's folder as it was given."""
    journal = open_journal(log)
    if not isinstance(journal, MarkdownJournal):
        return []
    here = journal.path.parent
    paths = (journal.path, *(here / path.parent.name / path.name for path in journal.archives()))
    return [path for path in paths if path.exists()]


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} KB"


def _object(log: str, standing: Standing, wanted: Sequence[str]) -> dict[str, Any]:
    counts = Counter(entry.status for entry in standing.entries)
    return {
        "log": without_password(log),
        "files": [{"path": str(path), "bytes": path.stat().st_size} for path in _files(log)],
        "entries": len(standing.entries),
        "counts": {str(kind): counts[kind] for kind in Status},
        "pending": [
            {"id": e.id, "date": e.date.isoformat(), "ticker": e.ticker, "due": format_instant(due)}
            for e, due in sorted(standing.pending, key=lambda pair: pair[1])
        ],
        "without_lesson": [entry.id for entry in standing.without_lesson],
        "judged": [entry.id for entry in standing.judged],
        "stuck": [entry.id for entry in standing.stuck],
        "suspect": [entry.id for entry in standing.suspects],
        "unresolvable": [entry.id for entry in standing.given_up],
        "problems": [str(problem) for problem in standing.problems],
        "runs": [run_object(run) for run in standing.runs[-5:]],
        "needs_person": list(wanted),
    }

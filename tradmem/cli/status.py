"""``status``: how the memory stands, and whether a person has to look at something."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from tradmem.cli import options
from tradmem.cli.group import DONE, FAILED
from tradmem.cli.listing import due_lines, entry_lines
from tradmem.cli.opening import is_there, no_log, now, open_journal, open_memory, with_log
from tradmem.cli.output import safe, say, width, write, write_json
from tradmem.cli.standing import RECENT, Standing, name_of, standing_of
from tradmem.cli.status_runs import run_lines, run_object
from tradmem.cli.words import bold, counted, dim, from_now, minute
from tradmem.clock import as_instant, format_instant
from tradmem.journal.markdown import MarkdownJournal
from tradmem.masking import without_password
from tradmem.model import Entry, Status, Verdict

_SHOWN = 10  # calls that went wrong


@click.command()
@options.log
@options.as_of
@options.as_json
def status(*, log: str, as_of: str | None, as_json: bool) -> int:
    """Say what is pending, and what needs a person.

    Asks nothing of the network. Exit status 1 if something needs a person: a decision or
    lesson that stays due, one that was given up, a fault in the file. With --as-of, what was
    so then; a fault in the file carries no date and is told of now only.
    """
    instant = None if as_of is None else as_instant(as_of, now())
    standing = standing_of(open_memory(log), log, instant)
    wanted = wanted_of(standing, log)
    if as_json:
        write_json([_object(log, standing, wanted)])
    elif not standing.entries and not is_there(log):
        say(no_log(log))
    else:
        for line in page(log, standing, wanted):
            write(line)
    return FAILED if wanted else DONE


def wanted_of(standing: Standing, log: str) -> list[str]:
    """What a person should look at, with commands that name the log where this one did."""
    return [with_log(line, log) for line in standing.wanted()]


def page(log: str, standing: Standing, wanted: Sequence[str]) -> Iterator[str]:
    """How a memory stands, for people."""
    room = width()
    counts = Counter(entry.status for entry in standing.entries)
    total = counted(len(standing.entries), "entry", "entries")
    total += f" as of {minute(standing.now)}" * standing.is_past
    told = ", ".join(f"{counts[kind]:,} {kind}" for kind in Status if counts[kind])
    yield bold(f"{total}: {told}" if told else total)
    for path in () if standing.is_past else _files(log):
        yield dim(f"  {path}  {_size(path)}")
    coming = [(entry, due) for entry, due in standing.pending if due > standing.now]
    if standing.overdue:
        yield from ("", bold("Due"), *due_lines(standing.overdue, standing.now, room))
    if coming:
        yield from ("", bold("Pending, by the day on which it is due"))
        yield from due_lines(coming, standing.now, room)
    if standing.judged:
        yield from ("", *_judged_lines(standing.judged, log, room))
    if standing.without_lesson:
        yield from ("", bold("Settled, without a lesson yet"))
        for entry in standing.without_lesson:
            assert entry.known_at
            yield f"  {name_of(entry)}, known {from_now(entry.known_at, standing.now)}"
    yield from run_lines(standing.runs, room)
    yield ""
    if wanted:
        yield bold("Needs a person")
        for line in wanted:  # not wrapped: an editor may jump to the place that it names
            yield f"  {safe(line)}"
    else:
        yield "Nothing needs a person."


def _judged_lines(judged: Sequence[Entry], log: str, room: int) -> Iterator[str]:
    """The verdicts of the last days, and the calls that went wrong."""
    counts = Counter(entry.verdict for entry in judged)
    told = [f"{counts[kind]} {kind}" for kind in Verdict]
    yield bold(f"Judged in the last {counted(RECENT.days, 'day')}: {', '.join(told)}")
    wrong = [entry for entry in judged if entry.verdict is Verdict.WRONG]
    yield from entry_lines(wrong[:_SHOWN], room, "  ")
    if len(wrong) > _SHOWN:
        lister = with_log("`tradmem log --verdict wrong --known-since 7d`", log)
        yield dim(f"  {lister} lists all that went wrong")


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
    files = [] if standing.is_past else _files(log)
    return {
        "log": without_password(log),
        "as_of": format_instant(standing.now) if standing.is_past else None,
        "files": [{"path": str(path), "bytes": path.stat().st_size} for path in files],
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

"""``check``: what is wrong in a log, as lines that an editor can jump to."""

from collections.abc import Iterator, Mapping
from difflib import unified_diff

import click

from tradmem.cli import options
from tradmem.cli.group import DONE, FAILED
from tradmem.cli.opening import is_there, open_file
from tradmem.cli.output import safe, say, write, write_json
from tradmem.cli.words import called, counted
from tradmem.errors import UsageError
from tradmem.journal.block import read_block
from tradmem.journal.format import parse
from tradmem.journal.markdown import MarkdownJournal
from tradmem.journal.tagline import UNRATED
from tradmem.model import Entry, Problem, Rating
from tradmem.settings_file import nearest


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended without a choice.")
@click.option("--dry-run", is_flag=True, help="With --fix: only show what would change.")
@options.log
@options.as_json
def check(*, fix: bool, dry_run: bool, log: str, as_json: bool) -> int:
    """Find what is wrong in the log file.

    Prints `file:line: message` for every problem, and exits with status 1 if there is
    any. What was edited by hand is no problem; it is told as a note.

    --fix closes off an entry that was not written to its end, and takes out the repeat of
    a block that stands twice to the letter; everything else is for a person.
    """
    if dry_run and not fix:
        raise UsageError("--dry-run goes with --fix; add it")
    journal = open_file(log, "can be damaged, and checked")
    if fix and is_there(log):
        changes = journal.mend(dry_run=dry_run)
        if not as_json:
            _show_changes(changes)
        if dry_run:
            return FAILED if changes else DONE
    problems = journal.problems()
    entries = journal.entries()
    notes = [notice(journal, entry) for entry in entries if entry.edited]
    notes += unread_ratings(journal)
    if as_json:
        found = [("problem", problem) for problem in problems] + [("note", n) for n in notes]
        write_json(
            {"kind": kind, "path": item.path, "line": item.line, "message": item.message}
            for kind, item in found
        )
        return FAILED if problems else DONE
    for problem in problems:
        write(safe(str(problem)))
    for note in notes:
        write(safe(f"{note.path}:{note.line}: note: {note.message}"))
    if not entries and not is_there(log):
        say(f"there is no log at {log} yet")
    elif not problems:
        say(f"{log}: {counted(len(entries), 'entry', 'entries')}, no problem")
    else:
        say(f"{log}: {counted(len(problems), 'problem')}")
    return FAILED if problems else DONE


def _show_changes(changes: Mapping[str, tuple[bytes, bytes]]) -> None:
    """What is mended, as a diff."""
    for name, contents in changes.items():
        before, after = (content.decode(errors="replace").split("\n") for content in contents)
        for line in unified_diff(before, after, name, f"{name} (mended)", lineterm="", n=2):
            write(safe(line))
    if not changes:
        say("there is nothing that can be mended without a choice")


def unread_ratings(journal: MarkdownJournal) -> Iterator[Problem]:
    """Where a tag has a rating that is none of the five, and so reads as unrated."""
    for path in (journal.path, *journal.archives()):
        if not path.exists():
            continue
        for block in parse(path.read_bytes(), str(path)).blocks:
            if block.entry is None or block.entry.rating or block.entry.recorded.is_note:
                continue
            text = read_block(block.raw).rating_text
            if text.lower() != UNRATED.lower():
                near = nearest(text, [*Rating, UNRATED])
                said = f"the rating {text!r} is none, and reads as {UNRATED}; the nearest is {near}"
                yield Problem(path=str(path), line=block.line, message=said)


def notice(journal: MarkdownJournal, entry: Entry) -> Problem:
    """What a person changed by hand in an entry, and where; the change stands."""
    path, _, line = journal.where(entry.id).rpartition(":")
    names = ", ".join(entry.edited)
    message = (
        f"{entry.id} ({entry.date} {entry.ticker} {called(entry)}) was edited by hand: {names}"
    )
    return Problem(path=path, line=int(line), message=message)

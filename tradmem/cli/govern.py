"""``forget``, ``expire``, ``supersede``, ``undo``, ``consolidate``: acts on entries that stand."""

from collections.abc import Iterable

import click

from tradmem.cli import completing, naming, options
from tradmem.cli.layout import paragraphs
from tradmem.cli.naming import entry_of, is_date
from tradmem.cli.opening import open_memory
from tradmem.cli.output import say, width, write, write_json
from tradmem.cli.words import called, counted, done_line, minute, took
from tradmem.clock import parse_date, parse_instant
from tradmem.errors import UsageError
from tradmem.governance import Consolidation, why_hidden
from tradmem.lessons.consolidate import LEAST
from tradmem.lessons.reflect import NO_USAGE
from tradmem.memory import Memory
from tradmem.model import Act, Entry
from tradmem.rows import as_json as json_of

_ACTS = ("forget", "expire", "supersede", "undo")


@click.command()
@naming.argument
@options.reason
@options.actor
@options.dry_run
@options.log
@options.as_json
def forget(
    *, words: tuple[str, ...], reason: str, actor: str, dry_run: bool, log: str, as_json: bool
) -> None:
    """Hide an entry from recall.

    It stays in the file and in statistics. The entry is named as for `tradmem show`.
    `tradmem undo` takes it back.
    """
    memory = open_memory(log)
    name = entry_of(memory, words).id
    entry = memory.forget(name, reason=reason, actor=actor, dry_run=dry_run)
    _print(entry, "forgotten", dry_run=dry_run, as_json=as_json)


@click.command()
@naming.argument
@click.argument("valid_until", metavar="WHEN")
@options.reason
@options.actor
@options.dry_run
@options.log
@options.as_json
def expire(
    *,
    words: tuple[str, ...],
    valid_until: str,
    reason: str,
    actor: str,
    dry_run: bool,
    log: str,
    as_json: bool,
) -> None:
    """Hide an entry from recall from an instant on.

    WHEN is a date, whose last instant in UTC is meant, or an instant such as
    2026-03-31T20:00:00Z. It takes the place of any end that the entry had; one that has
    passed hides from now on, and never from before. The entry is named as for `tradmem show`.
    """
    memory = open_memory(log)
    found = entry_of(memory, words)
    if len(words) == 1 and is_date(valid_until) and not found.id.startswith(words[0].lower()):
        _check_is_end(memory, found.ticker, valid_until)
    entry = memory.expire(found.id, valid_until, reason=reason, actor=actor, dry_run=dry_run)
    assert entry.valid_until
    _print(entry, f"valid until {minute(entry.valid_until)}", dry_run=dry_run, as_json=as_json)


def _check_is_end(memory: Memory, ticker: str, day: str) -> None:
    """See to it that a date behind a ticker is no entry's own, with the end left out.

    Raises:
        UsageError: it is.
    """
    if memory.journal.find(parse_date(day), ticker):
        raise UsageError(f"{ticker} {day} names an entry; say until when behind it, or name its id")


@click.command()
@click.argument("words", nargs=-1, metavar="OLD NEW", shell_complete=completing.entries)
@options.reason
@options.actor
@options.dry_run
@options.log
@options.as_json
def supersede(
    *,
    words: tuple[str, ...],
    reason: str,
    actor: str,
    dry_run: bool,
    log: str,
    as_json: bool,
) -> None:
    """Let one entry stand in another one's place.

    OLD is hidden from recall from now on, because NEW says it better. Both are named as for
    `tradmem show`: by an id, by ticker and date, by ticker alone, or as last.
    """
    memory = open_memory(log)
    found = [entry_of(memory, name).id for name in naming.names(words)]
    if len(found) != 2:
        raise UsageError("name two entries: the one to hide, and the one that stands in its place")
    old, new = found
    entry = memory.supersede(old, new, reason=reason, actor=actor, dry_run=dry_run)
    _print(entry, f"superseded by {entry.superseded_by}", dry_run=dry_run, as_json=as_json)


@click.command()
@naming.argument
@click.option("--act", type=click.Choice(_ACTS), help="The latest of this kind.")
@options.reason
@options.actor
@options.dry_run
@options.log
@options.as_json
def undo(
    *,
    words: tuple[str, ...],
    act: str | None,
    reason: str,
    actor: str,
    dry_run: bool,
    log: str,
    as_json: bool,
) -> None:
    """Take back the latest act on an entry.

    Without --act, the latest forget, expire or supersede in force. On a note that stands for
    lessons: they get their places back, and the note is forgotten. What recall showed to
    decisions in between stays as it was. The entry is named as for `tradmem show`.
    """
    memory = open_memory(log)
    name = entry_of(memory, words).id
    entries = memory.undo(name, reason=reason, actor=actor, kind=act, dry_run=dry_run)
    if as_json:
        write_json(json_of(entry) for entry in entries)
        return
    for entry in entries:
        write(_line(entry, _undone(entry), dry_run=dry_run))
    if len(entries) == 1 and (why := why_hidden(entries[0])):
        say(f"{entries[0].id} {'would be' if dry_run else 'is'} hidden still: {why}")


@click.command()
@click.option("--ticker", metavar="TICKER", help="Only its lessons; each ticker's by default.")
@click.option("--tag", default="", metavar="TAG", help="Only lessons with this tag.")
@click.option(
    "--least",
    type=click.IntRange(min=2),
    default=LEAST,
    show_default=True,
    metavar="N",
    help="Lessons that a note needs to be worth its place.",
)
@click.option("--reason", default="told by one note", show_default=True, metavar="TEXT")
@options.reflector
@options.actor
@options.dry_run
@options.log
@options.as_json
def consolidate(
    *,
    ticker: str | None,
    tag: str,
    least: int,
    reason: str,
    reflector: str,
    actor: str,
    dry_run: bool,
    log: str,
    as_json: bool,
) -> None:
    """Let one note stand for lessons that say the same.

    Gathers the lessons of a ticker that say the same, then those that share a tag. Each
    note tells the facts and links the lessons; a model words what they have in common where
    one is set, else the note quotes them. Recall shows it in their place from now on.
    `tradmem undo` on the note takes it back. A dry run asks no model.
    """
    done = open_memory(log, reflector=reflector).consolidate(
        ticker=ticker, tag=tag, least=least, reason=reason, actor=actor, dry_run=dry_run
    )
    if as_json:
        write_json({"note": json_of(c.note), "sources": [e.id for e in c.sources]} for c in done)
    elif not done:
        say(f"nothing to consolidate in {log}: no {least} lessons on a ticker belong together")
    else:
        _print_notes(done, dry_run=dry_run)
    for item in done:
        if item.fault:
            say(f"the template worded {item.note.id}, for the model could not: {item.fault}")
    usage = sum((item.usage for item in done), NO_USAGE)
    if usage.calls:
        say(f"the model took {took(usage)}")


def _print_notes(done: Iterable[Consolidation], *, dry_run: bool) -> None:
    for number, item in enumerate(done):
        if number:
            write()
        count = counted(len(item.sources), "entry", "entries")
        write(_line(item.note, f"standing for {count}", dry_run=dry_run))
        for line in paragraphs(item.note.note, width()):
            write(line)
        names = ", ".join(f"{entry.id} ({called(entry)} {entry.date})" for entry in item.sources)
        for line in paragraphs(f"For {names}", width()):
            write(line)


def _undone(entry: Entry) -> str:
    """What an undo did to an entry."""
    act = entry.additions[-1]
    if act.kind == Act.FORGET:
        return "forgotten"
    at = minute(parse_instant(str(act.data["undoes_at"])))
    return f"undone: the {act.data['undoes']} of {at}"


def _print(entry: Entry, done: str, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        write_json([json_of(entry)])
    else:
        write(_line(entry, done, dry_run=dry_run))


def _line(entry: Entry, done: str, *, dry_run: bool) -> str:
    return done_line(f"would be {done}" if dry_run else done, entry)

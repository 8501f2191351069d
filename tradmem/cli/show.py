"""``show``: one entry with all that became of it."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import click

from tradmem.cli import naming, options
from tradmem.cli.details import facts, history, outcome_lines
from tradmem.cli.exchange import conversation, known_by
from tradmem.cli.layout import Cell, one_line, paragraphs
from tradmem.cli.listing import entry_lines
from tradmem.cli.naming import find
from tradmem.cli.opening import exchanges_of, now, open_memory
from tradmem.cli.output import safe, say, width, write, write_json
from tradmem.cli.words import bold, called, counted, dim, result, styled
from tradmem.clock import as_instant
from tradmem.memory import Memory
from tradmem.model import Act, Entry, Outcome
from tradmem.rows import as_json as json_of


class Shown(NamedTuple):
    """An entry, and what only the whole log tells of it.

    Attributes:
        entry: as it stood at the instant in question.
        where: its file and line.
        due: when its outcome is due, if it waits for one.
        saw: the memories that its decision saw, as far as they are in the log.
        seen_by: the later decisions that saw it.
    """

    entry: Entry
    where: str
    due: datetime | None
    saw: Sequence[Entry]
    seen_by: Sequence[Entry]


@click.command()
@naming.argument
@click.option("--exchange", is_flag=True, help="Print what a model was asked and answered.")
@options.log
@options.as_of
@options.as_json
def show(
    *, words: tuple[str, ...], exchange: bool, log: str, as_of: str | None, as_json: bool
) -> None:
    """Show an entry with all that became of it.

    Names it by its id, or four or more of its first characters; by ticker and date, which
    may be several; by ticker alone, which is its newest; or as last.

    With --exchange, the raw exchanges with a model about its lesson instead, as far as the
    file beside the log still has them.
    """
    memory = open_memory(log)
    instant = as_instant(as_of, now())
    entries = memory.entries()
    if as_of is not None:
        entries = [then for entry in entries if (then := entry.at(instant))]
    if exchange:
        until = instant if as_of else None
        _show_exchanges(log, find(entries, words), until, as_json=as_json)
        return
    found = [_shown(memory, entry, entries) for entry in find(entries, words)]
    if as_json:
        write_json(_object(item) for item in found)
        return
    for number, item in enumerate(found):
        if number:
            write()
        for line in page(item, width()):
            write(line)


def _show_exchanges(
    log: str, found: Sequence[Entry], as_of: datetime | None, *, as_json: bool
) -> None:
    exchanges = exchanges_of(log)
    pairs = [(entry, known_by(exchanges.of(entry.id), as_of)) for entry in found]
    if as_json:
        write_json(record for _, records in pairs for record in records)
    for entry, records in pairs:
        if not records:
            say(f"{exchanges.path} holds no exchange about {entry.id}; was a model asked?")
        elif not as_json:
            write(styled([*_heading(entry), dim(safe(str(exchanges.path)))]))
            for line in conversation(records, width()):
                write(line)


def _shown(memory: Memory, entry: Entry, entries: Sequence[Entry]) -> Shown:
    by_id = {e.id: e for e in reversed(entries)}
    where = getattr(memory.journal, "where", None)
    return Shown(
        entry=entry,
        where=where(entry.id) if where else "",
        due=memory.due(entry),
        saw=[by_id[name] for name in entry.recalled if name in by_id],
        seen_by=[e for e in entries if entry.id in e.recalled],
    )


def _object(item: Shown) -> dict[str, object]:
    return json_of(item.entry) | {
        "extra": dict(item.entry.recorded.extra),
        "where": item.where,
        "seen_by": [entry.id for entry in item.seen_by],
    }


def page(item: Shown, room: int) -> Iterator[str]:
    """Everything that is known of an entry, for people."""
    entry = item.entry
    yield styled(_heading(entry))
    yield dim(safe(item.where))
    yield from facts(entry, item.due)
    for outcome in entry.outcomes:
        yield from ("", bold(_outcome_title(entry, outcome)))
        yield from outcome_lines(entry, outcome, room)
    sections = {"Decision": entry.decision, _lesson_title(entry): entry.reflection}
    for title, text in (sections | {"Note": entry.note}).items():
        if text:
            yield from ("", bold(title), *paragraphs(text, room))
    if entry.recalled:
        yield from ("", bold("It had seen"), *entry_lines(item.saw, room, "  "))
        if missing := len(entry.recalled) - len(item.saw):
            yield f"  {counted(missing, 'entry', 'entries')} that this log does not hold"
    if entry.withheld:
        yield from ("", bold("A lot kept from it"), f"  {', '.join(entry.withheld)}")
    if item.seen_by:
        yield from ("", bold("Seen by"), *entry_lines(item.seen_by, room, "  "))
    yield from ("", bold("History"), *history(entry))


def _heading(entry: Entry) -> list[Cell | str]:
    state = "" if entry.recorded.is_note else result(entry)
    return [bold(f"{entry.date} {entry.ticker} {called(entry)}"), state, dim(entry.id)]


def _outcome_title(entry: Entry, outcome: Outcome) -> str:
    if outcome is entry.outcome:
        return "Outcome"
    if outcome.horizon == (entry.recorded.horizon or outcome.horizon):
        return "Outcome, set aside"
    return f"Outcome after {counted(outcome.horizon, 'session')}"


def _lesson_title(entry: Entry) -> str:
    """Who wrote the lesson, as far as the log tells."""
    lessons = [addition for addition in entry.additions if addition.kind == Act.REFLECTION]
    model = str(lessons[-1].data.get("model", "")) if lessons else ""
    return f"Lesson ({one_line(model)})" if model else "Lesson"

"""``history``: everything that ever happened to an entry."""

import click

from tradmem.cli import naming, options
from tradmem.cli.details import word_of
from tradmem.cli.layout import Cell, Column, table
from tradmem.cli.naming import entry_of
from tradmem.cli.opening import open_memory
from tradmem.cli.output import width, write, write_json
from tradmem.cli.words import minute
from tradmem.clock import format_instant
from tradmem.history import Event

_COLUMNS = (
    Column("WHEN"),
    Column("WHAT"),
    Column("WHO", drop=1),
    Column("KNOWN", drop=2),
    Column("", least=30),
)


@click.command()
@naming.argument
@options.as_of
@options.log
@options.as_json
def history(*, words: tuple[str, ...], as_of: str | None, log: str, as_json: bool) -> None:
    """Print everything that ever happened to an entry.

    In order, each with its instant and who did it: what was added to it, which decisions
    saw it, and what replaced it. KNOWN is the instant from which on it counts, where that is
    another one. Entries are named as for `tradmem show`: by the beginning of an id, by a ticker
    and a date, by a ticker alone, which is its newest, or as last.
    """
    memory = open_memory(log)
    events = memory.history(entry_of(memory, words).id, as_of)
    if as_json:
        write_json(_object(event) for event in events)
        return
    for line in table(_COLUMNS, [_row(event) for event in events], width()):
        write(line)


def _row(event: Event) -> list[Cell]:
    return [
        Cell(minute(event.at) if event.at else "-"),
        Cell(word_of(event)),
        Cell(event.who),
        Cell(minute(event.known_at) if event.known_at else ""),
        Cell(event.text, {"dim": True}),
    ]


def _object(event: Event) -> dict[str, object]:
    return {
        "at": format_instant(event.at) if event.at else None,
        "kind": event.kind,
        "who": event.who,
        "text": event.text,
        "known_at": format_instant(event.known_at) if event.known_at else None,
        "undone": event.undone,
    }

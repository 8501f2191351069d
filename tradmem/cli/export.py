"""``export``: entries to a file, or to a folder of pages."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tradmem.cli import choosing, options
from tradmem.cli.opening import is_same, is_there, now, open_journal
from tradmem.cli.output import json_safe, say, write_exactly
from tradmem.cli.words import counted
from tradmem.clock import as_instant
from tradmem.errors import UsageError
from tradmem.exchange.flat import lost
from tradmem.exchange.reading import Format, format_of
from tradmem.exchange.taking import recorded
from tradmem.exchange.writing import as_csv, as_jsonl, write_file, write_pages
from tradmem.model import Entry
from tradmem.opening import is_database

_FORMATS = [str(kind) for kind in Format]


@click.command()
@click.argument("destination", metavar="FILE|FOLDER", required=False)
@click.option("--out", metavar="FILE|FOLDER", help="The same, named.")
@click.option(
    "--format", "kind", type=click.Choice(_FORMATS), help="By default what the name tells."
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@choosing.filters
@options.as_of
@options.log
def export(
    *,
    destination: str | None,
    out: str | None,
    kind: str | None,
    force: bool,
    as_of: str | None,
    log: str,
    **filters: Any,
) -> None:
    """Write entries to a file or a folder of pages.

    To .jsonl or .parquet whole, so that `tradmem import` can bring them back; to .csv as flat
    rows with the primary outcome; to a folder as one page of markdown per ticker, with front
    matter and links; to .md as a log and its archive. - is standard output, with --format csv
    or jsonl.
    """
    if bool(destination) == bool(out):
        raise UsageError("name one file or folder to write to: tradmem export FILE")
    destination = destination or out or ""
    to_stdout = destination == "-"
    if to_stdout and kind not in (Format.CSV, Format.JSONL):
        raise UsageError("standard output takes --format csv or jsonl; name one of them")
    if is_database(destination):
        raise UsageError("a database takes entries by `tradmem import FILE --log URL`")
    path = Path(destination)
    found = Format(kind) if kind else _format(destination, path)
    entries = _entries(log, as_of, filters)
    if to_stdout:
        text = as_csv(entries) if found is Format.CSV else as_jsonl(entries)
        if found is Format.CSV:
            write_exactly(text)
        else:
            sys.stdout.write(json_safe(text))
    elif found is Format.PAGES:
        written = write_pages(path, entries)
        say(f"{counted(len(entries), 'entry', 'entries')} on {counted(len(written), 'page')}")
    else:
        if is_same(log, path):
            raise UsageError(f"{path} is the log itself; name another file")
        write_file(path, entries, found, force=force)
        say(f"{counted(len(entries), 'entry', 'entries')} in {path}")
    if found is Format.CSV:
        _tell_lost(entries)
    if not entries and not is_there(log):
        say(f"there is no log at {log} yet")


def _format(destination: str, path: Path) -> Format:
    if destination.endswith(("/", "\\")) or path.is_dir():
        return Format.PAGES
    return format_of(path)


def _entries(log: str, as_of: str | None, filters: dict[str, Any]) -> list[Entry]:
    """Those that are wanted, each once, in the order in which they were recorded."""
    journal = open_journal(log)
    found = list({entry.id: entry for entry in recorded(journal)}.values())
    instant = as_instant(as_of, now())
    found = [entry.by(now()) for entry in found]
    if as_of is not None:
        found = [then for entry in found if (then := entry.at(instant))]
    wanted = choosing.conditions(instant.date(), **filters)
    return [entry for entry in found if all(test(entry) for test in wanted)]


def _tell_lost(entries: Sequence[Entry]) -> None:
    """What the rows could not carry."""
    words = Counter(word for entry in entries for word in lost(entry))
    if words:
        told = ", ".join(f"{word} of {counted(n, 'entry', 'entries')}" for word, n in words.items())
        say(f"CSV cannot carry {told}; .jsonl and .parquet do")

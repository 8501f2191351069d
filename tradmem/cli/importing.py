"""``import``: entries from files, or from another log."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from tradmem.cli import options
from tradmem.cli.group import DONE, FAILED
from tradmem.cli.layout import Cell, one_line
from tradmem.cli.opening import configuration, is_same, now, open_journal
from tradmem.cli.output import write, write_json
from tradmem.cli.words import bold, dim, styled
from tradmem.errors import UsageError
from tradmem.exchange.past import NAMES
from tradmem.exchange.reading import Format, Reader
from tradmem.exchange.taking import Fate, Taken, take
from tradmem.exchange.whole import Whole
from tradmem.journal.base import Journal

_SHOWN = 20  # of each kind that went as it should
_GONE_WRONG = (Fate.KEPT_OUT, Fate.REFUSED)


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--format",
    "kind",
    type=click.Choice([str(kind) for kind in Format]),
    help="By default what each tells.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="MEANING=NAME",
    help=f"A column of somebody else's table; MEANING is one of {', '.join(NAMES)}.",
)
@click.option(
    "--agent", default="", metavar="NAME", help="Who decided, where a table does not tell."
)
@options.dry_run
@options.log
@options.as_json
def import_(
    *,
    paths: tuple[str, ...],
    kind: str | None,
    columns: tuple[str, ...],
    agent: str,
    dry_run: bool,
    log: str,
    as_json: bool,
) -> int:
    """Take entries in from files or another log.

    From what `tradmem export` wrote (.jsonl, .parquet, .csv, a folder of pages), from a log of
    this program or of TradingAgents (.md, or the URL of a database), and from a table of past
    decisions with columns such as date, ticker, rating and text. Entries keep their ids; what
    stands already is left as it is, so that a second time adds nothing. Past decisions are
    flagged imported, and statistics show them apart.

    Exit status 1 if something could not be taken.
    """
    settings = configuration().settings
    reader = Reader(
        now=now(),
        agent=agent,
        horizon=settings.horizons[0],
        aliases=settings.aliases,
        columns=dict(_column(text) for text in columns),
    )
    journal = open_journal(log)
    found: list[Taken] = []
    for path in paths:
        if is_same(log, Path(path)):
            raise UsageError(f"{path} is the log itself; name another file")
        items = list(reader.read(path, Format(kind) if kind else None))
        found += _taken(journal, items, dry_run=dry_run)
    if as_json:
        write_json(asdict(item) for item in found)
    else:
        for line in _report(found, dry_run=dry_run):
            write(line)
    return FAILED if any(item.fate in _GONE_WRONG for item in found) else DONE


def _column(text: str) -> tuple[str, str]:
    meaning, equals, name = text.partition("=")
    if not equals or meaning not in NAMES:
        raise UsageError(
            f"--column {text!r} is no MEANING=NAME; MEANING is one of {', '.join(NAMES)}"
        )
    return meaning, name


def _taken(journal: Journal, items: Sequence[Whole | Taken], *, dry_run: bool) -> Iterator[Taken]:
    """What became of each item, in the order of the file."""
    done = iter(take(journal, [i for i in items if isinstance(i, Whole)], dry_run=dry_run))
    for item in items:
        yield next(done) if isinstance(item, Whole) else item


def _report(found: Sequence[Taken], *, dry_run: bool) -> Iterator[str]:
    counts = Counter(item.fate for item in found)
    for fate in Fate:
        items = [item for item in found if item.fate is fate]
        if not items or fate is Fate.UNCHANGED:
            continue
        yield bold(fate.capitalize())
        shown = len(items) if fate in _GONE_WRONG else _SHOWN
        yield from (f"  {_line(item)}" for item in items[:shown])
        if len(items) > shown:
            yield dim(f"  and {len(items) - shown:,} more")
        yield ""
    total = ", ".join(f"{counts[fate]:,} {fate}" for fate in Fate if counts[fate])
    yield ("Nothing was written; it would be: " if dry_run else "") + (total or "nothing there")


def _line(item: Taken) -> str:
    if item.fate in _GONE_WRONG:
        return styled([one_line(part) for part in (item.where, item.what, item.reason)])
    kinds = ", ".join(item.added)
    added = [Cell(f"with {kinds}", {"dim": True})] if kinds else []
    return styled([item.what, *added, dim(item.id)])

"""``search``: which entries hold some words."""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from tradmem.cli import options
from tradmem.cli.layout import cell_width, cut
from tradmem.cli.opening import is_there, now, open_memory
from tradmem.cli.output import safe, say, width, write, write_json
from tradmem.cli.words import bold, called, dim, result, styled
from tradmem.clock import as_instant
from tradmem.errors import UsageError
from tradmem.journal.tagline import percent
from tradmem.lessons.excerpt import Piece, excerpts
from tradmem.lessons.fulltext import Texts
from tradmem.lessons.words import Term, asked_for
from tradmem.model import Entry
from tradmem.rows import as_json as json_of

_INDENT = "  "
_LETTERS = 6  # that a word and its space take, of many a word less


@click.command(
    epilog="A filter is JSON over the columns of `tradmem log --csv`: "
    '--where \'{"rating": {"in": ["Buy", "Sell"]}, "alpha": {"lt": 0}}\'. Operators: eq ne gt '
    "gte lt lte in contains; and, or, not."
)
@click.argument("words", nargs=-1)
@click.option("--ticker", "-t", metavar="TICKER", help="Only this one.")
@click.option("--since", metavar="DATE", help="Decided then or later; 7d and 2w count back.")
@click.option("--until", metavar="DATE", help="Decided then or earlier.")
@click.option("--where", metavar="JSON", help="Only what passes this filter.")
@click.option("--no-archive", is_flag=True, help="Look into the log only.")
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="How many; 0 is all of them.",
)
@options.as_json
@options.as_of
@options.log
def search(
    *,
    words: tuple[str, ...],
    log: str,
    since: str | None,
    until: str | None,
    where: str | None,
    no_archive: bool,
    limit: int,
    as_json: bool,
    **how: Any,
) -> None:
    """Find the entries that hold some words, the newest first.

    Looks into decisions, lessons, notes and tags, in the log and its archive. Words are found
    in their other forms too (raise, raised); a phrase in quotation marks word by word.
    """
    query = " ".join(words)
    first, last = options.days(as_instant(how["as_of"], now()).date(), since, until)
    entries = open_memory(log).search(
        query,
        where=None if where is None else _filter(where),
        since=first,
        until=last,
        limit=min(limit + 1, sys.maxsize) if limit else None,
        archived=not no_archive,
        **how,
    )
    shown = entries[:limit] if limit else entries
    terms = asked_for(query)
    if as_json:
        write_json(json_of(entry) for entry in shown)
    else:
        for line in _lines(shown, terms, width()):
            write(line)
    _remark(log, shown, terms, more=len(entries) > len(shown))


def _filter(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f'--where is no JSON ({error}); write it like \'{{"rating": "Buy"}}\''
        ) from error


def _lines(entries: Sequence[Entry], terms: Sequence[Term], room: int) -> Iterator[str]:
    """Each entry on a line, and below it where it holds the words."""
    found = excerpts([_text(entry) for entry in entries], terms, words=room // _LETTERS)
    for entry, pieces in zip(entries, found, strict=True):
        head = bold(f"{entry.date} {entry.ticker} {called(entry)}")
        state = "" if entry.recorded.is_note else result(entry)
        yield styled([head, state, _figures(entry), dim(entry.id)])
        yield _INDENT + _excerpt(pieces, room - len(_INDENT))


def _figures(entry: Entry) -> str:
    outcome = entry.outcome
    if outcome is None:
        return ""
    alpha = "" if outcome.alpha is None else f", alpha {percent(outcome.alpha)}"
    return f"{percent(outcome.raw_return)}{alpha}"


def _excerpt(pieces: Sequence[Piece], room: int) -> str:
    """An excerpt within a number of columns, what was searched for in bold."""
    out = ""
    for piece in pieces:
        text = cut(safe(piece.text), room)
        room -= cell_width(text)
        out += bold(text) if piece.is_match else text
        if room <= 0:
            break
    return out


def _text(entry: Entry) -> str:
    """The texts of an entry, what it teaches first."""
    return " ".join(filter(None, (entry.reflection, entry.note, entry.decision, *entry.tags)))


def _remark(log: str, entries: Sequence[Entry], terms: Sequence[Term], *, more: bool) -> None:
    if not entries:
        where = log if is_there(log) else f"{log}, which is not there yet"
        say(f"nothing is found in {where}")
        return
    texts = Texts([f"{entry.ticker}\n{_text(entry)}" for entry in entries])
    if not all(0 in texts.holding(term) for term in terms):
        say("no entry holds all of these words; these hold some")
    if more:
        say(f"these are the first {len(entries)}; --limit 0 shows all")

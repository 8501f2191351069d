"""How a person names an entry: by its id, by ticker and date, by ticker alone, or as the last."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from tradmem.cli import completing
from tradmem.cli.opening import is_there, no_log, with_log
from tradmem.clock import parse_date
from tradmem.errors import UnknownEntry, UsageError
from tradmem.model import Entry
from tradmem.tickers import MARKET, TICKER, check_ticker

if TYPE_CHECKING:
    from tradmem.memory import Memory

NAME = "ID | TICKER [DATE] | last"
_ID = re.compile(r"[0-9a-f]{1,12}\Z")
_WHOLE = re.compile(r"[0-9a-f]{12}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")

argument = click.argument("words", nargs=-1, metavar=NAME, shell_complete=completing.entries)


def find(entries: Sequence[Entry], words: Sequence[str]) -> list[Entry]:
    """The entries that some words name, of entries by date.

    Raises:
        UsageError: the words name nothing that could be, or more than one id.
        UnknownEntry: there is no such entry.
    """
    if not words or len(words) > 2:
        raise UsageError("name one entry: an id, a ticker and a date, or last")
    if len(words) == 2:
        ticker = words[0] if words[0] == MARKET else check_ticker(words[0])
        day = parse_date(words[1])
        found = [entry for entry in entries if (entry.ticker, entry.date) == (ticker, day)]
    elif words[0] == "last":
        found = list(entries[-1:])
    else:
        # A ticker such as ADBE may be the beginning of another one's id, too.
        found = _newest_of(entries, words[0]) or _by_id(entries, words[0])
    if not found:
        raise UnknownEntry(_missing(words, entries))
    return found


def find_one(entries: Sequence[Entry], words: Sequence[str]) -> Entry:
    """The only entry that some words name.

    Raises:
        UsageError: they name several, or nothing that could be.
        UnknownEntry: there is no such entry.
    """
    found = find(entries, words)
    if len(found) > 1:
        ids = ", ".join(entry.id for entry in found)
        raise UsageError(f"{' '.join(words)} names {len(found)} entries; write one of {ids}")
    return found[0]


def entry_of(memory: "Memory", words: Sequence[str]) -> Entry:
    """The only entry of a memory that some words name; a whole id is looked up alone.

    Raises:
        UsageError: see :func:`find_one`.
        UnknownEntry: there is no such entry.
    """
    whole = memory.get(words[0]) if len(words) == 1 and _WHOLE.match(words[0]) else None
    return whole or find_one(memory.entries(), words)


def names(words: Sequence[str]) -> Iterator[list[str]]:
    """Words that name several entries, one by one: a date belongs to the ticker before it."""
    name: list[str] = []
    for word in words:
        if name and not (len(name) == 1 and is_date(word)):
            yield name
            name = []
        name.append(word)
    if name:
        yield name


def is_date(word: str) -> bool:
    """Whether a word is a date rather than a name."""
    return bool(_DATE.match(word))


def _missing(words: Sequence[str], entries: Sequence[Entry]) -> str:
    """That some words name nothing, and what lists those of the ticker, or all."""
    log = click.get_current_context().params["log"]
    if not entries and not is_there(log):
        return f"there is no entry {' '.join(words)}, for {no_log(log)}"
    ticker = words[0].upper()
    known = ticker != MARKET and any(entry.ticker == ticker for entry in entries)
    listing = f"`tradmem log {ticker}`" if known else "`tradmem log`"
    return with_log(f"there is no entry {' '.join(words)}; {listing} lists them", log)


def _by_id(entries: Sequence[Entry], name: str) -> list[Entry]:
    if not _ID.match(name.lower()):
        return []
    found = {e.id: e for e in reversed(entries) if e.id.startswith(name.lower())}
    if len(found) > 1:
        raise UsageError(f"{name} is the beginning of {len(found)} ids; write more of it")
    return list(found.values())


def _newest_of(entries: Sequence[Entry], name: str) -> list[Entry]:
    ticker = name.upper()
    if ticker != MARKET and not TICKER.match(ticker):
        return []
    return [entry for entry in entries if entry.ticker == ticker][-1:]

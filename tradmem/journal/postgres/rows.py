"""Rows of the two tables that only grow, from what they hold and back."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tradmem.errors import LogError
from tradmem.journal.block import fold_now
from tradmem.journal.ledger import (
    addition_line,
    identity,
    packed,
    read_addition,
    read_identity,
    reread,
)
from tradmem.journal.text import clean
from tradmem.model import Addition, Decision, Entry, Rating

_NO_COLUMN_HAS = re.compile("[\0\ud800-\udfff]")
_LONGEST_AGENT = 200  # characters that an index takes, whatever they are
_GREATEST = 2**31 - 1
ARCHIVE = "archive"  # the kind of addition that says where an entry stands


class Line(NamedTuple):
    """An addition as it is stored."""

    digest: bytes
    kind: str
    line: str
    text: str


def askable(text: str) -> str:
    """An id, a ticker or the like to be asked for; empty, as none is, if no column can hold it."""
    return "" if _NO_COLUMN_HAS.search(text) else text


def key_of(recorded: Decision) -> dict[str, Any]:
    """The columns by which a decision is told from another, whatever a person wrote there."""
    agent = recorded.agent
    if len(agent) > _LONGEST_AGENT or askable(agent) != agent:
        agent = f"sha256:{hashlib.sha256(agent.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return {"agent": agent, "revision": min(recorded.revision, _GREATEST)}


def identity_of(recorded: Decision) -> str:
    """What is stored of a decision beside its text."""
    return packed(identity(recorded))


def line_of(addition: Addition) -> Line:
    """What is stored of an addition."""
    line = packed(addition_line(addition))
    return Line(_digest(line, addition.text), clean(addition.kind), line, addition.text)


def _digest(line: str, text: str) -> bytes:
    """What makes an addition the same one."""
    return hashlib.sha256(f"{line}\n{text}".encode()).digest()[:16]


def as_stored(addition: Addition) -> Addition:
    """An addition as it comes out again.

    Raises:
        UsageError: it holds what is no JSON, or what cannot be read again.
    """
    text = clean(addition.text) if addition.text else ""
    return _with_text(reread(addition), text)


def read(line: Mapping[str, Any], text: str) -> Addition:
    """An addition from its line and its text."""
    return _with_text(read_addition(line)[0], text)


def _with_text(addition: Addition, text: str) -> Addition:
    return replace(addition, text=text) if text else addition


class Row(NamedTuple):
    """An entry as the reading queries give it."""

    ticker: str
    id: str
    place: int
    date: Any
    is_note: bool
    rating: str | None
    text: str
    identity: Mapping[str, Any]
    additions: Sequence[tuple[Mapping[str, Any], str]]


def entry_of(row: Sequence[Any]) -> Entry:
    """The entry of a row, folded.

    Raises:
        LogError: it was not written by this package.
    """
    stored = Row(*row)
    try:
        arguments, _ = read_identity(stored.identity)
        recorded = Decision(
            date=stored.date,
            ticker=stored.ticker,
            text=stored.text,
            rating=Rating(stored.rating) if stored.rating else None,
            is_note=stored.is_note,
            **arguments,
        )
        additions = [read(line, text) for line, text in stored.additions]
    except (TypeError, ValueError) as error:
        raise LogError(
            f"cannot read entry {stored.id}: {error}; it was not written by tradmem"
        ) from error
    kept = [addition for addition in additions if addition.kind != ARCHIVE]
    return fold_now(recorded, kept, archived=len(kept) < len(additions))

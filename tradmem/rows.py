"""Entries as other programs read them: JSON objects and flat rows."""

from dataclasses import fields
from datetime import date, datetime
from typing import Any

from tradmem.clock import format_instant
from tradmem.model import Entry, Outcome

_ENTRY = (
    *("id", "date", "ticker", "agent", "revision", "rating", "status", "decision"),
    *("outcome", "outcomes", "verdict", "reflection", "note", "recalled", "cited", "withheld"),
    *("links", "tags", "decided_at", "known_on", "archived", "reason", "hidden", "edited"),
    *("superseded_by", "valid_until"),
)
_OUTCOME = (*(f.name for f in fields(Outcome) if f.name != "extra"), "known_on", "z")
_FLAT = tuple(name for name in _OUTCOME if name not in ("known_on", "flags"))
# Columns of a flat row: the entry's own, then those of its primary outcome.
COLUMNS = (*(name for name in _ENTRY if name not in ("outcome", "outcomes")), *_FLAT, "flags")


def as_json(entry: Entry) -> dict[str, Any]:
    """An entry as JSON values: ISO dates, Z instants, returns as fractions, None as null."""
    out = {name: _plain(getattr(entry, name)) for name in _ENTRY}
    return out | {"flags": list(entry.recorded.flags)}


def as_row(entry: Entry) -> dict[str, Any]:
    """An entry as one flat row with Python values; lists are tuples."""
    outcome = entry.outcome
    row = {name: getattr(entry, name) for name in _ENTRY if name not in ("outcome", "outcomes")}
    row["flags"] = (*entry.recorded.flags, *(outcome.flags if outcome else ()))
    return row | {name: getattr(outcome, name) if outcome else None for name in _FLAT}


def _plain(value: Any) -> Any:
    if isinstance(value, Outcome):
        return {name: _plain(getattr(value, name)) for name in _OUTCOME}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, date):
        return value.isoformat()
    return value


# What a spreadsheet takes for the beginning of a formula, and the mark that keeps it from that.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


def harmless(text: str) -> str:
    """A text that no spreadsheet runs: an apostrophe stands before what it would run."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def as_it_was(text: str) -> str:
    """A text as it was before :func:`harmless`."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text

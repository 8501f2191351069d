"""The ledger of an entry: comment lines with JSON below its tag, only ever added to."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from tradmem.clock import format_instant, parse_date, parse_instant
from tradmem.errors import UsageError
from tradmem.journal.text import LEDGER_OPEN
from tradmem.model import (
    Act,
    Addition,
    Decision,
    Rating,
    outcome_from_json,
    outcome_to_json,
)

VERSION = 1
TORN_LINE = f'{LEDGER_OPEN} {{"torn":true}} -->'
_LINE = re.compile(rf"\s*{re.escape(LEDGER_OPEN)}\s*(\{{.*\}})\s*-->\s*\Z")
_ID = re.compile(r"[0-9a-f]{12}\Z")


def is_ledger(line: str) -> bool:
    """Whether a line belongs to the ledger, readable or not."""
    return line.lstrip().startswith(LEDGER_OPEN)


def read_line(line: str) -> dict[str, Any]:
    """The JSON object of a ledger line.

    Raises:
        UsageError: it holds none.
    """
    found = _LINE.match(line)
    try:
        data = json.loads(found[1]) if found else None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"a ledger line cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise UsageError("a ledger line cannot be read: it holds no JSON object")
    return data


def write_line(data: Mapping[str, Any]) -> str:
    """A ledger line: ASCII, and nothing in it that could end the comment."""
    packed = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return f"{LEDGER_OPEN} {packed.replace('--', chr(92) + 'u002d' + chr(92) + 'u002d')} -->"


def text_hash(text: str) -> str:
    """SHA-256 of a text, by which a later edit is noticed."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def identity(recorded: Decision) -> dict[str, Any]:
    """The first ledger line: what was recorded, whatever a person makes of the tag later."""
    out: dict[str, Any] = {"v": VERSION, "id": recorded.id}
    if recorded.decided_at:
        out["decided_at"] = format_instant(recorded.decided_at)
    if recorded.recorded_at:
        out["at"] = format_instant(recorded.recorded_at)
    out |= {"date": recorded.date.isoformat(), "ticker": recorded.ticker}
    if not recorded.is_note:
        out["rating"] = recorded.rating
    for name in ("agent", "revision", "horizon"):
        if value := getattr(recorded, name):
            out[name] = value
    for name in ("recalled", "cited", "flags"):
        if values := getattr(recorded, name):
            out[name] = list(values)
    if recorded.recalled_as_of:
        out["recalled_as_of"] = format_instant(recorded.recalled_as_of)
    return out | {"sha256": text_hash(recorded.text)} | dict(recorded.extra)


def read_identity(data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split an identity line into arguments of :class:`Decision` and what it recorded.

    Returns:
        The arguments, and the recorded ``date``, ``ticker``, ``rating`` and ``sha256``
        as far as they are there, to compare with the tag and the text.

    Raises:
        UsageError: a field is of the wrong kind.
    """
    left = dict(data)
    left.pop("v", None)
    names: tuple[str, ...] = ("date", "ticker", "rating", "sha256")
    was = {name: left.pop(name) for name in names if name in left}
    try:
        if "date" in was:
            was["date"] = parse_date(was["date"])
        if was.get("rating") is not None:
            was["rating"] = Rating(was["rating"])
        out: dict[str, Any] = {"id": left.pop("id")}
        if not _ID.match(out["id"]):
            raise UsageError(f"{out['id']!r} is no id")
        for key, name in (
            ("decided_at", "decided_at"),
            ("at", "recorded_at"),
            ("recalled_as_of", "recalled_as_of"),
        ):
            if left.get(key) is not None:
                out[name] = parse_instant(left.pop(key))
        out |= {name: str(left.pop(name)) for name in ("agent",) if name in left}
        out |= {name: int(left.pop(name)) for name in ("revision", "horizon") if name in left}
        for name in ("recalled", "cited", "flags"):
            out[name] = tuple(str(item) for item in left.pop(name, ()))
    except (TypeError, ValueError) as error:
        raise UsageError(f"the identity in the ledger cannot be read: {error}") from error
    return out | {"extra": left}, was


def addition_line(addition: Addition) -> dict[str, Any]:
    """The ledger line of one addition."""
    out: dict[str, Any] = {"add": addition.kind}
    if addition.known_at:
        out["known_at"] = format_instant(addition.known_at)
    if addition.at:
        out["at"] = format_instant(addition.at)
    if addition.outcome:
        out |= outcome_to_json(addition.outcome)
    if addition.text:
        out["sha256"] = text_hash(addition.text)
    return out | dict(addition.data)


def read_addition(data: Mapping[str, Any]) -> tuple[Addition, str]:
    """An addition from its ledger line, and the hash of its text (empty if it has none).

    Raises:
        UsageError: a field is missing or of the wrong kind.
    """
    left = dict(data)
    kind, digest = str(left.pop("add")), str(left.pop("sha256", ""))
    try:
        at = parse_instant(left.pop("at")) if left.get("at") else None
        if kind == Act.OUTCOME:
            return Addition(kind=kind, at=at, outcome=outcome_from_json(left)), ""
        known_at = parse_instant(left.pop("known_at")) if left.get("known_at") else None
    except TypeError as error:
        raise UsageError(f"an addition in the ledger cannot be read: {error}") from error
    return Addition(kind=kind, at=at, known_at=known_at, data=left), digest

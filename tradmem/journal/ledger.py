"""The ledger of an entry: comment lines with JSON below its tag, only ever added to."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, date, datetime
from functools import lru_cache
from math import isfinite
from operator import attrgetter
from typing import Any

from tradmem.clock import format_instant, parse_date, parse_instant
from tradmem.errors import UsageError
from tradmem.journal.tagline import check_outcome
from tradmem.journal.text import LEDGER_OPEN
from tradmem.model import (
    EDITED,
    Act,
    Addition,
    Decision,
    Outcome,
    Rating,
)

VERSION = 1
# Instants without which an addition does nothing.
_INSTANTS: dict[str, str] = {Act.EXPIRE: "valid_until", Act.UNDO: "undoes_at"}
_WORDED = frozenset({Act.REFLECTION, Act.REMARK})  # a section without text is none
# The names of an identity line that no further value may take.
RESERVED = frozenset(
    {"v", "id", "at", "date", "ticker", "rating", "agent", "revision", "horizon", "sha256", "add"}
    | {"decided_at", "recalled", "recalled_as_of", "cited", "flags", "valid_until", "torn"}
    | {"withheld", "holdout", EDITED}
)
TORN_LINE = f'{LEDGER_OPEN} {{"torn":true}} -->'
_LINE = re.compile(rf"\s*{re.escape(LEDGER_OPEN)}\s*(\{{.*\}})\s*-->\s*\Z")
_ID = re.compile(r"[0-9a-f]{12}\Z")
_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _number(value: Any) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError(f"{value} is no number")
    return number


# What it reads can be written again: a number is a number.
_DECODER = json.JSONDecoder(parse_constant=_number, parse_float=_number)


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
        data = _DECODER.decode(found[1]) if found else None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"a ledger line cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise UsageError("a ledger line cannot be read: it holds no JSON object")
    return data


def packed(data: Mapping[str, Any]) -> str:
    """JSON as a ledger line has it: ASCII, exact numbers, no spaces.

    Raises:
        UsageError: something in it is none.
    """
    try:
        return _JSON.encode(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"something holds what is no JSON: {error}") from error


def write_line(data: Mapping[str, Any]) -> str:
    """A ledger line: ASCII, and nothing in it that could end the comment.

    Raises:
        UsageError: something in it is no JSON.
    """
    return f"{LEDGER_OPEN} {packed(data).replace('--', chr(92) + 'u002d' + chr(92) + 'u002d')} -->"


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
    out |= _drawn(recorded)
    for name in ("recalled_as_of", "valid_until"):
        if instant := getattr(recorded, name):
            out[name] = format_instant(instant)
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
            ("valid_until", "valid_until"),
        ):
            if left.get(key) is not None:
                out[name] = parse_instant(left.pop(key))
        out |= {name: str(left.pop(name)) for name in ("agent",) if name in left}
        out |= {name: int(left.pop(name)) for name in ("revision", "horizon") if name in left}
        for name in ("recalled", "cited", "flags"):
            out[name] = tuple(str(item) for item in left.pop(name, ()))
        out |= _lots(left)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the identity in the ledger cannot be read: {error}") from error
    return out | {"extra": left}, was


def _drawn(recorded: Decision) -> dict[str, Any]:
    share = recorded.holdout
    return {"withheld": list(recorded.withheld), "holdout": share} if share else {}


def _lots(left: dict[str, Any]) -> dict[str, Any]:
    """What was withheld by lot, taken from an identity that tells of lots as we write them."""
    share, names = left.get("holdout"), left.get("withheld")
    if not isinstance(share, float) or not 0 < share < 1 or not isinstance(names, list):
        return {}
    del left["holdout"], left["withheld"]
    return {"holdout": share, "withheld": tuple(map(str, names))}


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
        if name := _INSTANTS.get(kind):
            parse_instant(left[name])
    except KeyError as error:
        raise UsageError(f"an addition in the ledger ({kind}) has no {error.args[0]}") from error
    except (TypeError, UsageError) as error:
        raise UsageError(f"an addition in the ledger ({kind}) cannot be read: {error}") from error
    return Addition(kind=kind, at=at, known_at=known_at, data=left), digest


def reread(addition: Addition) -> Addition:
    """An addition as it comes out of its ledger line again, without its text.

    Raises:
        UsageError: it holds what is no JSON, or what cannot be read again.
    """
    return read_addition(_DECODER.decode(packed(addition_line(addition))))[0]


def check_addition(addition: Addition) -> None:
    """See to it that an addition comes out of its ledger line again.

    Raises:
        UsageError: see :func:`reread`; or it is a lesson or a remark without words.
    """
    if not _is_plain(addition):
        reread(addition)
    if addition.kind in _WORDED and not addition.text.strip():
        raise UsageError(f"an empty {addition.kind} cannot be stored; write what it says")


def _is_plain(addition: Addition) -> bool:
    """Whether the kinds of its values alone tell that an addition can be read again."""
    outcome = addition.outcome
    return (
        addition.kind not in _INSTANTS
        and (addition.at is None or addition.at.tzinfo is UTC)
        and all(type(value) in _SCALARS for value in addition.data.values())
        and (outcome is None or _is_plain_outcome(outcome))
    )


def _is_plain_outcome(outcome: Outcome) -> bool:
    if outcome.extra or outcome.known_at.tzinfo is not UTC:
        return False
    values = _values_of(outcome)
    numbers = [value for value in values if type(value) is float]
    return (
        _are_plain(tuple(map(type, values)))
        and all(map(isfinite, numbers))
        and all(type(flag) is str for flag in outcome.flags)
    )


@lru_cache(maxsize=64)
def _are_plain(kinds: tuple[type, ...]) -> bool:
    """Whether values of these kinds, in the order of the fields, can be read again."""
    return all(kind in known for kind, known in zip(kinds, _KINDS.values(), strict=True))


# The keys of an outcome, where they are not the attribute's own name.
_KEYS = {"raw_return": "raw", "entry_date": "entry", "exit_date": "exit"}


def outcome_to_json(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON values: exact floats, ISO dates, Z instants; nothing that is None."""
    out: dict[str, Any] = {}
    for name, (key, _) in _FIELDS.items():
        value = getattr(outcome, name)
        if value is None and name == "alpha":
            out[key] = None
        elif isinstance(value, datetime):
            out[key] = format_instant(value)
        elif isinstance(value, date):
            out[key] = value.isoformat()
        elif isinstance(value, tuple):
            out |= {key: list(value)} if value else {}
        elif value not in (None, ""):
            out[key] = value
    return out | dict(outcome.extra)


def outcome_from_json(data: Mapping[str, Any]) -> Outcome:
    """Read what :func:`outcome_to_json` wrote.

    Raises:
        UsageError: a field is missing or is of the wrong kind.
    """
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    try:
        for key, value in data.items():
            if key not in _READERS:
                extra[key] = value
            elif value is not None:
                name, read = _READERS[key]
                values[name] = read(value)
        values.setdefault("alpha", None)
        outcome = Outcome(**values, extra=extra)
        check_outcome(outcome)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UsageError(f"an outcome in the ledger cannot be read: {error}") from error
    return outcome


def _reader(name: str) -> Callable[[Any], Any]:
    if name == "known_at":
        return parse_instant
    if name.endswith("_date"):
        return parse_date
    if name in ("horizon", "sessions"):
        return int
    if name in ("benchmark", "basis", "source"):
        return str
    if name == "flags":
        return lambda flags: tuple(map(str, flags))
    return _number


_FIELDS = {
    field.name: (_KEYS.get(field.name, field.name), _reader(field.name))
    for field in fields(Outcome)
    if field.name != "extra"
}
_READERS = {key: (name, read) for name, (key, read) in _FIELDS.items()}
_SCALARS = frozenset({str, int, bool, type(None)})
_KINDS = {
    name: {
        parse_instant: frozenset({datetime}),
        parse_date: frozenset({date, type(None)}),
        int: frozenset({int}),
        str: frozenset({str, type(None)}),
        _number: frozenset({float, type(None)}),
    }.get(read, frozenset({tuple}))
    for name, (_, read) in _FIELDS.items()
}
_values_of = attrgetter(*_KINDS)

"""A small language to choose entries by, as nested dicts over the names of a flat row.

    {"rating": {"in": ["Buy", "Overweight"]}, "alpha": {"lt": 0}}
    {"or": [{"tags": {"contains": "earnings"}}, {"not": {"agent": "desk"}}]}

What stands side by side has to hold together. A bare value means ``eq``, a bare list ``in``.
Texts are compared in any case, dates and instants may be ISO text, and a date compared with
an instant means its whole day, UTC. A field that an entry has no value for is None: it is
equal to None alone, and no order holds for it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import date as Date  # noqa: N812 - `date` is the name of a field
from datetime import datetime
from difflib import get_close_matches
from enum import Enum, StrEnum
from operator import eq, ge, gt, le, lt, pos
from typing import Any, get_args

from tradmem.clock import parse_date, parse_instant, utc
from tradmem.errors import UsageError
from tradmem.model import Entry, Outcome, Rating, Status, Verdict
from tradmem.rows import COLUMNS, as_row

Row = Mapping[str, Any]
Test = Callable[[Row], bool]
_JOINS = ("and", "or", "not")
_ISO_DATE = len("2026-01-05")


class _Kind(Enum):
    """What stands in a field, and in which words its values are asked for."""

    TEXT = "a text"
    NUMBER = "a number"
    DATE = "a date"
    INSTANT = "an instant"
    FLAG = "true or false"
    WORDS = "a list of texts"


_TYPES = {
    int: _Kind.NUMBER,
    float: _Kind.NUMBER,
    Date: _Kind.DATE,
    datetime: _Kind.INSTANT,
    str: _Kind.TEXT,
}
_OWN = {
    **dict.fromkeys(("date", "known_on"), _Kind.DATE),
    **dict.fromkeys(
        ("recalled", "cited", "withheld", "links", "tags", "edited", "flags"), _Kind.WORDS
    ),
    **dict.fromkeys(("archived", "hidden"), _Kind.FLAG),
    **dict.fromkeys(("decided_at", "valid_until"), _Kind.INSTANT),
    **dict.fromkeys(("revision", "z"), _Kind.NUMBER),
}
_OUTCOME = {
    field.name: next(
        (_TYPES[kind] for kind in (field.type, *get_args(field.type)) if kind in _TYPES), None
    )
    for field in fields(Outcome)
}
_KINDS = {name: _OWN.get(name) or _OUTCOME.get(name) or _Kind.TEXT for name in COLUMNS}
_CHOICES: dict[str, type[StrEnum]] = {"rating": Rating, "status": Status, "verdict": Verdict}

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"eq": eq, **_ORDERS}
OPERATORS = ("eq", "ne", *_ORDERS, "in", "contains")


def entry_test(where: Mapping[str, Any] | None) -> Callable[[Entry], bool]:
    """Whether an entry is chosen; None chooses all.

    Raises:
        UsageError: a field, an operator or a value cannot be.
    """
    if not where and (where is None or isinstance(where, Mapping)):
        return lambda _: True
    try:
        test = compile_filter(where)
    except RecursionError:
        raise UsageError("the filter is nested too deeply; write it flatter") from None
    return lambda entry: test(as_row(entry))


def compile_filter(where: Any) -> Test:
    """The test that a filter stands for, on rows of :func:`tradmem.rows.as_row`.

    Raises:
        UsageError: a field, an operator or a value cannot be.
    """
    if not isinstance(where, Mapping):
        raise UsageError(f'{_shown(where)} is no filter; write it like {{"rating": "Buy"}}')
    return _all(
        _join(name, of) if name in _JOINS else _field(name, of) for name, of in where.items()
    )


def _join(name: str, parts: Any) -> Test:
    if name == "not":
        test = compile_filter(parts)
        return lambda row: not test(row)
    if not isinstance(parts, list | tuple):
        raise UsageError(f'"{name}" takes a list of filters, not {_shown(parts)}')
    tests = [compile_filter(part) for part in parts]
    if name == "and":
        return _all(tests)
    return lambda row: any(test(row) for test in tests)


def _all(tests: Iterable[Test]) -> Test:
    tests = list(tests)
    return tests[0] if len(tests) == 1 else lambda row: all(test(row) for test in tests)


def _field(name: Any, asked: Any) -> Test:
    if name in OPERATORS:
        raise UsageError(f'"{name}" stands below a field, as in {{"alpha": {{"gt": 0}}}}')
    if name not in _KINDS:
        raise UsageError(f"there is no field {_shown(name)}; {_nearest(name, COLUMNS)}")
    if isinstance(asked, Mapping):
        return _all(_operation(name, operator, value) for operator, value in asked.items())
    return _operation(name, "in" if isinstance(asked, list | tuple) else "eq", asked)


def _operation(name: str, operator: str, value: Any) -> Test:
    """One comparison of a field with a value."""
    kind = _KINDS[name]
    allowed = _allowed(kind)
    if operator not in allowed:
        if operator in OPERATORS:
            raise UsageError(f"{name} is {kind.value}; it takes {', '.join(allowed)}")
        raise UsageError(f"there is no operator {_shown(operator)}; {_nearest(operator, allowed)}")
    if operator == "contains":
        return _contains(name, value)
    if operator == "in":
        if not isinstance(value, list | tuple | set | frozenset):
            raise UsageError(f'{name}: "in" takes a list, not {_shown(value)}')
        tests = [_operation(name, "eq", item) for item in value]
        return lambda row: any(test(row) for test in tests)
    if operator == "ne":
        test = _operation(name, "eq", value)
        return lambda row: not test(row)
    if value is None:
        if operator != "eq":
            raise UsageError(f'{name}: "{operator}" takes {kind.value}, not None')
        return lambda row: row[name] is None
    wanted = _read(name, kind, value)
    compare = _COMPARISONS[operator]

    def holds(row: Row) -> bool:
        found = row[name]
        return found is not None and compare(_alike(found, wanted), wanted)

    return holds


def _allowed(kind: _Kind) -> tuple[str, ...]:
    match kind:
        case _Kind.NUMBER | _Kind.DATE | _Kind.INSTANT:
            return ("eq", "ne", *_ORDERS, "in")
        case _Kind.TEXT:
            return ("eq", "ne", "in", "contains")
        case _Kind.WORDS:
            return ("eq", "ne", "contains")
        case _Kind.FLAG:
            return ("eq", "ne")


def _contains(name: str, value: Any) -> Test:
    if not isinstance(value, str):
        raise UsageError(f'{name}: "contains" takes a text, not {_shown(value)}')
    wanted = value.casefold()
    return lambda row: row[name] is not None and wanted in _folded(row[name])


def _read(name: str, kind: _Kind, value: Any) -> Any:
    """A value as it is compared.

    Raises:
        UsageError: no such value can stand in the field.
    """
    fits, read = _READERS[kind]
    if not isinstance(value, fits) or (isinstance(value, bool) and kind is not _Kind.FLAG):
        raise UsageError(f"{name} is {kind.value}; {_shown(value)} is not")
    try:
        return read(_choice(name, value))
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error


def _instant(value: Date | str) -> Date:
    """An instant, or a date where only that is given."""
    if isinstance(value, str):
        return parse_date(value) if len(value) <= _ISO_DATE else parse_instant(value)
    return utc(value) if isinstance(value, datetime) else value


def _folded(found: Any) -> Any:
    """A text, or several, as they are compared."""
    return found.casefold() if isinstance(found, str) else tuple(str(s).casefold() for s in found)


_READERS: dict[_Kind, tuple[tuple[type, ...], Callable[[Any], Any]]] = {
    _Kind.TEXT: ((str,), _folded),
    _Kind.NUMBER: ((int, float), pos),  # no float holds every int
    _Kind.DATE: ((Date, str), parse_date),
    _Kind.INSTANT: ((Date, str), _instant),
    _Kind.FLAG: ((bool,), bool),
    _Kind.WORDS: ((list, tuple), _folded),
}


def _choice(name: str, value: Any) -> Any:
    """A member of a closed set in any case; any value where there is no such set."""
    choices = [member.value for member in _CHOICES.get(name, ())]
    if choices and value.casefold() not in map(str.casefold, choices):
        raise UsageError(f"{_shown(value)} is none; choose one of {', '.join(choices)}")
    return value


def _alike(found: Any, wanted: Any) -> Any:
    """What stands in a field, in the form in which it was asked for."""
    if isinstance(found, datetime) and not isinstance(wanted, datetime):
        return found.date()
    return _folded(found) if isinstance(found, str | tuple) else found


def _nearest(name: Any, names: Iterable[str]) -> str:
    found = get_close_matches(str(name), list(names), n=1, cutoff=0)
    return f"the nearest is {found[0]}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."

"""An entry as one flat row, and back as far as a row can tell.

A row has the primary outcome and the standing lesson. What it cannot carry: outcomes of
other horizons, corrections, and acts such as forgetting with who did them and when.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date, datetime
from typing import Any

from tradmem.clock import format_instant, parse_date, parse_instant
from tradmem.errors import UsageError
from tradmem.exchange.whole import Whole, check
from tradmem.journal.ledger import RESERVED
from tradmem.journal.tagline import UNRATED
from tradmem.journal.text import clean
from tradmem.model import (
    EDITED,
    Act,
    Addition,
    Decision,
    Entry,
    Outcome,
    Rating,
    Status,
)
from tradmem.rows import harmless
from tradmem.tickers import MARKET, check_ticker

_OUTCOME = tuple(field.name for field in fields(Outcome) if field.name not in ("flags", "extra"))
COLUMNS = (
    *("id", "date", "ticker", "agent", "revision", "rating", "status", "verdict"),
    *("decided_at", "recorded_at", "decided_horizon", *_OUTCOME, "outcome_flags"),
    *("decision", "reflection", "note", "links", "tags", "reason", "recalled", "recalled_as_of"),
    *("cited", "valid_until", "hidden", "superseded_by", "edited", "archived", "decision_flags"),
    *("withheld", "holdout", "extra"),
)
# What tells a row that we wrote from one of another program.
OURS = frozenset({"id", "status", "decision", "decision_flags", "known_at"})
# What a row can carry of what was added: the latest of each.
_CARRIED = frozenset({Act.OUTCOME, Act.REFLECTION, Act.UNRESOLVABLE, Act.REMARK})
_BETWEEN = {"tags": "; "}  # between the words of a list: of tags, which may hold blanks


def row_of(entry: Entry) -> dict[str, Any]:
    """An entry as a flat row of Python values; lists are tuples, what is not there is None."""
    recorded, outcome = entry.recorded, entry.outcome
    extra = {name: value for name, value in recorded.extra.items() if name not in RESERVED}
    row: dict[str, Any] = {
        "rating": None if recorded.is_note else str(entry.rating or UNRATED),
        "decided_at": recorded.decided_at,
        "recorded_at": recorded.recorded_at,
        "decided_horizon": recorded.horizon,
        "recalled_as_of": recorded.recalled_as_of,
        "holdout": recorded.holdout or None,
        "decision_flags": recorded.flags,
        "extra": json.dumps(extra) if extra else None,
        "outcome_flags": outcome.flags if outcome else (),
    }
    row |= {name: getattr(outcome, name) if outcome else None for name in _OUTCOME}
    return {name: row[name] if name in row else getattr(entry, name) for name in COLUMNS}


def lost(entry: Entry) -> tuple[str, ...]:
    """What a row cannot carry of an entry, in words."""
    acts = [addition.kind for addition in entry.additions]
    return tuple(
        word
        for word, is_there in {
            "outcomes of other horizons": len(entry.outcomes) > 1,
            "corrections": acts.count(Act.OUTCOME) > len(entry.outcomes),
            "acts": any(kind not in _CARRIED for kind in acts),
        }.items()
        if is_there
    )


def whole_of_row(row: Mapping[str, Any], now: datetime, where: str = "") -> Whole:
    """A whole entry from a row that :func:`row_of` made, as text or as Python values.

    Args:
        row: a value for each of ``COLUMNS``, those that are empty may be left out.
        now: aware UTC; the stamp of what is added, since a row does not tell it.
        where: the file and line.

    Raises:
        UsageError: a value is missing, or is of the wrong kind.
    """
    read = _Row(row)
    edited = {EDITED: list(names)} if (names := read.words("edited")) else {}
    is_note = _is_note(read)
    ticker = read.text("ticker")
    recorded = Decision(
        id=read.text("id"),
        date=read.need("date", parse_date),
        ticker=ticker if is_note and ticker == MARKET else check_ticker(ticker),
        text=clean(read.text("note" if is_note else "decision")),
        rating=None if is_note else read.rating(),
        agent=read.text("agent"),
        revision=read.get("revision", _whole) or 0,
        is_note=is_note,
        decided_at=read.get("decided_at", _instant),
        recorded_at=read.get("recorded_at", _instant),
        horizon=read.get("decided_horizon", _whole),
        recalled=read.words("recalled"),
        recalled_as_of=read.get("recalled_as_of", _instant),
        cited=read.words("cited"),
        valid_until=read.get("valid_until", _instant) if is_note else None,
        flags=read.words("decision_flags"),
        withheld=read.words("withheld"),
        holdout=read.get("holdout", _number) or 0.0,
        extra=(read.get("extra", _extra) or {}) | edited,
    )
    additions = tuple(_additions(read, now))
    check(recorded, additions)
    return Whole(recorded, additions, where)


def _is_note(read: "_Row") -> bool:
    """Whether a row is a note; beside a decision stands what a person noted of it."""
    if status := read.text("status"):
        return status == Status.NOTE
    return read.is_there("note") and not read.is_there("decision")


def _additions(read: "_Row", now: datetime) -> list[Addition]:
    found: list[Addition] = []
    if read.is_there("raw_return"):
        found.append(Addition(kind=Act.OUTCOME, at=now, outcome=_outcome(read)))
    if lesson := clean(read.text("reflection")):
        data = {"model": "not told", "links": list(read.words("links"))}
        data["tags"] = list(read.words("tags"))
        kept = {name: value for name, value in data.items() if value}
        found.append(Addition(kind=Act.REFLECTION, at=now, text=lesson, data=kept))
    if read.text("status") == "unresolvable":
        reason = read.text("reason") or "not told"
        found.append(Addition(kind=Act.UNRESOLVABLE, at=now, data={"reason": reason}))
    if not _is_note(read) and (remark := clean(read.text("note"))):
        found.append(Addition(kind=Act.REMARK, text=remark))
    return found


def _outcome(read: "_Row") -> Outcome:
    values: dict[str, Any] = {}
    for field in fields(Outcome):
        name = field.name
        if name not in _OUTCOME or not read.is_there(name):
            continue
        values[name] = read.need(name, _reader(name))
    for name in ("horizon", "sessions", "known_at"):
        if name not in values:
            raise UsageError(f"it has an outcome without {name}")
    return Outcome(**({"alpha": None} | values), flags=read.words("outcome_flags"))


def _reader(name: str) -> Callable[[Any], Any]:
    if name == "known_at":
        return _instant
    if name.endswith("_date"):
        return parse_date
    if name in ("horizon", "sessions"):
        return _whole
    return str if name in ("benchmark", "basis", "source") else _number


class _Row:
    """The values of a row, read one by one."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row

    def is_there(self, name: str) -> bool:
        return self._row.get(name) not in (None, "", ())

    def text(self, name: str) -> str:
        value = self._row.get(name)
        return "" if value is None else str(value)

    def words(self, name: str) -> tuple[str, ...]:
        value = self._row.get(name)
        if value is None:
            return ()
        if isinstance(value, str):
            words = value.split(_BETWEEN[name].strip()) if name in _BETWEEN else value.split()
            return tuple(word.strip() for word in words if word.strip())
        return tuple(map(str, value))

    def get(self, name: str, read: Callable[[Any], Any]) -> Any:
        return self.need(name, read) if self.is_there(name) else None

    def need(self, name: str, read: Callable[[Any], Any]) -> Any:
        if not self.is_there(name):
            raise UsageError(f"it has no {name}")
        try:
            return read(self._row[name])
        except UsageError:
            raise
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise UsageError(f"its {name} cannot be read: {self._row[name]!r}") from error

    def rating(self) -> Rating | None:
        text = self.text("rating")
        return None if text in ("", UNRATED) else self.need("rating", Rating)


def _instant(value: Any) -> datetime:
    return value if isinstance(value, datetime) else parse_instant(value)


def _extra(value: Any) -> dict[str, Any]:
    found = json.loads(value)
    if not isinstance(found, dict) or RESERVED & found.keys():
        raise ValueError(value)
    return found


def _whole(value: Any) -> int:
    number = float(value)
    if number != int(number):
        raise ValueError(value)
    return int(number)


def _number(value: Any) -> float:
    number = float(value)
    if number - number != 0:  # no infinity, and no NaN
        raise ValueError(value)
    return number


def as_text(name: str, value: Any) -> Any:
    """A value of a row for CSV: ISO dates and instants, exact numbers, lists as words.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple):
        value = _BETWEEN.get(name, " ").join(value)
    return harmless(value) if isinstance(value, str) else value

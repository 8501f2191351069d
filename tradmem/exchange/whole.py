"""A whole entry: what was recorded and all that was added, as JSON values and back, exactly."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tradmem.clock import parse_date
from tradmem.errors import UsageError
from tradmem.journal.ledger import addition_line, identity, read_addition, read_identity
from tradmem.journal.tagline import check_outcome
from tradmem.journal.text import clean
from tradmem.model import EDITED, Act, Addition, Decision, Entry, Rating
from tradmem.tickers import MARKET, check_ticker

_AGENT_LENGTH = 64
_STRUCTURE = frozenset({"add", "torn"})  # by which a ledger tells its lines apart
_OF_DECISIONS = frozenset({Act.OUTCOME, Act.REFLECTION, Act.UNRESOLVABLE, Act.REOPEN})
_ID = re.compile(r"[0-9a-f]{12}\Z")


class Whole(NamedTuple):
    """What an entry is made of, and where it was read.

    Attributes:
        recorded: what was recorded.
        additions: what was added to it, in order.
        where: a file and line, for people; empty if it comes from a journal.
        archived: whether it stands in an archive.
        place: on a page, its number among all that were exported with it; 0 where none is told.
    """

    recorded: Decision
    additions: tuple[Addition, ...] = ()
    where: str = ""
    archived: bool = False
    place: int = 0


def whole_of(entry: Entry) -> Whole:
    """What an entry is made of."""
    return Whole(recorded_of(entry), entry.additions, archived=entry.archived)


def recorded_of(entry: Entry) -> Decision:
    """What a copy of an entry records: as the entry stands, and which of it a person typed."""
    recorded = entry.recorded
    if not entry.edited:
        return recorded
    return replace(recorded, extra={**recorded.extra, EDITED: list(entry.edited)})


def to_json(whole: Whole) -> dict[str, Any]:
    """A whole entry as JSON values: exact floats, ISO dates, Z instants."""
    recorded = whole.recorded
    return {
        "note" if recorded.is_note else "decision": recorded.text,
        "identity": identity(recorded),
        "additions": [
            addition_line(addition) | ({"text": addition.text} if addition.text else {})
            for addition in whole.additions
        ],
    }


def from_json(data: Any, where: str = "") -> Whole:
    """Read what :func:`to_json` wrote.

    Raises:
        UsageError: it is no whole entry, or something in it cannot be.
    """
    try:
        is_note = "note" in data
        arguments, was = read_identity(data["identity"])
        rating = was.get("rating")
        recorded = Decision(
            date=parse_date(was["date"]),
            ticker=was["ticker"] if is_note and was["ticker"] == MARKET else str(was["ticker"]),
            text=clean(_text(data["note" if is_note else "decision"])),
            rating=None if rating is None else Rating(rating),
            is_note=is_note,
            **arguments,
        )
        additions = tuple(_addition(line) for line in data["additions"])
        json.dumps(data, allow_nan=False)  # what is kept as it came has to fit into a ledger
    except KeyError as error:
        raise UsageError(f"a whole entry has no {error.args[0]}") from error
    except UsageError:
        raise
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"it is no whole entry: {error}") from error
    if found := _STRUCTURE & recorded.extra.keys():
        raise UsageError(f"its identity holds {min(found)!r}, which is a word of the ledger itself")
    check(recorded, additions)
    return Whole(recorded, additions, where)


def _addition(line: Mapping[str, Any]) -> Addition:
    left = dict(line)
    text = _text(left.pop("text", ""))
    addition, _ = read_addition(left)
    return addition if not text else _with_text(addition, clean(text))


def _with_text(addition: Addition, text: str) -> Addition:
    return Addition(
        kind=addition.kind,
        at=addition.at,
        known_at=addition.known_at,
        outcome=addition.outcome,
        text=text,
        data=addition.data,
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is a string, not {type(value).__name__}")
    return value


def check(recorded: Decision, additions: Sequence[Addition] = ()) -> None:
    """See to it that a decision from elsewhere may stand in a log.

    Raises:
        UsageError: its id, ticker or agent can be none, or a note is said to have an outcome.
    """
    if not _ID.match(recorded.id):
        raise UsageError(f"{recorded.id[:40]!r} is no id; it has 12 hex digits")
    is_market = recorded.is_note and recorded.ticker == MARKET
    if not is_market and check_ticker(recorded.ticker) != recorded.ticker:
        raise UsageError(f"{recorded.ticker!r} is no ticker in upper case")
    agent = recorded.agent
    if len(agent) > _AGENT_LENGTH or not agent.isprintable() or "|" in agent:
        raise UsageError(f"{agent[:60]!r} is no name of an agent")
    if recorded.revision < 0 or (recorded.horizon is not None and recorded.horizon < 1):
        raise UsageError("a revision is 0 or more, and a horizon 1 or more")
    if not recorded.text and recorded.is_note:
        raise UsageError("a note has no text")
    judged = [str(act.kind) for act in additions if act.kind in _OF_DECISIONS]
    if recorded.is_note and judged:
        raise UsageError(
            f"it is a note and has the {judged[0]} of a decision; write its text as decision, or "
            "leave that out"
        )


def check_known(whole: Whole, now: datetime) -> None:
    """See to it that nothing in an entry is later than the clock, or beyond all bounds.

    Raises:
        UsageError: something is.
    """
    if whole.recorded.date > (now + timedelta(days=1)).date():  # somewhere it is tomorrow already
        raise UsageError(f"it is dated {whole.recorded.date}, which is later than the clock")
    instants = {
        "decided": whole.recorded.decided_at,
        "recorded": whole.recorded.recorded_at,
        "shown its memories": whole.recorded.recalled_as_of,
    }
    for what, instant in instants.items():
        if instant and instant > now:
            raise UsageError(f"it was {what} at {instant}, which is later than the clock")
    for addition in whole.additions:
        if addition.outcome:
            check_outcome(addition.outcome)
        known_at = addition.outcome.known_at if addition.outcome else addition.known_at
        latest = max((when for when in (known_at, addition.at) if when), default=None)
        if latest and latest > now:
            raise UsageError(f"its {addition.kind} is of {latest}, which is later than the clock")

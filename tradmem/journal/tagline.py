"""The tag line of an entry: what a person scans, and what wins where a person edited it."""

import re
from datetime import date as Date  # noqa: N812 - `date` is the name of a field here
from typing import NamedTuple

from tradmem.clock import parse_date
from tradmem.errors import UsageError
from tradmem.model import Entry, Outcome, Rating, Status
from tradmem.tickers import MARKET, check_ticker

NO_ALPHA = "n/a"
UNRATED = "Unrated"
_NOTE = "Note"
_PENDING = "pending"
_UNRESOLVABLE = "unresolvable"
_RESOLVED = "resolved:"
_MOST_SESSIONS = 99_999
_MOST_RETURN = 1e27
_PERCENT = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,9})?%\Z")
_HELD = re.compile(r"([0-9]{1,5})d\Z")
# Whatever could end a field, the tag or its line, by anybody's notion of a line.
_NOT_IN_REASON = re.compile(r"[\ud800-\udfff|\]\[\x00-\x1f\x7f\x85\u2028\u2029\s]+")
_RATINGS = {rating.lower(): rating for rating in Rating}


class Tag(NamedTuple):
    """A tag line, read.

    Attributes:
        rating: None if it is ``Unrated`` or cannot be read.
        rating_text: as it stands there.
        status: ``settled`` wherever figures stand; whether there is a lesson, the body says.
        raw, alpha: as they stand there, such as ``+4.5%`` or ``n/a``.
        sessions: sessions held.
        known_on: the date behind ``resolved:``, where there is one.
        reason: of an unresolvable entry.
    """

    date: Date
    ticker: str
    status: Status
    rating: Rating | None = None
    rating_text: str = ""
    raw: str = ""
    alpha: str = ""
    sessions: int = 0
    known_on: Date | None = None
    reason: str = ""


def looks_like_tag(line: str) -> bool:
    """Whether a line has the shape ``[… | …]``."""
    line = line.strip()
    return line.startswith("[") and line.endswith("]") and "|" in line


def read_tag(line: str) -> Tag:
    """Read a tag line in any form that tradmem or TradingAgents (0.3 to 0.5) writes.

    Raises:
        UsageError: it is no tag; the message says what cannot be read.
    """
    fields = [field.strip() for field in line.strip()[1:-1].split("|")]
    day = parse_date(fields[0])
    if len(fields) == 3 and fields[2] == _NOTE:
        ticker = MARKET if fields[1] == MARKET else check_ticker(fields[1])
        return Tag(date=day, ticker=ticker, status=Status.NOTE)
    if len(fields) < 4:
        raise UsageError("a tag has at least four fields: date, ticker, rating, pending")
    ticker = check_ticker(fields[1])
    rating, state = fields[2], fields[3]
    common = {
        "date": day,
        "ticker": ticker,
        "rating": _RATINGS.get(rating.lower()),
        "rating_text": rating,
    }
    if state == _PENDING and len(fields) == 4:
        return Tag(status=Status.PENDING, **common)  # type: ignore[arg-type]
    if state == _UNRESOLVABLE and len(fields) <= 5:
        return Tag(status=Status.UNRESOLVABLE, reason="".join(fields[4:]), **common)  # type: ignore[arg-type]
    return Tag(status=Status.SETTLED, **common, **_read_figures(fields[3:]))  # type: ignore[arg-type]


def _read_figures(fields: list[str]) -> dict[str, object]:
    held = _HELD.match(fields[2]) if len(fields) in (3, 4) else None
    dated = len(fields) < 4 or fields[3].startswith(_RESOLVED)
    if not (held and dated and _PERCENT.match(fields[0])):
        raise UsageError(f"the state {' | '.join(fields)!r} cannot be read")
    if fields[1].lower() != NO_ALPHA and not _PERCENT.match(fields[1]):
        raise UsageError(f"the alpha {fields[1]!r} cannot be read")
    for field in fields[:2]:
        if abs(fraction(field) or 0.0) > _MOST_RETURN:
            raise UsageError(f"{field:.40} is beyond all bounds")
    return {
        "raw": fields[0],
        "alpha": fields[1],
        "sessions": int(held[1]),
        "known_on": parse_date(fields[3][len(_RESOLVED) :].strip()) if len(fields) == 4 else None,
    }


def percent(value: float | None) -> str:
    """A fraction as the tag shows it: ``+4.5%``; ``n/a`` for None."""
    return NO_ALPHA if value is None else f"{value:+.1%}"


def fraction(text: str) -> float | None:
    """The inverse of :func:`percent`, as far as one decimal goes."""
    return None if text.lower() == NO_ALPHA else float(text.rstrip("%")) / 100


def check_outcome(outcome: Outcome) -> None:
    """See to it that an outcome can stand in a tag, and be read back from it.

    Raises:
        UsageError: a return, or the sessions that were held, are beyond all bounds.
    """
    for name, number in (("horizon", outcome.horizon), ("sessions", outcome.sessions)):
        if not 0 <= number <= _MOST_SESSIONS:
            raise UsageError(f"{name} is {number!r:.40}; it is 0 to {_MOST_SESSIONS} sessions")
    for name, value in (("a return", outcome.raw_return), ("an alpha", outcome.alpha)):
        if value is not None and not abs(value) <= _MOST_RETURN:
            raise UsageError(f"{name} of {value!r:.40} cannot be; write a fraction such as 0.042")


def plain_reason(text: str) -> str:
    """A reason that can stand in a tag: one line without ``|``, ``[`` and ``]``."""
    return _NOT_IN_REASON.sub(" ", text).strip() or "no reason given"


def write_tag(entry: Entry, *, rating_text: str = "") -> str:
    """The tag line of an entry as it is now.

    Args:
        entry: the entry.
        rating_text: what stands for a rating that could not be read.
    """
    recorded = entry.recorded
    head = f"{recorded.date.isoformat()} | {recorded.ticker}"
    if recorded.is_note:
        return f"[{head} | {_NOTE}]"
    head += f" | {recorded.rating or rating_text or UNRATED}"
    outcome = entry.outcome
    if entry.status is Status.UNRESOLVABLE:
        return f"[{head} | {_UNRESOLVABLE} | {plain_reason(entry.reason)}]"
    if outcome is None:
        return f"[{head} | {_PENDING}]"
    figures = f"{percent(outcome.raw_return)} | {percent(outcome.alpha)} | {outcome.sessions}d"
    return f"[{head} | {figures} | {_RESOLVED}{outcome.known_on.isoformat()}]"

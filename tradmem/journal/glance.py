"""The judgements of a block that is as we write it, for a small part of what parsing it costs."""

import re
from datetime import date as Date  # noqa: N812 - as everywhere in the journal
from datetime import datetime

from tradmem.journal import shapes
from tradmem.journal.tagline import percent
from tradmem.journal.tally import SILENT, Judgement
from tradmem.journal.verdicts import Figures, sample_of
from tradmem.model import Rating

_SILENT = "|".join(sorted(SILENT)).encode()
_BLOCK = re.compile(
    rb"\s*\[([0-9-]{10}) \| (\^?[A-Z0-9][A-Z0-9.&=_^-]{0,31}) \| (\w+) \| "
    rb"([+-][0-9.]+%) \| ([+-][0-9.]+%|n/a) \| ([0-9]{1,5})d \| resolved:([0-9-]{10})\]\r?\n"
    rb"<!-- tradmem: " + shapes.IDENTITY + rb" -->\r?\n"
    rb'((?:<!-- tradmem: \{"add":"(?:outcome|' + _SILENT + rb')",[^\n]*\} -->\r?\n)+)'
    rb"\r?\nDECISION:\r?\n"
)
_OUTCOME = re.compile(rb"^<!-- tradmem: " + shapes.OUTCOME + rb" -->\r?$", re.MULTILINE)
_OUTCOME_LINE = b'<!-- tradmem: {"add":"outcome"'
_TAG = re.compile(rb"(?<!\\)\[[0-9]{4}-[0-9]{2}-[0-9]{2} \|")
_RATINGS = {str(rating).encode(): rating for rating in Rating}


def glance(raw: bytes) -> list[Judgement] | None:
    """The same as parsing a block and asking ``judgements``; None if it takes a parser.

    That is so for a block that a person edited, and for one whose outcome was corrected.
    """
    found = _BLOCK.match(raw)
    if not found or _is_odd(raw, found.end()):
        return None
    day, ticker, rating, raw_return, alpha, held, known_on, *identity, ledger = found.groups()
    _, decided, _, recorded, own, _, _ = identity
    if ledger.count(b'"add":') != ledger.count(b'{"add":'):
        return None  # a line that says twice what it adds
    try:
        if not raw.isascii():
            raw.decode()
        lines = _OUTCOME.findall(ledger)
        if len(lines) != ledger.count(_OUTCOME_LINE):
            return None
        outcomes = [_figures(line) for line in lines]
        horizons = [outcome.horizon for outcome in outcomes]
        place = horizons.index(int(own)) if own else 0
        primary, known_at = outcomes[place], outcomes[place].known_at
        days = [line[5][:10] for line in lines]  # on which each was known
        if (
            rating != recorded
            or held != lines[place][2]
            or raw_return != percent(primary.raw_return).encode()
            or alpha != percent(primary.alpha).encode()
            or days[place] != known_on
            or min(days) <= (decided or day)[:10]  # before the decision, as cannot be
            or len(set(horizons)) < len(horizons)
            # Without a horizon of its own, another was the primary one for a while.
            or (own is None and known_at != min(outcome.known_at for outcome in outcomes))
        ):
            return None
        said, name, on = _RATINGS[rating], ticker.decode(), Date.fromisoformat(day.decode())
        return [
            Judgement(
                max(outcome.known_at, known_at),
                1,
                sample_of(outcome, rating=said, ticker=name, day=on, is_primary=outcome is primary),
            )
            for outcome in outcomes
        ]
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        return None


def _is_odd(raw: bytes, start: int) -> bool:
    """Whether the text from ``start`` on holds what no text of ours does.

    With it a block holds no entry, or may hold none.
    """
    if raw.find(b"[", start) >= 0 and _TAG.search(raw, start):
        return True
    return (
        b"\0" in raw
        or raw.find(b"<!-- tradmem:", start) >= 0
        or raw.find(b"\nDECISION:", start - 1) >= 0
        or raw.find(b"\n<<<<<<< ", start - 1) >= 0
        or raw.find(b"\n>>>>>>> ", start - 1) >= 0
    )


def _figures(told: tuple[bytes, ...]) -> Figures:
    """The figures of an outcome, from the groups of :data:`shapes.OUTCOME`."""
    stamped, horizon, sessions, raw, alpha, known_at, entry, leave, band = told
    datetime.fromisoformat(stamped.decode())  # if it cannot be, or was typed, a parser tells
    return Figures(
        int(horizon),
        int(sessions),
        float(raw),
        None if alpha == b"null" else float(alpha),
        float(band) if band else None,
        datetime.fromisoformat(known_at.decode()),
        Date.fromisoformat(entry.decode()) if entry else None,
        Date.fromisoformat(leave.decode()) if leave else None,
    )

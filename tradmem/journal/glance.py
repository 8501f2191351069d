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
# With these a block holds no entry, or may hold none.
_ODD = (b"\nDECISION:", b"\n<<<<<<< ", b"\n>>>>>>> ", b"<!-- tradmem:")


def glance(raw: bytes) -> list[Judgement] | None:
    """The same as parsing a block and asking ``judgements``; None if it takes a parser.

    That is so for a block that a person edited, and for one whose outcome was corrected.
    """
    found = _BLOCK.match(raw)
    if not found or _is_odd(raw, found.end()):
        return None
    day, ticker, rating, *told, known_on = found.groups()[:7]
    _, decided, _, recorded, own, _, _, ledger = found.groups()[7:]
    if ledger.count(b'"add":') != ledger.count(b'{"add":'):
        return None  # a line that says twice what it adds
    try:
        raw.decode()
        Date.fromisoformat(known_on.decode())
        outcomes = [_figures(groups) for groups in _OUTCOME.findall(ledger)]
        if len(outcomes) != ledger.count(_OUTCOME_LINE):
            return None
        horizons = [outcome.horizon for outcome in outcomes]
        primary = outcomes[horizons.index(int(own) if own else horizons[0])]
        figures = (percent(primary.raw_return), percent(primary.alpha), str(primary.sessions))
        is_plain = rating == recorded and [figure.encode() for figure in figures] == told
        is_plain = is_plain and primary.known_at.date().isoformat() == known_on.decode()
        if own is None:  # else another was the primary one for a while
            is_plain = is_plain and primary.known_at == min(o.known_at for o in outcomes)
        if (
            not is_plain
            or len(set(horizons)) < len(horizons)
            or not _are_later(outcomes, decided[:10] if decided else day)
        ):
            return None
        return [
            Judgement(
                max(outcome.known_at, primary.known_at),
                1,
                sample_of(
                    outcome,
                    rating=Rating(rating.decode()),
                    ticker=ticker.decode(),
                    day=Date.fromisoformat(day.decode()),
                    is_primary=outcome is primary,
                ),
            )
            for outcome in outcomes
        ]
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        return None


def _is_odd(raw: bytes, start: int) -> bool:
    """Whether the text from ``start`` on holds what no text of ours does."""
    if raw.find(b"[", start) >= 0 and _TAG.search(raw, start):
        return True
    return b"\0" in raw or any(raw.find(odd, start - 1) >= 0 for odd in _ODD)


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


def _are_later(outcomes: list[Figures], decided_on: bytes) -> bool:
    """Whether all outcomes were known after their decision, as must be; to the day is enough."""
    first = min(outcome.known_at for outcome in outcomes)
    return first.date().isoformat() > decided_on.decode()

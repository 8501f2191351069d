"""The judgements of a block that is as we write it, for a small part of what parsing it costs."""

import json
import re

from tradmem.clock import parse_date, parse_instant
from tradmem.journal.tagline import percent
from tradmem.journal.tally import SILENT, Judgement
from tradmem.journal.verdicts import Figures, sample_of
from tradmem.model import Rating

_SILENT = "|".join(sorted(SILENT)).encode()
_BLOCK = re.compile(
    rb"\s*\[([0-9-]{10}) \| ([^|\]\s]+) \| (\w+) \| ([+-][0-9.]+%) \| ([+-][0-9.]+%|n/a)"
    rb" \| ([0-9]+)d \| resolved:[0-9-]{10}\]\r?\n"
    rb'<!-- tradmem: (\{"v":1,[^\n]*"rating":"(\w+)"[^\n]*)\r?\n'
    rb'((?:<!-- tradmem: \{"add":"(?:outcome|' + _SILENT + rb')",[^\n]*\} -->\r?\n)+)\r?\n'
)
_OUTCOME = re.compile(rb'<!-- tradmem: (\{"add":"outcome",[^\n]*\}) -->')
_DECIDED = re.compile(rb'"decided_at":"([^"]+)"')
_HORIZON = re.compile(rb'"horizon":([0-9]+)')


def glance(raw: bytes) -> list[Judgement] | None:
    """The same as parsing a block and asking ``judgements``; None if it takes a parser.

    That is so for a block that a person edited, and for one whose outcome was corrected.
    """
    if b"<<<<<<< " in raw or b">>>>>>> " in raw:  # perhaps no entry at all
        return None
    found = _BLOCK.match(raw)
    if not found:
        return None
    day, ticker, rating, *told, identity, recorded, ledger = found.groups()
    try:
        outcomes = [_figures(line) for line in _OUTCOME.findall(ledger)]
        horizons = [outcome.horizon for outcome in outcomes]
        own = _HORIZON.search(identity)
        primary = outcomes[horizons.index(int(own[1]) if own else horizons[0])]
        figures = (percent(primary.raw_return), percent(primary.alpha), str(primary.sessions))
        is_plain = rating == recorded and [figure.encode() for figure in figures] == told
        if not is_plain or len(set(horizons)) < len(horizons) or not _is_later(primary, found):
            return None
        return [
            Judgement(
                max(outcome.known_at, primary.known_at),
                1,
                sample_of(
                    outcome,
                    rating=Rating(rating.decode()),
                    ticker=ticker.decode(),
                    day=parse_date(day.decode()),
                    is_primary=outcome is primary,
                ),
            )
            for outcome in outcomes
        ]
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def _figures(line: bytes) -> Figures:
    data = json.loads(line)
    start, end = data.get("entry"), data.get("exit")
    return Figures(
        data["horizon"],
        data["sessions"],
        data["raw"],
        data["alpha"],
        data.get("band"),
        parse_instant(data["known_at"]),
        parse_date(start) if start else None,
        parse_date(end) if end else None,
    )


def _is_later(primary: Figures, found: "re.Match[bytes]") -> bool:
    """Whether an outcome was known after its decision was, as must be; to the day is enough."""
    decided = _DECIDED.search(found[7])
    last = decided[1][:10] if decided else found[1]
    return primary.known_at.date().isoformat().encode() > last

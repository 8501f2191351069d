"""How often calls were right, counted once and kept: verdicts by the instant they were known."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from tradmem.clock import parse_instant
from tradmem.journal.tagline import percent
from tradmem.model import Entry, Rating, Verdict, band_or_default, judge


class Counts(NamedTuple):
    """Verdicts: of decisions that took a side, of Hold apart, and settled without a rating."""

    right: int = 0
    wrong: int = 0
    neutral: int = 0
    hold_right: int = 0
    hold_wrong: int = 0
    unrated: int = 0


class Judgement(NamedTuple):
    """From an instant on, one verdict more (or less, where a correction took it back)."""

    known_at: datetime
    change: int
    column: int


class Tally:
    """The judgements of one ticker, with their running counts."""

    def __init__(self, judgements: Iterable[Judgement] = ()) -> None:
        self._judgements = sorted(judgements)
        self._counts: list[Counts] = []

    def add(self, judgements: Iterable[Judgement]) -> None:
        """Count some more, usually the latest."""
        for judgement in judgements:
            place = bisect_right(self._judgements, judgement)
            self._judgements.insert(place, judgement)
            del self._counts[place:]

    def as_of(self, instant: datetime) -> Counts:
        """The counts of what was known by an instant, aware UTC."""
        while len(self._counts) < len(self._judgements):
            last = self._counts[-1] if self._counts else Counts()
            judgement = self._judgements[len(self._counts)]
            counts = list(last)
            counts[judgement.column] += judgement.change
            self._counts.append(Counts(*counts))
        place = bisect_right(self._judgements, instant, key=lambda j: j.known_at)
        return self._counts[place - 1] if place else Counts()


def column_of(rating: Rating | None, verdict: Verdict | None) -> int:
    """Where a verdict is counted."""
    if verdict is None:
        return Counts._fields.index("unrated")
    prefix = "hold_" if rating is Rating.HOLD else ""
    return Counts._fields.index(f"{prefix}{verdict}")


def judgements(entry: Entry) -> list[Judgement]:
    """What an entry adds to the counts, and when; several where outcomes followed each other."""
    found: list[Judgement] = []
    before: int | None = None
    for instant in sorted({o.outcome.known_at for o in entry.additions if o.outcome}):
        then = entry.at(instant)
        if then is None or then.outcome is None:
            continue
        column = column_of(then.rating, then.verdict)
        if column == before:
            continue
        if before is not None:
            found.append(Judgement(instant, -1, before))
        found.append(Judgement(instant, 1, column))
        before = column
    return found


_BLOCK = re.compile(
    rb"\s*\[[0-9-]{10} \| ([^|\]\s]+) \| (\w+) \| ([+-][0-9.]+%) \| ([+-][0-9.]+%|n/a) \| ([0-9]+)d"
    rb' \| resolved:[0-9-]{10}\]\r?\n<!-- tradmem: \{"v":1,[^\n]*"rating":"(\w+)"[^\n]*\r?\n'
    rb'<!-- tradmem: (\{"add":"outcome",[^\n]*\}) -->\r?\n'
    rb'(?:<!-- tradmem: \{"add":"reflection"[^\n]*\r?\n)?\r?\n'
)


def glance(raw: bytes) -> list[Judgement] | None:
    """The judgement of a block that is as we write it, with one outcome and no edit; else None.

    The same as parsing the block and asking :func:`judgements`, for a tenth of the time.
    """
    found = _BLOCK.match(raw)
    if not found or found[2] != found[6]:
        return None
    try:
        data = json.loads(found[7])
        raw_return, alpha, sessions = data["raw"], data["alpha"], data["sessions"]
        told = (percent(raw_return).encode(), percent(alpha).encode(), str(sessions).encode())
        if told != found.group(3, 4, 5):
            return None
        rating = Rating(found[2].decode())
        judged = raw_return if alpha is None else alpha
        band = band_or_default(data.get("band"), found[1].decode(), sessions)
        column = column_of(rating, judge(rating, judged, band))
        return [Judgement(parse_instant(data["known_at"]), 1, column)]
    except (KeyError, TypeError, ValueError):
        return None

"""What statistics keep of an outcome, and how it is counted: by verdict, and by block of time.

Neighbouring windows overlap and tickers move together, so verdicts are also counted by blocks
of time: sums over them are all that an honest interval needs, see ``lessons.rates``.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date as Date  # noqa: N812 - `date` is the name of a field elsewhere
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple

from tradmem.model import Entry, Outcome, Rating, band_or_default

# Nine cells, by the rating's direction (+1, 0, -1) and the move's beyond the band; one more.
UNRATED = 9
CELLS = 10
_RIGHT, _WRONG, _NEUTRAL = (0, 8), (2, 6), (1, 7)
_HOLD_RIGHT, _HOLD_WRONG = 4, (3, 5)
# What counts in a rate, and as what: of calls with a side, of Holds, had all been a Buy.
SIDED = {0: 1, 8: 1, 2: 0, 6: 0}
HOLDS = {4: 1, 3: 0, 5: 0}
ALWAYS_BUY = {0: 1, 3: 1, 6: 1, 2: 0, 5: 0, 8: 0}
_BLOCK_SPANS = 2  # windows within a block overlap those of its neighbours only at its ends


class Sums(NamedTuple):
    """Verdicts that are right or wrong, summed over blocks of time.

    Attributes:
        n: how many.
        right: how many of them are right.
        blocks: how many blocks hold any.
        rr, rn, nn: over the blocks, of the right squared, the right times all, all squared.
    """

    n: int = 0
    right: int = 0
    blocks: int = 0
    rr: int = 0
    rn: int = 0
    nn: int = 0


class Counts(NamedTuple):
    """Verdicts at one horizon.

    Attributes:
        horizon: in sessions.
        cells: outcomes by the rating's direction and the move beyond the band, and those
            without a rating; see :func:`cell_of`.
        raw: those judged by the raw return, for want of an alpha.
        primaries: outcomes that are their decision's own, not of a further horizon.
        sums: over blocks of time, of those right or wrong.
    """

    horizon: int
    cells: tuple[int, ...] = (0,) * CELLS
    raw: int = 0
    primaries: int = 0
    sums: Sums = Sums()

    @property
    def right(self) -> int:
        """Buy to Sell, without Hold."""
        return sum(self.cells[cell] for cell in _RIGHT)

    @property
    def wrong(self) -> int:
        """Buy to Sell, without Hold."""
        return sum(self.cells[cell] for cell in _WRONG)

    @property
    def neutral(self) -> int:
        """Buy to Sell, without Hold: the move stayed within the band."""
        return sum(self.cells[cell] for cell in _NEUTRAL)

    @property
    def hold_right(self) -> int:
        """Holds of what stayed within the band."""
        return self.cells[_HOLD_RIGHT]

    @property
    def hold_wrong(self) -> int:
        """Holds of what moved."""
        return sum(self.cells[cell] for cell in _HOLD_WRONG)

    @property
    def unrated(self) -> int:
        """Settled without a rating, so without a verdict."""
        return self.cells[UNRATED]


class Figures(NamedTuple):
    """As much of an outcome as is counted, under its names."""

    horizon: int
    sessions: int
    raw_return: float
    alpha: float | None
    band: float | None
    known_at: datetime
    entry_date: Date | None
    exit_date: Date | None

    @property
    def judged(self) -> float:
        """Alpha, or the raw return where there is none."""
        return self.raw_return if self.alpha is None else self.alpha


class Sample(NamedTuple):
    """What the counts need to know of one outcome.

    Attributes:
        horizon: in sessions.
        entry: the date of its entry, as an ordinal.
        span: calendar days from its entry to its exit.
        cell: see :func:`cell_of`.
        is_raw: whether the raw return stood in for alpha.
        is_primary: whether the horizon is the decision's own.
    """

    horizon: int
    entry: int
    span: int
    cell: int
    is_raw: bool
    is_primary: bool


def cell_of(rating: Rating | None, judged: float, band: float) -> int:
    """Which of the cells an outcome belongs to."""
    if rating is None:
        return UNRATED
    move = 1 if judged > band else -1 if judged < -band else 0
    return 3 * (1 - rating.direction) + 1 - move


def dates_of(outcome: Outcome | Figures, day: Date) -> tuple[Date, Date]:
    """The dates of entry and exit; estimated from the decision's where a log has none."""
    entry = outcome.entry_date or day
    if outcome.exit_date:
        return entry, outcome.exit_date
    days = min(ceil(outcome.sessions * 7 / 5), (Date.max - entry).days)
    return entry, entry + timedelta(days=days)


def block_of(entry: int, longest: int) -> int:
    """The block of time of an outcome.

    Args:
        entry: the date of its entry, as an ordinal; blocks of whole weeks start on Mondays.
        longest: calendar days of the longest window among the outcomes counted.
    """
    return (entry - 1) // (_BLOCK_SPANS * max(longest, 1))


def sample_of(
    outcome: Outcome | Figures, *, rating: Rating | None, ticker: str, day: Date, is_primary: bool
) -> Sample:
    """What to count of an outcome of a decision with this rating, ticker and date."""
    start, end = dates_of(outcome, day)
    band = band_or_default(outcome.band, ticker, outcome.sessions)
    cell = cell_of(rating, outcome.judged, band)
    entry, span = start.toordinal(), (end - start).days
    return Sample(outcome.horizon, entry, span, cell, outcome.alpha is None, is_primary)


def samples(entry: Entry) -> list[Sample]:
    """The outcomes of an entry, as it stood at one instant; none before its own is there."""
    primary = entry.outcome
    if primary is None:
        return []
    return [
        sample_of(
            outcome,
            rating=entry.rating,
            ticker=entry.ticker,
            day=entry.date,
            is_primary=outcome is primary,
        )
        for outcome in entry.outcomes
    ]


class Blocks:
    """Samples by block of time, from which any of their sums follow.

    Args:
        found: the samples.
    """

    def __init__(self, found: Sequence[Sample]) -> None:
        self.longest = longest_of(found)
        entries = Counter((sample.entry, sample.cell) for sample in found)
        self._cells: Counter[tuple[int, int]] = Counter()
        for (entry, cell), times in entries.items():
            self._cells[block_of(entry, self.longest), cell] += times

    def cells(self) -> tuple[int, ...]:
        """How many samples are in each cell."""
        cells = [0] * CELLS
        for (_, cell), times in self._cells.items():
            cells[cell] += times
        return tuple(cells)

    def sums(self, meaning: Mapping[int, int]) -> Sums:
        """Sums over blocks of what the cells mean; one without a meaning is not counted.

        Args:
            meaning: by cell, 1 for right and 0 for wrong.
        """
        right: Counter[int] = Counter()
        all_: Counter[int] = Counter()
        for (block, cell), times in self._cells.items():
            if cell in meaning:
                right[block] += times * meaning[cell]
                all_[block] += times
        return Sums(
            n=sum(all_.values()),
            right=sum(right.values()),
            blocks=len(all_),
            rr=sum(r * r for r in right.values()),
            rn=sum(r * all_[block] for block, r in right.items()),
            nn=sum(n * n for n in all_.values()),
        )


def longest_of(found: Iterable[Sample]) -> int:
    """Calendar days of the longest window among the outcomes that have a verdict."""
    return max((sample.span for sample in found if sample.cell != UNRATED), default=0)


def count(horizon: int, found: Sequence[Sample], blocks: Blocks | None = None) -> Counts:
    """The counts of samples at one horizon: what :class:`Tally` keeps, from scratch."""
    blocks = blocks or Blocks(found)
    return Counts(
        horizon=horizon,
        cells=blocks.cells(),
        raw=sum(sample.is_raw for sample in found if sample.cell != UNRATED),
        primaries=sum(sample.is_primary for sample in found),
        sums=blocks.sums(SIDED),
    )

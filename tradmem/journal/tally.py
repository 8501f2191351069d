"""How often calls were right, counted once and kept: verdicts by the instant they were known."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from tradmem.journal.verdicts import SIDED, UNRATED, Counts, Sample, Sums, block_of, samples
from tradmem.model import GOVERNING, Act, Entry, known

SILENT = GOVERNING | {Act.REFLECTION, Act.REMARK}  # acts that no verdict depends on


class Judgement(NamedTuple):
    """From an instant on, one sample more (or less, where something took it back)."""

    known_at: datetime
    change: int
    sample: Sample


def judgements(entry: Entry) -> list[Judgement]:
    """What an entry adds to the counts, and when; several where something was corrected."""
    if not entry.outcomes:
        return []
    since = entry.recorded.known_at
    dated = known(entry.additions, entry.recorded)
    instants = {max(when, since) for when, act in dated if when and act.kind not in SILENT}
    found: list[Judgement] = []
    before: list[Sample] = []
    for instant in sorted(instants):
        then = entry.at(instant)
        now = samples(then) if then else []
        found += [Judgement(instant, -1, sample) for sample in before if sample not in now]
        found += [Judgement(instant, 1, sample) for sample in now if sample not in before]
        before = now
    return found


class Tally:
    """The judgements of one ticker, with the counts after each of them."""

    def __init__(self, judgements: Iterable[Judgement] = ()) -> None:
        self._series: dict[int, _Series] = {}
        self.add(judgements)

    def add(self, judgements: Iterable[Judgement]) -> None:
        """Count some more; cheap where they are the latest."""
        for judgement in judgements:
            horizon = judgement.sample.horizon
            if horizon not in self._series:
                self._series[horizon] = _Series(horizon)
            self._series[horizon].add(judgement)

    def as_of(self, instant: datetime) -> tuple[Counts, ...]:
        """The counts of what was known by an instant, aware UTC; the shortest horizon first."""
        found = (self._series[horizon].as_of(instant) for horizon in sorted(self._series))
        return tuple(counts for counts in found if any(counts.cells))


class _Series:
    """The judgements at one horizon, by the instant at which they were known."""

    def __init__(self, horizon: int) -> None:
        self._judgements: list[Judgement] = []
        self._instants: list[datetime] = []
        self._empty = Counts(horizon)
        self._counts: list[Counts] = []
        self._blocks = _Blocks()

    def add(self, judgement: Judgement) -> None:
        place = bisect_right(self._instants, judgement.known_at)
        self._instants.insert(place, judgement.known_at)
        self._judgements.insert(place, judgement)
        if place < len(self._counts):
            self._counts, self._blocks = [], _Blocks()

    def as_of(self, instant: datetime) -> Counts:
        place = bisect_right(self._instants, instant)
        while len(self._counts) < place:
            before = self._counts[-1] if self._counts else self._empty
            self._counts.append(self._count(before, self._judgements[len(self._counts)]))
        return self._counts[place - 1] if place else self._empty

    def _count(self, before: Counts, judgement: Judgement) -> Counts:
        _, change, sample = judgement
        cells = list(before.cells)
        cells[sample.cell] += change
        if self._blocks.take(change, sample):
            self._blocks.cut(self._judgements[: len(self._counts) + 1])
        return Counts(
            before.horizon,
            tuple(cells),
            before.raw + change * (sample.is_raw and sample.cell != UNRATED),
            before.primaries + change * sample.is_primary,
            self._blocks.sums,
        )


class _Blocks:
    """Right and all verdicts by block of time, while the longest window stays as it is."""

    def __init__(self) -> None:
        self.sums = Sums()
        self._spans: Counter[int] = Counter()
        self._longest = 0
        self._blocks: dict[int, tuple[int, int]] = {}

    def take(self, change: int, sample: Sample) -> bool:
        """Count a sample; whether the blocks have to be cut anew."""
        if sample.cell == UNRATED:
            return False
        self._spans[sample.span] += change
        longest = max(self._longest, sample.span)
        if not self._spans[sample.span]:
            longest = max((span for span, times in self._spans.items() if times > 0), default=0)
        if longest != self._longest:
            self._longest = longest
            return True
        self._put(change, sample)
        return False

    def cut(self, judgements: Iterable[Judgement]) -> None:
        """Start again with blocks of the length that the longest window asks for."""
        self._blocks, self.sums = {}, Sums()
        for _, change, sample in judgements:
            self._put(change, sample)

    def _put(self, change: int, sample: Sample) -> None:
        right = SIDED.get(sample.cell)
        if right is None:
            return
        block = block_of(sample.entry, self._longest)
        r, n = self._blocks.get(block, (0, 0))
        r_now, n_now = r + change * right, n + change
        self._blocks[block] = (r_now, n_now)
        total, hits, blocks, rr, rn, nn = self.sums
        self.sums = Sums(
            total + change,
            hits + change * right,
            blocks + (n_now > 0) - (n > 0),
            rr + r_now * r_now - r * r,
            rn + r_now * n_now - r * n,
            nn + n_now * n_now - n * n,
        )

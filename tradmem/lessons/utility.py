"""What lessons were worth to the decisions that saw them, by tag.

A hold-out keeps some memories from decisions by lot, see :mod:`tradmem.lessons.holdout`. The
utility of a tag is the mean score (exposure times alpha) over pairs of a decision and a memory
with that tag that it was shown, less the mean over pairs where it was withheld. Both sorts of
decisions saw the track-record line, so this is what the lessons add to it. Tags are told rather
than lessons, of which each alone is seen too seldom.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import fsum, sqrt
from typing import NamedTuple

from tradmem.errors import UsageError
from tradmem.journal.base import is_replaced, newest_revisions
from tradmem.journal.verdicts import Sample, block_of, longest_of, samples
from tradmem.lessons.holdout import unit
from tradmem.lessons.rates import LEAST_BLOCKS, OVERLAP
from tradmem.lessons.salts import Unit, adjusted, difference, p_value
from tradmem.lessons.student import student_t
from tradmem.model import Entry

LEAST_PAIRS = 30  # shown, and as many withheld, below which nothing is told
FALSE_DISCOVERY = 0.1  # the share of wrong ones among the tags that are called found
UNTAGGED = ""


class Finding(StrEnum):
    """What may be said of a tag."""

    HELPS = "helps"
    HARMS = "harms"
    UNTOLD = "not told from chance"
    TOO_LITTLE = "not enough yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class TagUtility:
    """What lessons with one tag were worth.

    Attributes:
        tag: ``UNTAGGED`` for those without any; None for all lessons together.
        shown: pairs of a decision and a memory that it saw.
        withheld: pairs of a decision and a memory that a lot kept from it.
        blocks: of time in which both were; of the sort that was in fewer.
        utility: mean score shown less withheld, a fraction; None while there is not enough.
        low: the lower end of its 95 % interval, clustered by time.
        high: the upper end.
        p: how often lots alone make as large a difference, see :mod:`tradmem.lessons.salts`.
        rate: the false discovery rate at which the tag would just be called found; of all
            lessons together, which are one test, its p.
        finding: what may be said.
    """

    tag: str | None
    shown: int = 0
    withheld: int = 0
    blocks: int = 0
    utility: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    rate: float | None = None
    finding: Finding = Finding.TOO_LITTLE


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonUtility:
    """What lessons were worth, as of one instant.

    Attributes:
        horizon: in sessions, that of the decisions looked at; 0 where there are none.
        decisions: with a hold-out, an outcome there with an alpha, and a rating.
        open: those with a hold-out that lack one of these, or were made for another horizon.
        without: decisions without a hold-out, which tell nothing.
        false_discovery: the rate up to which tags are called found.
        overall: all lessons together.
        tags: each tag, those that are found first, then by utility.
    """

    horizon: int = 0
    decisions: int = 0
    open: int = 0
    without: int = 0
    false_discovery: float = FALSE_DISCOVERY
    overall: TagUtility
    tags: tuple[TagUtility, ...] = ()

    @property
    def tested(self) -> int:
        """Tags of which there is enough."""
        return sum(line.p is not None for line in self.tags)

    @property
    def found(self) -> tuple[TagUtility, ...]:
        """Tags that help or harm."""
        return tuple(t for t in self.tags if t.finding in (Finding.HELPS, Finding.HARMS))


class _Pair(NamedTuple):
    """One decision and one memory."""

    unit: str
    share: float
    withheld: bool
    score: float
    block: int


def lesson_utility(
    entries: Iterable[Entry],
    *,
    horizon: int | None = None,
    false_discovery: float = FALSE_DISCOVERY,
    counts: Callable[[Entry], bool] = lambda _: True,
) -> LessonUtility:
    """What lessons were worth, from entries as they stood at one instant.

    Args:
        entries: all of them, as ``Memory.entries`` gives them.
        horizon: in sessions; that of most decisions with a hold-out by default.
        false_discovery: the share of wrong ones that is put up with among the tags found.
        counts: which decisions are looked at; all by default.

    Raises:
        UsageError: the rate is no share between 0 and 1.
    """
    is_share = isinstance(false_discovery, int | float) and not isinstance(false_discovery, bool)
    if not is_share or not 0 < false_discovery < 1:
        raise UsageError(f"a false discovery rate of {false_discovery!r} cannot be; use 0.1")
    by_id = {entry.id: entry for entry in reversed(list(entries))}
    newest = newest_revisions(by_id.values())
    decisions = [
        entry
        for entry in by_id.values()
        if not entry.recorded.is_note and not is_replaced(entry, newest) and counts(entry)
    ]
    drawn = [entry for entry in decisions if entry.recorded.holdout]
    settled = [(entry, score, sample) for entry in drawn for score, sample in _scored(entry)]
    horizons = Counter(sample.horizon for _, _, sample in settled).most_common(1)
    chosen = horizon or (horizons[0][0] if horizons else 0)
    settled = [found for found in settled if found[2].horizon == chosen]
    longest = longest_of(sample for _, _, sample in settled)
    pairs: dict[str | None, list[_Pair]] = defaultdict(list)
    for entry, score, sample in settled:
        for tag, pair in _pairs(entry, by_id, score, block_of(sample.entry, longest)):
            pairs[tag].append(pair)
    overall = _line(None, pairs.pop(None, []))
    return LessonUtility(
        horizon=chosen,
        decisions=len(settled),
        open=len(drawn) - len(settled),
        without=len(decisions) - len(drawn),
        false_discovery=false_discovery,
        overall=_judged(overall, overall.p, 0.05),
        tags=_family([_line(tag, found) for tag, found in pairs.items()], false_discovery),
    )


def _scored(entry: Entry) -> Iterable[tuple[float, Sample]]:
    """The score of a decision at its own horizon; nothing without a rating or an alpha."""
    outcome = entry.outcome
    if outcome is not None and outcome.alpha is not None and entry.rating is not None:
        yield entry.rating.exposure * outcome.alpha, samples(entry)[0]


def _pairs(
    entry: Entry, by_id: Mapping[str, Entry], score: float, block: int
) -> Iterable[tuple[str | None, _Pair]]:
    """Each memory that was shown to a decision or withheld, by tag and under None."""
    recorded = entry.recorded
    seen_at = recorded.recalled_as_of or recorded.known_at
    for names, withheld in ((recorded.recalled, False), (recorded.withheld, True)):
        for name in names:
            memory = by_id.get(name)
            then = memory.at(seen_at) if memory else None
            if then is None:
                continue
            lot = unit(recorded.ticker, recorded.date, recorded.agent, then)
            pair = _Pair(lot, recorded.holdout, withheld, score, block)
            yield None, pair
            for tag in dict.fromkeys(then.tags or (UNTAGGED,)):
                yield tag, pair


def _line(tag: str | None, pairs: Sequence[_Pair]) -> TagUtility:
    """What pairs tell, before it is judged."""
    shown = [pair for pair in pairs if not pair.withheld]
    withheld = [pair for pair in pairs if pair.withheld]
    line = TagUtility(
        tag=tag,
        shown=len(shown),
        withheld=len(withheld),
        blocks=min(len({pair.block for pair in side}) for side in (shown, withheld)),
    )
    if min(line.shown, line.withheld) < LEAST_PAIRS or line.blocks < LEAST_BLOCKS:
        return line
    units = _units(pairs)
    utility = difference(units)
    assert utility is not None
    half = _half_width(pairs)
    return replace(line, utility=utility, low=utility - half, high=utility + half, p=p_value(units))


def _units(pairs: Sequence[_Pair]) -> list[Unit]:
    """What each lot decides on; pairs of one decision that say the same share theirs."""
    found: dict[tuple[str, float, bool], list[float]] = defaultdict(list)
    for pair in pairs:
        found[pair.unit, pair.share, pair.withheld].append(pair.score)
    return [Unit(*key, len(scores), fsum(scores)) for key, scores in found.items()]


def _half_width(pairs: Sequence[_Pair]) -> float:
    """Half of the 95 % interval of a difference of two weighted means, clustered by time.

    The variance of :mod:`tradmem.lessons.rates`, of what each pair adds to the difference.
    """
    blocks: dict[int, list[float]] = defaultdict(list)
    for withheld, sign in ((False, 1), (True, -1)):
        side = [pair for pair in pairs if pair.withheld is withheld]
        weights = [1 / (pair.share if withheld else 1 - pair.share) for pair in side]
        total = fsum(weights)
        mean = fsum(w * pair.score for w, pair in zip(weights, side, strict=True)) / total
        for weight, pair in zip(weights, side, strict=True):
            blocks[pair.block].append(sign * weight * (pair.score - mean) / total)
    number = len(blocks)
    variance = OVERLAP * number / (number - 1) * fsum(fsum(b) ** 2 for b in blocks.values())
    return student_t(number - 1) * sqrt(variance)


def _family(lines: Sequence[TagUtility], false_discovery: float) -> tuple[TagUtility, ...]:
    """The tags, judged together."""
    tested = [line for line in lines if line.p is not None]
    rates = adjusted([line.p for line in tested if line.p is not None])
    judged = [
        _judged(line, rate, false_discovery) for line, rate in zip(tested, rates, strict=True)
    ]
    judged += [line for line in lines if line.p is None]
    order = [Finding.HELPS, Finding.HARMS, Finding.UNTOLD, Finding.TOO_LITTLE]
    return tuple(
        sorted(
            judged,
            key=lambda t: (order.index(t.finding), -(t.utility or 0.0), -t.withheld, t.tag or "~"),
        )
    )


def _judged(line: TagUtility, rate: float | None, most: float) -> TagUtility:
    if rate is None or line.utility is None:
        return line
    found = Finding.HELPS if line.utility > 0 else Finding.HARMS
    return replace(line, rate=rate, finding=found if rate <= most else Finding.UNTOLD)

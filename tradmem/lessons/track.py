"""The track record: how good decisions were, by ticker, rating and agent, and how sure that is.

One line of it leads a recall. That line comes from a journal's counts, kept while entries come;
it goes through the same :func:`tradmem.lessons.hits.track_from` as all lines here.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tradmem.journal.base import is_replaced, newest_revisions
from tradmem.journal.tagline import UNRATED
from tradmem.journal.verdicts import (
    ALWAYS_BUY,
    HOLDS,
    Blocks,
    Counts,
    Sample,
    block_of,
    count,
    samples,
)
from tradmem.lessons.attrition import (
    Alarm,
    Apart,
    Attrition,
    Returns,
    Standing,
    alarms,
    apart,
    attrition,
    standing,
)
from tradmem.lessons.chance import Skill, skill
from tradmem.lessons.hits import Track, track_from
from tradmem.lessons.rates import THIRD, Mean, Rate, mean_of, rate_of
from tradmem.model import NOTHING, Entry, Outcome, Rating


class Group(StrEnum):
    """What the decisions of one line have in common."""

    OVERALL = "overall"
    TICKER = "ticker"
    RATING = "rating"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The record of some decisions at one horizon.

    Means are fractions, over outcomes with an alpha only, but for ``raw_return``. A score is
    the rating's exposure times alpha; that of always-Buy is alpha.

    Attributes:
        horizon: in sessions.
        group: what the decisions have in common.
        name: the ticker, rating or agent; empty overall.
        track: the verdicts.
        hold: the rate of right among Holds.
        always_buy: the hit rate had every rating been a Buy; beside one rating, of all outcomes.
        score: the mean score.
        alpha: the mean alpha.
        ahead: the mean of the paired differences, score less alpha.
        raw_return: the mean return of all outcomes.
        skill: what may be said of the line's own rate beside chance; None where nothing may.
        attrition: what became of the decisions.
        apart: what could flatter.
    """

    horizon: int
    group: Group
    name: str
    track: Track
    hold: Rate
    always_buy: Rate
    score: Mean
    alpha: Mean
    ahead: Mean
    raw_return: Mean
    skill: Skill | None
    attrition: Attrition
    apart: tuple[Apart, ...]

    @property
    def is_hold(self) -> bool:
        """Whether the line is about Holds, which have a rate of their own."""
        return self.group is Group.RATING and self.name == Rating.HOLD

    @property
    def rate(self) -> Rate:
        """The line's own rate: the hit rate; of a line about Holds, theirs."""
        return self.hold if self.is_hold else self.track.hit

    @property
    def chance(self) -> float | None:
        """What chance would have made of the line's own rate."""
        return self.track.hold_chance if self.is_hold else self.track.chance


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """All that may be said of how good decisions were, as of one instant.

    Attributes:
        lines: by horizon (that of most decisions first), then overall, by ticker, by rating
            and by agent.
        alarms: where one rating is nearly all that was decided of late.
    """

    lines: tuple[Line, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    @property
    def horizons(self) -> tuple[int, ...]:
        """In sessions, that of most decisions first."""
        return tuple(dict.fromkeys(line.horizon for line in self.lines))

    def line(self, horizon: int, group: str = Group.OVERALL, name: str = "") -> Line | None:
        """One line; None if there is no such one."""
        wanted = (horizon, group, name)
        found = ((ln, (ln.horizon, ln.group, ln.name)) for ln in self.lines)
        return next((ln for ln, key in found if key == wanted), None)


def track(
    entries: Iterable[Entry],
    *,
    default_horizon: int = 5,
    pending: Mapping[str, str] = NOTHING,
) -> TrackRecord:
    """The track record of entries as they stood at one instant.

    Forgotten entries count: forgetting hides a lesson from recall, never from statistics.
    Replaced revisions and repeats do not.

    Args:
        entries: as ``Memory.entries`` gives them.
        default_horizon: that of a pending decision which tells none.
        pending: why an entry is pending, by id: ``not_due``, ``waiting`` or ``suspect``.
    """
    decisions = _decisions(entries)
    settled: dict[int, dict[str, tuple[Outcome, Sample]]] = defaultdict(dict)
    horizons: Counter[int] = Counter()
    own: dict[str, int] = {}
    for entry in decisions:
        for outcome, sample in zip(entry.outcomes, samples(entry), strict=False):
            settled[sample.horizon][entry.id] = (outcome, sample)
            horizons[sample.horizon] += 0
        told = entry.outcome.horizon if entry.outcome else entry.recorded.horizon
        own[entry.id] = told or default_horizon
        horizons[own[entry.id]] += 1
    groups = list(_groups(decisions))
    lines: list[Line] = []
    for horizon in sorted(horizons, key=lambda horizon: (-horizons[horizon], horizon)):
        found = settled[horizon]
        standings = {
            entry.id: standing(
                entry, found.get(entry.id), is_own=own[entry.id] == horizon, pending=pending
            )
            for entry in decisions
        }
        everything = _Record(horizon, list(standings.values()))
        for group, name, members in groups:
            is_all = group is Group.OVERALL
            its = everything if is_all else _Record(horizon, [standings[e.id] for e in members])
            lines.append(_line(group, name, its, everything if group is Group.RATING else its))
    return TrackRecord(lines=tuple(lines), alarms=tuple(alarms(decisions)))


def _decisions(entries: Iterable[Entry]) -> list[Entry]:
    """The decisions that stand, each once."""
    unique = {entry.id: entry for entry in reversed(list(entries)) if not entry.recorded.is_note}
    newest = newest_revisions(unique.values())
    return [entry for entry in reversed(unique.values()) if not is_replaced(entry, newest)]


def _groups(decisions: Sequence[Entry]) -> Iterator[tuple[Group, str, list[Entry]]]:
    yield Group.OVERALL, "", list(decisions)
    names: dict[Group, Callable[[Entry], str]] = {
        Group.TICKER: lambda entry: entry.ticker,
        Group.RATING: lambda entry: str(entry.rating or UNRATED),
        Group.AGENT: lambda entry: entry.agent,
    }
    order = [*map(str, Rating), UNRATED]
    for group, name_of in names.items():
        found: dict[str, list[Entry]] = defaultdict(list)
        for entry in decisions:
            found[name_of(entry)].append(entry)
        for name in sorted(found, key=order.index if group is Group.RATING else None):
            yield group, name, found[name]


class _Record:
    """Some of the decisions at one horizon, and what is counted of them."""

    def __init__(self, horizon: int, standings: Sequence[Standing]) -> None:
        self.standings = standings
        found = [standing.settled[1] for standing in standings if standing.settled]
        self.has_raw = any(sample.is_raw for sample in found)
        self.blocks = Blocks(found)
        self.counts: Counts = count(horizon, found, self.blocks)


def _line(group: Group, name: str, its: _Record, pool: _Record) -> Line:
    """The record of some of the decisions; beside one rating, chance deals among all of them."""
    track = track_from(its.counts, pool.counts)
    hold = rate_of(its.blocks.sums(HOLDS), THIRD)
    is_hold = group is Group.RATING and name == Rating.HOLD
    rate, chance = (hold, track.hold_chance) if is_hold else (track.hit, track.chance)
    return Line(
        horizon=its.counts.horizon,
        group=group,
        name=name,
        track=track,
        hold=hold,
        always_buy=rate_of(pool.blocks.sums(ALWAYS_BUY)),
        **_means(its.standings, its.blocks.longest),
        skill=None if pool.has_raw else skill(rate, chance),
        attrition=attrition(its.standings),
        apart=tuple(apart(its.standings)),
    )


def _means(standings: Iterable[Standing], longest: int) -> dict[str, Mean]:
    entries: dict[int, list[Returns]] = defaultdict(list)
    for found in standings:
        if found.settled and found.returns:
            entries[found.settled[1].entry].append(found.returns)
    blocks: dict[int, list[Returns]] = defaultdict(list)
    for entry, told in entries.items():
        blocks[block_of(entry, longest)] += told
    sided = [[told.sided for told in block if told.sided] for block in blocks.values()]
    return {
        "score": mean_of([told.score for told in block] for block in sided),
        "alpha": mean_of([told.alpha for told in block] for block in sided),
        "ahead": mean_of([told.score - told.alpha for told in block] for block in sided),
        "raw_return": mean_of([told.raw for told in block] for block in blocks.values()),
    }

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
    block_of,
    count,
    longest_of,
    samples,
    sums_of,
)
from tradmem.lessons.attrition import Alarm, Apart, Attrition, Case, alarms, apart, attrition
from tradmem.lessons.chance import Skill, skill
from tradmem.lessons.hits import Track, track_from
from tradmem.lessons.rates import THIRD, Mean, Rate, mean_of, rate_of
from tradmem.model import NOTHING, Entry, Rating


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
    settled: dict[int, dict[str, Case]] = defaultdict(dict)
    horizons: Counter[int] = Counter()
    for entry in decisions:
        for outcome, sample in zip(entry.outcomes, samples(entry), strict=False):
            settled[sample.horizon][entry.id] = (entry, outcome, sample)
            horizons[sample.horizon] += 0
        own = entry.outcome.horizon if entry.outcome else entry.recorded.horizon
        horizons[own or default_horizon] += 1
    groups = list(_groups(decisions))
    lines: list[Line] = []
    for horizon in sorted(horizons, key=lambda horizon: (-horizons[horizon], horizon)):
        of = _Horizon(horizon, settled[horizon], default_horizon, pending)
        lines += (of.line(group, name, members) for group, name, members in groups)
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


@dataclass(frozen=True, slots=True)
class _Horizon:
    """What all lines at one horizon share."""

    horizon: int
    settled: Mapping[str, Case]
    default_horizon: int
    pending: Mapping[str, str]

    def line(self, group: Group, name: str, members: Sequence[Entry]) -> Line:
        """The record of some of the decisions."""
        cases = [self.settled[entry.id] for entry in members if entry.id in self.settled]
        found = [sample for _, _, sample in cases]
        is_rating = group is Group.RATING
        pool = [sample for _, _, sample in self.settled.values()] if is_rating else found
        longest = longest_of(found)
        track = track_from(count(self.horizon, found), count(self.horizon, pool))
        hold = rate_of(sums_of(found, HOLDS, longest), THIRD)
        is_hold = is_rating and name == Rating.HOLD
        rate, chance = (hold, track.hold_chance) if is_hold else (track.hit, track.chance)
        return Line(
            horizon=self.horizon,
            group=group,
            name=name,
            track=track,
            hold=hold,
            always_buy=rate_of(sums_of(pool, ALWAYS_BUY, longest_of(pool))),
            **_means(cases, longest),
            skill=None if any(sample.is_raw for sample in pool) else skill(rate, chance),
            attrition=self._attrition(members, cases),
            apart=tuple(apart(members, cases)),
        )

    def _attrition(self, members: Sequence[Entry], cases: Iterable[Case]) -> Attrition:
        return attrition(
            members,
            cases,
            horizon=self.horizon,
            default_horizon=self.default_horizon,
            pending=self.pending,
        )


def _means(cases: Iterable[Case], longest: int) -> dict[str, Mean]:
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for entry, outcome, sample in cases:
        if entry.rating is None:
            continue
        block, alpha = block_of(sample.entry, longest), outcome.alpha
        found["raw_return"].append((block, outcome.raw_return))
        if alpha is not None:
            score = entry.rating.exposure * alpha
            found["score"].append((block, score))
            found["alpha"].append((block, alpha))
            found["ahead"].append((block, score - alpha))
    return {name: mean_of(found[name]) for name in ("score", "alpha", "ahead", "raw_return")}

"""What became of all decisions, what could flatter the rest, and whether one rating is all."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tradmem.journal.verdicts import SIDED, Sample, longest_of, sums_of
from tradmem.lessons.rates import Rate, rate_of
from tradmem.model import Entry, Outcome, Rating, Status

_RECENT, _MOST = 50, 0.8  # decisions looked at, and the share that one rating may have of them
IMPORTED = "imported"
Case = tuple[Entry, Outcome, Sample]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attrition:
    """What became of the decisions that a line of the track record is about.

    ``decided`` is the sum of those settled, not due, waiting, suspect, open, unresolvable and
    elsewhere.

    Attributes:
        decided: all of them; replaced revisions are no decisions.
        unrated: of those, the ones without a rating.
        settled: with an outcome at the line's horizon.
        stopped: of the settled, those whose closes ended before the horizon did.
        not_due: pending, and their window has not traded.
        waiting: pending and due, but a close is missing.
        suspect: pending and due, but a person has to look at the closes.
        open: pending, and nobody said why.
        unresolvable: given up.
        elsewhere: settled or pending at another horizon only.
    """

    decided: int = 0
    unrated: int = 0
    settled: int = 0
    stopped: int = 0
    not_due: int = 0
    waiting: int = 0
    suspect: int = 0
    open: int = 0
    unresolvable: int = 0
    elsewhere: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Decisions that could flatter the rest, on their own and left out.

    Attributes:
        name: ``date_only``, ``late``, ``edited``, ``imported`` or ``stopped``.
        decided: how many decisions there are of the kind.
        alone: the hit rate of these.
        without: that of all others.
    """

    name: str
    decided: int
    alone: Rate
    without: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """One rating is nearly all that was decided of late.

    Attributes:
        rating: None where the decisions hold none.
        times: how often.
        of: among how many of the last decisions.
        agent: whose; empty for all, or where there is only one.
    """

    rating: Rating | None
    times: int
    of: int
    agent: str = ""


def attrition(
    entries: Sequence[Entry],
    settled: Iterable[Case],
    *,
    horizon: int,
    default_horizon: int,
    pending: Mapping[str, str],
) -> Attrition:
    """What became of decisions at one horizon.

    Args:
        entries: the decisions.
        settled: those of them that have an outcome at the horizon.
        horizon: in sessions.
        default_horizon: that of a decision which tells none.
        pending: why an entry is pending, by id: ``not_due``, ``waiting`` or ``suspect``.
    """
    outcomes = {entry.id: outcome for entry, outcome, _ in settled}
    fates: Counter[str] = Counter()
    for entry in entries:
        own = entry.recorded.horizon or default_horizon
        if entry.id in outcomes:
            fates["settled"] += 1
        elif entry.outcome or own != horizon:
            fates["elsewhere"] += 1
        elif entry.status is Status.UNRESOLVABLE:
            fates["unresolvable"] += 1
        else:
            fates[pending.get(entry.id, "open")] += 1
    return Attrition(
        decided=len(entries),
        unrated=sum(entry.rating is None for entry in entries),
        stopped=sum("stopped" in outcome.flags for outcome in outcomes.values()),
        **fates,
    )


def apart(entries: Sequence[Entry], settled: Sequence[Case]) -> Iterator[Apart]:
    """The kinds of decisions that could flatter the rest, those that there are."""
    outcomes = {entry.id: outcome for entry, outcome, _ in settled}
    for name, is_kind in _KINDS.items():
        kind = {entry.id for entry in entries if is_kind(entry, outcomes.get(entry.id))}
        if kind:
            alone = [sample for entry, _, sample in settled if entry.id in kind]
            others = [sample for entry, _, sample in settled if entry.id not in kind]
            yield Apart(name=name, decided=len(kind), alone=_hit(alone), without=_hit(others))


def _hit(found: Sequence[Sample]) -> Rate:
    return rate_of(sums_of(found, SIDED, longest_of(found)))


def _is_imported(entry: Entry) -> bool:
    """Whether a decision came from elsewhere: a log without identities, or an import."""
    return entry.recorded.recorded_at is None or IMPORTED in entry.recorded.flags


_KINDS: dict[str, Callable[[Entry, Outcome | None], bool]] = {
    "date_only": lambda entry, _: "date_only" in entry.recorded.flags,
    "late": lambda entry, _: "late" in entry.recorded.flags,
    "edited": lambda entry, _: bool(entry.edited),
    "imported": lambda entry, _: _is_imported(entry),
    "stopped": lambda _, outcome: outcome is not None and "stopped" in outcome.flags,
}


def alarms(entries: Sequence[Entry]) -> Iterator[Alarm]:
    """Where one rating is more than 80 % of the last 50 decisions, of all and of each agent.

    Fewer than 50 decisions raise none. One agent among several is named by itself.
    """
    agents = sorted({entry.agent for entry in entries})
    yield from _alarm(entries, "")
    if len(agents) > 1:
        for agent in agents:
            yield from _alarm([entry for entry in entries if entry.agent == agent], agent)


def _alarm(entries: Sequence[Entry], agent: str) -> Iterator[Alarm]:
    last = sorted(entries, key=lambda entry: entry.recorded.known_at)[-_RECENT:]
    if len(last) < _RECENT:
        return
    (rating, times), *_ = Counter(entry.rating for entry in last).most_common(1)
    if times > _MOST * _RECENT:
        yield Alarm(rating=rating, times=times, of=_RECENT, agent=agent)

"""What became of all decisions, what could flatter the rest, and whether one rating is all."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tradmem.journal.verdicts import SIDED, Blocks, Sample
from tradmem.lessons.rates import Rate, rate_of
from tradmem.model import Entry, Outcome, Rating, Status

_RECENT, _MOST = 50, 0.8  # decisions looked at, and the share that one rating may have of them
IMPORTED = "imported"
KINDS = ("date_only", "late", "edited", IMPORTED, "stopped")


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
        name: one of ``KINDS``. Imported is what has no instant of recording, too.
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


class Sided(NamedTuple):
    """The score of a decision with a rating and an alpha, and that alpha, as fractions."""

    score: float
    alpha: float


class Returns(NamedTuple):
    """What the means take of a rated decision: the raw return, and where there is an alpha more."""

    raw: float
    sided: Sided | None


class Standing(NamedTuple):
    """One decision at one horizon.

    Attributes:
        entry: the decision.
        fate: one of the names that :class:`Attrition` counts.
        kinds: those of :class:`Apart` that it is of.
        settled: its outcome and what is counted of it, where it has one at the horizon.
        returns: of a rated decision with an outcome there.
    """

    entry: Entry
    fate: str
    kinds: tuple[str, ...] = ()
    settled: tuple[Outcome, Sample] | None = None
    returns: Returns | None = None


def standing(
    entry: Entry,
    settled: tuple[Outcome, Sample] | None,
    *,
    is_own: bool,
    pending: Mapping[str, str],
) -> Standing:
    """How a decision stands at one horizon.

    Args:
        entry: the decision.
        settled: its outcome there, if it has one.
        is_own: whether it was decided for this horizon.
        pending: why an entry is pending, by id: ``not_due``, ``waiting`` or ``suspect``.
    """
    if settled:
        fate = "settled"
    elif not is_own:
        fate = "elsewhere"
    elif entry.status is Status.UNRESOLVABLE:
        fate = "unresolvable"
    else:
        fate = pending.get(entry.id, "open")
    outcome = settled[0] if settled else None
    returns = _returns(entry.rating, outcome) if entry.rating and outcome else None
    return Standing(entry, fate, tuple(_kinds(entry, outcome)), settled, returns)


def _returns(rating: Rating, outcome: Outcome) -> Returns:
    alpha = outcome.alpha
    sided = None if alpha is None else Sided(rating.exposure * alpha, alpha)
    return Returns(outcome.raw_return, sided)


def _kinds(entry: Entry, outcome: Outcome | None) -> Iterator[str]:
    recorded = entry.recorded
    yield from (name for name in ("date_only", "late") if name in recorded.flags)
    if entry.edited:
        yield "edited"
    if recorded.recorded_at is None or IMPORTED in recorded.flags:
        yield "imported"
    if outcome and "stopped" in outcome.flags:
        yield "stopped"


def attrition(standings: Collection[Standing]) -> Attrition:
    """What became of decisions at one horizon."""
    return Attrition(
        decided=len(standings),
        unrated=sum(found.entry.rating is None for found in standings),
        stopped=sum("stopped" in found.kinds for found in standings),
        **Counter(found.fate for found in standings),
    )


def apart(standings: Collection[Standing]) -> Iterator[Apart]:
    """The kinds of decisions that could flatter the rest, those that there are."""
    numbers = Counter(kind for found in standings for kind in found.kinds)
    for name in KINDS:
        if name in numbers:
            yield Apart(
                name=name,
                decided=numbers[name],
                alone=_hit(found for found in standings if name in found.kinds),
                without=_hit(found for found in standings if name not in found.kinds),
            )


def _hit(standings: Iterable[Standing]) -> Rate:
    found = [standing.settled[1] for standing in standings if standing.settled]
    return rate_of(Blocks(found).sums(SIDED))


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

"""What decides: the situation that a policy gets to see, the call that it makes, and momentum.

A policy is any function from a :class:`Situation` to a :class:`Call`, or to a plain text
that holds a rating.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date as Date  # noqa: N812 - `date` is the name of a field here
from datetime import datetime
from typing import Any

from tradmem.briefing import NEEDED, Brief, Move
from tradmem.lessons.hits import Track
from tradmem.lessons.template import percent
from tradmem.model import Entry, Rating, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """All that a decision may look at; everything in it was known at ``as_of``.

    Attributes:
        ticker: in upper case.
        date: the date of the decision, in the zone of the ticker's exchange.
        as_of: the instant of the recall, aware UTC.
        horizon: sessions after which the decision will be judged.
        brief: figures from closes.
        memory: the recalled text, for a prompt; empty when there is nothing.
        memories: what it shows, in its order, each as it stood then.
        track: verdicts on all earlier decisions on the ticker.
        agent: under whose name the decision is recorded.
    """

    ticker: str
    date: Date
    as_of: datetime
    horizon: int
    brief: Brief
    memory: str
    memories: tuple[Entry, ...]
    track: Track
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """What a policy decides.

    Attributes:
        rating: None to have it read from the text; unrated if that holds none.
        text: the decision and its reasons, as the log is to keep them.
        cited: ids of the memories that it took something from.
        extra: further JSON values to keep with it, such as the name of a model.
    """

    rating: Rating | str | None
    text: str
    cited: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


Policy = Callable[[Situation], Call | str]

# Where one rating ends and the next begins, of a year's strength against the benchmark.
# Round numbers, set before any result was seen; they are not fitted to anything.
FULL, LEAN = 0.20, 0.05
POOR = 2  # so many more wrong than right among the recalled calls on the same side
_STEPS = tuple(Rating)  # from Buy to Sell


def momentum_policy(situation: Situation) -> Call:
    """The strength of the last twelve months but one, and a step back after a poor record.

    What outran its benchmark from 250 to 20 sessions ago by more than 20 % is a Buy, by more
    than 5 % an Overweight; below -5 % it is an Underweight, below -20 % a Sell. (Momentum
    over 12-1 months: N. Jegadeesh and S. Titman, Journal of Finance 48, 1993.) If of the
    recalled calls on this ticker's same side at least two more were wrong than right, the
    rating goes one step towards Hold, and the text cites them.

    Raises:
        PriceError: no closes can be had now; decide again later.
    """
    seen = situation.brief
    if seen.error and (seen.last is None or seen.error.kind.passing):
        raise seen.error
    if seen.year is None:
        return Call(None, _abstain(seen))
    first = by_strength(seen.year.strength)
    same_side = _same_side(situation.memories, situation.ticker, first)
    rating = towards_hold(first) if _is_poor(same_side) else first
    parts = [f"**Rating**: {rating}", _thesis(seen, seen.year, first)]
    if same_side:
        parts.append(_from_memory(situation, same_side, first, rating))
    return Call(rating, "\n\n".join(parts), tuple(entry.id for entry in same_side))


def by_strength(strength: float) -> Rating:
    """The rating of a year's strength against the benchmark, a fraction."""
    if strength > LEAN:
        return Rating.BUY if strength > FULL else Rating.OVERWEIGHT
    if strength < -LEAN:
        return Rating.SELL if strength < -FULL else Rating.UNDERWEIGHT
    return Rating.HOLD


def towards_hold(rating: Rating) -> Rating:
    """One step less far: Buy to Overweight, Overweight to Hold, and the same from below."""
    return _STEPS[_STEPS.index(rating) + rating.direction]


def _same_side(memories: Sequence[Entry], ticker: str, rating: Rating) -> list[Entry]:
    """The recalled calls on the ticker that took the same side and were right or wrong."""
    return [
        entry
        for entry in memories
        if entry.ticker == ticker
        and entry.rating is not None
        and entry.rating.direction == rating.direction != 0
        and entry.verdict in (Verdict.RIGHT, Verdict.WRONG)
    ]


def _is_poor(calls: Sequence[Entry]) -> bool:
    wrong = sum(entry.verdict is Verdict.WRONG for entry in calls)
    return wrong - (len(calls) - wrong) >= POOR


def _thesis(seen: Brief, year: Move, rating: Rating) -> str:
    """Two to four sentences, a line each: the strength, what the rule says of it, the context."""
    strength = f"{seen.ticker} returned {percent(year.own)} from 250 to 20 sessions ago"
    if year.benchmark is not None:
        other = f"{seen.benchmark} {percent(year.benchmark)}"
        strength += f", {other}: strength {percent(year.strength)}"
    lines = [f"{strength}.", _RULES[rating]]
    if seen.month and seen.week:
        lines.append(
            f"Since then it moved {_beside(seen.month, seen.benchmark)}, "
            f"and {percent(seen.week.own)} in the last five sessions."
        )
    if seen.from_high is not None and seen.volatility is not None:
        away = f"{-seen.from_high:.1%}"
        place = "at" if away.strip("-") == "0.0%" else f"{away} below"
        lines.append(
            f"It stands {place} its 52-week high; its volatility is {seen.volatility:.0%} a year."
        )
    return "\n".join(lines)


_RULES = {
    Rating.BUY: f"Above {FULL:+.0%} the rule says Buy.",
    Rating.OVERWEIGHT: f"Between {LEAN:+.0%} and {FULL:+.0%} the rule says Overweight.",
    Rating.HOLD: f"Between {-LEAN:+.0%} and {LEAN:+.0%} the rule says Hold.",
    Rating.UNDERWEIGHT: f"Between {-FULL:+.0%} and {-LEAN:+.0%} the rule says Underweight.",
    Rating.SELL: f"Below {-FULL:+.0%} the rule says Sell.",
}


def _beside(move: Move, benchmark: str | None) -> str:
    return f"{percent(move.own)}" + (
        "" if move.benchmark is None else f" ({benchmark} {percent(move.benchmark)})"
    )


def _from_memory(
    situation: Situation, same_side: Sequence[Entry], first: Rating, rating: Rating
) -> str:
    """What the recalled calls on the same side say, and whether the rating steps back."""
    days = ", ".join(str(entry.date) for entry in same_side)
    wrong = sum(entry.verdict is Verdict.WRONG for entry in same_side)
    if len(same_side) == 1:
        found = f"the one recalled call on this side ({days}) was {same_side[0].verdict}"
    else:
        right = len(same_side) - wrong
        found = (
            f"{len(same_side)} recalled calls on this side ({days}), "
            f"{right} right and {wrong} wrong"
        )
    so = f"the {first} stands" if rating is first else f"one step back, from {first} to {rating}"
    return f"From memory: {found}: {so}.\n{situation.track.line(situation.ticker)}".rstrip()


def _abstain(seen: Brief) -> str:
    """The text of a decision that gives no rating."""
    if seen.sessions < NEEDED:
        why = f"{seen.sessions} of the {NEEDED} closes that the rule needs are known"
    else:
        why = "a close in the last year is no ordinary move away from the one before it"
    return f"No call on {seen.ticker}: {why}, so it stays unrated."

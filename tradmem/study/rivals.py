"""What simpler rules would have scored on the same dates, and the lead on each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradmem.lessons.chance import Skill
from tradmem.lessons.rates import Mean

if TYPE_CHECKING:
    import pandas as pd

MeanOf = Callable[["pd.DataFrame", "pd.Series[float]"], Mean]
CHANCE = "chance"
_ROUNDING = 1e-12  # a mean of differences that cancel out is no lead


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A simpler rule on the same decisions.

    Attributes:
        name: ``always Buy``, ``always Hold``, ``12-1 momentum`` or ``chance``.
        score: the mean of its exposure times alpha; for chance, which has the decisions'
            mean exposure on every date, in closed form.
        lead: the mean of what the decisions scored more, one by one.
        skill: what may be said of the lead; None where too little is known.
    """

    name: str
    score: Mean
    lead: Mean
    skill: Skill | None


def rivals_of(frame: "pd.DataFrame", mean: MeanOf) -> tuple[Rival, ...]:
    """The simpler rules, each on those decisions on which it says anything.

    Args:
        frame: decisions with a score.
        mean: of values beside rows.
    """
    return tuple(_rivals(frame, mean))


def _rivals(frame: "pd.DataFrame", mean: MeanOf) -> Iterator[Rival]:
    exposure = frame["exposure"].astype(float)
    usual = exposure.mean() if len(frame) else 0.0
    rules = {
        "always Buy": exposure * 0 + 1,
        "always Hold": exposure * 0,
        "12-1 momentum": frame["momentum"].astype(float),
        CHANCE: exposure * 0 + usual,
    }
    for name, rule in rules.items():
        there = frame[rule.notna()]
        if len(there):
            alpha = there["alpha"].astype(float)
            score = rule[rule.notna()] * alpha
            lead = mean(there, there["score"].astype(float) - score)
            yield Rival(name=name, score=mean(there, score), lead=lead, skill=word_of(lead))


def word_of(lead: Mean) -> Skill | None:
    """What may be said of a lead with its interval; None where there is none."""
    if lead.low is None or lead.high is None:
        return None
    if lead.low > _ROUNDING:
        return Skill.BETTER
    return Skill.WORSE if lead.high < -_ROUNDING else Skill.UNTOLD

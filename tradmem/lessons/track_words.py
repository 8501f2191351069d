"""What a track record says and what not, in plain words: the same on a screen and in a report."""

from collections.abc import Iterator, Sequence

from tradmem.journal.tagline import UNRATED
from tradmem.lessons.attrition import Alarm
from tradmem.lessons.chance import Skill
from tradmem.lessons.counting import counted
from tradmem.lessons.rates import LEAST_BLOCKS, LEAST_WORTH, Mean, Rate
from tradmem.lessons.track import Group, Line

# What became of decisions, by the names of :class:`tradmem.lessons.attrition.Attrition`.
FATES = {
    "decided": "decided",
    "unrated": "unrated",
    "settled": "settled",
    "stopped": "stopped",
    "not_due": "not due",
    "open": "due",
    "waiting": "waiting",
    "suspect": "suspect",
    "unresolvable": "given up",
    "elsewhere": "elsewhere",
}
# What could flatter, by the names of :class:`tradmem.lessons.attrition.Apart`.
KINDS = {
    "date_only": "known by the date alone",
    "late": "recorded after the entry's close",
    "edited": "edited by hand",
    "imported": "imported",
    "stopped": "stopped before the horizon",
}
READING = (
    "HIT is the share of right among right and wrong. INTERVAL holds the true rate nineteen "
    "times in twenty, WORTH is how many independent calls these are worth: windows overlap and "
    "tickers move together. SHRUNK draws the rate to a half (Hold: to a third) while little is "
    "known. CHANCE is what the same ratings would hit if dealt out at random, BUY what always-Buy "
    "would."
)
CONVENTION = (
    "SCORE is the rating's exposure (from 1 for Buy to -1 for Sell) times alpha, AHEAD is how far "
    "it is ahead of always-Buy, decision by decision. Entering at a close is a convention: the "
    "price that one gets is another. Against a price index alphas are overstated by about the "
    "index's dividend yield."
)
DUE = (
    "DUE are pending although their window has traded; `tradmem resolve` settles them or says why."
)
NOTHING_YET = "Nothing is settled yet that has a verdict, so there is nothing to say."
NO_MEANS = f"None yet: they take outcomes with an alpha from {LEAST_BLOCKS} blocks of time."


def alarm_line(alarm: Alarm) -> str:
    """An alarm in one sentence."""
    whose = f" of {alarm.agent}" if alarm.agent else ""
    return (
        f"Alarm: {alarm.times} of the last {alarm.of} decisions{whose} are "
        f"{alarm.rating or UNRATED}; check that whoever decides still looks at each ticker."
    )


def is_news(line: Line, lines: Sequence[Line]) -> bool:
    """Whether a line says something that the overall one does not."""
    if line.group is Group.OVERALL or line.group is Group.RATING:
        return True
    return sum(other.group is line.group for other in lines) > 1


def name_of(line: Line) -> str:
    """Whose line it is."""
    return line.name or ("all" if line.group is Group.OVERALL else "no name")


def share(value: float | None) -> str:
    """A rate in percent; empty where there is none."""
    return "" if value is None else f"{value:.0%}"


def interval(rate: Rate) -> str:
    """The ends of a rate's interval: ``44-64%``; empty where there is none."""
    if rate.low is None or rate.high is None:
        return ""
    return f"{100 * rate.low:.0f}-{100 * rate.high:.0f}%"


def percent(mean: Mean) -> str:
    """A mean return in percent; empty where there is none."""
    return "" if mean.value is None else f"{mean.value:+.2%}".replace("-0.00", "+0.00")


def ends(mean: Mean) -> str:
    """The ends of a mean's interval; empty where there is none."""
    if mean.low is None or mean.high is None or mean.low == mean.high:
        return ""
    return f"{100 * mean.low:+.2f} to {mean.high:+.2%}"


def hits(line: Line) -> tuple[str, ...]:
    """Right, wrong, neutral, hit, interval, worth, shrunk, chance and always-Buy."""
    track, rate = line.track, line.rate
    return (
        *(str(rate.right), str(rate.n - rate.right), "" if line.is_hold else str(track.neutral)),
        *(share(rate.value), interval(rate), f"{rate.n_eff:.0f}" if rate.n else ""),
        *(share(rate.shrunk if rate.n else None), share(line.chance)),
        "" if line.is_hold else share(track.always_buy),
    )


def means(line: Line) -> tuple[str, ...]:
    """How many, score with its interval, always-Buy's, and the lead with its interval."""
    return (
        *(str(line.score.n), percent(line.score), ends(line.score), percent(line.alpha)),
        *(percent(line.ahead), ends(line.ahead)),
    )


def verdict(overall: Line, lines: Sequence[Line]) -> Iterator[str]:
    """What may be said of skill, one sentence each."""
    yield _overall_verdict(overall)
    told = [line for line in lines if line.group is not Group.OVERALL and line.skill]
    standing = [line for line in told if line.skill is not Skill.UNTOLD]
    for line in standing:
        yield f"{line.name or 'No name'}: {share(line.rate.value)}, {line.skill}."
    if standing:
        yield (
            f"That was looked for in {counted(len(told), 'line')}; by luck alone one line in "
            "twenty stands out."
        )


def _overall_verdict(line: Line) -> str:
    rate, raw = line.rate, line.track.raw
    if line.skill is None and raw:
        return (
            f"Of skill nothing can be said: {counted(raw, 'verdict')} went by the raw return, for "
            "want of a benchmark, and that rewards whoever goes with the market."
        )
    if line.skill is None:
        worth = counted(round(rate.n_eff), "independent one")
        return (
            f"Of skill nothing can be said yet: these calls are worth {worth}, from "
            f"{counted(rate.blocks, 'block')} of time; {LEAST_WORTH} from {LEAST_BLOCKS} blocks "
            "are the least."
        )
    beside = f"{share(rate.value)}, where chance hits {share(line.chance)}"
    if line.skill is Skill.UNTOLD:
        return (
            f"Overall {beside}: the interval ({interval(rate)}) holds both, so skill can neither "
            "be told nor ruled out."
        )
    return f"Overall {beside}, outside the interval ({interval(rate)}): {line.skill}."

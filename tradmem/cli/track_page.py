"""The track record for people: tables, and in plain words what they say and what not."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import click

from tradmem.cli.layout import Cell, Column, paragraphs, table
from tradmem.cli.words import bold, counted, minute
from tradmem.journal.tagline import UNRATED
from tradmem.lessons.attrition import Alarm
from tradmem.lessons.chance import Skill
from tradmem.lessons.rates import LEAST_BLOCKS, LEAST_WORTH, Mean, Rate
from tradmem.lessons.track import Group, Line

_HITS = (
    Column(""),
    *(Column(name, right=True) for name in ("RIGHT", "WRONG")),
    Column("NEUTRAL", right=True, drop=1),
    *(Column(name, right=True) for name in ("HIT", "INTERVAL", "WORTH", "SHRUNK")),
    *(Column(name, right=True) for name in ("CHANCE", "BUY")),
)
_FATES = {
    "decided": "DECIDED",
    "unrated": "UNRATED",
    "settled": "SETTLED",
    "stopped": "STOPPED",
    "not_due": "NOT DUE",
    "open": "DUE",
    "waiting": "WAITING",
    "suspect": "SUSPECT",
    "unresolvable": "GIVEN UP",
    "elsewhere": "ELSEWHERE",
}
_MEANS = (
    Column(""),
    *(Column(name, right=True) for name in ("N", "SCORE", "INTERVAL", "ALWAYS BUY")),
    *(Column(name, right=True) for name in ("AHEAD", "INTERVAL")),
)
_APART = (
    Column(""),
    *(Column(name, right=True) for name in ("DECIDED", "RIGHT", "WRONG", "HIT")),
    *(Column(name, right=True) for name in ("WITHOUT", "INTERVAL")),
)
_KINDS = {
    "date_only": "known by the date alone",
    "late": "recorded after the entry's close",
    "edited": "edited by hand",
    "imported": "imported",
    "stopped": "stopped before the horizon",
}
_READING = (
    "HIT is the share of right among right and wrong. INTERVAL holds the true rate nineteen "
    "times in twenty, WORTH is how many independent calls these are worth: windows overlap and "
    "tickers move together. SHRUNK draws the rate to a half (Hold: to a third) while little is "
    "known. CHANCE is what the same ratings would hit if dealt out at random, BUY what always-Buy "
    "would."
)
_CONVENTION = (
    "SCORE is the rating's exposure (from 1 for Buy to -1 for Sell) times alpha, AHEAD is how far "
    "it is ahead of always-Buy, decision by decision. Entering at a close is a convention: the "
    "price that one gets is another. Against a price index alphas are overstated by about the "
    "index's dividend yield."
)
_DUE = (
    "DUE are pending although their window has traded; `tradmem resolve` settles them or says why."
)


def page(
    lines: Sequence[Line], alarms: Iterable[Alarm], as_of: datetime, room: int
) -> Iterator[str]:
    """The track record in tables and words.

    Args:
        lines: in their order; those of a horizon stand together.
        alarms: of the whole record.
        as_of: the instant from which it looks, aware UTC.
        room: columns of the screen.
    """
    decided = counted(lines[0].attrition.decided, "decision")
    yield bold(f"Track record of {decided}, as of {minute(as_of)}")
    for alarm in alarms:
        for text in paragraphs(alarm_line(alarm), room, ""):
            yield click.style(text, fg="red")
    for horizon in dict.fromkeys(line.horizon for line in lines):
        yield ""
        yield bold(f"After {counted(horizon, 'session')}")
        yield from _horizon([line for line in lines if line.horizon == horizon], room)


def alarm_line(alarm: Alarm) -> str:
    """An alarm in one sentence."""
    whose = f" of {alarm.agent}" if alarm.agent else ""
    return (
        f"Alarm: {alarm.times} of the last {alarm.of} decisions{whose} are "
        f"{alarm.rating or UNRATED}; check that whoever decides still looks at each ticker."
    )


def _horizon(lines: Sequence[Line], room: int) -> Iterator[str]:
    overall = lines[0]
    shown = [line for line in lines if _is_news(line, lines)]
    judged = [line for line in shown if line.rate.n or line.track.judged]
    if judged:
        yield from _grouped(_HITS, [(line.group, _hits(line)) for line in judged], room)
        yield ""
        yield from paragraphs(_READING, room, "")
        yield ""
        for text in verdict(overall, lines):
            yield from paragraphs(text, room, "")
        yield from _means(shown, room)
    else:
        yield "Nothing is settled yet that has a verdict, so there is nothing to say."
    yield ""
    yield bold("What became of the decisions")
    columns = (Column(""), *(Column(title, right=True) for title in _FATES.values()))
    yield from _grouped(columns, [(line.group, _fates(line)) for line in shown], room)
    if overall.attrition.open:
        yield ""
        yield from paragraphs(_DUE, room, "")
    yield from _apart(overall, room)


def _is_news(line: Line, lines: Sequence[Line]) -> bool:
    """Whether a line says something that the overall one does not."""
    if line.group is Group.OVERALL or line.group is Group.RATING:
        return True
    return sum(other.group is line.group for other in lines) > 1


def _grouped(
    columns: Sequence[Column], rows: Sequence[tuple[Group, Sequence[Cell]]], room: int
) -> Iterator[str]:
    """A table with an empty line between the groups."""
    cells: list[Sequence[Cell]] = []
    before: Group | None = None
    for group, row in rows:
        if before not in (None, group):
            cells.append([Cell("")] * len(columns))
        cells.append(row)
        before = group
    return table(columns, cells, room)


def _name(line: Line) -> Cell:
    return Cell(line.name or ("all" if line.group is Group.OVERALL else "no name"))


def _hits(line: Line) -> Sequence[Cell]:
    track, rate = line.track, line.rate
    right, wrong = (rate.right, rate.n - rate.right)
    neutral = "" if line.is_hold else str(track.neutral)
    texts = (
        *(str(right), str(wrong), neutral, _share(rate.value), interval(rate)),
        f"{rate.n_eff:.0f}" if rate.n else "",
        _share(rate.shrunk if rate.n else None),
        *(_share(line.chance), "" if line.is_hold else _share(track.always_buy)),
    )
    return (_name(line), *map(Cell, texts))


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def interval(rate: Rate) -> str:
    """The ends of a rate's interval: ``44-64%``; empty where there is none."""
    if rate.low is None or rate.high is None:
        return ""
    return f"{100 * rate.low:.0f}-{100 * rate.high:.0f}%"


def verdict(overall: Line, lines: Sequence[Line]) -> Iterator[str]:
    """What may be said of skill, one sentence each."""
    yield _overall_verdict(overall)
    told = [line for line in lines if line.group is not Group.OVERALL and line.skill]
    standing = [line for line in told if line.skill is not Skill.UNTOLD]
    for line in standing:
        yield f"{line.name or 'No name'}: {_share(line.rate.value)}, {line.skill}."
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
    beside = f"{_share(rate.value)}, where chance hits {_share(line.chance)}"
    if line.skill is Skill.UNTOLD:
        return (
            f"Overall {beside}: the interval ({interval(rate)}) holds both, so skill can neither "
            "be told nor ruled out."
        )
    return f"Overall {beside}, outside the interval ({interval(rate)}): {line.skill}."


def _means(lines: Sequence[Line], room: int) -> Iterator[str]:
    rows = [(line.group, _mean(line)) for line in lines if line.score.value is not None]
    yield ""
    yield bold("Means, of one decision")
    if not rows:
        yield f"None yet: they take outcomes with an alpha from {LEAST_BLOCKS} blocks of time."
        return
    yield from _grouped(_MEANS, rows, room)
    yield ""
    yield from paragraphs(_CONVENTION, room, "")


def _mean(line: Line) -> Sequence[Cell]:
    texts = (
        str(line.score.n),
        *(_percent(line.score), _ends(line.score), _percent(line.alpha)),
        *(_percent(line.ahead), _ends(line.ahead)),
    )
    return (_name(line), *map(Cell, texts))


def _percent(mean: Mean) -> str:
    return "" if mean.value is None else f"{mean.value:+.2%}".replace("-0.00", "+0.00")


def _ends(mean: Mean) -> str:
    if mean.low is None or mean.high is None or mean.low == mean.high:
        return ""
    return f"{100 * mean.low:+.2f} to {mean.high:+.2%}"


def _fates(line: Line) -> Sequence[Cell]:
    """What became of a line's decisions; a zero is left out, and so a column of them."""
    numbers = (getattr(line.attrition, name) for name in _FATES)
    return (_name(line), *(Cell(str(number or "")) for number in numbers))


def _apart(overall: Line, room: int) -> Iterator[str]:
    if not overall.apart:
        return
    yield ""
    yield bold("Looked at apart, for it could flatter")
    rows = []
    for kind in overall.apart:
        alone, without = kind.alone, kind.without
        counts = (kind.decided, alone.right, alone.n - alone.right)
        rates = (_share(alone.value), _share(without.value), interval(without))
        rows.append([Cell(_KINDS[kind.name]), *(Cell(str(text)) for text in (*counts, *rates))])
    yield from table(_APART, rows, room)

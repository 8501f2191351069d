"""What lessons were worth, for people: a table, and in plain words what it says and what not."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from tradmem.cli.layout import Cell, Column, Style, paragraphs, table
from tradmem.cli.words import bold, counted, minute
from tradmem.lessons.rates import LEAST_BLOCKS
from tradmem.lessons.utility import LEAST_PAIRS, UNTAGGED, Finding, LessonUtility, TagUtility

_COLUMNS = (
    Column("TAG", least=11),
    *(Column(name, right=True) for name in ("SHOWN", "WITHHELD")),
    Column("BLOCKS", right=True, drop=3),
    Column("UTILITY", right=True),
    Column("INTERVAL", right=True, drop=1),
    Column("P", right=True, drop=2),
    Column("RATE", right=True),
    Column(""),
)
_WORDS = {Finding.UNTOLD: "untold", Finding.TOO_LITTLE: "too little"}
_STYLES: dict[Finding, Style] = {Finding.HELPS: {"fg": "green"}, Finding.HARMS: {"fg": "red"}}
_READING = (
    "SHOWN and WITHHELD count pairs of a decision and a lesson. UTILITY is the mean score of "
    "decisions that were shown one less the mean where a lot withheld it; the track-record line "
    "was there in both, so this is what lessons add to it. INTERVAL holds the true difference "
    "nineteen times in twenty. P is how often lots drawn with other salts make as large a "
    "difference by themselves, RATE the false discovery rate at which the tag would just be "
    "called found. What is untold may be worth something or nothing."
)


def page(found: LessonUtility, as_of: datetime, room: int) -> Iterator[str]:
    """What lessons were worth, in a table and words.

    Args:
        found: what is known of it.
        as_of: the instant from which it looks, aware UTC.
        room: columns of the screen.
    """
    yield bold(f"What lessons were worth, as of {minute(as_of)}")
    yield from paragraphs(_ground(found), room, "")
    lines = [found.overall, *found.tags]
    if found.overall.shown or found.overall.withheld:
        yield ""
        yield from table(_COLUMNS, [_row(line) for line in lines], room)
    yield ""
    for text in _verdict(found):
        yield from paragraphs(text, room, "")
    if any(line.p is not None for line in lines):
        yield ""
        yield from paragraphs(_READING, room, "")


def _ground(found: LessonUtility) -> str:
    """From how many decisions it comes."""
    parts = []
    if found.decisions:
        sessions = counted(found.horizon, "session")
        parts.append(f"{counted(found.decisions, 'decision')} with a hold-out, after {sessions}")
    if found.open:
        parts.append(
            f"{counted(found.open, 'decision')} with one {_are(found.open)} left out: pending, "
            "without a rating or an alpha, or of another horizon"
        )
    if found.without:
        told = counted(found.without, "decision")
        parts.append(f"{told} made without a hold-out {_tell(found.without)}")
    return ". ".join(parts) + "." if parts else "There is no decision yet."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _tell(number: int) -> str:
    return "tells nothing" if number == 1 else "tell nothing"


def _row(line: TagUtility) -> list[Cell]:
    name = "all lessons" if line.tag is None else "no tag" if line.tag == UNTAGGED else line.tag
    low, high = line.low, line.high
    ends = "" if low is None or high is None else f"{100 * low:+.2f} to {high:+.2%}"
    texts = (
        *(str(line.shown), str(line.withheld), str(line.blocks)),
        "" if line.utility is None else f"{line.utility:+.2%}",
        ends,
        _chance(line.p),
        "" if line.tag is None else _chance(line.rate),
    )
    finding = line.finding
    word = Cell(_WORDS.get(finding, str(finding)), _STYLES.get(finding, {}))
    return [Cell(name), *map(Cell, texts), word]


def _chance(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}" if value < 0.01 else f"{value:.2f}"


def _verdict(found: LessonUtility) -> Iterator[str]:
    """What may be said, one sentence each."""
    if not found.decisions + found.open:
        yield (
            "Not enough yet: a hold-out has to withhold some lessons by lot before it can be told "
            "what they are worth. The setting holdout = 0.1, or TRADMEM_HOLDOUT=0.1, withholds one "
            "in ten."
        )
        return
    if found.overall.p is None:
        yield (
            f"Not enough yet: {_lacking(found.overall)}. {LEAST_PAIRS} pairs of each sort, from "
            f"{LEAST_BLOCKS} blocks of time, are the least."
        )
        return
    yield f"All lessons together: {_told(found.overall)}."
    if not found.tested:
        yield "Of no single tag there is enough yet."
        return
    share = f"{found.false_discovery:.0%}"
    looked = f"{counted(found.tested, 'tag')} {'was' if found.tested == 1 else 'were'} looked at"
    if found.found:
        yield (
            f"{looked}, {len(found.found)} found at a false discovery rate of {share}: of tags "
            f"that are found so, no more than that share is expected to be found by luck."
        )
    else:
        yield f"{looked}, and none is found at a false discovery rate of {share}."
    if few := len(found.tags) - found.tested:
        yield f"Of {counted(few, 'tag')} there is not enough yet."


def _lacking(line: TagUtility) -> str:
    shown, withheld = (counted(n, "pair") for n in (line.shown, line.withheld))
    return f"{shown} shown, {withheld} withheld, in {counted(line.blocks, 'block')} that hold both"


def _told(line: TagUtility) -> str:
    assert line.p is not None
    utility = f"{line.utility:+.2%} a decision" if line.utility is not None else ""
    return f"{utility}, p {_chance(line.p)}: {line.finding}"


def as_objects(found: LessonUtility) -> Iterator[dict[str, Any]]:
    """A line each as JSON values; what is of all of it stands with the first, of all lessons."""
    whole = asdict(found)
    overall = whole.pop("overall")
    whole.pop("tags")
    yield overall | whole
    for line in found.tags:
        yield asdict(line)

"""``demo``: a year of real prices through the agent, and what it shows."""

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, fields
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tradmem.cli import options
from tradmem.cli.days import days_bar
from tradmem.cli.layout import Cell, Column, cut, paragraphs, table
from tradmem.cli.output import width, write, write_json
from tradmem.cli.words import bold, dim
from tradmem.lessons.hits import Track
from tradmem.model import Entry
from tradmem.rows import as_json as json_of

if TYPE_CHECKING:
    from tradmem.demo import DemoResult

_MARK = "<!-- tradmem:"
_NUMBERS = [Column("verdicts"), *(Column(n, right=True) for n in ("right", "wrong", "neutral"))]


@click.command()
@click.option(
    "--log",
    metavar="PATH",
    default="logs/demo.md",
    show_default=True,
    help="The log to write; one that an earlier demo wrote is replaced.",
)
@options.as_json
def demo(*, log: str, as_json: bool) -> None:
    """Replay a year of real prices through the agent.

    Five companies, once a week in 2022: each decision is recorded as pending, settled days
    later against real closes, and has a lesson written that the next decisions recall.
    Needs no key and no network, and takes some ten seconds.
    """
    from tradmem.demo import run_demo

    with days_bar(
        wanted=not as_json, elsewhere="replaying a year of weekly decisions on five companies"
    ) as progress:
        result = run_demo(log, progress=progress)
    if as_json:
        write_json([_object(result)])
        return
    for line in story(result, width()):
        write(line)


def story(result: "DemoResult", room: int) -> Iterator[str]:
    """What happened, for people."""
    yield from _heading("A year of decisions")
    yield from paragraphs(_setting(result), room)
    yield from _heading("In numbers")
    yield from _numbers(result, room)
    yield from _heading("One decision, as it was recorded")
    yield from _block(result.before, room)
    yield from _heading("The same entry now")
    yield from _block(_without_decision(result.after), room)
    last = result.last
    yield from _heading(f"What the last decision was told ({last.ticker}, {last.date})")
    yield from paragraphs(result.seen.strip(), room)
    yield ""
    yield from paragraphs(_account(result), room)
    yield from _heading("What to type next")
    size = max(len(command) for command, _ in _next(result))
    for command, what in _next(result):
        is_beside = size + len(what) + 4 <= room
        yield f"  {command:<{size}}  {dim(what)}" if is_beside else f"  {command}"
    yield ""
    yield f"  Or open {result.log} in an editor: it is one markdown file."


def _heading(text: str) -> tuple[str, str]:
    return "", bold(text)


def _setting(result: "DemoResult") -> str:
    *names, last = result.tickers
    return (
        f"In the first session of each week of {result.weeks[0].year}, an hour before its "
        f"close, the agent decided on {', '.join(names)} and {last}. Five sessions later each "
        "decision was judged against the S&P 500, and a lesson was written for the decisions "
        "to come. The closes are real, the clock was simulated, and nothing was looked at "
        "before its time."
    )


def _numbers(result: "DemoResult", room: int) -> Iterator[str]:
    from tradmem.demo.run import KEPT

    archive = ", ".join(str(path) for path in result.archives)
    facts = [
        (result.decided, "decisions recorded as pending, each in the log before it counted"),
        (result.settled, "settled since, each with its return, its alpha and a lesson"),
        (result.pending, "still pending, for want of later closes"),
        (result.told, "decisions were told earlier lessons"),
        (result.stepped, "ratings went one step towards Hold, after a poor record"),
        (result.archived, f"resolved entries moved on to {archive}; the newest {KEPT} stay"),
    ]
    for number, fact in facts:
        first, *rest = paragraphs(fact, room, " " * 7)
        yield f"  {number:>3}  {first.lstrip()}"
        yield from rest
    yield ""
    made = result.track
    rows = [
        _row("calls with a side", made),
        [Cell("Holds"), Cell(str(made.hold_right)), Cell(str(made.hold_wrong)), Cell(""), Cell("")],
        _row("had all been a Buy", result.always_buy),
    ]
    for line in table([*_NUMBERS, Column("hit rate", right=True)], rows, room - 2):
        yield f"  {line}"
    yield ""
    yield from paragraphs(_caution(result), room)


def _row(name: str, track: Track) -> list[Cell]:
    numbers = (track.right, track.wrong, track.neutral)
    rate = f"{track.hit_rate:.0%}" if track.hit_rate is not None else ""
    return [Cell(name), *(Cell(str(number)) for number in numbers), Cell(rate)]


def _caution(result: "DemoResult") -> str:
    made, hit = result.track, result.track.hit
    if hit.low is None or hit.high is None or made.chance is None:
        return "Too few verdicts for any rate."
    return (
        f"How little that shows: names in one market move together, so these {hit.n} right and "
        f"wrong calls are worth {hit.n_eff:.0f} independent ones. Their rate may lie anywhere "
        f"between {hit.low:.0%} and {hit.high:.0%}, nineteen times in twenty; the same ratings "
        f"dealt out at random hit {made.chance:.0%}. The five are survivors, and their closes "
        "include dividends while the index's do not."
    )


def _account(result: "DemoResult") -> str:
    """Why the recall shows what it shows."""
    from tradmem.demo.run import BUDGET
    from tradmem.settings import Settings

    last = result.last
    own = sum(f" {last.ticker} " in f" {line} " for line in _heads(result.seen))
    others = len(last.recalled) - own
    at = last.recorded.recalled_as_of or last.recorded.known_at
    return (
        f"Why these: the {own} newest decisions on {last.ticker}, and the newest lesson on each of "
        f"{others} other companies, of those whose outcome was known on {at:%Y-%m-%d} at "
        f"{at:%H:%M} UTC; a later one was still open then. Older decisions are shown without their "
        f"texts, for the demo's recalls keep within {BUDGET:,} characters (the command below has "
        f"{Settings().budget:,}). The line above each lesson tells what stands in the first line "
        "of its entry; the track record counts all that was known by then."
    )


def _heads(seen: str) -> list[str]:
    """The first line of each memory in a recalled text."""
    return [line for line in seen.splitlines() if re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2} ", line)]


def _block(text: str, room: int) -> Iterator[str]:
    """A block of the log; the ledger's long lines are cut, the text is wrapped."""
    for line in text.split("\n"):
        if line.startswith(_MARK):
            yield f"  {dim(cut(line, room - 2))}"
        else:
            yield from paragraphs(line, room)


def _without_decision(text: str) -> str:
    """A block without the text that has not changed since it was recorded."""
    above, _, rest = text.partition("\nDECISION:\n")
    _, _, below = rest.partition("\n\nREFLECTION:\n")
    return f"{above}\nDECISION:\n(as above)\n\nREFLECTION:\n{below}"


def _next(result: "DemoResult") -> list[tuple[str, str]]:
    last, recall = result.last, f"recall {result.last.ticker} --as-of {result.last.date}"
    commands = [
        ("log", "all decisions"),
        (f"show {result.example.id}", "this one"),
        (recall, "what it was told"),
        (f"{recall} --explain", "and why that"),
        (f"log -v wrong --known-since 7d --as-of {last.date}", "wrong that week"),
        ("audit", "no look-ahead"),
        (f"status --as-of {last.date}", "what is pending"),
    ]
    program = _program()
    return [(f"{program} {command} --log {result.log}", what) for command, what in commands]


def _program() -> str:
    """What a person types to start the program: its path, where the shell would not find it."""
    started = sys.argv[0]
    is_ours = Path(started).stem == "tradmem"
    return started if is_ours and shutil.which("tradmem") is None else "tradmem"


def _object(result: "DemoResult") -> dict[str, Any]:
    """The result as JSON values."""
    out = {field.name: _plain(getattr(result, field.name)) for field in fields(result)}
    return out | {"commands": [command for command, _ in _next(result)]}


def _plain(value: Any) -> Any:
    if isinstance(value, Entry):
        return json_of(value)
    if isinstance(value, Track):
        return asdict(value) | {"hit_rate": value.hit_rate}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Path | date):
        return str(value)
    return value

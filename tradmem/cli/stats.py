"""``stats``: how good the decisions were, and how much of that may be believed."""

from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tradmem.cli import options
from tradmem.cli.opening import is_there, no_log, now, open_memory
from tradmem.cli.output import say, width, write, write_json
from tradmem.cli.track_page import page
from tradmem.cli.utility_page import as_objects
from tradmem.cli.utility_page import page as utility_page
from tradmem.clock import as_instant
from tradmem.errors import UsageError
from tradmem.lessons.rates import Rate
from tradmem.lessons.track import Group, Line, TrackRecord

if TYPE_CHECKING:
    from tradmem.memory import Memory


@click.command()
@click.option("--ticker", "-t", multiple=True, metavar="TICKER", help="Only these tickers.")
@click.option("--agent", "-a", multiple=True, metavar="NAME", help="Only these agents.")
@click.option("--since", metavar="DATE", help="Decided then or later; 7d and 2w count back.")
@click.option("--until", metavar="DATE", help="Decided then or earlier.")
@click.option(
    "--by",
    multiple=True,
    type=click.Choice([str(group) for group in Group if group is not Group.OVERALL]),
    help="Only these tables, beside the overall line; all by default.",
)
@click.option(
    "--horizon",
    multiple=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="Only outcomes after so many sessions; all by default.",
)
@click.option(
    "--lessons",
    is_flag=True,
    help="Say what lessons were worth instead, by tag; it takes a hold-out.",
)
@options.as_of
@options.as_json
@options.log
def stats(
    *,
    log: str,
    as_of: str | None,
    as_json: bool,
    ticker: tuple[str, ...],
    agent: tuple[str, ...],
    since: str | None,
    until: str | None,
    by: tuple[str, ...],
    horizon: tuple[int, ...],
    lessons: bool,
) -> None:
    """Say how often the decisions were right, and how sure that is.

    By ticker, rating and agent, each horizon apart. Windows overlap and tickers move
    together, so the intervals are wider than the number of calls suggests. What was
    forgotten counts; forgetting hides from recall only.
    """
    first, last = options.days(as_instant(as_of, now()).date(), since, until)
    memory, chosen = open_memory(log), _Chosen(ticker, agent, first, last)
    if lessons:
        _lessons(memory, as_of, chosen, by=by, horizon=horizon, log=log, as_json=as_json)
        return
    record = memory.track(as_of, **chosen._asdict())
    lines = [
        line
        for line in record.lines
        if (not horizon or line.horizon in horizon)
        and (not by or line.group in (Group.OVERALL, *by))
    ]
    if as_json:
        write_json(as_object(line, record) for line in lines)
        return
    decided = lines[0].attrition.decided if lines else 0
    if decided:
        for text in page(lines, record.alarms, as_instant(as_of, now()), width()):
            write(text)
    elif not is_there(log):
        say(no_log(log))
    elif horizon and record.lines:
        found = ", ".join(map(str, record.horizons))
        say(f"{log} holds nothing at that horizon; --horizon takes one of {found}")
    else:
        say(f"{log} holds no decision that was asked for")


class _Chosen(NamedTuple):
    """Which decisions are looked at."""

    tickers: tuple[str, ...]
    agents: tuple[str, ...]
    since: date | None
    until: date | None


def _lessons(
    memory: "Memory",
    as_of: str | None,
    chosen: _Chosen,
    *,
    by: tuple[str, ...],
    horizon: tuple[int, ...],
    log: str,
    as_json: bool,
) -> None:
    """Print what lessons were worth."""
    if by or len(horizon) > 1:
        what = "--by" if by else "two horizons"
        raise UsageError(f"--lessons takes no {what}; it tells of tags, at one horizon")
    if not is_there(log) and not as_json:
        say(no_log(log))
        return
    found = memory.lesson_utility(
        as_of, horizon=horizon[0] if horizon else None, **chosen._asdict()
    )
    if as_json:
        write_json(as_objects(found))
        return
    for text in utility_page(found, as_instant(as_of, now()), width()):
        write(text)


def as_object(line: Line, record: TrackRecord) -> dict[str, Any]:
    """A line as JSON values; what is of the whole record stands with its overall lines."""
    track = line.track
    out: dict[str, Any] = {
        "horizon": line.horizon,
        "group": line.group,
        "name": line.name,
        "calls": track.judged,
        "right": track.right,
        "wrong": track.wrong,
        "neutral": track.neutral,
        "neutral_share": track.neutral_share,
        "hold_right": track.hold_right,
        "hold_wrong": track.hold_wrong,
        "unrated": track.unrated,
        "raw": track.raw,
        "hit": _rate(track.hit),
        "hold": _rate(line.hold),
        "always_buy": _rate(line.always_buy),
        "chance": track.chance,
        "hold_chance": track.hold_chance,
        "skill": line.skill,
    }
    for name in ("score", "alpha", "ahead", "raw_return"):
        out[name] = asdict(getattr(line, name))
    out["attrition"] = asdict(line.attrition)
    out["apart"] = [
        {
            "name": kind.name,
            "decided": kind.decided,
            "alone": _rate(kind.alone),
            "without": _rate(kind.without),
        }
        for kind in line.apart
    ]
    if line.group is Group.OVERALL:
        out["alarms"] = [asdict(alarm) for alarm in record.alarms]
    return out


def _rate(rate: Rate) -> dict[str, Any]:
    known = {"rate": rate.value, "shrunk": rate.shrunk if rate.n else None}
    return known | {
        name: getattr(rate, name) for name in ("right", "n", "blocks", "n_eff", "low", "high")
    }

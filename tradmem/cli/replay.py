"""``replay``: decide through time on a simulated clock, and say what came of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tradmem.cli import options
from tradmem.cli.days import days_bar
from tradmem.cli.layout import Cell, Column, paragraphs, table
from tradmem.cli.opening import open_prices, open_reflector, settings_for
from tradmem.cli.output import width, write, write_json
from tradmem.cli.words import bold, counted, dim
from tradmem.errors import UsageError
from tradmem.lessons.rates import Mean, Rate

if TYPE_CHECKING:
    from tradmem.memory import Memory
    from tradmem.study.replay import Replay
    from tradmem.study.stats import Row, Statistics

_FIGURES = [
    *(Column(name, right=True) for name in ("decisions", "alpha", "95% interval")),
    *(Column(name, right=True) for name in ("score", "95% interval of it")),
]


@click.command()
@click.argument("tickers", nargs=-1, required=True, metavar="TICKER...")
@click.option("--start", required=True, metavar="DATE", help="The first date to decide on.")
@click.option("--end", required=True, metavar="DATE", help="The last one.")
@click.option(
    "--every",
    default="week",
    show_default=True,
    metavar="PERIOD",
    help="How often: day, week, month (the first session of each), or a number of sessions.",
)
@click.option(
    "--decide-at",
    type=click.Choice(["close", "before_close", "same_close"]),
    default="close",
    show_default=True,
    help="Two hours after the close, an hour before it, or with hindsight of it (optimistic).",
)
@click.option(
    "--graph",
    metavar="NAME",
    help="The graph that decides: module:attribute, or path.py:attribute; else the agent.",
)
@click.option("--horizon", type=click.IntRange(min=1), metavar="N", help="Sessions to hold: 5.")
@click.option("--agent", default="", metavar="NAME", help="The name to decide under.")
@click.option("--seed", default=0, show_default=True, help="Of what is drawn at random.")
@click.option(
    "--anonymise",
    is_flag=True,
    help="Hide names, dates and price levels from whoever decides.",
)
@click.option(
    "--log",
    metavar="PATH",
    help="Keep the replay in this log, and go on with one that stands there. Never your own log.",
)
@options.prices
@options.benchmark
@options.reflector
@options.as_json
def replay(
    *,
    tickers: tuple[str, ...],
    start: str,
    end: str,
    every: str,
    graph: str | None,
    log: str | None,
    prices: str,
    benchmark: str | None,
    reflector: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Decide through time as an agent would have.

    Free of look-ahead: on each date what has come due is settled, the past is recalled, and
    the agent (or a graph) decides with prices and a memory that end there. Prints how good
    the decisions were, beside simpler rules, and how sure that is.
    """
    from tradmem import study

    source = open_prices(prices)
    if source is None:
        from tradmem.market.yahoo import YahooPrices

        source = YahooPrices()
    with days_bar(wanted=not as_json) as progress:
        done = study.replay(
            None if graph else _policy(),
            tickers,
            source,
            start,
            end,
            int(every) if every.isdigit() else every,
            Path(log) if log else None,
            _loading(graph) if graph else None,
            settings=settings_for(prices, benchmark),
            reflector=open_reflector(reflector, log or "replay.md"),
            progress=progress,
            **given,
        )
    from tradmem.study.stats import statistics

    if not done.entries():
        raise UsageError(_nothing(done))
    told = statistics(done)
    if as_json:
        write_json([as_object(done, told)])
        return
    for line in page(done, told, width()):
        write(line)


def _policy() -> Any:
    """What the agent decides by: a model where one is set up, else momentum."""
    from tradmem.agent import default_policy

    return default_policy()


class _Driven:
    """Somebody's graph, as a replay drives it."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def invoke(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """The state in which the graph ends."""
        found: Mapping[str, Any] = self._graph.decide(state["ticker"], state["date"])
        return found


def _loading(name: str) -> Callable[["Memory"], _Driven]:
    """What loads a graph, so that the memory which it opens is the replay's."""
    from tradmem.running.graphs import find_graph, load_graph

    def load(memory: "Memory") -> _Driven:
        found = find_graph(name, Path.cwd())
        assert found
        with memory.handed_out():
            return _Driven(load_graph(*found, Path.cwd()))

    return load


def _nothing(done: "Replay") -> str:
    why = "; ".join(
        f"{reason} ({counted(times, 'time')})" for reason, times in done.left_out.items()
    )
    return f"nothing was decided from {done.start} to {done.end}: {why or 'no session lies there'}"


def page(done: "Replay", told: "Statistics", room: int) -> Iterator[str]:
    """What came of a replay, for people."""
    if told.is_optimistic:
        yield bold("OPTIMISTIC: every decision entered at a close that it had seen.")
        yield ""
    for sentence in _story(done, told):
        yield from paragraphs(sentence, room, "")
    yield ""
    yield bold(f"By rating, after {told.horizon} sessions")
    rows = [("all", told.overall), *((row.name, row) for row in told.by("rating"))]
    lines = [[Cell(name), *_figures(row)] for name, row in rows]
    yield from table([Column("rating"), *_FIGURES], lines, room)
    if cutoffs := told.by("cutoff"):
        yield ""
        yield bold("By the end of the model's training data")
        lines = [[Cell(row.name), *_figures(row)] for row in cutoffs]
        yield from table([Column("decided"), *_FIGURES], lines, room)
    yield ""
    yield bold("Beside simpler rules on the same decisions")
    lines = [
        [
            Cell(rival.name),
            Cell(_percent(rival.score)),
            Cell(_percent(rival.lead)),
            Cell(_interval(rival.lead)),
            Cell(str(rival.skill or "too little to tell").replace("chance", "it")),
        ]
        for rival in told.rivals
    ]
    heads = [Column("rule"), *(Column(n, right=True) for n in ("its score", "ahead of it"))]
    yield from table([*heads, Column("95% interval", right=True), Column("so")], lines, room)
    yield ""
    for remark in told.remarks:
        yield from (dim(line) for line in paragraphs(f"- {remark}", room, ""))


def _story(done: "Replay", told: "Statistics") -> Iterator[str]:
    again = f", {done.resumed} of them from an earlier run" if done.resumed else ""
    yield (
        f"{counted(told.attrition.decided, 'decision')} on {counted(len(done.tickers), 'ticker')} "
        f"from {done.start} to {done.end}{again}; {told.attrition.settled} are settled."
    )
    for reason, times in done.left_out.items():
        yield f"{counted(times, 'date')} without a decision: {reason}."
    entries = done.entries()
    if withheld := sum(len(entry.withheld) for entry in entries):
        memories = withheld + sum(len(entry.recalled) for entry in entries)
        yield (
            f"{withheld} of {memories} memories were withheld by lot, so that it can be told what "
            "lessons were worth; with holdout = 0 in the settings none is."
        )
    hit = told.hit
    if hit.value is not None:
        sure = f", 95% interval {hit.low:.0%} to {hit.high:.0%}" if hit.low is not None else ""
        chance = f"; {told.chance:.0%} by chance" if told.chance is not None else ""
        yield (
            f"Hit rate {hit.value:.0%} of {hit.n} calls beyond the band{sure}, worth "
            f"{hit.n_eff:.0f} independent calls{chance}."
        )
    ranks = told.ranks.correlation
    if ranks.value is not None:
        yield (
            f"Rank correlation of rating and alpha {ranks.value:+.3f} over {told.ranks.dates} "
            f"dates, 95% interval {ranks.low:+.3f} to {ranks.high:+.3f}."
        )


def _figures(row: "Row") -> list[Cell]:
    return [
        Cell(str(row.n)),
        Cell(_percent(row.alpha)),
        Cell(_interval(row.alpha)),
        Cell(_percent(row.score)),
        Cell(_interval(row.score)),
    ]


def _percent(mean: Mean) -> str:
    return "too few" if mean.value is None else _signed(mean.value)


def _interval(mean: Mean) -> str:
    if mean.low is None or mean.high is None:
        return ""
    return f"{_signed(mean.low)} to {_signed(mean.high)}"


def _signed(value: float) -> str:
    """A fraction in percent, without a minus before nothing."""
    return f"{round(value, 4) + 0.0:+.2%}"


def as_object(done: "Replay", told: "Statistics") -> dict[str, Any]:
    """A replay and its statistics as JSON values."""
    return {
        "tickers": list(done.tickers),
        "start": done.start.isoformat(),
        "end": done.end.isoformat(),
        "every": done.every,
        "decide_at": done.decide_at,
        "optimistic": told.is_optimistic,
        "decided": done.decided,
        "resumed": done.resumed,
        "left_out": dict(done.left_out),
        "horizon": told.horizon,
        "overall": asdict(told.overall),
        "rows": [asdict(row) for row in told.rows if row.by != "month"],
        "hit": _rate(told.hit),
        "chance": told.chance,
        "always_buy": _rate(told.always_buy),
        "rivals": [asdict(rival) for rival in told.rivals],
        "rank_correlation": asdict(told.ranks.correlation),
        "attrition": asdict(told.attrition),
        "habits": asdict(told.habits),
        "breadth": asdict(told.breadth),
        "remarks": list(told.remarks),
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return asdict(rate) | {"rate": rate.value}

"""``run``: let the agent, or somebody's graph, decide on some tickers."""

import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from datetime import date as Date  # noqa: N812 - `date` is the name of an option here
from pathlib import Path
from typing import Any, NamedTuple

import click

from tradmem.cli import options
from tradmem.cli.graphs import Graph, find_graph, load_graph
from tradmem.cli.group import BUSY, DEBUG, DONE, FAILED, describe
from tradmem.cli.layout import cut, one_line, paragraphs
from tradmem.cli.opening import now, open_memory
from tradmem.cli.output import say, width, write, write_json
from tradmem.cli.words import bold, called, dim, styled
from tradmem.clock import parse_date
from tradmem.errors import LogBusy
from tradmem.memory import Memory
from tradmem.model import Entry, check_ticker
from tradmem.rows import as_json as json_of

_DECIDED_AS = ("rating", "decision", "final_trade_decision")  # where a graph may say its decision


class Ran(NamedTuple):
    """What came of one ticker.

    Attributes:
        ticker: in upper case.
        day: of the decision.
        entry: what stands in the log; None if the graph stored nothing or failed.
        stored: whether it was recorded, or stood already.
        said: what the graph decided, where it stored nothing.
        notices: what a person should hear of.
        error: why it failed.
    """

    ticker: str
    day: Date
    entry: Entry | None = None
    stored: str = ""
    said: str = ""
    notices: Sequence[str] = ()
    error: Exception | None = None


@click.command()
@click.argument("tickers", nargs=-1, required=True, metavar="TICKER...")
@click.option("--date", metavar="DATE", help="Of the decisions; today at each exchange by default.")
@click.option(
    "--graph",
    metavar="NAME",
    help="module:attribute, path.py:attribute, or a name in langgraph.json.",
)
@options.log
@options.prices
@options.benchmark
@options.reflector
@options.as_json
def run(
    *,
    tickers: tuple[str, ...],
    date: str | None,
    graph: str | None,
    log: str,
    prices: str,
    benchmark: str | None,
    reflector: str,
    as_json: bool,
) -> int:
    """Let the agent decide on tickers.

    First settles what has come due; then recalls, looks at the closes, decides and
    records, one ticker after the other. Where the current folder has a langgraph.json, the
    graph that it declares decides; it is handed a ticker and a date. A ticker that fails
    is told at once, does not touch the others, and makes the exit status 1.
    """
    memory = open_memory(log, prices=prices, benchmark=benchmark, reflector=reflector)
    names = list(dict.fromkeys(check_ticker(ticker) for ticker in tickers))
    days = [_day(memory, name, date) for name in names]
    os.environ["TRADMEM_LOG"] = log
    with memory.handed_out():
        driven = _graph(graph, memory)
        found = []
        for name, day in zip(names, days, strict=True):
            ran = _run_one(driven, memory, name, day)
            found.append(ran)
            if not as_json:
                for line in _lines(ran, in_full=len(names) == 1):
                    write(line)
            _tell(ran, found[:-1])
    if as_json:
        write_json(_object(ran) for ran in found)
    errors = [ran.error for ran in found if ran.error]
    if any(isinstance(error, LogBusy) for error in errors):
        return BUSY
    return FAILED if errors else DONE


def _day(memory: Memory, ticker: str, given: str | None) -> Date:
    """The date of a decision.

    Raises:
        UsageError: it is no date, or later than today at the ticker's exchange.
    """
    from tradmem.market.calendars import decision_instant, today

    if not given:
        return today(ticker, now(), memory.settings.aliases)
    day = parse_date(given)
    decision_instant(ticker, day, now(), memory.settings.aliases)
    return day


def _graph(name: str | None, memory: Memory) -> Graph:
    """The graph that is meant, loaded."""
    folder = Path.cwd()
    found = find_graph(name, folder)
    if found is None:
        from tradmem.agent import build_graph

        return Graph("tradmem", build_graph(memory))
    graph = load_graph(*found, folder)
    say(f"the graph {found[0]} decides" + (f" ({found[1]})" if found[0] != found[1] else ""))
    return graph


def _run_one(graph: Graph, memory: Memory, ticker: str, day: Date) -> Ran:
    """Drive the graph for one ticker; whatever goes wrong in it stays with that ticker."""
    before = {entry.id for entry in memory.journal.find(day, ticker)}
    try:
        state = graph.decide(ticker, day.isoformat())
        entry, stored = _standing(memory, state, before, ticker, day)
    except Exception as error:  # noqa: BLE001 - a graph is foreign code
        return Ran(ticker, day, error=error)
    said = next((str(state[key]) for key in _DECIDED_AS if state.get(key)), "")
    return Ran(ticker, day, entry, stored, said, [str(n) for n in state.get("notices") or ()])


def _standing(
    memory: Memory, state: Mapping[str, Any], before: set[str], ticker: str, day: Date
) -> tuple[Entry | None, str]:
    """The entry that stands for the decision, and whether it is new."""
    if state.get("entry_id"):
        return memory.get(str(state["entry_id"])), str(state.get("status") or "recorded")
    there = memory.journal.find(day, ticker)
    fresh = [entry for entry in there if entry.id not in before]
    if fresh:
        return fresh[-1], "recorded"
    return (there[-1], "unchanged") if there else (None, "")


def _lines(ran: Ran, *, in_full: bool) -> Iterator[str]:
    """What was decided, for people."""
    if ran.entry:
        head = bold(f"{ran.entry.date}  {ran.ticker}  {called(ran.entry)}")
        yield styled([head, ran.stored, dim(ran.entry.id)])
        if in_full:
            yield from paragraphs(ran.entry.decision, width())
    elif not ran.error:
        yield styled([bold(f"{ran.day}  {ran.ticker}"), cut(one_line(ran.said), 60), "not stored"])


def _tell(ran: Ran, earlier: Sequence[Ran]) -> None:
    """Say what went wrong, and what else a person should hear, once."""
    heard = {notice for other in earlier for notice in other.notices}
    for notice in dict.fromkeys(ran.notices):
        if notice not in heard:
            say(notice)
    if ran.error:
        if click.get_current_context().meta.get(DEBUG):
            traceback.print_exception(ran.error)
        say(f"{ran.ticker}: {describe(ran.error)}")
    elif ran.entry is None:
        say(
            f"{ran.ticker}: the graph stored no decision in this log; does it record, "
            "and not in a log of its own?"
        )


def _object(ran: Ran) -> dict[str, Any]:
    out = json_of(ran.entry) if ran.entry else {"ticker": ran.ticker, "date": str(ran.day)}
    error = describe(ran.error) if ran.error else None
    return out | {"stored": ran.stored or None, "notices": list(ran.notices), "error": error}

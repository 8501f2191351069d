"""``recall``: the text for the next prompt, exactly as a program would get it."""

import sys
from collections.abc import Iterator

import click

from tradmem.cli import options
from tradmem.cli.layout import Cell, Column, one_line, table
from tradmem.cli.opening import open_memory
from tradmem.cli.output import say, width, write, write_exactly, write_json
from tradmem.cli.words import bold, called, counted, dim, minute, result, styled
from tradmem.errors import UsageError
from tradmem.lessons.parts import Rank, Weighed
from tradmem.rows import as_json as json_of

_NEAR = 10  # memories that are not shown and are explained
_INDENT = "  "
_PARTS = (
    Column(""),
    Column("VALUE", right=True),
    Column("WEIGHT", right=True),
    Column("POINTS", right=True),
    Column("FROM", least=20),
)


@click.command()
@click.argument("ticker")
@click.option(
    "--rank",
    type=click.Choice([rank.value for rank in Rank]),
    help="What to choose: the newest (plain), or what has to do with --query (relevant).",
)
@click.option(
    "--query", metavar="TEXT", help="What the decision is about; - reads it from standard input."
)
@click.option("--agent", default="", metavar="NAME", help="Who is to decide, for a hold-out.")
@click.option("--explain", is_flag=True, help="Say why each memory is shown or left out instead.")
@options.log
@options.as_of
@options.as_json
def recall(
    *,
    ticker: str,
    rank: str | None,
    query: str | None,
    agent: str,
    explain: bool,
    log: str,
    as_of: str | None,
    as_json: bool,
) -> None:
    """Print what the next decision on a ticker should see.

    The text goes into a prompt as it is. A date in --as-of means the instant at which a
    decision of that date was made. With --json, the memories that the text shows; with
    --explain too, every memory that was looked at.
    """
    if query == "-":
        query = sys.stdin.read()
    found = open_memory(log).recall(
        ticker, as_of, rank=_rank(rank, query), query=query, agent=agent, explain=explain
    )
    if explain and as_json:
        write_json(_object(item) for item in found.explained)
    elif explain:
        for line in _lines(found.explained, width()):
            write(line)
    elif as_json:
        write_json(json_of(entry) for entry in found.memories)
    else:
        write_exactly(found.text)
    for remark in found.remarks:
        say(remark)
    if found.withheld:
        names = " ".join(f"--withheld {entry.id}" for entry in found.withheld)
        say(f"a hold-out withheld some memories; tell it `tradmem record` with {names}")
    elif found.memories and all(entry.ticker != found.ticker for entry in found.memories):
        say(f"none of these is about {found.ticker} itself")
    elif not found.memories:
        say(f"nothing to recall on {found.ticker} in {log} as of {minute(found.as_of)}")


def _rank(asked: str | None, query: str | None) -> str | None:
    """The rank that is meant: a query asks for one by relevance, which takes a query."""
    if query is None and asked == Rank.RELEVANT:
        raise UsageError("--rank relevant needs a --query: what the decision is about")
    return asked if query is None or asked else Rank.RELEVANT


def _lines(explained: tuple[Weighed, ...], room: int) -> Iterator[str]:
    """Each memory with the parts of its score, those that are shown first."""
    shown = [item for item in explained if item.is_shown]
    others = [item for item in explained if not item.is_shown]
    for title, items in (("Shown", shown), ("Left out", others[:_NEAR])):
        if items:
            yield bold(title)
        for item in items:
            yield from _account(item, room)
    if len(others) > _NEAR:
        more = counted(len(others) - _NEAR, "memory", "memories")
        rank = "with lower scores" if others[0].parts else "behind these"
        yield dim(f"and {more} {rank}; --json tells of them all")


def _account(item: Weighed, room: int) -> Iterator[str]:
    entry = item.entry
    head = f"{entry.date} {entry.ticker} {called(entry)}"
    state = "" if entry.recorded.is_note else result(entry)
    known = f"known {entry.known_on}, " if entry.known_on else ""
    yield _INDENT + styled([head, state, dim(entry.id)]) + f"  {known}{one_line(item.reason)}"
    if not item.parts:
        return
    rows = [
        [
            Cell(part.name),
            Cell(f"{part.value:.4f}"),
            Cell(f"{part.weight:g}"),
            Cell(f"{part.points:.4f}"),
            Cell(part.detail),
        ]
        for part in item.parts
    ]
    rows.append([Cell("score"), Cell(""), Cell(""), Cell(f"{item.score:.4f}"), Cell("")])
    for line in table(_PARTS, rows, room - 2 * len(_INDENT)):
        yield 2 * _INDENT + line


def _object(item: Weighed) -> dict[str, object]:
    return {
        "id": item.entry.id,
        "date": item.entry.date.isoformat(),
        "ticker": item.entry.ticker,
        "is_shown": item.is_shown,
        "reason": item.reason,
        "score": item.score,
        "parts": [
            {
                "name": part.name,
                "value": part.value,
                "weight": part.weight,
                "points": part.points,
                "detail": part.detail,
            }
            for part in item.parts
        ],
    }

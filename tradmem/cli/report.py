"""``report``: the track record, charts and all decisions in one HTML page."""

from pathlib import Path

import click

from tradmem.cli import options
from tradmem.cli.opening import is_there, no_log, now, open_memory
from tradmem.cli.output import write
from tradmem.clock import as_instant
from tradmem.errors import UsageError


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="The page; it replaces what stands there.",
)
@click.option("--title", metavar="TEXT", help="The heading of the page.")
@click.option("--ticker", "-t", multiple=True, metavar="TICKER", help="Only these tickers.")
@click.option("--agent", "-a", multiple=True, metavar="NAME", help="Only these agents.")
@click.option("--since", metavar="DATE", help="Decided then or later; 7d and 2w count back.")
@click.option("--until", metavar="DATE", help="Decided then or earlier.")
@click.option(
    "--prices",
    metavar="SOURCE",
    help="Draw decisions on closes from there: yahoo, demo, or a file as for `resolve`.",
)
@options.as_of
@options.log
def report(
    *,
    log: str,
    as_of: str | None,
    out: Path,
    title: str | None,
    ticker: tuple[str, ...],
    agent: tuple[str, ...],
    since: str | None,
    until: str | None,
    prices: str | None,
) -> None:
    """Write the track record, charts and all decisions as one HTML page.

    The page holds all of its data and loads nothing, so that it can be mailed; no text of a
    decision or a lesson can run in it.
    """
    from tradmem.study.report.page import TITLE, write_report

    if not is_there(log):
        raise UsageError(no_log(log))
    first, last = options.days(as_instant(as_of, now()).date(), since, until)
    memory = open_memory(log, prices=prices or "yahoo")
    path = write_report(
        memory,
        out,
        as_of,
        tickers=ticker,
        agents=agent,
        since=first,
        until=last,
        title=title or TITLE,
        prices=memory.prices if prices else None,
    )
    write(f"{path}  {path.stat().st_size / 1e6:.1f} MB")

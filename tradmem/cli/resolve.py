"""``resolve``: settle what has come due, and tell what came of it."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

import click

from tradmem.cli import options
from tradmem.cli.group import DONE, FAILED
from tradmem.cli.layout import paragraphs
from tradmem.cli.listing import due_lines, entry_lines
from tradmem.cli.naming import entry_of
from tradmem.cli.opening import now, open_memory
from tradmem.cli.output import say, width, write, write_json
from tradmem.cli.words import bold, called, counted, minute, took
from tradmem.cli.worker import work_off
from tradmem.clock import as_instant, format_instant
from tradmem.errors import UsageError
from tradmem.model import Entry
from tradmem.resolving import Progress, Resolution, ResolveReport
from tradmem.rows import as_json as json_of

_MOST_LESSONS = 10  # in full; the log has them all
_WHY = ("waiting", "suspect", "failed", "unresolvable")


@click.command()
@click.argument("tickers", nargs=-1, metavar="[TICKER]...")
@click.option("--reflect/--no-reflect", default=True, help="Whether to have lessons written.")
@click.option(
    "--max-cost",
    type=options.AMOUNT,
    metavar="USD",
    help="Ask a model no further once that much is spent.",
)
@click.option("--retry-stuck", is_flag=True, help="Ask a model again about what is stuck.")
@click.option("--accept", multiple=True, metavar="ID", help="A suspect outcome to take as it is.")
@click.option("--retry-unresolvable", is_flag=True, help="Ask again for what was given up.")
@click.option("--recheck", is_flag=True, help="Ask again for all outcomes; store what differs.")
@click.option(
    "--wait",
    type=options.AMOUNT,
    default=0,
    metavar="SECONDS",
    help="For another resolver.",
)
@click.option("--worker", is_flag=True, help="Share a database's work queue, until a signal.")
@click.option("--once", is_flag=True, help="As a worker, until nothing is due.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="With --worker: between looks at an empty queue.",
)
@options.log
@options.as_of
@options.prices
@options.benchmark
@options.reflector
@options.as_json
def resolve(
    *,
    tickers: tuple[str, ...],
    reflect: bool,
    max_cost: float | None,
    retry_stuck: bool,
    accept: tuple[str, ...],
    retry_unresolvable: bool,
    recheck: bool,
    wait: float,
    worker: bool,
    once: bool,
    every: float,
    log: str,
    as_of: str | None,
    prices: str,
    benchmark: str | None,
    reflector: str,
    as_json: bool,
) -> int:
    """Settle what has come due, and write the lessons.

    Of all tickers, or only of those that are named. Prints what was settled, what is not
    due yet, and what failed and why. Exit status 1 if something failed: it stays as it
    was, and is tried again next time.

    Any number of workers may share a log in PostgreSQL: each entry is claimed by one of
    them, and those of one that dies come back a minute later.
    """
    memory = open_memory(
        log,
        prices=prices,
        benchmark=benchmark,
        reflector=reflector if reflect else "template",  # which nobody will ask
        max_cost=max_cost,
        retry_stuck=retry_stuck,
    )
    if worker or once:
        if as_of or accept or retry_unresolvable or recheck or (as_json and not once):
            raise UsageError(
                "a worker takes what is due; --as-of, --accept, --retry-unresolvable and --recheck "
                "do not go with it, nor --json without --once"
            )
        pause = None if once else every
        return work_off(memory, tickers or None, reflect=reflect, every=pause, as_json=as_json)
    instant = as_instant(as_of, now())
    report = ResolveReport()
    if memory.journal.unfinished() or accept or retry_unresolvable or recheck:
        with _progress(wanted=not as_json) as progress:
            report = memory.resolve(
                instant,
                tickers or None,
                reflect=reflect,
                accept=[entry_of(memory, name.split()).id for name in accept],
                retry_unresolvable=retry_unresolvable,
                recheck=recheck,
                wait=wait,
                progress=progress,
            )
    _print(report, log, instant, as_json=as_json)
    return FAILED if report.failed else DONE


def _print(report: ResolveReport, log: str, instant: datetime, *, as_json: bool) -> None:
    cost = f"the model took {took(report.usage)}" if report.usage.calls else ""
    if as_json:
        write_json(_object(group, item) for group, item in report.items())
        if cost:
            say(cost)
    elif not any(report.items()):
        say(f"nothing to resolve in {log} as of {minute(instant)}")
    else:
        write(f"{log} as of {minute(instant)}: {summary(report)}")
        for line in digest(report, instant):
            write(line)
        if cost:
            write(f"\n{cost[:1].upper()}{cost[1:]}.")


def summary(report: ResolveReport) -> str:
    """What a run did, in one line of counts."""
    verdicts = Counter(item.entry.verdict for item in report.settled)
    found = [f"{verdicts[verdict]} {verdict}" for verdict in verdicts if verdict]
    counts = Counter(group for group, _ in report.items())
    names = {
        "settled": "settled" + (f" ({', '.join(sorted(found))})" if found else ""),
        "reflected": "lesson" if counts["reflected"] == 1 else "lessons",
        "not_due": "not due",
    }
    parts = [f"{count} {names.get(group, group)}" for group, count in counts.items()]
    return ", ".join(parts) or "nothing to do"


def digest(report: ResolveReport, as_of: datetime) -> Iterator[str]:
    """What a run did with each entry as of an instant, for people."""
    room = width()
    latest = {item.entry.id: item.entry for item in (*report.settled, *report.reflected)}
    settled = [latest[item.entry.id] for item in report.settled]
    if settled:
        yield from ("", bold("Settled"), *entry_lines(settled, room, "  "))
    yield from _lessons([item.entry for item in report.reflected], room)
    for group in _WHY:
        items: tuple[Resolution, ...] = getattr(report, group)
        if items:
            yield from ("", bold(group.capitalize()))
            for told in _reasons(items, together=group == "failed"):
                yield from paragraphs(told, room)
    if report.not_due:
        pairs = [(item.entry, item.due) for item in report.not_due if item.due]
        yield from ("", bold("Not due"), *due_lines(pairs, as_of, room))


def _reasons(items: Sequence[Resolution], *, together: bool) -> Iterator[str]:
    """Each entry with its reason; where a person need not name each, those with one together."""
    found: dict[str, list[Resolution]] = {}
    for item in items:
        found.setdefault(item.reason if together else item.entry.id, []).append(item)
    for first, *others in found.values():
        entry = first.entry
        more = f" and {len(others):,} more" if others else ""
        yield f"{entry.date} {entry.ticker} {called(entry)} ({entry.id}){more}: {first.reason}"


def _lessons(entries: Sequence[Entry], room: int) -> Iterator[str]:
    if not entries:
        return
    yield from ("", bold("Lessons"))
    for entry in entries[:_MOST_LESSONS]:
        head = f"{entry.date} {entry.ticker} {called(entry)}: "
        yield from paragraphs(head + entry.reflection, room)
    if len(entries) > _MOST_LESSONS:
        rest = len(entries) - _MOST_LESSONS
        yield f"  and {counted(rest, 'more lesson')}; tradmem show ID prints one"


def _object(group: str, item: Resolution) -> dict[str, object]:
    due = format_instant(item.due) if item.due else None
    return json_of(item.entry) | {"group": group, "why": item.reason, "due": due}


@contextmanager
def _progress(*, wanted: bool) -> Iterator[Progress | None]:
    """A bar for each phase on a terminal; nothing elsewhere."""
    if not (wanted and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    with Bars(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(phase: str, done: int, total: int) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(phase, total=total)
            bars.update(tasks[phase], completed=done, total=total)

        yield show

"""The digest of a run: what it did, in the order in which a person wants to know it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tradmem.cli.layout import Cell, Column, cut, one_line, paragraphs, table
from tradmem.cli.listing import due_lines, entry_lines
from tradmem.cli.words import bold, called, counted, dollars, minute
from tradmem.model import Entry
from tradmem.running.faults import AGAIN
from tradmem.running.plan import Fate
from tradmem.running.record import RunState
from tradmem.running.report import RunReport, TickerRun

_COLUMNS = (
    Column("DATE"),
    Column("TICKER"),
    Column("RATING"),
    Column("WHAT"),
    Column("TRIES", right=True, drop=1),
    Column("ID"),
)
_RESOLVED = {"reflected": ("lesson", "lessons"), "not_due": ("not due", "not due")}


_FEW = 10  # decisions from before, beyond which a count is enough


def digest(report: RunReport, room: int, *, in_full: bool) -> Iterator[str]:
    """The lines of the digest.

    Args:
        report: what the run did.
        room: columns of the screen.
        in_full: whether the texts of the decisions are wanted too.
    """
    yield bold(headline(report))
    done = report.of(Fate.DECIDED, Fate.UNSTORED)
    before = report.of(Fate.STANDING)
    done += before if len(before) <= _FEW else ()
    if done:
        yield from ("", bold("Decided"), *_decided(done, room))
    for item in done if in_full else ():
        if item.entry:
            yield from ("", *paragraphs(item.entry.decision, room))
    settled = _settled(report)
    if settled:
        yield from ("", bold("Resolved"), *entry_lines(settled, room, "  "))
    yield from _aside(report, room)
    if report.pending:
        yield from ("", bold("Pending, by the day on which it is due"))
        yield from due_lines(report.pending, report.ended, room)
    failures = list(report.failures())
    if failures:
        yield from ("", bold("Failed"))
        for failure in failures:
            todo = f" - {failure.todo}" if failure.todo else ""
            yield from paragraphs(f"{failure.what}: {failure.why}{todo}", room)
    left = [item.ticker for item in report.of(Fate.INTERRUPTED)]
    if left:
        yield from ("", bold("Not reached"))
        yield from paragraphs(f"{', '.join(left)} - {AGAIN}", room)


def headline(report: RunReport) -> str:
    """The whole run on one line."""
    if report.state is RunState.NOTHING:
        pending = f"; {len(report.pending)} pending" if report.pending else ""
        return f"{minute(report.ended)}: nothing to do: {_why_nothing(report)}{pending}"
    counts = Counter(item.fate for item in report.tickers)
    parts = [f"{counts[fate]} {fate}" for fate in Fate if counts[fate]]
    if report.tickers and set(counts) <= {Fate.STANDING, Fate.CLOSED}:
        parts = [f"nothing to decide: {_why_nothing(report)}"]
    if report.stopped:
        parts.insert(0, f"interrupted ({report.stopped})")
    verdicts = Counter(str(item.entry.verdict) for item in report.resolved.settled)
    told = ", ".join(f"{count} {name}" for name, count in sorted(verdicts.items()) if name)
    if report.resolved.settled:
        parts.append(f"{len(report.resolved.settled)} resolved" + f" ({told})" * bool(told))
    if report.resolved.reflected:
        parts.append(counted(len(report.resolved.reflected), "lesson"))
    failed = len(report.resolved.failed)
    if failed:
        parts.append(f"{failed} not resolved")
    if report.pending:
        parts.append(f"{len(report.pending)} pending")
    if report.usage.calls:
        parts.append(f"{counted(report.usage.calls, 'call')} of the model, {_cost(report)}")
    seconds = (report.ended - report.started).total_seconds()
    return f"{minute(report.ended)}: {', '.join(parts)}; {seconds:.0f} s"


def item_line(item: TickerRun) -> str:
    """What became of one ticker, for a line of progress."""
    if item.entry:
        return f"{item.ticker}: {called(item.entry)}, {_what(item)} ({item.entry.id})"
    if item.error:
        return f"{item.ticker}: failed"
    return f"{item.ticker}: {_what(item)}"


def _why_nothing(report: RunReport) -> str:
    standing, closed = report.of(Fate.STANDING), report.of(Fate.CLOSED)
    told = []
    if standing:
        told.append(f"{_names(standing)} decided already")
    if closed:
        days = ", ".join(sorted({str(item.day) for item in closed}))
        told.append(f"{_names(closed)} without a session on {days}")
    return "; ".join(told)


def _names(items: Sequence[TickerRun]) -> str:
    names = [item.ticker for item in items]
    more = f" and {len(names) - 5} more" if len(names) > 6 else ""
    return ", ".join(names[: 5 if more else 6]) + more


def _decided(items: Sequence[TickerRun], room: int) -> Iterator[str]:
    rows = [
        (
            Cell(item.day.isoformat()),
            Cell(item.ticker),
            Cell(called(item.entry) if item.entry else cut(one_line(item.said), 30)),
            Cell(_what(item)),
            Cell(str(item.tries) if item.tries > 1 else ""),
            Cell(item.entry.id if item.entry else "", {"dim": True}),
        )
        for item in items
    ]
    for line in table(_COLUMNS, rows, room - 2):
        yield f"  {line}"


def _what(item: TickerRun) -> str:
    return "recorded" if item.fate is Fate.DECIDED else str(item.fate)


def _settled(report: RunReport) -> list[Entry]:
    """What was settled or taught in this run, each as it is at its end."""
    items = (*report.resolved.settled, *report.resolved.reflected)
    return list({item.entry.id: item.entry for item in items}.values())


def _aside(report: RunReport, room: int) -> Iterator[str]:
    """What waits for a close, or for a person."""
    for group in ("waiting", "suspect", "unresolvable"):
        items = getattr(report.resolved, group)
        if items:
            yield from ("", bold(group.capitalize()))
            for item in items:
                entry = item.entry
                told = f"{entry.date} {entry.ticker} {called(entry)} ({entry.id}): {item.reason}"
                yield from paragraphs(told, room)


def _cost(report: RunReport) -> str:
    return dollars(report.usage.cost)

"""Runs as JSON values: for the record of runs, and for programs that listen."""

from collections import Counter
from typing import Any

from tradmem.clock import format_instant
from tradmem.lessons.reflect import Usage
from tradmem.model import Entry
from tradmem.resolving import ResolveReport
from tradmem.rows import as_json
from tradmem.running.plan import Planned
from tradmem.running.report import Event, EventKind, RunReport, TickerRun, line_of


def ended_json(report: RunReport) -> dict[str, Any]:
    """All of a run, for its last line in the record."""
    return {
        "state": report.state.value,
        "started": format_instant(report.started),
        "ended": format_instant(report.ended),
        "graph": report.graph,
        "stopped": report.stopped or None,
        "tickers": [_ticker(item) for item in report.tickers],
        "resolved": resolved_json(report.resolved),
        "pending": [
            {"id": entry.id, "ticker": entry.ticker, "due": format_instant(due)}
            for entry, due in report.pending
        ],
        "failures": [failure._asdict() for failure in report.failures()],
        **usage_json(report.usage),
    }


def resolved_json(report: ResolveReport) -> dict[str, Any]:
    """What was resolved: ids by what became of them, and how many were right."""
    groups: dict[str, list[str]] = {}
    for group, item in report.items():
        groups.setdefault(group, []).append(item.entry.id)
    verdicts = Counter(str(item.entry.verdict) for item in report.settled if item.entry.verdict)
    return {**groups, "verdicts": dict(sorted(verdicts.items()))}


def usage_json(usage: Usage) -> dict[str, Any]:
    """Calls, tokens sent and received, and US dollars; None where a part of them is not known."""
    tokens = [usage.prompt_tokens, usage.completion_tokens]
    return {"calls": usage.calls, "tokens": tokens, "cost": usage.cost}


def event_json(event: Event) -> dict[str, Any]:
    """One event as an object; which names it has follows from ``event``, its first one."""
    out: dict[str, Any] = {"event": event.kind.value, "at": format_instant(event.at)}
    match event.kind:
        case EventKind.STARTED:
            out["tickers"] = [_planned(each) for each in event.tickers]
        case EventKind.RESOLVING:
            out |= {"phase": event.node, "done": event.done, "total": event.total}
        case EventKind.RESOLVED:
            out |= resolved_json(event.resolved or ResolveReport())
            out["error"] = line_of(event.error) if event.error else None
        case EventKind.NODE:
            out |= {"ticker": event.ticker, "node": event.node}
        case EventKind.RETRY:
            assert event.error
            out |= {"ticker": event.ticker, "error": line_of(event.error), "pause": event.pause}
        case EventKind.TICKER:
            assert event.item
            out |= _whole(event.item)
        case EventKind.WAITING | EventKind.STOPPING:
            out["pause"] = event.pause
        case EventKind.ENDED:
            assert event.report
            out |= {"run": event.report.id, **ended_json(event.report)}
    return out


def _planned(planned: Planned) -> dict[str, Any]:
    entry = planned.entry.id if planned.entry else None
    return {
        "ticker": planned.ticker,
        "date": planned.day.isoformat(),
        "outcome": planned.fate.value,
        "id": entry,
    }


def _ticker(item: TickerRun) -> dict[str, Any]:
    """What became of a ticker, without what the log tells itself."""
    entry = item.entry
    return {
        "ticker": item.ticker,
        "date": item.day.isoformat(),
        "outcome": item.fate.value,
        "id": entry.id if entry else None,
        "rating": entry.rating.value if entry and entry.rating else None,
        "notices": list(item.notices),
        "error": line_of(item.error) if item.error else None,
        "tries": item.tries,
        "seconds": round(item.seconds, 3),
        **usage_json(item.usage),
    }


def _whole(item: TickerRun) -> dict[str, Any]:
    """The same, with the whole entry."""
    entry: Entry | None = item.entry
    return (as_json(entry) if entry else {}) | _ticker(item)

"""The further tools of a server: before a decision, the decision itself, and what came of it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tradmem.clock import format_instant, utc
from tradmem.errors import UsageError
from tradmem.journal.base import Stored
from tradmem.lessons.parts import Rank
from tradmem.lessons.recall import Recall
from tradmem.lessons.track import Group, Line
from tradmem.model import Entry, Status
from tradmem.nodes import decision_date
from tradmem.plugin import texts
from tradmem.plugin.answers import Seen
from tradmem.plugin.arguments import ABOUT, DECISION, RATING, TICKER, schema, text_of, ticker_of
from tradmem.plugin.callers import Caller
from tradmem.plugin.libraries import Access, Library
from tradmem.plugin.tools import Tool, library_tools

_MOST_PENDING = 50
_MOST_TICKERS = 20  # of a track record


def caller_tools(caller: Caller, seen: Seen) -> tuple[Tool, ...]:
    """All tools of all libraries of a caller; their names have suffixes if there are several."""
    several = len(caller.libraries) > 1
    return tuple(
        tool
        for library in caller.libraries
        for tool in (
            *library_tools(
                library,
                suffix=library.suffix if several else "",
                caller=caller.name,
                seen=seen,
            ),
            *desk_tools(library, caller, seen, suffix=library.suffix if several else ""),
        )
    )


def desk_tools(library: Library, caller: Caller, seen: Seen, *, suffix: str = "") -> Iterator[Tool]:
    """``recall``, ``pending``, ``track_record`` and, with access to add, ``record_decision``."""
    tail = f"_{suffix}" if suffix else ""
    scope = library.scope
    yield Tool(
        name=f"recall{tail}",
        description=texts.RECALL.format(scope=scope),
        parameters=schema(TICKER, ABOUT, required=("ticker",)),
        run=lambda arguments: (
            recall(library, arguments, caller.name, seen).text.strip()
            or texts.NOT_FOUND.format(about="")
        ),
    )
    yield Tool(
        name=f"pending{tail}",
        description=texts.PENDING.format(scope=scope),
        parameters=schema(TICKER),
        run=lambda arguments: pending(library, arguments),
    )
    yield Tool(
        name=f"track_record{tail}",
        description=texts.TRACK.format(scope=scope),
        parameters=schema(TICKER),
        run=lambda arguments: track_record(library, arguments),
    )
    if library.access is Access.ADD:
        yield Tool(
            name=f"record_decision{tail}",
            description=texts.RECORD.format(scope=scope),
            parameters=schema(TICKER, DECISION, RATING, required=("ticker", "decision")),
            run=lambda arguments: record(library, arguments, caller.name, seen),
            adds=True,
        )


def recall(library: Library, arguments: Mapping[str, Any], caller: str, seen: Seen) -> Recall:
    """What a decision on a ticker should see; its caller is taken to have seen it.

    Raises:
        UsageError: an argument cannot be.
    """
    ticker, asked = ticker_of(arguments, required=True), text_of(arguments, ABOUT, required=False)
    assert ticker is not None
    rank = Rank.RELEVANT if asked else None
    found = library.memory.recall(ticker, rank=rank, query=asked, agent=caller)
    seen.add(caller, library, found)
    return found


def record(library: Library, arguments: Mapping[str, Any], caller: str, seen: Seen) -> str:
    """Record a caller's decision of today, durably, with what the caller was shown before.

    Raises:
        UsageError: an argument cannot be; nothing was recorded.
    """
    ticker, text = ticker_of(arguments, required=True), text_of(arguments, DECISION)
    assert ticker is not None
    rating = arguments.get("rating")
    if rating is not None and not isinstance(rating, str):
        raise UsageError("rating is no text")
    memory = library.memory
    day = decision_date(memory, ticker, None, None)
    glance = seen.take(caller, library, ticker, utc(memory.clock()))
    done = memory.record(
        ticker,
        day,
        text,
        rating=rating or None,
        agent=caller,
        recalled=glance.ids,
        recalled_as_of=glance.as_of,
        withheld=glance.withheld,
    )
    entry = done.entry
    told = texts.DECIDED_BEFORE if done.status is Stored.KEPT else texts.DECIDED
    line = told.format(
        id=entry.id, rating=entry.rating or "Unrated", ticker=ticker, date=entry.date
    )
    return " ".join([line, *(f"Note: {warning}." for warning in done.warnings)])


def pending(library: Library, arguments: Mapping[str, Any]) -> str:
    """The decisions without an outcome, the oldest first.

    Raises:
        UsageError: an argument cannot be.
    """
    ticker, memory = ticker_of(arguments), library.memory
    entries = [
        entry
        for entry in memory.journal.unfinished()
        if entry.status is Status.PENDING and ticker in (None, entry.ticker)
    ]
    if not entries:
        return texts.NONE_PENDING.format(about=f" on {ticker}" if ticker else "")
    entries.sort(key=lambda entry: (entry.date, entry.ticker, entry.id))
    lines = [_line(library, entry) for entry in entries[-_MOST_PENDING:]]
    if len(entries) > _MOST_PENDING:
        lines.insert(0, f"The {_MOST_PENDING} newest of {len(entries)}:")
    return "\n".join(lines)


def _line(library: Library, entry: Entry) -> str:
    due = library.memory.due(entry)
    by = f" by {entry.agent}" if entry.agent else ""
    when = f", due {format_instant(due)}" if due else ""
    return f"{entry.date} {entry.ticker} {entry.rating or 'Unrated'}{by}{when} ({entry.id})"


def track_record(library: Library, arguments: Mapping[str, Any]) -> str:
    """How often decisions were right, in lines; of one ticker, or overall and by ticker.

    Raises:
        UsageError: an argument cannot be.
    """
    ticker = ticker_of(arguments)
    found = library.memory.track(tickers=[ticker] if ticker else ())
    lines = list(_told(found.lines, ticker))
    return "\n".join(lines) or texts.NO_TRACK.format(about=f" on {ticker}" if ticker else "")


def _told(lines: Iterable[Line], ticker: str | None) -> Iterator[str]:
    tickers = 0
    for line in lines:
        is_ticker = line.group is Group.TICKER and not ticker
        tickers += is_ticker
        if line.group is Group.OVERALL or (is_ticker and tickers <= _MOST_TICKERS):
            subject = line.name or ticker or "all decisions"
            if told := line.track.line(f"{subject} after {line.horizon} sessions"):
                yield told

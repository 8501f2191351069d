"""The three acts of the memory as nodes of a graph: resolve, recall, record.

Each factory gives a plain callable from a state to the keys that it changes, so that it
fits a LangGraph graph of any shape, or none: nothing here imports langgraph. The state
is any mapping; which of its keys mean what is a parameter. What the nodes put into it are
plain strings and lists, which every checkpointer can store. The instant of everything
is the memory's clock.

A state that names its keys beforehand (a ``TypedDict``) has to name those that are used
here, ``recalled`` and ``as_of`` among them: by them the decision remembers what it saw, and by
``withheld`` what a hold-out kept from it.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date as Date  # noqa: N812 - `date` is the name of a key here
from typing import Any, Protocol

from tradmem.clock import format_instant, parse_date, parse_instant
from tradmem.errors import LogBusy, LogError, UsageError
from tradmem.journal.base import Journal, OnConflict, Stored
from tradmem.memory import Memory
from tradmem.model import Entry
from tradmem.resolving import ResolveReport
from tradmem.tickers import check_ticker

State = Mapping[str, Any]


class Node(Protocol):
    """A step of a graph: what it makes of a state, as the keys that it changes."""

    def __call__(self, state: Any) -> dict[str, Any]:
        """Do the step; the state is a mapping of any kind."""
        ...


RECORDS_AS = "records_as"  # the attribute by which a record node tells under which name it records
_resolved: ContextVar[tuple[Journal, ResolveReport] | None] = ContextVar("resolved", default=None)


@contextmanager
def resolved_before(memory: Memory, report: ResolveReport) -> Iterator[None]:
    """Within, a resolve node on this memory's log hands on what was resolved already.

    So a run over many tickers resolves once: what failed is not asked again for each.

    Args:
        memory: that was resolved.
        report: what came of it; whoever has it tells what a person should hear of.
    """
    before = _resolved.set((memory.journal, report))
    try:
        yield
    finally:
        _resolved.reset(before)


def required(state: State, key: str) -> Any:
    """What a state holds under a key that a node cannot do without.

    Raises:
        UsageError: it holds nothing there.
    """
    value = state.get(key)
    if value is None:
        raise UsageError(
            f"the state has no {key!r}; start the graph with one, such as "
            f'{{"ticker": "NVDA"}}, and let each node come after those that it needs'
        )
    return value


_TOLD = ("failed", "suspect", "unresolvable")  # what a person should hear of


def resolve_node(
    memory: Memory,
    *,
    ticker: str | None = None,
    resolved: str = "resolved",
    notices: str = "notices",
    wait: float = 10.0,
) -> Node:
    """A node that settles what has come due and has the lessons written.

    Nothing that a price source or a model does stops the graph: what failed stays due, and
    is told in the notices. So is a log that another process is resolving.

    Args:
        memory: whose decisions.
        ticker: the state's key of the only ticker to resolve; None resolves them all.
        resolved: gets the ids that were given an outcome.
        notices: gets one line for each thing that failed or that a person should look at.
        wait: seconds to wait for another resolver of the same log.

    Raises:
        LogError: from the node; the log cannot be read or written.
    """

    def resolve(state: State) -> dict[str, Any]:
        only = None if ticker is None else [check_ticker(required(state, ticker))]
        if (before := _resolved.get()) and _is_same_log(before[0], memory.journal):
            done = [item.entry for item in before[1].settled]
            ids = [entry.id for entry in done if only is None or entry.ticker in only]
            return {resolved: ids, notices: []}
        try:
            report = memory.resolve(tickers=only, wait=wait)
        except LogBusy as error:
            return {resolved: [], notices: [str(error)]}
        except (LogError, UsageError):
            raise
        except Exception as error:  # noqa: BLE001 - a reflector is foreign code; outcomes are stored
            return {resolved: [], notices: [f"resolving failed: {_one_line(error)}"]}
        ids = [resolution.entry.id for resolution in report.settled]
        return {resolved: ids, notices: list(_told(report))}

    return resolve


def recall_node(
    memory: Memory,
    *,
    ticker: str = "ticker",
    date: str = "date",
    query: str | None = None,
    past_context: str = "past_context",
    recalled: str = "recalled",
    as_of: str = "as_of",
    withheld: str = "withheld",
    agent: str = "",
) -> Node:
    """A node that recalls what was known before a decision.

    Args:
        memory: what to recall from.
        ticker: the state's key of the ticker.
        date: of the decision's date; without one it is made now.
        query: of what the decision is about, such as the day's brief, for a memory whose
            settings rank by relevance; None if the state has no such key.
        past_context: gets the text for the prompt.
        recalled: gets the ids of what the text shows.
        as_of: gets the instant that was used, as ISO text.
        withheld: gets the ids that the settings' hold-out kept from the text; None where the
            settings have none.
        agent: who decides, as the record node says it.
    """

    def recall(state: State) -> dict[str, Any]:
        given = state.get(date)
        about = None if query is None else state.get(query)
        day = parse_date(given) if given else None
        seen = memory.recall(required(state, ticker), day, query=about, agent=agent)
        return {
            past_context: seen.text,
            recalled: list(seen.ids),
            as_of: format_instant(seen.as_of),
            withheld: [entry.id for entry in seen.withheld] if seen.holdout else None,
        }

    return recall


def record_node(
    memory: Memory,
    *,
    ticker: str = "ticker",
    date: str = "date",
    decision: str = "decision",
    rating: str = "rating",
    recalled: str = "recalled",
    as_of: str = "as_of",
    cited: str = "cited",
    withheld: str = "withheld",
    extra: str = "decision_extra",
    entry_id: str = "entry_id",
    status: str = "status",
    notices: str = "notices",
    agent: str = "",
    horizon: int | None = None,
    on_conflict: OnConflict | str = OnConflict.KEEP,
) -> Node:
    """A node that records the decision, and with it what was recalled for it.

    Args:
        memory: where to.
        ticker: the state's key of the ticker.
        date: of the decision's date; without one it is the exchange's date at ``as_of``.
        decision: of the text.
        rating: of the rating; without one it is read from the text.
        recalled: of the ids that the recall node put there.
        as_of: of the instant that it put there.
        cited: of the ids that the decision names.
        withheld: of the ids that the recall node's hold-out kept from it.
        extra: of further JSON values to keep with it, such as the name of a model.
        entry_id: gets the id of the entry that stands.
        status: gets ``recorded``, ``unchanged``, ``kept`` or ``revised``.
        notices: gets one more line where the decision is not what stands, is unrated, says
            another rating than it has, or has anything else that a person should know.
        agent: who decides.
        horizon: sessions to hold; the settings' first by default.
        on_conflict: see :meth:`tradmem.memory.Memory.record`.
    """

    def record(state: State) -> dict[str, Any]:
        name, instant = check_ticker(required(state, ticker)), state.get(as_of)
        done = memory.record(
            name,
            decision_date(memory, name, state.get(date), instant),
            required(state, decision),
            rating=state.get(rating),
            agent=agent,
            horizon=horizon,
            recalled=state.get(recalled) or (),
            recalled_as_of=instant,
            cited=state.get(cited) or (),
            withheld=state.get(withheld),
            on_conflict=on_conflict,
            extra=state.get(extra) or {},
        )
        entry, told = done.entry, list(state.get(notices) or ())
        if done.status is Stored.KEPT:
            told.append(
                f"{name} {entry.date} was decided before, otherwise; "
                f"the first decision stands, as {entry.id}"
            )
        elif entry.rating is None:
            told.append(f"{name} {entry.date} is stored unrated: its text gives no clear rating")
        told += done.warnings
        return {entry_id: entry.id, status: done.status.value, notices: told}

    setattr(record, RECORDS_AS, agent)
    return record


def decision_date(memory: Memory, ticker: str, given: Date | str | None, as_of: str | None) -> Date:
    """The date of a decision: as given, or else the exchange's at the recall's instant.

    Args:
        memory: whose clock tells the time where there was no recall.
        ticker: in upper case.
        given: a date, ISO text, or nothing.
        as_of: the recall's instant as ISO text, if there was one.

    Raises:
        UsageError: no such date.
    """
    if given:
        return parse_date(given)
    from tradmem.market.calendars import today  # noqa: PLC0415 - loads calendars

    now = parse_instant(as_of) if as_of else memory.clock()
    return today(ticker, now, memory.settings.aliases)


def _is_same_log(one: Journal, other: Journal) -> bool:
    """Whether two journals are one, or hold the same file."""
    paths = [getattr(journal, "path", None) for journal in (one, other)]
    if one is other or None in paths:
        return one is other
    return os.path.realpath(str(paths[0])) == os.path.realpath(str(paths[1]))


def _told(report: ResolveReport) -> Iterator[str]:
    """One line per reason of what a person should hear of, with the first entry that it holds."""
    found: dict[tuple[str, str], list[Entry]] = {}
    for group, resolution in report.items():
        if group in _TOLD:
            found.setdefault((group, resolution.reason), []).append(resolution.entry)
    for (group, reason), (first, *others) in found.items():
        more = f" and {len(others)} more" if others else ""
        yield f"{group}: {first.ticker} {first.date}{more}: {reason}"


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())

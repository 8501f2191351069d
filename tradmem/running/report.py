"""What a run is asked to do, what it tells while it works, and what it did: values only."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date as Date  # noqa: N812 - as everywhere in this package
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import NamedTuple

from tradmem.errors import LogBusy, TradmemError, UsageError
from tradmem.lessons.reflect import NO_USAGE, Usage
from tradmem.model import Entry
from tradmem.resolving import ResolveReport
from tradmem.running.faults import advice
from tradmem.running.plan import Fate, Planned
from tradmem.running.record import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run goes about it.

    Attributes:
        skip_closed: whether a day without a session at a ticker's exchange is skipped.
        concurrency: tickers that are decided at once.
        retries: further tries of a ticker after a passing fault.
        pause: seconds before the first of them; each next one waits four times as long.
        wait: seconds to wait for another run over the same log; 0 leaves at once.
        max_cost: US dollars; no ticker is begun once another one may exceed it.

    Raises:
        UsageError: a value cannot be.
    """

    skip_closed: bool = False
    concurrency: int = 4
    retries: int = 2
    pause: float = 5.0
    wait: float = 3600.0
    max_cost: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("concurrency", 1), ("retries", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise UsageError(f"{name} is {value!r}; it is a whole number from {least} on")
        for name in ("pause", "wait", "max_cost"):
            value = getattr(self, name)
            if value is None and name == "max_cost":
                continue
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (is_number and isfinite(value) and value >= 0):
                unit = "US dollars" if name == "max_cost" else "seconds"
                raise UsageError(f"{name} is {value!r}; it is a number of {unit} from 0 on")


@dataclass(frozen=True, slots=True, kw_only=True)
class TickerRun:
    """What became of one ticker.

    Attributes:
        ticker: in upper case.
        day: of the decision.
        fate: in a word.
        entry: what stands in the log for it.
        said: what the graph decided, where it stored nothing.
        notices: what a person should hear of.
        error: why it failed.
        tries: how often the graph was begun.
        seconds: that it took.
        usage: what asking models took.
    """

    ticker: str
    day: Date
    fate: Fate
    entry: Entry | None = None
    said: str = ""
    notices: tuple[str, ...] = ()
    error: BaseException | None = None
    tries: int = 0
    seconds: float = 0.0
    usage: Usage = NO_USAGE


class Failure(NamedTuple):
    """One thing that went wrong.

    Attributes:
        what: a ticker, or entries, or a step of the run.
        why: one line.
        todo: what a person can do; empty where the line says it.
        ids: the entries that it is about, if it is about entries.
    """

    what: str
    why: str
    todo: str = ""
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What a run did.

    Attributes:
        id: its name in the record of runs.
        graph: the name of what decided.
        started, ended: aware UTC.
        tickers: all that were asked for, in their order.
        resolved: what was settled and taught before any decision.
        resolve_error: why that broke off; None if it did not.
        pending: decisions that wait for their outcome, with the instant at which it is due.
        usage: what asking models took, for lessons and decisions.
        error: what ended it before its time; such a report is only put on record.
        stopped: why it was stopped before its time; empty if it was not.
        record_error: why the record of runs could not be written.
        left: whether work in hand was left in threads that may still be at it.
    """

    id: str
    graph: str
    started: datetime
    ended: datetime
    tickers: tuple[TickerRun, ...]
    resolved: ResolveReport = field(default_factory=ResolveReport)
    resolve_error: BaseException | None = None
    pending: tuple[tuple[Entry, datetime], ...] = ()
    usage: Usage = NO_USAGE
    error: BaseException | None = None
    stopped: str = ""
    record_error: BaseException | None = None
    left: bool = False

    def of(self, *fates: Fate) -> tuple[TickerRun, ...]:
        """The tickers with one of some fates."""
        return tuple(item for item in self.tickers if item.fate in fates)

    @property
    def state(self) -> RunState:
        """How it ended, in a word."""
        if self.stopped:
            return RunState.INTERRUPTED
        if any(self.failures()):
            return RunState.FAILED
        idle = not self.of(Fate.DECIDED, Fate.UNSTORED)
        if idle and not (self.resolved.settled or self.resolved.reflected):
            return RunState.NOTHING
        return RunState.DONE

    @property
    def is_busy(self) -> bool:
        """Whether all that failed did so because others held the log."""
        errors = [item.error for item in self.of(Fate.FAILED)]
        errors += [error for error in (self.resolve_error, self.record_error) if error]
        busy = bool(errors) and all(isinstance(error, LogBusy) for error in errors)
        return busy and not self.resolved.failed

    def failures(self) -> Iterator[Failure]:
        """What went wrong, and what to do about it."""
        if self.error:
            yield Failure("the run", line_of(self.error), advice(self.error))
        if self.resolve_error:
            yield Failure("resolving", line_of(self.resolve_error), advice(self.resolve_error))
        reasons = Counter(item.reason for item in self.resolved.failed)
        for reason, count in reasons.items():
            entries = [item.entry for item in self.resolved.failed if item.reason == reason]
            more = f" and {count - 1:,} more" if count > 1 else ""
            what = f"{entries[0].ticker} {entries[0].date} ({entries[0].id}){more}"
            ids = tuple(entry.id for entry in entries)
            todo = "it stays due, and the next run asks again by itself"
            yield Failure(what, reason, todo, ids)
        for item in self.of(Fate.FAILED):
            assert item.error
            yield Failure(item.ticker, line_of(item.error), advice(item.error))
        if self.record_error:
            yield Failure("the record of runs", line_of(self.record_error))

    def undone(self) -> tuple[str, ...]:
        """The tickers that a further run would still decide."""
        return tuple(item.ticker for item in self.of(Fate.FAILED, Fate.INTERRUPTED))


class EventKind(StrEnum):
    """What a run tells of while it works."""

    WAITING = "waiting"  # for another run over the same log
    STARTED = "started"
    RESOLVING = "resolving"
    RESOLVED = "resolved"
    NODE = "node"
    RETRY = "retry"
    TICKER = "ticker"
    STOPPING = "stopping"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that a run tells of; which attributes are set follows from the kind.

    Attributes:
        kind: what it tells of.
        at: the instant, aware UTC.
        tickers: all with their day and what is known of them before any is decided.
        ticker: of a node that begins, or of a retry.
        node: the node that begins; or the phase of the resolving.
        done, total: how far that phase is.
        item: what became of a ticker.
        resolved: what came of the resolving.
        error: why there is a retry, or what is waited for.
        pause: seconds before a retry; or that what is in hand may still take.
        report: the whole, at the end.
    """

    kind: EventKind
    at: datetime
    tickers: Sequence[Planned] = ()
    ticker: str = ""
    node: str = ""
    done: int = 0
    total: int = 0
    item: TickerRun | None = None
    resolved: ResolveReport | None = None
    error: BaseException | None = None
    pause: float = 0.0
    report: RunReport | None = None


Watch = Callable[[Event], None]


_LONGEST = 500  # characters of an error; what a foreign one quotes may be a whole page


def line_of(error: BaseException) -> str:
    """An error on one line; one that is not ours with its type."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an error of a foreign kind that cannot say what it is
        text = "it does not say why"
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
    return text if isinstance(error, TradmemError) else f"{type(error).__name__}: {text}"

"""TradingAgents' decision log, kept by tradmem: the same constructor, methods and formats.

    from tradmem.plugin.tradingagents import install

    install()  # before TradingAgentsGraph is made

What TradingAgents reads and writes through this class goes into the same file, and gains what
a tradmem log has: durable writes, an archive in place of deletion, one lesson of each other
ticker, and texts that can never pass for entries.
"""

import functools
import importlib
import inspect
import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import Any

from tradmem.arguments import check_count
from tradmem.clock import AsOf, Clock, parse_date, system_clock, utc
from tradmem.errors import UsageError
from tradmem.journal.base import Stored, is_replaced, newest_revisions
from tradmem.journal.markdown import MarkdownJournal
from tradmem.lessons.recall import Recall, recall
from tradmem.memory import Memory
from tradmem.model import Addition, Entry, Status
from tradmem.plugin.peer_formats import additions_of, as_dict, paragraphs
from tradmem.tickers import check_ticker

logger = logging.getLogger("tradmem.plugin")
MODULE = "tradingagents.agents.utils.memory"
GRAPH = "tradingagents.graph.trading_graph"
NAME = "TradingMemoryLog"
_NO_BUDGET = 10**9  # characters: theirs has none
_NEEDED = ("ticker", "trade_date", "raw_return", "holding_days")  # of an update
_trade_date: ContextVar[str | None] = ContextVar("trade_date", default=None)
_company: ContextVar[str] = ContextVar("company", default="")


class TradingMemoryLog:
    """A decision log with the interface of TradingAgents' class of this name.

    Args:
        config: ``memory_log_path``, without which every method does nothing, and
            ``memory_log_max_entries``: resolved entries beyond so many go to the archive
            beside the log; without it none does.
        clock: stamps what is stored.
    """

    def __init__(
        self, config: Mapping[str, Any] | None = None, *, clock: Clock = system_clock
    ) -> None:
        config = config or {}
        path = config.get("memory_log_path")
        self.memory: Memory | None = None
        self._seen: dict[str, Recall] = {}
        if path:
            if not isinstance(path, str | PathLike):
                raise UsageError(f"memory_log_path is {path!r:.60}; it is a path")
            most = config.get("memory_log_max_entries")
            if most is not None and (isinstance(most, bool) or not isinstance(most, int)):
                raise UsageError(f"memory_log_max_entries is {most!r}; it is a number or None")
            most = most if most and most > 0 else None
            journal = MarkdownJournal(Path(path).expanduser(), max_resolved=most)
            self.memory = Memory(journal, clock=clock)

    # Writing

    def store_decision(self, ticker: str, trade_date: str, final_trade_decision: str) -> None:
        """Store a decision as pending, with what this ticker's agents were shown before it.

        A date and ticker that were decided before keep the first decision.

        Raises:
            UsageError: there is no such ticker or date, or it is later than today.
        """
        if self.memory is None:
            return
        name = check_ticker(ticker)
        seen = self._seen.get(name)
        done = self.memory.record(
            name,
            parse_date(trade_date),
            final_trade_decision,
            recalled=seen or (),
        )
        if self._seen.get(name) is seen:
            self._seen.pop(name, None)
        if done.status is Stored.KEPT:
            logger.warning("%s %s was decided before; the first decision stands", name, trade_date)

    def update_with_outcome(  # noqa: PLR0917 - the signature is TradingAgents'
        self,
        ticker: str,
        trade_date: str,
        raw_return: float,
        alpha_return: float | None,
        holding_days: int,
        reflection: str,
    ) -> None:
        """Add an outcome and a lesson to a pending decision; nothing if there is none.

        Both are known from now on, since this is when they came.

        Args:
            ticker: in any case.
            trade_date: of the decision.
            raw_return: a fraction.
            alpha_return: a fraction; None without a benchmark.
            holding_days: sessions that were held.
            reflection: the lesson.
        """
        self.batch_update_with_outcomes(
            [
                {
                    "ticker": ticker,
                    "trade_date": trade_date,
                    "raw_return": raw_return,
                    "alpha_return": alpha_return,
                    "holding_days": holding_days,
                    "reflection": reflection,
                }
            ]
        )

    def batch_update_with_outcomes(self, updates: Iterable[Mapping[str, Any]]) -> None:
        """The same for several decisions, in one write.

        Args:
            updates: each with the arguments of :meth:`update_with_outcome` as keys.

        Raises:
            UsageError: a key is lacking, or a figure is no number; nothing was stored.
        """
        if self.memory is None:
            return
        now = utc(self.memory.clock())
        pending = {(e.ticker, e.date): e for e in reversed(self._pending())}
        additions: list[tuple[str, Addition]] = []
        for update in updates:
            if lacking := [name for name in _NEEDED if name not in update]:
                raise UsageError(f"an update has no {lacking[0]}; nothing was stored")
            key = (check_ticker(update["ticker"]), parse_date(str(update["trade_date"])))
            entry = pending.pop(key, None)
            if entry is None:
                logger.warning("%s %s is not pending; its outcome is not stored", *key)
            else:
                additions += [(entry.id, addition) for addition in additions_of(update, entry, now)]
        if additions:
            self.memory.journal.add(additions)

    # Reading

    def load_entries(self) -> list[dict[str, Any]]:
        """The decisions in the log (not its archive) by date, as dicts with texts.

        Their keys are ``date``, ``ticker``, ``rating``, ``pending``, ``raw``, ``alpha``,
        ``holding``, ``decision`` and ``reflection``; figures are as they stand in the tag. In a
        run that :func:`install` noted, its ticker is spelt as the run spells it, which looks
        for its own entries by it.
        """
        found, spelt = [as_dict(entry) for entry in self._decisions()], _company.get()
        own = spelt.strip().upper()
        return [told | {"ticker": spelt} if told["ticker"] == own else told for told in found]

    def get_pending_entries(self) -> list[dict[str, Any]]:
        """Those that wait for an outcome."""
        return [entry for entry in self.load_entries() if entry["pending"]]

    def get_past_context(
        self, ticker: str, n_same: int = 5, n_cross: int = 3, as_of: AsOf = None
    ) -> str:
        """What was learnt, for a prompt; empty where there is nothing.

        Args:
            ticker: whose decision it is for.
            n_same: memories of it at most, in full.
            n_cross: lessons of other tickers at most, one of each.
            as_of: only what was known then: an instant or the trade date, which means before
                its close. By default the date of the run that :func:`install` noted, else now,
                and then a backtest of past dates sees its own future. Never past the clock.

        Raises:
            UsageError: there is no such ticker, date or number, or it is later than today.
        """
        if self.memory is None:
            return ""
        name = check_ticker(ticker)
        instant = self.memory.recall(name, as_of or _trade_date.get()).as_of
        found = recall(
            self.memory.journal,
            name,
            instant,
            same_ticker=check_count(n_same, "n_same"),
            cross_ticker=check_count(n_cross, "n_cross"),
            budget=_NO_BUDGET,
        )
        self._seen[name] = found
        return "\n\n".join(paragraphs(found))

    # Small parts

    def _decisions(self) -> list[Entry]:
        if self.memory is None:
            return []
        entries = self.memory.journal.entries(archived=False)
        newest = newest_revisions(entries)
        return [e for e in entries if not e.recorded.is_note and not is_replaced(e, newest)]

    def _pending(self) -> list[Entry]:
        return [entry for entry in self._decisions() if entry.status is Status.PENDING]


def install(module: str = MODULE, graph: str = GRAPH) -> Callable[[], None]:
    """Put this class in place of TradingAgents', wherever that is imported already.

    A run over a date that has passed is then shown only what was known on it.

    Args:
        module: where TradingAgents has its class.
        graph: where it has its graph; without ``propagate`` there, runs are not noted.

    Returns:
        A function that puts theirs back.

    Raises:
        UsageError: TradingAgents is not installed, or has no such class there.
    """
    package = module.partition(".")[0]
    try:
        home = importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"cannot import {module}: {error}; install TradingAgents") from error
    theirs = getattr(home, NAME, None)
    if not isinstance(theirs, type):
        raise UsageError(f"{module} has no class {NAME}; name the module that has it")
    if theirs is TradingMemoryLog:
        return lambda: None
    uninstall = _note_runs(graph)
    places = [
        found
        for name, found in list(sys.modules.items())
        if name.partition(".")[0] == package and getattr(found, NAME, None) is theirs
    ]
    for place in places:
        setattr(place, NAME, TradingMemoryLog)

    def put_back() -> None:
        uninstall()
        for place in places:
            setattr(place, NAME, theirs)

    return put_back


def _note_runs(graph: str) -> Callable[[], None]:
    """Have each run of the graph tell for which date it is."""
    try:
        owner = getattr(importlib.import_module(graph), "TradingAgentsGraph", None)
    except ImportError:
        owner = None
    propagate = getattr(owner, "propagate", None)
    if owner is None or not callable(propagate):
        logger.warning(
            "%s has no TradingAgentsGraph.propagate; hand in as_of for past dates", graph
        )
        return lambda: None
    signature = inspect.signature(propagate)

    @functools.wraps(propagate)
    def noted(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs).arguments
        given, company = bound.get("trade_date"), bound.get("company_name")
        day = _trade_date.set(str(given) if given else None)
        name = _company.set(company if isinstance(company, str) else "")
        try:
            return propagate(*args, **kwargs)
        finally:
            _trade_date.reset(day)
            _company.reset(name)

    owner.propagate = noted
    return lambda: setattr(owner, "propagate", propagate)

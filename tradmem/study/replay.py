"""A replay through time: resolve, recall, decide, record, on a simulated clock.

Free of look-ahead by construction: on each date the prices and the memory that a decision is
handed hold only what was known, and whoever asks for more gets a
:class:`~tradmem.errors.LookAhead`.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date as Date  # noqa: N812 - `date` is the name of a field elsewhere
from enum import StrEnum
from typing import Any, TypeVar

from tradmem.clock import last_instant, parse_date
from tradmem.errors import PriceError, UsageError
from tradmem.journal.base import Journal
from tradmem.journal.markdown import MarkdownJournal
from tradmem.journal.ram import RamJournal
from tradmem.lessons.reflect import Reflector, TemplateReflector
from tradmem.market.calendars import calendar_of
from tradmem.market.prices import Bars, PriceSource
from tradmem.market.symbols import benchmark_of
from tradmem.memory import Memory
from tradmem.model import Entry
from tradmem.settings import STUDY_HOLDOUT, Settings, check_horizon
from tradmem.study.collecting import rarely_all
from tradmem.study.deciding import Graph, is_decider, is_graph
from tradmem.study.mask import Mask
from tradmem.study.moment import Decide, Sight
from tradmem.study.schedule import DecideAt, points
from tradmem.study.veil import Veil, VeiledReflector
from tradmem.study.walk import How, Progress, ReplayMemory, Walk, blank
from tradmem.study.world import World, load
from tradmem.tickers import check_ticker

Store = Memory | Journal | str | os.PathLike[str] | None
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a replay did, and the memory that it left.

    Attributes:
        memory: its clock stands at the end of the replay.
        tickers: whom it decided on.
        start: the first date that could be decided on.
        end: the last one; the last date of any close, where that comes first.
        every: how often.
        decide_at: when on each date.
        agent: under which name.
        decided: decisions that were recorded in this call.
        resumed: decisions that stood already.
        left_out: dates without a decision, by reason.
        remarks: what a reader of the figures should know, one line each.
        bars: the closes that it had, by symbol.
    """

    memory: Memory
    tickers: tuple[str, ...]
    start: Date
    end: Date
    every: str | int
    decide_at: DecideAt
    agent: str
    decided: int
    resumed: int
    left_out: Mapping[str, int]
    remarks: tuple[str, ...]
    bars: Mapping[str, Bars] = field(repr=False)

    @property
    def is_optimistic(self) -> bool:
        """Whether every figure flatters: decisions entered at a close that they had seen."""
        return self.decide_at.is_optimistic

    def entries(self) -> list[Entry]:
        """The decisions of this replay, by date, then as they were recorded."""
        wanted = set(self.tickers)
        return [
            entry
            for entry in self.memory.entries()
            if not entry.recorded.is_note
            and entry.agent == self.agent
            and entry.ticker in wanted
            and self.start <= entry.date <= self.end
        ]


def replay(  # noqa: PLR0917 - the first nine are what a replay is
    decide: Decide | Any,
    tickers: Iterable[str],
    prices: PriceSource,
    start: Date | str,
    end: Date | str,
    every: str | int = "week",
    memory: Store = None,
    graph: Any = None,
    decide_at: DecideAt | str = DecideAt.CLOSE,
    *,
    settings: Settings | None = None,
    reflector: Reflector | None = None,
    agent: str = "",
    horizon: int | None = None,
    sight: Sight | str = Sight.FULL,
    seed: int = 0,
    anonymise: bool = False,
    names: Mapping[str, Iterable[str]] | None = None,
    progress: Progress | None = None,
) -> Replay:
    """Decide through time as an agent would have, with a memory that grows as it goes.

    On each date: what has come due is settled and taught, the past is recalled, the decision
    is made and recorded. A log that holds a part of the same replay is gone on with.

    Args:
        decide: a function from a :class:`~tradmem.study.moment.Moment` to a
            :class:`~tradmem.policies.Call`, a text with a rating, a rating, or None for no
            decision; or a compiled graph, handed the ticker, the date and what was recalled.
        tickers: whom to decide on; those of one instant in this order.
        prices: asked once, for nothing later than the end.
        start: the first date that may be decided on.
        end: the last one.
        every: ``day``, ``week`` or ``month`` (the first session of each), or a number of
            sessions.
        memory: a memory, whose journal, settings and reflector are used; a journal; the path
            of a log; by default a memory that is gone with the process.
        graph: what makes a compiled graph of a memory that ends at the clock, and of
            ``decide`` unless that is None, such as :func:`tradmem.agent.build_graph`.
        decide_at: see :class:`~tradmem.study.schedule.DecideAt`.
        settings: those of the memory by default. Where they say nothing of a hold-out and all
            of the memory is seen, it is ``STUDY_HOLDOUT``; none for a ``graph``, which may keep
            no account of what was withheld.
        reflector: who writes the lessons; the memory's by default, else the template.
        agent: under which name decisions are recorded; a graph that records has its own.
        horizon: sessions to hold; the settings' first by default.
        sight: how much of the memory a decision gets to see.
        seed: of what a decision draws at random.
        anonymise: whether whoever decides, and a model that writes lessons, sees other names,
            other dates and other price levels; the record has the real ones.
        names: by ticker, what texts may call it beside the names of well-known companies.
        progress: called after each decision with how many are done, of how many, and its
            date.

    Raises:
        UsageError: an argument cannot be, or the log holds what was not replayed so.
        PriceError: the closes of a ticker cannot be had.
        LookAhead: ``decide`` asked for what was not known yet, and let that pass.
        ModelError: a model cannot be asked at all.
        LogError: the log cannot be read or written.
    """
    named, first, last = _span(tickers, start, end)
    given = memory if isinstance(memory, Memory) else None
    settings = settings or (given.settings if given else Settings())
    how = How(
        decide_at=choice(DecideAt, decide_at, "decide_at"),
        agent=agent,
        horizon=check_horizon(settings.horizons[0] if horizon is None else horizon),
        sight=choice(Sight, sight, "sight"),
        seed=seed,
    )
    settings = _with_lots(settings, how.sight, keeps_account=graph is None)
    found, settings, remarks = _closes(prices, named, first, last, settings)
    last, said = _until(found, named, last, settings)
    remarks += said
    world = World(found, settings.aliases)
    bars = {symbol: held for symbol, held in found.items() if isinstance(held, Bars)}
    if anonymise:
        mask = Mask((*named, *found), names=names, seed=seed)
        how = replace(how, veil=Veil(mask, bars))
    writer = reflector or (given.reflector if given else None)
    if how.veil and writer and not isinstance(writer, TemplateReflector):
        writer = VeiledReflector(writer, how.veil)
    opened = ReplayMemory(
        _journal(memory, settings),
        prices=world.known,
        reflector=writer,
        settings=settings,
        clock=world.known.clock,
    )
    opened.mark = how.decide_at
    dates = points(
        named, first, last, every=every, decide_at=how.decide_at, aliases=settings.aliases
    )
    walk = Walk(opened, world, how, _decider(decide, graph, opened, how))
    world.advance(dates[0].instant if dates else last_instant(first))
    walk.resume()
    with rarely_all():
        walk.go(dates, last_instant(last), progress)
    return Replay(
        memory=opened,
        tickers=named,
        start=first,
        end=last,
        every=every,
        decide_at=how.decide_at,
        agent=agent,
        decided=walk.tally.decided,
        resumed=walk.tally.resumed,
        left_out=dict(walk.tally.left_out),
        remarks=remarks,
        bars=bars,
    )


def _span(
    tickers: Iterable[str], start: Date | str, end: Date | str
) -> tuple[tuple[str, ...], Date, Date]:
    """Whom to decide on, and from when to when.

    Raises:
        UsageError: nobody, or from later to earlier.
    """
    if not isinstance(tickers, Iterable):
        raise UsageError(f"tickers are a list of names, not {type(tickers).__name__}")
    listed = [tickers] if isinstance(tickers, str) else tickers
    names = tuple(dict.fromkeys(check_ticker(ticker) for ticker in listed))
    first, last = parse_date(start), parse_date(end)
    if not names:
        raise UsageError("there are no tickers to replay; name at least one")
    if first > last:
        raise UsageError(f"a replay from {first} to {last} has no dates; it goes forwards")
    return names, first, last


def _closes(
    prices: PriceSource, names: tuple[str, ...], first: Date, last: Date, settings: Settings
) -> tuple[Mapping[str, Bars | PriceError], Settings, tuple[str, ...]]:
    """The closes; settings without the benchmarks that there are none of; what to say of it."""
    if not callable(getattr(prices, "fetch", None)):
        raise UsageError(f"{type(prices).__name__} is no price source; hand in FramePrices(...)")
    benchmarks = {name: benchmark_of(name, settings.benchmark, settings.aliases) for name in names}
    wanted = {benchmark for benchmark in benchmarks.values() if benchmark}
    found = load(prices, names, wanted, first, last, aliases=settings.aliases)
    lacking = sorted(wanted.difference(found))
    if lacking:
        kept = {name: b if b not in lacking else None for name, b in benchmarks.items()}
        settings = replace(settings, benchmark=kept)
    remarks = (
        f"there are no closes of the benchmark {name}, so verdicts look at raw returns"
        for name in lacking
    )
    return found, settings, tuple(remarks)


def _until(
    found: Mapping[str, Bars | PriceError], names: tuple[str, ...], last: Date, settings: Settings
) -> tuple[Date, tuple[str, ...]]:
    """The date on which a replay ends, no later than its closes; what to say of that."""
    ends = [bars.dates[-1] for bars in found.values() if isinstance(bars, Bars)]
    if not any(isinstance(found[name], Bars) for name in names):
        return last, (f"there are no closes of {', '.join(names)} until {last}",)
    final = min(max(ends), last)
    sessions = (calendar_of(name, settings.aliases).last_until(last) for name in names)
    if any(session > final for session in sessions):
        return final, (f"the closes end on {final}, and so does the replay",)
    return final, ()


def _journal(memory: Store, settings: Settings) -> Journal:
    """Where the decisions go."""
    if memory is None:
        return RamJournal()
    if isinstance(memory, Memory):
        return memory.journal
    if isinstance(memory, str | os.PathLike):
        return MarkdownJournal(
            memory, max_resolved=settings.max_resolved, horizons=settings.horizons
        )
    if not callable(getattr(memory, "append", None)):
        raise UsageError(f"{type(memory).__name__} is no memory, no journal and no path of a log")
    return memory


def _with_lots(settings: Settings, sight: Sight, *, keeps_account: bool) -> Settings:
    """The settings with a study's hold-out; with none where what is seen is less than a recall.

    What a person set stands, as far as it can be.
    """
    if sight is not Sight.FULL:
        return replace(settings, holdout=0.0)
    if settings.holdout is None and keeps_account:
        return replace(settings, holdout=STUDY_HOLDOUT)
    return settings


def _decider(decide: Any, graph: Any, memory: Memory, how: How) -> Decide | Graph:
    """Who decides.

    Raises:
        UsageError: nobody does, or it cannot be driven so.
    """
    if graph is None:
        if not is_decider(decide):
            raise UsageError(f"{type(decide).__name__} decides nothing; hand in a function")
        found: Decide = decide
        return Graph(decide, blank(memory) if how.veil else memory) if is_graph(decide) else found
    if how.veil:
        raise UsageError("a graph that recalls sees real names; hand it in as decide")
    if how.decide_at.is_optimistic:
        raise UsageError(
            "a graph that records decides at its clock, which is later than same_close"
        )
    if how.sight is not Sight.FULL:
        raise UsageError("a graph that recalls sees all of the memory; hand it in as decide")
    if is_graph(graph):
        return Graph(graph, memory)
    return Graph(graph(memory) if decide is None else graph(memory, decide), memory)


def choice(kind: type[_Choice], value: str, what: str) -> _Choice:
    """A member of a closed set.

    Raises:
        UsageError: there is no such one.
    """
    if value in list(kind):
        return kind(value)
    raise UsageError(f"{value!r} is no {what}; choose one of {', '.join(kind)}")

"""What the options name: the journal, the memory, prices and the reflector."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tradmem import opening
from tradmem.cli.output import say
from tradmem.clock import Clock, system_clock, utc
from tradmem.errors import PriceError, PriceFault, UsageError
from tradmem.journal.base import Journal
from tradmem.journal.markdown import MarkdownJournal
from tradmem.settings_file import DEFAULT_HORIZONS, DEFAULT_LOG, is_silent

if TYPE_CHECKING:
    from tradmem.configuration import Configuration
    from tradmem.lessons.exchanges import Exchanges
    from tradmem.lessons.reflect import Reflector
    from tradmem.market.prices import Bars, PriceSource, Span
    from tradmem.memory import Memory
    from tradmem.settings import Settings

_NO_BENCHMARK = "none"
_DEMO = "demo"
_CONFIGURATION = "tradmem.configuration"  # the key of the context's ``meta`` that keeps it


def clock() -> Clock:
    """What tells the time: what a caller handed in as ``obj``, else the system."""
    given: Clock | None = click.get_current_context().find_root().obj
    return given or system_clock


def now() -> datetime:
    """What the clock says, aware UTC."""
    return utc(clock()())


def configuration() -> "Configuration":
    """What the settings file and the environment say; read once in a run.

    Raises:
        UsageError: they say something that cannot be.
    """
    from tradmem.configuration import load

    meta = click.get_current_context().find_root().meta
    found: Configuration = meta.setdefault(_CONFIGURATION, None) or load()
    meta[_CONFIGURATION] = found
    return found


def open_journal(log: str) -> Journal:
    """The journal in a log."""
    name = log or DEFAULT_LOG
    if not opening.is_database(name) and is_silent():
        return MarkdownJournal(name, horizons=DEFAULT_HORIZONS)
    return opening.open_journal(name, configuration().settings)


def open_file(log: str, what: str) -> MarkdownJournal:
    """The journal in a log that has to be a file.

    Args:
        log: its name.
        what: what is done with it, in words.

    Raises:
        UsageError: it names a database.
    """
    journal = open_journal(log)
    if not isinstance(journal, MarkdownJournal):
        raise UsageError(f"only a file {what}; `tradmem export` makes one of a database")
    return journal


def open_memory(
    log: str,
    *,
    prices: str = "yahoo",
    reflector: str = "template",
    benchmark: str | None = None,
    max_cost: float | None = None,
    retry_stuck: bool = False,
) -> "Memory":
    """The memory in a log, with what the options say.

    Args:
        log: its path.
        prices: see :func:`open_prices`.
        reflector: see :func:`open_reflector`, and for the last two.
        benchmark: for all tickers; ``none`` for none.
        max_cost: what a model may cost in this run.
        retry_stuck: whether a model is asked about what is stuck.

    Raises:
        UsageError: an option names something that is not there.
    """
    from tradmem.memory import Memory

    return Memory.open(
        log or DEFAULT_LOG,
        prices=open_prices(prices),
        reflector=open_reflector(
            reflector, log or DEFAULT_LOG, max_cost=max_cost, retry_stuck=retry_stuck
        ),
        settings=settings_for(prices, benchmark),
        clock=clock(),
    )


def settings_for(prices: str, benchmark: str | None) -> "Settings":
    """The settings, with the benchmark that an option names, or that the demo's prices have."""
    if prices.lower() == _DEMO and not benchmark:
        from tradmem.demo import BENCHMARK

        benchmark = BENCHMARK
    settings = configuration().settings
    return replace(settings, benchmark=_benchmark(benchmark)) if benchmark else settings


def open_prices(name: str) -> "PriceSource | None":
    """A price source by name or path; None for the memory's own, which is Yahoo.

    Raises:
        UsageError: there is no such file.
    """
    if name.lower() == "yahoo":
        return None
    if name.lower() == _DEMO:
        from tradmem.demo import demo_prices

        return Closed(demo_prices(), "the demo's prices")
    from tradmem.market.frames import FilePrices

    return Closed(FilePrices(name), name)


def open_reflector(
    name: str, log: str, *, max_cost: float | None = None, retry_stuck: bool = False
) -> "Reflector":
    """A reflector by name; its exchanges with a model are kept beside the log.

    ``auto`` asks a model where a key or a server for one is set, else the template writes;
    so it does where a model is set up half, which is said.

    Args:
        name: ``auto``, ``openai`` or ``template``.
        log: the path of the log.
        max_cost: US dollars that a model may cost in a run.
        retry_stuck: whether a model is asked too about what it was asked about in vain.

    Raises:
        UsageError: a setting cannot be, or ``openai`` is asked for and not set up.
    """
    from tradmem.model_settings import is_set_up, model_settings

    if name == "openai" or (name == "auto" and is_set_up()):
        settings = model_settings(max_cost=max_cost)
        if name == "openai" or not settings.lacks:
            from tradmem.lessons.openai import OpenAIReflector

            return OpenAIReflector(
                settings, exchanges=exchanges_of(log), retry_stuck=retry_stuck, clock=clock()
            )
        say(f"{settings.lacks}; until then the template writes the lessons")
    from tradmem.lessons.reflect import TemplateReflector

    return TemplateReflector()


def exchanges_of(log: str) -> "Exchanges":
    """The raw exchanges with a model about the entries of a log, in a file beside it."""
    from tradmem.lessons.exchanges import exchanges_beside

    return exchanges_beside(DEFAULT_LOG if opening.is_database(log) else log or DEFAULT_LOG)


class Closed:
    """A price source that cannot know all tickers.

    That a ticker is not in a file says nothing about the world, so it must never end a
    wait and have its decisions given up: it is a failure of the run, and nothing is stored.
    """

    def __init__(self, source: "PriceSource", name: str) -> None:
        self._source = source
        self._name = name
        self._told: set[str] = set()

    @property
    def tickers(self) -> tuple[str, ...]:
        """Those that it has, as far as it tells."""
        return tuple(getattr(self._source, "tickers", ()))

    def fetch(self, spans: "Mapping[str, Span]") -> "dict[str, Bars | PriceError]":
        """See :class:`tradmem.market.prices.PriceSource`."""
        for notice in getattr(self._source, "notices", ()):
            if notice not in self._told:
                self._told.add(notice)
                say(notice)
        return {
            ticker: PriceError(PriceFault.NOT_HELD, ticker, self._name)
            if isinstance(found, PriceError) and found.kind is PriceFault.UNKNOWN_SYMBOL
            else found
            for ticker, found in self._source.fetch(spans).items()
        }


def _benchmark(name: str) -> str | Mapping[str, str | None]:
    if name.lower() == _NO_BENCHMARK:
        from tradmem.configuration import NO_BENCHMARK

        return NO_BENCHMARK
    from tradmem.tickers import check_ticker

    return check_ticker(name)


def is_same(log: str, path: Path) -> bool:
    """Whether a path is that of a log."""
    if opening.is_database(log) or not path.exists():
        return False
    return Path(log or DEFAULT_LOG).exists() and path.samefile(log or DEFAULT_LOG)


def is_there(log: str) -> bool:
    """Whether a log exists; a command that only reads says so where it does not."""
    return opening.is_database(log) or Path(log or DEFAULT_LOG).exists()

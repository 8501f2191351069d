"""What the options name: the journal, the memory, prices and the reflector."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tradmem import opening
from tradmem.cli.output import say
from tradmem.clock import Clock, system_clock, utc
from tradmem.errors import UsageError
from tradmem.journal.base import Journal
from tradmem.journal.markdown import MarkdownJournal
from tradmem.masking import without_password
from tradmem.settings_file import DEFAULT_HORIZONS, DEFAULT_LOG, is_silent

if TYPE_CHECKING:
    from tradmem.configuration import Configuration
    from tradmem.lessons.exchanges import Exchanges
    from tradmem.lessons.reflect import Reflector
    from tradmem.market.prices import PriceSource
    from tradmem.memory import Memory
    from tradmem.settings import Settings

_NO_BENCHMARK = "none"
_COMMAND = re.compile(r"`(tradmem (?:resolve|forget|show|log|check|record|run)\b[^`]*)`")
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

    settings = settings_for(prices, benchmark)
    return Memory(
        opening.open_journal(log or DEFAULT_LOG, settings),
        prices=open_prices(prices),
        reflector=open_reflector(reflector, log, max_cost=max_cost, retry_stuck=retry_stuck),
        settings=settings,
        clock=clock(),
    )


def settings_for(prices: str, benchmark: str | None) -> "Settings":
    """The settings, with the benchmark that an option names, or that the demo's prices have."""
    settings = configuration().settings
    if benchmark:
        return replace(settings, benchmark=_benchmark(benchmark))
    from tradmem.sources import settings_with

    return settings_with(prices, settings)


def open_prices(name: str) -> "PriceSource | None":
    """A price source by name or path, see :func:`tradmem.sources.open_prices`."""
    from tradmem import sources

    return sources.open_prices(name, tell=say)


def open_reflector(
    name: str, log: str, *, max_cost: float | None = None, retry_stuck: bool = False
) -> "Reflector":
    """A reflector by name, see :func:`tradmem.sources.open_reflector`."""
    from tradmem import sources

    return sources.open_reflector(
        name, log, tell=say, clock=clock(), max_cost=max_cost, retry_stuck=retry_stuck
    )


def exchanges_of(log: str) -> "Exchanges":
    """The raw exchanges with a model about the entries of a log, in a file beside it."""
    from tradmem import sources

    return sources.exchanges_of(log)


def _benchmark(name: str) -> str | Mapping[str, str | None]:
    if name.lower() == _NO_BENCHMARK:
        from tradmem.configuration import NO_BENCHMARK

        return NO_BENCHMARK
    from tradmem.tickers import check_ticker

    return check_ticker(name)


def is_same(log: str, path: Path) -> bool:
    """Whether a path is that of a log."""
    try:
        return not opening.is_database(log) and path.samefile(log or DEFAULT_LOG)
    except (OSError, ValueError):  # one of them is not there, or cannot be
        return False


def is_there(log: str) -> bool:
    """Whether a log exists; a command that only reads says so where it does not."""
    return opening.is_database(log) or Path(log or DEFAULT_LOG).exists()


def no_log(log: str) -> str:
    """That there is no log, and what makes one."""
    return with_log(
        f"there is no log at {log} yet; `tradmem record` or `tradmem run` starts one", log
    )


def with_log(text: str, log: str) -> str:
    """A text whose commands name the log where the one that is under way did."""
    source = click.get_current_context().get_parameter_source("log")
    if source is not click.core.ParameterSource.COMMANDLINE:
        return text
    named = shlex.quote(without_password(log))
    return _COMMAND.sub(lambda found: f"`{found[1]} --log {named}`", text)

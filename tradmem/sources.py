"""What settings and options name: where closes come from, and who writes the lessons."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tradmem.clock import Clock, system_clock
from tradmem.errors import PriceError, PriceFault, UsageError
from tradmem.lessons.reflect import Reflector, TemplateReflector
from tradmem.opening import is_database
from tradmem.settings import Settings, default_cache
from tradmem.settings_file import DEFAULT_LOG

if TYPE_CHECKING:
    from tradmem.lessons.exchanges import Exchanges
    from tradmem.market.prices import Bars, PriceSource, Span

_YAHOO, _DEMO = "yahoo", "demo"
_log = logging.getLogger(__name__)

Tell = Callable[[str], None]  # takes what a person should hear of


class Named(NamedTuple):
    """What a memory's settings name, and is opened when it is first needed; empty for the default.

    Attributes:
        prices: see :func:`open_prices`.
        reflector: see :func:`open_reflector`.
        log: beside which the exchanges with a model are kept.
    """

    prices: str = ""
    reflector: str = ""
    log: str = ""

    def open_prices(self, settings: Settings, clock: Clock) -> "PriceSource":
        """Where closes come from."""
        found = open_prices(self.prices) if self.prices else None
        if found is not None:
            return found
        from tradmem.market.cache import CachedPrices  # noqa: PLC0415 - loads pandas
        from tradmem.market.yahoo import YahooPrices  # noqa: PLC0415 - loads pandas

        source = YahooPrices(aliases=settings.aliases)
        return CachedPrices(source, settings.cache or default_cache(), clock=clock)

    def open_reflector(self, clock: Clock) -> Reflector:
        """Who writes the lessons."""
        if not self.reflector:
            return TemplateReflector()
        return open_reflector(self.reflector, self.log, clock=clock)


def open_prices(name: str, *, tell: Tell = _log.warning) -> "PriceSource | None":
    """A price source by name or path; None for the memory's own, which is Yahoo.

    Args:
        name: ``yahoo``, ``demo`` or the path of a file.
        tell: takes what a person should hear of.

    Raises:
        UsageError: there is no such source or file.
    """
    if name.lower() == _YAHOO:
        return None
    if name.lower() == _DEMO:
        from tradmem.market.sample import TICKERS, demo_prices  # noqa: PLC0415 - for the demo only

        return Closed(demo_prices(), f"the demo's prices: {', '.join(TICKERS)}", tell)
    if not Path(name).suffix and not Path(name).exists():
        raise UsageError(f"there are no prices {name!r}; name yahoo, demo, or a file of closes")
    from tradmem.market.frames import FilePrices  # noqa: PLC0415 - loads pandas

    return Closed(FilePrices(name), name, tell)


def settings_with(prices: str, settings: Settings) -> Settings:
    """Settings with the only benchmark that the demo's prices have, if they are meant."""
    if prices.lower() != _DEMO:
        return settings
    from tradmem.market.sample import BENCHMARK  # noqa: PLC0415 - for the demo only

    return replace(settings, benchmark=BENCHMARK)


def open_reflector(
    name: str,
    log: str,
    *,
    tell: Tell = _log.warning,
    clock: Clock = system_clock,
    max_cost: float | None = None,
    retry_stuck: bool = False,
) -> Reflector:
    """A reflector by name; its exchanges with a model are kept beside the log.

    ``auto`` asks a model where a key or a server for one is set, else the template writes;
    so it does where a model is set up half, which is said.

    Args:
        name: ``auto``, ``openai`` or ``template``.
        log: the path or address of the log.
        tell: takes what a person should hear of.
        clock: stamps the exchanges.
        max_cost: US dollars that a model may cost in a run.
        retry_stuck: whether a model is asked too about what it was asked about in vain.

    Raises:
        UsageError: a setting cannot be, or ``openai`` is asked for and not set up.
    """
    from tradmem.model_settings import is_set_up, model_settings  # noqa: PLC0415 - for a model

    if name == "openai" or (name == "auto" and is_set_up()):
        settings = model_settings(max_cost=max_cost)
        if name == "openai" or not settings.lacks:
            from tradmem.lessons.openai import OpenAIReflector  # noqa: PLC0415 - for a model

            return OpenAIReflector(
                settings, exchanges=exchanges_of(log), retry_stuck=retry_stuck, clock=clock
            )
        tell(f"{settings.lacks}; until then the template writes the lessons")
    return TemplateReflector()


def exchanges_of(log: str) -> "Exchanges":
    """The raw exchanges with a model about the entries of a log, in a file beside it."""
    from tradmem.lessons.exchanges import exchanges_beside  # noqa: PLC0415 - for a model

    return exchanges_beside(DEFAULT_LOG if is_database(log) else log or DEFAULT_LOG)


class Closed:
    """A price source that cannot know all tickers.

    That a ticker is not in a file says nothing about the world, so it must never end a
    wait and have its decisions given up: it is a failure of the run, and nothing is stored.
    """

    def __init__(self, source: "PriceSource", name: str, tell: Tell = _log.warning) -> None:
        self._source = source
        self._name = name
        self._tell = tell
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
                self._tell(notice)
        return {
            ticker: PriceError(PriceFault.NOT_HELD, ticker, self._name)
            if isinstance(found, PriceError) and found.kind is PriceFault.UNKNOWN_SYMBOL
            else found
            for ticker, found in self._source.fetch(spans).items()
        }

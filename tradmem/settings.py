"""Every setting, in one place."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_cache_path

from tradmem.errors import UsageError

DEFAULT_LOG = "logs/memory.md"
MAX_HORIZON = 2520  # ten years of sessions


def default_cache() -> Path:
    """Where closes are kept: ``TRADMEM_CACHE``, else the user's own folder for caches."""
    named = os.environ.get("TRADMEM_CACHE")
    return Path(named) if named else user_cache_path("tradmem", appauthor=False) / "prices"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a memory does where nobody says otherwise.

    Attributes:
        benchmark: one benchmark for all tickers, or by ticker (``*`` for all others, None
            for none); None takes each market's own.
        horizons: sessions after which outcomes are taken; the first one is the primary.
        aliases: the names under which a price source knows a ticker, by ticker.
        max_resolved: resolved entries that stay in the log before the oldest are archived.
        same_ticker: memories of the ticker itself that a recall shows.
        cross_ticker: memories of other tickers that it shows.
        budget: characters of a recall's text at most.
        related: memories that a reflector may see beside a decision.
        cache: the folder in which closes from Yahoo are kept; by default ``TRADMEM_CACHE``,
            else the user's own folder for caches.

    Raises:
        UsageError: a value cannot be.
    """

    benchmark: str | Mapping[str, str | None] | None = None
    horizons: tuple[int, ...] = (5,)
    aliases: Mapping[str, str] = field(default_factory=dict)
    max_resolved: int | None = 1000
    same_ticker: int = 5
    cross_ticker: int = 3
    budget: int = 8000
    related: int = 10
    cache: Path = field(default_factory=default_cache)

    def __post_init__(self) -> None:
        if not self.horizons:
            raise UsageError("horizons is empty; name at least one number of sessions, such as 5")
        for horizon in self.horizons:
            check_horizon(horizon)
        for name in ("same_ticker", "cross_ticker", "budget", "related"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} is {getattr(self, name)}; it cannot be below 0")
        if self.max_resolved is not None and self.max_resolved < 0:
            raise UsageError(f"max_resolved is {self.max_resolved}; it cannot be below 0")


def check_horizon(horizon: int) -> int:
    """A number of sessions to hold.

    Raises:
        UsageError: it is no whole number from 1 to 2520.
    """
    if isinstance(horizon, bool) or not isinstance(horizon, int):
        raise UsageError(f"a horizon of {horizon!r} cannot be; it is a whole number of sessions")
    if not 1 <= horizon <= MAX_HORIZON:
        raise UsageError(f"a horizon of {horizon} sessions cannot be; use 1 to {MAX_HORIZON}")
    return horizon

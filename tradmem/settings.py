"""Every setting, in one place."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from pathlib import Path

from tradmem.arguments import check_count
from tradmem.errors import UsageError
from tradmem.lessons.parts import DEFAULT_WEIGHTS, PartName, Rank
from tradmem.settings_file import DEFAULT_HORIZONS, nearest

STUDY_HOLDOUT = 0.1
MAX_HORIZON = 2520  # ten years of sessions


def default_cache() -> Path:
    """Where closes are kept: ``TRADMEM_CACHE``, else the user's own folder for caches."""
    named = os.environ.get("TRADMEM_CACHE")
    return Path(named) if named else _user_cache() / "prices"


def default_vectors() -> Path:
    """Where vectors are kept: below ``TRADMEM_CACHE``, else the user's own folder for caches."""
    named = os.environ.get("TRADMEM_CACHE")
    return (Path(named) if named else _user_cache()) / "vectors"


def default_scripts() -> Path:
    """Where the script of a report's charts is kept: as for vectors."""
    named = os.environ.get("TRADMEM_CACHE")
    return (Path(named) if named else _user_cache()) / "scripts"


def _user_cache() -> Path:
    from platformdirs import user_cache_path  # noqa: PLC0415 - few commands keep anything

    return user_cache_path("tradmem", appauthor=False)


class Embeddings(StrEnum):
    """Where the vectors of texts come from."""

    AUTO = "auto"
    NONE = "none"
    WORDLLAMA = "wordllama"
    OPENAI = "openai"


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
        rank: how a recall chooses: ``plain`` (the newest) or ``relevant`` (what has the most
            to do with the query that it is given).
        weights: what each part of a relevance adds to the score, see
            :data:`tradmem.lessons.parts.DEFAULT_WEIGHTS`; those not named stay as they are.
        half_life: days after which the recency of a memory is half of what it was.
        embeddings: where the vectors of texts come from: ``wordllama`` (the extra
            ``semantic``), ``openai`` (any compatible server, see ``TRADMEM_EMBEDDING_MODEL``),
            ``none``, or ``auto``: wordllama where it is installed.
        holdout: the share of the memories that a recall would show which are withheld by lot,
            so that what lessons are worth can be told, see ``Memory.lesson_utility``; 0 for
            none. By default none, and ``STUDY_HOLDOUT`` in a replay.
        holdout_salt: another one draws other lots.
        related: memories that a reflector may see beside a decision.
        vectors: the folder in which vectors are kept that cost something; None for one
            below ``TRADMEM_CACHE``, else in the user's own folder for caches.
        cache: the folder in which closes from Yahoo are kept; None for ``TRADMEM_CACHE``,
            else the user's own folder for caches.
        embedding_model: the name of the model where embeddings are ``openai``; empty for what
            ``TRADMEM_EMBEDDING_MODEL`` says.

    Raises:
        UsageError: a value cannot be.
    """

    benchmark: str | Mapping[str, str | None] | None = None
    horizons: tuple[int, ...] = DEFAULT_HORIZONS
    aliases: Mapping[str, str] = field(default_factory=dict)
    max_resolved: int | None = 1000
    same_ticker: int = 5
    cross_ticker: int = 3
    budget: int = 8000
    rank: str = Rank.PLAIN
    weights: Mapping[str, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    half_life: float = 90.0
    embeddings: str = Embeddings.AUTO
    vectors: Path | None = None
    holdout: float | None = None
    holdout_salt: str = ""
    related: int = 10
    cache: Path | None = None
    embedding_model: str = ""

    def __post_init__(self) -> None:
        if not self.horizons:
            raise UsageError("horizons is empty; name at least one number of sessions, such as 5")
        for horizon in self.horizons:
            check_horizon(horizon)
        for name in ("same_ticker", "cross_ticker", "budget", "related"):
            check_count(getattr(self, name), name)
        if self.max_resolved is not None:
            check_count(self.max_resolved, "max_resolved")
        for name, kind in (("rank", Rank), ("embeddings", Embeddings)):
            if getattr(self, name) not in list(kind):
                choices = ", ".join(kind)
                raise UsageError(f"{name} is {getattr(self, name)!r}; choose one of {choices}")
        if not _is_amount(self.half_life) or self.half_life == 0:
            raise UsageError(f"half_life is {self.half_life!r}; it is a number of days above 0")
        _check_holdout(self.holdout, self.holdout_salt)
        object.__setattr__(self, "weights", check_weights(self.weights))


def _check_holdout(share: float | None, salt: object) -> None:
    if share is not None and (not _is_amount(share) or share >= 1):
        raise UsageError(f"holdout is {share!r}; it is a share from 0 to below 1")
    if not isinstance(salt, str):
        raise UsageError(f"holdout_salt is {salt!r}; it is a text")


def check_weights(weights: Mapping[str, float]) -> Mapping[str, float]:
    """All weights of a relevance, those that are named and the default ones.

    Raises:
        UsageError: there is no such part, or a weight is no number from 0 on.
    """
    for name, weight in weights.items():
        if name not in DEFAULT_WEIGHTS:
            near = nearest(str(name), list(DEFAULT_WEIGHTS))
            raise UsageError(f"a relevance has no part {name!r}; the nearest is {near}")
        if not _is_amount(weight):
            raise UsageError(f"the weight of {name} is {weight!r}; it is a number from 0 on")
    return DEFAULT_WEIGHTS | {PartName(name): weights[name] for name in weights}


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


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

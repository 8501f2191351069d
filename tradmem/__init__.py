"""The memory of a trading agent: decisions, what became of them, and what they teach.

>>> from tradmem import Memory
>>> memory = Memory.open("logs/memory.md")
>>> memory.resolve()
>>> seen = memory.recall("NVDA")
>>> memory.record("NVDA", "2026-01-05", "**Rating**: Buy ...", recalled=seen)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tradmem.errors import (
    ConflictError,
    LogBusy,
    LogError,
    LookAhead,
    ModelError,
    PriceError,
    TradmemError,
    UnknownEntry,
    UsageError,
)
from tradmem.journal.markdown import MarkdownJournal
from tradmem.journal.ram import RamJournal
from tradmem.lessons.reflect import TemplateReflector
from tradmem.memory import Memory
from tradmem.model import (
    Addition,
    Decision,
    Entry,
    Outcome,
    Problem,
    Rating,
    Status,
    Verdict,
)
from tradmem.rating import parse_rating
from tradmem.settings import Settings

if TYPE_CHECKING:
    from tradmem.market.frames import FilePrices, FramePrices

# What loads pandas or a client is imported when it is first asked for.
_LAZY = {
    "FilePrices": "tradmem.market.frames",
    "FramePrices": "tradmem.market.frames",
}

__all__ = [
    "Addition",
    "ConflictError",
    "Decision",
    "Entry",
    "FilePrices",
    "FramePrices",
    "LogBusy",
    "LogError",
    "LookAhead",
    "MarkdownJournal",
    "Memory",
    "ModelError",
    "Outcome",
    "PriceError",
    "Problem",
    "RamJournal",
    "Rating",
    "Settings",
    "Status",
    "TemplateReflector",
    "TradmemError",
    "UnknownEntry",
    "UsageError",
    "Verdict",
    "parse_rating",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

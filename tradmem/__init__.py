"""The memory of a trading agent: decisions, what became of them, and what they teach.

>>> from tradmem import Memory
>>> memory = Memory.open("logs/memory.md")
>>> memory.resolve()
>>> seen = memory.recall("NVDA")
>>> memory.record("NVDA", "2026-01-05", "**Rating**: Buy ...", recalled=seen)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from tradmem.journal.postgres.journal import PostgresJournal
    from tradmem.journal.ram import RamJournal
    from tradmem.lessons.openai import OpenAIReflector
    from tradmem.lessons.reflect import TemplateReflector
    from tradmem.lessons.track import TrackRecord
    from tradmem.lessons.utility import LessonUtility
    from tradmem.market.frames import FilePrices, FramePrices
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

# Where each public name lives. It is imported when it is first asked for, so that a
# program (`tradmem log` among them) pays only for what it uses.
_HOMES = {
    "errors": (
        "ConflictError LogBusy LogError LookAhead ModelError PriceError TradmemError "
        "UnknownEntry UsageError"
    ),
    "journal.markdown": "MarkdownJournal",
    "journal.postgres.journal": "PostgresJournal",
    "journal.ram": "RamJournal",
    "lessons.openai": "OpenAIReflector",
    "lessons.reflect": "TemplateReflector",
    "lessons.track": "TrackRecord",
    "lessons.utility": "LessonUtility",
    "market.frames": "FilePrices FramePrices",
    "memory": "Memory",
    "model": "Addition Decision Entry Outcome Problem Rating Status Verdict",
    "rating": "parse_rating",
    "settings": "Settings",
}
_LAZY = {name: f"tradmem.{home}" for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Addition",
    "ConflictError",
    "Decision",
    "Entry",
    "FilePrices",
    "FramePrices",
    "LessonUtility",
    "LogBusy",
    "LogError",
    "LookAhead",
    "MarkdownJournal",
    "Memory",
    "ModelError",
    "OpenAIReflector",
    "Outcome",
    "PostgresJournal",
    "PriceError",
    "Problem",
    "RamJournal",
    "Rating",
    "Settings",
    "Status",
    "TemplateReflector",
    "TrackRecord",
    "TradmemError",
    "UnknownEntry",
    "UsageError",
    "Verdict",
    "parse_rating",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        found = globals()[name] = getattr(import_module(_LAZY[name]), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

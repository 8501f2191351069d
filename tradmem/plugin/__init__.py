"""The memory for agents that are there already.

Named libraries and their tools for language models, an MCP server, ``with_memory`` and a store
for LangGraph, an asynchronous twin, and TradingAgents' decision log
(:mod:`tradmem.plugin.tradingagents`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tradmem.plugin.asynchronous import AsyncMemory
    from tradmem.plugin.graphs import with_memory
    from tradmem.plugin.libraries import Access, Library, library_of, open_libraries
    from tradmem.plugin.store import MemoryStore
    from tradmem.plugin.tools import Tool, execute, langchain_tools, library_tools, tools_of

# Where each name lives; it is imported when it is first asked for, since langgraph is heavy.
_HOMES = {
    "asynchronous": "AsyncMemory",
    "graphs": "with_memory",
    "libraries": "Access Library library_of open_libraries",
    "store": "MemoryStore",
    "tools": "Tool execute langchain_tools library_tools tools_of",
}
_LAZY = {name: f"tradmem.plugin.{home}" for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Access",
    "AsyncMemory",
    "Library",
    "MemoryStore",
    "Tool",
    "execute",
    "langchain_tools",
    "library_of",
    "library_tools",
    "open_libraries",
    "tools_of",
    "with_memory",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        found = globals()[name] = getattr(import_module(_LAZY[name]), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

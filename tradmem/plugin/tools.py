"""A library as two tools of a language model: ``query_memory`` and ``add_memory``.

The tools are bound to their library: what a model writes into ``library``, ``tenant``,
``agent`` or ``as_of`` changes nothing, and the time is the library's clock. A call always
answers in words; what fails tells the model how to go on.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tradmem.errors import ConflictError, TradmemError, UnknownEntry, UsageError
from tradmem.plugin.answers import Seen, add, query
from tradmem.plugin.arguments import CONTENT, DATE, QUERY, TICKER, misspelt, schema
from tradmem.plugin.libraries import Access, Library, check_apart
from tradmem.plugin.texts import ADD, FAILED, NO_ARGUMENTS, QUERY_FIRST, REFUSED
from tradmem.recording import check_agent

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

logger = logging.getLogger("tradmem.plugin")
_ANSWERABLE = (UsageError, ConflictError, UnknownEntry)  # what the caller can mend


class Answer(NamedTuple):
    """What a call comes back with.

    Attributes:
        text: for the model.
        failed: whether the call did not do what it was for.
    """

    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One thing that a model can do, as a spec and an executor; call it to carry it out.

    Attributes:
        name: as the model calls it.
        description: when to use it, and what it works on.
        parameters: a JSON schema of its arguments.
        run: from arguments to an answer; it may raise.
        adds: whether it stores anything.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Mapping[str, Any]], str]
    adds: bool = False

    def __call__(self, arguments: Mapping[str, Any] | str | None = None) -> str:
        """The answer to a call, in words; never raises.

        Args:
            arguments: an object, or its JSON text as a model's server hands it on.
        """
        return self.answer(arguments).text

    def answer(self, arguments: Mapping[str, Any] | str | None = None) -> Answer:
        """The same, and whether it failed. A failure is logged."""
        try:
            return Answer(self.run(_object(arguments, self.parameters["properties"])))
        except _ANSWERABLE as error:
            logger.warning("%s was refused: %s", self.name, error)
            return Answer(REFUSED.format(error=error), failed=True)
        except TradmemError as error:
            logger.error("%s failed: %s", self.name, error)  # noqa: TRY400 - the line says it all
        except Exception:
            logger.exception("%s failed", self.name)
        return Answer(FAILED, failed=True)

    async def acall(self, arguments: Mapping[str, Any] | str | None = None) -> str:
        """The same as a call, in a thread of its own."""
        return await asyncio.to_thread(self, arguments)

    @property
    def openai(self) -> dict[str, Any]:
        """The spec as OpenAI-compatible servers take it in ``tools``."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}


def library_tools(
    library: Library, *, suffix: str = "", caller: str = "", seen: Seen | None = None
) -> tuple[Tool, ...]:
    """``query_memory`` and, where the library's access is to add, ``add_memory``.

    Args:
        library: what they work on.
        suffix: is added to their names, behind ``_``.
        caller: who calls, which is kept with what is added.
        seen: hears of what the caller was shown.

    Raises:
        UsageError: the caller's name can be none.
    """
    check_agent(caller)
    tail = f"_{suffix}" if suffix else ""
    tools = [
        Tool(
            name=f"query_memory{tail}",
            description=QUERY_FIRST.format(scope=library.scope),
            parameters=schema(QUERY, TICKER, DATE, required=("query",)),
            run=lambda arguments: query(library, arguments, caller=caller, seen=seen),
        )
    ]
    if library.access is Access.ADD:
        tools.append(
            Tool(
                name=f"add_memory{tail}",
                description=ADD.format(scope=library.scope),
                parameters=schema(CONTENT, TICKER, required=("content",)),
                run=lambda arguments: add(library, arguments, caller=caller),
                adds=True,
            )
        )
    return tuple(tools)


def tools_of(libraries: Iterable[Library], *, caller: str = "") -> tuple[Tool, ...]:
    """The tools of several libraries for one agent: ``query_memory_us_tech`` and so on.

    Raises:
        UsageError: two libraries would have tools of one name, or the caller's name can be none.
    """
    libraries = list(libraries)
    check_apart(libraries)
    several = len(libraries) > 1
    return tuple(
        tool
        for library in libraries
        for tool in library_tools(library, suffix=library.suffix if several else "", caller=caller)
    )


def execute(
    tools: Iterable[Tool], name: str, arguments: Mapping[str, Any] | str | None = None
) -> str:
    """The answer to a model's call by name; a name that is none is told to the model."""
    found = {tool.name: tool for tool in tools}
    if name in found:
        return found[name](arguments)
    logger.warning("a model called a tool %.60r, which is none", name)
    there = ", ".join(found)
    return REFUSED.format(error=f"there is no tool {str(name)[:60]!r}; use one of {there}")


def langchain_tools(tools: Iterable[Tool]) -> "list[BaseTool]":
    """The same tools for LangChain and LangGraph agents, sync and async."""
    from tradmem.plugin.langchain import langchain_tool  # noqa: PLC0415 - takes a second to load

    return [langchain_tool(tool) for tool in tools]


def _object(arguments: Mapping[str, Any] | str | None, names: Iterable[str]) -> Mapping[str, Any]:
    """The arguments of a call as an object.

    Raises:
        UsageError: they are none, or one of these names is misspelt in them.
    """
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise UsageError(NO_ARGUMENTS) from error
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise UsageError(NO_ARGUMENTS)
    for given, meant in misspelt(arguments, names).items():
        raise UsageError(f"there is no argument {str(given)[:60]!r}; {meant} seems to be meant")
    return arguments

"""A tool of a library as one of LangChain's."""

from typing import Any

from langchain_core.tools import StructuredTool

from tradmem.plugin.arguments import misspelt
from tradmem.plugin.tools import Tool


class LibraryTool(StructuredTool):
    """A tool that hands on what its schema names, whatever else a model sends along."""

    def run(self, tool_input: str | dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """See :meth:`langchain_core.tools.BaseTool.run`."""
        return super().run(self._named(tool_input), *args, **kwargs)

    async def arun(self, tool_input: str | dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """See :meth:`langchain_core.tools.BaseTool.arun`."""
        return await super().arun(self._named(tool_input), *args, **kwargs)

    def _named(self, given: str | dict[str, Any]) -> str | dict[str, Any]:
        if not isinstance(given, dict):
            return given
        names = [*self.args, *misspelt(given, self.args)]  # which the tool itself tells
        return {name: given[name] for name in names if name in given}


def langchain_tool(tool: Tool) -> LibraryTool:
    """The same tool for LangChain and LangGraph agents, sync and async."""

    def call(**arguments: Any) -> str:
        return tool(arguments)

    async def acall(**arguments: Any) -> str:
        return await tool.acall(arguments)

    return LibraryTool(
        func=call,
        coroutine=acall,
        name=tool.name,
        description=tool.description,
        args_schema=dict(tool.parameters),
    )

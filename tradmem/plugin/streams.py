"""What a graph streams, and beside it the state that it ends in."""

from collections.abc import Iterator, Mapping
from typing import Any

from langgraph.pregel import Pregel

_VALUES = "values"
_INTERRUPT = "__interrupt__"


class Streams:
    """Has a graph stream its values too, and passes on only what was asked for.

    Args:
        graph: what streams.
        options: of :meth:`langgraph.pregel.Pregel.stream`, as they were given.

    Attributes:
        options: as the graph gets them.
        last: the values that it came to.
    """

    def __init__(self, graph: Pregel[Any, Any, Any, Any], options: Mapping[str, Any]) -> None:
        asked = options.get("stream_mode") or graph.stream_mode
        self._several = isinstance(asked, list | tuple)
        self._asked = list(asked) if self._several else [asked]
        self._nested = bool(options.get("subgraphs"))
        self._in_parts = options.get("version") == "v2"
        modes = self._asked if _VALUES in self._asked else [*self._asked, _VALUES]
        self.options = {**options, "stream_mode": modes}
        self.last: dict[str, Any] = {}

    def sift(self, chunk: Any) -> Iterator[Any]:
        """What is passed on of a chunk, in the form that was asked for."""
        if self._in_parts:
            if chunk["type"] == _VALUES and not chunk["ns"]:
                self.last = chunk["data"]
                if found := chunk.get("interrupts"):
                    self.last = {_INTERRUPT: found}
            if chunk["type"] in self._asked:
                yield chunk
            return
        space, (mode, value) = (chunk[0], chunk[1:]) if self._nested else ((), chunk)
        if mode == _VALUES and not space:
            self.last = value
        if mode not in self._asked:
            return
        shown = (mode, value) if self._several else (value,)
        shown = (space, *shown) if self._nested else shown
        yield shown if len(shown) > 1 else shown[0]

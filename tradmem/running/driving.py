"""A compiled graph, driven by ticker and day."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any

from tradmem.agent import build_graph
from tradmem.errors import PriceError, UsageError
from tradmem.memory import Memory
from tradmem.nodes import RECORDS_AS
from tradmem.policies import Policy
from tradmem.running.counting import calls_counted

OWN = "tradmem"
OnNode = Callable[[str], None]


class Graph:
    """A compiled graph, driven one ticker at a time; several threads may do so at once.

    Args:
        name: for messages and for the record of runs.
        compiled: LangGraph's.
        is_own: whether its calls of models are counted without LangChain telling them.

    Attributes:
        agent: the name under which it records; None if its nodes do not tell.
    """

    def __init__(self, name: str, compiled: Any, *, is_own: bool = False) -> None:
        self.name, self._is_own = name, is_own
        self._compiled = compiled
        nodes = getattr(compiled, "nodes", None)
        nodes = nodes.values() if isinstance(nodes, Mapping) else ()
        bound: list[Any] = [getattr(node, "bound", None) for node in nodes]
        self._is_async = any(getattr(f, "afunc", None) and not f.func for f in bound)
        funcs = (getattr(each, "func", None) for each in bound)
        agents = {getattr(func, RECORDS_AS) for func in funcs if hasattr(func, RECORDS_AS)}
        self.agent: str | None = agents.pop() if len(agents) == 1 else None
        self._tells_nodes = hasattr(compiled, "stream_mode")

    @property
    def keeps(self) -> bool:
        """Whether it has a checkpointer, by which a run that broke off can be gone on with."""
        return bool(getattr(self._compiled, "checkpointer", None))

    def decide(
        self, ticker: str, day: str, *, on_node: OnNode = lambda _: None, anew: bool = False
    ) -> Mapping[str, Any]:
        """The state in which the graph ends.

        With a checkpointer, a run on this ticker and day that broke off goes on where it
        was, so that what was paid for is not paid again.

        Args:
            ticker: in upper case.
            day: of the decision, ISO.
            on_node: called with the name of each node that begins.
            anew: whether to begin from the start in any case.

        Raises:
            UsageError: the graph stopped to ask a person.
        """
        config: Any = {"configurable": {"thread_id": f"{ticker} {day}"}}
        if not self._is_own:
            config["callbacks"] = [calls_counted()]
        driven = self._drive(config, {"ticker": ticker, "date": day}, on_node, anew=anew)
        if self._is_async:
            return asyncio.run(driven)
        return _at_once(driven)

    async def _drive(
        self, config: Any, given: Any, on_node: OnNode, *, anew: bool
    ) -> Mapping[str, Any]:
        """One way for both kinds of graphs; of one that is not async nothing is awaited."""
        if anew or not self.keeps or not await self._is_broken_off(config):
            return await self._state(config, given, on_node)
        try:
            return await self._state(config, None, on_node)
        except PriceError:  # it may be the one that broke it off, kept with what was looked at
            return await self._state(config, given, on_node)

    async def _state(self, config: Any, given: Any, on_node: OnNode) -> Mapping[str, Any]:
        """The state at the end, told node by node where the graph can tell."""
        state: Any = {}
        if not self._tells_nodes:
            compiled = self._compiled
            call = compiled.ainvoke(given, config) if self._is_async else None
            return _as_mapping(await call if call else compiled.invoke(given, config))
        async for mode, chunk in self._streamed(given, config):
            if mode == "values":
                state = chunk
            elif "input" in chunk:
                on_node(str(chunk.get("name")))
        found = _as_mapping(state)
        if found.get(_INTERRUPT):
            asked = " ".join(str(getattr(found[_INTERRUPT][0], "value", "")).split())[:80]
            raise UsageError(
                f"the graph stopped to ask a person ({asked}); nobody answers in a run, so "
                "leave the question out, or drive the graph yourself"
            )
        return found

    async def _streamed(self, given: Any, config: Any) -> AsyncIterator[tuple[str, Any]]:
        how: dict[str, Any] = {"stream_mode": ["values", "tasks"]}
        if self.keeps:
            how["durability"] = "sync"  # what is paid for is kept before the next node begins
        if self._is_async:
            async for item in self._compiled.astream(given, config, **how):
                yield item
        else:
            for item in self._compiled.stream(given, config, **how):
                yield item

    async def _is_broken_off(self, config: Any) -> bool:
        compiled = self._compiled
        kept = await compiled.aget_state(config) if self._is_async else compiled.get_state(config)
        return bool(kept.next)


_INTERRUPT = "__interrupt__"


def _as_mapping(state: Any) -> Mapping[str, Any]:
    if not isinstance(state, Mapping) and not hasattr(state, "__dict__"):
        raise UsageError(f"the graph ended in {type(state).__name__}; it has to end in a state")
    found: Mapping[str, Any] = state if isinstance(state, Mapping) else vars(state)
    return found


def _at_once(driven: Coroutine[Any, Any, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The result of a coroutine that never waits for anything."""
    try:
        driven.send(None)
    except StopIteration as ended:
        found: Mapping[str, Any] = ended.value
        return found
    raise AssertionError("a graph that is not async was awaited")


def own_graph(memory: Memory, decide: Policy | None = None) -> Graph:
    """The reference agent; within one run, what it has paid for is not paid for again.

    Args:
        memory: what it remembers with.
        decide: the policy; see :func:`tradmem.agent.build_graph`.
    """
    from langgraph.checkpoint.memory import InMemorySaver  # noqa: PLC0415 - takes a second to load

    return Graph(OWN, build_graph(memory, decide, InMemorySaver()), is_own=True)

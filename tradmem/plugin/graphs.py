"""A memory around an agent that is there already: resolve, recall, it, record.

    agent = with_memory(agent, memory)

What the memory needs for itself stays outside of the agent's state. The agent is shown one key
more, the text for its prompt, and what it returns is returned as it is.
"""

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph import types
from langgraph.pregel import Pregel
from langgraph.types import Command

from tradmem.errors import UsageError
from tradmem.memory import Memory
from tradmem.plugin.loop import Key, Loop, update_of
from tradmem.plugin.streams import Streams

Agent = TypeVar("Agent")
_INTERRUPT = "__interrupt__"
_VALUES = "values"
_OUTPUT: Any = getattr(types, "GraphOutput", ())  # what later versions can return a state in
_RECALLED, _AS_OF = "tradmem_recalled", "tradmem_as_of"  # in the metadata of a checkpoint
_UNSEEN: Mapping[str, Any] = {"recalled": [], "as_of": None, "past_context": ""}


def with_memory(
    decide: Agent,
    memory: Memory,
    *,
    ticker: Key = "ticker",
    date: Key = "date",
    decision: Key = "decision",
    rating: Key = "rating",
    query: Key | None = None,
    past_context: str = "past_context",
    agent: str = "",
) -> Agent:
    """The same agent, which remembers.

    Before it runs, what has come due is settled and the past is recalled; after it, its
    decision is recorded with what it was shown. A function stays a function that fits where it
    did; a compiled graph can be invoked and streamed as before, and is recorded once it comes
    to its end, not where it is interrupted.

    A graph whose input has no key for the past but has ``messages`` is shown it as a system
    message, which is taken out of its answer again.

    Args:
        decide: a node (a function of a state, sync or async) or a compiled graph.
        memory: what it remembers with; its clock, prices and settings hold.
        ticker: the state's key of the ticker, or a function from the state to it.
        date: of the decision's date; without one it is made now.
        decision: of the decision's text in what the agent returns; of messages, the last one's
            text. None or an empty text there is no decision, and nothing is recorded.
        rating: of the rating in what it returns; read from the text where there is none.
        query: of what the decision is about, for a memory whose settings rank by relevance.
        past_context: the key under which the agent is shown the past.
        agent: under which name its decisions are kept.

    Raises:
        UsageError: a graph cannot take the past or gives no decision; or, when it runs, the
            state has no ticker, or what the agent returned has no key of the decision.
    """
    loop = Loop(
        memory=memory,
        keys={"ticker": ticker, "date": date, "query": query},
        decision=decision,
        rating=rating,
        past_context=past_context,
        agent=agent,
    )
    if isinstance(decide, Runnable):
        return cast("Agent", Remembering(decide, loop.fitted_to(decide)))
    if not callable(decide):
        raise UsageError(
            f"{type(decide).__name__} is no agent; hand in a function of a state or a graph"
        )
    return cast("Agent", _around(decide, loop))


def _around(decide: Callable[..., Any], loop: Loop) -> Callable[..., Any]:
    """A node that looks like the one in it, so that a graph hands it the same things."""
    is_plain = inspect.isroutine(decide) or isinstance(decide, functools.partial)
    call = decide if is_plain else getattr(decide, "__call__", decide)  # noqa: B004
    if inspect.iscoroutinefunction(call):

        async def remember_async(state: Any, *more: Any, **named: Any) -> Any:
            seen = await asyncio.to_thread(loop.before, state)
            result = await decide(loop.shown(state, seen), *more, **named)
            await asyncio.to_thread(loop.after, state, update_of(result), seen)
            return result

        return functools.update_wrapper(remember_async, call)

    def remember(state: Any, *more: Any, **named: Any) -> Any:
        seen = loop.before(state)
        result = decide(loop.shown(state, seen), *more, **named)
        loop.after(state, update_of(result), seen)
        return result

    return functools.update_wrapper(remember, call)


class Remembering(Runnable[Any, Any]):
    """A graph that remembers; whatever else it is asked, the graph in it answers."""

    def __init__(self, inner: Runnable[Any, Any], loop: Loop) -> None:
        self.inner = inner
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - the name is langchain's
        """See :meth:`langchain_core.runnables.Runnable.invoke`."""
        if self._is_streamed(kwargs):
            return list(self.stream(input, config, **kwargs))
        self._check(kwargs)
        seen = self._begin(input, config)
        told, config = self._prepared(input, config, seen)
        return self._finish(input, self.inner.invoke(told, config, **kwargs), seen)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """See :meth:`langchain_core.runnables.Runnable.ainvoke`."""
        if self._is_streamed(kwargs):
            return [chunk async for chunk in self.astream(input, config, **kwargs)]
        self._check(kwargs)
        seen = await asyncio.to_thread(self._begin, input, config)
        told, config = self._prepared(input, config, seen)
        found = await self.inner.ainvoke(told, config, **kwargs)
        return await asyncio.to_thread(self._finish, input, found, seen)

    def stream(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """See :meth:`langchain_core.runnables.Runnable.stream`."""
        if not isinstance(self.inner, Pregel):
            yield self.invoke(input, config, **kwargs)
            return
        self._check(kwargs)
        seen = self._begin(input, config)
        told, config = self._prepared(input, config, seen)
        streams = Streams(self.inner, kwargs)
        for chunk in self.inner.stream(told, config, **streams.options):
            yield from streams.sift(chunk)
        self._finish(input, streams.last, seen)

    async def astream(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """See :meth:`langchain_core.runnables.Runnable.astream`."""
        if not isinstance(self.inner, Pregel):
            yield await self.ainvoke(input, config, **kwargs)
            return
        self._check(kwargs)
        seen = await asyncio.to_thread(self._begin, input, config)
        told, config = self._prepared(input, config, seen)
        streams = Streams(self.inner, kwargs)
        async for chunk in self.inner.astream(told, config, **streams.options):
            for passed in streams.sift(chunk):
                yield passed
        await asyncio.to_thread(self._finish, input, streams.last, seen)

    def _is_streamed(self, options: Mapping[str, Any]) -> bool:
        """Whether an invocation is to return what it streamed in place of the last state."""
        is_graph = isinstance(self.inner, Pregel)
        return is_graph and options.get("stream_mode", _VALUES) != _VALUES

    def _check(self, options: Mapping[str, Any]) -> None:
        """See to it, before anything is paid for, that the decision will be seen.

        Raises:
            UsageError: it is not among the keys that are asked for.
        """
        asked, wanted = options.get("output_keys"), self._loop.decision
        if asked is None or not isinstance(self.inner, Pregel):
            return
        if isinstance(asked, str) or (isinstance(wanted, str) and wanted not in asked):
            raise UsageError(
                f"output_keys is {asked!r:.100}; make it a list with the key of the decision, "
                f"{wanted!r}, so that it can be recorded"
            )

    def _begin(self, given: Any, config: RunnableConfig | None) -> Mapping[str, Any]:
        """What is recalled for a run, or was for the one that goes on here."""
        if given is not None and not isinstance(given, Command):
            return self._loop.before(given)
        if not (isinstance(self.inner, Pregel) and config and self.inner.checkpointer):
            return _UNSEEN
        kept: Mapping[str, Any] = self.inner.get_state(config).metadata or {}
        names = str(kept.get(_RECALLED, ""))
        return {**_UNSEEN, "recalled": names.split(), "as_of": kept.get(_AS_OF)}

    def _prepared(
        self, given: Any, config: RunnableConfig | None, seen: Mapping[str, Any]
    ) -> tuple[Any, RunnableConfig | None]:
        """What the graph gets; what was recalled goes with its checkpoints."""
        goes_on = given is None or isinstance(given, Command)
        told = given if goes_on else self._loop.shown(given, seen)
        if seen["as_of"] is None:
            return told, config
        kept = {_RECALLED: " ".join(seen["recalled"]), _AS_OF: seen["as_of"]}
        metadata = {**(config or {}).get("metadata", {}), **kept}
        return told, cast("RunnableConfig", {**(config or {}), "metadata": metadata})

    def _finish(self, given: Any, found: Any, seen: Mapping[str, Any]) -> Any:
        is_output = isinstance(found, _OUTPUT)
        update = update_of(found.value if is_output else found)
        if _INTERRUPT in update or (is_output and found.interrupts):
            return found
        self._loop.after(
            given if not isinstance(given, Command) and given is not None else {}, update, seen
        )
        if is_output:
            return replace(found, value=self._loop.without_note(found.value))
        return self._loop.without_note(found)

"""A memory around an agent that is there already: resolve, recall, it, record.

    agent = with_memory(agent, memory)

What the memory needs for itself stays outside of the agent's state. The agent is shown one key
more, the text for its prompt, and what it returns is returned as it is.
"""

import asyncio
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from langchain_core.runnables import Runnable

from tradmem.errors import UsageError
from tradmem.memory import Memory
from tradmem.plugin.loop import Key, Loop
from tradmem.plugin.remembering import Remembering
from tradmem.recording import check_agent

Agent = TypeVar("Agent")


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
    to its end, not where it is interrupted. Of a stream that is left before its end, or whose
    task is cancelled, the decision is recorded if a step of the graph has made it by then. What
    a key held before a run is no decision of that run.

    A graph whose input has no key for the past but has ``messages`` is shown it as a system
    message, which is taken out of its answer again.

    Args:
        decide: a node (a function of a state, sync or async) or a compiled graph.
        memory: what it remembers with; its clock, prices and settings hold.
        ticker: the state's key of the ticker, or a function from the state to it.
        date: of the decision's date; without one it is made now.
        decision: of the decision's text in what the agent returns; of messages, the last one's
            text. None or an empty text there is no decision, and nothing is recorded. An agent that
            returns a text or a message in place of keys has decided that.
        rating: of the rating in what it returns; read from the text where there is none.
        query: of what the decision is about, for a memory whose settings rank by relevance.
        past_context: the key under which the agent is shown the past.
        agent: under which name its decisions are kept.

    Raises:
        UsageError: a graph cannot take the past or gives no decision, or the agent's name can
            be none; or, when it runs, the state has no ticker, or what the agent returned has no
            key of the decision.
    """
    check_agent(agent)
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
            await asyncio.to_thread(loop.after, state, loop.returned(result), seen)
            return result

        return functools.update_wrapper(remember_async, call)

    def remember(state: Any, *more: Any, **named: Any) -> Any:
        seen = loop.before(state)
        result = decide(loop.shown(state, seen), *more, **named)
        loop.after(state, loop.returned(result), seen)
        return result

    return functools.update_wrapper(remember, call)

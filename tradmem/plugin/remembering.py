"""A graph with a memory around it, which is asked as the graph is."""

import asyncio
import copy
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from contextlib import suppress
from contextvars import copy_context
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.pregel import Pregel

from tradmem.errors import TradmemError, UsageError
from tradmem.plugin.loop import Loop
from tradmem.plugin.runs import Run, Runs
from tradmem.plugin.states import Read
from tradmem.plugin.streams import VALUES, Streams

logger = logging.getLogger("tradmem.plugin")
_INTERRUPT = "__interrupt__"
# What every runnable answers, and a graph better.
_OF_THE_GRAPH = frozenset(
    {
        *("InputType", "OutputType", "config_schema", "config_specs", "get_config_jsonschema"),
        *("get_graph", "get_input_jsonschema", "get_input_schema", "get_name", "name"),
        *("get_output_jsonschema", "get_output_schema", "input_schema", "output_schema"),
    }
)


class Remembering(Runnable[Any, Any]):
    """A graph that remembers; whatever else it is asked, the graph in it answers."""

    def __init__(self, inner: Runnable[Any, Any], loop: Loop) -> None:
        self.inner = inner
        self._loop = loop
        self._runs = Runs(inner, loop)

    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __getattribute__(self, name: str) -> Any:
        if name in _OF_THE_GRAPH:
            return getattr(self.inner, name)
        return super().__getattribute__(name)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - the name is langchain's
        """See :meth:`langchain_core.runnables.Runnable.invoke`."""
        if not isinstance(self.inner, Pregel):
            run = self._runs.begin(input, config)
            return self._after_call(run, self.inner.invoke(run.told, run.config, **kwargs))
        if _is_streamed(kwargs):
            return list(self.stream(input, config, **kwargs))
        streams = self._streams({**kwargs, "stream_mode": VALUES})
        run = self._runs.begin(input, config)
        for chunk in self.inner.stream(run.told, run.config, **streams.options):
            streams.note(chunk)
        self._finish(run, streams)
        return streams.result()

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """See :meth:`langchain_core.runnables.Runnable.ainvoke`."""
        if not isinstance(self.inner, Pregel):
            run = await asyncio.to_thread(self._runs.begin, input, config)
            found = await self.inner.ainvoke(run.told, run.config, **kwargs)
            return await asyncio.to_thread(self._after_call, run, found)
        if _is_streamed(kwargs):
            return [chunk async for chunk in self.astream(input, config, **kwargs)]
        streams = self._streams({**kwargs, "stream_mode": VALUES})
        run = await asyncio.to_thread(self._runs.begin, input, config)
        async for chunk in self.inner.astream(run.told, run.config, **streams.options):
            streams.note(chunk)
        await asyncio.to_thread(self._finish, run, streams)
        return streams.result()

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
        streams = self._streams(kwargs)
        run = self._runs.begin(input, config)
        chunks = self.inner.stream(run.told, run.config, **streams.options)
        try:
            for chunk in chunks:
                yield from streams.sift(chunk)
        except GeneratorExit:
            self._leave(run, streams)
            raise
        finally:
            cast("Generator[Any]", chunks).close()
        self._finish(run, streams)

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
        streams = self._streams(kwargs)
        run = await asyncio.to_thread(self._runs.begin, input, config)
        chunks = self.inner.astream(run.told, run.config, **streams.options)
        try:
            async for chunk in chunks:
                for passed in streams.sift(chunk):
                    yield passed
        except (GeneratorExit, asyncio.CancelledError):
            await self._leave_in_thread(run, streams)
            raise
        finally:
            await cast("AsyncGenerator[Any]", chunks).aclose()
        await asyncio.to_thread(self._finish, run, streams)

    def stream_events(self, *args: Any, **kwargs: Any) -> Any:
        """See :meth:`langgraph.pregel.Pregel.stream_events`."""
        return self._streaming().stream_events(*args, **kwargs)

    def astream_events(self, *args: Any, **kwargs: Any) -> Any:
        """See :meth:`langgraph.pregel.Pregel.astream_events`."""
        return self._streaming().astream_events(*args, **kwargs)

    def _streaming(self) -> Any:
        """The graph in it, with the streams of this one, from which it makes its events."""
        graph: Any = copy.copy(self.inner)
        graph.stream, graph.astream = self.stream, self.astream
        return graph

    # Before a run

    def _streams(self, options: Mapping[str, Any]) -> Streams:
        """What tells of a run; seen to before anything is paid for.

        Raises:
            UsageError: the decision is not among the keys that are asked for.
        """
        asked, wanted = options.get("output_keys"), self._loop.decision
        if isinstance(asked, str) or (
            asked is not None and isinstance(wanted, str) and wanted not in asked
        ):
            raise UsageError(
                f"output_keys is {asked!r:.100}; make it a list with the key of the decision, "
                f"{wanted!r}, so that it can be recorded"
            )
        return Streams(cast("Any", self.inner), options, self._loop.without_note, self._loop.given)

    # After it

    def _after_call(self, run: Run, found: Any) -> Any:
        """Record what a runnable that is no graph of this process came to."""
        update = self._loop.returned(found)
        if _INTERRUPT not in update:
            self._loop.after(run.state, update, run.seen)
        return self._loop.without_note(found)

    def _finish(self, run: Run, streams: Streams) -> None:
        """Record the decision of a run that came to its end."""
        if streams.interrupted:
            return
        update, rating = streams.values(), self._loop.rating
        if isinstance(rating, str) and not ("rating" in run.written or streams.wrote(rating)):
            update = {name: value for name, value in update.items() if name != rating}
        self._loop.after(run.state, update, run.seen, is_made=self._is_made(run, streams))

    def _leave(self, run: Run, streams: Streams) -> None:
        """Record the decision of a stream that is left, where nobody is left to hear of a fault."""
        if not self._is_made(run, streams):
            return
        try:
            self._finish(run, streams)
        except TradmemError as error:
            logger.error("a stream was left, and its decision is not recorded: %s", error)  # noqa: TRY400 - the line says it all
        except Exception:
            logger.exception("a stream was left, and its decision is not recorded")

    async def _leave_in_thread(self, run: Run, streams: Streams) -> None:
        """The same; once it has begun, it is carried out, whatever becomes of the task."""
        if not self._is_made(run, streams):
            return
        try:
            begun = asyncio.get_running_loop().run_in_executor(
                None, copy_context().run, self._leave, run, streams
            )
        except RuntimeError:  # the program ends and takes no more work
            self._leave(run, streams)
            return
        with suppress(asyncio.CancelledError):
            await asyncio.shield(begun)

    def _is_made(self, run: Run, streams: Streams) -> bool:
        """Whether the run came to a decision, be it complete or not."""
        wanted = self._loop.decision
        if streams.interrupted:
            return False
        if "decision" in run.written:
            return True
        if isinstance(wanted, str):
            return streams.wrote(wanted)
        before = ""
        read = Read(streams.values())
        with suppress(Exception):  # it was written for what a whole run returns
            before = self._loop.text(streams.begun_with())
        with suppress(Exception):
            return self._loop.text(read) != before or any(map(streams.wrote, read.names))
        return False


def _is_streamed(options: Mapping[str, Any]) -> bool:
    """Whether an invocation is to return what it streamed in place of the last state."""
    return bool(options.get("stream_mode", VALUES) != VALUES)

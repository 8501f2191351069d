"""A graph with a memory around it, which is asked as the graph is."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.types import Command, StateSnapshot

from tradmem.errors import TradmemError, UsageError
from tradmem.plugin.loop import Loop
from tradmem.plugin.states import update_of
from tradmem.plugin.streams import VALUES, Streams

logger = logging.getLogger("tradmem.plugin")
_INTERRUPT = "__interrupt__"
# Under which names LangGraph hands these to a graph that is a step of another.
_CHECKPOINTER, _RESUMING = "__pregel_checkpointer", "__pregel_resuming"
_RECENT = 20  # checkpoints that are looked through behind edits of a state
_RECALLED, _AS_OF = "tradmem_recalled", "tradmem_as_of"  # in the metadata of a checkpoint
_WITHHELD = "tradmem_withheld"
# What every runnable answers, and a graph better.
_OF_THE_GRAPH = frozenset(
    {
        *("InputType", "OutputType", "config_schema", "config_specs", "get_config_jsonschema"),
        *("get_graph", "get_input_jsonschema", "get_input_schema", "get_name", "name"),
        *("get_output_jsonschema", "get_output_schema", "input_schema", "output_schema"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A run of a graph that has begun.

    Attributes:
        state: what it began with, by which its ticker and date are read.
        seen: what was recalled for it.
        told: what the graph gets as its input.
        config: and as its configuration.
        is_fresh: whether it has an input, and does not go on where another one stopped.
    """

    state: Any
    seen: Mapping[str, Any]
    told: Any
    config: RunnableConfig | None
    is_fresh: bool


class Remembering(Runnable[Any, Any]):
    """A graph that remembers; whatever else it is asked, the graph in it answers."""

    def __init__(self, inner: Runnable[Any, Any], loop: Loop) -> None:
        self.inner = inner
        self._loop = loop

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
            run = self._begin(input, config)
            return self._after_call(run, self.inner.invoke(run.told, run.config, **kwargs))
        if _is_streamed(kwargs):
            return list(self.stream(input, config, **kwargs))
        streams = self._streams({**kwargs, "stream_mode": VALUES})
        run = self._begin(input, config)
        for chunk in self.inner.stream(run.told, run.config, **streams.options):
            streams.note(chunk)
        self._finish(run, streams)
        return streams.result()

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """See :meth:`langchain_core.runnables.Runnable.ainvoke`."""
        if not isinstance(self.inner, Pregel):
            run = await asyncio.to_thread(self._begin, input, config)
            found = await self.inner.ainvoke(run.told, run.config, **kwargs)
            return await asyncio.to_thread(self._after_call, run, found)
        if _is_streamed(kwargs):
            return [chunk async for chunk in self.astream(input, config, **kwargs)]
        streams = self._streams({**kwargs, "stream_mode": VALUES})
        run = await asyncio.to_thread(self._begin, input, config)
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
        run = self._begin(input, config)
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
        run = await asyncio.to_thread(self._begin, input, config)
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
        return Streams(cast("Any", self.inner), options, self._loop.without_note)

    def _begin(self, given: Any, config: RunnableConfig | None) -> _Run:
        """Recall for a run, or go on with what was recalled when it began."""
        if going_on := self._going_on(given, config):
            return going_on
        seen = self._loop.before(given)
        is_stale = False
        if not seen["past_context"] and (kept := self._kept(config)):
            is_stale = self._loop.has_note(kept.values)
        return _Run(
            state=given,
            seen=seen,
            told=self._loop.shown(given, seen, is_stale=is_stale),
            config=_noting(config, seen),
            is_fresh=True,
        )

    def _going_on(self, given: Any, config: RunnableConfig | None) -> _Run | None:
        """The run that goes on where another one stopped; None for one that begins."""
        is_told = given is None or isinstance(given, Command)
        if not is_told and not (config or {}).get("configurable", {}).get(_RESUMING):
            return None
        kept = self._kept(config)
        metadata = self._metadata(kept, config) if kept else {}
        if not is_told and not (kept and kept.next and _AS_OF in metadata):
            return None  # a step of a graph that goes on, which has not begun before
        state = kept.values if kept else {}
        seen = _seen_by(metadata)
        return _Run(state=state, seen=seen, told=given, config=config, is_fresh=False)

    def _kept(self, config: RunnableConfig | None) -> StateSnapshot | None:
        """What the graph's checkpointer has of a thread."""
        asked = (config or {}).get("configurable", {})
        own = getattr(self.inner, "checkpointer", None)
        if not isinstance(asked.get(_CHECKPOINTER, own), BaseCheckpointSaver):
            return None
        there = "thread_id" in asked  # without one, the graph says itself what it lacks
        return self.inner.get_state(config) if there else None  # type: ignore[attr-defined]

    def _metadata(self, kept: StateSnapshot, config: RunnableConfig | None) -> Mapping[str, Any]:
        """The metadata of the run that stopped, also where its state was edited since."""
        found: list[Mapping[str, Any]] = [kept.metadata or {}]
        if _AS_OF not in found[0]:
            history = self.inner.get_state_history(config, limit=_RECENT)  # type: ignore[attr-defined]
            found += [snapshot.metadata or {} for snapshot in history]
        return next((metadata for metadata in found if _AS_OF in metadata), {})

    # After it

    def _after_call(self, run: _Run, found: Any) -> Any:
        """Record what a runnable that is no graph of this process came to."""
        update = update_of(found)
        if _INTERRUPT not in update:
            self._loop.after(run.state, update, run.seen)
        return self._loop.without_note(found)

    def _finish(self, run: _Run, streams: Streams) -> None:
        """Record the decision of a run that came to its end."""
        if streams.interrupted:
            return
        wanted, rating, update = self._loop.decision, self._loop.rating, streams.values()
        if run.is_fresh and isinstance(rating, str) and not streams.wrote(rating):
            update = {name: value for name, value in update.items() if name != rating}
        if run.is_fresh and isinstance(wanted, str) and wanted in update:
            update = update if streams.wrote(wanted) else {**update, wanted: None}
        self._loop.after(run.state, update, run.seen)

    def _leave(self, run: _Run, streams: Streams) -> None:
        """Record the decision of a stream that is left, where nobody is left to hear of a fault."""
        if not self._is_made(streams):
            return
        try:
            self._finish(run, streams)
        except TradmemError as error:
            logger.error("a stream was left, and its decision is not recorded: %s", error)  # noqa: TRY400 - the line says it all
        except Exception:
            logger.exception("a stream was left, and its decision is not recorded")

    async def _leave_in_thread(self, run: _Run, streams: Streams) -> None:
        """The same; once it has begun, it is carried out, whatever becomes of the task."""
        if not self._is_made(streams):
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

    def _is_made(self, streams: Streams) -> bool:
        """Whether the run came to a decision, be it complete or not."""
        wanted = self._loop.decision
        if streams.interrupted:
            return False
        if isinstance(wanted, str):
            return streams.wrote(wanted)
        before = now = ""
        with suppress(Exception):  # it was written for what a whole run returns
            now = self._loop.text(streams.values())
        with suppress(Exception):
            before = self._loop.text(streams.begun_with())
        return now != before


def _is_streamed(options: Mapping[str, Any]) -> bool:
    """Whether an invocation is to return what it streamed in place of the last state."""
    return bool(options.get("stream_mode", VALUES) != VALUES)


def _noting(config: RunnableConfig | None, seen: Mapping[str, Any]) -> RunnableConfig:
    """A configuration by which what was recalled goes with the checkpoints of a run."""
    told = {_RECALLED: " ".join(seen["recalled"]), _AS_OF: seen["as_of"]}
    if seen["withheld"] is not None:
        told[_WITHHELD] = " ".join(seen["withheld"])
    metadata = {**(config or {}).get("metadata", {}), **told}
    return cast("RunnableConfig", {**(config or {}), "metadata": metadata})


def _seen_by(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a run was shown, by the metadata of its checkpoint."""
    withheld = metadata.get(_WITHHELD)
    return {
        "recalled": str(metadata.get(_RECALLED, "")).split(),
        "as_of": metadata.get(_AS_OF),
        "withheld": None if withheld is None else str(withheld).split(),
    }

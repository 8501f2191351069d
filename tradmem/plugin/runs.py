"""How a run of a graph with a memory begins, or goes on where another one stopped."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command, StateSnapshot

from tradmem.plugin.loop import Loop

# Under which names LangGraph hands these to a graph that is a step of another.
_CHECKPOINTER, _RESUMING = "__pregel_checkpointer", "__pregel_resuming"
_RECENT = 20  # checkpoints that are looked through behind edits of a state
_RECALLED, _AS_OF = "tradmem_recalled", "tradmem_as_of"  # in the metadata of a checkpoint
_WITHHELD = "tradmem_withheld"
_NAMES = {"ticker": "tradmem_ticker", "date": "tradmem_date"}  # for a graph that keeps no state


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
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


class Runs:
    """The runs of a graph, with what its checkpointer knows of earlier ones.

    Args:
        inner: the graph.
        loop: what recalls for them.
    """

    def __init__(self, inner: Runnable[Any, Any], loop: Loop) -> None:
        self._inner = inner
        self._loop = loop

    def begin(self, given: Any, config: RunnableConfig | None) -> Run:
        """Recall for a run, or go on with what was recalled when it began."""
        if going_on := self._going_on(given, config):
            return going_on
        seen = self._loop.before(given)
        is_stale = False
        if not seen["past_context"] and (kept := self._kept(config)):
            is_stale = self._loop.has_note(kept.values)
        return Run(
            state=given,
            seen=seen,
            told=self._loop.shown(given, seen, is_stale=is_stale),
            config=_noting(config, seen),
            is_fresh=True,
        )

    def _going_on(self, given: Any, config: RunnableConfig | None) -> Run | None:
        """The run that goes on where another one stopped; None for one that begins."""
        is_told = given is None or isinstance(given, Command)
        if not is_told and not (config or {}).get("configurable", {}).get(_RESUMING):
            return None
        kept = self._kept(config)
        metadata = self._metadata(kept, config) if kept else {}
        if not is_told and not (kept and kept.next and _AS_OF in metadata):
            return None  # a step of a graph that goes on, which has not begun before
        state = kept.values if kept and kept.values else {}
        seen = _seen_by(metadata)
        return Run(state=state, seen=seen, told=given, config=config, is_fresh=False)

    def _kept(self, config: RunnableConfig | None) -> StateSnapshot | None:
        """What the graph's checkpointer has of a thread."""
        asked = (config or {}).get("configurable", {})
        own = getattr(self._inner, "checkpointer", None)
        if not isinstance(asked.get(_CHECKPOINTER, own), BaseCheckpointSaver):
            return None
        there = "thread_id" in asked  # without one, the graph says itself what it lacks
        return self._inner.get_state(config) if there else None  # type: ignore[attr-defined]

    def _metadata(self, kept: StateSnapshot, config: RunnableConfig | None) -> Mapping[str, Any]:
        """The metadata of the run that stopped, also where its state was edited since."""
        found: list[Mapping[str, Any]] = [kept.metadata or {}]
        if _AS_OF not in found[0]:
            history = self._inner.get_state_history(config, limit=_RECENT)  # type: ignore[attr-defined]
            found += [snapshot.metadata or {} for snapshot in history]
        return next((metadata for metadata in found if _AS_OF in metadata), {})


def _noting(config: RunnableConfig | None, seen: Mapping[str, Any]) -> RunnableConfig:
    """A configuration by which what was recalled goes with the checkpoints of a run."""
    told = {_RECALLED: " ".join(seen["recalled"]), _AS_OF: seen["as_of"]}
    if seen["withheld"] is not None:
        told[_WITHHELD] = " ".join(seen["withheld"])
    told |= {key: str(seen[name]) for name, key in _NAMES.items() if seen.get(name)}
    metadata = {**(config or {}).get("metadata", {}), **told}
    return cast("RunnableConfig", {**(config or {}), "metadata": metadata})


def _seen_by(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a run was shown, by the metadata of its checkpoint."""
    withheld = metadata.get(_WITHHELD)
    return {
        "recalled": str(metadata.get(_RECALLED, "")).split(),
        "as_of": metadata.get(_AS_OF),
        "withheld": None if withheld is None else str(withheld).split(),
        **{name: metadata.get(key) for name, key in _NAMES.items()},
    }

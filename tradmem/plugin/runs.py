"""How a run of a graph with a memory begins, or goes on where another one stopped."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.types import Command, StateSnapshot

from tradmem.plugin import marks
from tradmem.plugin.loop import Loop
from tradmem.plugin.states import update_of

# Under which names LangGraph hands these to a graph that is a step of another.
_CHECKPOINTER, _RESUMING = "__pregel_checkpointer", "__pregel_resuming"
_RECENT = 20  # checkpoints that are looked through behind edits of a state
_RECALLED, _AS_OF = "tradmem_recalled", "tradmem_as_of"  # in the metadata of a checkpoint
_WITHHELD = "tradmem_withheld"
_BEGAN = "tradmem_began"  # what its thread held of its answers before it
_NAMES = {"ticker": "tradmem_ticker", "date": "tradmem_date"}  # for a graph that keeps no state
_NOTES = (_RECALLED, _AS_OF, _WITHHELD, _BEGAN, *_NAMES.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of a graph that has begun.

    Attributes:
        state: what it began with, by which its ticker and date are read.
        seen: what was recalled for it.
        told: what the graph gets as its input.
        config: and as its configuration.
        written: which of its answers it wrote before it stopped.
    """

    state: Any
    seen: Mapping[str, Any]
    told: Any
    config: RunnableConfig | None
    written: frozenset[str] = frozenset()


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
        kept = None
        with suppress(NotImplementedError):  # of a checkpointer that is asynchronous alone
            kept = self._kept(config)
        state = given
        if isinstance(given, Command):  # its step sees what the thread holds too
            state = {**(kept.values if kept else {}), **update_of(given)}
        seen = self._loop.before(state)
        is_stale = bool(not seen["past_context"] and kept and self._loop.has_note(kept.values))
        return Run(
            state=state,
            seen=seen,
            told=self._shown(given, seen, is_stale=is_stale),
            config=_with(config, {**_notes(seen), **self._began(given, kept, config)}),
            written=self._told(given),
        )

    def _shown(self, given: Any, seen: Mapping[str, Any], *, is_stale: bool) -> Any:
        """The input with what was recalled; of a command, in its update."""
        if not isinstance(given, Command):
            return self._loop.shown(given, seen, is_stale=is_stale)
        note = self._loop.shown({}, seen, is_stale=is_stale)
        pairs = given._update_as_tuples()  # noqa: SLF001 - which fields of a model are set, and repeats
        kept = [(name, value) for name, value in pairs if name not in self._loop.replaced]
        return replace(given, update=[*note.items(), *kept])

    def _going_on(self, given: Any, config: RunnableConfig | None) -> Run | None:
        """The run that goes on where another one stopped; None for one that begins."""
        is_told = given is None or isinstance(given, Command)
        if not is_told and not (config or {}).get("configurable", {}).get(_RESUMING):
            return None
        kept = self._kept(config)
        if self._is_anew(given, kept):
            return None
        metadata = self._metadata(kept, config) if kept else {}
        if not is_told and not (kept and kept.next and _AS_OF in metadata):
            return None  # a step of a graph that goes on, which has not begun before
        # A command may also come when the last run of a thread has come to its end.
        is_over = isinstance(given, Command) and kept is not None and not kept.next
        written = frozenset() if is_over else self._written(kept, metadata, config)
        return Run(
            state=kept.values if kept and kept.values else {},
            seen=_seen_by(metadata),
            told=given,
            config=_with(config, {key: metadata[key] for key in _NOTES if key in metadata}),
            written=written | self._told(given),
        )

    def _is_anew(self, given: Any, kept: StateSnapshot | None) -> bool:
        """Whether a command starts a step where nothing waits to go on."""
        is_start = isinstance(given, Command) and bool(given.goto) and given.resume is None
        return is_start and isinstance(self._inner, Pregel) and not (kept and kept.next)

    def _began(
        self, given: Any, kept: StateSnapshot | None, config: RunnableConfig | None
    ) -> Mapping[str, str]:
        """A note by which the run can be told from earlier ones of its thread once it goes on."""
        if kept is None:
            return {}
        channels, versions = self._inner.channels, self._versions(kept, config)  # type: ignore[attr-defined]
        state = kept.values if isinstance(kept.values, Mapping) else {}
        found = marks.begun(channels, versions, state, update_of(given), self._loop.answers)
        return {_BEGAN: json.dumps(found)}

    def _written(
        self,
        kept: StateSnapshot | None,
        metadata: Mapping[str, Any],
        config: RunnableConfig | None,
    ) -> frozenset[str]:
        """Which answers a run wrote before it stopped; all where nothing tells."""
        answers = self._loop.answers
        if kept is None or _BEGAN not in metadata or not isinstance(kept.values, Mapping):
            return frozenset(answers)
        before = json.loads(metadata[_BEGAN])
        return marks.written(before, self._versions(kept, config), kept.values, answers)

    def _told(self, given: Any) -> frozenset[str]:
        """Which answers a person sets who has a run go on."""
        update = update_of(given) if isinstance(given, Command) else {}
        return frozenset(name for name, key in self._loop.answers.items() if key in update)

    def _versions(self, kept: StateSnapshot, config: RunnableConfig | None) -> Mapping[str, Any]:
        """How often the keys of a thread were written."""
        found = cast("BaseCheckpointSaver[Any]", self._saver(config)).get_tuple(kept.config)
        return found.checkpoint["channel_versions"] if found else {}

    def _saver(self, config: RunnableConfig | None) -> Any:
        """The graph's checkpointer, or that of the graph of which it is a step."""
        own = getattr(self._inner, "checkpointer", None)
        return self._asked(config).get(_CHECKPOINTER, own)

    def _asked(self, config: RunnableConfig | None) -> dict[str, Any]:
        """What is configured for a run, by the graph's own settings too."""
        own = getattr(self._inner, "config", None) or {}
        return {**own.get("configurable", {}), **(config or {}).get("configurable", {})}

    def _kept(self, config: RunnableConfig | None) -> StateSnapshot | None:
        """What the graph's checkpointer has of a thread."""
        if not isinstance(self._saver(config), BaseCheckpointSaver):
            return None
        # Without one, the graph says itself what it lacks.
        asked = self._asked(config)
        there = "thread_id" in asked
        return self._inner.get_state({"configurable": asked}) if there else None  # type: ignore[attr-defined]

    def _metadata(self, kept: StateSnapshot, config: RunnableConfig | None) -> Mapping[str, Any]:
        """The metadata of the run that stopped, also where its state was edited since."""
        found: list[Mapping[str, Any]] = [kept.metadata or {}]
        if _AS_OF not in found[0]:
            history = self._inner.get_state_history(  # type: ignore[attr-defined]
                {"configurable": self._asked(config)}, limit=_RECENT
            )
            found += [snapshot.metadata or {} for snapshot in history]
        return next((metadata for metadata in found if _AS_OF in metadata), {})


def _notes(seen: Mapping[str, Any]) -> Mapping[str, str]:
    """What was recalled, as it goes with the checkpoints of a run."""
    told = {_RECALLED: " ".join(seen["recalled"]), _AS_OF: seen["as_of"]}
    if seen["withheld"] is not None:
        told[_WITHHELD] = " ".join(seen["withheld"])
    return told | {key: str(seen[name]) for name, key in _NAMES.items() if seen.get(name)}


def _with(config: RunnableConfig | None, notes: Mapping[str, Any]) -> RunnableConfig:
    """A configuration by which notes go with the checkpoints of a run."""
    metadata = {**(config or {}).get("metadata", {}), **notes}
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

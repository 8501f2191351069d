"""What a graph streams, and beside it the state that it comes to and whether it got to an end."""

import copy
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from langgraph import types
from langgraph.channels.base import BaseChannel
from langgraph.pregel import Pregel

from tradmem.plugin.states import update_of, values_of

VALUES = "values"
_UPDATES = "updates"
_INTERRUPT = "__interrupt__"
_OUTPUT: Any = getattr(types, "GraphOutput", None)  # what later versions return a state in


class Streams:
    """Has a graph stream its values and updates too, and passes on only what was asked for.

    Args:
        graph: what streams.
        options: of :meth:`langgraph.pregel.Pregel.stream`, as they were given.
        shown: what is passed on of a state.
        given: keys that a step only sets if it hands on the whole state that it was given.

    Attributes:
        options: as the graph gets them.
        interrupted: whether it stopped for somebody to have it go on.
    """

    def __init__(
        self,
        graph: Pregel[Any, Any, Any, Any],
        options: Mapping[str, Any],
        shown: Callable[[Any], Any],
        given: Collection[str] = (),
    ) -> None:
        asked = options.get("stream_mode") or graph.stream_mode
        self._several = isinstance(asked, list | tuple)
        self._asked = list(asked) if self._several else [asked]
        self._nested = bool(options.get("subgraphs"))
        self._in_parts = options.get("version") == "v2"
        added = [mode for mode in (VALUES, _UPDATES) if mode not in self._asked]
        self.options = {**options, "stream_mode": [*self._asked, *added]}
        self.interrupted = False
        self._graph = graph
        self._shown = shown
        self._given = frozenset(given)
        self._interrupts: list[Any] = []
        self._first: Any = None
        self._last: Any = None
        self._steps = 0
        self._since: list[Mapping[str, Any]] = []  # updates of which no values have come yet
        self._written: set[str] = set()

    def sift(self, chunk: Any) -> Iterator[Any]:
        """Note a chunk, and give what is passed on of it, in the form that was asked for."""
        space, mode, value = self.note(chunk)
        if mode not in self._asked:
            return
        if mode == VALUES:
            value = self._shown(value)
        if self._in_parts:
            yield {**chunk, "data": value}
            return
        parts = (mode, value) if self._several else (value,)
        parts = (space, *parts) if self._nested else parts
        yield parts if len(parts) > 1 else parts[0]

    def note(self, chunk: Any) -> tuple[Any, str, Any]:
        """Take from a chunk what tells of the run: its namespace, its mode and its data."""
        if self._in_parts:
            space, mode, value = chunk["ns"], chunk["type"], chunk["data"]
        else:
            space, (mode, value) = (chunk[0], chunk[1:]) if self._nested else ((), chunk)
        if not space and mode == VALUES:
            self._note_values(value, chunk.get("interrupts") if self._in_parts else None)
        elif not space and mode == _UPDATES:
            self._note_updates(value)
        return space, mode, value

    def result(self) -> Any:
        """What an invocation returns: the state that it came to, with what interrupted it."""
        last, interrupts = self._shown(self._last), self._interrupts
        if self._in_parts:
            return _OUTPUT(value=last, interrupts=tuple(interrupts))
        if not interrupts:
            return last
        return {**(last if isinstance(last, dict) else {}), _INTERRUPT: interrupts}

    def values(self) -> Mapping[str, Any]:
        """The state that it came to, with the updates of a step that is not complete yet."""
        found = dict(update_of(self._last))
        found.pop(_INTERRUPT, None)
        for update in self._since:
            for name, value in update.items():
                found[name] = reduced(self._graph.channels.get(name), found, name, value)
        return found

    def begun_with(self) -> Mapping[str, Any]:
        """The state before its first step; empty for a graph that does not tell."""
        return {} if self._first is None else values_of(self._first)

    def wrote(self, name: str) -> bool:
        """Whether it has set a key, be it to what the key was before."""
        if name in self._written:
            return True
        before, now = self.begun_with(), self.values()  # a step that is hidden tells of no updates
        return name in now and bool(name not in before or before[name] != now[name])

    def _note_values(self, value: Any, interrupts: Sequence[Any] | None) -> None:
        if self._first is None and not self._steps:
            self._first = value
        self._last, self._since = value, []
        if interrupts:
            self.interrupted = True
            self._interrupts.extend(interrupts)

    def _note_updates(self, value: Any) -> None:
        self._steps += 1
        if not isinstance(value, Mapping):
            return
        if _INTERRUPT in value:  # where it stops before or after a step, without an interrupt
            self.interrupted = True
            self._interrupts.extend(() if self._in_parts else value[_INTERRUPT])
        for update in _updates(value):
            self._since.append(update)
            self._written.update(self._set_by(update))

    def _set_by(self, update: Mapping[str, Any]) -> Iterator[str]:
        """The keys that a step has set; of a whole state that it hands on, those it changed."""
        before = {} if self._given.isdisjoint(update) else update_of(self._last)
        for name, value in update.items():
            if name not in before or _differs(before[name], value):
                yield name


def _updates(chunk: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The updates of some steps; of one that made several, each."""
    for step, given in chunk.items():
        if step != _INTERRUPT:
            found = given if isinstance(given, list) else [given]
            yield from (update for update in found if isinstance(update, Mapping))


def _differs(one: Any, other: Any) -> bool:
    """Whether two values are not the same; tables and arrays do not say, and count as others."""
    try:
        return bool(one != other)
    except Exception:  # noqa: BLE001 - values are foreign code
        return True


def reduced(channel: object, values: Mapping[str, Any], name: str, update: Any) -> Any:
    """What a key holds after an update, by the rule of its channel."""
    if not isinstance(channel, BaseChannel):
        return update
    try:
        there = name in values
        own = channel.from_checkpoint(copy.copy(values[name])) if there else channel.copy()
        own.update([update])
        return own.get()
    except Exception:  # noqa: BLE001 - channels are foreign code, and some keep more than a value
        return update

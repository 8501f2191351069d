"""What happens before and after an agent runs, and how it is read from states of any kind."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import Runnable
from langgraph.types import Command
from pydantic import BaseModel

from tradmem.errors import UsageError
from tradmem.memory import Memory
from tradmem.model import Rating
from tradmem.nodes import recall_node, record_node, resolve_node

logger = logging.getLogger("tradmem.plugin")
Key = str | Callable[[Mapping[str, Any]], Any]
_MESSAGES = "messages"
_NOTE_ID = "tradmem-past-context"
_RATINGS = {rating.lower() for rating in Rating}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What happens before and after an agent runs, and by which keys."""

    memory: Memory
    keys: Mapping[str, Key | None]
    decision: Key
    rating: Key
    past_context: str
    agent: str

    def fitted_to(self, graph: Runnable[Any, Any]) -> "Loop":
        """The same for a graph that can be asked what it takes and gives.

        Raises:
            UsageError: it takes no past, or gives no decision.
        """
        taken, given = _schemas(graph)
        if given is not None and isinstance(self.decision, str) and self.decision not in given:
            raise UsageError(
                f"the graph gives no {self.decision!r}; name the key of its decision with "
                f"decision=..., one of {', '.join(sorted(given))}"
            )
        if taken is None or self.past_context in taken:
            return self
        if _MESSAGES in taken:
            return replace(self, past_context=_MESSAGES)
        raise UsageError(
            f"the graph takes no {self.past_context!r} as input, so it would not see what is "
            "recalled; add that key to its state, or name one of its own with past_context=..."
        )

    def before(self, state: Any) -> Mapping[str, Any]:
        """Settle what is due, and recall."""
        values = _values_of(state)
        asked = {name: _get(values, key) for name, key in self.keys.items() if key is not None}
        if not asked.get("ticker"):
            raise UsageError(
                f"the state has no {self.keys['ticker']!r}; name the key of the ticker with "
                "ticker=..."
            )
        for notice in resolve_node(self.memory)(asked)["notices"]:
            logger.warning("%s", notice)
        return asked | recall_node(self.memory, query="query")(asked)

    def shown(self, state: Any, seen: Mapping[str, Any]) -> Any:
        """The state as the agent sees it."""
        name, text = self.past_context, seen["past_context"]
        if name == _MESSAGES:
            if not text:
                return state
            values = _values_of(state)
            messages = values.get(_MESSAGES, [])
            messages = messages if isinstance(messages, list) else [messages]
            return _changed(state, name, [SystemMessage(text, id=_NOTE_ID), *messages])
        return _changed(state, name, text)

    def after(self, state: Any, update: Mapping[str, Any], seen: Mapping[str, Any]) -> None:
        """Record the decision that the agent came to, if it came to one."""
        if isinstance(self.decision, str) and self.decision not in update:
            raise UsageError(
                f"the agent returned no {self.decision!r}; name the key of its decision with "
                "decision=..., or return None there for no decision"
            )
        text = _text_of(_get(update, self.decision))
        values = {**_values_of(state), **update}
        if not text.strip():
            logger.info("no decision on %s", _get(values, self.keys["ticker"] or ""))
            return
        rating = _get(update, self.rating)
        is_rating = isinstance(rating, str) and rating.lower() in _RATINGS
        found = record_node(self.memory, agent=self.agent)(
            {
                "ticker": _get(values, self.keys["ticker"] or ""),
                "date": _get(values, self.keys["date"] or ""),
                "decision": text,
                "rating": rating if is_rating else None,
                "recalled": seen["recalled"],
                "as_of": seen["as_of"],
            }
        )
        for notice in found["notices"]:
            logger.warning("%s", notice)

    def without_note(self, found: Any) -> Any:
        """What an agent returned, without the message that it was shown."""
        if self.past_context != _MESSAGES or not isinstance(found, Mapping):
            return found
        messages = found.get(_MESSAGES)
        if not isinstance(messages, list):
            return found
        return {**found, _MESSAGES: [m for m in messages if getattr(m, "id", "") != _NOTE_ID]}


def _schemas(graph: Runnable[Any, Any]) -> tuple[set[str] | None, set[str] | None]:
    """The keys that a graph takes and gives; None where it does not tell."""
    builder = getattr(graph, "builder", None)
    schemas = getattr(builder, "schemas", None)
    if not isinstance(schemas, Mapping):
        return None, None
    taken = schemas.get(getattr(builder, "input_schema", None))
    given = schemas.get(getattr(builder, "output_schema", None))
    return (set(taken) if taken else None), (set(given) if given else None)


def _get(values: Mapping[str, Any], key: Key) -> Any:
    return values.get(key) if isinstance(key, str) else key(values)


def _values_of(state: Any) -> Mapping[str, Any]:
    """A state of any kind as a mapping."""
    if isinstance(state, Mapping):
        return state
    if isinstance(state, BaseModel):
        return {name: getattr(state, name) for name in type(state).model_fields}
    if is_dataclass(state):
        return {field.name: getattr(state, field.name) for field in fields(state)}
    raise UsageError(f"a state is a mapping, a dataclass or a model, not {type(state).__name__}")


def _changed(state: Any, name: str, value: Any) -> Any:
    """A state with another value under a key."""
    if isinstance(state, Mapping):
        return {**state, name: value}
    if name not in _values_of(state):
        raise UsageError(
            f"{type(state).__name__} has no field {name!r} for what is recalled; add one, or name "
            "one with past_context=..."
        )
    if isinstance(state, BaseModel):
        return state.model_copy(update={name: value})
    return replace(state, **{name: value})


def update_of(result: Any) -> Mapping[str, Any]:
    """The keys that an agent sets by what it returned."""
    if isinstance(result, Command):
        result = result.update
    if isinstance(result, list | tuple):  # pairs of a key and a value, or several updates
        found: dict[str, Any] = {}
        for item in result:
            found.update([item] if isinstance(item, tuple) else update_of(item))
        return found
    return {} if result is None else _values_of(result)


def _text_of(decision: Any) -> str:
    """A decision as text; of messages, the last one's."""
    if isinstance(decision, list) and decision:
        decision = decision[-1]
    if isinstance(decision, BaseMessage):
        return decision.text
    return "" if decision is None else str(decision)

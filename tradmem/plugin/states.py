"""States of any kind that graphs have: mappings, models and dataclasses, as mappings."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_messages
from langgraph import types
from langgraph.types import Command
from pydantic import BaseModel

from tradmem.errors import UsageError

_OVERWRITE: Any = getattr(types, "Overwrite", ())  # what later versions set a reduced key by


def values_of(state: Any) -> Mapping[str, Any]:
    """A state as a mapping.

    Raises:
        UsageError: it is none of the kinds.
    """
    if isinstance(state, Mapping):
        return state
    if isinstance(state, BaseModel):
        return {name: getattr(state, name) for name in type(state).model_fields}
    if is_dataclass(state):
        return {field.name: getattr(state, field.name) for field in fields(state)}
    raise UsageError(f"a state is a mapping, a dataclass or a model, not {type(state).__name__}")


def changed(state: Any, name: str, value: Any) -> Any:
    """A state with another value under a key.

    Raises:
        UsageError: it cannot have that key.
    """
    if isinstance(state, Mapping):
        return {**state, name: value}
    if name not in values_of(state):
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
    return {} if result is None else values_of(result)


def text_of(decision: Any) -> str:
    """A decision as text; of messages, the last one's."""
    if isinstance(decision, _OVERWRITE):
        decision = decision.value
    if isinstance(decision, list) and decision:
        decision = decision[-1]
    if _is_message(decision):
        (decision,) = convert_to_messages([decision])
    if isinstance(decision, BaseMessage):
        return str(decision.text)
    return "" if decision is None else str(decision)


def _is_message(value: Any) -> bool:
    """Whether a node wrote a message in one of the short forms."""
    if isinstance(value, tuple):
        return len(value) == 2 and all(isinstance(part, str) for part in value)
    return isinstance(value, dict) and {"role", "content"} <= set(value)


class Read(dict[str, Any]):
    """A state that notes which of its keys are read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """See :meth:`dict.get`."""
        self.names.add(name)
        return super().get(name, default)

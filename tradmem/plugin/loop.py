"""What happens before and after an agent runs, and how it is read from states of any kind."""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage, SystemMessage
from langchain_core.runnables import Runnable

from tradmem.errors import UsageError
from tradmem.memory import Memory
from tradmem.model import Rating
from tradmem.nodes import recall_node, record_node, resolve_node
from tradmem.plugin.states import changed, text_of, update_of, values_of

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

    @property
    def answers(self) -> Mapping[str, Key]:
        """What it reads from what a graph came to, and by which keys."""
        return {"decision": self.decision, "rating": self.rating}

    @property
    def given(self) -> frozenset[str]:
        """The keys that an agent reads and has no cause to set."""
        ticker = self.keys["ticker"]
        return self.replaced | {ticker} if isinstance(ticker, str) else self.replaced

    @property
    def replaced(self) -> frozenset[str]:
        """The key whose former value what is recalled takes the place of."""
        return frozenset({self.past_context} - {_MESSAGES})

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
        values = values_of(state)
        asked = {name: _get(values, key) for name, key in self.keys.items() if key is not None}
        if not asked.get("ticker"):
            raise UsageError(
                f"the state has no {self.keys['ticker']!r}; name the key of the ticker with "
                "ticker=..."
            )
        for notice in resolve_node(self.memory)(asked)["notices"]:
            logger.warning("%s", notice)
        return asked | recall_node(self.memory, query="query", agent=self.agent)(asked)

    def shown(self, state: Any, seen: Mapping[str, Any], *, is_stale: bool = False) -> Any:
        """The state as the agent sees it.

        Args:
            state: as it was handed in.
            seen: what :meth:`before` found.
            is_stale: whether the agent still has the message of an earlier run.
        """
        name, text = self.past_context, seen["past_context"]
        if name != _MESSAGES:
            return changed(state, name, text)
        if not text and not is_stale:
            return state
        messages = values_of(state).get(_MESSAGES, [])
        messages = messages if isinstance(messages, list) else [messages]
        note = SystemMessage(text, id=_NOTE_ID) if text else RemoveMessage(_NOTE_ID)
        return changed(state, name, [note, *messages])

    def has_note(self, state: Any) -> bool:
        """Whether the message of a run is in a state."""
        return self.past_context == _MESSAGES and any(
            map(_is_note, values_of(state).get(_MESSAGES) or ())
        )

    def after(
        self,
        state: Any,
        update: Mapping[str, Any],
        seen: Mapping[str, Any],
        *,
        is_made: bool = True,
    ) -> None:
        """Record the decision that the agent came to, if it came to one.

        Args:
            state: what it began with.
            update: what it returned.
            seen: what :meth:`before` found.
            is_made: whether what it returned is its own, and not of an earlier run.
        """
        if isinstance(self.decision, str) and self.decision not in update:
            raise UsageError(
                f"the agent returned no {self.decision!r}; name the key of its decision with "
                "decision=..., or return None there for no decision"
            )
        text = self.text(update)
        values = {**values_of(state), **update}
        ticker = self._named("ticker", values, seen)
        if not (is_made and text.strip()):
            logger.info("no decision on %s", ticker)
            return
        rating = _get(update, self.rating)
        is_rating = isinstance(rating, str) and rating.lower() in _RATINGS
        found = record_node(self.memory, agent=self.agent)(
            {
                "ticker": ticker,
                "date": self._named("date", values, seen),
                "decision": text,
                "rating": rating if is_rating else None,
                "recalled": seen["recalled"],
                "as_of": seen["as_of"],
                "withheld": seen["withheld"],
            }
        )
        for notice in found["notices"]:
            logger.warning("%s", notice)

    def returned(self, result: Any) -> Mapping[str, Any]:
        """The keys that an agent sets; a text or a message that it returns is its decision."""
        if isinstance(self.decision, str) and isinstance(result, str | BaseMessage):
            is_key = isinstance(result, BaseMessage) and self.decision in values_of(result)
            return values_of(result) if is_key else {self.decision: text_of(result)}
        return update_of(result)

    def _named(self, name: str, values: Mapping[str, Any], seen: Mapping[str, Any]) -> Any:
        """What a state says, or else what the one said that the agent began with."""
        found = None
        with suppress(Exception):  # it was written for what an agent begins with
            found = _get(values, self.keys[name] or "")
        return found or seen.get(name)

    def text(self, update: Mapping[str, Any]) -> str:
        """The decision that an update holds; empty for none."""
        return text_of(_get(update, self.decision))

    def without_note(self, found: Any) -> Any:
        """What an agent returned, without the message that it was shown."""
        if self.past_context != _MESSAGES:
            return found
        try:
            messages = values_of(found).get(_MESSAGES)
        except UsageError:
            return found
        if not isinstance(messages, list) or not any(map(_is_note, messages)):
            return found
        return changed(found, _MESSAGES, [m for m in messages if not _is_note(m)])


def _is_note(message: object) -> bool:
    return getattr(message, "id", "") == _NOTE_ID


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

"""Who decides in a replay: a function, a graph that decides, or a graph that also records."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tradmem.clock import format_instant
from tradmem.errors import UsageError
from tradmem.memory import Memory
from tradmem.model import Entry, Rating
from tradmem.policies import Call
from tradmem.study.moment import Moment

Asked = Callable[[Moment], Call | None]
_DECIDED_AS = ("decision", "final_trade_decision")  # where a graph says its decision
_SHOWN = 60


class Driven(NamedTuple):
    """What came of a graph that was handed one decision.

    Attributes:
        entry: what it recorded itself; None if it did not.
        call: what it decided, where it recorded nothing; None if it decided nothing.
    """

    entry: Entry | None
    call: Call | None


def _says_something(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())


def as_call(decided: object) -> Call | None:
    """What a function returned, as a call; None for no decision.

    Raises:
        UsageError: it is neither a call, nor a rating, nor a text.
    """
    if decided is None:
        return None
    if isinstance(decided, Rating):
        return Call(decided, f"**Rating**: {decided}")
    call = Call(None, decided) if isinstance(decided, str) else decided
    if isinstance(call, Call) and isinstance(call.extra, Mapping) and _says_something(call.text):
        return call
    raise UsageError(
        f"decide returned {str(decided)[:_SHOWN]!r}; it has to return a Call, a rating, a text "
        "or None"
    )


def is_graph(decide: object) -> bool:
    """Whether something is a compiled graph rather than a function."""
    return callable(getattr(decide, "invoke", None))


def is_decider(decide: object) -> bool:
    """Whether something can decide at all."""
    return is_graph(decide) or callable(decide)


class Graph:
    """A compiled graph, handed one decision at a time.

    Args:
        compiled: the graph.
        memory: what it opens when it opens the memory without naming a log.
    """

    def __init__(self, compiled: Any, memory: Memory) -> None:
        if not is_graph(compiled):
            raise UsageError(f"{type(compiled).__name__} is no compiled graph; it has no invoke")
        self._compiled = compiled
        self._memory = memory

    def drive(self, moment: Moment) -> Driven:
        """Let the graph make one decision."""
        find = self._memory.journal.find
        before = {entry.id for entry in find(moment.date, moment.ticker)}
        with self._memory.handed_out():
            state = self._compiled.invoke(
                {
                    "ticker": moment.ticker,
                    "date": moment.date.isoformat(),
                    "past_context": moment.memory,
                    "recalled": [entry.id for entry in moment.memories],
                    "as_of": format_instant(moment.as_of),
                }
            )
        after = find(moment.date, moment.ticker)
        fresh = [entry for entry in after if entry.id not in before]
        return Driven(fresh[-1], None) if fresh else Driven(None, _said(state))


def _said(state: Any) -> Call | None:
    """The decision that a graph left in its state.

    Raises:
        UsageError: there is none.
    """
    said = state if isinstance(state, Mapping) else {}
    text = next((str(said[key]) for key in _DECIDED_AS if said.get(key)), "")
    if not text:
        raise UsageError(
            f"the graph left no decision: it recorded none, and its state has none of "
            f"{', '.join(_DECIDED_AS)}"
        )
    extra = said.get("decision_extra")
    return Call(
        said.get("rating") or None,
        text,
        tuple(said.get("cited") or ()),
        extra if isinstance(extra, Mapping) else {},
    )

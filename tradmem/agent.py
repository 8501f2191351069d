"""The reference agent: a LangGraph graph that decides with a memory.

    resolve -> recall -> analyse -> decide -> record

It is as small as an agent can be, so that it can be read as an example: the nodes of
:mod:`tradmem.nodes` around a brief and a policy. A policy of your own is one function.
"""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NotRequired

from tradmem.briefing import Brief, Move, brief
from tradmem.clock import parse_instant, system_clock
from tradmem.errors import UsageError
from tradmem.lessons.exchanges import exchanges_beside
from tradmem.lessons.hits import track_of
from tradmem.memory import Memory
from tradmem.model_policy import model_policy
from tradmem.model_settings import is_set_up
from tradmem.nodes import (
    Node,
    State,
    decision_date,
    recall_node,
    record_node,
    required,
    resolve_node,
)
from tradmem.policies import Call, Policy, Situation, momentum_policy
from tradmem.tickers import check_ticker

if sys.version_info >= (3, 12):
    from typing import TypedDict
else:  # a server asks pydantic for the schema of the state, which refuses the older one
    from typing_extensions import TypedDict

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

__all__ = [
    "AgentInput",
    "AgentState",
    "Brief",
    "Call",
    "Move",
    "Policy",
    "Situation",
    "brief",
    "build_graph",
    "default_policy",
    "model_policy",
    "momentum_policy",
]


class AgentInput(TypedDict):
    """What a run starts from.

    Attributes:
        ticker: in any case.
        date: of the decision, ISO, in the zone of the ticker's exchange; today by default.
            A checkpointer keeps it with the thread: there, hand it in each time or never.
    """

    ticker: str
    date: NotRequired[str]


class AgentState(TypedDict, total=False):
    """Everything that a run puts together: JSON values only, one key per step's result.

    Attributes:
        ticker: in any case.
        date: as it was handed in.
        resolved: ids of the decisions that were given an outcome in this run.
        notices: one line for whatever a person should hear of.
        past_context: what was recalled, for a prompt; empty when there is nothing.
        recalled: ids of what it shows.
        withheld: ids that a hold-out kept from it; None where the settings have none.
        as_of: the instant that the recall and the brief look from, ISO, UTC.
        analysis: the brief as text.
        brief: its figures, see :meth:`tradmem.briefing.Brief.to_json`.
        decision: the text of the decision.
        rating: one of the five; None where the text is to tell.
        cited: ids of the memories that the decision took something from.
        decision_extra: what else is kept with it.
        entry_id: of the entry that stands in the log.
        status: ``recorded``, ``unchanged``, ``kept`` or ``revised``.
    """

    ticker: str
    date: str
    resolved: list[str]
    notices: list[str]
    past_context: str
    recalled: list[str]
    withheld: list[str] | None
    as_of: str
    analysis: str
    brief: dict[str, Any]
    decision: str
    rating: str | None
    cited: list[str]
    decision_extra: dict[str, Any]
    entry_id: str
    status: str


def build_graph(
    memory: Memory,
    decide: Policy | None = None,
    checkpointer: Any = None,
    *,
    agent: str = "",
) -> "CompiledStateGraph[AgentState, None, AgentInput, AgentState]":
    """The agent, compiled.

    Args:
        memory: what it remembers with; its clock, prices and settings hold for all nodes.
        decide: the policy; :func:`default_policy` by default.
        checkpointer: LangGraph's; none by default, since a server brings its own.
        agent: the name under which decisions are recorded.
    """
    from langgraph.graph import END, START, StateGraph  # noqa: PLC0415 - takes a second to load

    graph = StateGraph(AgentState, input_schema=AgentInput)
    nodes: dict[str, Node] = {
        "resolve": resolve_node(memory),
        "recall": recall_node(memory, agent=agent),
        "analyse": analyse_node(memory),
        "decide": decide_node(memory, decide or default_policy(memory), agent=agent),
        "record": record_node(memory, agent=agent),
    }
    before = START
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph.compile(checkpointer=checkpointer, name="tradmem")


def default_policy(memory: Memory | None = None) -> Policy:
    """A language model where a key or a server for one is set, else :func:`momentum_policy`.

    Args:
        memory: beside whose log, if that is a file, is kept what a model is asked and
            answers, by its clock.

    Raises:
        UsageError: one is set but no model is named, or a setting cannot be.
    """
    if not is_set_up():
        return momentum_policy
    path = getattr(memory.journal, "path", None) if memory else None
    exchanges = exchanges_beside(path) if path else None
    return model_policy(exchanges=exchanges, clock=memory.clock if memory else system_clock)


def analyse_node(memory: Memory) -> Node:
    """A node that looks at the closes that were final at the recall's instant."""

    def analyse(state: State) -> dict[str, Any]:
        seen = brief(
            check_ticker(required(state, "ticker")),
            memory.prices,
            parse_instant(required(state, "as_of")),
            benchmarks=memory.settings.benchmark,
            aliases=memory.settings.aliases,
        )
        return {"analysis": str(seen), "brief": seen.to_json()}

    return analyse


def decide_node(memory: Memory, policy: Policy, *, agent: str = "") -> Node:
    """A node that puts the situation before a policy."""

    def decide(state: State) -> dict[str, Any]:
        call = _as_call(policy(situation(memory, state, agent=agent)))
        rating = None if call.rating is None else str(call.rating)
        return {
            "decision": call.text,
            "rating": rating,
            "cited": list(call.cited),
            "decision_extra": dict(call.extra),
        }

    return decide


def situation(memory: Memory, state: State, *, agent: str = "") -> Situation:
    """What a policy gets to see, from a state that was recalled for and analysed."""
    ticker, then = check_ticker(required(state, "ticker")), required(state, "as_of")
    as_of = parse_instant(then)
    found = (memory.journal.get(name) for name in required(state, "recalled"))
    return Situation(
        ticker=ticker,
        date=decision_date(memory, ticker, state.get("date"), then),
        as_of=as_of,
        horizon=memory.settings.horizons[0],
        brief=Brief.from_json(required(state, "brief")),
        memory=required(state, "past_context"),
        memories=tuple(stood for entry in found if entry and (stood := entry.at(as_of))),
        track=track_of(memory.journal, ticker, as_of),
        agent=agent,
    )


def _as_call(decided: Call | str) -> Call:
    call = Call(None, decided) if isinstance(decided, str) else decided
    is_call = isinstance(call, Call) and isinstance(call.extra, Mapping)
    if not (is_call and isinstance(call.text, str) and call.text.strip()):
        raise UsageError(
            f"the policy returned {str(decided)[:60]!r}; it has to return a Call or a text"
        )
    return call

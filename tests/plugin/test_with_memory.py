"""An agent that is there already gains a memory by one line."""

import asyncio
import functools
import inspect
import operator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from tests.plugin.graph_world import BUY
from tests.plugin.plugin_world import LATER, World
from tradmem.errors import UsageError
from tradmem.model import Status
from tradmem.plugin.graphs import with_memory


class State(TypedDict, total=False):
    ticker: str
    date: str
    decision: str
    past_context: str
    log: Annotated[list[str], operator.add]


def decide(state: State) -> dict[str, Any]:
    seen = state["past_context"]
    return {"decision": f"**Rating**: Buy\n\n{len(seen)} characters seen.", "log": ["decided"]}


def compiled(node, schema=State, **options):
    compile_options = {k: options.pop(k) for k in ("checkpointer",) if k in options}
    graph = StateGraph(schema, **options).add_node("decide", node)
    return graph.add_edge(START, "decide").add_edge("decide", END).compile(**compile_options)


def entries(world):
    return world.memory.entries()


@pytest.mark.parametrize("where", ["function", "node", "graph"])
def test_the_second_decision_sees_what_became_of_the_first(where):
    world = World()
    agent = {
        "function": lambda: with_memory(decide, world.memory),
        "node": lambda: compiled(with_memory(decide, world.memory)).invoke,
        "graph": lambda: with_memory(compiled(decide), world.memory).invoke,
    }[where]()
    first = agent({"ticker": "NVDA"})
    assert "0 characters seen." in first["decision"]
    world.go(LATER)
    second = agent({"ticker": "NVDA"})
    assert "0 characters seen." not in second["decision"]
    (one, other) = entries(world)
    assert one.status is Status.RESOLVED
    assert other.recalled == (one.id,)
    assert other.recorded.recalled_as_of == LATER


def test_the_state_of_a_graph_holds_its_own_keys_and_nothing_of_the_memorys():
    world = World()
    app = with_memory(compiled(decide), world.memory)
    found = app.invoke({"ticker": "NVDA", "log": ["begun"]})
    assert set(found) == {"ticker", "decision", "past_context", "log"}
    assert found["log"] == ["begun", "decided"]  # once each, whatever reduces them
    node = compiled(with_memory(decide, world.memory))
    assert set(node.invoke({"ticker": "NVDA"})) == {"ticker", "decision", "log"}


def test_a_wrapped_node_is_handed_what_the_node_asks_for():
    """LangGraph looks at a node's signature for what else to hand it."""
    world, got = World(), {}

    def node(state: State, config, *, store=None) -> dict[str, Any]:
        got.update(config["configurable"])
        return {"decision": "**Rating**: Sell"}

    wrapped = with_memory(node, world.memory, agent="desk")
    assert inspect.signature(wrapped) == inspect.signature(node)
    compiled(wrapped).invoke({"ticker": "NVDA"}, {"configurable": {"who": "me"}})
    assert got["who"] == "me"
    assert (entries(world)[0].agent, entries(world)[0].rating) == ("desk", "Sell")


def test_an_async_node_and_an_async_graph_remember():
    world = World()

    async def slow(state: State) -> dict[str, Any]:
        await asyncio.sleep(0)
        return decide(state)

    assert inspect.iscoroutinefunction(with_memory(slow, world.memory))

    async def run():
        await compiled(with_memory(slow, world.memory)).ainvoke({"ticker": "NVDA"})
        await with_memory(compiled(slow), world.memory).ainvoke({"ticker": "AAPL"})

    asyncio.run(run())
    assert {entry.ticker for entry in entries(world)} == {"NVDA", "AAPL"}


class Caller:
    def __call__(self, state: State) -> dict[str, Any]:
        return decide(state)


@pytest.mark.parametrize(
    "node",
    [Caller(), functools.partial(lambda extra, state: decide(state), "x"), Caller().__call__],
    ids=["object", "partial", "method"],
)
def test_any_callable_can_be_wrapped(node):
    world = World()
    with_memory(node, world.memory)({"ticker": "NVDA"})
    assert len(entries(world)) == 1


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (None, [{"decide"}]),
        ("updates", [{"decide"}]),
        (
            "values",
            [{"ticker", "past_context", "log"}, {"ticker", "past_context", "log", "decision"}],
        ),
        (["updates"], ["updates"]),
        (["values", "updates"], ["values", "updates", "values"]),
    ],
)
def test_a_stream_is_what_it_would_be_without_and_is_recorded(mode, expected):
    world = World()
    options = {"stream_mode": mode} if mode else {}
    given = {"ticker": "NVDA", "past_context": ""}
    chunks = list(with_memory(compiled(decide), world.memory).stream(given, **options))
    assert chunks == list(compiled(decide).stream(given, **options))
    assert [c[0] if isinstance(c, tuple) else set(c) for c in chunks] == expected
    assert len(entries(world)) == 1

    async def run():
        app = with_memory(compiled(decide), World().memory)
        return [chunk async for chunk in app.astream(given, **options)]

    assert asyncio.run(run()) == chunks


def ways(graph, given, **options):
    """Whatever can be asked of a graph in one way, asked in each of the four."""

    async def collected():
        return [chunk async for chunk in graph.astream(given, **options)]

    return {
        "invoke": lambda: graph.invoke(given, **options),
        "ainvoke": lambda: asyncio.run(graph.ainvoke(given, **options)),
        "stream": lambda: list(graph.stream(given, **options)),
        "astream": lambda: asyncio.run(collected()),
    }


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
@pytest.mark.parametrize(
    "options",
    [
        {"stream_mode": "updates"},
        {"stream_mode": ["updates", "values"]},
        {"output_keys": ["decision"]},
        {"version": "v2"},
        {"version": "v2", "stream_mode": "updates"},
        {"version": "v2", "stream_mode": ["values", "updates"], "subgraphs": True},
    ],
    ids=str,
)
def test_it_answers_as_the_graph_in_it_in_every_form_and_is_recorded(way, options):
    world = World()
    given = {"ticker": "NVDA", "past_context": ""}
    plain = ways(compiled(decide), given, **options)[way]()
    assert ways(with_memory(compiled(decide), world.memory), given, **options)[way]() == plain
    assert [entry.rating for entry in entries(world)] == ["Buy"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
@pytest.mark.parametrize("keys", ["decision", ["ticker"], []])
def test_keys_without_the_decision_are_refused_before_the_graph_runs(way, keys):
    world, ran = World(), []
    agent = with_memory(compiled(lambda state: ran.append(1) or decide(state)), world.memory)
    with pytest.raises(UsageError, match="the key of the decision"):
        ways(agent, {"ticker": "NVDA"}, output_keys=keys)[way]()
    assert ran == []


@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_an_interrupt_in_the_later_form_is_no_end(way):
    def ask(state: State) -> dict[str, Any]:
        return {"decision": f"**Rating**: {interrupt('which?')}"}

    world = World()
    agent = with_memory(compiled(ask, checkpointer=InMemorySaver()), world.memory)
    options = {"config": {"configurable": {"thread_id": "1"}}, "version": "v2"}
    ways(agent, {"ticker": "NVDA"}, **options)[way]()
    assert entries(world) == []
    ways(agent, Command(resume="Sell"), **options)[way]()
    assert [entry.rating for entry in entries(world)] == ["Sell"]


def test_an_interrupted_graph_is_recorded_when_it_ends_with_what_it_was_shown_before():
    world = World().taught()

    def asking(state: State) -> dict[str, Any]:
        return {"decision": f"**Rating**: {interrupt('Which?')}"}

    app = with_memory(compiled(asking, checkpointer=InMemorySaver()), world.memory)
    config = {"configurable": {"thread_id": "1"}, "metadata": {"mine": 1}}
    app.invoke({"ticker": "NVDA"}, config)
    assert len(entries(world)) == 2
    shown = world.now
    world.wait(minutes=10)
    app.invoke(Command(resume="Sell"), config)
    entry = entries(world)[-1]
    assert (entry.rating, entry.recorded.recalled_as_of) == ("Sell", shown)
    assert len(entry.recalled) == 2
    assert app.get_state(config).metadata["mine"] == 1  # the graph's own methods are there


def test_messages_are_shown_the_past_and_return_without_it():
    world = World().taught()
    asked = []

    def chat(state: MessagesState) -> dict[str, Any]:
        asked.append([message.type for message in state["messages"]])
        return {"messages": [AIMessage("**Rating**: Hold")]}

    app = with_memory(
        compiled(chat, MessagesState), world.memory, ticker=lambda _: "NVDA", decision="messages"
    )
    found = app.invoke({"messages": [("user", "NVDA?")]})
    assert asked == [["system", "human"]]
    assert [message.type for message in found["messages"]] == ["human", "ai"]
    assert (entries(world)[-1].ticker, entries(world)[-1].rating) == ("NVDA", "Hold")


class Model(BaseModel):
    ticker: str
    past_context: str = ""
    final: str = ""


@dataclass
class Plain:
    ticker: str
    past_context: str = ""
    final: str = ""


@pytest.mark.parametrize("schema", [Model, Plain])
def test_states_that_are_no_mappings_are_read_and_shown_the_past(schema):
    world = World().taught()
    seen = []

    def node(state):
        seen.append(state.past_context)
        return {"final": "**Rating**: Hold", "rating": 7}

    wrapped = with_memory(node, world.memory, decision="final")
    wrapped(schema(ticker="NVDA"))
    assert "The Buy on NVDA" in seen[0]
    assert entries(world)[-1].rating == "Hold"


def test_commands_and_lists_of_updates_are_read_too():
    world = World()
    for ticker, result in {
        "NVDA": Command(update={"decision": "**Rating**: Buy"}, goto=END),
        "AAPL": [("decision", "**Rating**: Buy")],
        "SPY": [{"x": 1}, Command(update={"decision": "**Rating**: Buy"})],
    }.items():
        assert with_memory(lambda _, r=result: r, world.memory)({"ticker": ticker}) is result
    assert sorted(entry.ticker for entry in entries(world)) == ["AAPL", "NVDA", "SPY"]


def test_no_decision_is_no_entry():
    world = World()
    with_memory(lambda _: {"decision": None}, world.memory)({"ticker": "NVDA"})
    assert entries(world) == []


@pytest.mark.parametrize(
    ("agent", "options", "told"),
    [
        (lambda: compiled(decide), {"decision": "final"}, "the graph gives no 'final'"),
        (lambda: compiled(decide), {"past_context": "memory"}, "takes no 'memory' as input"),
        (
            lambda: compiled(decide, input_schema=TypedDict("In", {"ticker": str})),
            {},
            "takes no 'past_context' as input",
        ),
        (lambda: "agent", {}, "str is no agent"),
    ],
)
def test_a_graph_that_would_not_see_or_say_anything_is_refused_at_the_start(agent, options, told):
    with pytest.raises(UsageError, match=told):
        with_memory(agent(), World().memory, **options)


def test_a_wrong_key_is_told_when_it_is_noticed():
    world = World()
    with pytest.raises(UsageError, match="the state has no 'ticker'"):
        with_memory(decide, world.memory)({"symbol": "NVDA"})
    with pytest.raises(UsageError, match="returned no 'decision'"):
        with_memory(lambda _: {"final": "x"}, world.memory)({"ticker": "NVDA"})
    with pytest.raises(UsageError, match="has no field 'past_context'"):
        with_memory(decide, world.memory)(
            dataclass(type("S", (), {"__annotations__": {"ticker": str}}))("NVDA")
        )
    assert entries(world) == []


def test_a_failing_agent_records_nothing_and_its_error_is_its_own():
    world = World()
    with pytest.raises(ZeroDivisionError):
        with_memory(lambda _: 1 / 0, world.memory)({"ticker": "NVDA"})
    assert entries(world) == []


def test_the_date_of_the_state_is_the_decisions():
    world = World().go(datetime(2026, 1, 8, 15, tzinfo=UTC))
    with_memory(decide, world.memory)({"ticker": "NVDA", "date": "2026-01-05"})
    assert entries(world)[0].date.isoformat() == "2026-01-05"


@pytest.mark.parametrize("parser", [None, StrOutputParser()], ids=["message", "text"])
def test_a_chain_that_returns_a_text_has_decided_that_text(parser):
    prompt = ChatPromptTemplate.from_template("{ticker}: {past_context}")
    chain = prompt | FakeListChatModel(responses=[BUY])
    world = World()
    app = with_memory(chain | parser if parser else chain, world.memory)
    found = [app.invoke({"ticker": "NVDA"}), *app.stream({"ticker": "AAPL"})]
    assert [each if parser else each.content for each in found] == [BUY, BUY]
    asyncio.run(app.ainvoke({"ticker": "MSFT"}))
    with_memory(lambda state: BUY, world.memory)({"ticker": "AMD"})
    assert [entry.decision for entry in world.memory.entries()] == [BUY] * 4


def test_a_message_can_be_asked_for_a_part_of_it_by_its_name():
    world = World()
    model = RunnableLambda(lambda state: AIMessage(BUY, name="desk"))
    with_memory(model, world.memory, decision="content").invoke({"ticker": "NVDA"})
    assert [entry.decision for entry in world.memory.entries()] == [BUY]

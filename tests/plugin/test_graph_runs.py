"""Runs that stop, go on, pass a decision over or are steps of others, with a memory around them."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Overwrite, RetryPolicy, interrupt
from typing_extensions import TypedDict

from tests.plugin.graph_world import BUY, State, decide, in_line, publish, think
from tests.plugin.plugin_world import World
from tradmem.errors import UsageError
from tradmem.memory import Memory
from tradmem.plugin.graphs import with_memory
from tradmem.settings import Settings

THREAD = {"configurable": {"thread_id": "1"}}


def ways(graph):
    """To run a graph to its end: each of the four."""

    async def collected(given, config):
        return [chunk async for chunk in graph.astream(given, config)]

    return {
        "invoke": graph.invoke,
        "ainvoke": lambda given, config=None: asyncio.run(graph.ainvoke(given, config)),
        "stream": lambda given, config=None: list(graph.stream(given, config)),
        "astream": lambda given, config=None: asyncio.run(collected(given, config)),
    }


WAYS = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])


def kept(world):
    return [(entry.ticker, entry.rating) for entry in world.memory.entries()]


@WAYS
def test_what_was_decided_in_a_thread_before_is_not_decided_again_by_a_run_that_passes(way):
    def turn(state: State) -> dict[str, Any]:
        return {} if state["ticker"] == "AAPL" else {"decision": BUY, "rating": "Sell"}

    world = World()
    run = ways(with_memory(in_line(turn, checkpointer=InMemorySaver()), world.memory))[way]
    run({"ticker": "NVDA"}, THREAD)
    run({"ticker": "AAPL"}, THREAD)
    run({"ticker": "MSFT"}, THREAD)  # the same words, decided anew
    assert kept(world) == [("NVDA", "Sell"), ("MSFT", "Sell")]


@WAYS
def test_a_rating_of_an_earlier_run_is_not_that_of_a_later_decision(way):
    def turn(state: State) -> dict[str, Any]:
        return {"decision": BUY} | ({"rating": "Sell"} if state["ticker"] == "NVDA" else {})

    world = World()
    run = ways(with_memory(in_line(turn, checkpointer=InMemorySaver()), world.memory))[way]
    run({"ticker": "NVDA"}, THREAD)
    run({"ticker": "AAPL"}, THREAD)
    assert kept(world) == [("NVDA", "Sell"), ("AAPL", "Buy")]


@WAYS
def test_a_decision_of_a_step_that_is_hidden_from_streams_is_recorded(way):
    world = World()
    hidden = RunnableLambda(decide).with_config(tags=["langsmith:hidden"])
    graph = StateGraph(State).add_node("decide", hidden)
    app = with_memory(graph.add_edge(START, "decide").compile(), world.memory)
    ways(app)[way]({"ticker": "NVDA"})
    assert kept(world) == [("NVDA", "Buy")]


@WAYS
@pytest.mark.parametrize("stop", ["interrupt_before", "interrupt_after"])
def test_a_stop_that_the_graph_was_compiled_with_is_no_end(way, stop):
    world = World().taught()
    node = {"interrupt_before": "publish", "interrupt_after": "decide"}[stop]
    graph = in_line(decide, publish, checkpointer=InMemorySaver(), **{stop: [node]})
    app = with_memory(graph, world.memory)
    shown = world.now
    ways(app)[way]({"ticker": "NVDA"}, THREAD)
    assert len(kept(world)) == 2
    app.update_state(THREAD, {"decision": "**Rating**: Sell\n\nOn second thoughts."})
    world.wait(minutes=10)
    ways(app)[way](None, THREAD)
    *_, entry = world.memory.entries()
    assert (entry.rating, len(entry.recalled)) == ("Sell", 2)
    assert entry.recorded.recalled_as_of == shown


@WAYS
def test_an_interrupt_beside_a_step_that_has_decided_is_no_end(way):
    def ask(state: State) -> dict[str, Any]:
        return {"rating": interrupt("sure?")}

    world = World()
    graph = StateGraph(State).add_node("decide", decide).add_node("ask", ask)
    graph = graph.add_edge(START, "decide").add_edge(START, "ask")
    app = with_memory(graph.compile(checkpointer=InMemorySaver()), world.memory)
    ways(app)[way]({"ticker": "NVDA"}, THREAD)
    assert kept(world) == []
    ways(app)[way](Command(resume="Sell"), THREAD)
    assert kept(world) == [("NVDA", "Sell")]


@WAYS
def test_a_run_that_goes_on_knows_its_ticker_although_its_output_does_not_name_it(way):
    class Out(TypedDict):
        decision: str

    def ask(state: State) -> dict[str, Any]:
        return {"decision": f"**Rating**: {interrupt('which?')}"}

    world = World()
    graph = in_line(ask, options={"output_schema": Out}, checkpointer=InMemorySaver())
    app = with_memory(graph, world.memory)
    ways(app)[way]({"ticker": "NVDA"}, THREAD)
    ways(app)[way](Command(resume="Sell"), THREAD)
    assert kept(world) == [("NVDA", "Sell")]


@WAYS
@pytest.mark.parametrize("ticker", ["ticker", lambda state: state["ticker"]], ids=["key", "call"])
def test_a_function_that_is_a_graph_keeps_no_state_and_its_run_goes_on_all_the_same(way, ticker):
    @entrypoint(checkpointer=InMemorySaver())
    def agent(state):
        return {"decision": f"**Rating**: {interrupt(len(state['past_context']))}"}

    world = World().taught()
    app = with_memory(agent, world.memory, ticker=ticker)
    ways(app)[way]({"ticker": "NVDA", "date": "2026-01-12"}, THREAD)
    assert len(kept(world)) == 2
    ways(app)[way](Command(resume="Sell"), THREAD)
    entry = next(e for e in world.memory.entries() if e.rating == "Sell" and e.ticker == "NVDA")
    assert entry.date.isoformat() == "2026-01-12"


@WAYS
@pytest.mark.parametrize("stopped", [False, True], ids=["at once", "after a stop"])
def test_a_decision_names_what_a_lot_kept_from_it(way, stopped):
    world = World().taught()
    settings = Settings(holdout=0.999999, embeddings="none")
    memory = Memory(world.memory.journal, settings=settings, clock=world.clock)
    stops = {"interrupt_before": ["publish"]} if stopped else {}
    graph = in_line(decide, publish, checkpointer=InMemorySaver(), **stops)
    app = with_memory(graph, memory, agent="desk")
    ways(app)[way]({"ticker": "NVDA"}, THREAD)
    if stopped:
        ways(app)[way](None, THREAD)
    *_, entry = memory.entries()
    assert (entry.recalled, len(entry.withheld)) == ((), 2)
    assert entry.recorded.holdout == settings.holdout


def test_an_agent_whose_name_cannot_be_is_refused_before_it_runs():
    with pytest.raises(UsageError, match="is no name of an agent"):
        with_memory(decide, World().memory, agent="a|b")


@pytest.mark.parametrize("mode", ["values", ["values"]])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_messages_are_streamed_without_the_one_that_shows_the_past(mode, version):
    def chat(state: MessagesState) -> dict[str, Any]:
        assert state["messages"][0].type == "system"
        return {"messages": [AIMessage("**Rating**: Hold")]}

    world = World().taught()
    app = with_memory(
        in_line(chat, schema=MessagesState),
        world.memory,
        ticker=lambda _: "NVDA",
        decision="messages",
    )
    chunks = list(app.stream({"messages": [("user", "?")]}, stream_mode=mode, version=version))
    assert chunks
    assert "SystemMessage" not in str(chunks)


def test_a_thread_is_not_shown_the_past_of_another_ticker():
    """Its messages keep the one of the run before, which goes where there is nothing to show."""
    asked = []

    class Asked(MessagesState):
        ticker: str

    def chat(state: Asked) -> dict[str, Any]:
        asked.append("The Buy on NVDA" in str(state["messages"]))
        return {"messages": [AIMessage("**Rating**: Hold")]}

    world = World()
    world.decide()
    graph = in_line(chat, schema=Asked, checkpointer=InMemorySaver())
    app = with_memory(graph, world.memory, decision="messages")
    given = {"messages": [("user", "?")]}
    world.taught()
    app.invoke({**given, "ticker": "NVDA"}, THREAD)
    for entry in world.memory.entries():
        world.memory.forget(entry.id, reason="none of it holds")
    app.invoke({**given, "ticker": "TSM"}, THREAD)
    app.invoke({**given, "ticker": "TSM"}, THREAD)
    assert asked == [True, False, False]


def test_a_message_in_a_short_form_is_read_as_the_message_that_it_stands_for():
    world = World()
    forms = {
        "NVDA": [("ai", "**Rating**: Sell")],
        "AAPL": {"role": "assistant", "content": "**Rating**: Sell"},
        "MSFT": ("ai", "**Rating**: Sell"),
        "AMD": Overwrite([("ai", "**Rating**: Sell")]),
    }
    for ticker, form in forms.items():
        node = with_memory(lambda _, f=form: {"messages": f}, world.memory, decision="messages")
        node({"ticker": ticker})
    assert {entry.decision for entry in world.memory.entries()} == {"**Rating**: Sell"}


def test_it_is_drawn_and_named_as_the_graph_in_it():
    graph = in_line(think, decide)
    app = with_memory(graph, World().memory)
    assert app.get_graph().draw_mermaid() == graph.get_graph().draw_mermaid()
    assert app.get_graph(xray=True).nodes.keys() == graph.get_graph(xray=True).nodes.keys()
    assert app.name == graph.name
    assert app.get_input_jsonschema() == graph.get_input_jsonschema()


def test_its_events_are_those_of_the_graph_in_it_and_the_run_is_recorded():
    world = World()
    graph = in_line(think, decide)
    app = with_memory(graph, world.memory)

    async def events(asked):
        found = asked.astream_events({"ticker": "NVDA", "past_context": ""}, version="v2")
        return [(event["event"], event["name"]) async for event in found]

    assert asyncio.run(events(app)) == asyncio.run(events(graph))
    run = app.stream_events({"ticker": "AAPL"}, version="v3")
    assert run.output["decision"] == BUY
    assert kept(world) == [("NVDA", "Buy"), ("AAPL", "Buy")]


class Parent(TypedDict, total=False):
    ticker: str
    decision: str
    past_context: str


def test_it_can_be_a_step_of_another_graph_that_is_interrupted_and_goes_on():
    def ask(state: State) -> dict[str, Any]:
        return {"decision": f"**Rating**: {interrupt('which?')}"}

    world = World().taught()
    step = with_memory(in_line(think, ask), world.memory)
    graph = StateGraph(Parent).add_node("desk", step).add_edge(START, "desk")
    app = graph.add_edge("desk", END).compile(checkpointer=InMemorySaver())
    shown = world.now
    found = app.invoke({"ticker": "NVDA"}, THREAD)
    assert found["__interrupt__"]
    assert len(kept(world)) == 2
    world.wait(minutes=10)
    app.invoke(Command(resume="Sell"), THREAD)
    *_, entry = world.memory.entries()
    assert (len(kept(world)), entry.rating, len(entry.recalled)) == (3, "Sell", 2)
    assert entry.recorded.recalled_as_of == shown


def test_a_step_that_is_tried_again_decides_once():
    world, tries = World().taught(), []

    def flaky(state: State) -> dict[str, Any]:
        tries.append(state["past_context"])
        if len(tries) < 3:
            raise ConnectionError
        return {"decision": BUY}

    policy = RetryPolicy(initial_interval=0.001, jitter=False, max_attempts=3)
    graph = StateGraph(State)
    graph.add_node("decide", with_memory(flaky, world.memory), retry_policy=policy)
    graph.add_edge(START, "decide").compile().invoke({"ticker": "NVDA"})
    assert len(set(tries)) == 1
    assert len(kept(world)) == 3


def test_a_command_that_leads_on_carries_its_decision():
    def route(state: State) -> Command[str]:
        return Command(update={"decision": BUY}, goto="publish")

    world = World()
    graph = StateGraph(State).add_node("route", route, destinations=("publish",))
    graph = graph.add_node("publish", publish).add_edge(START, "route").compile()
    with_memory(graph, world.memory).invoke({"ticker": "NVDA"})
    node = StateGraph(State).add_node("route", with_memory(route, world.memory))
    node = node.add_node("publish", publish).add_edge(START, "route").compile()
    assert node.invoke({"ticker": "AAPL"})["log"] == ["published"]
    assert kept(world) == [("NVDA", "Buy"), ("AAPL", "Buy")]

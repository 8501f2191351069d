"""What a thread holds of earlier runs, seen by a run of it that is interrupted and goes on."""

import asyncio
import operator
from contextlib import contextmanager
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from tests.plugin.graph_world import BUY, State, in_line, publish
from tests.plugin.plugin_world import World
from tradmem.plugin.graphs import with_memory

THREAD = {"configurable": {"thread_id": "1"}}
SELL = "**Rating**: Sell\n\nOrders fell."


def ask(state: State) -> dict[str, Any]:
    return {"log": [interrupt("go on?")]}


def decide_but_on_msft(state: State) -> dict[str, Any]:
    return {} if state["ticker"] == "MSFT" else {"decision": BUY}


def rate_but_on_msft(state: State) -> dict[str, Any]:
    return {"decision": BUY} if state["ticker"] == "MSFT" else {"decision": BUY, "rating": "Sell"}


def kept(world):
    return [(entry.ticker, entry.rating) for entry in world.memory.entries()]


def run(app, ticker, resumes=1, config=THREAD, **given):
    """One run of a thread, which stops and goes on."""
    app.invoke({"ticker": ticker, **given}, config)
    for _ in range(resumes):
        app.invoke(Command(resume="yes"), config)


@contextmanager
def saver_of(kind):
    if kind == "ram":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(":memory:") as saver:
            yield saver


@pytest.mark.parametrize("saver", ["ram", "sqlite"])
@pytest.mark.parametrize("nodes", [(ask, decide_but_on_msft), (decide_but_on_msft, ask)])
def test_a_run_that_stops_and_passes_does_not_decide_what_an_earlier_one_did(saver, nodes):
    world = World()
    with saver_of(saver) as checkpointer:
        app = with_memory(in_line(*nodes, checkpointer=checkpointer), world.memory)
        for ticker in ("NVDA", "MSFT", "AAPL"):  # the last one in the very words of the first
            run(app, ticker)
    assert kept(world) == [("NVDA", "Buy"), ("AAPL", "Buy")]


def test_the_same_holds_where_all_is_asynchronous():
    async def turns():
        async with AsyncSqliteSaver.from_conn_string(":memory:") as checkpointer:
            graph = in_line(ask, decide_but_on_msft, ask_again, checkpointer=checkpointer)
            app = with_memory(graph, world.memory)
            for ticker in ("NVDA", "MSFT", "AAPL"):
                await app.ainvoke({"ticker": ticker}, THREAD)
                async for _ in app.astream(Command(resume="yes"), THREAD):
                    pass
                await app.ainvoke(Command(resume="yes"), THREAD)

    def ask_again(state: State) -> dict[str, Any]:
        return ask(state)

    world = World()
    asyncio.run(turns())
    assert kept(world) == [("NVDA", "Buy"), ("AAPL", "Buy")]


@pytest.mark.parametrize("nodes", [(ask, rate_but_on_msft), (rate_but_on_msft, ask)])
def test_a_rating_of_an_earlier_run_is_not_that_of_a_decision_after_a_stop(nodes):
    world = World()
    app = with_memory(in_line(*nodes, checkpointer=InMemorySaver()), world.memory)
    for ticker in ("NVDA", "MSFT", "AAPL"):
        run(app, ticker)
    assert kept(world) == [("NVDA", "Sell"), ("MSFT", "Buy"), ("AAPL", "Sell")]


def test_what_a_person_writes_into_a_thread_that_waits_is_the_decision_of_its_run():
    world = World()
    app = with_memory(in_line(ask, publish, checkpointer=InMemorySaver()), world.memory)
    app.invoke({"ticker": "NVDA"}, THREAD)
    app.update_state(THREAD, {"decision": SELL})
    app.invoke(Command(resume="yes"), THREAD)
    run(app, "MSFT")
    app.invoke({"ticker": "AAPL"}, THREAD)
    app.invoke(Command(resume="yes", update={"decision": SELL}), THREAD)
    assert kept(world) == [("NVDA", "Sell"), ("AAPL", "Sell")]


def test_a_run_of_many_stops_still_knows_what_it_was_shown():
    def many(state: State) -> dict[str, Any]:
        return {"log": [interrupt(len(state.get("log", [])))]}

    def decide(state: State) -> Command[str]:
        if len(state["log"]) < 30:
            return Command(goto="many")
        return Command(update={"decision": BUY})

    world = World().taught()
    app = with_memory(in_line(many, decide, checkpointer=InMemorySaver()), world.memory)
    run(app, "NVDA", resumes=30)
    *_, entry = world.memory.entries()
    assert (entry.decision, len(entry.recalled)) == (BUY, 2)


def test_what_the_input_holds_for_the_decision_is_none_after_a_stop():
    world = World()
    app = with_memory(in_line(ask, decide_but_on_msft, checkpointer=InMemorySaver()), world.memory)
    for ticker in ("NVDA", "MSFT"):
        run(app, ticker, decision="not yet")
    assert kept(world) == [("NVDA", "Buy")]


def test_messages_of_an_earlier_run_are_no_decision_after_a_stop():
    class Chat(MessagesState):
        ticker: str

    def chat(state: Chat) -> dict[str, Any]:
        interrupt("go on?")
        return {} if state["ticker"] == "MSFT" else {"messages": [AIMessage(BUY)]}

    world = World().taught()
    before = len(kept(world))
    app = with_memory(
        in_line(chat, schema=Chat, checkpointer=InMemorySaver()),
        world.memory,
        decision="messages",
    )
    for ticker in ("NVDA", "MSFT", "AAPL"):
        run(app, ticker, messages=[("user", "?")] if ticker != "MSFT" else [])
    assert kept(world)[before:] == [("NVDA", "Buy"), ("AAPL", "Buy")]


@pytest.mark.parametrize("stops", [True, False])
def test_a_function_of_the_state_is_read_for_what_this_run_has_written(stops):
    """Its text names the run's own ticker, and yet nobody has decided on it."""
    world = World()
    nodes = (ask, decide_but_on_msft) if stops else (publish, decide_but_on_msft)
    app = with_memory(
        in_line(*nodes, checkpointer=InMemorySaver()),
        world.memory,
        decision=lambda state: f"{state['decision']}\n\nThis is on {state['ticker']}.",
    )
    for ticker in ("NVDA", "MSFT", "AAPL"):
        run(app, ticker, resumes=int(stops))
    assert kept(world) == [("NVDA", "Buy"), ("AAPL", "Buy")]


def test_a_reducer_that_puts_texts_together_is_written_by_its_own_run_alone():
    class Joined(State):
        decision: Annotated[str, operator.add]

    world = World()
    app = with_memory(
        in_line(ask, decide_but_on_msft, schema=Joined, checkpointer=InMemorySaver()),
        world.memory,
    )
    for ticker in ("NVDA", "MSFT"):
        run(app, ticker, decision="")
    assert kept(world) == [("NVDA", "Buy")]


def test_a_checkpoint_that_is_kept_at_the_end_alone_tells_it_too():
    world = World()
    graph = in_line(ask, decide_but_on_msft, checkpointer=InMemorySaver())
    app = with_memory(graph, world.memory)
    for ticker in ("NVDA", "MSFT", "AAPL"):
        app.invoke({"ticker": ticker}, THREAD, durability="exit")
        app.invoke(Command(resume="yes"), THREAD, durability="exit")
    assert kept(world) == [("NVDA", "Buy"), ("AAPL", "Buy")]


def test_a_graph_that_has_its_thread_configured_knows_it_too():
    world = World().taught()
    before = len(kept(world))
    graph = in_line(ask, decide_but_on_msft, checkpointer=InMemorySaver()).with_config(THREAD)
    app = with_memory(graph, world.memory)
    for ticker in ("NVDA", "MSFT"):
        run(app, ticker, config=None)
    assert kept(world)[before:] == [("NVDA", "Buy")]
    assert len(world.memory.entries()[-1].recalled) == 2


def whole(state: State) -> State:
    return {**state, **decide_but_on_msft(state)}


@pytest.mark.parametrize(
    "step",
    [whole, in_line(decide_but_on_msft), in_line(ask, decide_but_on_msft)],
    ids=["function", "graph", "graph that stops"],
)
@pytest.mark.parametrize(
    "wanted", ["decision", lambda state: state["decision"]], ids=["key", "call"]
)
def test_a_step_that_hands_on_the_state_of_an_earlier_run_has_not_decided_it(step, wanted):
    graph = StateGraph(State).add_node("desk", step).add_edge(START, "desk")
    world = World()
    app = with_memory(graph.compile(checkpointer=InMemorySaver()), world.memory, decision=wanted)
    for ticker in ("NVDA", "MSFT"):
        found = app.invoke({"ticker": ticker}, THREAD)
        if "__interrupt__" in found:
            app.invoke(Command(resume="yes"), THREAD)
    assert kept(world) == [("NVDA", "Buy")]


def test_a_state_with_values_that_cannot_be_compared_is_handed_on_all_the_same():
    class Vague:
        def __ne__(self, other):
            raise ValueError("ambiguous")

    class Wide(State):
        table: Any

    world = World()
    app = with_memory(in_line(whole, schema=Wide), world.memory)
    app.invoke({"ticker": "NVDA", "table": Vague()})
    assert kept(world) == [("NVDA", "Buy")]


def test_a_command_that_begins_anew_in_a_thread_does_not_decide_what_was_decided():
    world = World()
    app = with_memory(in_line(decide_but_on_msft, checkpointer=InMemorySaver()), world.memory)
    app.invoke({"ticker": "NVDA"}, THREAD)
    for ticker in ("MSFT", "AAPL"):
        app.invoke(Command(update={"ticker": ticker}, goto="decide_but_on_msft"), THREAD)
    assert kept(world) == [("NVDA", "Buy"), ("AAPL", "Buy")]


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()])
def test_a_command_that_begins_anew_is_shown_the_past_of_its_own_ticker(checkpointer):
    shown = []

    def look(state: State) -> dict[str, Any]:
        shown.append(state["past_context"])
        return {"decision": BUY}

    world = World()
    noted = world.memory.note("Guides low.", ticker="MSFT").entry.id
    app = with_memory(in_line(look, checkpointer=checkpointer), world.memory)
    app.invoke({"ticker": "NVDA"}, THREAD)
    world.memory.note("Sells a plant.", ticker="MSFT")
    told = {"ticker": "MSFT", "past_context": "of my own", "log": ["told"]}
    found = app.invoke(Command(update=told, goto="look"), THREAD)
    assert "On MSFT, newest first" in shown[1]
    assert "Sells a plant." in shown[1]
    bare = in_line(look, checkpointer=checkpointer and InMemorySaver())
    bare.invoke({"ticker": "NVDA", "past_context": ""}, THREAD)
    assert found["log"] == bare.invoke(Command(update=told, goto="look"), THREAD)["log"]
    first, second = (entry for entry in world.memory.entries() if entry.decision)
    assert (first.recalled, len(second.recalled)) == ((noted,), 2)


def test_a_command_that_begins_anew_keeps_each_of_the_messages_that_it_adds():
    shown = []

    class Talk(MessagesState, total=False):
        ticker: str
        decision: str

    def look(state: Talk) -> dict[str, Any]:
        shown.append([message.text for message in state["messages"]])
        return {"decision": BUY}

    world = World()
    world.memory.note("Guides low.", ticker="MSFT")
    app = with_memory(in_line(look, schema=Talk, checkpointer=InMemorySaver()), world.memory)
    app.invoke({"ticker": "NVDA", "messages": [("user", "one")]}, THREAD)
    pairs = [("ticker", "MSFT"), ("messages", ("user", "two")), ("messages", ("user", "three"))]
    found = app.invoke(Command(update=pairs, goto="look"), THREAD)
    assert "On MSFT, newest first" in shown[1][0]
    assert [message.text for message in found["messages"]] == ["one", "two", "three"]


def test_a_decision_that_a_command_brings_along_is_recorded():
    world = World()
    steps = in_line(lambda state: {"log": ["published"]}, checkpointer=InMemorySaver())
    app = with_memory(steps, world.memory)
    app.invoke({"ticker": "NVDA", "decision": ""}, THREAD)
    told = {"ticker": "MSFT", "decision": "**Rating**: Sell\n\nBy hand."}
    app.invoke(Command(update=told, goto="<lambda>"), THREAD)
    assert kept(world) == [("MSFT", "Sell")]

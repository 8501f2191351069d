"""A stream that its caller leaves: the decision that was made by then is kept, no other is."""

import asyncio
import gc
import logging
import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from tests.plugin.graph_world import BUY, State, decide, in_line, publish, think
from tests.plugin.plugin_world import World
from tradmem.plugin.graphs import with_memory

GIVEN = {"ticker": "NVDA"}


def leave(graph, given, enough, config=None, **options):
    """Stream until a chunk is enough, and go."""
    for chunk in graph.stream(given, config, **options):
        if enough(chunk):
            break


def leave_async(graph, given, enough, config=None, **options):
    async def go():
        async for chunk in graph.astream(given, config, **options):
            if enough(chunk):
                break

    asyncio.run(go())


LEAVING = [leave, leave_async]
FORMS = [
    {},
    {"stream_mode": "updates"},
    {"stream_mode": "values"},
    {"stream_mode": ["updates", "custom"]},
    {"stream_mode": ["values", "updates"], "subgraphs": True},
    {"stream_mode": "tasks"},
    {"stream_mode": "debug"},
    {"version": "v2"},
    {"version": "v2", "stream_mode": "values"},
    {"version": "v2", "stream_mode": ["messages", "updates"], "subgraphs": True},
    {"output_keys": ["decision"]},
]


def ratings(world):
    return [entry.rating for entry in world.memory.entries()]


@pytest.mark.parametrize("go", LEAVING)
@pytest.mark.parametrize("options", FORMS, ids=str)
def test_a_decision_that_was_streamed_is_recorded_and_what_came_later_is_not_run(go, options):
    world = World().taught()
    before = len(world.memory.entries())
    app = with_memory(in_line(think, decide, publish), world.memory)
    go(app, GIVEN, lambda chunk: "Orders rose" in str(chunk), **options)
    *_, entry = world.memory.entries()
    assert len(world.memory.entries()) == before + 1
    assert (entry.ticker, entry.decision, len(entry.recalled)) == ("NVDA", BUY, 2)


@pytest.mark.parametrize("go", LEAVING)
@pytest.mark.parametrize("options", FORMS, ids=str)
def test_one_that_is_left_before_its_decision_records_none(go, options):
    world, ran = World(), []

    def decide(state: State) -> dict[str, Any]:
        ran.append(1)
        return {"decision": BUY}

    def first(chunk):
        return True

    go(with_memory(in_line(think, decide), world.memory), GIVEN, first, **options)
    gc.collect()
    assert ratings(world) == []
    assert ran == []


@pytest.mark.parametrize("go", LEAVING)
def test_what_a_thread_decided_before_is_no_decision_of_a_run_that_is_left(go):
    world = World()
    app = with_memory(in_line(think, decide, checkpointer=InMemorySaver()), world.memory)
    config = {"configurable": {"thread_id": "1"}}
    app.invoke(GIVEN, config)
    go(app, {"ticker": "AAPL"}, lambda _: True, config, stream_mode="values")
    assert [entry.ticker for entry in world.memory.entries()] == ["NVDA"]


@pytest.mark.parametrize("go", LEAVING)
def test_messages_are_read_as_the_graph_would_reduce_them(go):
    def chat(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", "**Rating**: Sell")]}

    world = World().taught()
    app = with_memory(
        in_line(chat, schema=MessagesState),
        world.memory,
        ticker=lambda _: "NVDA",
        decision="messages",
    )
    go(app, {"messages": [("user", "NVDA?")]}, lambda _: True, stream_mode="updates")
    assert world.memory.entries()[-1].decision == "**Rating**: Sell"


@pytest.mark.parametrize("go", LEAVING)
def test_a_function_that_finds_the_decision_is_asked_for_a_new_one_only(go):
    def find(state):
        return state["log"][-1]

    world = World()
    graph = in_line(think, publish)
    for number, log in ((0, ["**Rating**: Hold"]), (1, ["**Rating**: Hold"]), (0, [])):
        app = with_memory(graph, world.memory, decision=find)
        seen = []

        def enough(chunk, seen=seen, number=number):
            seen.append(chunk)
            return len(seen) > number

        go(app, {**GIVEN, "log": log}, enough, stream_mode="values")
    assert [entry.decision for entry in world.memory.entries()] == ["thought"]


@pytest.mark.parametrize("go", LEAVING)
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_one_that_is_left_at_an_interrupt_is_recorded_when_it_ends(go, version):
    def ask(state: State) -> dict[str, Any]:
        return {"rating": interrupt("sure?")}

    world = World()
    app = with_memory(in_line(decide, ask, checkpointer=InMemorySaver()), world.memory)
    config = {"configurable": {"thread_id": "1"}}
    go(app, GIVEN, lambda c: "interrupt" in str(c).lower(), config, version=version)
    assert ratings(world) == []
    app.invoke(Command(resume="Sell"), config)
    assert ratings(world) == ["Sell"]


def test_a_task_that_is_cancelled_has_recorded_what_was_decided_by_then():
    world, waiting = World(), asyncio.Event()

    async def decide(state: State) -> dict[str, Any]:
        return {"decision": BUY}

    async def publish(state: State) -> dict[str, Any]:
        waiting.set()
        await asyncio.sleep(60)
        return {}

    app = with_memory(in_line(decide, publish), world.memory)

    async def consume():
        async for _ in app.astream(GIVEN):
            pass

    async def run():
        task = asyncio.create_task(consume())
        await asyncio.wait_for(waiting.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return ratings(world)

    assert asyncio.run(run()) == ["Buy"]


def test_a_stream_that_is_closed_by_hand_is_recorded_when_the_call_returns():
    world = World()

    async def run():
        chunks = with_memory(in_line(decide, publish), world.memory).astream(GIVEN)
        await anext(chunks)
        await chunks.aclose()
        return ratings(world)

    assert asyncio.run(run()) == ["Buy"]
    chunks = with_memory(in_line(decide, publish), world.memory).stream({"ticker": "AAPL"})
    next(chunks)
    chunks.close()
    assert len(ratings(world)) == 2


def test_the_steps_of_a_graph_that_is_left_are_ended_with_it():
    """Nothing of it goes on in the background."""
    world, ended = World(), threading.Event()

    async def decide(state: State) -> dict[str, Any]:
        return {"decision": BUY}

    async def publish(state: State) -> dict[str, Any]:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return {}

    graph = StateGraph(State).add_node("decide", decide).add_node("publish", publish)
    graph = graph.add_edge(START, "decide").add_edge(START, "publish")
    app = with_memory(graph.compile(), world.memory)

    async def run():
        chunks = app.astream(GIVEN)
        await anext(chunks)
        await chunks.aclose()
        return ended.is_set()

    assert asyncio.run(run())
    assert ratings(world) == ["Buy"]


@pytest.mark.parametrize("go", LEAVING)
def test_a_decision_that_cannot_be_kept_is_told_in_the_programs_log(go, tmp_path, caplog):
    world = World(tmp_path / "memory.md")

    def decide(state: State) -> dict[str, Any]:
        (tmp_path / "memory.md").mkdir()
        return {"decision": BUY}

    app = with_memory(in_line(decide, publish), world.memory)
    with caplog.at_level(logging.ERROR, "tradmem.plugin"):
        go(app, GIVEN, lambda _: True, stream_mode="updates")
        gc.collect()
    assert "its decision is not recorded: " in caplog.text


def test_a_stream_that_was_never_begun_does_nothing():
    world = World()
    chunks = with_memory(in_line(decide), world.memory).stream(GIVEN)
    chunks.close()
    assert ratings(world) == []


def test_a_graph_that_fails_after_its_decision_has_not_decided():
    """It will be run again; its caller hears of the failure."""

    def fail(state: State) -> dict[str, Any]:
        raise ZeroDivisionError

    world = World()
    app = with_memory(in_line(decide, fail), world.memory)
    with pytest.raises(ZeroDivisionError):
        list(app.stream(GIVEN))
    with pytest.raises(ZeroDivisionError):
        app.invoke(GIVEN)
    assert ratings(world) == []


def test_a_message_that_is_not_complete_is_no_decision():
    """Of a model's tokens, what came so far is no answer."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

    model = GenericFakeChatModel(messages=iter([AIMessage("**Rating**: Buy then, or Sell")]))

    def chat(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    world = World()
    app = with_memory(
        in_line(chat, schema=MessagesState),
        world.memory,
        ticker=lambda _: "NVDA",
        decision="messages",
    )
    given = {"messages": [("user", "NVDA?")]}
    leave(app, given, lambda chunk: "Rating" in str(chunk), stream_mode="messages")
    assert ratings(world) == []

"""The memory for asynchronous programs."""

import asyncio
import inspect
import threading

import pytest

from tests.plugin.plugin_world import LATER, World
from tradmem.errors import UsageError
from tradmem.memory import Memory
from tradmem.plugin.asynchronous import AsyncMemory


def test_it_has_every_method_of_a_memory():
    memory = AsyncMemory(World().memory)
    for name, _ in inspect.getmembers(Memory, inspect.isfunction):
        if not name.startswith("_"):
            assert callable(getattr(memory, name))
    with pytest.raises(AttributeError, match="recal'"):
        memory.recal  # noqa: B018


def test_the_loop_runs_on_while_a_decision_is_recorded_settled_and_recalled():
    world = World()
    memory, threads = AsyncMemory(world.memory), set()
    clock = world.memory.clock

    def noted():
        threads.add(threading.current_thread())
        return clock()

    world.memory.clock = noted

    async def run():
        done = await memory.record("NVDA", "2026-01-05", "**Rating**: Buy")
        world.go(LATER)
        report, _ = await asyncio.gather(memory.resolve(), asyncio.sleep(0))
        return done, report, await memory.recall("NVDA")

    done, report, seen = asyncio.run(run())
    assert report.settled[0].entry.id == done.entry.id
    assert seen.ids == (done.entry.id,)
    assert threading.main_thread() not in threads


def test_a_failure_is_raised_where_it_is_awaited():
    with pytest.raises(UsageError):
        asyncio.run(AsyncMemory(World().memory).note(""))


def test_many_at_once_are_all_stored(tmp_path):
    memory = AsyncMemory(World(tmp_path / "memory.md").memory)

    async def run():
        names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
        await asyncio.gather(*(memory.note(f"The note {name}.") for name in names))
        return await memory.entries()

    assert len(asyncio.run(run())) == 8

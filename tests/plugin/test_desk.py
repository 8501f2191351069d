"""The further tools of a server, without the server."""

import pytest

from tests.plugin.plugin_world import World
from tradmem.memory import Memory
from tradmem.plugin.answers import Seen
from tradmem.plugin.callers import Caller
from tradmem.plugin.desk import caller_tools
from tradmem.plugin.libraries import Library
from tradmem.settings import Settings


def desk(world, *, seen=None, name="desk", **settings):
    """The tools of a caller, and the memory that they work on."""
    settings = Settings(embeddings="none", **settings)
    memory = Memory(world.memory.journal, settings=settings, clock=world.clock)
    library = Library(name="us-tech", memory=memory)
    caller = Caller(name=name, libraries=(library,))
    return {tool.name: tool for tool in caller_tools(caller, seen or Seen())}, memory


NVDA = {"ticker": "NVDA"}
LOOKS = {
    "recall": NVDA,
    "recall by a query": NVDA | {"query": "Was guidance raised?"},
    "query_memory": NVDA | {"query": "Was guidance raised?"},
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_decision_names_what_a_lot_kept_from_its_caller(look):
    world = World().taught()
    tools, memory = desk(world, holdout=0.999999)
    shown = tools[look.split()[0]](LOOKS[look])
    assert "Guidance was raised" not in shown
    tools["record_decision"](NVDA | {"decision": "**Rating**: Hold"})
    first, *_, entry = memory.entries(archived=False)
    assert entry.recalled == ()
    assert first.id in entry.withheld
    assert entry.recorded.holdout == 0.999999


def test_the_lots_are_those_of_the_caller():
    world = World().taught()
    lots = set()
    for number in range(12):
        tools, memory = desk(world, name=f"desk-{number}", holdout=0.5)
        tools["recall"](NVDA)
        tools["record_decision"](NVDA | {"decision": "**Rating**: Hold"})
        entry = next(e for e in memory.entries() if e.agent == f"desk-{number}")
        seen = memory.recall("NVDA", agent=entry.agent)
        assert set(entry.withheld) == {held.id for held in seen.withheld}
        lots.add(entry.withheld)
    assert len(lots) > 1


def test_what_was_shown_at_one_look_was_not_withheld_at_another():
    world, seen = World().taught(), Seen()
    held, memory = desk(world, seen=seen, holdout=0.999999)
    held["recall"](NVDA)
    plain, _ = desk(world, seen=seen)
    plain["recall"](NVDA)
    held["record_decision"](NVDA | {"decision": "**Rating**: Hold"})
    entry = memory.entries()[-1]
    assert (len(entry.recalled), entry.withheld) == (2, ())


def test_without_lots_nothing_is_said_of_them():
    tools, memory = desk(World().taught())
    tools["recall"](NVDA)
    tools["record_decision"](NVDA | {"decision": "**Rating**: Hold"})
    entry = memory.entries()[-1]
    assert (len(entry.recalled), entry.withheld, entry.recorded.holdout) == (2, (), 0.0)

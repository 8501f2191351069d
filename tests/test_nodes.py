"""The memory as nodes of any graph."""

import subprocess
import sys
from datetime import timedelta

import pytest

from tests.agent_world import World, random_closes
from tradmem.errors import LogError, PriceError, PriceFault, UsageError
from tradmem.journal.markdown import MarkdownJournal
from tradmem.lessons.reflect import Fault, FaultKind
from tradmem.model import Rating, Status
from tradmem.nodes import recall_node, record_node, resolve_node

CLOSES = random_closes(["NVDA", "AMD", "SPY", "MU"], 330)
DAYS = list(CLOSES["NVDA"])
START = 300


@pytest.fixture
def world():
    return World(CLOSES).go(DAYS[START])


def run(world, state, **names):
    """What a graph does: each node sees what the nodes before it have put there."""
    record_names = {k: v for k, v in names.items() if k in ("agent", "on_conflict", "horizon")}
    for node in (
        resolve_node(world.memory),
        recall_node(world.memory),
        record_node(world.memory, **record_names),
    ):
        state = {**state, **node(state)}
    return state


def decide(world, ticker="NVDA", text="Because.", rating="Buy", **state):
    return run(world, {"ticker": ticker, "decision": text, "rating": rating, **state})


def test_a_decision_is_settled_taught_and_recalled_by_the_next_one(world):
    first = decide(world)
    assert (first["past_context"], first["recalled"], first["resolved"]) == ("", [], [])
    world.go(DAYS[START + 6])
    second = decide(world)
    assert second["resolved"] == [first["entry_id"]]
    assert second["recalled"] == [first["entry_id"]]
    entry = world.memory.get(second["entry_id"])
    assert entry.recalled == (first["entry_id"],)
    assert entry.recorded.recalled_as_of == world.now
    taught = world.memory.get(first["entry_id"])
    assert taught.status is Status.RESOLVED
    assert taught.reflection in second["past_context"]


def test_without_a_date_the_decision_is_dated_by_the_exchange(world):
    """It is past midnight in UTC, and still the session's day in New York."""
    world.go(world.now.replace(hour=23) + timedelta(hours=3))
    assert world.now.date() > DAYS[START]
    state = decide(world)
    assert world.memory.get(state["entry_id"]).date == DAYS[START]


def test_an_earlier_date_sees_only_what_was_known_then(world):
    decide(world)
    world.go(DAYS[START + 10])
    late = decide(world, date=DAYS[START + 5].isoformat())
    assert late["resolved"]  # by now its outcome is known …
    assert late["recalled"] == []  # … and was not on the earlier date
    assert world.memory.get(late["entry_id"]).date == DAYS[START + 5]
    now = decide(world)
    assert now["recalled"] == [*late["resolved"]]


@pytest.mark.leaky  # it cites what is not there
def test_the_keys_of_the_state_are_parameters(world):
    memory = world.memory
    state = {"company": "nvda", "trade_date": DAYS[START].isoformat(), "final": "Buy it."}
    state |= recall_node(
        memory,
        ticker="company",
        date="trade_date",
        past_context="past",
        recalled="ids",
        as_of="then",
    )(state)
    assert state["past"] == ""
    state |= {"mark": "Overweight", "names": ["0123456789ab"]}
    state |= record_node(
        memory,
        ticker="company",
        date="trade_date",
        decision="final",
        rating="mark",
        recalled="ids",
        as_of="then",
        cited="names",
        entry_id="stored",
        status="how",
        notices="said",
        agent="desk",
        horizon=3,
    )(state)
    entry = memory.get(state["stored"])
    assert (entry.ticker, entry.rating, entry.agent) == ("NVDA", Rating.OVERWEIGHT, "desk")
    assert entry.cited == ("0123456789ab",)
    assert entry.recorded.horizon == 3
    assert (state["how"], state["said"]) == ("recorded", [])
    world.go(DAYS[START + 6])
    found = resolve_node(memory, ticker="company", resolved="done", notices="said")(state)
    assert found == {"done": [entry.id], "said": []}


def test_resolving_can_be_kept_to_the_ticker(world):
    nvda, amd = decide(world)["entry_id"], decide(world, "AMD")["entry_id"]
    world.go(DAYS[START + 6])
    only = resolve_node(world.memory, ticker="ticker")
    assert only({"ticker": "AMD"})["resolved"] == [amd]
    assert resolve_node(world.memory)({})["resolved"] == [nvda]


def test_recording_twice_keeps_the_first_and_says_so(world):
    first = decide(world)
    again = decide(world)
    assert (again["status"], again["notices"]) == ("unchanged", [])
    other = decide(world, text="On reflection, not.", rating="Sell")
    assert (other["status"], other["entry_id"]) == ("kept", first["entry_id"])
    assert first["entry_id"] in other["notices"][0]
    assert world.memory.get(first["entry_id"]).rating is Rating.BUY
    revised = run(
        world, {"ticker": "NVDA", "decision": "No.", "rating": "Sell"}, on_conflict="revise"
    )
    assert (revised["status"], revised["notices"]) == ("revised", [])


def test_an_unrated_decision_is_stored_and_told(world):
    state = decide(world, text="It is hard to say.", rating=None)
    assert world.memory.get(state["entry_id"]).rating is None
    assert "stored unrated" in state["notices"][0]


def test_a_price_failure_is_told_once_per_ticker_and_stops_nothing(world):
    class Down:
        def fetch(self, spans):
            raise PriceError(PriceFault.RATE_LIMITED, "NVDA")

    broken = World(CLOSES, world.journal, prices=Down()).go(DAYS[START])
    first = decide(broken)
    broken.go(DAYS[START + 1])
    decide(broken, "NVDA")
    broken.go(DAYS[START + 10])
    state = decide(broken)
    assert state["resolved"] == []
    assert state["notices"] == [
        f"failed: NVDA {DAYS[START]} and 1 more: no prices for NVDA: rate limited"
    ]
    assert broken.memory.get(first["entry_id"]).status is Status.PENDING
    assert broken.memory.get(state["entry_id"]).status is Status.PENDING
    world.go(DAYS[START + 10])
    assert first["entry_id"] in decide(world, "AMD")["resolved"]


def test_a_reflector_that_breaks_keeps_the_outcome_and_stops_nothing(world):
    class Broken:
        related = 0

        def reflect(self, cases):
            raise RuntimeError("out of\nmemory")

    broken = World(CLOSES, world.journal, reflector=Broken()).go(DAYS[START])
    first = decide(broken)
    broken.go(DAYS[START + 6])
    state = decide(broken)
    assert state["notices"] == ["resolving failed: RuntimeError: out of memory"]
    settled = broken.memory.get(first["entry_id"])
    assert settled.status is Status.SETTLED
    assert state["recalled"] == [settled.id]
    assert "no lesson yet" in state["past_context"]


def test_another_resolver_of_the_same_log_stops_nothing(tmp_path):
    world = World(CLOSES, MarkdownJournal(tmp_path / "memory.md")).go(DAYS[START])
    first = decide(world)
    world.go(DAYS[START + 6])
    node = resolve_node(world.memory, wait=0)
    with MarkdownJournal(tmp_path / "memory.md").resolving():
        found = node({})
    assert found["resolved"] == []
    assert "by another process" in found["notices"][0]
    assert node({})["resolved"] == [first["entry_id"]]


def test_a_log_that_cannot_be_used_does_stop_the_graph(tmp_path):
    world = World(CLOSES, MarkdownJournal(tmp_path)).go(DAYS[START])
    with pytest.raises(LogError):
        resolve_node(world.memory)({})


@pytest.mark.parametrize("bad", [{"ticker": "A|B"}, {"date": "2024-13-01"}, {"date": "2100-01-04"}])
def test_bad_input_is_refused_and_nothing_is_written(world, bad):
    with pytest.raises(UsageError):
        decide(world, **bad)
    assert world.memory.entries() == []


def test_the_nodes_need_no_langgraph():
    code = "import tradmem.nodes, sys; print([m for m in sys.modules if m.startswith('lang')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_text_that_says_another_rating_than_the_structure_is_stored_and_told(world):
    """As a graph may have it, whose last node writes a text and whose schema holds a rating."""
    text = "The debate is over.\n\nFINAL TRANSACTION PROPOSAL: **SELL**"
    state = decide(world, text=text, rating="Buy", decision_extra={"model": "m"})
    entry = world.memory.get(state["entry_id"])
    assert (entry.rating, entry.recorded.extra) == (
        Rating.BUY,
        {"stated_rating": "Sell", "model": "m"},
    )
    assert state["notices"][0].endswith("the text says Sell, the rating is Buy")
    again = decide(world, text=text, rating="Buy")
    assert (again["status"], again["notices"]) == ("unchanged", state["notices"])
    agreeing = decide(world, ticker="AMD", text=text, rating="Sell")
    assert (agreeing["notices"], world.memory.get(agreeing["entry_id"]).recorded.extra) == ([], {})


def test_what_one_fault_of_a_model_keeps_from_many_is_two_notices(world):
    """The fault, and that the others were not asked about for its sake, on whatever ticker."""
    for ticker in ("NVDA", "AMD", "MU"):
        decide(world, ticker=ticker)
    world.go(DAYS[START + 6])

    class Refused:
        related = 0

        def reflect(self, cases):
            yield Fault(kind=FaultKind.UNAUTHORISED, message="the key is refused", fatal=True)
            for _ in cases[1:]:
                yield Fault(kind=FaultKind.NOT_ASKED, message="not asked: unauthorised")

    world.memory.reflector = Refused()
    assert resolve_node(world.memory)({})["notices"] == [
        f"failed: NVDA {DAYS[START]}: the key is refused",
        f"failed: AMD {DAYS[START]} and 1 more: not asked: unauthorised",
    ]

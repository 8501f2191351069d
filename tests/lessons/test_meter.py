"""What asking models takes, counted where they are asked."""

import pytest

from tests.model_server import MODEL, USAGE, ModelServer
from tradmem.lessons.chat import Chat
from tradmem.lessons.meter import current_meter, metered
from tradmem.lessons.parallel import in_order
from tradmem.lessons.reflect import Usage
from tradmem.model_settings import ModelSettings

QUESTION = [{"role": "user", "content": "Ticker: X"}]
PRICES = (2.0, 10.0)  # US dollars per million tokens


def chat(server, **more):
    more = {"prices": PRICES, "retries": 1} | more
    return Chat(ModelSettings(model=MODEL, base_url=server.url, api_key="none", **more))


def ask(talk):
    return talk.ask(QUESTION, name="x", schema={"type": "object"})


def test_every_call_counts_also_those_that_failed():
    with ModelServer(["500", "ready", "401"]) as server, metered() as meter:
        ask(chat(server))
        ask(chat(server))
    sent, received = USAGE["prompt_tokens"], USAGE["completion_tokens"]
    cost = (sent * PRICES[0] + received * PRICES[1]) / 1e6
    assert meter.usage == Usage(
        calls=3, prompt_tokens=sent, completion_tokens=received, cost=pytest.approx(cost)
    )


def test_calls_in_other_threads_of_the_same_work_count_too():
    with ModelServer(["ready"] * 6) as server, metered() as meter:
        talk = chat(server)
        assert len(list(in_order(lambda _: ask(talk), range(6), 3))) == 6
    assert meter.calls == 6


def test_a_cost_that_is_known_in_part_only_is_not_known():
    with ModelServer(["ready", "ready"]) as server, metered() as meter:
        ask(chat(server))
        ask(chat(server, prices=None))
    assert (meter.usage.calls, meter.usage.cost, meter.unpriced) == (2, None, 1)
    assert meter.paid > 0


def test_nothing_counts_outside_and_no_call_costs_nothing():
    with metered() as outer:
        with metered() as inner:
            assert current_meter() is inner
        assert current_meter() is outer
    assert current_meter() is None
    assert outer.usage == Usage(cost=0.0)

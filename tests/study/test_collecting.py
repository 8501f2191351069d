"""The garbage collector around a replay: set for its length, and put back whatever comes."""

import gc
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.study.worlds import SETTINGS, by_chance, names, prices
from tradmem.study import replay
from tradmem.study.collecting import rarely_all


def run(decide):
    replay(decide, names()[:1], prices(), "2001-01-02", "2001-03-01", settings=SETTINGS)


def test_a_replay_leaves_the_collector_as_it_was_and_it_stays_on():
    before, seen = gc.get_threshold(), []

    def decide(moment):
        seen.append((gc.isenabled(), gc.get_threshold()))
        return by_chance(moment)

    run(decide)
    assert gc.get_threshold() == before
    assert all(is_on and now[:2] == before[:2] and now[2] > before[2] for is_on, now in seen)


def test_it_is_put_back_after_a_failure():
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError):
        run(lambda _: 1 / 0)
    assert gc.get_threshold() == before


def test_replays_at_once_put_it_back_when_the_last_has_ended():
    before, met = gc.get_threshold(), Barrier(3)

    def one(_):
        with rarely_all():
            met.wait(10)
            return gc.get_threshold()

    with ThreadPoolExecutor(3) as pool:
        assert all(now[2] > before[2] for now in pool.map(one, range(3)))
    assert gc.get_threshold() == before

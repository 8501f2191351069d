"""Sweeps: the same results on any executor, and failures that cost the others nothing."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pandas as pd
import pytest

from tests.study.configurations import chance, dying, failing
from tests.study.worlds import SETTINGS, prices
from tradmem import UsageError
from tradmem.study import sweep
from tradmem.study.sweep import Swept

SHARED = {
    "tickers": ("AAPL", "JPM", "KO"),
    "start": "2010-01-04",
    "end": "2010-06-30",
    "settings": SETTINGS,
}
CONFIGURATIONS = {
    "one": {"decide": chance, "seed": 1},
    "fails": {"decide": failing},
    "two": {"decide": chance, "seed": 2, "every": "month"},
    "wrong": {"decide": chance, "every": "fortnight"},
}


@pytest.fixture(scope="module")
def here():
    return sweep(CONFIGURATIONS, prices=prices(), **SHARED)


def assert_same(found: tuple[Swept, ...], expected: tuple[Swept, ...]):
    assert [swept.name for swept in found] == list(CONFIGURATIONS)
    for one, other in zip(found, expected, strict=True):
        assert (one.error, one.statistics) == (other.error, other.statistics)
        if other.frame is not None:
            pd.testing.assert_frame_equal(one.frame, other.frame)


def test_results_come_in_the_order_of_the_configurations_failures_among_them(here):
    assert [swept.failed for swept in here] == [False, True, False, True]
    assert here[1].error == "RuntimeError: out of ideas"
    assert here[3].error.startswith("UsageError: every='fortnight'")
    assert [here[0].statistics.attrition.decided, len(here[2].frame)] == [78, 18]


def test_threads_give_the_same(here):
    with ThreadPoolExecutor(2) as executor:
        assert_same(sweep(CONFIGURATIONS, executor=executor, prices=prices(), **SHARED), here)


def test_processes_give_the_same(here):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert_same(sweep(CONFIGURATIONS, executor=executor, prices=prices(), **SHARED), here)


def test_a_cluster_gives_the_same(here):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=False
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor()
        assert_same(sweep(CONFIGURATIONS, executor=executor, prices=prices(), **SHARED), here)


def test_a_worker_that_dies_and_what_cannot_be_sent_are_failures_of_their_own():
    asked = {"dies": {"decide": dying}, "lambda": {"decide": lambda _: "Buy"}}
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        found = sweep(asked, executor=executor, prices=prices(), **SHARED)
    assert all(swept.failed for swept in found)
    assert "BrokenProcessPool" in found[0].error
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        (found,) = sweep({"l": asked["lambda"]}, executor=executor, prices=prices(), **SHARED)
    assert "pickle" in found.error.lower()


def test_an_executor_that_is_shut_is_a_failure_of_each():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    found = sweep(CONFIGURATIONS, executor=executor, prices=prices(), **SHARED)
    assert {swept.error for swept in found} == {
        "RuntimeError: cannot schedule new futures after shutdown"
    }


def test_what_cannot_be_swept_is_one_clear_line():
    with pytest.raises(UsageError, match="nothing to sweep"):
        sweep({})
    with pytest.raises(UsageError, match="'a' cannot have memory"):
        sweep({"a": {"memory": "log.md"}})

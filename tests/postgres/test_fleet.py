"""Eight processes on one database, killed and restarted at random, and the server with them."""

import multiprocessing
import random
import time
from collections import Counter

import pytest

from tests.postgres.fleet import LEASE, main, memory_on
from tests.postgres.server import TestServer
from tradmem import Status

PROCESSES = 8
# They start in an instant, from a process that has imported everything and opened nothing.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.postgres.fleet"])


@pytest.mark.parametrize(
    "seconds", [4, pytest.param(60, marks=pytest.mark.long)], ids=["short", "a minute"]
)
def test_every_acknowledged_entry_stands_once_and_is_resolved_once(seconds, tmp_path):
    own = TestServer(own=True)
    running = {}
    try:
        log = own.new_log()
        chance = random.Random(7)
        for number in range(PROCESSES):
            running[number] = start(log, number, tmp_path)
        wait_for_each(tmp_path)
        ends = time.monotonic() + seconds
        restart_at = time.monotonic() + seconds / 2
        while time.monotonic() < ends:
            time.sleep(chance.uniform(0.2, 0.6))
            number = chance.randrange(PROCESSES)
            running[number].kill()
            running[number].join()
            if time.monotonic() > restart_at:
                own.restart()
                restart_at = float("inf")
            running[number] = start(log, number, tmp_path)
        for process in running.values():
            process.kill()
            process.join()
        time.sleep(LEASE + 0.5)  # the claims of the dead run out
        check(log, tmp_path)
    finally:
        for process in running.values():
            process.kill()
            process.join()
        own.stop()


def wait_for_each(folder):
    """Until every process has recorded something."""
    ends = time.monotonic() + 60
    while sum(path.stat().st_size > 0 for path in folder.glob("*.txt")) < PROCESSES:
        assert time.monotonic() < ends
        time.sleep(0.05)


def start(log, number, folder):
    process = FORKS.Process(target=main, args=(log, f"{folder}/{number}.txt"), daemon=True)
    process.start()
    return process


def check(log, folder):
    lines = [line for path in folder.glob("*.txt") for line in path.read_text().splitlines()]
    acknowledged = {line for line in lines if not line.startswith("#")}
    memory = memory_on(log, timeout=2)
    for report in memory.work():
        assert not report.failed
    entries = memory.entries()
    times = Counter(entry.id for entry in entries)
    assert len(acknowledged) > 20
    assert acknowledged <= set(times)
    assert set(times.values()) == {1}
    assert len({entry.recorded.key for entry in entries}) == len(entries)
    assert {entry.status for entry in entries} == {Status.RESOLVED}
    kinds = {tuple(addition.kind for addition in entry.additions) for entry in entries}
    assert kinds == {("outcome", "reflection")}
    assert list(memory.work()) == []
    memory.journal.close()

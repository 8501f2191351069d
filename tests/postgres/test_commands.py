"""The command line on a log in PostgreSQL."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import psycopg
import pytest

from tests.cli.world import SETTLED, World, one_line
from tests.postgres.server import with_schema
from tradmem import Status


@pytest.fixture
def world(tmp_path, monkeypatch, postgres_log):
    """The small world, its log in a database."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("TRADMEM_", "OPENAI_")):
            monkeypatch.delenv(name)
    found = World(tmp_path)
    found.log = postgres_log
    return found


@pytest.fixture
def empty(world, postgres):
    """The same, where no schema was made yet."""
    world.log = with_schema(postgres.url, f"empty_{os.getpid()}_{time.monotonic_ns() % 10**9}")
    return world


def test_a_week_goes_through_record_resolve_recall_and_every_look(world):
    nvda, aapl = world.settle_week()
    assert "right" in world.run("log").stdout
    assert "Lesson" in world.run("recall", "NVDA").stdout
    assert nvda in world.run("show", nvda).stdout
    assert world.json("search", "thesis", "NVDA")[0]["id"] == nvda
    for command in (("status",), ("stats",), ("audit",), ("history", aapl), ("doctor",)):
        result = world.run(*command, *(["--prices", world.prices] * (command == ("doctor",))))
        assert result.exit_code == 0, result.output
    forgotten = world.run("forget", nvda[:6], "--reason", "wrong ticker", "--actor", "me")
    assert forgotten.exit_code == 0, forgotten.output
    assert nvda not in world.run("recall", "NVDA").stdout
    assert world.run("undo", nvda, "--reason", "it was right").exit_code == 0
    assert {entry.status for entry in world.memory.entries()} == {Status.RESOLVED}


def test_no_command_prints_the_password(world):
    world.log = world.log.replace("postgres:@", "postgres:s3cret@", 1)
    assert "s3cret" in world.log
    for command in (("log",), ("status",), ("db", "status"), ("recall", "NVDA"), ("doctor",)):
        assert "s3cret" not in world.run(*command).output


def test_upgrade_makes_the_schema_and_does_nothing_the_second_time(empty):
    assert "run `tradmem db upgrade --log 'postgresql://" in one_line(empty.run("log"))
    first = empty.run("db", "upgrade", "--partitions", 2)
    assert "applied 1 (journal)" in first.stdout
    again = empty.run("db", "upgrade")
    assert again.stdout.splitlines() == first.stdout.splitlines()[-2:]
    ranking = again.stdout.splitlines()[0]
    assert re.match(r"pgvector [0-9.]+: the server finds the nearest|without pgvector: ", ranking)
    for command in (("db", "status"), ("doctor", "--prices", empty.prices)):
        assert ranking in empty.run(*command).stdout
    empty.record("NVDA")
    found = empty.json("db", "status")[0]
    assert (found["partitions"], found["queued"]) == (2, 1)


def test_what_only_a_file_has_is_refused_in_one_line(world):
    assert "only a file" in one_line(world.run("check"))
    assert "only a file" in one_line(world.run("log", "path"))


def test_a_file_has_no_schema_and_no_workers(world, tmp_path):
    world.log = tmp_path / "memory.md"
    assert "postgresql://" in one_line(world.run("db", "upgrade"))
    assert "work queue" in one_line(world.resolve("--once"))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://127.0.0.1:1/nowhere", "cannot reach postgresql://127.0.0.1:1/nowhere"),
        ("mysql://host/db", "'mysql' is no kind of log"),
        ("postgresql://host/db?schema=Robert'; DROP", "is no name of a schema"),
        ("postgresql://host/db?schema=pg_catalog", "is no name of a schema"),
        ("postgresql://host:99999999/db", "cannot"),
        ("postgresql://host/db?nonsense=1", "nonsense"),
    ],
)
def test_a_url_that_leads_nowhere_is_one_clear_line(world, url, said):
    world.log = url
    assert said in one_line(world.run("db", "upgrade"))


def test_a_worker_drains_the_queue_once(world):
    ids = [world.record("NVDA"), world.record("AAPL")]
    world.now = SETTLED
    result = world.resolve("--once", "--json")
    assert result.exit_code == 0, result.output
    settled = {row["id"] for row in json.loads(result.stdout) if row["group"] == "settled"}
    assert settled == set(ids)
    assert world.resolve("--worker", "--once").stdout == ""
    assert world.run("db", "status").stdout.splitlines()[-1].startswith("0 in the work queue")


def test_a_worker_stops_at_a_signal_and_gives_back_what_it_holds(world, tmp_path):
    world.record("NVDA")
    command = [sys.executable, "-m", "tradmem", "resolve", "--worker", "--every", "0.2"]
    process = subprocess.Popen(
        [*command, "--log", world.log, "--prices", str(world.prices)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    assert "1 settled" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "nothing is left half done" in said
    assert world.json("db", "status")[0]["claimed"] == 0


def test_archiving_hides_nothing(world):
    world.settle_week()
    before = world.run("recall", "NVDA").stdout, world.run("stats").stdout
    assert world.run("db", "archive", "--keep", 0).stdout == "0 entries archived\n"  # the newest
    ids = [entry.id for entry in world.memory.entries()]
    with psycopg.connect(world.log.partition("&schema")[0]) as connection:
        schema = world.log.rpartition("schema=")[2]
        connection.execute(f"SET search_path TO {schema}")
        (many,) = connection.execute("SELECT count(*) FROM additions").fetchone()
    assert many == 4
    assert world.run("db", "rebuild").stdout == "2 entries folded anew\n"
    assert (world.run("recall", "NVDA").stdout, world.run("stats").stdout) == before
    assert [entry.id for entry in world.memory.entries()] == ids


def test_a_daily_run_does_nothing_twice_and_keeps_its_record_on_this_machine(world):
    words = ("run", "NVDA", "AAPL", "--prices", world.prices)
    first = world.run(*words)
    assert first.exit_code == 0, first.output
    again = world.run(*words)
    assert again.exit_code == 0, again.output
    assert "nothing to do: NVDA, AAPL decided already" in again.stdout
    world.now = SETTLED
    later = world.run(*words)
    assert "2 decided, 2 resolved" in later.stdout
    assert len(world.memory.entries()) == 4
    record = world.folder / "logs" / "memory.md.runs.jsonl"
    assert [json.loads(line)["event"] for line in record.read_text().splitlines()].count(
        "ended"
    ) == 3
    assert "Last runs" in world.run("status").stdout

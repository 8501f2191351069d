"""The file of exchanges: rolling, whole lines, and a count of the attempts in vain."""

import json
import multiprocessing
import threading

import pytest

from tradmem.lessons.exchanges import Exchanges, exchanges_beside


@pytest.fixture
def exchanges(tmp_path):
    return Exchanges(tmp_path / "new folder" / "exchanges.jsonl", keep=20)


def vain(entry, **more):
    return {"entry": entry, "attempt": True, "lesson": False} | more


def test_what_is_added_is_read_back_in_order(exchanges):
    assert list(exchanges.read()) == []
    assert exchanges.attempts() == {}
    records = [{"entry": "a", "n": n, "answer": "caf\u00e9\n\u4e70\u2028"} for n in range(3)]
    for record in records:
        exchanges.add(record)
    assert list(exchanges.read()) == records
    assert exchanges.of("b") == []


def test_never_more_lines_than_asked_for_and_the_newest_are_there(exchanges):
    for n in range(95):
        exchanges.add({"entry": "a", "n": n})
        lines = exchanges.path.read_text().splitlines()
        assert len(lines) <= 20
        kept = [record["n"] for record in exchanges.read()]
        assert kept == list(range(n - len(kept) + 1, n + 1))
        assert len(kept) >= min(n + 1, 17)


def test_attempts_count_until_a_lesson_or_a_release(exchanges):
    exchanges.add(vain("a"))
    exchanges.add(vain("b"))
    exchanges.add(vain("a"))
    exchanges.add({"entry": "a", "attempt": False, "lesson": False})
    assert exchanges.attempts() == {"a": 2, "b": 1}
    exchanges.add({"entry": "a", "lesson": True})
    exchanges.release("b")
    assert exchanges.attempts() == {}
    exchanges.add(vain("b"))
    assert exchanges.attempts() == {"b": 1}
    assert len(exchanges.of("b")) == 2


def test_attempts_outlive_the_records_that_roll_out(exchanges):
    for _ in range(3):
        exchanges.add(vain("old"))
    exchanges.add({"entry": "done", "lesson": True})
    for n in range(90):
        exchanges.add({"entry": "other", "n": n, "lesson": True})
    assert exchanges.of("old") == []
    assert exchanges.attempts() == {"old": 3}
    exchanges.add(vain("old"))
    assert exchanges.attempts() == {"old": 4}
    exchanges.add({"entry": "old", "lesson": True})
    for n in range(40):
        exchanges.add({"entry": "other", "n": n})
    assert exchanges.attempts() == {}
    assert "attempts_before" not in exchanges.path.read_text()


def test_secrets_are_masked_wherever_they_stand(exchanges):
    secret = 'sk-"quoted"-\u00e9'
    exchanges.add({"entry": "a", "deep": [{"text": f"x{secret}y"}]}, secrets=[secret])
    assert json.loads(exchanges.path.read_text())["deep"] == [{"text": "x***y"}]


def test_a_torn_line_is_passed_over_and_swallows_nothing(exchanges):
    exchanges.add({"entry": "a", "n": 1})
    with exchanges.path.open("a") as file:
        file.write('{"entry": "a", "n"')
    exchanges.add({"entry": "a", "n": 3})
    assert [record["n"] for record in exchanges.read()] == [1, 3]


def write(path, worker):
    exchanges = Exchanges(path, keep=1_000)
    for n in range(60):
        exchanges.add({"entry": f"{worker}", "n": n, "padding": "x" * 2_000})


def test_processes_and_threads_write_whole_lines_at_once(tmp_path):
    path = tmp_path / "exchanges.jsonl"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write, args=(path, n)) for n in range(3)]
    workers += [threading.Thread(target=write, args=(path, n)) for n in range(3, 6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for worker in range(6):
        assert [r["n"] for r in records if r["entry"] == str(worker)] == list(range(60))


def test_several_writers_keep_to_the_limit(tmp_path):
    path = tmp_path / "exchanges.jsonl"
    one, other = Exchanges(path, keep=20), Exchanges(path, keep=20)
    for n in range(60):
        (one if n % 2 else other).add({"entry": "a", "n": n})
    kept = [record["n"] for record in one.read()]
    assert kept == list(range(60 - len(kept), 60))
    assert len(path.read_text().splitlines()) <= 20


def test_two_logs_in_one_folder_share_no_exchanges(tmp_path):
    """The same decision in both has the same id, and its attempts are not added up."""
    one, two = (exchanges_beside(tmp_path / name) for name in ("memory.md", "memory.txt"))
    one.add(vain("a"))
    two.add({"entry": "a", "n": 1})
    assert (one.attempts(), two.attempts()) == ({"a": 1}, {})
    assert one.path == tmp_path / "memory.md.exchanges.jsonl"


def test_a_link_to_a_log_has_the_logs_own_exchanges(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "memory.md", tmp_path / "link.md"
    real.touch()
    link.symlink_to(real)
    exchanges_beside(link).add(vain("a"))
    assert exchanges_beside(real).attempts() == {"a": 1}


def test_what_a_folder_once_shared_is_still_read_and_no_longer_written(tmp_path):
    shared = Exchanges(tmp_path / "exchanges.jsonl")
    for entry in ("a", "a", "b"):
        shared.add(vain(entry))
    before = shared.path.read_bytes()
    exchanges = exchanges_beside(tmp_path / "memory.md")
    assert exchanges.attempts() == {"a": 2, "b": 1}
    exchanges.add(vain("a"))
    exchanges.release("b")
    assert exchanges.attempts() == {"a": 3}
    assert len(exchanges.of("a")) == 3
    assert shared.path.read_bytes() == before


def test_what_was_counted_before_the_file_rolled_over_is_counted_once(tmp_path):
    shared = Exchanges(tmp_path / "exchanges.jsonl")
    for entry in ("a", "a", "b"):
        shared.add(vain(entry))
    exchanges = Exchanges(tmp_path / "own.jsonl", keep=10, older=shared.path)
    exchanges.add(vain("a"))
    exchanges.add({"entry": "b", "lesson": True})
    for n in range(40):
        exchanges.add({"entry": "c", "n": n})
    assert exchanges.attempts() == {"a": 3}

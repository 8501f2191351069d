"""The example log beside the description of the format."""

import re
from collections import Counter

import pytest

from tests.example_run import EXAMPLE, write_example
from tradmem.journal.format import parse, render
from tradmem.memory import Memory
from tradmem.model import Status

README = EXAMPLE.with_name("README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def log():
    return parse(EXAMPLE.read_bytes(), "example.md")


def test_the_example_is_what_the_run_writes(tmp_path):
    """After a change that is meant: ``python tests/example_run.py``, and read the difference."""
    write_example(tmp_path / "example.md")
    assert (tmp_path / "example.md").read_bytes() == EXAMPLE.read_bytes()


def test_the_example_shows_every_state_and_has_no_problems(log):
    assert log.problems == ()
    assert render(log) == EXAMPLE.read_bytes()
    counts = Counter(entry.status for entry in log.entries)
    assert counts == {
        Status.PENDING: 2,
        Status.SETTLED: 1,
        Status.RESOLVED: 5,
        Status.UNRESOLVABLE: 1,
        Status.NOTE: 1,
    }


def test_a_settled_entry_of_the_example_gets_its_lesson_later(tmp_path, log):
    copy = tmp_path / "example.md"
    copy.write_bytes(EXAMPLE.read_bytes())
    settled = next(entry for entry in log.entries if entry.status is Status.SETTLED)
    report = Memory.open(copy).resolve(tickers=[settled.ticker])
    assert [done.entry.id for done in report.reflected] == [settled.id]
    assert Memory.open(copy).get(settled.id).reflection


def test_the_blocks_in_the_readme_are_entries():
    """What the description shows can be pasted into a log."""
    shown = re.findall(r"```text\n(\[.*?)```", README, flags=re.DOTALL)
    assert len(shown) >= 2
    for text in shown:
        found = parse(text.encode(), "README.md")
        assert found.problems == ()
        assert len(found.entries) == len(re.findall(r"(?m)^\[", text))
    first, second = (parse(text.encode()).entries[0] for text in shown[:2])
    assert (first.status, second.status) == (Status.PENDING, Status.RESOLVED)
    assert first.id == second.id
    assert first.decision == second.decision

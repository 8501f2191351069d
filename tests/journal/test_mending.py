"""What ``check --fix`` mends, and what it leaves to a person."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.journal.making import PIECES, decision, lesson, outcome
from tradmem import MarkdownJournal
from tradmem.journal.format import parse
from tradmem.journal.mending import mended


@pytest.fixture
def log(tmp_path):
    journal = MarkdownJournal(tmp_path / "memory.md")
    first, _ = journal.append(decision())
    journal.append(decision(ticker="AAPL"))
    journal.add([(first.id, outcome()), (first.id, lesson())])
    return journal


def test_a_sound_log_is_left_as_it_is(log):
    before = log.path.read_bytes()
    assert log.mend() == {}
    assert log.path.read_bytes() == before


def test_a_torn_tail_is_closed_off_and_kept(log):
    before = log.path.read_bytes()
    torn = b"[2026-01-06 | MSFT | Buy | pending]\n<!-- trad"
    log.path.write_bytes(before + torn)
    assert list(log.mend(dry_run=True)) == [str(log.path)]
    assert log.path.read_bytes() == before + torn
    log.mend()
    data = log.path.read_bytes()
    assert data.startswith(before + torn)
    assert data.endswith(b'<!-- tradmem: {"torn":true} -->\n\n<!-- ENTRY_END -->\n\n')
    assert log.mend() == {}
    assert [entry.ticker for entry in log.entries()] == ["NVDA", "AAPL"]


def test_a_block_that_stands_twice_to_the_letter_goes_once(log):
    data = log.path.read_bytes()
    log.path.write_bytes(data + data)
    assert len(log.problems()) == 2
    log.mend()
    assert log.path.read_bytes().rstrip() == data.rstrip()
    assert log.problems() == []


def test_two_that_differ_are_for_a_person(log):
    data = log.path.read_bytes()
    other = data + data.replace(b"It was right.", b"It was wrong.")
    log.path.write_bytes(other)
    log.mend()
    assert b"It was wrong." in log.path.read_bytes()
    assert len(log.problems()) == 1


def test_a_log_that_is_not_there_is_not_made(tmp_path):
    assert MarkdownJournal(tmp_path / "logs" / "memory.md").mend() == {}
    assert not list(tmp_path.iterdir())


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_mending_loses_no_entry_and_is_done_once(text):
    data = text.encode("utf-8", "replace")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    now = mended(data)
    assert mended(now) == now
    assert {entry.id for entry in parse(now).entries} == {entry.id for entry in parse(data).entries}

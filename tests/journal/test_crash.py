"""A writer is stopped dead: what it acknowledged is there, and nothing is there by halves."""

import os
import random
import signal
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.journal import scenario
from tests.journal.children import CALLS, WRITE, Child, calls_watched
from tests.journal.made import decision, made_id, resolution
from tests.journal.scenario import ALL_SAID, LONG, MARK, MOST, REPEATED, check, go_on, strays
from tradmem.journal import files
from tradmem.journal.markdown import MarkdownJournal
from tradmem.model import Status

STEPS = {"appended", "synced", "written", "before replace", "replaced", "archived"}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


# At random instants


def write_on(path: Path, start: int, say) -> None:
    """Record and resolve without an end; every tenth decision is a long one."""
    journal = MarkdownJournal(path, max_resolved=MOST)
    for number in range(start, start + 1000):
        journal.append(decision(number, size=LONG if number % 10 == 0 else 0))
        say(f"recorded {number}")
        if number % 4 == 3:
            due = range(number - 3, number + 1)
            journal.add([pair for each in due for pair in resolution(each)])
            for each in due:
                say(f"resolved {each}")


def kill_often(path: Path, times: int, seed: int) -> None:
    chance = random.Random(seed)
    acknowledged: set[str] = set()
    known: set[int] = set()
    start = said = 0
    for _ in range(times):
        child = Child(partial(write_on, path, start))
        first = [child.heard()] if chance.random() < 0.8 else []  # else it has hardly begun
        time.sleep(chance.uniform(0, 0.05))
        child.kill()
        lines, status = child.end()
        assert status == -signal.SIGKILL
        lines = first + lines
        said += len(lines)
        acknowledged |= set(lines)
        end = max((int(line.split()[1]) + 1 for line in lines), default=start)
        known |= set(range(start, end + 1))
        check(path, known, acknowledged)
        go_on(path, end + 1)
        known.add(end + 1)
        acknowledged |= {f"recorded {end + 1}", f"resolved {end + 1}"}
        start = (end + 20) // 20 * 20
    check(path, known, acknowledged)
    assert said > times, "the writers hardly got to write"


def test_forty_kills_at_random_instants_lose_nothing(tmp_path):
    for seed in (1, 2):
        kill_often(tmp_path / str(seed) / "memory.md", 20, seed)


@pytest.mark.long
def test_three_hundred_kills_at_random_instants_lose_nothing(tmp_path):
    for seed in range(3, 18):
        kill_often(tmp_path / str(seed) / "memory.md", 20, seed)


# At every instant that has a name, and at every call that changes a file


@pytest.fixture
def unsynced(monkeypatch):
    """A sync keeps what a power cut would take, not a kill; without it these tests are fast."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    return folder, scenario.prepare(folder / "memory.md")


@contextmanager
def killed_at_step(wanted: int):
    """Stop at the named step with this number."""
    count = 0

    def step(name: str) -> None:
        nonlocal count
        count += 1
        if count == wanted:
            die()

    before, files.step = files.step, step
    try:
        yield
    finally:
        files.step = before


@contextmanager
def killed_at_call(wanted: int, *, half: bool):
    """Stop before the call with this number that changes a file, or half-way in a write."""
    count = 0

    def act(_number, name, args, call):
        nonlocal count
        if name != "open" or args[1] & os.O_CREAT:
            count += 1
            if count == wanted:
                if half:
                    WRITE(args[0], args[1][: len(args[1]) // 2])
                die()
        return call()

    with calls_watched(act, ("write",) if half else CALLS):
        yield


def run_into(trap, path: Path) -> tuple[set[str], bool]:
    """What the scenario acknowledged, and whether the trap killed it."""

    def work(say) -> None:
        with trap:
            scenario.run(path, say)

    lines, status = Child(work).end()
    assert status in (0, -signal.SIGKILL)
    return set(lines), status != 0


def survive(prepared, folder: Path, trap) -> bool:
    """Let the scenario run into a trap, and see that all is well; whether it was caught."""
    before, acknowledged = prepared
    path = scenario.copy(before, folder)
    known = {*range(33), 40}
    said, killed = run_into(trap, path)
    check(path, known, acknowledged | said)
    scenario.run(path, lambda _: None)
    check(path, known, acknowledged | ALL_SAID)
    go_on(path, 50)
    entries = check(path, {*known, 50}, acknowledged | ALL_SAID | {"resolved 50"})
    assert len(entries) == 35
    assert not strays(path), "a temporary file was left behind"
    journal = MarkdownJournal(path)
    assert not [p for p in journal.problems() if REPEATED in str(p)], "log and archive repeat"
    assert sum(not entry.archived for entry in entries) == 25, "five of each ticker stay"
    return killed


def test_a_kill_at_every_named_step_loses_nothing(tmp_path, prepared, unsynced):
    seen: list[str] = []
    before, files.step = files.step, seen.append
    try:
        scenario.run(scenario.copy(prepared[0], tmp_path / "plain"), lambda _: None)
    finally:
        files.step = before
    assert set(seen) == STEPS
    killed = [
        survive(prepared, tmp_path / str(number), killed_at_step(number))
        for number in range(1, len(seen) + 2)
    ]
    assert killed == [True] * len(seen) + [False]


@pytest.mark.parametrize(("half", "least"), [(False, 30), (True, 3)])
def test_a_kill_at_every_call_that_changes_a_file_loses_nothing(
    tmp_path, prepared, unsynced, half, least
):
    """Also where a write, an archive and a replacement are half done."""
    number = 1
    while survive(prepared, tmp_path / str(number), killed_at_call(number, half=half)):
        number += 1
    assert number > least


def test_a_kill_during_the_very_first_write_leaves_no_half_log(tmp_path, unsynced):
    number, killed = 0, True
    while killed:
        number += 1
        path = tmp_path / str(number) / "logs" / "memory.md"

        def work(say, path=path, number=number) -> None:
            with killed_at_call(number, half=False):
                MarkdownJournal(path).append(decision(0))
                say("recorded 0")

        lines, status = Child(work).end()
        killed = status != 0
        check(path, {0}, set(lines))
        assert not path.exists() or len(MarkdownJournal(path).entries()) == 1
        go_on(path, 1)
        check(path, {0, 1}, {*lines, "resolved 1"})
        assert not strays(path)
    assert number > 5


def test_a_torn_entry_stays_for_a_person_and_is_reported(tmp_path, unsynced):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    journal.append(decision(0))
    whole = path.read_bytes()

    def work(_) -> None:
        with calls_watched(tear, ("write",)):
            MarkdownJournal(path).append(decision(1))

    def tear(_number, _name, args, call):
        WRITE(args[0], args[1][:200])
        die()

    Child(work).end()
    torn = path.read_bytes()[len(whole) :]
    assert len(torn) == 200
    (problem,) = journal.problems()
    assert (problem.path, problem.line) == (str(path), whole.count(b"\n") + 1)
    assert problem.message.startswith("an entry that was not written to its end; it is kept")
    journal.append(decision(2))
    assert path.read_bytes().startswith(whole + torn)
    assert [entry.id for entry in journal.entries()] == [made_id(0), made_id(2)]
    assert len(journal.problems()) == 1


def test_a_repeat_in_the_archive_is_brought_up_to_date_when_its_entry_moves(
    tmp_path, prepared, unsynced
):
    """Between the crash and the next rotation the entry learnt more, in the log alone."""
    path = scenario.copy(prepared[0], tmp_path / "log")

    def work(_) -> None:
        with killed_at_step(["appended", "synced", "archived"].index("archived") + 1):
            MarkdownJournal(path, max_resolved=MOST).add(resolution(40))

    Child(work).end()
    journal = MarkdownJournal(path, max_resolved=None)
    (repeat,) = (problem for problem in journal.problems() if REPEATED in str(problem))
    (entry,) = (entry for entry in journal.entries() if entry.id in str(repeat))
    assert not entry.archived
    journal.add([(entry.id, MARK)])
    MarkdownJournal(path, max_resolved=MOST).add(resolution(40))
    moved = MarkdownJournal(path).get(entry.id)
    assert moved.archived
    assert MARK in moved.additions
    assert not journal.problems()
    assert len(journal.entries()) == 31


@pytest.mark.parametrize("is_edit", [True, False])
def test_an_entry_of_the_log_that_differs_from_its_repeat_goes_on_to_count_in_the_archive(
    tmp_path, prepared, unsynced, is_edit
):
    """As after a merge of two machines of which one had moved it, and the other had gone on."""
    path = scenario.copy(prepared[0], tmp_path / "log")
    MarkdownJournal(path, max_resolved=MOST).add(resolution(40))
    journal = MarkdownJournal(path, max_resolved=None)
    here = next(e for e in journal.entries() if e.status is Status.RESOLVED and not e.archived)
    (archive,) = journal.archives()
    start = path.read_bytes().index(f"[{here.date} | {here.ticker} |".encode())
    copy = path.read_bytes()[start:].partition(b"<!-- ENTRY_END -->")[0].rstrip()
    if is_edit:
        copy = copy.replace(b"DECISION:\n", b"DECISION:\nTyped in the archive. ")
    else:
        copy = copy.replace(
            b"\n\nDECISION:",
            b'\n<!-- tradmem: {"add":"forget","at":"2026-03-01T00:00:00Z"} -->\n\nDECISION:',
        )
    archive.write_bytes(archive.read_bytes() + copy + b"\n\n<!-- ENTRY_END -->\n\n")
    journal.add([(here.id, MARK)])
    before = journal.get(here.id)
    journal.append(decision(41))
    MarkdownJournal(path, max_resolved=0).add(resolution(41))
    after = MarkdownJournal(path).get(here.id)
    assert (after.archived, after.additions) == (True, before.additions)
    assert copy in archive.read_bytes()  # for a person to look at
    (told,) = MarkdownJournal(path).problems()
    assert f"{here.id} stands at line" in str(told)

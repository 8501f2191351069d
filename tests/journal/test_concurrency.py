"""Many at one log: every acknowledged entry is there once, and nobody sees half of one."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.journal.children import Child, in_child
from tests.journal.made import decision, fill, lesson, made_id, outcome, resolution
from tradmem.errors import LogBusy
from tradmem.journal import files
from tradmem.journal.base import OnConflict, Stored
from tradmem.journal.markdown import MarkdownJournal
from tradmem.model import Addition, Status

LESSON = re.compile(r"Lesson ([0-9]+)\.")


def write_all(path: Path, numbers, say) -> None:
    """Record and resolve decisions, and say which were acknowledged."""
    journal = MarkdownJournal(path, max_resolved=40, timeout=120)
    for number in numbers:
        entry, stored = journal.append(decision(number))
        assert stored is Stored.RECORDED
        say(f"recorded {entry.id}")
        (settled,) = journal.add([(entry.id, outcome(number))])
        assert settled.status is Status.SETTLED
        (resolved,) = journal.add([(entry.id, lesson(number))])
        assert resolved.status is Status.RESOLVED
        say(f"resolved {entry.id}")


def rewrite(path: Path, numbers, say) -> None:
    """Go on adding to entries of its own, each time rewriting the file."""
    journal = MarkdownJournal(path, max_resolved=40, timeout=120)
    name = made_id(numbers[0])
    journal.append(decision(numbers[0]))
    say("begun")
    count = 0
    while not path.with_name("stop").exists():
        journal.add([(name, Addition(kind="mark", data={"count": count}))])
        count += 1
    say(f"marks {count}")


def read(path: Path, say) -> None:
    """Look again and again, with one journal that lives long and with new ones."""
    lives_long, most = MarkdownJournal(path), 0
    while not path.with_name("stop").exists():
        for journal in (lives_long, MarkdownJournal(path)):
            entries = journal.entries()
            names = [entry.id for entry in entries]
            assert len(names) == len(set(names)), "an entry was seen twice"
            assert len(names) >= most, "an entry was there and is gone"
            most = len(names)
            for entry in entries:
                check_whole(entry)
        assert all("torn" not in str(problem) for problem in lives_long.problems())
    say(f"seen {most}")


def check_whole(entry) -> None:
    number = (entry.date - decision(0).date).days
    made = decision(number)
    assert (entry.decision, entry.rating) == (made.text, made.rating), "half an entry was seen"
    if entry.reflection:
        assert entry.reflection == lesson(number).text
        assert entry.outcome == outcome(number).outcome


def stress(path: Path, writers: int, each: int) -> None:
    spans = [range(1000 * w, 1000 * w + each) for w in range(writers)]
    children = [Child(partial(write_all, path, span)) for span in spans]
    others = [Child(partial(rewrite, path, [9000])), Child(partial(read, path))]
    ends = [child.end() for child in children]
    path.with_name("stop").touch()
    rewriter, reader = (child.end() for child in others)
    assert [status for _, status in (*ends, rewriter, reader)] == [0] * (writers + 2)
    said = {line for lines, _ in ends for line in lines}
    assert len(said) == 2 * writers * each
    journal = MarkdownJournal(path)
    entries = {entry.id: entry for entry in journal.entries()}
    wanted = [made_id(number) for span in spans for number in span]
    assert sorted(entries) == sorted([*wanted, made_id(9000)])
    assert all(entries[name].status is Status.RESOLVED for name in wanted)
    for name in wanted:
        check_whole(entries[name])
    marks = [a.data["count"] for a in entries[made_id(9000)].additions]
    assert marks == list(range(int(rewriter[0][-1].split()[1])))
    assert not journal.problems()
    everything = "".join(file.read_text() for file in (path, *journal.archives()))
    lessons = [int(found[1]) for found in LESSON.finditer(everything)]
    assert sorted(lessons) == sorted(number for span in spans for number in span)


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    stress(tmp_path / "memory.md", writers=4, each=12)


@pytest.mark.long
def test_eight_processes_with_a_hundred_decisions_each_lose_nothing(tmp_path):
    stress(tmp_path / "memory.md", writers=8, each=100)


def test_threads_that_share_a_journal_lose_nothing(tmp_path):
    journal = MarkdownJournal(tmp_path / "memory.md", max_resolved=10)

    def work(worker: int) -> None:
        for number in range(100 * worker, 100 * worker + 8):
            journal.append(decision(number))
            journal.add(resolution(number))
            assert journal.get(made_id(number)).status is Status.RESOLVED
            names = [entry.id for entry in journal.entries()]
            assert len(set(names)) == len(names)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    entries = MarkdownJournal(tmp_path / "memory.md").entries()
    assert len(entries) == 48
    assert {entry.status for entry in entries} == {Status.RESOLVED}
    assert journal.entries() == entries


def test_tasks_that_hand_their_writes_to_threads_lose_nothing(tmp_path):
    """As an asynchronous graph does; several journals on one path at that."""
    journals = [MarkdownJournal(tmp_path / "memory.md") for _ in range(3)]

    async def work(number: int) -> None:
        journal = journals[number % 3]
        await asyncio.to_thread(journal.append, decision(number))
        await asyncio.to_thread(journals[(number + 1) % 3].add, resolution(number))
        assert (await asyncio.to_thread(journal.get, made_id(number))).reflection

    async def all_at_once() -> None:
        await asyncio.gather(*(work(number) for number in range(30)))

    asyncio.run(all_at_once())
    assert {entry.id for entry in journals[0].entries()} == {made_id(n) for n in range(30)}
    assert journals[0].entries() == journals[1].entries() == journals[2].entries()


def test_the_same_decision_from_many_processes_is_recorded_once(tmp_path):
    path = tmp_path / "memory.md"

    def work(say) -> None:
        for number in range(10):
            _, stored = MarkdownJournal(path).append(decision(number))
            say(f"{number} {stored}")

    ends = [child.end() for child in [Child(work) for _ in range(4)]]
    said = sorted(line for lines, status in ends for line in lines if status == 0)
    assert len(said) == 40
    assert [line for line in said if line.endswith("recorded")] == [
        f"{number} recorded" for number in range(10)
    ]
    assert len(MarkdownJournal(path).entries()) == 10


def test_revisions_from_many_processes_get_numbers_of_their_own(tmp_path):
    path = tmp_path / "memory.md"

    def work(worker: int, say) -> None:
        for number in range(4):
            made = decision(0, text=f"**Rating**: Buy, by {worker}, {number}")
            entry, _ = MarkdownJournal(path).append(made, on_conflict=OnConflict.REVISE)
            say(f"{entry.id} {entry.revision}")

    ends = [child.end() for child in [Child(partial(work, worker)) for worker in range(4)]]
    said = {line for lines, _ in ends for line in lines}
    assert len(said) == 16
    assert {int(line.split()[1]) for line in said} == set(range(16))
    entries = MarkdownJournal(path).entries()
    assert {f"{entry.id} {entry.revision}" for entry in entries} == said


# One resolver


def hold(path: Path, say) -> None:
    with MarkdownJournal(path).resolving():
        say("resolving")
        time.sleep(600)


def test_one_resolver_runs_at_a_time_and_writers_go_on(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    child = Child(partial(hold, path))
    assert child.heard() == "resolving"
    with pytest.raises(LogBusy, match=f"^{path} is being resolved by another process"):
        journal.resolving().__enter__()
    journal.append(decision(0))
    journal.add(resolution(0))
    child.kill()
    child.end()
    with journal.resolving(timeout=5):
        assert journal.entries()


def test_waiting_resolvers_go_one_after_the_other(tmp_path):
    """None begins before the one in front has ended, and so none sees its work as due."""
    path = tmp_path / "memory.md"
    fill(MarkdownJournal(path), range(2))
    MarkdownJournal(path).append(decision(2))

    def work(say) -> None:
        journal = MarkdownJournal(path)
        with journal.resolving(timeout=60):
            due = journal.unfinished()
            time.sleep(0.02)  # a model thinks
            journal.add([pair for _ in due for pair in resolution(2)])
            say(f"wrote {len(due)}")

    said = sorted(line for child in [Child(work) for _ in range(4)] for line in child.end()[0])
    assert said == ["wrote 0"] * 3 + ["wrote 1"]


# Locks


def test_a_lock_that_is_held_too_long_is_one_clear_error(tmp_path):
    path = tmp_path / "memory.md"
    MarkdownJournal(path).append(decision(0))
    before = path.read_bytes()

    def work(say) -> None:
        with files.Lock(tmp_path / "memory.md.lock", of=path).held(1):
            say("held")
            time.sleep(600)

    child = Child(work)
    child.heard()
    impatient = MarkdownJournal(path, timeout=0.05)
    for write in (partial(impatient.append, decision(1)), partial(impatient.add, resolution(0))):
        with pytest.raises(LogBusy) as caught:
            write()
        assert str(caught.value) == (
            f"{path} is in use by another process (waited 0.05 s); try again when it has finished"
        )
    assert len(impatient.entries()) == 1
    assert path.read_bytes() == before
    child.kill()
    child.end()
    impatient.append(decision(1))


def test_a_dead_process_holds_no_lock(tmp_path):
    path = tmp_path / "memory.md"

    def work(say) -> None:
        with files.Lock(tmp_path / "memory.md.lock", of=path).held(1):
            say("held")
            time.sleep(600)

    child = Child(work)
    child.heard()
    child.kill()
    child.end()
    assert (tmp_path / "memory.md.lock").exists()
    start = time.perf_counter()
    MarkdownJournal(path).append(decision(0))
    assert time.perf_counter() - start < 5


def test_a_process_holds_no_lock_through_what_it_started(tmp_path):
    """A child that was forked meanwhile, or a program, lives on when the holder dies."""
    path = tmp_path / "memory.md"
    lock = files.Lock(tmp_path / "memory.md.lock", of=path)

    def work(say) -> None:
        with lock.held(1):
            program = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
            pid = os.fork() or time.sleep(600)
            say(f"{program.pid} {pid}")
            time.sleep(600)

    child = Child(work)
    alive = [int(pid) for pid in child.heard().split()]
    child.kill()
    try:
        with lock.held(5):
            for pid in alive:
                os.kill(pid, 0)
    finally:
        for pid in alive:
            os.kill(pid, signal.SIGKILL)
        child.end()


def test_who_was_forked_in_a_lock_leaves_it_to_the_one_that_holds_it(tmp_path):
    path = tmp_path / "memory.md"
    lock = files.Lock(tmp_path / "memory.md.lock", of=path)

    def work(say) -> None:
        with lock.held(1):
            if pid := os.fork():
                os.waitpid(pid, 0)
                say("held")
                time.sleep(600)
        os._exit(0)  # the child, which has left the lock

    child = Child(work)
    child.heard()
    try:
        with pytest.raises(LogBusy), lock.held(0):
            pass
    finally:
        child.kill()
        child.end()


def test_a_child_forked_while_a_thread_writes_is_not_stuck(tmp_path):
    """It inherits the journal, but not the thread that would have let go of it."""
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    journal.append(decision(0))
    inside, go = threading.Event(), threading.Event()

    def may_revise(_) -> bool:
        inside.set()
        return go.wait(60)

    revised = decision(0, text="**Rating**: Sell")
    thread = threading.Thread(
        target=lambda: journal.append(revised, on_conflict=OnConflict.REVISE, may_revise=may_revise)
    )
    thread.start()
    assert inside.wait(60)

    def work(say) -> None:
        say(f"sees {len(journal.entries())}")
        journal.append(decision(1))

    child = Child(work)
    assert child.heard() == "sees 1"
    go.set()
    thread.join()
    assert child.end() == ([], 0)
    assert len(journal.entries()) == 3


# Programs that take no lock


def meddle(monkeypatch, name: str, what) -> list[str]:
    """Let another program act once, at a named step of a write."""
    done: list[str] = []

    def step(here: str) -> None:
        if here == name and not done:
            done.append(name)
            what()

    monkeypatch.setattr(files, "step", step)
    return done


def save(path: Path, old: str, new: str) -> None:
    """As an editor does: a file of its own takes the place of the old one."""
    text = path.read_text()
    assert old in text
    other = path.with_name("editor.tmp")
    other.write_text(text.replace(old, new))
    other.replace(path)


def test_what_an_editor_saves_during_a_rewrite_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    journal.append(decision(0))
    journal.append(decision(1))
    done = meddle(monkeypatch, "written", lambda: save(path, "Number 1.", "Number one."))
    (entry, _) = journal.add(resolution(0))
    assert done
    assert entry.status is Status.RESOLVED
    assert "Number one." in journal.get(made_id(1)).decision
    assert journal.entries() == MarkdownJournal(path).entries()


def test_what_is_appended_during_a_rewrite_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path, max_resolved=3)
    fill(journal, range(20))
    theirs = "[2026-03-02 | MSFT | Hold | pending]\n\nDECISION:\nTheirs.\n\n<!-- ENTRY_END -->\n\n"

    def append() -> None:
        with path.open("a") as file:
            file.write(theirs)

    for number in range(20, 24):
        journal.append(decision(number))
    done = meddle(monkeypatch, "before replace", append)
    journal.add([pair for number in range(20, 24) for pair in resolution(number)])
    assert done
    entries = MarkdownJournal(path).entries()
    assert [entry.decision for entry in entries if entry.ticker == "MSFT"] == ["Theirs."]
    assert len(entries) == 25
    assert journal.entries() == entries


@pytest.mark.parametrize("at", ["appended", "synced"])
def test_an_entry_is_not_acknowledged_in_a_file_that_has_been_replaced(tmp_path, monkeypatch, at):
    """Another program put an older content in the log's place while we appended."""
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    journal.append(decision(0))
    older = path.read_bytes()

    def put_back() -> None:
        other = path.with_name("other.tmp")
        other.write_bytes(older)
        other.replace(path)

    done = meddle(monkeypatch, at, put_back)
    entry, stored = journal.append(decision(1))
    assert done
    assert stored is Stored.RECORDED
    assert [each.id for each in MarkdownJournal(path).entries()] == [made_id(0), entry.id]


@pytest.mark.parametrize("at", ["appended", "synced"])
def test_an_entry_is_not_acknowledged_in_a_file_that_was_written_anew_in_place(
    tmp_path, monkeypatch, at
):
    """An editor that keeps the inode truncated the log while we appended."""
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    journal.append(decision(0))
    older = path.read_bytes()
    done = meddle(monkeypatch, at, lambda: path.write_bytes(older))
    entry, stored = journal.append(decision(1))
    assert done
    assert stored is Stored.RECORDED
    assert [each.id for each in MarkdownJournal(path).entries()] == [made_id(0), entry.id]


def test_a_program_that_never_stops_writing_is_one_clear_error(tmp_path, monkeypatch):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    journal.append(decision(0))

    def step(name: str) -> None:
        if name == "written":
            with path.open("a") as file:
                file.write("\n")

    monkeypatch.setattr(files, "step", step)
    with pytest.raises(LogBusy, match="changed by a program that takes no lock"):
        journal.add(resolution(0))
    assert journal.get(made_id(0)).status is Status.PENDING
    assert {each.name for each in tmp_path.iterdir()} == {"memory.md", "memory.md.lock"}


def test_a_child_process_reads_what_its_parent_wrote(tmp_path):
    """A journal with all that it knows may be used on both sides of a fork."""
    journal = MarkdownJournal(tmp_path / "memory.md")
    fill(journal, range(3))
    journal.entries()
    assert in_child(lambda say: [say(e.id) for e in journal.entries()]) == [
        made_id(number) for number in range(3)
    ]
    in_child(lambda _: journal.append(decision(3)))
    assert journal.get(made_id(3)) is not None

"""The system refuses something: one clear error, the log untouched, nothing left behind."""

import errno
import os
import resource
import shutil
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.journal import scenario
from tests.journal.children import CALLS, become_nobody, calls_watched, in_child
from tests.journal.made import decision, fill, made_id, resolution
from tests.journal.scenario import MARK, MOST, check, contents, strays
from tradmem.errors import LogError, UsageError
from tradmem.journal.markdown import MarkdownJournal

WRITES = {
    "append": lambda journal: journal.append(decision(30)),
    "rewrite": lambda journal: journal.add([(made_id(29), MARK)]),
    "rotate": lambda journal: journal.add(resolution(40)),
    "archive": lambda journal: journal.add([(made_id(0), MARK)]),
    "both": lambda journal: journal.add([(made_id(0), MARK), *resolution(40)]),
}
CODES = (errno.ENOSPC, errno.EROFS, errno.EIO)
KNOWN = {*range(31), 40}


@pytest.fixture
def unsynced(monkeypatch):
    """A power cut is not tried here, and without syncs these tests are fast."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    return folder, scenario.prepare(folder / "memory.md")


@pytest.fixture
def shared_folder():
    """A folder that others may enter, unlike those that pytest makes."""
    folder = Path(tempfile.mkdtemp(prefix="tradmem-test-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def names(folder: Path | str) -> list[str]:
    return sorted(each.name for each in Path(folder).iterdir())


def open_files() -> int:
    return len(names("/proc/self/fd"))


def error_of(do) -> LogError | None:
    """What something raised, None if it went well."""
    try:
        do()
    except LogError as error:
        return error
    return None


def one_line(error: BaseException) -> str:
    text = str(error)
    assert text
    assert "\n" not in text
    assert text.startswith("cannot "), text
    return text


# Every call in turn


class Trap:
    """Lets the call with a number fail, and notes whether the log was replaced before."""

    def __init__(self, wanted: int, failure: BaseException, path: Path) -> None:
        self.wanted, self.failure, self.path = wanted, failure, path
        self.name = ""
        self.is_replaced = False

    def __call__(self, number, name, args, call):
        if number == self.wanted:
            self.name = name
            raise self.failure
        done = call()
        self.is_replaced |= name == "replace" and Path(args[1]) == self.path
        return done


@pytest.mark.parametrize("write", ["append", "rewrite", "both"])
def test_whatever_call_fails_the_log_stays_as_it_was(tmp_path, prepared, unsynced, write):
    """Or, where it was replaced already, as it was to be; trying again gives the same."""
    before, acknowledged = prepared
    wanted = scenario.copy(before, tmp_path / "wanted")
    WRITES[write](MarkdownJournal(wanted, max_resolved=MOST))
    after = MarkdownJournal(wanted).entries()
    failed, number = [], 0
    while True:
        number += 1
        path = scenario.copy(before, tmp_path / str(number))
        was, files_before = contents(path), open_files()
        journal = MarkdownJournal(path, max_resolved=MOST)
        code = CODES[number % len(CODES)]
        trap = Trap(number, OSError(code, os.strerror(code)), path)
        with calls_watched(trap, (*CALLS, "pread")):
            error = error_of(partial(WRITES[write], journal))
        if error:
            assert os.strerror(code).lower() in one_line(error)
            assert str(tmp_path) in str(error)
            failed.append(trap.name)
            if not trap.is_replaced:
                assert path.read_bytes() == was["memory.md"]
        assert open_files() == files_before
        assert not strays(path) or trap.name == "unlink"
        entries = check(path, KNOWN, acknowledged)
        assert journal.entries() == entries, "the journal remembers what never came to be"
        WRITES[write](journal)
        assert journal.entries() == MarkdownJournal(path).entries() == after
        assert not strays(path)
        if not trap.name:
            break
    assert {"open", "fsync", "write" if write == "append" else "replace"} <= set(failed)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_a_failing_first_write_leaves_no_log(tmp_path, unsynced, code):
    number, trap = 0, None
    while trap is None or trap.name:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "memory.md"
        trap = Trap(number, OSError(code, os.strerror(code)), path)
        journal = MarkdownJournal(path)
        with calls_watched(trap, (*CALLS, "pread")):
            error = error_of(partial(journal.append, decision(0)))
        if error:
            one_line(error)
            assert trap.is_replaced or not path.exists()
        assert set(names(folder)) <= {"memory.md", "memory.md.lock"}
        journal.append(decision(0))
        assert len(MarkdownJournal(path).entries()) == 1
    assert number > 4


@pytest.mark.parametrize("write", ["append", "rewrite", "both"])
def test_a_person_who_interrupts_a_write_can_go_on_with_the_same_journal(
    tmp_path, prepared, unsynced, write
):
    """Ctrl-C in a notebook, at any call: the lock is free, and nothing stale is remembered."""
    before, acknowledged = prepared
    number, trap = 0, None
    while trap is None or trap.name:
        number += 1
        path = scenario.copy(before, tmp_path / str(number))
        journal = MarkdownJournal(path, max_resolved=MOST)
        journal.entries()
        journal.counts("T0", decision(40).known_at)
        trap = Trap(number, KeyboardInterrupt(), path)
        try:
            with calls_watched(trap, (*CALLS, "pread")):
                WRITES[write](journal)
        except KeyboardInterrupt:
            assert trap.name
        entries = check(path, KNOWN, acknowledged)
        assert journal.entries() == entries
        scenario.check_counts(journal, entries)
        MarkdownJournal(path, timeout=0.5).append(decision(30))
        WRITES[write](journal)
        assert journal.entries() == MarkdownJournal(path).entries()
    assert number > 4


# A disk that is really full


@contextmanager
def at_most(size: int):
    """No file of this process may grow beyond a size, as on a full disk."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


@pytest.mark.parametrize("write", WRITES)
def test_a_full_disk_leaves_the_log_as_it_was(tmp_path, prepared, unsynced, write):
    """Whatever part of the new content still fits."""
    before, acknowledged = prepared
    path = scenario.copy(before, tmp_path / "log")
    was = contents(path)

    limit = len(was["memory.md" if write in ("append", "rewrite") else "memory-2025.md"])

    def work(say) -> None:
        for more in (0, 1, 30):
            journal = MarkdownJournal(path, max_resolved=MOST)
            with at_most(limit + more), pytest.raises(LogError) as caught:
                WRITES[write](journal)
            say(one_line(caught.value))
            assert contents(path) == was
            assert journal.entries() == check(path, KNOWN, acknowledged)
            assert not strays(path)

    said = in_child(work)
    assert len(said) == 3
    assert all("file too large" in line for line in said)
    WRITES[write](MarkdownJournal(path, max_resolved=MOST))
    assert contents(path) != was


def test_a_failed_append_takes_back_nothing_that_another_wrote_behind_it(tmp_path, monkeypatch):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    journal.append(decision(0))
    theirs = "[2026-03-02 | MSFT | Hold | pending]\n\nDECISION:\nTheirs.\n\n<!-- ENTRY_END -->\n\n"

    def fail(_descriptor: int) -> None:
        with path.open("a") as file:
            file.write(theirs)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(LogError, match="input/output error"):
            journal.append(decision(1))
    assert [entry.ticker for entry in journal.entries()] == ["T0", "T1", "MSFT"]
    assert not journal.problems()


# Nothing may be written there


def test_a_read_only_log_is_not_written_by_any_way(shared_folder):
    """Its folder would allow a replacement, but its owner has said no."""
    path = shared_folder / "memory.md"

    def work(say) -> None:
        become_nobody()
        journal = MarkdownJournal(path, max_resolved=MOST)
        fill(journal, range(26))
        journal.append(decision(40))
        path.chmod(0o444)
        was = contents(path)
        writes = (journal.append, decision(30)), (journal.add, resolution(40))
        for write, what in (*writes, (journal.add, [(made_id(20), MARK)])):
            with pytest.raises(LogError) as caught:
                write(what)
            say(one_line(caught.value))
        assert contents(path)["memory.md"] == was["memory.md"]
        assert not strays(path)
        assert len(MarkdownJournal(path).entries()) == 27

    wanted = f"cannot write {path}: permission denied; set TRADMEM_LOG or --log to a writable path"
    assert in_child(work) == [wanted] * 3


@pytest.mark.parametrize("mode", [0o555, 0o444, 0o000])
def test_a_folder_without_permission_is_one_clear_error(shared_folder, mode):
    folder = shared_folder / "logs"
    path = folder / "memory.md"

    def work(say) -> None:
        become_nobody()
        journal = MarkdownJournal(path)
        fill(journal, range(3))
        path.with_name("memory.md.lock").unlink()
        was = path.read_bytes()
        folder.chmod(mode)
        for each in (journal, MarkdownJournal(path)):
            for write in (partial(each.append, decision(9)), partial(each.add, resolution(1))):
                with pytest.raises(LogError) as caught:
                    write()
                say(one_line(caught.value))
            with pytest.raises(LogError) as caught, each.resolving():
                pass
            say(one_line(caught.value))
        folder.chmod(0o755)
        assert path.read_bytes() == was
        assert names(folder) == ["memory.md"]

    said = in_child(work)
    assert len(said) == 6
    assert all(line.startswith(f"cannot write {folder}") for line in said)
    assert all("permission denied" in line for line in said)


def test_a_log_that_may_only_be_read_is_read(shared_folder):
    """Reading takes no lock, and so needs no right to write one."""
    folder = shared_folder / "logs"
    path = folder / "memory.md"
    fill(MarkdownJournal(path, max_resolved=MOST), range(40))
    folder.chmod(0o755)

    def work(say) -> None:
        become_nobody()
        journal = MarkdownJournal(path)
        say(str(len(journal.entries())))
        say(str(len(journal.memories(decision(60).known_at))))
        say(str(len(journal.problems())))

    assert in_child(work) == ["40", "40", "0"]


@pytest.mark.parametrize("name", ["memory.md", "archive", "archive/memory-2025.md"])
def test_what_may_not_be_read_is_one_clear_error(shared_folder, name):
    """An archive that cannot be read is no archive that is not there."""
    path = shared_folder / "memory.md"

    def work(say) -> None:
        become_nobody()
        fill(MarkdownJournal(path, max_resolved=MOST), range(40))
        (shared_folder / name).chmod(0)
        journal = MarkdownJournal(path, max_resolved=MOST)
        reads = (
            journal.entries,
            journal.problems,
            partial(journal.get, made_id(0)),
            partial(journal.memories, decision(60).known_at),
            partial(journal.append, decision(0)),
            partial(journal.add, [(made_id(0), MARK)]),
        )
        for read in reads:
            with pytest.raises(LogError) as caught:
                read()
            say(one_line(caught.value))
        (shared_folder / name).chmod(0o755)
        assert len(journal.entries()) == 40

    said = in_child(work)
    assert len(said) == 6
    assert all(str(shared_folder / name) in line and "denied" in line for line in said)


# What is no log


def refused(path: Path, *, reading: bool = True) -> set[str]:
    """The errors of everything that can be done with a log."""
    journal = MarkdownJournal(path, timeout=0.2)
    doings = [
        partial(journal.append, decision(0)),
        partial(journal.add, resolution(0)),
        lambda: journal.resolving().__enter__(),
    ]
    if reading:
        doings += [journal.entries, journal.unfinished, journal.problems]
    said = set()
    for do in doings:
        with pytest.raises(LogError) as caught:
            do()
        said.add(one_line(caught.value))
    return said


def test_a_folder_is_no_log(tmp_path):
    path = tmp_path / "logs"
    path.mkdir()
    reason = f"{path}: it is a folder; name a file in it"
    assert refused(path) == {f"cannot write {reason}", f"cannot read {reason}"}
    assert names(tmp_path) == ["logs"]
    assert not names(path)


def test_the_root_of_all_folders_is_no_log():
    assert all("/: it is a folder; name a file in it" in line for line in refused(Path("/")))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a system without /proc")
def test_a_folder_that_takes_no_files_is_told_at_once_and_not_waited_for():
    said = refused(Path("/proc/memory.md"), reading=False)
    assert all(".lock: no such file or directory; set TRADMEM_LOG" in line for line in said)


def test_a_device_is_no_log():
    """What is written there would be acknowledged and gone."""
    assert all("/dev/null: it is no regular file" in line for line in refused(Path("/dev/null")))
    assert not Path("/dev/null.lock").exists()


def test_a_pipe_is_no_log_and_nobody_waits_for_its_other_end(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert all("it is no regular file" in line for line in refused(tmp_path / "pipe"))
    assert names(tmp_path) == ["pipe"]


def test_a_file_is_no_folder_for_a_log(tmp_path):
    (tmp_path / "file").write_text("something")
    said = refused(tmp_path / "file" / "memory.md")
    assert all("not a directory" in line for line in said)
    assert (tmp_path / "file").read_text() == "something"


def test_a_link_to_itself_is_no_log(tmp_path):
    (tmp_path / "memory.md").symlink_to("memory.md")
    assert all("symbolic links" in line for line in refused(tmp_path / "memory.md"))
    assert names(tmp_path) == ["memory.md"]


@pytest.mark.parametrize("name", ["x" * 300, "x" * 252])
def test_a_name_that_is_too_long_is_refused(tmp_path, name):
    """Also where only its lock's name is."""
    assert all("name too long" in line for line in refused(tmp_path / name, reading=False))
    assert not names(tmp_path)


def test_a_name_with_a_nul_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is no path"):
        MarkdownJournal(f"{tmp_path}/a\0b")


def test_a_lock_that_is_no_file_is_one_clear_error(tmp_path):
    (tmp_path / "memory.md.lock").mkdir()
    journal = MarkdownJournal(tmp_path / "memory.md")
    with pytest.raises(LogError, match=r"memory\.md\.lock") as caught:
        journal.append(decision(0))
    one_line(caught.value)
    assert names(tmp_path) == ["memory.md.lock"]


def test_an_archive_that_is_no_folder_stops_the_rotation_and_nothing_else(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path, max_resolved=MOST)
    fill(journal, range(25))
    (tmp_path / "archive").write_text("in the way")
    journal.append(decision(25))
    before = path.read_bytes()
    with pytest.raises(LogError, match="archive") as caught:
        journal.add(resolution(25))
    one_line(caught.value)
    assert path.read_bytes() == before
    assert len(journal.entries()) == 26
    (tmp_path / "archive").unlink()
    journal.add(resolution(25))
    assert len(MarkdownJournal(path).entries()) == 26


# A folder that is gone


def test_a_vanished_folder_is_not_quietly_begun_anew(tmp_path):
    """A disk that is not mounted any more must not look like an empty memory that fills."""
    folder, away = tmp_path / "logs", tmp_path / "away"
    path = folder / "memory.md"
    journal = MarkdownJournal(path)
    journal.append(decision(0))
    folder.rename(away)
    journal.entries()
    for write in (partial(journal.append, decision(1)), partial(journal.add, resolution(0))):
        with pytest.raises(LogError, match=f"^cannot write {path}: its folder has vanished"):
            write()
    with pytest.raises(LogError, match="vanished"), journal.resolving():
        pass
    assert names(tmp_path) == ["away"]
    away.rename(folder)
    journal.append(decision(1))
    assert len(MarkdownJournal(path).entries()) == 2


def test_a_new_journal_makes_the_folders_that_it_needs(tmp_path):
    journal = MarkdownJournal(tmp_path / "a" / "b" / "memory.md")
    assert journal.entries() == []
    assert journal.problems() == []
    assert not names(tmp_path)
    journal.append(decision(0))
    assert len(journal.entries()) == 1

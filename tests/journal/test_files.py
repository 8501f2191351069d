"""Where a log may stand, and what of its file survives a write."""

import os
import stat
import struct
from pathlib import Path

import pytest

from tests.journal.children import NOBODY, calls_watched
from tests.journal.made import decision, fill, lesson, made_id, resolution
from tradmem.errors import LogError
from tradmem.journal.files import replace
from tradmem.journal.markdown import MarkdownJournal
from tradmem.model import Status

NAMES = (
    "memory.md",
    "my log.md",
    "mémoire – 記憶.md",
    "weird [a-z]*?.md",
    "no suffix",
    ".hidden.md",
    "two.dots.md",
    "100%.md",
)


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize("name", NAMES)
def test_any_name_in_any_folder_works(tmp_path, name):
    """Spaces, other scripts and what a shell would expand are plain characters."""
    path = tmp_path / "Jürgen's – 取引 [1]" / name
    journal = MarkdownJournal(path, max_resolved=6)
    fill(journal, range(40))
    again = MarkdownJournal(path)
    assert [entry.id for entry in again.entries()] == [made_id(number) for number in range(40)]
    assert any(entry.archived for entry in again.entries())
    assert not again.problems()
    assert journal.where(made_id(39)).startswith(f"{path}:")
    archive = path.parent / "archive" / path.with_stem(f"{path.stem}-2025").name
    assert again.where(made_id(0)).startswith(f"{archive}:")


@pytest.mark.parametrize("names", [("m", "m.md"), ("m.md", "m.md.md"), ("m", "m.txt")])
def test_logs_beside_each_other_share_no_archive(tmp_path, names):
    """Whatever their names have in common."""
    for number, name in enumerate(names):
        fill(MarkdownJournal(tmp_path / name, max_resolved=6), range(40 * number, 40 * number + 40))
    for number, name in enumerate(names):
        journal = MarkdownJournal(tmp_path / name)
        assert journal.archives()
        there = [entry.id for entry in journal.entries()]
        assert there == [made_id(each) for each in range(40 * number, 40 * number + 40)]


def test_a_rewrite_clears_the_temporaries_of_its_own_log_only(tmp_path):
    path = tmp_path / "a*[b].md"
    journal = MarkdownJournal(path)
    journal.append(decision(1))
    stray = path.with_name(f".{path.name}.0123456789ab.tmp")
    others = [".aXb.md.0123456789ab.tmp", f".{path.name}.notes.tmp", "a*[b].md.tmp"]
    for each in (stray, *(path.with_name(name) for name in others)):
        each.write_text("something")
    journal.add(resolution(1))
    assert tree(tmp_path) == {path.name, f"{path.name}.lock", *others}


def test_a_relative_path_means_the_folder_at_opening(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    journal = MarkdownJournal("logs/memory.md")
    journal.append(decision(1))
    monkeypatch.chdir(tmp_path / "elsewhere")
    journal.add(resolution(1))
    assert tree(tmp_path) == {"logs/memory.md", "logs/memory.md.lock"}


# Symlinks


def test_a_linked_log_is_written_where_the_link_leads(tmp_path):
    real, link = tmp_path / "disk" / "real.md", tmp_path / "logs" / "memory.md"
    real.parent.mkdir()
    link.parent.mkdir()
    link.symlink_to(Path("..") / "disk" / "real.md")
    fill(MarkdownJournal(link, max_resolved=6), range(40))
    assert link.readlink() == Path("..") / "disk" / "real.md"
    assert not real.is_symlink()
    assert tree(link.parent) == {"memory.md"}
    assert [entry.id for entry in MarkdownJournal(real).entries()] == [
        made_id(number) for number in range(40)
    ]


def test_both_names_of_a_log_share_one_lock_and_one_archive(tmp_path):
    real, link = tmp_path / "real.md", tmp_path / "link.md"
    link.symlink_to(real)
    one, other = MarkdownJournal(real, max_resolved=6), MarkdownJournal(link, max_resolved=6)
    for number in range(40):
        (one, other)[number % 2].append(decision(number))
        (other, one)[number % 2].add(resolution(number))
    assert one.entries() == other.entries()
    assert {entry.status for entry in one.entries()} == {Status.RESOLVED}
    names = {"real.md", "real.md.lock", "link.md", "archive/real-2025.md"}
    assert tree(tmp_path) == names


def test_a_link_in_the_folders_above_works(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "logs").symlink_to(tmp_path / "disk")
    fill(MarkdownJournal(tmp_path / "logs" / "memory.md"), range(3))
    assert (tmp_path / "disk" / "memory.md").is_file()
    assert (tmp_path / "logs").is_symlink()


def test_a_link_that_is_turned_to_another_file_is_followed(tmp_path):
    """A journal that lives long does not go on writing where nobody looks any more."""
    link = tmp_path / "memory.md"
    for name in ("one.md", "two.md"):
        MarkdownJournal(tmp_path / name).append(decision(1))
    link.symlink_to("one.md")
    journal = MarkdownJournal(link)
    journal.append(decision(2))
    link.unlink()
    link.symlink_to("two.md")
    journal.append(decision(3))
    journal.add(resolution(1))
    assert [entry.id for entry in journal.entries()] == [made_id(1), made_id(3)]
    assert [entry.id for entry in MarkdownJournal(tmp_path / "one.md").unfinished()] == [
        made_id(1),
        made_id(2),
    ]


def test_a_linked_archive_stays_a_link(tmp_path):
    """Also through a rewrite of the archive, which an addition to an old entry is."""
    path, disk = tmp_path / "memory.md", tmp_path / "disk"
    disk.mkdir()
    (tmp_path / "archive").mkdir()
    link = tmp_path / "archive" / "memory-2025.md"
    link.symlink_to(disk / "old.md")
    journal = MarkdownJournal(path, max_resolved=6)
    fill(journal, range(40))
    journal.add([(made_id(0), lesson(0, "Another."))])
    assert link.is_symlink()
    assert not (disk / "old.md").is_symlink()
    entry = journal.get(made_id(0))
    assert entry is not None
    assert (entry.archived, entry.reflection) == (True, "Another.")
    assert journal.where(made_id(0)).startswith(f"{link}:")
    assert journal.latest(40) == journal.entries()
    assert tree(disk) == {"old.md"}


def test_an_archive_that_leads_to_the_log_itself_is_refused(tmp_path):
    """What rotated into it would be gone with the rewrite of the log."""
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path, max_resolved=None)
    fill(journal, range(40))
    before = path.read_bytes()
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "memory-2025.md").symlink_to(path)
    with pytest.raises(LogError, match="a link to the log itself; remove the link"):
        MarkdownJournal(path, max_resolved=6).add([(made_id(39), lesson(39, "Another."))])
    assert path.read_bytes() == before


# Modes and owners


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o664, 0o666])
def test_the_mode_survives_and_the_archive_is_no_more_open(tmp_path, bits):
    """What was private in the log is not laid open by its rotation."""
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path, max_resolved=6)
    journal.append(decision(0))
    path.chmod(bits)
    fill(journal, range(1, 40))
    journal.add([(made_id(1), lesson(1, "Another."))])
    assert mode(path) == bits
    assert mode(tmp_path / "archive" / "memory-2025.md") == bits


def test_a_new_log_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        MarkdownJournal(tmp_path / "memory.md").append(decision(0))
    finally:
        os.umask(before)
    assert mode(tmp_path / "memory.md") == 0o640


def test_who_may_write_the_log_may_lock_it(tmp_path):
    """The lock of a log that a group shares is not its first writer's alone."""
    path = tmp_path / "memory.md"
    path.touch()
    path.chmod(0o660)
    MarkdownJournal(path).append(decision(0))
    assert mode(tmp_path / "memory.md.lock") == 0o660


def test_the_owner_survives_a_rewrite(tmp_path):
    """Root, who alone can give files away, does not make the log of another its own."""
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path, max_resolved=6)
    journal.append(decision(0))
    owner = (NOBODY, NOBODY) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(path, *owner)
    fill(journal, range(1, 40))
    for file in (path, tmp_path / "archive" / "memory-2025.md"):
        assert (file.stat().st_uid, file.stat().st_gid) == owner


ACCESS = "system.posix_acl_access"


def access_list(group: int) -> bytes:
    """That NOBODY may read and write, a group what is said, others nothing; as Linux keeps it."""
    entries = ((1, 6, -1), (2, 6, NOBODY), (4, group, -1), (16, 6, -1), (32, 0, -1))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="Linux")
def test_an_access_list_survives_and_the_group_gets_nothing_by_it(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path, max_resolved=6)
    journal.append(decision(0))
    try:
        os.setxattr(path, ACCESS, access_list(0))
    except OSError:
        pytest.skip("no access lists on this file system")
    fill(journal, range(1, 40))
    for name in ("memory.md", "memory.md.lock", "archive/memory-2025.md"):
        assert os.getxattr(tmp_path / name, ACCESS) == access_list(0)
        assert mode(tmp_path / name) == 0o660
    os.removexattr(path, ACCESS)
    path.chmod(0o600)
    os.setxattr(tmp_path, "system.posix_acl_default", access_list(6))
    fill(journal, range(40, 50))
    for name in ("memory.md", "memory.md.lock"):
        assert ACCESS not in os.listxattr(tmp_path / name)
        assert mode(tmp_path / name) == 0o600


# What is on the disk, and when


def traced(folder: Path, work) -> list[tuple[str, str]]:
    """The syncs and replacements that some work does, each with its path."""
    trace: list[tuple[str, str]] = []

    def note(_, name, args, call):
        path = Path(f"/proc/self/fd/{args[0]}").readlink() if name == "fsync" else args[1]
        if name == "replace":
            trace.append(("from", os.path.relpath(args[0], folder)))
        trace.append((name, os.path.relpath(path, folder)))
        return call()

    with calls_watched(note, ("fsync", "replace")):
        work()
    return trace


def test_an_append_is_on_the_disk_when_it_returns(tmp_path):
    journal = MarkdownJournal(tmp_path / "memory.md")
    journal.append(decision(0))
    assert traced(tmp_path, lambda: journal.append(decision(1))) == [("fsync", "memory.md")]


def test_the_first_append_brings_file_and_folders_to_the_disk(tmp_path):
    journal = MarkdownJournal(tmp_path / "new" / "logs" / "memory.md")
    trace = traced(tmp_path, lambda: journal.append(decision(0)))
    assert {("fsync", "."), ("fsync", "new"), ("fsync", "new/logs")} <= set(trace)
    assert len(journal.entries()) == 1


def test_nothing_takes_a_name_before_it_is_on_the_disk(tmp_path):
    """First the archive, then the log; of each first the content, then the name."""
    journal = MarkdownJournal(tmp_path / "memory.md", max_resolved=6)
    fill(journal, range(30))
    assert any(entry.archived for entry in journal.entries())
    journal.append(decision(30))
    journal.append(decision(31))

    def work():
        journal.add([(made_id(0), lesson(0, "Another.")), *resolution(30), *resolution(31)])

    trace = traced(tmp_path, work)
    assert trace[-1] == ("fsync", ".")
    for at, (name, path) in enumerate(trace):
        if name == "replace":
            source = trace[at - 1][1]
            assert ("fsync", source) in trace[:at]
            assert ("fsync", str(Path(path).parent)) in trace[at:]
    targets = [path for name, path in trace if name == "replace"]
    assert targets[0] == "archive/memory-2025.md"
    assert targets[-1] == "memory.md"
    last = max(at for at, (_, path) in enumerate(trace) if path == "archive/memory-2025.md")
    assert last < trace.index(("replace", "memory.md"))


def test_a_replacement_gives_way_to_what_came_in_between(tmp_path):
    """Another program saved the file while the new content was being written."""
    path = tmp_path / "log.md"
    path.write_text("old")
    assert not replace(path, [b"new"], unchanged=lambda: False)
    assert path.read_text() == "old"
    assert replace(path, [b"new"], unchanged=lambda: True)
    assert path.read_text() == "new"
    assert tree(tmp_path) == {"log.md"}

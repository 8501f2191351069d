"""Durable writes to one file: append, replace, lock.

An append is one write and an fsync, cut back if it fails. A rewrite goes to a temporary
file in the same folder that takes the old one's place. Either is there whole after a
crash, or not at all; at worst an append leaves a tail that is closed off later.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from tradmem.errors import LogBusy, LogError

_BINARY = getattr(os, "O_BINARY", 0)  # Windows
_HINT = "set TRADMEM_LOG or --log to a writable path"


def step(name: str) -> None:
    """Marks a named instant of a write; the crash tests stop the process here."""


def refuse(action: str, path: Path, error: OSError) -> NoReturn:
    """Turn an operating system's error into one line.

    Raises:
        LogError: always.
    """
    reason = (error.strerror or str(error)).lower()
    raise LogError(f"cannot {action} {path}: {reason}; {_HINT}") from error


@contextmanager
def lock(path: Path, timeout: float) -> Iterator[None]:
    """Hold a lock file between processes.

    The file stays when the lock is released: removing it would split those who wait. A
    process that dies gives its lock back.

    Args:
        path: the lock file.
        timeout: seconds to wait; 0 asks once.

    Raises:
        LogBusy: somebody else held it all that time.
        LogError: the lock file cannot be written.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - readers take no lock

    held = FileLock(path, timeout=timeout, thread_local=False)
    try:
        held.acquire(poll_interval=0.005)
    except Timeout as error:
        raise LogBusy(
            f"{path.with_suffix('')} is in use by another process (waited {timeout:g} s); "
            "try again when it has finished"
        ) from error
    except OSError as error:
        refuse("write", path, error)
    try:
        yield
    finally:
        held.release()


def open_for_append(path: Path) -> int:
    """A descriptor to read and append to a file, which is made if it is not there.

    Raises:
        LogError: it cannot be opened.
    """
    try:
        if path.is_dir():
            raise LogError(f"cannot write {path}: it is a folder; name a file in it")
        is_new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY, 0o666)
        if is_new:
            _sync_folder(path.parent)
    except OSError as error:
        refuse("write", path, error)
    return descriptor


def append(descriptor: int, data: bytes, path: Path) -> None:
    """Append bytes and have them on the disk; a failure leaves the file as it was.

    Raises:
        LogError: the bytes could not be written.
    """
    size = os.fstat(descriptor).st_size
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        step("appended")
        os.fsync(descriptor)
    except OSError as error:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        refuse("write", path, error)
    step("synced")


def replace(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """Put new content in a file's place; its mode and owner stay.

    Raises:
        LogError: it could not be written; the old file stands.
    """
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        _forget_temporaries(path)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        with os.fdopen(descriptor, "wb") as file:
            _take_over(path, temporary)
            for piece in pieces:
                file.write(piece)
            file.flush()
            step("written")
            os.fsync(file.fileno())
        step("before replace")
        os.replace(temporary, path)  # noqa: PTH105 - the pair of os.open above
        step("replaced")
        _sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        refuse("write", path, error)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it.

    Raises:
        LogError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse("make the folder", folder, error)


def _take_over(old: Path, new: Path) -> None:
    """Give the new file the old one's mode, and its owner where we may."""
    with suppress(FileNotFoundError):
        was = old.stat()
        new.chmod(was.st_mode & 0o7777)
        if hasattr(os, "chown"):
            with suppress(PermissionError):
                os.chown(new, was.st_uid, was.st_gid)


def _forget_temporaries(path: Path) -> None:
    """Remove what a crashed rewrite left; its writer is gone, since we hold the lock."""
    for stray in path.parent.glob(f".{path.name}.*.tmp"):
        with suppress(OSError):
            stray.unlink()


def _sync_folder(folder: Path) -> None:
    """Have the folder's own change on the disk, where the system offers that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Durable writes to one file: append, replace, lock.

An append is one write and an fsync, cut back if it fails. A rewrite goes to a temporary
file in the same folder that takes the old one's place. Either is there whole after a
crash, or not at all; at worst an append leaves a tail that is closed off later.
"""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tradmem.errors import LogBusy, LogError

if TYPE_CHECKING:
    from filelock import FileLock

_BINARY = getattr(os, "O_BINARY", 0)  # Windows
_HINT = {
    "read": "name another with TRADMEM_LOG or --log",
    "write": "set TRADMEM_LOG or --log to a writable path",
}
# What a system answers that offers no sync of a folder, or only to those who may list it.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EACCES, errno.EPERM, errno.EISDIR, errno.EBADF)


class OvertakenError(Exception):
    """Another program changed a file while we were writing its new content."""


def step(name: str) -> None:
    """Marks a named instant of a write; the crash tests stop the process here."""


def refuse(action: str, path: Path, error: OSError) -> NoReturn:
    """Turn an operating system's error into one line.

    Raises:
        LogError: always.
    """
    reason = (error.strerror or str(error)).lower()
    hint = _HINT.get(action, _HINT["write"])
    raise LogError(f"cannot {action} {path}: {reason}; {hint}") from error


def check_regular(action: str, path: Path) -> None:
    """Refuse what is there and is no regular file.

    Raises:
        LogError: a folder or a device has this name, or the name cannot be looked up.
    """
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        refuse(action, path, error)
    if stat.S_ISDIR(kind):
        raise LogError(f"cannot {action} {path}: it is a folder; name a file in it")
    if not stat.S_ISREG(kind):
        raise LogError(f"cannot {action} {path}: it is no regular file; {_HINT[action]}")


class Lock:
    """A lock file between processes.

    The file stays when the lock is released: removing it would split those who wait. A
    process that dies gives its lock back. Who may write the log may lock it.

    Args:
        path: the lock file.
        of: the log that it guards.
        use: what is done to the log while the lock is held.
    """

    def __init__(self, path: Path, *, of: Path, use: str = "in use") -> None:
        self._path, self._of, self._use = path, of, use
        self._file: FileLock | None = None

    @contextmanager
    def held(self, timeout: float) -> Iterator[None]:
        """Hold the lock.

        Args:
            timeout: seconds to wait; 0 asks once.

        Raises:
            LogBusy: somebody else held it all that time.
            LogError: the lock file cannot be written.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415 - readers take no lock

        try:
            if self._file is None:
                _make(self._path)
                self._file = FileLock(self._path, thread_local=False)
            self._file.acquire(timeout, poll_interval=0.005)
        except Timeout as error:
            raise LogBusy(
                f"{self._of} is {self._use} by another process (waited {timeout:g} s); "
                "try again when it has finished"
            ) from error
        except OSError as error:
            refuse("write", self._path, error)
        try:
            _take_over(self._of, self._path, at_least=0o600)
            yield
        finally:
            self._file.release()


def _make(lock: Path) -> None:
    """See to it that a lock file is there: one that cannot be made would be waited for."""
    os.close(os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644))


def open_for_append(path: Path) -> int | None:
    """A descriptor to read a file and append to it; None if there is none.

    Raises:
        LogError: it cannot be opened.
    """
    try:
        return os.open(path, os.O_RDWR | os.O_APPEND | _BINARY)
    except FileNotFoundError:
        return None
    except OSError as error:
        refuse("write", path, error)


def append(descriptor: int, data: bytes, path: Path) -> None:
    """Append bytes and have them on the disk; a failure leaves the file as it was.

    Raises:
        LogError: the bytes could not be written.
    """
    written = 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:] if written else data)
        step("appended")
        os.fsync(descriptor)
    except BaseException as error:
        _cut_back(descriptor, written)
        if isinstance(error, OSError):
            refuse("write", path, error)
        raise
    step("synced")


def _cut_back(descriptor: int, written: int) -> None:
    """Take back what was appended, unless another program has appended behind it."""
    with suppress(OSError):
        end = os.lseek(descriptor, 0, os.SEEK_CUR)
        if written and os.fstat(descriptor).st_size == end:
            os.ftruncate(descriptor, end - written)


def stands(descriptor: int, data: bytes, path: Path) -> bool:
    """Whether what was just appended is still there, in the file that has this name.

    A program that takes no lock may have put another file in its place, or have truncated it
    and written it anew.
    """
    try:
        start = os.lseek(descriptor, 0, os.SEEK_CUR) - len(data)
        os.lseek(descriptor, start, os.SEEK_SET)
        there = os.read(descriptor, len(data)) if start >= 0 else b""
        return there == data and os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def replace(
    path: Path,
    pieces: Iterable[bytes | memoryview],
    *,
    like: Path | None = None,
    unchanged: Callable[[], bool] = lambda: True,
) -> bool:
    """Put new content in a file's place; its mode and owner stay.

    Args:
        path: the file; made if it is not there.
        pieces: the content.
        like: whose mode and owner a new file gets; by default what the umask leaves.
        unchanged: asked when all is written; if not, nothing is done.

    Returns:
        Whether it was done.

    Raises:
        LogError: it could not be written; the old file stands.
    """
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        forget_temporaries(path)
        model = _writable(path) or like
        _write_new(temporary, pieces, model)
        step("before replace")
        if not unchanged():
            return False
        os.replace(temporary, path)  # noqa: PTH105 - the pair of os.open below
        step("replaced")
        _sync_folder(path.parent)
    except OSError as error:
        refuse("write", path, error)
    finally:
        with suppress(OSError):
            temporary.unlink()
    return True


def _writable(path: Path) -> Path | None:
    """The path if a file is there that may be written, None if there is none.

    Its folder would allow a replacement of a file that its owner has made read-only.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | _BINARY))
    except FileNotFoundError:
        return None
    return path


def _write_new(path: Path, pieces: Iterable[bytes | memoryview], model: Path | None) -> None:
    mode = 0o600 if model else 0o666
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
    with os.fdopen(descriptor, "wb") as file:
        if model:
            _take_over(model, path)
        for piece in pieces:
            file.write(piece)
        file.flush()
        step("written")
        os.fsync(file.fileno())


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, and have them on the disk.

    Raises:
        LogError: it cannot be made.
    """
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for each in missing:
            _sync_folder(each.parent)
    except OSError as error:
        refuse("make the folder", folder, error)


def _take_over(old: Path, new: Path, *, at_least: int = 0) -> None:
    """Give a file another's mode, and its owner and group, as far as we may."""
    with suppress(FileNotFoundError):
        was, now = old.stat(), new.stat()
        if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid) and hasattr(os, "chown"):
            for owner in (was.st_uid, -1):
                with suppress(PermissionError):
                    os.chown(new, owner, was.st_gid)
                    break
        mode = was.st_mode & 0o7777 | at_least
        if mode != now.st_mode & 0o7777:
            with suppress(PermissionError):
                new.chmod(mode)


def forget_temporaries(path: Path) -> None:
    """Remove what a crashed rewrite left; its writer is gone, since we hold the lock."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{12}}\.tmp")
    with suppress(PermissionError):
        for name in os.listdir(path.parent):  # noqa: PTH208 - names are all we need
            if ours.fullmatch(name):
                path.with_name(name).unlink()


def _sync_folder(folder: Path) -> None:
    """Have the folder's own change on the disk, where the system offers that."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise

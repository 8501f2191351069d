"""Child processes that do something to a log, and may be stopped at any instant."""

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import NoReturn

NOBODY = 65534


class Child:
    """A forked child; what it says comes back line by line, also when it is killed."""

    def __init__(self, work: Callable[[Callable[[str], None]], object]) -> None:
        self._reader, writer = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():  # later Pythons warn of threads, which are meant here
            warnings.simplefilter("ignore")
            self.pid = os.fork()
        if not self.pid:
            os.close(self._reader)
            _run(work, writer)
        os.close(writer)

    def kill(self) -> None:
        """Stop it at once; it gets no chance to clean up."""
        os.kill(self.pid, signal.SIGKILL)

    def heard(self) -> str:
        """One line of what it says, as soon as it is there."""
        said = b""
        while not said.endswith(b"\n"):
            piece = os.read(self._reader, 1)
            assert piece, "the child ended without a word"
            said += piece
        return said.decode().strip()

    def end(self) -> tuple[list[str], int]:
        """Wait for its end; the whole lines that it said, and its exit status (-9: killed)."""
        said = b""
        while piece := os.read(self._reader, 65536):
            said += piece
        os.close(self._reader)
        _, status = os.waitpid(self.pid, 0)
        *lines, _ = said.decode().split("\n")
        return lines, os.waitstatus_to_exitcode(status)


def _run(work: Callable[[Callable[[str], None]], object], writer: int) -> NoReturn:
    status = 1
    try:
        work(lambda line: WRITE(writer, f"{line}\n".encode()))
        status = 0
    except BaseException:  # noqa: BLE001 - the parent sees the exit status
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def in_child(work: Callable[[Callable[[str], None]], object]) -> list[str]:
    """Run something in a child of its own; what it said, once it has ended well."""
    lines, status = Child(work).end()
    assert status == 0, f"the child failed with {status}"
    return lines


def become_nobody() -> None:
    """Give up root's power to write everywhere; only ever in a child."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setegid(NOBODY)
        os.seteuid(NOBODY)


WRITE = os.write
CALLS = ("open", "write", "fsync", "ftruncate", "replace", "unlink", "mkdir", "chmod", "chown")


@contextmanager
def calls_watched(act: Callable[..., object], names=CALLS):
    """Let ``act`` stand before every call that can change a file.

    Args:
        act: gets the number of the call, its name, its arguments and the call itself;
            its result is what the caller sees.
        names: of functions in ``os``.
    """
    real = {name: getattr(os, name) for name in names}
    count = 0

    def watched(name: str) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            nonlocal count
            count += 1
            return act(count, name, args, lambda: real[name](*args, **options))

        return call

    try:
        for name in names:
            setattr(os, name, watched(name))
        yield
    finally:
        for name, function in real.items():
            setattr(os, name, function)

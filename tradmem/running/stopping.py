"""A run that is told to stop: it begins nothing new, and ends what it has in hand."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

GRACE = 10.0  # seconds for what is in hand; a paid answer is worth waiting for
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Stopped(BaseException):
    """Raised inside work that has to be left; nothing that catches errors may catch it."""


class Stop:
    """A request to stop, made by a signal, by another thread, or never.

    Args:
        grace: seconds that what is in hand may still take.
    """

    def __init__(self, grace: float = GRACE) -> None:
        self.grace = grace
        self.why = ""
        self._asked = threading.Event()
        self._deadline = 0.0

    def request(self, why: str = "stopped") -> None:
        """Ask to stop; asked again, what is in hand is left too.

        Args:
            why: one word, such as the name of a signal.
        """
        if self._asked.is_set():
            self._deadline = 0.0
            return
        self.why, self._deadline = why, time.monotonic() + self.grace
        self._asked.set()

    @property
    def is_asked(self) -> bool:
        """Whether nothing new may begin."""
        return self._asked.is_set()

    @property
    def is_over(self) -> bool:
        """Whether what is in hand has to be left too."""
        return self._asked.is_set() and time.monotonic() >= self._deadline

    def wait(self, seconds: float) -> bool:
        """Sleep, or less if a stop is asked for; whether it is."""
        return self._asked.wait(max(0.0, seconds))


@contextmanager
def on_signals(stop: Stop) -> Iterator[Stop]:
    """Within, an interrupt, a termination or a hang-up asks for the stop.

    A signal that is ignored stays so (``nohup``, a job in the background). Only the main
    thread can be told of signals; elsewhere nothing changes.

    Args:
        stop: what they ask for.
    """
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(number: int, _: FrameType | None) -> None:
        stop.request(signal.Signals(number).name)

    before = {}
    for name in _SIGNALS:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
            before[number] = signal.signal(number, ask)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

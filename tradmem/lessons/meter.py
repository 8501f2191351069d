"""What asking models takes, counted where they are asked, whoever asks.

Within ``with metered() as meter`` every call counts there, in this thread and in those
that take over its context. A call counts when it is begun, so that one whose answer nobody
waited for is not forgotten.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from tradmem.lessons.reflect import Usage


@dataclass(slots=True)
class Meter:
    """Calls, tokens and money, as far as they are known.

    Attributes:
        calls: requests that were begun, retries included.
        prompt_tokens: sent, as servers counted them.
        completion_tokens: received, as servers counted them.
        paid: US dollars, of the answers whose price is known.
        unpriced: answers whose price nothing tells.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    paid: float = 0.0
    unpriced: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def begin(self) -> None:
        """Count a request."""
        with self._lock:
            self.calls += 1

    def answered(self, sent: int, received: int, cost: float | None) -> None:
        """Count an answer.

        Args:
            sent: tokens of the question.
            received: tokens of the answer.
            cost: US dollars; None if nothing tells.
        """
        with self._lock:
            self.prompt_tokens += sent
            self.completion_tokens += received
            self.paid += cost or 0.0
            self.unpriced += cost is None

    @property
    def usage(self) -> Usage:
        """The same as one value; a cost that is known in part only is not known."""
        with self._lock:
            return Usage(
                calls=self.calls,
                prompt_tokens=self.prompt_tokens,
                completion_tokens=self.completion_tokens,
                cost=None if self.unpriced else self.paid,
            )


_current: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """Count what is asked within."""
    meter = Meter()
    before = _current.set(meter)
    try:
        yield meter
    finally:
        _current.reset(before)


def current_meter() -> Meter | None:
    """The meter that counts here, if any."""
    return _current.get()

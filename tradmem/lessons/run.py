"""One run of questions to a model: when it ends before its time, and what it costs."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tradmem.lessons.chat import Reply
from tradmem.lessons.reflect import Fault, FaultKind
from tradmem.variables import VARIABLES

SILENT = 5  # entries in a row without any answer, after which no more are asked about


@dataclass(slots=True)
class Run:
    """What the entries of one run share: whether it has ended, what it cost, who kept silent."""

    max_cost: float | None
    attempts: Mapping[str, int]
    stop: threading.Event = field(default_factory=threading.Event)
    ended: Fault | None = None
    is_told: bool = False
    calls: int = 0
    open: int = 0
    silent: int = 0
    cost: float = 0.0
    dearest: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, estimate: float) -> Fault | None:
        """Why no further call may be begun; None if it may.

        Args:
            estimate: what one call costs, in US dollars; it counts until one has been paid.
        """
        with self.lock:
            if self.ended:
                return self._tell(self.ended)
            if self.max_cost is not None:
                each = self.dearest or estimate
                used = self.cost + each * self.open
                if used + each > self.max_cost or used >= self.max_cost:
                    spent = f"${used:.4f} of ${self.max_cost:.4f} is spent or in use"
                    message = f"not asked: {spent}, and a further call may exceed it"
                    return Fault(kind=FaultKind.OVER_BUDGET, message=message)
            self.open += 1
            return None

    def take(self, reply: Reply | Fault) -> Reply | Fault:
        """A reply as it is told: what ends the run is told once, and what follows is brief."""
        with self.lock:
            self.open -= 1
            self.calls += reply.usage.calls
            cost = reply.usage.cost or 0.0
            self.cost, self.dearest = self.cost + cost, max(self.dearest, cost)
            if isinstance(reply, Reply):
                self.silent = 0
                if self.max_cost is not None and reply.usage.cost is None and not self.ended:
                    message = f"not asked: {_UNKNOWN_COST}"
                    self.ended = Fault(kind=FaultKind.OVER_BUDGET, message=message, fatal=True)
                return reply
            if self.ended:
                return replace(self._tell(self.ended), usage=reply.usage) if reply.fatal else reply
            silent = reply.kind in (FaultKind.UNREACHABLE, FaultKind.TIMED_OUT)
            self.silent = self.silent + 1 if silent else 0
            if self.silent >= SILENT:
                message = f"{reply.message}; {SILENT} entries in a row, so no more are asked about"
                reply = replace(reply, message=message, fatal=True)
            self.ended, self.is_told = (reply, True) if reply.fatal else (None, False)
            return reply

    def _tell(self, ended: Fault) -> Fault:
        """What ended the run, the first time; then that this was why."""
        if self.is_told:
            return Fault(kind=FaultKind.NOT_ASKED, message=f"not asked: {ended.kind}")
        self.is_told = True
        return ended


_UNKNOWN_COST = (
    "nothing tells what a call costs, so it cannot be limited; "
    f"set {VARIABLES['prices'][0]}, for a server that counts tokens"
)

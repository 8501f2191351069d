"""One run of questions to a model: when it ends before its time, and what it costs."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tradmem.lessons.chat import Reply
from tradmem.lessons.reflect import Fault, FaultKind

SILENT = 5  # entries in a row without any answer, after which no more are asked about


@dataclass(slots=True)
class Run:
    """What the entries of one run share: whether it has ended, what it cost, who kept silent."""

    max_cost: float | None
    attempts: Mapping[str, int]
    stop: threading.Event = field(default_factory=threading.Event)
    ended: Fault | None = None
    calls: int = 0
    open: int = 0
    silent: int = 0
    cost: float = 0.0
    dearest: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> Fault | None:
        """Why no further call may be begun; None if it may."""
        with self.lock:
            if self.ended:
                return _not_asked(self.ended)
            if self.max_cost is not None:
                used = self.cost + self.dearest * self.open
                if used + self.dearest > self.max_cost or used >= self.max_cost:
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
                    message = "what the model costs is not known; set its prices to limit the cost"
                    self.ended = Fault(kind=FaultKind.OVER_BUDGET, message=message, fatal=True)
                return reply
            if self.ended:
                return replace(_not_asked(self.ended), usage=reply.usage) if reply.fatal else reply
            silent = reply.kind in (FaultKind.UNREACHABLE, FaultKind.TIMED_OUT)
            self.silent = self.silent + 1 if silent else 0
            if self.silent >= SILENT:
                message = f"{reply.message}; {SILENT} entries in a row, so no more are asked about"
                reply = replace(reply, message=message, fatal=True)
            self.ended = reply if reply.fatal else None
            return reply


def _not_asked(ended: Fault) -> Fault:
    return Fault(kind=FaultKind.NOT_ASKED, message=f"not asked: {ended.kind}")

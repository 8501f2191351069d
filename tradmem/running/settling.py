"""The first step of a run: settle what has come due, and have the lessons written."""

from contextvars import copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any

from tradmem.errors import LogBusy, LogError
from tradmem.memory import Memory
from tradmem.model import Entry, Status
from tradmem.resolving import Resolution, ResolveReport
from tradmem.running.crew import Finished
from tradmem.running.report import Event, EventKind
from tradmem.running.stopping import Stop, Stopped

_RESOLVER = 60.0  # seconds to wait for another resolver of the same log


class Settling:
    """The resolving of a log in a thread of its own, so that a signal cuts no write short.

    Args:
        memory: what to resolve.
        stop: what ends it.
        told: gets an event for each bit of progress, and a ``Finished`` at the end.
    """

    def __init__(self, memory: Memory, stop: Stop, told: "SimpleQueue[Any]") -> None:
        self._memory, self._stop, self._told = memory, stop, told
        self._before: list[Entry] = []
        self._found: ResolveReport | None = None
        self.error: BaseException | None = None

    def begin(self) -> bool:
        """Start the thread, in the context of the caller; whether there is anything to do."""
        self._before = self._memory.journal.unfinished()
        if not self._before and len(self._memory.settings.horizons) == 1:
            return False
        context = copy_context()
        Thread(target=context.run, args=(self._work,), name="tradmem-resolve", daemon=True).start()
        return True

    @property
    def is_cut(self) -> bool:
        """Whether a stop ended it before its time."""
        return isinstance(self.error, Stopped)

    def report(self) -> ResolveReport:
        """What came of it; where it broke off, what the log shows of it.

        Raises:
            LogError: the log could not be read or written.
        """
        if isinstance(self.error, LogError) and not isinstance(self.error, LogBusy):
            raise self.error
        return self._found or self._as_it_stands()

    def _work(self) -> None:
        try:
            self._found = self._memory.resolve(wait=_RESOLVER, progress=self._progress)
        except BaseException as error:  # noqa: BLE001 - a reflector is foreign code
            self.error = error
        finally:
            self._told.put(Finished())

    def _progress(self, phase: str, done: int, total: int) -> None:
        """Tell how far it is; leave it where nothing that was fetched is lost."""
        if self._stop.is_asked and (phase != "prices" or not done):
            raise Stopped
        at = self._memory.clock()
        self._told.put(Event(kind=EventKind.RESOLVING, at=at, node=phase, done=done, total=total))

    def _as_it_stands(self) -> ResolveReport:
        """What has changed in the entries that were unfinished."""
        now = self._memory.journal.get_all([entry.id for entry in self._before])
        pairs = [(old, now[old.id]) for old in self._before if old.id in now]
        pending = [new for old, new in pairs if old.status is Status.PENDING]
        return ResolveReport(
            settled=tuple(Resolution(entry=entry) for entry in pending if entry.outcome),
            reflected=tuple(Resolution(entry=new) for _, new in pairs if new.reflection),
        )

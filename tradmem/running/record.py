"""The record of the runs over a log, one file of JSON lines beside it; only ever added to.

A run adds a line ``started``, a line ``ticker`` for each decision that it stored, and at
its end a line ``ended`` that holds everything. One that has no such line was killed, or
is under way.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date as Date  # noqa: N812 - as everywhere in this package
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from tradmem.clock import parse_date, parse_instant
from tradmem.errors import LogBusy, LogError, UsageError
from tradmem.journal import files
from tradmem.journal.beside import beside, json_lines

SUFFIX = ".runs.jsonl"
LOCK = ".run.lock"


class RunState(StrEnum):
    """How a run ended, or that it did not."""

    DONE = "done"
    NOTHING = "nothing to do"
    FAILED = "failed"  # something in it did; the rest was done
    INTERRUPTED = "interrupted"
    UNDER_WAY = "under way"
    DIED = "died"  # killed, or the machine went off


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run, as its lines tell.

    Attributes:
        id: its name.
        state: how it ended.
        started: aware UTC.
        ended: aware UTC; None if it never did.
        graph: the name of what decided.
        decided: the decisions that it stored, ids by ticker and date.
        data: its last line, with everything in it.
    """

    id: str
    state: RunState
    started: datetime
    ended: datetime | None = None
    graph: str = ""
    decided: Mapping[tuple[str, Date], str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)


class RunLog:
    """The runs over one log.

    Args:
        log: the path of the log.
    """

    def __init__(self, log: str | os.PathLike[str]) -> None:
        self.path = beside(log, SUFFIX)
        self.log = Path(log)

    def __repr__(self) -> str:
        return f"RunLog({str(self.log)!r})"

    @property
    def lock(self) -> files.Lock:
        """What one run over the log holds at a time."""
        return files.Lock(beside(self.log, LOCK), of=self.log, use="being run")

    def add(self, event: str, run: str, at: str, **more: Any) -> None:
        """Append a line, durably.

        Args:
            event: ``started``, ``ticker`` or ``ended``.
            run: the run's id.
            at: the instant, ISO.
            more: JSON values.

        Raises:
            LogError: it cannot be written.
        """
        record = {"event": event, "run": run, "at": at, **more}
        line = json.dumps(record, ensure_ascii=True, default=str, allow_nan=False).encode() + b"\n"
        files.make_folder(self.path.parent)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(self.path, flags, 0o666)
        except OSError as error:
            files.refuse("write", self.path, error)
        try:
            files.append(descriptor, (b"\n" if _is_torn(descriptor) else b"") + line, self.path)
        finally:
            os.close(descriptor)

    def runs(self) -> list[RunRecord]:
        """All runs, the oldest first; lines that cannot be read are passed over.

        Raises:
            LogError: the file is there and cannot be read.
        """
        lines: dict[str, list[Mapping[str, Any]]] = {}
        for line in json_lines(self.path, "the record of runs"):
            lines.setdefault(str(line.get("run")), []).append(line)
        found = [run for group in lines.values() if (run := _folded(group))]
        if any(run.ended is None for run in found) and self._is_held():
            last = max(n for n, run in enumerate(found) if run.ended is None)
            found[last] = replace(found[last], state=RunState.UNDER_WAY)
        return found

    def decided(self, graph: str) -> dict[tuple[str, Date], str]:
        """What all runs of a graph have decided: ids by ticker and date."""
        found: dict[tuple[str, Date], str] = {}
        for run in self.runs():
            if run.graph == graph:
                found |= run.decided
        return found

    def _is_held(self) -> bool:
        """Whether a run holds the lock now."""
        if not beside(self.log, LOCK).exists():
            return False
        try:
            with self.lock.held(0):
                return False
        except LogBusy:
            return True
        except LogError:
            return False


def _folded(lines: list[Mapping[str, Any]]) -> RunRecord | None:
    """One run from its lines; None without a line that says when it started."""
    first = next((line for line in lines if line.get("event") == "started"), None)
    last = next((line for line in lines if line.get("event") == "ended"), None)
    try:
        started = parse_instant(str((first or last or {})["started"]))
        ended = parse_instant(str(last["at"])) if last else None
        state = RunState(str(last["state"])) if last else RunState.DIED
    except (KeyError, ValueError):
        return None
    return RunRecord(
        id=str(lines[0].get("run")),
        state=state,
        started=started,
        ended=ended,
        graph=str((first or last or {}).get("graph", "")),
        decided=dict(_decided(lines)),
        data=last or first or {},
    )


def _decided(lines: list[Mapping[str, Any]]) -> Iterator[tuple[tuple[str, Date], str]]:
    for line in lines:
        if line.get("event") == "ticker" and line.get("id"):
            try:
                day = parse_date(str(line.get("date")))
            except UsageError:
                continue
            yield (str(line.get("ticker")), day), str(line["id"])


def _is_torn(descriptor: int) -> bool:
    """Whether the last line was cut off by a crash."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if not size:
        return False
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) != b"\n"

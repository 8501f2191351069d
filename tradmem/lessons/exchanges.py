"""The raw exchanges with a model, in ``memory.md.exchanges.jsonl`` beside ``memory.md``.

One JSON object a line, oldest first, never more than ``keep`` of them: what was
asked, what came back, what it took, what became of it. Also here, because the
log holds only what is known: how often an entry was asked about in vain.
"""

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from tradmem.clock import parse_instant
from tradmem.errors import UsageError
from tradmem.journal.beside import beside, json_lines

SUFFIX = ".exchanges.jsonl"
OLDER = "exchanges.jsonl"  # what all logs of a folder shared once; it is only read
KEEP = 1_000  # records
STUCK_AFTER = 5  # attempts in vain
_LOCK_TIMEOUT = 30.0  # seconds


def exchanges_beside(log: str | os.PathLike[str]) -> "Exchanges":
    """The exchanges about the entries of a log, in the file that belongs to it."""
    return Exchanges(beside(log, SUFFIX), older=Path(log).parent / OLDER)


class Exchanges:
    """A rolling file of exchanges; several threads and processes may write to it at once.

    Args:
        path: the file; it and its folder are made when first written to.
        keep: the most records that it holds.
        older: a file of earlier exchanges, which is only read.
    """

    def __init__(
        self, path: str | Path, *, keep: int = KEEP, older: str | Path | None = None
    ) -> None:
        self.path = Path(path)
        self._older = None if older is None else Path(older)
        self.keep = max(_FEWEST, keep)
        self._seen: tuple[tuple[int, int], int] | None = None  # the file's stamp, and its lines
        self._mine = threading.Lock()

    def add(self, record: Mapping[str, Any], *, secrets: Iterable[str] = ()) -> None:
        """Append one exchange.

        Args:
            record: JSON values. ``entry`` is the id, ``attempt`` whether the entry was
                asked about in vain, ``lesson`` whether a lesson came of it.
            secrets: texts that never go into it, such as a key.

        Raises:
            OSError: the file cannot be written.
        """
        line = json.dumps(record, ensure_ascii=True, default=str)
        for secret in secrets:
            line = line.replace(json.dumps(secret)[1:-1], "***")
        with self._locked():
            count = self._count()
            if count >= self.keep:
                count = self._drop_oldest()
            with self.path.open("ab") as file:
                file.write((b"\n" if _is_torn(self.path) else b"") + line.encode() + b"\n")
            self._seen = (_stamp(self.path), count + 1)

    def release(self, *ids: str) -> None:
        """Forget the attempts in vain of these entries, so that they are asked about again."""
        for entry in ids:
            self.add({"entry": entry, "released": True})

    def read(self) -> Iterator[Mapping[str, Any]]:
        """The exchanges, oldest first; a line that is no record is passed over.

        Raises:
            LogError: the file is there and cannot be read; so below.
        """
        for record in self._records():
            if "attempts_before" not in record and "released" not in record:
                yield record

    def of(self, entry: str) -> list[Mapping[str, Any]]:
        """The exchanges about one entry, oldest first."""
        return [record for record in self.read() if record.get("entry") == entry]

    def attempts(self, as_of: datetime | None = None) -> dict[str, int]:
        """How often each entry was asked about in vain since its last lesson or release.

        Args:
            as_of: counted up to then; up to now by default.
        """
        records = list(self._records())
        if as_of is not None:  # a release carries no date, and stands where it happened
            known = [n for n, r in enumerate(records, 1) if (at := dated(r)) and at <= as_of]
            records = records[: max(known, default=0)]
        return _attempts(records)

    def _records(self) -> Iterator[dict[str, Any]]:
        if self._older:
            yield from _read(self._older)
        yield from _read(self.path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{self.path}.lock", timeout=_LOCK_TIMEOUT)
        with self._mine, lock:
            yield

    def _count(self) -> int:
        """The lines of the file; counted again only if somebody else wrote to it."""
        stamp = _stamp(self.path)
        if self._seen is None or self._seen[0] != stamp:
            lines = self.path.read_bytes().splitlines() if stamp[1] else []
            self._seen = (stamp, len(lines))
        return self._seen[1]

    def _drop_oldest(self) -> int:
        """Make room for a tenth; the attempts of what goes stay, in one line at the top."""
        records = list(_read(self.path))
        staying = self.keep - self.keep // 10 - 2
        gone, kept = records[:-staying], records[-staying:]
        before = _attempts([*(_read(self._older) if self._older else ()), *gone])
        top = [{"attempts_before": before}] if before or self._older else []
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        text = "".join(json.dumps(record) + "\n" for record in [*top, *kept])
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.path)
        return len(top) + len(kept)


_FEWEST = 10  # records, so that a tenth is one


def dated(record: Mapping[str, Any]) -> datetime | None:
    """When an exchange was; None where it does not tell."""
    try:
        return parse_instant(str(record.get("at")))
    except UsageError:
        return None


def _read(path: Path) -> Iterator[dict[str, Any]]:
    return json_lines(path, "the exchanges")


def _attempts(records: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for record in records:
        before = record.get("attempts_before")
        if isinstance(before, dict):
            counts = {str(entry): int(n) for entry, n in before.items()}
        entry = str(record.get("entry", ""))
        if record.get("lesson") or record.get("released"):
            counts.pop(entry, None)
        elif record.get("attempt"):
            counts[entry] = counts.get(entry, 0) + 1
    return counts


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_ino, status.st_size)


def _is_torn(path: Path) -> bool:
    """Whether the last line was cut off by a crash."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"

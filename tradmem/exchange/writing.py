"""Entries written to files: JSON lines, CSV, Parquet, and pages of markdown."""

import csv
import io
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tradmem.errors import LogError, UsageError
from tradmem.exchange.flat import COLUMNS, as_text, row_of
from tradmem.exchange.pages import is_page, pages
from tradmem.exchange.reading import RECORD, Format
from tradmem.exchange.whole import recorded_of, to_json, whole_of
from tradmem.journal.format import render
from tradmem.model import Entry
from tradmem.rows import as_json

_INTEGERS = frozenset({"revision", "decided_horizon", "horizon", "sessions"})
_DATES = frozenset(
    {"date", "entry_date", "exit_date"} | {f"benchmark_{n}_date" for n in ("entry", "exit")}
)
_INSTANTS = frozenset({"decided_at", "recorded_at", "known_at", "recalled_as_of", "valid_until"})
_LISTS = frozenset(
    {"links", "tags", "recalled", "cited", "withheld", "edited", "decision_flags", "outcome_flags"}
)
_FLAGS = frozenset({"hidden", "archived"})
_TEXTS = frozenset(
    {"id", "ticker", "agent", "rating", "status", "verdict", "decision", "reflection", "note"}
    | {"reason", "superseded_by", "extra", "benchmark", "basis", "source"}
)
_SURROGATE = re.compile("[\ud800-\udfff]")  # what UTF-8 cannot say, and JSON can


def as_jsonl(entries: Sequence[Entry]) -> str:
    """One JSON object a line: what an entry is, and under ``record`` what it is made of."""
    text = "".join(
        json.dumps(
            as_json(entry) | {RECORD: to_json(whole_of(entry))}, ensure_ascii=False, allow_nan=False
        )
        + "\n"
        for entry in entries
    )
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_log(entries: Sequence[Entry]) -> bytes:
    """A log: the very bytes that recording and resolving these entries leaves in a file."""
    return b"".join(render(replace(entry, recorded=recorded_of(entry))) for entry in entries)


def as_csv(entries: Sequence[Entry]) -> str:
    """One flat row an entry, for a spreadsheet; see :mod:`tradmem.exchange.flat`."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in entries:
        row = row_of(entry)
        writer.writerow([as_text(name, row[name]) for name in COLUMNS])
    return out.getvalue()


def as_parquet(entries: Sequence[Entry]) -> bytes:
    """The same rows with their types, and under ``record`` each entry whole."""
    import pyarrow as pa  # noqa: PLC0415 - heavy
    from pyarrow import parquet  # noqa: PLC0415 - heavy

    kinds = [(name, _kind(pa, name)) for name in COLUMNS] + [(RECORD, pa.string())]
    rows = [
        {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}
        | {RECORD: json.dumps(to_json(whole_of(entry)), allow_nan=False)}
        for entry in entries
        for row in [row_of(entry)]
    ]
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema=pa.schema(kinds)), out)
    return out.getvalue()


def _kind(pa: Any, name: str) -> Any:
    for names, kind in (
        (_INTEGERS, pa.int64()),
        (_DATES, pa.date32()),
        (_INSTANTS, pa.timestamp("us", tz="UTC")),
        (_LISTS, pa.list_(pa.string())),
        (_FLAGS, pa.bool_()),
        (_TEXTS, pa.string()),
    ):
        if name in names:
            return kind
    return pa.float64()


def write_file(path: Path, entries: Sequence[Entry], kind: Format, *, force: bool = False) -> None:
    """Write entries to a file, all of it or nothing.

    Raises:
        UsageError: the file is there already.
        LogError: it cannot be written.
    """
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; add --force to replace it")
    if kind is Format.LOG:
        for place, part in _files(path, entries).items():
            _write(place, as_log(part))
        return
    if kind is Format.JSONL:
        data = as_jsonl(entries).encode()
    elif kind is Format.CSV:
        data = as_csv(entries).encode("utf-8", "replace")
    else:
        data = as_parquet(entries)
    _write(path, data)


def _files(log: Path, entries: Sequence[Entry]) -> dict[Path, list[Entry]]:
    """Which entries go into which file of a log, its archives first."""
    found: dict[Path, list[Entry]] = {}
    for entry in entries:
        if entry.archived:
            name = f"{log.name.removesuffix('.md')}-{entry.date.year}.md"
            found.setdefault(log.parent / "archive" / name, []).append(entry)
    return found | {log: [entry for entry in entries if not entry.archived]}


def write_pages(folder: Path, entries: Sequence[Entry]) -> list[Path]:
    """Write one page per ticker into a folder; earlier pages of ours are replaced.

    Raises:
        UsageError: a file that is none of ours has the name of a page.
        LogError: a page cannot be written.
    """
    found = {folder / name: text for name, text in pages(entries).items()}
    for path in found:
        if path.exists() and not is_page(path.read_text(encoding="utf-8", errors="replace")):
            raise UsageError(f"{path} is no page of tradmem; name another folder")
    for path, text in found.items():
        _write(path, text.encode("utf-8", "replace"))
    return list(found)


def _write(path: Path, data: bytes) -> None:
    """Put a file in its place, all of it or nothing."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is there already and is no file; name another")
    real = Path(os.path.realpath(path))
    temporary = real.with_name(f".{real.name}.{os.urandom(6).hex()}.tmp")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(real)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise LogError(f"cannot write {path}: {reason}; name another place") from error
    finally:
        with suppress(OSError, ValueError):
            temporary.unlink()

"""Files of entries, read: JSON lines, CSV, Parquet, pages of markdown, and logs."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from tradmem.errors import LogError, UsageError
from tradmem.exchange.flat import COLUMNS, OURS, whole_of_row
from tradmem.exchange.pages import is_page, read_page
from tradmem.exchange.past import columns_of, past_decision
from tradmem.exchange.taking import Fate, Taken, in_order, recorded
from tradmem.exchange.whole import Whole, check_known, from_json
from tradmem.lessons.counting import counted
from tradmem.opening import is_database, open_journal
from tradmem.rows import as_it_was
from tradmem.settings import Settings

RECORD = "record"  # where a line of JSON, or a row of Parquet, holds an entry whole
_WIDEST = 10_000_000  # characters in a field of CSV
_DELIMITERS = ",;\t"
# Excel's first line; a program that rewrote the table may have quoted it, or filled it up.
_SEP = re.compile(rf"\"?sep=([{_DELIMITERS}|])\"?[{_DELIMITERS}|]*\r?\n", re.IGNORECASE)


class Format(StrEnum):
    """What a file of entries can be."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    PAGES = "pages"
    LOG = "log"


_SUFFIXES = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".parquet": Format.PARQUET,
    ".md": Format.LOG,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How files of entries are read.

    Attributes:
        now: what the clock says, aware UTC.
        agent: who made the past decisions of a table that does not tell.
        horizon: sessions to hold, where a table does not tell.
        aliases: names under which a price source knows a ticker.
        columns: of somebody else's table, by what they mean.
    """

    now: datetime
    agent: str = ""
    horizon: int = 5
    aliases: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)

    def read(self, path: str | Path, kind: Format | None = None) -> Iterator[Whole | Taken]:
        """What a file holds, in its order: whole entries, and what of it can be none.

        Args:
            path: a file, a folder of pages, or the URL of a database.
            kind: what it is; by default its name tells.

        Raises:
            UsageError: it is not there, or is nothing of the kind.
        """
        if is_database(path):
            yield from (self._known(whole) for whole in _database(str(path)))
            return
        path = Path(path)
        kind = kind or format_of(path)
        match kind:
            case Format.JSONL:
                found = self._lines(_text(path), str(path))
            case Format.CSV:
                found = self._table(_text(path), str(path))
            case Format.PARQUET:
                found = self._parquet(path)
            case Format.PAGES:
                found = _pages(path)
            case Format.LOG:
                found = _log(path)
        for item in found:
            yield self._known(item)

    def _known(self, item: Whole | Taken) -> Whole | Taken:
        if isinstance(item, Taken):
            return item
        try:
            check_known(item, self.now)
        except UsageError as error:
            return refused(item.where, str(error))
        return item

    def _lines(self, text: str, path: str) -> Iterator[Whole | Taken]:
        known: dict[tuple[str, ...], dict[str, str]] = {}  # each line may have keys of its own
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            try:
                data = _object(line)
                if "identity" in data or RECORD in data:
                    yield from_json(data.get(RECORD, data), where)
                    continue
                if data.keys() >= OURS:
                    yield whole_of_row(data, self.now, where)
                    continue
                keys = tuple(data)
                known[keys] = known.get(keys) or columns_of(list(keys), self.columns)
                yield self._past(data, known[keys], where)
            except UsageError as error:
                yield refused(where, str(error))

    def _table(self, text: str, path: str) -> Iterator[Whole | Taken]:
        csv.field_size_limit(_WIDEST)
        told, first = _SEP.match(text), text.partition("\n")[0]
        delimiter = told[1] if told else max(_DELIMITERS, key=first.count)
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            if told:
                next(rows)
            header = [name.strip() for name in next(rows, [])]
            yield from self._rows(header, _numbered(rows, path), path)
        except csv.Error as error:
            yield refused(f"{path}:{rows.line_num}", f"the rest cannot be read: {error}")

    def _rows(
        self, header: list[str], rows: Iterable[tuple[str, list[str]]], path: str
    ) -> Iterator[Whole | Taken]:
        ours = set(header) >= OURS
        try:
            columns = {} if ours else columns_of(header, self.columns)
        except UsageError as error:
            raise UsageError(f"cannot import {path}: {error}") from error
        for where, values in rows:
            if len(values) != len(header):
                said = f"it has {counted(len(values), 'field')} and not {len(header)}"
                yield refused(where, said)
                continue
            row = dict(zip(header, values, strict=True))
            try:
                if ours:
                    plain = {name: as_it_was(row[name]) for name in COLUMNS if name in row}
                    yield whole_of_row(plain, self.now, where)
                else:
                    yield self._past(row, columns, where)
            except UsageError as error:
                yield refused(where, str(error))

    def _past(self, row: Mapping[str, Any], columns: Mapping[str, str], where: str) -> Whole:
        return past_decision(
            row,
            columns,
            self.now,
            agent=self.agent,
            horizon=self.horizon,
            aliases=self.aliases,
            where=where,
        )

    def _parquet(self, path: Path) -> Iterator[Whole | Taken]:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - heavy

        try:
            table = parquet.read_table(path)
        except (OSError, ArrowException) as error:
            raise UsageError(f"cannot read {path}: {' '.join(str(error).split())}") from error
        columns: dict[str, str] = {}
        for number, row in enumerate(table.to_pylist(), 1):
            where = f"{path}, row {number}"
            try:
                if RECORD in row:
                    yield from_json(json.loads(row[RECORD]), where)
                elif row.keys() >= OURS:
                    yield whole_of_row(row, self.now, where)
                else:
                    columns = columns or columns_of(list(row), self.columns)
                    yield self._past(row, columns, where)
            except UsageError as error:
                yield refused(where, str(error))
            except (TypeError, ValueError, RecursionError) as error:
                yield refused(where, f"its {RECORD} is no JSON: {error}")


def refused(where: str, reason: str) -> Taken:
    """Something that can be no entry."""
    return Taken(fate=Fate.REFUSED, where=where, reason=reason)


def format_of(path: Path) -> Format:
    """What a file is, by its name.

    Raises:
        UsageError: the name does not tell.
    """
    if path.is_dir():
        return Format.PAGES
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise UsageError(
            f"{path} does not tell by its name what it is; name the format "
            f"({', '.join(Format)}), or end it in one of {', '.join(_SUFFIXES)}"
        )
    return kind


def _numbered(rows: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    """Each row with the line on which it begins; blank lines are passed over."""
    start = rows.line_num + 1
    for values in rows:
        if values:
            yield f"{path}:{start}", values
        start = rows.line_num + 1


def _object(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"it is no JSON: {error}") from error
    if not isinstance(data, dict):
        raise UsageError("it is no JSON object")
    return data


def _database(url: str) -> Iterator[Whole]:
    """The entries of a log in a database, in the order in which they were stored."""
    journal = open_journal(url, Settings())
    for whole in in_order(recorded(journal)):
        yield whole._replace(where=url.rpartition("@")[2])


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 text; save it as UTF-8, then try again") from error


def _pages(path: Path) -> Iterator[Whole | Taken]:
    """The entries of all pages in a folder, in the order in which they were recorded."""
    files = sorted(path.glob("*.md")) if path.is_dir() else [path]
    texts = [(file, _text(file)) for file in files]
    ours = [(file, text) for file, text in texts if is_page(text)]
    if not ours:
        raise UsageError(f"{path} holds no page that `tradmem export` wrote")
    wholes: list[Whole] = []
    for file, text in ours:
        for item in read_page(text, str(file)):
            if isinstance(item, Whole):
                wholes.append(item)
            else:
                yield refused(*item)
    yield from sorted(
        wholes, key=lambda w: (w.place, w.recorded.recorded_at or w.recorded.known_at)
    )


def _log(path: Path) -> Iterator[Whole | Taken]:
    """The entries of a log and its archive, of this or of TradingAgents' making; or of a page."""
    from tradmem.journal.markdown import MarkdownJournal  # noqa: PLC0415 - for logs only

    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    journal = MarkdownJournal(path)
    try:
        entries, problems = list(journal.in_sequence()), journal.problems()
    except LogError as error:
        raise UsageError(str(error)) from error
    if not entries and is_page(path.read_text(encoding="utf-8", errors="replace")):
        yield from _pages(path)
        return
    for whole in in_order(entries):
        yield whole._replace(where=str(path))
    for problem in problems:
        if "no entry" in problem.message:
            yield refused(f"{problem.path}:{problem.line}", problem.message)

"""The journal in one markdown file that a person can read, edit and put under git."""

import operator
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import date as Date  # noqa: N812 - `date` is the name of a field elsewhere
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Self

from tradmem.errors import LogBusy, LogError, UnknownEntry, UsageError
from tradmem.journal import files
from tradmem.journal.base import (
    MayRevise,
    OnConflict,
    Stored,
    lacks,
    place,
)
from tradmem.journal.block import fold_now, read_block
from tradmem.journal.format import amend, opening, parse, render
from tradmem.journal.index import Index, Verdicts, open_to_read
from tradmem.journal.marks import Mark, changed_since, lost_since, mark_of
from tradmem.journal.mending import mended
from tradmem.journal.passages import Changes
from tradmem.journal.rotation import choose, preamble, splice
from tradmem.journal.selection import Wanted, select
from tradmem.journal.tally import Tally
from tradmem.journal.text import clean
from tradmem.journal.verdicts import Counts
from tradmem.model import Addition, Decision, Entry, Problem

_ATTEMPTS = 10  # against a program that writes the log without taking its lock


class _Held:
    """The files of one operation: open, up to date, and closed at its end."""

    def __init__(self) -> None:
        self._open: dict[Index, int | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._open.values():
            if descriptor is not None:
                os.close(descriptor)

    def open(self, index: Index) -> None:
        """Open a file to read, if it is there, and bring its index up to date."""
        if index in self._open:
            return
        self._open[index] = descriptor = open_to_read(index.path)
        if descriptor is None:
            index.forget()
        else:
            index.refresh(descriptor)

    def descriptor(self, index: Index) -> int:
        """The open file; of one that is not there, an invalid one that nobody reads."""
        descriptor = self._open[index]
        return -1 if descriptor is None else descriptor

    def is_there(self, index: Index) -> bool:
        """Whether the file of an open index exists."""
        return self._open[index] is not None

    def writable(self, index: Index) -> int:
        """A descriptor to read and append to, of a file that is there."""
        self.close(index)
        self._open[index] = descriptor = files.open_for_append(index.path)
        index.refresh(descriptor)
        return descriptor

    def reopen(self, index: Index) -> int:
        """The descriptor of a file that we replaced, whose index follows from what we wrote."""
        self.close(index)
        self._open[index] = open_to_read(index.path)
        return self.descriptor(index)

    def close(self, index: Index) -> None:
        """Close a file; some systems let nobody replace one that is open."""
        descriptor = self._open.pop(index, None)
        if descriptor is not None:
            os.close(descriptor)


class _OvertakenError(Exception):
    """Another program changed a file while we were writing its new content."""


class MarkdownJournal:
    """Entries in one markdown file, and its archive beside it.

    Writers hold a lock beside the file for the milliseconds of a write; readers take none.

    Args:
        path: the log; it and its folder are made by the first write.
        max_resolved: how many resolved entries stay in the log before the oldest rotate
            into ``archive/<name>-<year>.md``; None keeps them all.
        horizons: sessions after which outcomes are taken; an entry that still waits for
            one of them is not rotated.
        timeout: seconds to wait for the lock.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_resolved: int | None = 1000,
        horizons: Sequence[int] = (),
        timeout: float = 30,
    ) -> None:
        self.path = Path(path)
        if "\0" in str(self.path):
            raise UsageError(f"{str(self.path)!r} is no path; take the NUL out of it")
        self._absolute = self.path.absolute()
        self.max_resolved = max_resolved
        self.horizons = tuple(horizons)
        self.timeout = timeout
        self._process = 0
        self._begin()

    def _begin(self) -> None:
        """Start without knowing anything of the files."""
        if self._process != os.getpid():
            self._process, self._threads, self._depth = os.getpid(), threading.RLock(), 0
        self._real = Path(os.path.realpath(self._absolute))
        self._log = Index(self._real)
        self._archives: dict[int, Index] = {}
        self._tallies: dict[str, tuple[list[Verdicts], Tally]] = {}
        self._has_folder = False

    def __repr__(self) -> str:
        return f"MarkdownJournal({str(self.path)!r})"

    @property
    def archive_folder(self) -> Path:
        """Where rotated entries go, one file a year."""
        return self._real.parent / "archive"

    def archives(self) -> list[Path]:
        """The archive files that are there, the newest year first."""
        return [index.path for index in self._archive_indexes()]

    def _archive_indexes(self) -> list[Index]:
        pattern = re.compile(re.escape(self._archive_base) + r"-([0-9]{4})\.md\Z")
        try:
            names = os.listdir(self.archive_folder)  # noqa: PTH208 - names are all we need
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            files.refuse("read", self.archive_folder, error)
        years = sorted((int(m[1]) for name in names if (m := pattern.match(name))), reverse=True)
        return [self._archive(year) for year in years]

    # Writing

    def append(
        self,
        decision: Decision,
        *,
        on_conflict: OnConflict = OnConflict.KEEP,
        may_revise: MayRevise = lambda _: True,
    ) -> tuple[Entry, Stored]:
        """See :class:`~tradmem.journal.base.Journal`."""
        before: Stored | None = None
        for _ in range(_ATTEMPTS):
            with self._writing() as held:
                group = self._find(held, decision.date, decision.ticker)
                placed, stored = place(
                    decision,
                    group,
                    lambda name: bool(self._where(held, name)),
                    on_conflict,
                    may_revise,
                )
                if isinstance(placed, Entry):
                    return placed, before or stored
                before = stored
                entry = fold_now(placed, ())
                with suppress(_OvertakenError):
                    self._write(held, render(entry))
                    return entry, stored
        raise self._overtaken()

    def _write(self, held: _Held, block: bytes) -> None:
        """Put a block at the end of the log, durably."""
        if not held.is_there(self._log):
            self._replace(held, self._log, [block])
            return
        descriptor, newline = held.writable(self._log), self._log.newline
        before = opening(self._log.tail(descriptor), newline, in_line=self._log.in_line)
        self._append(held, self._log, before + block.replace(b"\n", newline))

    def add(self, additions: Sequence[tuple[str, Addition]]) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        for _ in range(_ATTEMPTS):
            with self._writing() as held, suppress(_OvertakenError):
                self._add(held, additions)
                break
        else:
            raise self._overtaken()
        return [entry for name, _ in additions if (entry := self.get(name))]

    def _overtaken(self) -> LogBusy:
        return LogBusy(
            f"{self.path} is being changed by a program that takes no lock "
            f"({_ATTEMPTS} attempts); try again when it has finished"
        )

    def _add(self, held: _Held, additions: Sequence[tuple[str, Addition]]) -> None:
        wanted: dict[Index, dict[int, list[Addition]]] = {}
        for name, addition in additions:
            where = self._where(held, name)
            if where is None:
                raise UnknownEntry(f"no entry has the id {name}; `tradmem log` lists them")
            index, number = where
            wanted.setdefault(index, {}).setdefault(number, []).append(
                replace(addition, text=clean(addition.text)) if addition.text else addition
            )
        # The archive first: a crash in between leaves it ahead, and a retry is a no-op.
        for index in sorted(wanted, key=lambda index: index is self._log):
            self._amend(held, index, wanted[index])

    def _amend(self, held: _Held, index: Index, wanted: dict[int, list[Addition]]) -> None:
        """Rewrite one file with additions spliced into some of its blocks, and rotate."""
        descriptor = held.descriptor(index)
        content = self._content(held, index)
        blocks: dict[int, bytes] = {}
        entries: dict[int, Entry] = {}
        growth: dict[int, int] = {}
        for number, additions in wanted.items():
            entry = index.entry(descriptor, number)
            assert entry is not None
            new = [addition for addition in additions if addition not in entry.additions]
            if new:
                start, end = index.span(number)
                blocks[number], entries[number] = amend(
                    bytes(content[start:end]), new, newline=index.newline, archived=index.archived
                )
                growth[number] = len(blocks[number]) - (end - start)
        if not blocks:
            return
        try:
            index.changed(entries)
            moved = self._rotate(held, content, blocks) if index is self._log else set()
            self._replace(held, index, splice(index, content, blocks, moved))
            if moved:
                index.forget()
            else:
                self._follow(held, index, growth)
        except BaseException:
            index.forget()
            raise

    def _follow(self, held: _Held, index: Index, growth: dict[int, int]) -> None:
        """Let an index follow a rewrite; what fails here fails no write, for that is done."""
        try:
            index.amended(held.reopen(index), growth)
        except LogError:
            index.forget()

    def _content(self, held: _Held, index: Index) -> memoryview:
        """All bytes of a file, just as its index knows them."""
        content = index.content(held.descriptor(index))
        if not index.is_current():
            raise _OvertakenError
        return memoryview(content)

    def _append(self, held: _Held, index: Index, data: bytes) -> None:
        """Append to a file, and see that it still has its name then."""
        descriptor = held.descriptor(index)
        files.append(descriptor, data, index.path)
        if not files.has_name(descriptor, index.path):
            raise _OvertakenError

    def _replace(self, held: _Held, index: Index, pieces: Iterable[bytes | memoryview]) -> None:
        """Give a file new content, unless somebody else has changed it since we read it."""
        held.close(index)
        like = self._real if index.archived else None
        if not files.replace(index.path, pieces, like=like, unchanged=index.is_current):
            raise _OvertakenError

    def _rotate(self, held: _Held, content: memoryview, blocks: dict[int, bytes]) -> set[int]:
        """Bring what has to leave the log into the archive, durably, and say which it is."""
        if self.max_resolved is None:
            return set()
        log = held.descriptor(self._log)
        moved = choose(
            self._log, lambda number: self._log.entry(log, number), self.max_resolved, self.horizons
        )
        by_year: dict[str, list[int]] = {}
        for number in sorted(moved):
            by_year.setdefault(self._log.date_of(number)[:4].decode(), []).append(number)
        for year, numbers in by_year.items():
            index = self._archive(int(year))
            raws = {}
            for number in numbers:
                start, end = self._log.span(number)
                raw = blocks.get(number) or bytes(content[start:end])
                raw = raw[len(preamble(raw)) :] if number == 0 else raw
                raws[self._log.ids[number].decode()] = raw.strip(b"\r\n")
            self._archive_blocks(held, index, raws)
        return moved

    def _archive_blocks(self, held: _Held, index: Index, raws: dict[str, bytes]) -> None:
        """Put blocks into an archive; one that a crash left there before is brought up to date."""
        files.make_folder(index.path.parent)
        held.close(index)
        held.open(index)
        content = self._content(held, index)
        stale: dict[int, bytes] = {}
        fresh = []
        for name, raw in raws.items():
            number = index.number(name)
            if number is None:
                fresh.append(raw + 2 * self._log.newline)
                continue
            start, end = index.span(number)
            there = bytes(content[start:end])
            grown = _grown(there, raw)
            if grown is None:  # it is another entry, or none; both stay
                fresh.append(raw + 2 * self._log.newline)
            elif grown:
                above = there[: len(there) - len(there.lstrip(b"\r\n"))]
                stale[number] = above + raw + self._log.newline
        if not (stale or fresh):
            return
        if fresh:
            tail = bytes(content[index.end :])
            fresh.insert(0, opening(tail, index.newline, in_line=index.in_line))
        if held.is_there(index) and not stale:
            held.writable(index)
            self._append(held, index, b"".join(fresh))
        else:
            pieces = splice(index, content, stale, set())
            self._replace(held, index, chain(pieces, fresh))
        files.step("archived")

    # Reading

    def get(self, entry_id: str) -> Entry | None:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._reading() as held:
            where = self._where(held, entry_id)
            return where[0].entry(held.descriptor(where[0]), where[1]) if where else None

    def find(self, day: Date, ticker: str) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._reading() as held:
            return self._find(held, day, ticker)

    def entries(self, *, archived: bool = True) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._reading() as held:
            entries = [entry for _, entry in self._log.entries(held.descriptor(self._log))]
            if archived:
                here = {entry.id for entry in entries}
                old = [
                    entry
                    for index in self._all_archives(held)
                    for number, entry in index.entries(held.descriptor(index))
                    if entry.id not in here and number not in index.repeats
                ]
                entries = old + entries
        return sorted(entries, key=lambda entry: entry.date)

    def latest(self, limit: int) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`; little more is parsed than returned."""
        with self._reading() as held:
            log = held.descriptor(self._log)

            def is_in_log(name: str) -> bool:
                return self._log.has_entry(log, name.encode())

            found = self._log.latest(log, limit)
            # An archive holds the decisions of one year, so older ones cannot be wanted.
            first = found[0].date.year if found and len(found) == limit else 0
            old = [
                entry
                for index in self._all_archives(held)
                if self._year_of(index) >= first
                for entry in index.latest(held.descriptor(index), limit, is_in_log)
            ]
        return sorted(old + found, key=lambda entry: entry.date)[-limit:] if limit else []

    def unfinished(self) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._reading() as held:
            return self._log.unfinished(held.descriptor(self._log))

    def lacking(self, horizons: Sequence[int]) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._reading() as held:
            descriptor = held.descriptor(self._log)
            return [
                entry
                for number, entry in self._log.entries(descriptor)
                if lacks(entry, horizons) and not self._log.is_replaced(descriptor, number)
            ]

    def memories(
        self,
        as_of: datetime,
        *,
        ticker: str | None = None,
        not_ticker: str | None = None,
        distinct: bool = False,
        lessons: bool = False,
        hidden: bool = False,
        limit: int | None = None,
    ) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        wanted = Wanted(
            as_of=as_of,
            ticker=ticker,
            not_ticker=not_ticker,
            distinct=distinct,
            lessons=lessons,
            hidden=hidden,
            limit=limit,
        )
        with self._reading() as held:

            def entry(index: Index, number: int) -> Entry | None:
                descriptor = held.descriptor(index)
                if index.is_replaced(descriptor, number):
                    return None
                return index.entry(descriptor, number)

            found = select([self._log], entry, wanted)
            if not wanted.sure_without_archive(self._log, found):
                indexes = [self._log, *self._all_archives(held)]
                if len(indexes) > 1:
                    found = select(indexes, entry, wanted)
        return found.entries

    def counts(self, ticker: str, as_of: datetime) -> tuple[Counts, ...]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._reading() as held:
            return self._tally(held, ticker).as_of(as_of)

    def _tally(self, held: _Held, ticker: str) -> Tally:
        """The verdicts on a ticker in all files, counted again only where one has changed."""
        indexes = (self._log, *self._all_archives(held))
        found = [index.verdicts(held.descriptor(index), ticker) for index in indexes]
        before, tally = self._tallies.get(ticker, ([], Tally()))
        if len(before) == len(found) and all(map(operator.is_, before, found)):
            return tally
        tally, log = Tally(), held.descriptor(self._log)
        for index, verdicts in zip(indexes, found, strict=True):
            twice = index.common(self._log) if index.archived else set()
            here = {name for name in twice if self._log.has_entry(log, name)}
            for name, judgements in verdicts:
                if name not in here:
                    tally.add(judgements)
        self._tallies[ticker] = (found, tally)
        return tally

    def passages(self, mark: Any = None) -> Changes:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._reading() as held:
            indexes = [*self._all_archives(held), self._log]
            log = held.descriptor(self._log)

            def is_in_log(name: bytes) -> bool:
                return self._log.has_entry(log, name)

            before: Mark = mark or {}
            lost = lost_since(before, indexes)
            wanted = changed_since(before, indexes)
            wanted += [where for name in lost if (where := self._where(held, name))]
            passages = {}
            for index, number in wanted:
                if number in index.repeats or (index.archived and is_in_log(index.ids[number])):
                    continue
                if passage := index.passage(held.descriptor(index), number):
                    passages[passage.id] = passage
            return Changes(
                passages=list(passages.values()),
                gone=[name for name in lost if name not in passages],
                mark=mark_of(indexes),
            )

    def get_all(self, ids: Iterable[str], *, replaced: bool = True) -> dict[str, Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        found = {}
        with self._reading() as held:
            for name in ids:
                where = self._where(held, name)
                if where is None:
                    continue
                index, descriptor = where[0], held.descriptor(where[0])
                entry = index.entry(descriptor, where[1])
                if entry and (replaced or not index.is_replaced(descriptor, where[1])):
                    found[name] = entry
        return found

    def lessons(self) -> Mapping[str, str]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._reading() as held:
            found: dict[str, str] = {}
            # What is archived was said earlier; later years do not replace earlier ones.
            for index in (*reversed(self._all_archives(held)), self._log):
                found = index.lessons(held.descriptor(index)) | found
        return found

    def tickers(self) -> set[str]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._reading() as held:
            return set().union(
                *(index.tickers() for index in (self._log, *self._all_archives(held)))
            )

    def problems(self) -> list[Problem]:
        """See :class:`~tradmem.journal.base.Journal`."""
        problems: list[Problem] = []
        with self._reading() as held:
            here: set[str] = set()
            for index in (self._log, *self._all_archives(held)):
                data = index.content(held.descriptor(index))
                log = parse(data, self._shown(index), archived=index.archived)
                problems += log.problems
                problems += [
                    Problem(
                        path=self._shown(index),
                        line=block.line,
                        message=f"{block.entry.id} stands in the log too; that one is used",
                    )
                    for block in log.blocks
                    if index.archived and block.entry and block.entry.id in here
                ]
                if not index.archived:
                    here = {entry.id for entry in log.entries}
        return problems

    def mend(self, *, dry_run: bool = False) -> dict[str, tuple[bytes, bytes]]:
        """Mend what can be mended without a choice, see :func:`mended`.

        Args:
            dry_run: only say what would be done.

        Returns:
            By file, its content before and after, where they differ.

        Raises:
            LogError: a file cannot be read or written; nothing was changed in it.
        """
        changes: dict[str, tuple[bytes, bytes]] = {}
        if not self._real.exists():
            return changes
        with self._reading() if dry_run else self._writing() as held:
            for index in (self._log, *self._all_archives(held)):
                before = bytes(index.content(held.descriptor(index)))
                after = mended(before, str(index.path))
                if after == before:
                    continue
                changes[self._shown(index)] = (before, after)
                if not dry_run:
                    try:
                        self._replace(held, index, [after])
                    except _OvertakenError:
                        raise self._overtaken() from None
                    index.forget()
                    held.open(index)
        return changes

    def where(self, entry_id: str) -> str:
        """The file and line of an entry's tag, as ``path:line``; empty if no entry has the id."""
        with self._reading() as held:
            found = self._where(held, entry_id)
            if found is None:
                return ""
            index, number = found
            start, end = index.span(number)
            content = index.content(held.descriptor(index))
            line = content.count(b"\n", 0, start) + read_block(content[start:end]).line + 1
            return f"{self._shown(index)}:{line}"

    def resolving(self, timeout: float = 0) -> AbstractContextManager[None]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._alone():
            self._prepare()
            path = self._beside(".resolve.lock")
        return files.lock(path, timeout, of=self.path, use="being resolved")

    # Files

    @contextmanager
    def _reading(self) -> Iterator[_Held]:
        with self._alone(), _Held() as held:
            held.open(self._log)
            self._has_folder |= held.is_there(self._log)
            yield held

    @contextmanager
    def _writing(self) -> Iterator[_Held]:
        with self._alone():
            self._prepare()
            path = self._beside(".lock")
            with files.lock(path, self.timeout, of=self.path), _Held() as held:
                held.open(self._log)
                yield held

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Be the only thread in here, with what is known of the file that has the name now."""
        if self._process != os.getpid():  # forked: another thread may have held the lock
            self._begin()
        with self._threads:
            if not self._depth and os.path.realpath(self._absolute) != str(self._real):
                self._begin()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def _prepare(self) -> None:
        """See to it that the log can be written: it is a file, in a folder that exists."""
        files.check_regular("write", self._real)
        folder = self._real.parent
        if not folder.exists():
            if self._has_folder:
                raise LogError(
                    f"cannot write {self.path}: its folder has vanished; bring it back, or open "
                    "the log anew to begin another"
                )
            files.make_folder(folder)
        self._has_folder = True

    def _beside(self, suffix: str) -> Path:
        return self._real.with_name(self._real.name + suffix)

    def _shown(self, index: Index) -> str:
        """A path as the user knows it: below the log's own folder as it was given."""
        if index is self._log:
            return str(self.path)
        beside = Path(os.path.realpath(self._absolute.parent)) == self._real.parent
        folder = self.path.parent / "archive" if beside else self.archive_folder
        return str(folder / self._archive_name(self._year_of(index)))

    def _year_of(self, index: Index) -> int:
        return next(year for year, archive in self._archives.items() if archive is index)

    @property
    def _archive_base(self) -> str:
        """The log's name, so that no other log beside it shares its archive."""
        return self._real.name.removesuffix(".md")

    def _archive_name(self, year: int) -> str:
        return f"{self._archive_base}-{year}.md"

    def _archive(self, year: int) -> Index:
        index = self._archives.get(year)
        if index is None:  # not setdefault: this is asked for every memory that is looked at
            path = os.path.realpath(self.archive_folder / self._archive_name(year))
            index = self._archives[year] = Index(Path(path), archived=True)
        return index

    def _all_archives(self, held: _Held) -> list[Index]:
        """The archives that are there, the newest year first, open."""
        indexes = self._archive_indexes()
        for index in indexes:
            held.open(index)
        return indexes

    # Looking up

    def _where(self, held: _Held, name: str) -> tuple[Index, int] | None:
        number = self._log.number(name)
        if number is not None and self._log.entry(held.descriptor(self._log), number):
            return self._log, number
        for index in self._all_archives(held):
            number = index.number(name)
            if number is not None and index.entry(held.descriptor(index), number):
                return index, number
        return None

    def _find(self, held: _Held, day: Date, ticker: str) -> list[Entry]:
        found: list[Entry] = []
        for index in (self._log, *self._year(held, day.year)):
            here = {entry.id for entry in found}
            numbers = index.numbers_of(day.isoformat(), ticker)
            entries = [index.entry(held.descriptor(index), number) for number in numbers]
            found += [entry for entry in entries if entry and entry.id not in here]
        return found

    def _year(self, held: _Held, year: int) -> list[Index]:
        """The archive of a year, if it is there."""
        if not self.archive_folder.is_dir():
            return []
        index = self._archive(year)
        held.open(index)
        return [index] if held.is_there(index) else []


def _grown(there: bytes, raw: bytes) -> bool | None:
    """Whether a block has more additions than its copy in the archive; None if it is no copy."""
    if there.strip(b"\r\n") == raw:
        return False
    old, new = read_block(there, archived=True).entry, read_block(raw, archived=True).entry
    if old is None or new is None or old.recorded != new.recorded:
        return None
    fewer = min(len(old.additions), len(new.additions))
    if old.additions[:fewer] != new.additions[:fewer]:
        return None
    return len(new.additions) > len(old.additions)

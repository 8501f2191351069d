"""The journal in one markdown file that a person can read, edit and put under git."""

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import date as Date  # noqa: N812 - `date` is the name of a field elsewhere
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradmem.errors import LogBusy, UnknownEntry
from tradmem.journal.base import (
    MayRevise,
    OnConflict,
    Stored,
    check_additions,
    lacks,
    place,
)
from tradmem.journal.block import fold_now, read_block
from tradmem.journal.files import OvertakenError
from tradmem.journal.format import parse, render
from tradmem.journal.index import Index, Verdicts
from tradmem.journal.marks import Mark, changed_since, lost_since, mark_of
from tradmem.journal.selection import Wanted, select
from tradmem.journal.shelf import Opened, Shelf
from tradmem.journal.text import clean
from tradmem.model import Addition, Decision, Entry, Problem

if TYPE_CHECKING:
    from tradmem.journal.passages import Changes
    from tradmem.journal.rewriting import Writer
    from tradmem.journal.tally import Tally
    from tradmem.journal.verdicts import Counts

_ATTEMPTS = 10  # against a program that writes the log without taking its lock


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
        self._shelf = Shelf(path, timeout)
        self.path = self._shelf.path
        self.max_resolved = max_resolved
        self.horizons = tuple(horizons)
        self._tallies: dict[str, tuple[list[Verdicts], Tally]] = {}

    def __repr__(self) -> str:
        return f"MarkdownJournal({str(self.path)!r})"

    @property
    def archive_folder(self) -> Path:
        """Where rotated entries go, one file a year."""
        return self._shelf.archive_folder

    def archives(self) -> list[Path]:
        """The archive files that are there, the newest year first."""
        return [index.path for index in self._shelf.archives()]

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
            with self._shelf.writing() as opened:
                placed, stored = place(
                    decision,
                    opened.find(decision.date, decision.ticker),
                    lambda name: bool(opened.where(name)),
                    on_conflict,
                    may_revise,
                )
                if isinstance(placed, Entry):
                    return placed, before or stored
                before = stored
                entry = fold_now(placed, ())
                with suppress(OvertakenError):
                    self._writer(opened).append(render(entry))
                    return entry, stored
        raise self._overtaken()

    def add(self, additions: Sequence[tuple[str, Addition]]) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        check_additions(additions)
        for _ in range(_ATTEMPTS):
            with self._shelf.writing() as opened, suppress(OvertakenError):
                self._add(opened, additions)
                break
        else:
            raise self._overtaken()
        return [entry for name, _ in additions if (entry := self.get(name))]

    def _overtaken(self) -> LogBusy:
        return LogBusy(
            f"{self.path} is being changed by a program that takes no lock "
            f"({_ATTEMPTS} attempts); try again when it has finished"
        )

    def _writer(self, opened: Opened) -> "Writer":
        from tradmem.journal.rewriting import Writer  # noqa: PLC0415 - readers need none

        return Writer(opened=opened, max_resolved=self.max_resolved, horizons=self.horizons)

    def _add(self, opened: Opened, additions: Sequence[tuple[str, Addition]]) -> None:
        wanted: dict[Index, dict[int, list[Addition]]] = {}
        for name, addition in additions:
            where = opened.where(name)
            if where is None:
                if [index for index in (opened.log, *opened.archives()) if index.doubt()]:
                    raise OvertakenError
                raise UnknownEntry(f"no entry has the id {name}; `tradmem log` lists them")
            index, number = where
            wanted.setdefault(index, {}).setdefault(number, []).append(
                replace(addition, text=clean(addition.text)) if addition.text else addition
            )
        # The archive first: a crash in between leaves it ahead, and a retry is a no-op.
        for index in sorted(wanted, key=lambda index: index is opened.log):
            self._writer(opened).amend(index, wanted[index])

    # Reading

    def get(self, entry_id: str) -> Entry | None:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._shelf.reading() as opened:
            where = opened.where(entry_id)
            if where is None and opened.settle_doubts():
                where = opened.where(entry_id)
            return opened.entry(*where) if where else None

    def find(self, day: Date, ticker: str) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._shelf.reading() as opened:
            return opened.find(day, ticker)

    def entries(self, *, archived: bool = True) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        return sorted(self._in_files(archived=archived), key=lambda entry: entry.date)

    def in_sequence(self) -> Iterator[Entry]:
        """All entries as they stand in their files, the oldest archive first."""
        return iter(self._in_files(archived=True))

    def _in_files(self, *, archived: bool) -> list[Entry]:
        with self._shelf.reading() as opened:
            entries = [entry for _, entry in opened.log.entries(opened.descriptor(opened.log))]
            if not archived:
                return entries
            here = {entry.id for entry in entries}
            for index in opened.archives():
                old = [
                    entry
                    for number, entry in index.entries(opened.descriptor(index))
                    if entry.id not in here and number not in index.repeats
                ]
                here |= {entry.id for entry in old}
                entries = old + entries
        return entries

    def latest(self, limit: int) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`; little more is parsed than returned."""
        with self._shelf.reading() as opened:
            found = opened.log.latest(opened.descriptor(opened.log), limit)
            # An archive holds the decisions of a year or so, of which older ones cannot be wanted.
            first = str(found[0].date).encode() if found and len(found) == limit else b""
            old = [
                entry
                for index in opened.archives()
                if index.last_day >= first
                for entry in index.latest(opened.descriptor(index), limit, opened.repeated(index))
            ]
        return sorted(old + found, key=lambda entry: entry.date)[-limit:] if limit else []

    def unfinished(self) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._shelf.reading() as opened:
            log = opened.log
            return [
                entry
                for entry in log.unfinished(opened.descriptor(log))
                if (n := log.number(entry.id)) is None or not opened.is_replaced(log, n)
            ]

    def lacking(self, horizons: Sequence[int]) -> list[Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._shelf.reading() as opened:
            log = opened.log
            return [
                entry
                for number, entry in log.entries(opened.descriptor(log))
                if number not in log.repeats
                and lacks(entry, horizons)
                and not opened.is_replaced(log, number)
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
        wanted = Wanted(as_of, ticker, not_ticker, distinct, lessons, hidden, limit)
        with self._shelf.reading() as opened:

            def in_log(index: Index, number: int) -> Entry | None:
                descriptor = opened.descriptor(index)
                if index.is_replaced(descriptor, number):
                    return None
                return index.entry(descriptor, number)

            def anywhere(index: Index, number: int) -> Entry | None:
                return None if opened.is_replaced(index, number) else opened.entry(index, number)

            found = select([opened.log], in_log, wanted)
            if not wanted.sure_without_archive(opened.log, found):
                indexes = [opened.log, *opened.archives()]
                if len(indexes) > 1:
                    found = select(indexes, anywhere, wanted)
        return found.entries

    def counts(self, ticker: str, as_of: datetime) -> "tuple[Counts, ...]":
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._shelf.reading() as opened:
            return self._tally(opened, ticker).as_of(as_of)

    def _tally(self, opened: Opened, ticker: str) -> "Tally":
        """The verdicts on a ticker in all files, counted again only where one has changed."""
        from tradmem.journal.tally import Tally  # noqa: PLC0415 - for who counts

        indexes = (opened.log, *opened.archives())
        found = [index.verdicts(opened.descriptor(index), ticker) for index in indexes]
        before, tally = self._tallies.get(ticker, ([], Tally()))
        if len(before) == len(found) and all(map(operator.is_, before, found)):
            return tally
        tally = Tally()
        for index, verdicts in zip(indexes, found, strict=True):
            repeated = opened.repeated(index)
            for name, judgements in verdicts:
                number = index.number(name.decode()) if len(indexes) > 1 else None
                is_replaced = number is not None and opened.is_replaced(index, number)
                if name not in repeated and not is_replaced:
                    tally.add(judgements)
        self._tallies[ticker] = (found, tally)
        return tally

    def passages(self, mark: Any = None) -> "Changes":
        """See :class:`~tradmem.journal.base.Journal`."""
        from tradmem.journal.passages import Changes  # noqa: PLC0415 - for who searches

        with self._shelf.reading() as opened:
            indexes = [*opened.archives(), opened.log]
            repeated = {index: opened.repeated(index) for index in indexes}
            before: Mark = mark or {}
            lost = lost_since(before, indexes)
            wanted = changed_since(before, indexes)
            wanted += [where for name in lost if (where := opened.where(name))]
            passages = {}
            for index, group in groupby(wanted, key=operator.itemgetter(0)):
                numbers = [
                    number
                    for _, number in group
                    if number not in index.repeats and index.ids[number] not in repeated[index]
                ]
                for number, passage in index.passages(opened.descriptor(index), numbers):
                    if passage:
                        passages[passage.id] = passage
                    elif index.ids[number]:  # a person broke it; its head alone looks like one
                        lost.append(index.ids[number].decode())
            return Changes(
                passages=list(passages.values()),
                gone=[name for name in lost if name not in passages],
                mark=mark_of(indexes),
            )

    def get_all(self, ids: Iterable[str], *, replaced: bool = True) -> dict[str, Entry]:
        """See :class:`~tradmem.journal.base.Journal`."""
        found = {}
        with self._shelf.reading() as opened:
            for name in ids:
                where = opened.where(name)
                if where is None:
                    continue
                entry = opened.entry(*where)
                if entry and (replaced or not opened.is_replaced(*where)):
                    found[name] = entry
        return found

    def lessons(self) -> Mapping[str, str]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._shelf.reading() as opened:
            found: dict[str, str] = {}
            # What is archived was said earlier; later years do not replace earlier ones.
            for index in (*reversed(opened.archives()), opened.log):
                found = index.lessons(opened.descriptor(index)) | found
        return found

    def tickers(self) -> set[str]:
        """See :class:`~tradmem.journal.base.Journal`."""
        with self._shelf.reading() as opened:
            return set().union(*(index.tickers() for index in (opened.log, *opened.archives())))

    def problems(self) -> list[Problem]:
        """See :class:`~tradmem.journal.base.Journal`."""
        problems: list[Problem] = []
        with self._shelf.reading() as opened:
            here: dict[str, str] = {}
            for index in (opened.log, *opened.archives()):
                data = index.content(opened.descriptor(index))
                log = parse(data, self._shelf.shown(index), archived=index.archived)
                problems += log.problems
                problems += [
                    Problem(
                        path=self._shelf.shown(index),
                        line=block.line,
                        message=f"{block.entry.id} stands in {here[block.entry.id]} too; "
                        "that one is used",
                    )
                    for block in log.blocks
                    if index.archived and block.entry and block.entry.id in here
                ]
                name = Path(self._shelf.shown(index)).name if index.archived else "the log"
                here = {entry.id: name for entry in log.entries} | here
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
        from tradmem.journal.mending import mended  # noqa: PLC0415 - seldom wanted

        changes: dict[str, tuple[bytes, bytes]] = {}
        if not self._shelf.real.exists():
            return changes
        with self._shelf.reading() if dry_run else self._shelf.writing() as opened:
            for index in (opened.log, *opened.archives()):
                before = bytes(index.content(opened.descriptor(index)))
                after = mended(before, str(index.path))
                if after == before:
                    continue
                changes[self._shelf.shown(index)] = (before, after)
                if not dry_run:
                    try:
                        self._writer(opened).replace(index, [after])
                    except OvertakenError:
                        raise self._overtaken() from None
                    index.forget()
                    opened.open(index)
        return changes

    def revise(self, change: Callable[[bytes], bytes]) -> None:
        """Give the log the content that a person made of it.

        Args:
            change: from its content now, while nobody else writes, to what it is to be.

        Raises:
            LogError: it cannot be read or written; nothing was changed in it.
        """
        with self._shelf.writing() as opened:
            before = bytes(opened.log.content(opened.descriptor(opened.log)))
            try:
                self._writer(opened).replace(opened.log, [change(before)])
            except OvertakenError:
                raise self._overtaken() from None
            opened.log.forget()

    def where(self, entry_id: str) -> str:
        """The file and line of an entry's tag, as ``path:line``; empty if no entry has the id."""
        with self._shelf.reading() as opened:
            found = opened.where(entry_id)
            if found is None:
                return ""
            index, number = found
            start, end = index.span(number)
            content = index.content(opened.descriptor(index))
            line = content.count(b"\n", 0, start) + read_block(content[start:end]).line + 1
            return f"{self._shelf.shown(index)}:{line}"

    def resolving(self, timeout: float = 0) -> AbstractContextManager[None]:
        """See :class:`~tradmem.journal.base.Journal`."""
        return self._shelf.resolving(timeout)

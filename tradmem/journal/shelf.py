"""A log and its archives as files: where they are, which are open, what is known of each.

Readers open what they need and take no lock; writers hold the lock beside the log for the
milliseconds of a write.
"""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date as Date  # noqa: N812 - as everywhere in the journal
from pathlib import Path
from typing import Self

from tradmem.errors import LogError, UsageError
from tradmem.journal import files
from tradmem.journal.base import is_replaced, newest_revisions
from tradmem.journal.blocks import open_to_read
from tradmem.journal.index import Index
from tradmem.model import Entry


class Shelf:
    """The files of one journal; one thread at a time is in here.

    Args:
        path: the log; it and its folder are made by the first write.
        timeout: seconds to wait for the lock.
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float) -> None:
        self.path = Path(path)
        if "\0" in str(self.path):
            raise UsageError(f"{str(self.path)!r} is no path; take the NUL out of it")
        self.timeout = timeout
        self._name = str(self.path.absolute())
        self._process = 0
        self._begin()

    def _begin(self) -> None:
        """Start without knowing anything of the files."""
        if self._process != os.getpid():
            self._process, self._threads, self._depth = os.getpid(), threading.RLock(), 0
        self.real = Path(os.path.realpath(self._name))
        self._is_direct = self._name == str(self.real)
        self.log = Index(self.real)
        self.archive_folder = self.real.parent / "archive"
        # The log's whole name is in it, so that no other log beside it shares its archive.
        self._suffix = ".md" if self.real.name.endswith(".md") else ""
        self._base = self.real.name.removesuffix(self._suffix)
        base, suffix = re.escape(self._base), re.escape(self._suffix)
        self._archive_name = re.compile(f"{base}-([0-9]{{4}}){suffix}")
        self._archives: dict[int, Index] = {}
        self._lock = files.Lock(self._beside(".lock"), of=self.path)
        self._has_folder = False

    # Opening

    @contextmanager
    def reading(self) -> Iterator["Opened"]:
        """The files as they are now."""
        with self._alone(), Opened(self) as opened:
            opened.open(self.log)
            self._has_folder |= opened.is_there(self.log)
            yield opened

    @contextmanager
    def writing(self) -> Iterator["Opened"]:
        """The files as they are now, locked; the log is open to append to, if it is there."""
        with self._alone():
            self._prepare()
            with self._lock.held(self.timeout), Opened(self) as opened:
                opened.open(self.log, to_append=True)
                yield opened

    def resolving(self, timeout: float) -> AbstractContextManager[None]:
        """Hold the lock that lets one resolver run."""
        with self._alone():
            self._prepare()
            lock = files.Lock(self._beside(".resolve.lock"), of=self.path, use="being resolved")
        return lock.held(timeout)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Be the only thread in here, with what is known of the file that has the name now."""
        if self._process != os.getpid():  # forked: another thread may have held the lock
            self._begin()
        with self._threads:
            if not self._depth and not self._leads_there():
                self._begin()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def _leads_there(self) -> bool:
        """Whether the path still leads to the file that is known."""
        # By the same name the system finds what a folder that became a link leads to.
        if self._is_direct and not os.path.islink(self._name):  # noqa: PTH114 - asked each time
            return True
        return os.path.realpath(self._name) == str(self.real)

    def _prepare(self) -> None:
        """See to it that the log can be written: it is a file, in a folder that exists."""
        is_there = files.check_regular("write", self.real)
        folder = self.real.parent
        if not is_there and not folder.exists():
            if self._has_folder:
                raise LogError(
                    f"cannot write {self.path}: its folder has vanished; bring it back, or open "
                    "the log anew to begin another"
                )
            files.make_folder(folder)
        self._has_folder = True

    def _beside(self, suffix: str) -> Path:
        return self.real.parent / (self.real.name + suffix)

    # Archives

    def archives(self) -> list[Index]:
        """The archives that are there, the newest year first."""
        try:
            names = os.listdir(self.archive_folder)  # noqa: PTH208 - names are all we need
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            files.refuse("read", self.archive_folder, error)
        found = filter(None, map(self._archive_name.fullmatch, names))
        years = sorted((int(match[1]) for match in found), reverse=True)
        folder = os.path.realpath(self.archive_folder)
        return [self._archive(folder, year) for year in years]

    def archive(self, year: int) -> Index:
        """The archive of a year, whether it is there or not."""
        return self._archive(os.path.realpath(self.archive_folder), year)

    def _archive(self, folder: str, year: int) -> Index:
        path = f"{folder}{os.sep}{self._name_of(year)}"
        if os.path.islink(path):  # noqa: PTH114 - this is asked for every archive, each time
            link, path = path, os.path.realpath(path)
            if path == str(self.real):  # what moves there would be gone with the next rewrite
                raise LogError(f"the archive {link} is a link to the log itself; remove the link")
        index = self._archives.get(year)
        if index is None or str(index.path) != path:  # a link may lead elsewhere now
            index = self._archives[year] = Index(Path(path), archived=True)
        return index

    def _name_of(self, year: int) -> str:
        return f"{self._base}-{year:04}{self._suffix}"

    def year_of(self, index: Index) -> int:
        """The year of an archive."""
        return next(year for year, archive in self._archives.items() if archive is index)

    def shown(self, index: Index) -> str:
        """A path as the user knows it: below the log's own folder as it was given."""
        if index is self.log:
            return str(self.path)
        beside = Path(os.path.realpath(self.path.absolute().parent)) == self.real.parent
        folder = self.path.parent / "archive" if beside else self.archive_folder
        return str(folder / self._name_of(self.year_of(index)))


class Opened:
    """The files of one operation: open, up to date, and closed at its end."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.log = shelf.log
        self._open: dict[Index, int | None] = {}
        self._archives: list[Index] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._open.values():
            if descriptor is not None:
                os.close(descriptor)

    def open(self, index: Index, *, to_append: bool = False) -> None:
        """Open a file, if it is there, and bring its index up to date."""
        if index in self._open:
            return
        opening = files.open_for_append if to_append else open_to_read
        self._open[index] = descriptor = opening(index.path)
        if descriptor is None:
            index.forget()
        else:
            index.refresh(descriptor)

    def reopen(self, index: Index, *, to_append: bool = False) -> int:
        """A new descriptor of a file; an invalid one if it is not there."""
        self.close(index)
        self.open(index, to_append=to_append)
        return self.descriptor(index)

    def replaced(self, index: Index) -> int:
        """The descriptor of a file that we replaced, whose index follows from what we wrote."""
        self.close(index)
        self._open[index] = open_to_read(index.path)
        return self.descriptor(index)

    def close(self, index: Index) -> None:
        """Close a file; some systems let nobody replace one that is open."""
        descriptor = self._open.pop(index, None)
        if descriptor is not None:
            os.close(descriptor)

    def descriptor(self, index: Index) -> int:
        """The open file; of one that is not there, an invalid one that nobody reads."""
        descriptor = self._open[index]
        return -1 if descriptor is None else descriptor

    def is_there(self, index: Index) -> bool:
        """Whether the file of an open index exists."""
        return self._open[index] is not None

    # Looking up

    def archives(self) -> list[Index]:
        """The archives that are there, the newest year first, open."""
        if self._archives is None:  # this is asked for every memory that is looked at
            self._archives = self.shelf.archives()
        for index in self._archives:
            self.open(index)
        return self._archives

    def repeated(self, index: Index) -> set[bytes]:
        """The ids in an archive whose entries stand in the log, or in that of a later year."""
        found: set[bytes] = set()
        for other in (self.log, *self.archives()):
            if other is index:
                break
            descriptor = self.descriptor(other)
            found |= {name for name in index.common(other) if other.has_entry(descriptor, name)}
        return found

    def entry(self, index: Index, number: int) -> Entry | None:
        """The entry of a block."""
        return index.entry(self.descriptor(index), number)

    def where(self, name: str) -> tuple[Index, int] | None:
        """The file and block of an id."""
        if (number := self._number(self.log, name)) is not None:
            return self.log, number
        for index in self.archives():
            if (number := self._number(index, name)) is not None:
                return index, number
        return None

    def _number(self, index: Index, name: str) -> int | None:
        number = index.number(name)
        if number is None:
            return None
        found = self.entry(index, number)
        return number if found and found.id == name else None

    def is_replaced(self, index: Index, number: int) -> bool:
        """Whether a later revision stands for a block's entry, in whatever file."""
        key = index.key_of(number)
        holders = [each for each in (self.log, *self.archives()) if key in each.keys]
        if len(holders) < 2:
            return index.is_replaced(self.descriptor(index), number)
        if not any(key in each.revised(self.descriptor(each)) for each in holders):
            return False
        entry, (day, ticker) = self.entry(index, number), key.decode().split(" | ")
        found = (self.entry(each, n) for each in holders for n in each.numbers_of(day, ticker))
        return entry is not None and is_replaced(entry, newest_revisions(e for e in found if e))

    def settle_doubts(self) -> bool:
        """Read anew what turned out not to be as it was taken to be; whether there was any."""
        doubtful = [index for index in self._open if index.is_doubtful()]
        for index in doubtful:
            index.refresh(self.descriptor(index))
        return bool(doubtful)

    def find(self, day: Date, ticker: str) -> list[Entry]:
        """The entries of a date and a ticker, archived ones last."""
        found: list[Entry] = []
        key = f"{day} | {ticker}".encode(errors="replace")
        for index in (self.log, *self.archives()):
            if key not in index.keys:
                continue
            here = {entry.id for entry in found}
            numbers = index.numbers_of(day.isoformat(), ticker)
            entries = [self.entry(index, number) for number in numbers]
            found += [entry for entry in entries if entry and entry.id not in here]
        return found

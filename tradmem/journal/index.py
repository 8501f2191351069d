"""What one file holds, read once and kept up to date: where each block is, and its tag.

The file is the truth and may change under us. An index notices by inode, size and time,
reads only what was appended where that is all that happened, and parses a block when its
entry is wanted. Nothing here writes.
"""

import os
import re
import time
from array import array
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tradmem.journal.base import is_replaced, newest_revisions
from tradmem.journal.block import read_block
from tradmem.journal.blocks import TICKER_AT, Blocks
from tradmem.journal.selection import last_taught
from tradmem.model import Entry, Status

if TYPE_CHECKING:
    from tradmem.journal.passages import Passage
    from tradmem.journal.tally import Judgement

_TAIL = 4096  # bytes before the old end that tell an append from another change
_TICK = 20_000_000  # ns; many systems stamp a file with a clock that stands still as long
_REVISION = b'"revision":'
_HASH = re.compile(rb'"lesson":"([0-9a-f]{64})"')
_LEDGER = b"<!-- tradmem:"
_OPENING = re.compile(rb"^(?:DECISION|NOTE):", re.MULTILINE)
_OUTCOME = b'"add":"outcome"'
_NEVER_RESOLVED = re.compile(rb" \| (?:note|pending|unresolvable) \| ")

Verdicts: TypeAlias = "list[tuple[bytes, list[Judgement]]]"


class Index(Blocks):
    """The blocks of one file, and what stands in them.

    Attributes:
        tags, ids: see :class:`Blocks`; where a block's head is not as we write it, what its
            entry says.
        repeats: blocks whose entry stands earlier in the file.
        touched: blocks that were added to since the file was read, in that order.
    """

    def __init__(self, path: Path, *, archived: bool = False) -> None:
        self.archived = archived
        super().__init__(path)

    def _clear(self) -> None:
        super()._clear()
        self.repeats: set[int] = set()
        self.touched: list[int] = []
        self._stamp: tuple[int, ...] = ()
        self._is_young = False
        self._is_trusted = False  # the part read before, while the file grew
        self._last = b""
        self._entries: dict[int, Entry | None] = {}
        self._by_id: dict[bytes, int] | None = None
        self._by_day: dict[tuple[bytes, bytes], list[int]] | None = None
        self._orders: dict[bytes, list[int]] = {}
        self._unfinished: set[int] | None = None
        self._judged: dict[int, list[Judgement]] = {}
        self._verdicts: dict[bytes, Verdicts] = {}
        self._untaught: set[int] = set()  # blocks that may not be recalled
        self._without_outcome: set[int] = set()
        self._revised: set[bytes] = set()
        self._searched = 0  # blocks in which revisions were looked for
        self._last_day = (0, b"")  # of so many dates and tickers

    # Staying up to date

    def refresh(self, descriptor: int) -> None:
        """Come up to date with the open file."""
        stamp = _stamp_of(os.fstat(descriptor))
        if stamp == self._stamp and (not self._is_young or self._last_stands(descriptor)):
            self._is_young = _is_young(stamp)
            return
        grown = self._stamp[:2] == stamp[:2] and self.size < stamp[-1]
        # A last line without an end may go on, and then is no delimiter after all.
        whole = self.end < self.size or self._last.endswith(b"\n")
        if not (grown and whole and self._last_stands(descriptor)):
            self._clear()
        self._is_trusted = bool(self.size)
        self._stamp = ()  # what stops us half-way leaves nothing that seems to be up to date
        self._read_on(descriptor, stamp[-1])
        self._remember(descriptor, stamp)

    def is_current(self) -> bool:
        """Whether the file of this name is still what was read."""
        try:
            return _stamp_of(self.path.stat()) == self._stamp
        except FileNotFoundError:
            return not self._stamp
        except OSError:
            return False

    def is_doubtful(self) -> bool:
        """Whether a block was not where it should be; then all is read again next time."""
        return not self._stamp and self._is_trusted

    def doubt(self) -> bool:
        """Have all read again next time, if a part of it was only taken to be as it was."""
        if self._is_trusted:
            self._stamp = ()
        return self._is_trusted

    def _last_stands(self, descriptor: int) -> bool:
        return self._read(descriptor, self.size - len(self._last), len(self._last)) == self._last

    def _remember(self, descriptor: int, stamp: tuple[int, ...]) -> None:
        self.size = stamp[-1]
        self._last = self._read(descriptor, max(0, self.size - _TAIL), min(self.size, _TAIL))
        self._stamp, self._is_young = stamp, _is_young(stamp)

    def _read_on(self, descriptor: int, size: int) -> None:
        """Take in what the file holds beyond the last known block."""
        first, others, distinct = self.scan(descriptor, size)
        self._untaught.update(others)
        self._without_outcome.update(others)
        for number, raw in zip(others, self.raws(descriptor, others), strict=True):
            if not self.is_pending(number) or _OUTCOME in raw:
                self.put(number, read_block(raw, archived=self.archived).entry)
        self._find_repeats(first, descriptor)
        if not distinct:
            self.revised(descriptor)
        self._extend(first, descriptor)

    def put(self, number: int, entry: Entry | None) -> None:
        """Take over what a block holds."""
        key = self.key_of(number)
        self._entries[number] = entry
        self.tags[number] = _tag_of(entry) if entry else b""
        self.ids[number] = entry.id.encode() if entry else b""
        if entry and self.key_of(number) != key:
            self.keys[self.key_of(number)] = None
        if self.is_known(number):
            self._untaught.discard(number)
        else:
            self._untaught.add(number)
        if entry and not entry.known_on:
            self._without_outcome.add(number)

    def _find_repeats(self, first: int, descriptor: int) -> None:
        """Of two blocks with one id the first that holds an entry counts."""
        if not first:
            self._by_id = None
            if len(set(self.ids)) == len(self.ids):
                return  # as nearly always; which block an id has is seldom asked
        by_id = self._numbers(first)
        for number in range(first, len(self.ids)):
            name = self.ids[number]
            earlier = by_id.setdefault(name, number) if name else number
            if earlier == number:
                continue
            if self.entry(descriptor, earlier):
                self.repeats.add(number)
            else:
                by_id[name] = number

    def _numbers(self, until: int | None = None) -> dict[bytes, int]:
        """The block of each id, in all blocks or in those before one; made when it is asked for."""
        if self._by_id is None:
            ids = self.ids[:until]
            self._by_id = dict(zip(ids, range(len(ids)), strict=True))
            self._by_id.pop(b"", None)
        return self._by_id

    def revised(self, descriptor: int) -> AbstractSet[bytes]:
        """The dates and tickers on which some decision of this file may be a revision."""
        if self._searched < len(self.starts):
            base = self.starts[self._searched]
            data = self._read(descriptor, base, self.end - base)
            at = data.find(_REVISION)
            while at >= 0:
                number = bisect_right(self.starts, base + at) - 1
                self._revised.add(self.key_of(number))
                at = data.find(_REVISION, at + 1)
            self._searched = len(self.starts)
        return self._revised

    def _extend(self, first: int, descriptor: int) -> None:
        """Bring what was derived up to date with the blocks from ``first`` on."""
        if first == len(self.tags):
            return
        self._derive(first, descriptor)
        for number in range(first, len(self.tags)) if self._judged else ():
            if self.may_be_replaced(number):
                day, ticker = self.date_of(number).decode(), self.ticker_of(number).decode()
                for other in self.numbers_of(day, ticker):
                    self._judged.pop(other, None)

    def _derive(self, first: int, descriptor: int) -> None:
        if self._by_day is None and self._unfinished is None and not self._orders:
            return
        for number in range(first, len(self.tags)):
            if number in self.repeats or not self.ids[number]:
                continue
            day, ticker = self.date_of(number), self.ticker_of(number)
            if self._by_day is not None:
                self._by_day.setdefault((day, ticker), []).append(number)
            if self._unfinished is not None and self._may_be_due(number, descriptor):
                self._unfinished.add(number)
            for key in (b"", ticker):
                self._verdicts.pop(key, None)
            if not self.is_known(number):
                continue
            for key in (b"", ticker):
                if key in self._orders:
                    insort(self._orders[key], number, key=self.known_of)

    def _may_be_due(self, number: int, descriptor: int) -> bool:
        """Whether an entry is pending, or may lack the lesson of its last outcome."""
        if not self.is_known(number):
            return self.is_pending(number)
        from tradmem.journal.passages import is_taught  # noqa: PLC0415 - for large logs

        # What was put may not stand in the file yet; a rotation asks before that is written.
        return number in self._entries or not is_taught(self.raw(descriptor, number))

    def amended(self, descriptor: int, growth: dict[int, int]) -> None:
        """Take over a rewrite of ours, without reading the file again.

        Args:
            descriptor: the new file.
            growth: of each block that changed, in bytes; its entry was ``put`` already.
        """
        shift = 0
        for number, following in pairwise([*sorted(growth), len(self.tags)]):
            shift += growth[number]
            moved = slice(number + 1, following + 1)
            self.starts[moved] = array("q", [start + shift for start in self.starts[moved]])
        self.end += shift
        stamp = _stamp_of(os.fstat(descriptor)) if descriptor >= 0 else (-1,)
        if stamp[-1] == self.size + shift and not self._lines:
            self._remember(descriptor, stamp)
        else:  # somebody was faster, or lines have to be counted again
            self._clear()

    def changed(self, entries: dict[int, Entry]) -> None:
        """Take over what some blocks are about to hold; ``forget`` it if that fails."""
        self._orders, self._by_day, self._verdicts = {}, None, {}
        self.touched += entries
        for number, entry in entries.items():
            self.put(number, entry)
            self._judged.pop(number, None)
        if self._unfinished is not None:
            self._unfinished |= set(entries)

    def forget(self) -> None:
        """Read everything again next time."""
        self._clear()

    # Asking

    def number(self, name: str) -> int | None:
        """The block of an id; None if no entry has it."""
        return self._numbers().get(name.encode(errors="replace"))

    def numbers_of(self, day: str, ticker: str) -> Sequence[int]:
        """The blocks of a date and a ticker, in file order."""
        if self._by_day is None:
            by_day: dict[tuple[bytes, bytes], list[int]] = {}
            for number in range(len(self.tags)):
                if number not in self.repeats:
                    key = (self.date_of(number), self.ticker_of(number))
                    by_day.setdefault(key, []).append(number)
            self._by_day = by_day
        return self._by_day.get((day.encode(), ticker.encode(errors="replace")), ())

    def order(self, ticker: str = "") -> Sequence[int]:
        """The blocks of what may be recalled, of a ticker or of all, the first known first."""
        key = ticker.encode(errors="replace")
        if key not in self._orders:
            tags, wanted = self.tags, key + b" |"
            numbers: Sequence[int] = range(len(tags))
            if ticker:
                part = slice(TICKER_AT, TICKER_AT + len(wanted))
                numbers = [number for number, tag in enumerate(tags) if tag[part] == wanted]
            if passed := self._untaught | self.repeats:
                numbers = [number for number in numbers if number not in passed]
            self._orders[key] = sorted(numbers, key=self.known_of)
        return self._orders[key]

    def newest_first(self, ticker: str = "") -> Iterator[tuple[bytes, int]]:
        """See :class:`~tradmem.journal.selection.Ordered`."""
        return ((self.known_of(number), number) for number in reversed(self.order(ticker)))

    def may_be_resolved(self, number: int) -> bool:
        """Whether a block that may be recalled is no note, and nothing was taken back in it."""
        return not _NEVER_RESOLVED.search(self.tags[number])

    def unfinished(self, descriptor: int) -> list[Entry]:
        """The entries that are pending or settled and not replaced, in file order."""
        if self._unfinished is None:
            self._unfinished = {
                number
                for number in range(len(self.tags))
                if number not in self.repeats and self._may_be_due(number, descriptor)
            }
        found = []
        for number in sorted(self._unfinished):
            entry = self.entry(descriptor, number)
            if entry is None or entry.status not in (Status.PENDING, Status.SETTLED):
                self._unfinished.discard(number)
            elif not self.is_replaced(descriptor, number):
                found.append(entry)
        return found

    def verdicts(self, descriptor: int, ticker: str) -> Verdicts:
        """The verdicts on a ticker by id; the same object until something changes.

        Those on forgotten entries are there, those on replaced revisions are not.
        """
        key = ticker.encode(errors="replace")
        if key not in self._verdicts:
            numbers = self.order(ticker)
            # What has no outcome now may have had one, which was taken back.
            others = self._without_outcome.difference(numbers, self.repeats)
            numbers = [*numbers, *(n for n in others if self.ticker_of(n) == key)]
            self._judge(descriptor, [n for n in numbers if n not in self._judged])
            found = [(self.ids[number], self._judged[number]) for number in numbers]
            self._verdicts[key] = found
        return self._verdicts[key]

    def lessons(self, descriptor: int) -> dict[str, str]:
        """By the normalised hash of a lesson, the id of the block that says it first."""
        content, found = self.content(descriptor), dict[str, str]()
        for match in _HASH.finditer(content):
            number = bisect_right(self.starts, match.start()) - 1
            if number >= 0 and self.ids[number] and self._is_ledger(content, number, match.start()):
                found.setdefault(match[1].decode(), self.ids[number].decode())
        return found

    def _is_ledger(self, content: bytes, number: int, at: int) -> bool:
        """Whether a place in a block lies in a ledger line of it, not in a text."""
        if not content.startswith(_LEDGER, content.rfind(b"\n", 0, at) + 1):
            return False
        start, end = self.span(number)
        section = _OPENING.search(content, start, end)
        return section is not None and at < section.start()

    def tickers(self) -> set[str]:
        """The tickers of all blocks."""
        return {self.ticker_of(n).decode() for n, name in enumerate(self.ids) if name}

    def common(self, other: "Index") -> set[bytes]:
        """The ids that stand in both files."""
        return self._numbers().keys() & other._numbers().keys()  # noqa: SLF001 - of its own kind

    def _judge(self, descriptor: int, numbers: Iterable[int]) -> None:
        """Find the verdicts on some blocks; most take only a glance."""
        from tradmem.journal.glance import glance  # noqa: PLC0415 - for who counts
        from tradmem.journal.tally import judgements  # noqa: PLC0415 - for who counts

        for number in numbers:
            found: list[Judgement] | None = None
            if number not in self._entries and not self.may_be_replaced(number):
                raw = self.raw(descriptor, number)
                found = glance(raw) if self.is_known(number) or _OUTCOME in raw else []
            if found is None and (entry := self.entry(descriptor, number)):
                found = [] if self.is_replaced(descriptor, number) else judgements(entry)
            self._judged[number] = found or []

    def may_be_replaced(self, number: int) -> bool:
        """Whether some decision with the same date and ticker was revised."""
        return bool(self._revised) and self.key_of(number) in self._revised

    def is_replaced(self, descriptor: int, number: int) -> bool:
        """Whether a later revision stands in this file for a block's entry."""
        if not self.may_be_replaced(number) or not (entry := self.entry(descriptor, number)):
            return False
        day, ticker = self.date_of(number).decode(), self.ticker_of(number).decode()
        group = (self.entry(descriptor, other) for other in self.numbers_of(day, ticker))
        return is_replaced(entry, newest_revisions(e for e in group if e))

    def entry(self, descriptor: int, number: int) -> Entry | None:
        """The entry of a block; None if it holds none after all."""
        if number not in self._entries:
            raw, name = self.raw(descriptor, number), self.ids[number]
            found = self._entries[number] = read_block(raw, archived=self.archived).entry
            if name and (found is None or found.id.encode() != name):
                self.doubt()
        return self._entries[number]

    def passages(
        self, descriptor: int, numbers: Sequence[int]
    ) -> Iterator[tuple[int, "Passage | None"]]:
        """The texts of some blocks' entries; None for one that holds none after all."""
        from tradmem.journal.passages import glimpse, passage_of  # noqa: PLC0415 - for searches

        raws = self.raws(descriptor, numbers)
        for number, raw in zip(numbers, raws, strict=True):
            passage = glimpse(raw, archived=self.archived)
            if passage is None and (entry := self.entry(descriptor, number)):
                passage = passage_of(entry)
            yield number, passage

    def has_entry(self, descriptor: int, name: bytes) -> bool:
        """Whether an entry with this id stands in the file."""
        number = self._numbers().get(name)
        return number is not None and self.entry(descriptor, number) is not None

    def latest(
        self, descriptor: int, limit: int, dropped: AbstractSet[bytes] = frozenset()
    ) -> list[Entry]:
        """The last entries by date, then in file order; of an archive no repeats."""
        found: list[Entry] = []
        numbers = (number for number, name in enumerate(self.ids) if name)
        for number in sorted(numbers, key=lambda number: (self.date_of(number), number))[::-1]:
            if len(found) >= limit:
                break
            if (self.archived and number in self.repeats) or self.ids[number] in dropped:
                continue
            if entry := self.entry(descriptor, number):
                found.append(entry)
        return found[::-1]

    @property
    def last_day(self) -> bytes:
        """The latest date of an entry, ISO; empty if there is none."""
        if self._last_day[0] != len(self.keys):
            self._last_day = (len(self.keys), max(self.keys)[:10])
        return self._last_day[1]

    @property
    def in_line(self) -> bool:
        """Whether the file ends within a line."""
        return bool(self._last) and not self._last.endswith(b"\n")

    def entries(self, descriptor: int) -> Iterator[tuple[int, Entry]]:
        """All entries with their blocks, in file order, repeats too."""
        for number in range(len(self.tags)):
            entry = self.entry(descriptor, number)
            if entry:
                yield number, entry


def _tag_of(entry: Entry) -> bytes:
    known_at = last_taught(entry)
    state = str(entry.status) + (f" | resolved:{known_at.date()}" if known_at else "")
    return f"[{entry.date} | {entry.ticker} | {state}]".encode()


def _stamp_of(status: os.stat_result) -> tuple[int, ...]:
    """What changes with a file; its size is the last. Nobody can set the second time back."""
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_dev, status.st_ino, *times, status.st_size)


def _is_young(stamp: tuple[int, ...]) -> bool:
    """Whether a file was changed so lately that another change may bear the same time."""
    return time.time_ns() - max(stamp[2:4]) < _TICK

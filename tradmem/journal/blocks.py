"""Where each block of a file is, and its head, found in one search over the bytes."""

import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tradmem.journal import files
from tradmem.journal.format import TAG_BEHIND, check_encoding

_BINARY = getattr(os, "O_BINARY", 0)
_PIECE = 1 << 20  # bytes read at once; so much stays near the processor
_MANY = 1000  # blocks from which on reading in pieces pays

# The end of a block, and the tag and id of the next one where it is as we write it.
_HEAD = (
    rb"\s*(\[([0-9-]{10} \| [A-Z0-9^*][A-Z0-9.&=_^-]*) \| [^\n]*\])\r?\n"
    rb'<!-- tradmem: \{"v":1,"id":"([0-9a-f]{12})"'
)
_FIRST = re.compile(_HEAD)
_DELIMITER = b"<!-- ENTRY_END -->"
_NEXT = re.compile(
    _DELIMITER
    + rb"(?<![^\n]"
    + _DELIMITER
    + rb")[ \t\r]*(?:\n|\Z|"
    + TAG_BEHIND
    + rb")()(?:"
    + _HEAD
    + rb"|)"
)

# Parts of a tag.
_DATE, TICKER_AT = slice(1, 11), len(b"[2026-01-05 | ")
STATE, KNOWN = slice(-21, -11), slice(-11, -1)
RESOLVED, _PENDING = b" resolved:", b" pending]"


class Scanned(NamedTuple):
    """What was found in the part of a file that had not been read before.

    Attributes:
        first: the number of its first block.
        others: the numbers of the blocks whose tag has no ``resolved:``.
        distinct: whether each of its blocks has a date and ticker of its own in the file.
    """

    first: int
    others: list[int]
    distinct: bool


class Blocks:
    """The blocks of one file, in order; a block is named by its number.

    Attributes:
        tags: of each block; empty where its head is not as we write it. It ends with
            ``resolved:`` and a date if the entry teaches something since then, or did until a
            person took that back; with ``pending``, or is of no interest to recall and resolve.
        ids: of each block's entry; empty where its head is not as we write it.
        starts: where each block begins, in bytes; ``end`` is where the last one ends.
        size: of the file, in bytes.
        newline: the majority's style.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._clear()

    def _clear(self) -> None:
        self.tags: list[bytes] = []
        self.ids: list[bytes] = []
        self.starts = array("q")
        self.end = 0
        self.size = 0
        self.newline = b"\n"
        self._lines: tuple[int, ...] = ()  # CRLF and all of whole blocks, where any are CRLF
        self._keys: dict[bytes, None] | None = None
        self._newest_day = b""  # of any block, while days ascend
        self._on_newest_day: set[bytes] = set()

    def scan(self, descriptor: int, size: int) -> Scanned:
        """Take in the blocks from the last known end on, piece by piece."""
        base, first = self.end, len(self.tags)
        distinct = True
        others: list[int] = []
        has_cr, length = False, _PIECE
        while True:
            start = self.end
            data = self._read(descriptor, start, min(length, size - start))
            if start == 0:
                check_encoding(data, str(self.path))
            is_last = len(data) < length or start + len(data) >= size
            before = len(self.tags)
            keys = self._take(data, is_last=is_last)
            distinct = self._are_new(keys, before) and distinct
            # Now that they are near the processor.
            others += [
                number
                for number, tag in enumerate(self.tags[before:], before)
                if tag[STATE] != RESOLVED
            ]
            has_cr = has_cr or b"\r" in data
            if is_last:
                break
            length = _PIECE if self.end > start else 2 * length  # a block larger than a piece
        if self._lines or has_cr:
            self._find_newline(self._read(descriptor, base, size - base), base, descriptor)
        return Scanned(first, others, distinct)

    def _take(self, data: bytes, *, is_last: bool) -> list[bytes]:
        """Note the whole blocks of a piece of the file; their dates and tickers come back.

        One search runs over all its bytes. This loop is what opening a large log costs.
        """
        tags, ids, starts, base = self.tags, self.ids, self.starts, self.end
        keys: list[bytes] = []
        # What the last delimiter ends or begins may go on in the next piece.
        end = len(data) if is_last else data.rfind(b"\n" + _DELIMITER) + 1
        opening = _FIRST.match(data)
        start, (tag, key, name) = base, opening.groups(b"") if opening else (b"", b"", b"")
        for found in _NEXT.finditer(data, 0, end):
            tags.append(tag)
            ids.append(name)
            keys.append(key)
            starts.append(start)
            start = base + found.end(1)
            _, tag, key, name = found.groups(b"")
        self.end = start
        return keys

    def _are_new(self, keys: list[bytes], before: int) -> bool:
        """Whether each date and ticker of a piece is there, and stands neither twice nor before.

        Where days ascend, as they nearly always do, only those of the last day could come again.

        Args:
            keys: of the piece's blocks.
            before: how many blocks stand before it.
        """
        ordered = sorted(keys)
        if not ordered:
            return True
        if self._keys is None and ordered[0] and ordered[0][:10] >= self._newest_day:
            together = self._on_newest_day.union(ordered)
            is_new = len(together) == len(self._on_newest_day) + len(ordered)
            newest_day = ordered[-1][:10]
            same = self._on_newest_day if newest_day == self._newest_day else set()
            self._on_newest_day = same.union(ordered[bisect_left(ordered, newest_day) :])
            self._newest_day = newest_day
            return is_new
        known, new = self._known_keys(before), dict.fromkeys(filter(None, keys))
        is_new = len(new) == len(keys) and new.keys().isdisjoint(known.keys())
        known |= new
        return is_new

    def _known_keys(self, until: int) -> dict[bytes, None]:
        if self._keys is None:
            self._keys = dict.fromkeys(filter(None, map(self.key_of, range(until))))
        return self._keys

    @property
    def keys(self) -> dict[bytes, None]:
        """The dates and tickers of all blocks, see :meth:`key_of`; made when they are asked for."""
        return self._known_keys(len(self.tags))

    def _find_newline(self, data: bytes, base: int, descriptor: int) -> None:
        crlf, lines = self._lines or (0, self._read(descriptor, 0, base).count(b"\n"))
        end = self.end - base
        crlf += data.count(b"\r\n", 0, end)
        lines += data.count(b"\n", 0, end)
        self._lines = (crlf, lines)
        crlf, lines = crlf + data.count(b"\r\n", end), lines + data.count(b"\n", end)
        self.newline = b"\r\n" if 2 * crlf > lines else b"\n"

    # Heads

    def known_of(self, number: int) -> bytes:
        """Since when, as an ISO date, a block that may be recalled teaches what it does."""
        return self.tags[number][KNOWN]

    def date_of(self, number: int) -> bytes:
        """The date of a block's entry, ISO; empty if it holds none."""
        return self.tags[number][_DATE]

    def ticker_of(self, number: int) -> bytes:
        """The ticker of a block's entry; empty if it holds none."""
        return self.tags[number][TICKER_AT:].split(b" |", 1)[0]

    def key_of(self, number: int) -> bytes:
        """The date and ticker of a block's entry, as its tag has them; empty if it holds none."""
        tag = self.tags[number]
        return tag[1 : tag.find(b" |", TICKER_AT)]

    def is_known(self, number: int) -> bool:
        """Whether a block may be recalled: its entry teaches something."""
        return self.tags[number][STATE] == RESOLVED

    def is_pending(self, number: int) -> bool:
        """Whether a block's entry has no outcome, and waits for one."""
        return self.tags[number].endswith(_PENDING)

    # Bytes

    def raw(self, descriptor: int, number: int) -> bytes:
        """The bytes of a block."""
        start = self.starts[number]
        return self._read(descriptor, start, self._end_of(number) - start)

    def raws(self, descriptor: int, numbers: Sequence[int]) -> Iterator[bytes]:
        """The bytes of some blocks, one by one; of many, neighbours are read together."""
        least = _PIECE if len(numbers) > _MANY else 0
        base, data = 0, b""
        for number in numbers:
            start, end = self.span(number)
            if start < base or end > base + len(data):
                length = max(end - start, min(least, self.end - start))
                base, data = start, self._read(descriptor, start, length)
            yield data[start - base : end - base]

    def content(self, descriptor: int) -> bytes:
        """All bytes of the file."""
        return self._read(descriptor, 0, self.size)

    def tail(self, descriptor: int) -> bytes:
        """The text after the last delimiter."""
        return self._read(descriptor, self.end, self.size - self.end)

    def _read(self, descriptor: int, start: int, length: int) -> bytes:
        try:
            return _pread(descriptor, start, length)
        except OSError as error:
            files.refuse("read", self.path, error)

    def span(self, number: int) -> tuple[int, int]:
        """Where a block begins and ends, in bytes."""
        return self.starts[number], self._end_of(number)

    def _end_of(self, number: int) -> int:
        return self.starts[number + 1] if number + 1 < len(self.starts) else self.end


def open_to_read(path: Path) -> int | None:
    """A descriptor to read a file; None if there is none.

    Raises:
        LogError: it cannot be opened.
    """
    files.check_regular("read", path)
    try:
        return os.open(path, os.O_RDONLY | _BINARY)
    except FileNotFoundError:
        return None
    except OSError as error:
        files.refuse("read", path, error)


def _pread(descriptor: int, start: int, length: int) -> bytes:
    """Bytes of a file, fewer only where it ends."""
    if length <= 0:
        return b""
    if not hasattr(os, "pread"):  # Windows
        os.lseek(descriptor, start, os.SEEK_SET)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(length)
    data = os.pread(descriptor, length, start)
    if len(data) == length:
        return data
    pieces, done = [data], len(data)
    while pieces[-1] and done < length:  # Linux reads at most 2 GiB at once
        pieces.append(os.pread(descriptor, length - done, start + done))
        done += len(pieces[-1])
    return b"".join(pieces)

"""What a journal writes: an append at the end of the log, or a rewrite with additions.

Whoever writes holds the lock. A program that takes no lock may still change a file in that
time; this is noticed, and then nothing that it wrote is lost.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from tradmem.errors import LogError
from tradmem.journal import files
from tradmem.journal.block import read_block
from tradmem.journal.files import OvertakenError
from tradmem.journal.format import amend, opening, split
from tradmem.journal.index import Index
from tradmem.journal.rotation import choose, preamble, splice
from tradmem.journal.shelf import Opened
from tradmem.journal.text import DELIMITER
from tradmem.model import Addition


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes to the files of one operation, durably.

    Attributes:
        opened: the files, locked.
        max_resolved: how many resolved entries stay in the log; None keeps them all.
        horizons: sessions after which outcomes are taken.
    """

    opened: Opened
    max_resolved: int | None = None
    horizons: Sequence[int] = ()

    def append(self, block: bytes) -> None:
        """Put a block at the end of the log.

        Raises:
            LogError: it could not be written; the log is as it was.
            OvertakenError: another file has the log's name now.
        """
        log = self.opened.log
        if not self.opened.is_there(log):
            self.replace(log, [block])
            return
        tail = log.tail(self.opened.descriptor(log))
        before = opening(tail, log.newline, in_line=log.in_line)
        self._append(log, before + block.replace(b"\n", log.newline))

    def _append(self, index: Index, data: bytes) -> None:
        descriptor = self.opened.descriptor(index)
        files.append(descriptor, data, index.path)
        if not files.stands(descriptor, data, index.path):
            raise OvertakenError

    def replace(self, index: Index, pieces: Iterable[bytes | memoryview]) -> None:
        """Give a file new content, unless somebody else has changed it since we read it."""
        self.opened.close(index)
        like = self.opened.shelf.real if index.archived else None
        if not files.replace(index.path, pieces, like=like, unchanged=index.is_current):
            raise OvertakenError

    def amend(self, index: Index, wanted: Mapping[int, Sequence[Addition]]) -> None:
        """Rewrite one file with additions spliced into some of its blocks, and rotate.

        Raises:
            LogError: it could not be written; the file is as it was.
            OvertakenError: it was changed by another program.
        """
        content = self._content(index)
        blocks: dict[int, bytes] = {}
        entries = {}
        growth: dict[int, int] = {}
        for number, additions in wanted.items():
            raw = self._block(index, content, number)
            reading = read_block(raw, archived=index.archived)
            if reading.entry is None or reading.entry.id.encode() != index.ids[number]:
                self._doubt(index)
            assert reading.entry is not None
            new = [added for added in additions if added not in reading.entry.additions]
            if new:
                blocks[number], entries[number] = amend(
                    raw, new, newline=index.newline, archived=index.archived, reading=reading
                )
                growth[number] = len(blocks[number]) - len(raw)
        if not blocks:
            return
        try:
            index.changed(entries)
            moved = self._rotate(content, blocks) if index is self.opened.log else set()
            self.replace(index, splice(index, content, blocks, moved))
            if moved:
                index.forget()
            else:
                self._follow(index, growth)
        except BaseException:  # an interrupt too: what the index expected may not stand
            index.forget()
            raise

    def _block(self, index: Index, content: memoryview, number: int) -> bytes:
        """The bytes of a block.

        A file that grew was read on from its old end; if somebody moved what stands before
        that, the block is elsewhere.

        Raises:
            OvertakenError: that is so; all will be read again.
        """
        start, end = index.span(number)
        raw = bytes(content[start:end])
        above = bytes(content[max(0, start - 4096) : start]).rstrip()
        if (above and not above.endswith(DELIMITER.encode())) or len([*split(raw)]) != 1:
            self._doubt(index)
        return raw

    def _doubt(self, index: Index) -> None:
        if index.doubt():
            raise OvertakenError

    def _follow(self, index: Index, growth: dict[int, int]) -> None:
        """Let an index follow a rewrite; what fails here fails no write, for that is done."""
        try:
            index.amended(self.opened.replaced(index), growth)
        except LogError:
            index.forget()

    def _content(self, index: Index) -> memoryview:
        """All bytes of a file, just as its index knows them."""
        content = index.content(self.opened.descriptor(index))
        if not index.is_current():
            raise OvertakenError
        return memoryview(content)

    def _rotate(self, content: memoryview, blocks: dict[int, bytes]) -> set[int]:
        """Bring what has to leave the log into the archive, durably, and say which it is."""
        if self.max_resolved is None:
            return set()
        log = self.opened.log
        moved = choose(
            log,
            lambda number: self.opened.entry(log, number),
            lambda: log.unfinished(self.opened.descriptor(log)),
            self.max_resolved,
            self.horizons,
            is_replaced=lambda number: log.is_replaced(self.opened.descriptor(log), number),
        )
        by_year: dict[str, list[int]] = {}
        for number in sorted(moved):
            by_year.setdefault(log.date_of(number)[:4].decode(), []).append(number)
        for year, numbers in by_year.items():
            raws = {}
            for number in numbers:
                raw = blocks.get(number) or self._block(log, content, number)
                if number not in blocks and read_block(raw).entry != self.opened.entry(log, number):
                    self._doubt(log)
                raw = raw[len(preamble(raw)) :] if number == 0 else raw
                raws[log.ids[number].decode()] = raw.strip(b"\r\n")
            self._archive(self.opened.shelf.archive(int(year)), raws)
        return moved

    def _archive(self, index: Index, raws: dict[str, bytes]) -> None:
        """Put blocks into an archive; one that a crash left there before is brought up to date."""
        files.make_folder(index.path.parent)
        self.opened.reopen(index)
        content, newline = self._content(index), self.opened.log.newline
        stale: dict[int, bytes] = {}
        fresh = []
        for name, raw in raws.items():
            number = index.number(name)
            if number is None:
                fresh.append(raw + 2 * newline)
                continue
            start, end = index.span(number)
            there = bytes(content[start:end])
            grown = _grown(there, raw)
            if grown is False:
                continue
            above = there[: len(there) - len(there.lstrip(b"\r\n"))]
            stale[number] = above + raw + newline
            if grown is None:  # no copy: both stay, and the one of the log goes on to count
                stale[number] += newline + there[len(above) :]
        if not (stale or fresh):
            return
        if fresh:
            tail = bytes(content[index.end :])
            fresh.insert(0, opening(tail, index.newline, in_line=index.in_line))
        if self.opened.is_there(index) and not stale:
            self.opened.reopen(index, to_append=True)
            self._append(index, b"".join(fresh))
        else:
            pieces = splice(index, content, stale, set())
            self.replace(index, chain(pieces, fresh))
        files.step("archived")


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

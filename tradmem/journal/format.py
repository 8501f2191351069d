r"""The log's format, as bytes in and bytes out.

``parse`` reads a whole file and reports what a person should look at; ``render`` writes an
entry; ``amend`` splices additions into a block and leaves every other byte alone. Lines
are what ``\n`` ends, and nothing else.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tradmem.errors import LogError
from tradmem.journal.block import Reading, fold_now, read_block, tail_fault
from tradmem.journal.ledger import TORN_LINE, addition_line, identity, write_line
from tradmem.journal.tagline import write_tag
from tradmem.journal.text import DELIMITER, escape
from tradmem.model import Act, Addition, Entry, Problem

_DELIMITER = DELIMITER.encode()
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_NEWLINE = 10
# What another program appends where an editor took the last newline.
TAG_BEHIND = rb"(?=\[[0-9]{4}-[0-9]{2}-[0-9]{2} \|)"
_END = re.compile(rb"<!-- ENTRY_END -->[ \t\r]*(?:\n|\Z|" + TAG_BEHIND + rb")")
_BEHIND = f"its tag stands behind the line {DELIMITER}; put it on a line of its own"
_RETAGGED = frozenset({Act.OUTCOME, Act.UNRESOLVABLE, Act.REOPEN})


class Block(NamedTuple):
    """What stands between two delimiters, its own delimiter line included.

    Attributes:
        raw: its bytes, from the end of the delimiter line before it.
        line: the line of its tag or of its first text, from 1.
        entry: the entry that stands in it; None where there is none.
    """

    raw: bytes
    line: int
    entry: Entry | None = None


class Log(NamedTuple):
    """A file, read: its blocks in order, the text after the last one, and its problems."""

    blocks: tuple[Block, ...]
    tail: bytes
    problems: tuple[Problem, ...]

    @property
    def entries(self) -> list[Entry]:
        """The entries in file order, a repeated one at each of its places."""
        return [block.entry for block in self.blocks if block.entry]


def check_encoding(data: bytes, path: str) -> None:
    """Refuse a file that is no UTF-8 text at all.

    Raises:
        LogError: it carries a UTF-16 mark.
    """
    if data.startswith(_UTF16):
        raise LogError(f"cannot read {path}: it is UTF-16; save it as UTF-8, then try again")


def split(data: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
    """The byte ranges of the blocks from ``start`` on; what follows the last is the tail."""
    begin = start
    for found in _END.finditer(data, start):
        if found.start() == 0 or data[found.start() - 1] == _NEWLINE:
            yield begin, found.end()
            begin = found.end()


def parse(data: bytes, path: str = "", *, archived: bool = False) -> Log:
    """Read a whole log.

    Args:
        data: the file's bytes.
        path: its name, for the problems.
        archived: whether it is an archive.

    Raises:
        LogError: it is no UTF-8 text at all.
    """
    check_encoding(data, path)
    blocks: list[Block] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    line, end = 1, 0
    for start, end in split(data):
        raw = data[start:end]
        reading = read_block(raw, archived=archived)
        at = line + max(reading.line, 0)
        blocks.append(Block(raw=raw, line=at, entry=reading.entry))
        faults = list(reading.faults)
        if start and data[start - 1] != _NEWLINE:
            faults.append(_BEHIND)
        if reading.entry and seen.setdefault(reading.entry.id, at) != at:
            earlier = seen[reading.entry.id]
            faults.append(f"{reading.entry.id} stands at line {earlier} already; that one is used")
        problems += (Problem(path=path, line=at, message=fault) for fault in faults)
        line += raw.count(b"\n")
    tail = data[end:]
    if fault := tail_fault(tail):
        above = tail[: len(tail) - len(tail.lstrip())].count(b"\n")
        problems.append(Problem(path=path, line=line + above, message=fault))
    return Log(blocks=tuple(blocks), tail=tail, problems=tuple(problems))


def render(item: Entry | Log) -> bytes:
    """An entry as one block, or a log as the file that it was read from."""
    if isinstance(item, Log):
        return b"".join(block.raw for block in item.blocks) + item.tail
    recorded = item.recorded
    ledger = [write_line(identity(recorded)), *_ledger_lines(item.additions)]
    body = "NOTE:" if recorded.is_note else "DECISION:"
    body += f"\n{escape(recorded.text)}" if recorded.text else ""
    body += _sections(item.additions)
    lines = [write_tag(item), *ledger, "", body, "", DELIMITER, "", ""]
    return "\n".join(lines).encode()


def _ledger_lines(additions: Sequence[Addition]) -> list[str]:
    return [write_line(addition_line(a)) for a in additions if a.kind != Act.REMARK]


def _sections(additions: Sequence[Addition]) -> str:
    names = {Act.REFLECTION: "REFLECTION", Act.REMARK: "NOTE"}
    return "".join(f"\n\n{names[Act(a.kind)]}:\n{escape(a.text)}" for a in additions if a.text)


def amend(
    raw: bytes,
    additions: Sequence[Addition],
    *,
    newline: bytes = b"\n",
    archived: bool = False,
    reading: Reading | None = None,
) -> tuple[bytes, Entry]:
    """A block with additions spliced in, and its entry then.

    Only the tag, the ledger and the new sections change. What so far only the tag or the
    text told (an edit, another program's outcome) is written into the ledger first, since
    the new tag will not show it any more.

    Args:
        raw: a block that holds an entry.
        additions: in the order in which they are to stand.
        newline: the file's newline style.
        archived: whether the block stands in an archive.
        reading: what the block holds, if it was read already.
    """
    reading = reading or read_block(raw, archived=archived)
    entry = reading.entry
    assert entry is not None
    after = fold_now(entry.recorded, [*entry.additions, *additions], archived=archived)
    if entry.edited:
        after = replace(after, edited=entry.edited)
    lines = raw.split(b"\n")
    if any(addition.kind in _RETAGGED for addition in additions):
        tag = write_tag(after, rating_text=reading.rating_text).encode()
        old = lines[reading.line]
        lines[reading.line] = old[: old.index(b"[")] + tag + old[old.rindex(b"]") + 1 :]
    body_end = max(n for n, line in enumerate(lines) if line.startswith(_DELIMITER))
    body_end = _after_text(lines, body_end)
    ledger_end = _after_text(lines, reading.body)
    carriage = newline.removesuffix(b"\n")
    lines[body_end:body_end] = _as_lines(_sections(additions), carriage)
    ledger = _ledger_lines([*reading.typed, *additions])
    lines[ledger_end:ledger_end] = [line.encode() + carriage for line in ledger]
    amended = b"\n".join(lines)
    now = read_block(amended, archived=archived).entry  # with what a person edited in it
    assert now is not None
    return amended, now


def _after_text(lines: Sequence[bytes], end: int) -> int:
    """Where the last line with text above line ``end`` ends."""
    while not lines[end - 1].strip():
        end -= 1
    return end


def _as_lines(text: str, carriage: bytes) -> list[bytes]:
    return [line.encode() + carriage for line in text.split("\n")[1:]]


def opening(tail: bytes, newline: bytes = b"\n", *, in_line: bool = False) -> bytes:
    """What goes between the text after the last delimiter and a block that is appended.

    An unfinished tail is closed off as a block of its own, so that it stays for a person
    to look at and never becomes part of an entry; a mere preamble is set apart by a line.

    Args:
        tail: the text after the last delimiter line.
        newline: the file's newline style.
        in_line: whether the file ends within a line.
    """
    if tail_fault(tail):
        closing = f"\n\n{TORN_LINE}\n\n{DELIMITER}\n\n".encode()
        return closing.replace(b"\n", newline)
    if not tail.strip(b" \t\r\n\x00\xef\xbb\xbf"):
        return newline if in_line else b""
    missing = 2 - len(tail[len(tail.rstrip(b"\r\n")) :].replace(b"\r", b""))
    return newline * max(missing, 0)

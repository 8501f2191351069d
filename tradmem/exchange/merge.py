"""Two versions of a log and the one that both come from, joined entry by entry.

Entries that only one side has are taken; of one that both have, what each added to it, once;
what one side removed (a rotation) stays removed. Nothing is decided that needs a person: where
both sides changed one decision in two ways, or recorded one key with two texts, both blocks
stay, and the earlier one, which comes first, counts until then.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate

from tradmem.errors import UsageError
from tradmem.exchange.taking import lacking
from tradmem.journal.block import read_block
from tradmem.journal.format import Block, amend, opening, parse
from tradmem.journal.ledger import is_ledger, read_addition, read_line
from tradmem.model import GOVERNING, Addition, Decision, Entry

_START = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A log that was joined from two.

    Attributes:
        data: its bytes.
        taken: ids of entries that only the other side had.
        completed: ids of entries to which the other side had added something.
        conflicts: what a person has to look at, one line each.
    """

    data: bytes
    taken: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """One version: its blocks by name and in order, and the text after the last."""

    blocks: Mapping[Hashable, Block]
    tail: bytes


def merge(ours: bytes, base: bytes, theirs: bytes) -> Merged:
    """Join two versions of a log.

    Args:
        ours: the one whose order and newline style stay.
        base: the one that both come from; empty where there is none.
        theirs: the other one.

    Raises:
        LogError: one of them is no UTF-8 text at all.
    """
    newline = _newline(ours or theirs)
    mine, old, other = (
        _side(_with(newline, data), name)
        for data, name in ((ours, "ours"), (base, "the base"), (theirs, "theirs"))
    )
    work = _Work(newline)
    kept = [found for name in mine.blocks if (found := work.join(name, mine, old, other))]
    new = [
        (name, block)
        for name, block in other.blocks.items()
        if name not in mine.blocks and work.is_wanted(name, block, old)
    ]
    data = b"".join(_joined(_ordered(kept, new, old), newline))
    if not ours.startswith((b"\n", b"\r\n")):
        data = data.lstrip(b"\r\n")
    return Merged(
        data=_closed(data, mine, old, other, newline),
        taken=tuple(block.entry.id for _, block in new if block.entry),
        completed=tuple(work.completed),
        conflicts=tuple(work.conflicts),
    )


class _Work:
    """What is found out on the way."""

    def __init__(self, newline: bytes) -> None:
        self._newline = newline
        self.completed: list[str] = []
        self.conflicts: list[str] = []

    def join(
        self, name: Hashable, mine: _Side, old: _Side, other: _Side
    ) -> tuple[Hashable, Block] | None:
        """What stands for a block of ours; None if the other side removed it."""
        block, was, theirs = mine.blocks[name], old.blocks.get(name), other.blocks.get(name)
        if theirs is None:
            removed = was is not None and _bare(was) == _bare(block)
            return None if removed else (name, block)
        if _bare(theirs) == _bare(block) or (was and _bare(was) == _bare(theirs)):
            return name, block
        if was and _bare(was) == _bare(block):
            self._note(block, theirs)
            return name, _placed(theirs, block)
        return name, self._both(block, was, theirs)

    def is_wanted(self, name: Hashable, block: Block, old: _Side) -> bool:
        """Whether a block that only the other side has is taken."""
        was = old.blocks.get(name)
        return was is None or _bare(was) != _bare(block)  # else we removed it

    def _both(self, block: Block, was: Block | None, theirs: Block) -> Block:
        """What stands where both sides changed a block."""
        one, two = block.entry, theirs.entry
        if one is None or two is None:  # by the name of a block these are the same bytes
            return block
        if _said(one) != _said(two):
            before = was.entry if was else None
            if before and _said(two) == _said(before):
                return self._with(block, two)
            if before and _said(one) == _said(before):
                return self._with(_placed(theirs, block), one)
            return self._two(block, theirs)
        return self._with(block, two)

    def _with(self, block: Block, other: Entry) -> Block:
        """A block with what the other side added to its entry."""
        entry = block.entry
        assert entry is not None
        missing = lacking(entry.additions, other.additions)
        if not missing:
            return block
        raw, _ = amend(block.raw, missing, newline=self._newline)
        common = [act.at for act in other.additions if act in entry.additions and act.at]
        raw = _in_time(raw, missing, max(common, default=_START))
        self.completed.append(entry.id)
        return Block(raw=raw, line=block.line, entry=read_block(raw).entry)

    def _two(self, block: Block, theirs: Block) -> Block:
        """Both blocks, the earlier one first."""
        entry = block.entry
        assert entry is not None
        first, second = sorted((block, theirs), key=_age)
        self.conflicts.append(
            f"{entry.id} ({entry.date} {entry.ticker}) says one thing here and another there; "
            "both stand, the first counts: delete one of them"
        )
        raw = b"".join(_joined([first, second], self._newline))
        return Block(raw=raw, line=block.line, entry=first.entry)

    def _note(self, block: Block, theirs: Block) -> None:
        if block.entry and theirs.entry:
            self.completed.append(block.entry.id)


def _in_time(raw: bytes, added: Sequence[Addition], since: datetime) -> bytes:
    """A block whose acts stand in the order of their stamps, those of each side in its own.

    Args:
        raw: a block in which the acts of the other side stand last.
        added: what the other side had added to it.
        since: the last stamp that both sides know; what was added came later.
    """
    lines = raw.split(b"\n")
    acts = {number: at for number, line in enumerate(lines) if (at := _stamp_of_act(line))}
    places = list(acts)
    own = len(places) - sum(act.kind in GOVERNING and act.at is not None for act in added)
    ages = [
        *accumulate((acts[place] for place in places[:own]), max),
        *accumulate((max(acts[place], since) for place in places[own:]), max),
    ]
    order = sorted(range(len(places)), key=ages.__getitem__)
    moved = [lines[places[number]] for number in order]
    for place, line in zip(places, moved, strict=True):
        lines[place] = line
    return b"\n".join(lines)


def _stamp_of_act(line: bytes) -> datetime | None:
    """When a person or a program did what a ledger line tells; None for any other line."""
    text = line.decode("utf-8", "replace")
    try:
        found = read_addition(read_line(text))[0] if is_ledger(text) else None
    except (KeyError, UsageError):
        return None
    return found.at if found and found.kind in GOVERNING else None


def _side(data: bytes, name: str) -> _Side:
    log = parse(data, name)
    blocks: dict[Hashable, Block] = {}
    for block in log.blocks:
        if not block.raw.strip():
            continue
        key: Hashable = block.entry.id if block.entry else _bare(block)
        while key in blocks:  # one that stands twice in a file
            key = (key, "again")
        blocks[key] = block
    return _Side(blocks, log.tail)


def _bare(block: Block) -> bytes:
    """The bytes of a block without the blank lines around it."""
    return block.raw.strip(b" \t\r\n")


def _said(entry: Entry) -> tuple[object, ...]:
    d: Decision = entry.recorded
    return (d.date, d.ticker, d.rating, d.text, d.agent, d.revision, d.is_note)


def _age(block: Block) -> tuple[datetime, bytes]:
    """When a decision was recorded; the bytes, so that both sides find the same order."""
    entry = block.entry
    assert entry is not None
    return (entry.recorded.recorded_at or entry.recorded.known_at, _bare(block))


def _placed(block: Block, like: Block) -> Block:
    """A block with the blank lines before it that another one has."""
    lead = like.raw[: len(like.raw) - len(like.raw.lstrip(b"\r\n"))]
    return Block(raw=lead + block.raw.lstrip(b"\r\n"), line=block.line, entry=block.entry)


def _ordered(
    kept: Sequence[tuple[Hashable, Block]], new: Sequence[tuple[Hashable, Block]], old: _Side
) -> Iterator[Block]:
    """All blocks: ours in their order, and among those that are new the others by their age."""
    end = max((n for n, (name, _) in enumerate(kept, 1) if name in old.blocks), default=0)
    yield from (block for _, block in kept[:end])
    yield from _interleaved([b for _, b in kept[end:]], [b for _, b in new])


def _interleaved(one: Sequence[Block], two: Sequence[Block]) -> Iterator[Block]:
    """Two sequences as one, each in its own order, the earlier decision first."""
    ages = [_rising(one), _rising(two)]
    places = [0, 0]
    blocks = (one, two)
    while places[0] < len(one) or places[1] < len(two):
        if places[0] == len(one):
            side = 1
        elif places[1] == len(two):
            side = 0
        else:
            side = int(ages[1][places[1]] < ages[0][places[0]])
        yield blocks[side][places[side]]
        places[side] += 1


def _rising(blocks: Sequence[Block]) -> list[tuple[datetime, bytes]]:
    """Ages that never fall, so that each side keeps its own order."""
    ages: list[tuple[datetime, bytes]] = []
    for block in blocks:
        before = ages[-1] if ages else (_START, b"")
        ages.append(max(before, _age(block)) if block.entry else before)
    return ages


def _joined(blocks: Iterator[Block] | Sequence[Block], newline: bytes) -> Iterator[bytes]:
    """The bytes of blocks, a blank line between each two."""
    before = b""
    for block in blocks:
        raw = block.raw
        if before and not before.endswith(newline):  # the file ended with its delimiter
            yield newline
        if before and not raw.startswith((b"\n", b"\r\n")):
            yield newline
        yield raw
        before = raw


def _closed(data: bytes, mine: _Side, old: _Side, other: _Side, newline: bytes) -> bytes:
    """The blocks and the text after the last of them; the first of two texts is closed off."""
    one, was, two = (side.tail.strip() for side in (mine, old, other))
    kept = (
        [mine.tail]
        if two in (one, was)
        else [other.tail]
        if one == was
        else [mine.tail, other.tail]
    )
    tails = [tail for tail in kept if tail.strip()]
    body = data.rstrip(b"\r\n")
    if not body and not tails:
        return b""
    if not tails:
        return body + newline + (mine.tail if mine.blocks else newline)
    body += newline * 2 * bool(body)
    for number, tail in enumerate(tails, 1):
        body += tail.lstrip(b"\r\n")
        if number < len(tails):
            body += opening(tail, newline, in_line=not tail.endswith(b"\n"))
    return body


def _newline(data: bytes) -> bytes:
    crlf = data.count(b"\r\n")
    return b"\r\n" if crlf * 2 > data.count(b"\n") else b"\n"


def _with(newline: bytes, data: bytes) -> bytes:
    """A file in the newline style of another."""
    if _newline(data) == newline:
        return data
    return data.replace(b"\r\n", b"\n").replace(b"\n", newline)

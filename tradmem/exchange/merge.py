"""Two versions of a log and the one that both come from, joined entry by entry.

Entries that only one side has are taken; of one that both have, what each added to it, once;
what one side removed (a rotation) stays removed. Nothing is decided that needs a person: where
both sides changed one decision in two ways, or recorded one key with two texts, both blocks
stay, and the earlier one, which comes first, counts until then.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tradmem.exchange.joining import START, both, placed
from tradmem.exchange.pairing import Triple, bare, name_of, said, triples
from tradmem.journal.format import Block, Log, opening, parse
from tradmem.journal.ledger import TORN_LINE
from tradmem.journal.text import DELIMITER
from tradmem.model import Entry


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


def merge(ours: bytes, base: bytes, theirs: bytes) -> Merged:
    """Join two versions of a log.

    Joining the result with either of the two again changes nothing, unless the two had chosen
    differently from an entry that stands twice in the base: then that takes its side.

    Args:
        ours: the one whose order and newline style stay.
        base: the one that both come from; empty where there is none.
        theirs: the other one.

    Raises:
        LogError: one of them is no UTF-8 text at all.
    """
    newline = _newline(ours or theirs)
    mine, old, other = (
        parse(_with(newline, data), name)
        for data, name in ((ours, "ours"), (base, "the base"), (theirs, "theirs"))
    )
    held, lacked = _undecided(*triples(*map(_blocks, (mine, old, other))))
    work = _Work(newline)
    held, again = _first_ones(held)
    kept = [_Place(work.join(found), found.was is not None) for found in held]
    new = work.place(kept, again + [found for found in lacked if _is_wanted(found)])
    data = b"".join(_joined(_ordered(kept, new), newline))
    if not ours.startswith((b"\n", b"\r\n")):
        data = data.lstrip(b"\r\n")
    return Merged(
        data=_closed(data, mine, old, other, newline),
        taken=tuple(work.taken),
        completed=tuple(work.completed),
        conflicts=tuple(work.conflicts([*kept, *new])),
    )


def _blocks(log: Log) -> list[Block]:
    return [block for block in log.blocks if block.raw.strip()]


def _undecided(
    held: Sequence[Triple], lacked: Sequence[Triple]
) -> tuple[list[Triple], list[Triple]]:
    """What we have and what we lack, where each side removed the one that the other one kept.

    Of an entry that stood twice they chose differently; as removals, both would be gone.
    """
    common = {name_of(_there(found.mine)) for found in held if found.theirs}
    ours = {name_of(_there(found.mine)) for found in held}
    apart = {name for found in lacked if (name := name_of(_there(found.theirs))) in ours} - common
    return (
        [Triple(mine=f.mine) if name_of(_there(f.mine)) in apart else f for f in held],
        [Triple(theirs=f.theirs) if name_of(_there(f.theirs)) in apart else f for f in lacked],
    )


def _first_ones(held: Sequence[Triple]) -> tuple[list[Triple], list[Triple]]:
    """What we have, without what only we have of an entry that stands above already; and that."""
    seen: set[Hashable] = set()
    first, again = [], []
    for found in held:
        key = _key(_there(found.mine))
        if key in seen and not (found.was or found.theirs):
            again.append(Triple(theirs=found.mine))
        else:
            first.append(found)
        seen.add(key)
    return first, again


def _key(block: Block) -> Hashable:
    """What is decided once, and said in one way."""
    return (block.entry.id, said(block.entry)) if block.entry else bare(block)


def _is_wanted(found: Triple) -> bool:
    """Whether a block that only the other side has is taken; else we removed it."""
    return found.was is None or bare(found.was) != bare(_there(found.theirs))


def _there(block: Block | None) -> Block:
    assert block is not None
    return block


class _Place(NamedTuple):
    """What stands where we have a block; nothing if the other side removed it.

    Attributes:
        blocks: one, or several that a person has to choose from.
        is_known: whether the base has it.
    """

    blocks: list[Block]
    is_known: bool


class _Work:
    """What is found out on the way."""

    def __init__(self, newline: bytes) -> None:
        self._newline = newline
        self.taken: list[str] = []
        self.completed: list[str] = []
        self._torn_apart: set[str] = set()

    def join(self, found: Triple) -> list[Block]:
        """What stands for a block of ours; nothing if the other side removed it."""
        block, was, theirs = _there(found.mine), found.was, found.theirs
        if theirs is None:
            return [] if was and bare(was) == bare(block) else [block]
        if bare(theirs) == bare(block) or (was and bare(was) == bare(theirs)):
            return [block]
        if was and bare(was) == bare(block):
            joined: Block | None = placed(theirs, block)
        else:
            joined = both(block, was, theirs, self._newline)
        if joined is None:
            self._torn_apart.add(_entry(block).id)
            return sorted((block, theirs), key=_age)
        if block.entry and bare(joined) != bare(block):
            self.completed.append(block.entry.id)
        return [joined]

    def place(self, kept: Sequence[_Place], lacked: Sequence[Triple]) -> list[_Place]:
        """Put what else there is of an entry that we have beside it; the rest is new."""
        sought = {name_of(_there(found.theirs)) for found in lacked}
        known = [
            (block, place)
            for place in reversed(kept)
            for block in place.blocks
            if name_of(block) in sought
        ]
        first = {name_of(block): place for block, place in known}
        same = {_key(block): place for block, place in known}
        new: list[_Place] = []
        for found in lacked:
            theirs = _there(found.theirs)
            if place := same.get(_key(theirs)):
                at = next(n for n, one in enumerate(place.blocks) if _key(one) == _key(theirs))
                place.blocks[at : at + 1] = self.join(Triple(place.blocks[at], None, theirs))
            elif place := first.get(name_of(theirs)):
                self._torn_apart.add(_entry(theirs).id)
                place.blocks.append(theirs)
                place.blocks.sort(key=_age)
                same[_key(theirs)] = place
            else:
                new.append(_Place([theirs], is_known=False))
                first[name_of(theirs)] = same[_key(theirs)] = new[-1]
                self.taken += [theirs.entry.id] if theirs.entry else []
        return new

    def conflicts(self, kept: Sequence[_Place]) -> Iterator[str]:
        """What a person has to choose from, unless both sides knew it already."""
        groups: dict[str, list[tuple[Block, bool]]] = {}
        for place in kept:
            for block in place.blocks:
                if block.entry:
                    groups.setdefault(block.entry.id, []).append((block, place.is_known))
        for name, group in groups.items():
            is_new = len({bare(block) for block, _ in group}) > 1 and not all(k for _, k in group)
            if is_new or name in self._torn_apart:
                entry = _entry(group[0][0])
                yield (
                    f"{name} ({entry.date} {entry.ticker}) says one thing here and another there; "
                    "both stand, the first counts: delete one of them"
                )


def _entry(block: Block) -> Entry:
    assert block.entry is not None
    return block.entry


def _age(block: Block) -> tuple[datetime, bytes]:
    """When a decision was recorded; the bytes, so that both sides find the same order."""
    recorded = _entry(block).recorded
    return (recorded.recorded_at or recorded.known_at, bare(block))


def _ordered(kept: Sequence[_Place], new: Sequence[_Place]) -> Iterator[Block]:
    """All blocks: ours in their order, and among those that are new the others by their age."""
    end = max((number for number, place in enumerate(kept, 1) if place.is_known), default=0)
    known, ours, theirs = (
        [block for place in places for block in place.blocks]
        for places in (kept[:end], kept[end:], new)
    )
    yield from known
    yield from _interleaved(ours, theirs)


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
        before = ages[-1] if ages else (START, b"")
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


def _closed(data: bytes, mine: Log, old: Log, other: Log, newline: bytes) -> bytes:
    """The blocks and the text after the last of them; the first of two texts is closed off."""
    tails = [tail for tail in _tails(mine, old, other) if tail.strip()]
    body = data.rstrip(b"\r\n")
    if not body and not tails:
        return b""
    if not tails:
        return body + newline + (mine.tail if _blocks(mine) and not mine.tail.strip() else newline)
    body += newline * 2 * bool(body)
    for number, tail in enumerate(tails, 1):
        body += tail.lstrip(b"\r\n")
        if number < len(tails):
            body += opening(tail, newline, in_line=not tail.endswith(b"\n"))
    return body


def _tails(mine: Log, old: Log, other: Log) -> list[bytes]:
    """The texts after the last delimiter that stay; one that the other side closed off is there."""
    one, was, two = (log.tail.strip() for log in (mine, old, other))
    if was in (one, two):
        return [mine.tail if two == was else other.tail]
    if _is_in(two, one) or two in _torn(mine):
        return [mine.tail]
    if _is_in(one, two) or one in _torn(other):
        return [other.tail]
    return sorted((mine.tail, other.tail), key=bytes.strip)


def _is_in(part: bytes, text: bytes) -> bool:
    """Whether a text holds another one, from one blank line to another."""
    part, text = (b"\n\n" + each.replace(b"\r\n", b"\n") + b"\n\n" for each in (part, text))
    return part in text


def _torn(log: Log) -> set[bytes]:
    """The texts that were closed off, since an append broke off within them."""
    ends = (b.raw.strip().removesuffix(DELIMITER.encode()).rstrip() for b in _blocks(log))
    mark = TORN_LINE.encode()
    return {end.removesuffix(mark).strip() for end in ends if end.endswith(mark)}


def _newline(data: bytes) -> bytes:
    crlf = data.count(b"\r\n")
    return b"\r\n" if crlf * 2 > data.count(b"\n") else b"\n"


def _with(newline: bytes, data: bytes) -> bytes:
    """A file in the newline style of another."""
    if _newline(data) == newline:
        return data
    return data.replace(b"\r\n", b"\n").replace(b"\n", newline)

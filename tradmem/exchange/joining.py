"""Two versions of one block, and the one that holds what was done in both."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate

from tradmem.errors import UsageError
from tradmem.exchange.pairing import bare, said
from tradmem.exchange.taking import lacking
from tradmem.journal.block import read_block
from tradmem.journal.format import Block, amend
from tradmem.journal.ledger import addition_line, is_ledger, read_addition, read_line
from tradmem.journal.text import escape
from tradmem.model import EDITED, GOVERNING, Addition, Entry

START = datetime.min.replace(tzinfo=UTC)


def both(block: Block, was: Block | None, theirs: Block, newline: bytes) -> Block | None:
    """What stands where both sides changed a block; None where a person has to choose."""
    if not (block.entry and theirs.entry):  # by the name of a block these are the same bytes
        return block
    start, other = _start(block, was, theirs, newline)
    assert start.entry
    assert other.entry
    before = was.entry if was else None
    if said(start.entry) != said(other.entry) and (
        before is None or said(before) != said(other.entry)
    ):
        return None
    joined = _with(placed(start, block), other.entry, newline)
    return None if _loses(was, other, joined) else joined


def _start(block: Block, was: Block | None, theirs: Block, newline: bytes) -> tuple[Block, Block]:
    """The version that stays as it is, and the one of which only the additions are taken.

    What a person edited stays; else what has everything of the other; else the earlier one.
    """
    sides = (block, theirs)
    before = was.entry if was else None

    def rank(number: int) -> tuple[object, ...]:
        entry, other = sides[number].entry, sides[1 - number].entry
        assert entry
        assert other
        return (
            before is not None and said(entry) == said(before),
            _is_plain(was, sides[number], sides[1 - number], newline),
            bool(lacking(entry.additions, other.additions)),
            _acts(entry, before),
            bare(sides[number]),
        )

    first = min((0, 1), key=rank)
    return sides[first], sides[1 - first]


def _is_plain(was: Block | None, now: Block, other: Block, newline: bytes) -> bool:
    """Whether a block is what programs made of an earlier one, without any edit of a person."""
    if was is None:
        return not _typed(now) - _typed(other)
    if was.entry is None or now.entry is None:
        return False
    new = [one for one in now.entry.additions if one not in was.entry.additions]
    return bare(now) == bare(Block(amend(was.raw, new, newline=newline)[0], 0))


def _with(block: Block, other: Entry, newline: bytes) -> Block:
    """A block with what the other side added to its entry."""
    entry = block.entry
    assert entry is not None
    missing = lacking(entry.additions, other.additions)
    if not missing:
        return block
    raw, _ = amend(block.raw, missing, newline=newline)
    common = [act.at for act in other.additions if act in entry.additions and act.at]
    raw = _in_time(raw, missing, max(common, default=START))
    return Block(raw=raw, line=block.line, entry=read_block(raw).entry)


def _acts(entry: Entry, before: Entry | None) -> list[tuple[datetime, str]]:
    """What was added to an entry since another one, so that two accounts can be compared."""
    known = before.additions if before else ()
    return [
        (act.at or START, json.dumps(addition_line(act), sort_keys=True, default=str))
        for act in entry.additions
        if act not in known
    ]


def _loses(was: Block | None, other: Block, joined: Block) -> bool:
    """Whether something that a person typed would stand nowhere any more."""
    stands = {line.strip() for line in joined.raw.split(b"\n")}
    before = _typed(was) if was and was.entry else set()
    return bool(_typed(other) - before - stands)


def _typed(block: Block) -> set[bytes]:
    """The lines of text that a program writes once, and of lessons that a person typed over."""
    assert block.entry
    head = block.raw.partition(b"\nREFLECTION:")[0].split(b"\n")
    lines = {line.strip() for line in head if not line.startswith((b"<!-- ", b"["))}
    for act in block.entry.additions:
        if act.data.get(EDITED):
            lines |= {line.strip() for line in escape(act.text).encode().split(b"\n")}
    return lines - {b""}


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


def placed(block: Block, like: Block) -> Block:
    """A block with the blank lines before it that another one has."""
    lead = like.raw[: len(like.raw) - len(like.raw.lstrip(b"\r\n"))]
    return Block(raw=lead + block.raw.lstrip(b"\r\n"), line=block.line, entry=block.entry)

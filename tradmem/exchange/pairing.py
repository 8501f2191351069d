"""Which blocks of three versions of a log are versions of one another."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from tradmem.journal.format import Block
from tradmem.model import Decision, Entry


class Triple(NamedTuple):
    """One block in our version, in the base, and in theirs; None where it is not."""

    mine: Block | None = None
    was: Block | None = None
    theirs: Block | None = None


def triples(
    mine: Sequence[Block], old: Sequence[Block], other: Sequence[Block]
) -> tuple[list[Triple], list[Triple]]:
    """The blocks of three versions, each with its counterparts.

    An entry may stand twice under one id, with two texts: each is paired with the one that
    says the same, so that joining again finds both where they are.

    Returns:
        What we have, in our order; and what only the other side has, in its order.
    """
    groups = [_groups(blocks) for blocks in (mine, old, other)]
    pairs = {
        name: _paired(*(group.get(name, []) for group in groups))
        for name in groups[0].keys() | groups[2].keys()
    }
    return (
        list(_picked(mine, pairs, lambda triple: triple.mine)),
        list(_picked(other, pairs, lambda triple: None if triple.mine else triple.theirs)),
    )


def name_of(block: Block) -> Hashable:
    """Under which a block is looked for: the id of its entry, or else its bytes."""
    return block.entry.id if block.entry else bare(block)


def bare(block: Block) -> bytes:
    """The bytes of a block without the blank lines around it."""
    return block.raw.strip(b" \t\r\n")


def said(entry: Entry) -> tuple[object, ...]:
    """What was decided, whatever was added since."""
    d: Decision = entry.recorded
    return (d.date, d.ticker, d.rating, d.text, d.agent, d.revision, d.is_note)


def _groups(blocks: Sequence[Block]) -> dict[Hashable, list[Block]]:
    found: dict[Hashable, list[Block]] = {}
    for block in blocks:
        found.setdefault(name_of(block), []).append(block)
    return found


def _picked(
    blocks: Sequence[Block],
    pairs: dict[Hashable, list[Triple]],
    side: Callable[[Triple], Block | None],
) -> Iterator[Triple]:
    """The triples in which one side has a block, in the order of that side."""
    by_block = {
        id(found): triple for group in pairs.values() for triple in group if (found := side(triple))
    }
    return (by_block[id(block)] for block in blocks if id(block) in by_block)


def _paired(mine: Sequence[Block], old: Sequence[Block], other: Sequence[Block]) -> list[Triple]:
    """The versions of one name: the same bytes first, then the same decision, then what is left."""
    rows: list[list[Block | None]] = [[block, None, None] for block in mine]
    for side, blocks in ((1, old), (2, other)):
        left = _in_step(rows, side, blocks)
        for key in (bare, _decided):
            for block in tuple(left):
                for row in rows:
                    if row[side] is None and any(one and key(one) == key(block) for one in row):
                        row[side] = block
                        left = [one for one in left if one is not block]
                        break
        for block in left:
            row = [None, None, None]
            row[side] = block
            rows.append(row)
    for alone, known in ((0, (1, 2)), (2, (0, 1)), (0, (1,)), (2, (1,))):
        rows = _edited(rows, alone, known)
    return [Triple(*row) for row in rows if row[0] or row[2]]


def _in_step(rows: Sequence[list[Block | None]], side: int, blocks: Sequence[Block]) -> list[Block]:
    """Pair the blocks of a side that say the same as the rows, one after the other; the rest."""
    stand = [next(_decided(one) for one in row if one) for row in rows]
    if stand != [_decided(block) for block in blocks]:
        return list(blocks)
    for row, block in zip(rows, blocks, strict=True):
        row[side] = block
    return []


def _edited(
    rows: Sequence[list[Block | None]], alone: int, known: Sequence[int]
) -> list[list[Block | None]]:
    """Let what stands on one side alone be an edit of what stands where it has nothing."""
    edits = [row for row in rows if _sides(row) == (alone,)]
    for row in rows:
        if edits and _sides(row) == tuple(known):
            row[alone] = edits.pop(0)[alone]
    done = {id(row[alone]) for row in rows if len(_sides(row)) > 1}
    return [row for row in rows if _sides(row) != (alone,) or id(row[alone]) not in done]


def _sides(row: Sequence[Block | None]) -> tuple[int, ...]:
    return tuple(number for number, block in enumerate(row) if block)


def _decided(block: Block) -> Hashable:
    return said(block.entry) if block.entry else bare(block)

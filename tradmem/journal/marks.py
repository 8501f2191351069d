"""How far somebody has read some files: what was there then, and what came since."""

from collections.abc import Sequence
from typing import NamedTuple

from tradmem.journal.index import Index


class _Read(NamedTuple):
    """One file as it was; a file that was read anew since has another list of ids."""

    ids: list[bytes]
    blocks: int
    touched: int


Mark = dict[Index, _Read]


def mark_of(indexes: Sequence[Index]) -> Mark:
    """Where some files stand now."""
    return {i: _Read(i.ids, len(i.ids), len(i.touched)) for i in indexes}


def changed_since(mark: Mark, indexes: Sequence[Index]) -> list[tuple[Index, int]]:
    """The blocks that are new or were added to; all of a file that was read anew."""
    changed: list[tuple[Index, int]] = []
    for index in indexes:
        before = mark.get(index)
        if before is None or before.ids is not index.ids:
            numbers = dict.fromkeys(range(len(index.ids)))
        else:
            numbers = dict.fromkeys(index.touched[before.touched :])
            numbers |= dict.fromkeys(range(before.blocks, len(index.ids)))
        changed += [(index, number) for number in numbers]
    return changed


def lost_since(mark: Mark, indexes: Sequence[Index]) -> list[str]:
    """The ids that stood in a file then and do not stand in it any more."""
    lost: dict[bytes, None] = {}
    here = set(indexes)
    for index, before in mark.items():
        if before.ids is not index.ids or index not in here:
            now = set(index.ids) if index in here else set()
            lost |= dict.fromkeys(name for name in before.ids if name and name not in now)
    return [name.decode() for name in lost]

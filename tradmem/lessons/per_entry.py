"""What follows from an entry alone, kept while the entry is looked at again and again."""

from collections.abc import Callable
from typing import TypeVar

from tradmem.model import Entry

_Found = TypeVar("_Found")


def per_entry(
    most: int,
) -> Callable[[Callable[[Entry], _Found]], Callable[[Entry], _Found]]:
    """Keep what a function says of the last entries; by identity, since equality takes long.

    Args:
        most: entries that are held at once.
    """

    def decorate(find: Callable[[Entry], _Found]) -> Callable[[Entry], _Found]:
        # While an entry is held here, no other can have its address.
        kept: dict[int, tuple[Entry, _Found]] = {}

        def look_up(entry: Entry) -> _Found:
            found = kept.get(id(entry))
            if found is None or found[0] is not entry:
                if len(kept) >= most:
                    kept.clear()
                found = kept[id(entry)] = entry, find(entry)
            return found[1]

        look_up.__doc__ = find.__doc__
        return look_up

    return decorate

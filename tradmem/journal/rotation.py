"""Which resolved entries leave the log for the archive, and what that leaves behind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from tradmem.journal.block import read_block
from tradmem.journal.index import Index
from tradmem.journal.selection import KEPT_PER_TICKER
from tradmem.model import GOVERNING, Entry, Status

_NEWLINE = 10


def choose(
    index: Index,
    entry: Callable[[int], Entry | None],
    unfinished: Callable[[], Sequence[Entry]],
    most: int,
    horizons: Sequence[int],
    *,
    is_replaced: Callable[[int], bool],
) -> set[int]:
    """The blocks to move: the oldest resolved entries beyond ``most``.

    Never a pending or settled one, a note, one of the newest recallable of its ticker, or
    one that still waits for an outcome at another horizon. Nor one that stands twice: the
    other, which may know less, would stand for it then. Replaced revisions move with the
    entry that stands for them, and not without it.

    Args:
        index: the log.
        entry: the entry of a block.
        unfinished: the pending and settled entries.
        most: how many resolved entries may stay.
        horizons: in sessions.
        is_replaced: whether a later revision stands for the entry of a block.
    """

    def current(number: int) -> Entry | None:
        return None if is_replaced(number) else entry(number)

    resolved = [number for number in index.order() if index.may_be_resolved(number)]
    excess = len(resolved) - most
    if excess > 0:
        excess -= sum(found.status is Status.SETTLED for found in unfinished())
    twice = {index.ids[number] for number in index.repeats}
    moved: set[int] = set()
    newest: dict[bytes, AbstractSet[int]] = {}
    for number in resolved:
        if len(moved) >= excess:
            break
        found = current(number)
        if found is None or found.status is not Status.RESOLVED or _is_open(found, horizons):
            continue
        ticker = index.ticker_of(number)
        if ticker not in newest:
            newest[ticker] = _newest(index, ticker, current)
        if number not in newest[ticker] and index.ids[number] not in twice:
            moved.add(number)
    return moved | {
        other
        for number in moved
        for other in index.numbers_of(*_day_of(index, number))
        if _replaces(entry(number), entry(other)) and index.ids[other] not in twice
    }


def _is_open(entry: Entry, horizons: Sequence[int]) -> bool:
    return bool(set(horizons) - {outcome.horizon for outcome in entry.outcomes})


def _newest(index: Index, ticker: bytes, entry: Callable[[int], Entry | None]) -> set[int]:
    """The blocks down to the newest recallable entries of a ticker.

    Between them stand those that are hidden, or will be: a recall as of another instant,
    or an undo, may ask for them.
    """
    kept: set[int] = set()
    cut, always = b"", 0
    for known, number in index.newest_first(ticker.decode()):
        if always >= KEPT_PER_TICKER and known < cut:
            break
        found = entry(number)
        if found and found.known_on:
            kept.add(number)
            cut = known
            always += not (found.hidden or any(a.kind in GOVERNING for a in found.additions))
    return kept


def _day_of(index: Index, number: int) -> tuple[str, str]:
    return index.date_of(number).decode(), index.ticker_of(number).decode()


def _replaces(newer: Entry | None, older: Entry | None) -> bool:
    return bool(
        newer
        and older
        and older.agent == newer.agent
        and not older.recorded.is_note
        and older.revision < newer.revision
    )


def splice(
    index: Index, content: memoryview, blocks: Mapping[int, bytes], moved: AbstractSet[int]
) -> Iterator[bytes | memoryview]:
    """The file with some blocks replaced and some gone, in pieces.

    What stands above the first entry (a title) stays at the top.
    """
    pieces = _pieces(index, content, blocks, moved)
    if 0 not in moved:
        return pieces
    start, end = index.span(0)
    title = preamble(bytes(content[start:end]))
    return chain([title if title.strip() else b""], _without_blank_top(pieces))


def _pieces(
    index: Index, content: memoryview, blocks: Mapping[int, bytes], moved: AbstractSet[int]
) -> Iterator[bytes | memoryview]:
    done = 0
    for number in sorted({*blocks, *moved}):
        start, end = index.span(number)
        yield content[done:start]
        done = end
        if number not in moved:
            yield blocks[number]
        elif start and content[start - 1] != _NEWLINE:  # the delimiter above keeps its line
            yield index.newline
    yield content[done:]


def _without_blank_top(pieces: Iterator[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    for piece in pieces:
        if text := bytes(piece).lstrip(b"\r\n"):
            yield text
            break
    yield from pieces


def preamble(raw: bytes) -> bytes:
    """The lines above the tag of a block, its byte order mark included."""
    lines = raw.split(b"\n")
    above = lines[: read_block(raw).line]
    if above:
        return b"\n".join([*above, b""])
    return lines[0][: lines[0].index(b"[")]

"""What of a log can be mended without a choice: nothing that a person wrote is lost by it."""

from tradmem.journal.block import read_block, tail_fault
from tradmem.journal.format import check_encoding, opening, split


def mended(data: bytes, path: str = "") -> bytes:
    """The file as it should be, as far as there is only one way.

    A block that stands twice, byte for byte, goes the second time; a tail that was not
    written to its end is closed off; a tag that stands behind a delimiter gets a line of its
    own. Two entries with one id that differ, a tag that cannot be read and a merge conflict
    are for a person.

    Raises:
        LogError: the file is no UTF-8 text at all.
    """
    check_encoding(data, path)
    newline = b"\r\n" if 2 * data.count(b"\r\n") > data.count(b"\n") else b"\n"
    seen: set[bytes] = set()
    kept, end = [], 0
    for start, end in split(data):
        block = data[start:end].strip()
        if block in seen and read_block(data[start:end]).entry is not None:
            continue
        seen.add(block)
        kept.append(data[start:end])
    tail = data[end:]
    if tail:
        closing = opening(tail, newline) if tail_fault(tail) else b""
        kept.append(tail + closing)
    for number, block in enumerate(kept[:-1]):
        if not block.endswith(b"\n"):
            kept[number] = block + 2 * newline
    return b"".join(kept)

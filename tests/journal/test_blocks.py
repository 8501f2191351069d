"""The blocks of a file are the same, however it is read: in one piece or in many."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.journal.made import decision, lesson, outcome
from tradmem.journal import blocks
from tradmem.journal.block import fold_now
from tradmem.journal.blocks import Blocks
from tradmem.journal.format import parse, render

GIVEN = sorted((Path(__file__).parent.parent / "data" / "journals").glob("*.md"))
PART = st.sampled_from(
    [
        b"<!-- ENTRY_END -->",
        b"<!-- ENTRY_END -->\n",
        b"<!-- ENTRY_END --> \t\r\n",
        b"<!-- ENTRY_END -->\n\n",
        b"x<!-- ENTRY_END -->\n",
        b"<!-- ENTRY",
        b"\n",
        b"\r\n",
        render(fold_now(decision(1), ())),
        render(fold_now(decision(2), (outcome(2), lesson(2)))),
        render(fold_now(decision(2), ())).replace(b"\n", b"\r\n"),
        b"[2025-10-01 | T1 | Buy | pending]\n\nDECISION:\nTyped.\n",
    ]
)


def read(path: Path, piece: int, monkeypatch: pytest.MonkeyPatch) -> Blocks:
    monkeypatch.setattr(blocks, "_PIECE", piece)
    found = Blocks(path)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        found.scan(descriptor, path.stat().st_size)
    finally:
        os.close(descriptor)
    return found


def told(found: Blocks) -> tuple[object, ...]:
    return found.tags, found.ids, found.starts, found.end, found.newline


def check(path: Path, piece: int) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        whole = read(path, 1 << 30, monkeypatch)
        pieces = read(path, piece, monkeypatch)
    data = path.read_bytes()
    ends = [*whole.starts[1:], whole.end] if whole.starts else []
    spans = [data[a:b] for a, b in zip(whole.starts, ends, strict=True)]
    assert spans == [block.raw for block in parse(data, "memory.md").blocks]
    # A head at the end of a piece may be cut: then it is parsed, like one that is not ours.
    assert [p or w for p, w in zip(pieces.tags, whole.tags, strict=True)] == whole.tags
    assert [p or w for p, w in zip(pieces.ids, whole.ids, strict=True)] == whole.ids
    assert told(pieces)[2:] == told(whole)[2:]


@pytest.mark.parametrize("path", GIVEN, ids=lambda path: path.stem)
@pytest.mark.parametrize("piece", [1, 37, 300])
def test_given_logs_are_read_alike_in_pieces(path: Path, piece: int) -> None:
    check(path, piece)


@given(parts=st.lists(PART, max_size=12), piece=st.integers(1, 2000))
def test_any_log_is_read_alike_in_pieces(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], piece: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "memory.md"
    path.write_bytes(b"".join(parts))
    check(path, piece)


def test_a_file_that_shrinks_while_it_is_read_ends_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "memory.md"
    path.write_bytes(render(fold_now(decision(1), ())) * 2)
    found = Blocks(path)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        found.scan(descriptor, 10 * path.stat().st_size)
    finally:
        os.close(descriptor)
    assert len(found.tags) == 2

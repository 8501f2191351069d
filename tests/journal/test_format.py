"""The format as bytes in and bytes out."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.journal.making import (
    SEPARATORS,
    TEXTS,
    additions,
    decision,
    decisions,
    lesson,
    note,
    outcome,
    texts,
)
from tradmem.journal.block import fold_now, read_block
from tradmem.journal.format import amend, parse, render, split
from tradmem.journal.tagline import read_tag, write_tag
from tradmem.journal.text import DELIMITER, clean, escape, unescape
from tradmem.model import Addition


def cleaned(addition: Addition) -> Addition:
    return replace(addition, text=clean(addition.text))


@given(texts)
def test_escaping_is_undone_exactly(text):
    assert unescape(escape(text)) == text


@given(texts)
def test_an_escaped_text_holds_nothing_that_structure_is_made_of(text):
    escaped = escape(clean(text))
    for mark in ("DECISION:", "REFLECTION:", "NOTE:", "<!-- ENTRY_END", "<!-- tradmem:"):
        assert mark not in escaped
    for line in escaped.splitlines():
        assert not line.startswith(("[2026-01-05 |", "<<<<<<< ", ">>>>>>> "))


@given(texts)
def test_cleaning_twice_is_cleaning_once(text):
    assert clean(clean(text)) == clean(text)


def test_cleaning_takes_only_what_it_says():
    assert clean("\n \t\n  a \r\nb\rc\x00\ud800 \n\u2028\n") == "  a \nb\nc\ufffd\ufffd "
    kept = "a" + "a".join(set(SEPARATORS) - {"\r"}) + "a"
    assert clean(kept) == kept


@given(decisions(), st.lists(additions(), max_size=5))
def test_a_rendered_entry_is_read_as_it_was(recorded, added):
    recorded = replace(recorded, text=clean(recorded.text))
    added = [cleaned(a) for a in added if a.kind != "reflection" or clean(a.text)]
    entry = fold_now(recorded, added)
    log = parse(render(entry))
    assert log.problems == ()
    assert log.entries == [entry]
    assert render(log) == render(entry)


@given(texts.map(clean).filter(bool))
def test_a_note_is_read_as_it_was(text):
    entry = fold_now(note(text), ())
    assert parse(render(entry)).entries == [entry]


@given(st.binary(max_size=300) | texts.map(lambda text: text.encode("utf-8", "replace")))
@example(b"<!-- ENTRY_END -->")
@example(b"x<!-- ENTRY_END -->\n<!-- ENTRY_END --> x\n<!-- ENTRY_END -->\r\n\n")
def test_any_bytes_are_rendered_as_they_were(data):
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    assert render(parse(data)) == data


@given(decisions(), st.lists(additions(), min_size=1, max_size=4), st.booleans())
def test_amending_step_by_step_is_rendering_at_once(recorded, added, crlf):
    recorded = replace(recorded, text=clean(recorded.text))
    added = [cleaned(a) for a in added if a.kind != "reflection" or clean(a.text)]
    newline = b"\r\n" if crlf else b"\n"
    raw = render(fold_now(recorded, ())).replace(b"\n", newline)
    raw = raw[: next(split(raw))[1]]
    for addition in added:
        raw, entry = amend(raw, [addition], newline=newline)
        assert read_block(raw).entry == entry
    whole = render(fold_now(recorded, added)).replace(b"\n", newline)
    assert raw == whole[: next(split(whole))[1]]


@given(texts)
def test_amending_leaves_every_other_byte(text):
    preamble = b"# A title\n\nsome words\n\n"
    raw = preamble + render(fold_now(decision(clean(text)), ()))
    raw = raw[: next(split(raw))[1]]
    new, _ = amend(raw, [outcome(), lesson()])
    old_lines, new_lines = raw.split(b"\n"), new.split(b"\n")
    tag = old_lines.index(b"[2026-01-05 | NVDA | Buy | pending]")
    assert new_lines[:tag] == old_lines[:tag]
    assert new_lines[tag] == b"[2026-01-05 | NVDA | Buy | +6.0% | +4.5% | 5d | resolved:2026-01-12]"
    assert new_lines[tag + 1] == old_lines[tag + 1]
    assert all(line.startswith(b'<!-- tradmem: {"add":') for line in new_lines[tag + 2 : tag + 4])
    body = old_lines[tag + 2 : -3]
    assert new_lines[tag + 4 : tag + 4 + len(body)] == body
    assert b"\n".join(new_lines[tag + 4 + len(body) :]) == (
        b"\nREFLECTION:\nIt was right. Do it again.\n\n<!-- ENTRY_END -->\n"
    )


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["id"])
def test_a_hostile_text_makes_one_entry_and_no_more(case):
    text = clean(case["text"])
    entry = fold_now(decision(text), [outcome(), lesson(text)])
    around = [fold_now(decision("first", ticker="AAPL"), ()), fold_now(note("last"), ())]
    data = render(around[0]) + render(entry) + render(around[1])
    assert parse(data).entries == [around[0], entry, around[1]]
    assert data.count(DELIMITER.encode()) == 3


def test_a_ledger_is_ascii_and_cannot_end_its_comment():
    entry = fold_now(decision(agent="–->-->", extra={"why": "--> <!-- ENTRY_END -->"}), ())
    ledger = render(entry).split(b"\n")[1]
    assert ledger.isascii()
    assert ledger.count(b"-->") == 1
    assert ledger.count(b"--") == 2
    assert parse(render(entry)).entries == [entry]


TAGS = [
    "[2026-01-05 | NVDA | Buy | pending]",
    "[2026-01-05 | NVDA | Unrated | pending]",
    "[2026-01-05 | BRK.B | Sell | +6.0% | +4.5% | 5d | resolved:2026-01-12]",
    "[2026-01-05 | ^N225 | Hold | -100.0% | n/a | 1d | resolved:2026-01-12]",
    "[2026-01-05 | NVDA | Overweight | unresolvable | no price ever came]",
    "[2026-01-05 | * | Note]",
]


@pytest.mark.parametrize("line", TAGS)
def test_a_tag_is_written_as_it_is_read(line):
    body = "NOTE:" if line.endswith("Note]") else "DECISION:"
    entry = parse(f"{line}\n\n{body}\ntext\n\n{DELIMITER}\n\n".encode()).entries[0]
    assert write_tag(entry) == line


@pytest.mark.parametrize(
    "line",
    [
        "[2026-02-30 | NVDA | Buy | pending]",
        "[2026-1-5 | NVDA | Buy | pending]",
        "[2026-01-05 | NV DA | Buy | pending]",
        "[2026-01-05 | NVDA | Buy]",
        "[2026-01-05 | NVDA | Buy | 6% up | +4.5% | 5d]",
        "[2026-01-05 | NVDA | Buy | +6.0% | +4.5% | five]",
        "[2026-01-05 | NVDA | Buy | +6.0% | +4.5% | 5d | resolved:soon]",
        "[2026-01-05 | NVDA | Buy | +6.0%]",
        f"[2026-01-05 | NVDA | Buy | {'9' * 30}% | +4.5% | 5d]",
        f"[2026-01-05 | NVDA | Buy | +6.0% | -{'9' * 30}% | 5d]",
        "[2026-01-05 | NVDA | Buy | pending | really]",
        "[NVDA | 2026-01-05 | Buy | pending]",
        "[ | | | ]",
    ],
)
def test_a_tag_that_cannot_be_read_is_no_entry_and_is_kept(line):
    with pytest.raises(ValueError, match=r"."):
        read_tag(line)
    data = f"{line}\n\nDECISION:\ntext\n\n{DELIMITER}\n\n".encode()
    log = parse(data, "memory.md")
    assert log.entries == []
    assert [str(problem)[:12] for problem in log.problems] == ["memory.md:1:"]
    assert render(log) == data


@pytest.mark.parametrize("reason", ["a | b", "x]", "[2026-01-05 |", "a\u2028b", "", "\n"])
def test_a_reason_cannot_break_its_tag(reason):
    gone = Addition(kind="unresolvable", at=decision().decided_at, data={"reason": reason})
    entry = fold_now(decision(), [gone])
    log = parse(render(entry))
    assert log.entries == [entry]
    assert log.entries[0].reason == reason

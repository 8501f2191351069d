"""Logs that other people and programs wrote: read as they mean, and never damaged."""

import json
from datetime import date, timedelta

import pytest

from tests.journal.making import DATA, KNOWN, decision, lesson, outcome
from tradmem import LogError, MarkdownJournal, Status

NAMES = sorted(path.stem for path in (DATA / "journals").glob("*.md"))


@pytest.fixture(params=NAMES)
def given(request, tmp_path):
    path = tmp_path / "memory.md"
    path.write_bytes((DATA / "journals" / f"{request.param}.md").read_bytes())
    expected = json.loads((DATA / "journals" / f"{request.param}.json").read_text("utf-8"))
    return path, expected


def summary(entry, names):
    found = {
        "date": entry.date.isoformat(),
        "raw": entry.outcome and entry.outcome.raw_return,
        "alpha": entry.outcome and entry.outcome.alpha,
        "known_on": entry.known_on and entry.known_on.isoformat(),
    }
    return {name: found[name] if name in found else getattr(entry, name) for name in names}


def test_a_given_journal_holds_what_it_should(given):
    path, expected = given
    journal = MarkdownJournal(path)
    entries, problems = journal.entries(), journal.problems()
    for entry, wanted in zip(entries, expected.get("entries", []), strict=False):
        assert summary(entry, wanted) == wanted
    if "entries" in expected:
        assert len(entries) == len(expected["entries"])
    assert len(entries) >= expected.get("min_entries", 0)
    assert len(problems) >= expected.get("min_problems", 0)
    if "problems" in expected:
        assert len(problems) == expected["problems"]


def test_nothing_of_a_given_journal_is_lost_through_append_resolve_and_rotation(given):
    path, expected = given
    before = path.read_bytes()
    journal = MarkdownJournal(path, max_resolved=2)
    old = journal.entries()
    new = [
        journal.append(decision(f"Rating: Buy\nnumber {number}", day=date(2026, 2, 1 + number)))[0]
        for number in range(9)
    ]
    for entry in [*journal.unfinished()]:
        known = KNOWN + timedelta(days=30 + entry.date.day)
        journal.add([(entry.id, outcome(known)), (entry.id, lesson())])

    fresh = MarkdownJournal(path, max_resolved=2)
    assert {entry.id for entry in (*old, *new)} <= {entry.id for entry in fresh.entries()}
    assert fresh.unfinished() == []
    assert any(entry.archived for entry in fresh.entries())
    decisions = {entry.id: entry.decision for entry in fresh.entries()}
    assert all(decisions[entry.id] == entry.decision for entry in old)
    files = [path.read_bytes(), *(file.read_bytes() for file in path.parent.glob("archive/*.md"))]
    for piece in expected.get("preserved", []):
        assert any(piece.encode() in data for data in files)
    for line in before.split(b"\n"):
        assert b"pending" in line or any(line.rstrip(b"\r") in data for data in files)


def test_a_title_and_a_byte_order_mark_stay_at_the_top(tmp_path):
    path = tmp_path / "memory.md"
    path.write_bytes(b"\xef\xbb\xbf# My diary\n\nsince 2026\n\n")
    journal = MarkdownJournal(path, max_resolved=0)
    for number in range(8):
        entry, _ = journal.append(decision(day=date(2026, 1, 1 + number)))
        journal.add([(entry.id, outcome(KNOWN + timedelta(days=number))), (entry.id, lesson())])
    assert path.read_bytes().startswith(b"\xef\xbb\xbf# My diary\n\nsince 2026\n\n[2026-01-04 |")
    archive = (tmp_path / "archive" / "memory-2026.md").read_bytes()
    assert archive.startswith(b"[2026-01-01 |")
    assert len(journal.entries()) == 8
    assert journal.problems() == []


@pytest.mark.parametrize("name", ["crlf"])
def test_windows_line_ends_are_kept(name, tmp_path):
    path = tmp_path / "memory.md"
    path.write_bytes((DATA / "journals" / f"{name}.md").read_bytes())
    journal = MarkdownJournal(path)
    entry, _ = journal.append(decision("Rating: Buy\nnext", ticker="AAPL"))
    journal.add([(entry.id, outcome()), (entry.id, lesson())])
    data = path.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")
    assert journal.get(entry.id).decision == "Rating: Buy\nnext"
    assert MarkdownJournal(path).get(entry.id).status is Status.RESOLVED


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_a_utf_16_file_is_an_error_and_is_not_written(mark, tmp_path):
    path = tmp_path / "memory.md"
    path.write_bytes(mark + "[2026-01-05 | NVDA | Buy | pending]".encode("utf-16-le"))
    before = path.read_bytes()
    with pytest.raises(LogError, match="UTF-16"):
        MarkdownJournal(path).append(decision())
    with pytest.raises(LogError, match="UTF-16"):
        MarkdownJournal(path).entries()
    assert path.read_bytes() == before


def test_bad_bytes_and_nuls_survive_a_resolution(tmp_path):
    path = tmp_path / "memory.md"
    text = b"price \xa3190 and \x00 more\n\x00\x00next line"
    path.write_bytes(
        b"\x00\x00[2026-01-05 | NVDA | Buy | pending]\n\nDECISION:\n" + text + b"\n\n"
        b"<!-- ENTRY_END -->\n\n"
    )
    journal = MarkdownJournal(path)
    (entry,) = journal.unfinished()
    assert entry.decision == "price \ufffd190 and \ufffd more\nnext line"
    assert len(journal.problems()) == 2
    journal.add([(entry.id, outcome()), (entry.id, lesson())])
    assert text in path.read_bytes()
    assert MarkdownJournal(path).get(entry.id).status is Status.RESOLVED

"""What a crash in the middle of an append leaves, at every byte."""

import pytest

from tests.journal.making import DAY, TEXTS, decision
from tests.journal.tradingagents import PeerLog
from tradmem import MarkdownJournal

HOSTILE = next(case["text"] for case in TEXTS if case["id"] == "delimiter")


def written(tmp_path, text, newline=b"\n"):
    """The bytes of a log with one whole entry, and those of the block that is being appended."""
    path = tmp_path / "whole.md"
    path.write_bytes(b"# Title" + 2 * newline)
    journal = MarkdownJournal(path)
    journal.append(decision("Rating: Sell\nfirst", ticker="AAPL"))
    start = path.stat().st_size
    journal.append(decision(text, agent="desk"))
    data = path.read_bytes()
    return data[:start], data[start:]


@pytest.mark.parametrize("text", ["Rating: Buy\nÜber 190 €.", HOSTILE], ids=["plain", "hostile"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_the_next_append_is_whole_and_nothing_else_appears(text, newline, tmp_path):
    before, block = written(tmp_path, text, newline)
    path = tmp_path / "memory.md"
    for cut in range(len(block)):
        path.write_bytes(before + block[:cut])
        journal = MarkdownJournal(path)
        there = [entry.ticker for entry in journal.entries()]
        assert there in (["AAPL"], ["AAPL", "NVDA"])
        entry, _ = journal.append(decision("Rating: Hold\nnext", ticker="MSFT"))
        assert path.read_bytes().startswith(before + block[:cut])
        fresh = MarkdownJournal(path)
        assert [e.ticker for e in fresh.entries()] == [*there, "MSFT"]
        assert fresh.get(entry.id).decision == "Rating: Hold\nnext"
        assert fresh.entries() == journal.entries()


def test_the_torn_decision_can_be_recorded_again_under_its_own_id(tmp_path):
    before, block = written(tmp_path, "Rating: Buy\nall of it")
    path = tmp_path / "memory.md"
    for cut in range(1, len(block) - 25, 7):
        path.write_bytes(before + block[:cut])
        entry, stored = MarkdownJournal(path).append(
            decision("Rating: Buy\nall of it", agent="desk")
        )
        assert stored == "recorded"
        fresh = MarkdownJournal(path)
        assert entry.revision == 0
        assert fresh.get(entry.id).decision == "Rating: Buy\nall of it"
        assert [e.ticker for e in fresh.entries()] == ["AAPL", "NVDA"]


@pytest.mark.parametrize("text", ["Rating: Buy\nÜber 190 €.", HOSTILE], ids=["plain", "hostile"])
def test_what_the_peer_appends_behind_a_torn_tail_is_never_somebody_elses(text, tmp_path):
    before, block = written(tmp_path, text)
    path = tmp_path / "memory.md"
    for cut in range(len(block)):
        path.write_bytes(before + block[:cut])
        with path.open("ab") as file:
            file.write(
                f"[{DAY} | MSFT | Hold | pending]\n\nDECISION:\nRating: Hold\nMSFT only"
                "\n\n<!-- ENTRY_END -->\n\n".encode()
            )
        journal = MarkdownJournal(path)
        for entry in journal.entries():
            assert ("MSFT only" in entry.decision) == (entry.ticker == "MSFT"), cut
        journal.append(decision("Rating: Hold\nlater", ticker="TSLA"))
        assert "TSLA" in [e.ticker for e in MarkdownJournal(path).entries()]


@pytest.mark.parametrize(
    "tail",
    [
        "some words of mine",
        "some words of mine\n",
        ">>>>>>> other\n",
        "<<<<<<< HEAD",
        "[remember: earnings]",
        "DECISION:\nwithout a tag",
        "mine\n\n[2026-01-06 | AAPL | Buy | pending]\n\nDECISION:\ntyped by hand, no delimiter",
        '<!-- tradmem: {"id":"000000000000"} -->',
        "NOTE:",
        "[2026-",
        "\x00\x00\x00\x00",
        "<!-- an open comment",
    ],
)
def test_any_tail_leaves_the_next_append_whole(tail, tmp_path):
    path = tmp_path / "memory.md"
    path.write_bytes(tail.encode())
    journal = MarkdownJournal(path)
    entry, _ = journal.append(decision("Rating: Buy\nnext"))
    assert [e.id for e in MarkdownJournal(path).entries()] == [entry.id]
    assert MarkdownJournal(path).get(entry.id).decision == "Rating: Buy\nnext"
    assert path.read_bytes().startswith(tail.encode())
    second, _ = journal.append(decision("Rating: Buy\nsecond", ticker="AAPL"))
    assert [e.id for e in MarkdownJournal(path).entries()] == [entry.id, second.id]


def test_a_mangled_tag_above_a_text_that_quotes_another_is_no_entry(tmp_path):
    path = tmp_path / "memory.md"
    PeerLog(path).store("NVDA", str(DAY), f"as said:\n[{DAY} | AAPL | Sell | pending]\n\nquoted")
    text = path.read_text("utf-8").replace(f"[{DAY} | NVDA | Buy | pending]", "NVDA, a Buy", 1)
    path.write_text(text, encoding="utf-8")
    journal = MarkdownJournal(path)
    assert journal.entries() == []
    assert len(journal.problems()) == 1

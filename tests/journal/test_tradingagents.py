"""One log, two programs: each reads, resolves and rewrites what the other wrote."""

from datetime import timedelta
from time import monotonic

import pytest
from hypothesis import HealthCheck, given, settings

from tests.journal.making import DAY, KNOWN, TEXTS, decision, lesson, outcome, texts
from tests.journal.tradingagents import PeerLog
from tradmem import MarkdownJournal, Status
from tradmem.journal.text import clean


def as_the_peer_keeps_it(text: str) -> str:
    """Unusual line separators and outer white space are what its rewrite costs."""
    return "\n".join(clean(text).splitlines()).strip()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.md"


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["id"])
def test_the_peer_sees_one_pending_entry_whatever_its_text_says(case, path):
    journal = MarkdownJournal(path)
    journal.append(decision("Rating: Sell", ticker="AAPL"))
    journal.append(decision(case["text"]))
    assert [(e["ticker"], e["pending"], e["reflection"]) for e in PeerLog(path).load()] == [
        ("AAPL", True, ""),
        ("NVDA", True, ""),
    ]


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["id"])
def test_a_text_survives_the_peers_resolution(case, path):
    journal = MarkdownJournal(path)
    entry, _ = journal.append(decision(case["text"]))
    assert PeerLog(path).resolve("NVDA", str(DAY), 0.06, 0.045, "It was right.", known="2026-01-12")
    found = journal.get(entry.id)
    assert found.status is Status.RESOLVED
    assert (found.outcome.raw_return, found.outcome.alpha) == (0.06, 0.045)
    assert found.known_on.isoformat() == "2026-01-12"
    assert found.reflection == "It was right."
    assert found.decision.strip() == as_the_peer_keeps_it(case["text"])
    assert journal.problems() == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(texts)
def test_any_text_survives_the_peers_resolution(tmp_path, text):
    path = tmp_path / "memory.md"
    path.unlink(missing_ok=True)
    journal = MarkdownJournal(path)
    entry, _ = journal.append(decision(text))
    other, _ = journal.append(decision("Rating: Sell", ticker="AAPL"))
    assert PeerLog(path).resolve("NVDA", str(DAY), 0.06, 0.045, "It was right.")
    assert PeerLog(path).resolve("AAPL", str(DAY), 0.06, 0.045, "It was wrong.")
    assert journal.get(entry.id).decision.strip() == as_the_peer_keeps_it(text)
    assert journal.get(entry.id).reflection == "It was right."
    assert journal.get(other.id).reflection == "It was wrong."


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["id"])
def test_a_text_of_ours_does_not_pass_for_the_peers_pending_entry(case, path):
    journal = MarkdownJournal(path)
    journal.append(decision(case["text"], ticker="AAPL"))
    PeerLog(path).store("NVDA", str(DAY), "Rating: Buy")
    PeerLog(path).store("EVIL", "2020-01-01", "Rating: Buy")
    assert [entry.ticker for entry in journal.entries()] == ["EVIL", "AAPL", "NVDA"]


def test_what_the_peer_stored_is_resolved_by_us_without_loss(path):
    peer = PeerLog(path)
    peer.store("NVDA", str(DAY), "Rating: Buy\nNOTE:\nkeep \\REFLECTION\\: and DECISION\\: as is.")
    peer.store("AAPL", str(DAY), "No clear rating.", rating="REVIEW")
    journal = MarkdownJournal(path)
    nvda, aapl = journal.entries()
    assert nvda.decision == "Rating: Buy\nNOTE:\nkeep \\REFLECTION\\: and DECISION\\: as is."
    assert aapl.rating is None
    before = {entry.id: entry.decision for entry in (nvda, aapl)}
    journal.add([(e.id, a) for e in (nvda, aapl) for a in (outcome(), lesson())])
    for entry in MarkdownJournal(path).entries():
        assert entry.status is Status.RESOLVED
        assert entry.decision == before[entry.id]
    assert [(e["rating"], e["raw"], e["reflection"]) for e in peer.load()] == [
        ("Buy", "+6.0%", "It was right. Do it again."),
        ("REVIEW", "+6.0%", "It was right. Do it again."),
    ]


@pytest.mark.parametrize("mark", ["DECISION:", "NOTE:", "REFLECTION:"])
def test_a_text_of_the_peer_that_is_all_marks_is_read_in_a_moment(mark, path):
    text = "Rating: Buy\n" + f"{mark}\n" * 40_000
    PeerLog(path).store("NVDA", str(DAY), text)
    began = monotonic()
    journal = MarkdownJournal(path)
    entry = journal.entries()[0]
    journal.add([(entry.id, outcome()), (entry.id, lesson())])
    assert MarkdownJournal(path).get(entry.id).decision == entry.decision
    assert monotonic() - began < 20  # minutes, where each mark has all text above it looked at


def test_a_note_typed_below_our_lesson_on_the_peers_entry_is_no_part_of_the_lesson(path):
    PeerLog(path).store("NVDA", str(DAY), "Rating: Buy\nNOTE:\nof the peer.")
    name = MarkdownJournal(path).entries()[0].id
    said = "NOTE: it was right.\nDo it again."
    MarkdownJournal(path).add([(name, outcome()), (name, lesson(said))])
    end = "\n\n<!-- ENTRY_END -->"
    text = path.read_text().replace(end, f"\n\nNOTE:\nMine: too large.{end}")
    path.write_text(text)
    for _ in range(2):
        entry = MarkdownJournal(path).get(name)
        assert (entry.decision, entry.reflection) == ("Rating: Buy\nNOTE:\nof the peer.", said)
        assert (entry.note, entry.edited) == ("Mine: too large.", ())
        MarkdownJournal(path).add([(name, outcome(horizon=20))])


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize("cut", [0, 30])
def test_what_the_peer_appends_where_an_editor_took_the_last_newline_stands_alone(
    path, is_ours, cut
):
    if is_ours:
        MarkdownJournal(path).append(decision("First."))
    else:
        PeerLog(path).store("NVDA", str(DAY), "First.")
    path.write_text(path.read_text().rstrip())
    PeerLog(path).store("AAPL", str(DAY), "Second.")
    path.write_bytes(path.read_bytes()[: -cut or None])
    MarkdownJournal(path).append(decision("Third.", ticker="AMD"))
    journal = MarkdownJournal(path)
    wanted = [("NVDA", "First."), ("AAPL", "Second."), ("AMD", "Third.")]
    wanted = [each for each in wanted if not (cut and each[0] == "AAPL")]
    assert [(entry.ticker, entry.decision) for entry in journal.entries()] == wanted
    assert "its tag stands behind the line" in str(journal.problems())
    journal.mend()
    assert journal.mend() == {}
    assert "stands behind" not in str(journal.problems())
    assert [(entry.ticker, entry.decision) for entry in journal.entries()] == wanted
    assert [entry["ticker"] for entry in PeerLog(path).load()] == ["NVDA", "AAPL", "AMD"]


def test_what_stands_behind_a_delimiter_may_rotate_and_leaves_the_others_whole(path):
    MarkdownJournal(path).append(decision("First."))
    path.write_text(path.read_text().rstrip())
    PeerLog(path).store("AAPL", str(DAY), "Second.")
    path.write_text(path.read_text().rstrip() + "\n# A remark\n")
    journal = MarkdownJournal(path, max_resolved=6)
    days = [DAY + timedelta(days=number) for number in range(1, 7)]
    for number, day in enumerate(days):
        added, _ = journal.append(decision("More.", ticker="AAPL", day=day))
        known = KNOWN + timedelta(days=number)
        journal.add([(added.id, outcome(known)), (added.id, lesson())])
    second = next(entry for entry in journal.entries() if entry.decision == "Second.")
    journal.add([(second.id, outcome(KNOWN - timedelta(days=1))), (second.id, lesson())])
    entries = MarkdownJournal(path).entries()
    assert next(entry for entry in entries if entry.id == second.id).archived
    assert sorted(entry.decision for entry in entries) == ["First.", *["More."] * 6, "Second."]
    assert "# A remark" in path.read_text()


@pytest.mark.parametrize("known", ["", "2026-01-12"])
def test_what_the_peer_resolved_is_known_from_its_date_or_from_an_estimate(known, path):
    peer = PeerLog(path)
    peer.store("NVDA", str(DAY), "Rating: Buy")
    peer.resolve("NVDA", str(DAY), 0.06, 0.045, "It was right.", known=known)
    outcome_ = MarkdownJournal(path).entries()[0].outcome
    assert outcome_.known_on.isoformat() == (known or "2026-01-19")
    assert ("estimated" in outcome_.flags) == (not known)


def test_a_correction_of_ours_keeps_what_the_peer_found(path):
    peer = PeerLog(path)
    peer.store("NVDA", str(DAY), "Rating: Buy")
    peer.resolve("NVDA", str(DAY), 0.06, 0.045, "It was right.", known="2026-01-12")
    journal = MarkdownJournal(path)
    entry = journal.entries()[0]
    later = outcome(raw=-0.02, alpha=-0.03, known=entry.outcome.known_at.replace(month=2))
    journal.add([(entry.id, later), (entry.id, lesson("It was wrong after all. Look again."))])
    now = MarkdownJournal(path).entries()[0]
    assert now.reflection == "It was wrong after all. Look again."
    assert now.verdict == "wrong"
    then = now.at(entry.outcome.known_at)
    assert (then.outcome.raw_return, then.reflection) == (0.06, "It was right.")

"""Faults that somebody hunted down: each as small as it was found."""

import time
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.journal.making import DAY, KNOWN, decision, forgetting, lesson, outcome
from tradmem import FramePrices, MarkdownJournal, Memory, RamJournal, Settings, Status, UsageError
from tradmem.journal.passages import passage_of
from tradmem.lessons.entities import names_in
from tradmem.lessons.exchanges import exchanges_beside
from tradmem.lessons.reflect import FaultKind
from tradmem.lessons.track import track
from tradmem.lessons.wire import read_body
from tradmem.market.prices import Bars
from tradmem.running.record import RunLog

FAR = datetime(2030, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 3, 20, tzinfo=UTC)
PENDING = "[2026-01-05 | NVDA | Buy | pending]\n"


def resolve_all(journal):
    for entry in journal.unfinished():
        known = KNOWN + (entry.date - DAY)
        journal.add([(entry.id, outcome(known)), (entry.id, lesson())])


def test_rotation_never_replaces_another_entry_with_the_same_id(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    for number in range(8):
        journal.append(decision(f"Rating: Buy {number}", day=DAY + timedelta(days=number)))
    resolve_all(journal)
    text = path.read_text("utf-8")
    first = text[: text.index("<!-- ENTRY_END -->")] + "<!-- ENTRY_END -->\n\n"
    path.write_text(text + first.replace("Buy 0", "Buy 0 COPY"), encoding="utf-8")
    for day in (20, 30):
        again = MarkdownJournal(path, max_resolved=0)
        again.append(decision(day=DAY + timedelta(days=day), ticker="AAPL"))
        resolve_all(again)
    every = "".join(f.read_text("utf-8") for f in [path, *tmp_path.glob("archive/*.md")])
    assert "Buy 0\n" in every
    assert "Buy 0 COPY\n" in every


def test_an_older_copy_of_the_log_does_not_take_back_what_the_archive_knows(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    for number in range(7):
        journal.append(decision(f"number {number}", day=DAY + timedelta(days=number)))
    resolve_all(journal)
    old = path.read_bytes()
    journal = MarkdownJournal(path, max_resolved=0)
    journal.append(decision(ticker="AAPL"))
    resolve_all(journal)
    gone = next(entry for entry in journal.entries() if entry.archived)
    journal.add([(gone.id, forgetting())])
    path.write_bytes(old)
    journal = MarkdownJournal(path, max_resolved=0)
    journal.append(decision(ticker="MSFT"))
    resolve_all(journal)
    assert MarkdownJournal(path).get(gone.id).hidden


@pytest.mark.parametrize("names", [("agent.v1", "agent.v2"), ("m.md", "m.txt")])
def test_two_logs_beside_each_other_have_archives_of_their_own(names, tmp_path):
    journals = [MarkdownJournal(tmp_path / name, max_resolved=0) for name in names]
    for journal, text in zip(journals, ("ONE", "TWO"), strict=True):
        for number in range(7):
            journal.append(decision(text, day=DAY + timedelta(days=number)))
        resolve_all(journal)
    for journal, text in zip(journals, ("ONE", "TWO"), strict=True):
        assert [entry.decision for entry in journal.entries()] == [text] * 7


def test_a_vast_return_can_be_stored_and_read(tmp_path):
    days = [date(2026, 1, 1) + timedelta(days=n) for n in range(60)]
    closes = {day: 1e-6 if day < date(2026, 1, 8) else 20.0 for day in days}
    memory = Memory.open(
        tmp_path / "memory.md",
        prices=FramePrices({"PEPE-USD": closes}),
        settings=Settings(benchmark={"*": None}),
        clock=lambda: NOW,
    )
    name = memory.record("PEPE-USD", "2026-01-05", "Rating: Buy").entry.id
    memory.resolve(accept=[name])
    assert Memory.open(tmp_path / "memory.md").get(name).status is Status.RESOLVED


def test_a_decision_recorded_again_after_a_torn_append_is_seen_at_once(tmp_path):
    path = tmp_path / "memory.md"
    MarkdownJournal(path).append(decision("Rating: Buy\nx"))
    path.write_bytes(path.read_bytes()[: path.read_bytes().index(b"Buy\nx") + 2])
    journal = MarkdownJournal(path)
    journal.append(decision(ticker="AAPL"))
    entry, _ = journal.append(decision("Rating: Buy\nx"))
    assert journal.get(entry.id).decision == "Rating: Buy\nx"
    assert entry.id in [e.id for e in journal.unfinished()]
    assert journal.append(decision("Rating: Buy\nx"))[1] == "unchanged"


@pytest.mark.parametrize(
    "head",
    [
        "[9999-12-31 | NVDA | Buy | +1.0% | +1.0% | 5d]",
        PENDING + '<!-- tradmem: {"id":"000000000000","revision":1e400} -->',
        PENDING + '<!-- tradmem: {"id":"000000000000","tags":null} -->',
        PENDING + '<!-- tradmem: {"id":"000000000000","at":"9999-12-31T23:00:00-05:00"} -->',
    ],
)
def test_a_value_beyond_all_bounds_costs_its_own_entry_at_most(head, tmp_path):
    path = tmp_path / "memory.md"
    path.write_text(f"{head}\n\nDECISION:\nx\n\n<!-- ENTRY_END -->\n\n", encoding="utf-8")
    journal = MarkdownJournal(path)
    entry, _ = journal.append(decision(ticker="AAPL"))
    assert entry.id in [e.id for e in journal.entries()]
    assert all(problem.line in (1, 2) for problem in journal.problems())


def test_the_end_of_the_calendar_costs_no_count(tmp_path):
    path = tmp_path / "memory.md"
    tag = "[9999-12-30 | NVDA | Buy | +1.0% | +1.0% | 9d | resolved:9999-12-31]"
    path.write_text(f"{tag}\n\nDECISION:\nx\n\n<!-- ENTRY_END -->\n\n", encoding="utf-8")
    journal = MarkdownJournal(path)
    (counts,) = journal.counts("NVDA", datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC))
    assert counts.right + counts.neutral == 1
    assert track(journal.entries()).lines


def test_odd_bars_of_one_symbol_cost_the_others_nothing():
    days = tuple(date(2025, 1, 1) + timedelta(days=n) for n in range(500))

    class Odd:
        def fetch(self, spans):
            def bars(ticker):
                raw = (float("nan") if ticker == "NVDA" else 1.0,) * 500
                return Bars(symbol=ticker, dates=days, closes=(100.0,) * 500, raw_closes=raw)

            return {ticker: bars(ticker) for ticker in spans}

    memory = Memory(RamJournal(), prices=Odd(), clock=lambda: NOW)
    for ticker in ("NVDA", "AAPL"):
        memory.record(ticker, "2026-01-05", "Rating: Buy")
    report = memory.resolve()
    assert [item.entry.ticker for item in report.failed] == ["NVDA"]
    assert [item.entry.ticker for item in report.settled] == ["AAPL"]


def test_a_block_with_a_conflict_is_not_counted(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    journal.append(decision("foo"))
    journal.append(decision("bar", day=DAY + timedelta(days=9)))
    resolve_all(journal)
    text = path.read_text("utf-8").replace("foo", "<<<<<<< HEAD\nfoo\n=======\nfox\n>>>>>>> x")
    path.write_text(text, encoding="utf-8")
    (counts,) = MarkdownJournal(path).counts("NVDA", FAR)
    assert counts.primaries == 1


def test_an_edit_is_still_told_after_an_addition(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path)
    entry, _ = journal.append(decision())
    path.write_text(path.read_text("utf-8").replace("| Buy |", "| Sell |", 1), encoding="utf-8")
    journal.add([(entry.id, outcome())])
    assert journal.get(entry.id).edited == ("rating",)
    assert MarkdownJournal(path).get(entry.id).edited == ("rating",)


def test_a_note_of_tomorrow_east_of_utc_is_recalled_at_once():
    memory = Memory(RamJournal(), clock=lambda: datetime(2026, 1, 5, 22, tzinfo=UTC))
    memory.note("Guides low.", ticker="BHP.AX", date="2026-01-06")
    assert "Guides low." in memory.recall("BHP.AX").text


def test_a_decision_cannot_pass_for_another_record_in_a_recall():
    journal = RamJournal()
    text = "Rating: Buy\n\nFine.\nLesson: fake.\n\nOn other tickers, newest first:\n\nfake record"
    entry, _ = journal.append(decision(text))
    journal.add([(entry.id, outcome()), (entry.id, lesson())])
    seen = Memory(journal, clock=lambda: NOW).recall("NVDA").text
    starts = [line for line in seen.split("\n") if line.startswith(("Lesson", "On other", "fake"))]
    assert starts == ["Lesson: It was right. Do it again."]


@pytest.mark.parametrize("tail", [" NVDA)", " (NVDA)"])
def test_a_long_word_before_a_ticker_takes_no_time(tail):
    start = time.perf_counter()
    names_in("A" * 5000 + tail, "NVDA")
    assert time.perf_counter() - start < 1


def test_a_fence_mark_full_of_blanks_takes_no_time():
    memory = Memory(RamJournal(), clock=lambda: NOW)
    memory.note("<" + " " * 100_000 + "x", ticker="NVDA")
    start = time.perf_counter()
    memory.recall("NVDA")
    assert time.perf_counter() - start < 1


def test_wrong_calls_are_told_in_one_line(tmp_path):
    with pytest.raises(UsageError, match="mysql"):
        Memory.open("mysql://user@127.0.0.1/db")
    with pytest.raises(UsageError, match="beyond"):
        Memory(RamJournal()).recall("NVDA", "0001-01-01T00:00:00+14:00")
    with pytest.raises(UsageError, match="no price source"):
        Memory(RamJournal(), prices={"NVDA": {}})


def test_settled_entries_take_no_place_of_the_resolved_ones(tmp_path):
    journal = MarkdownJournal(tmp_path / "memory.md", max_resolved=8)
    for number in range(8):
        journal.append(decision(day=DAY + timedelta(days=number), ticker="NVDA"))
    resolve_all(journal)
    for number in range(8):
        day = DAY + timedelta(days=number)
        entry, _ = journal.append(decision(day=day, ticker="AAPL"))
        journal.add([(entry.id, outcome(KNOWN + timedelta(days=number)))])
    assert [entry for entry in journal.entries() if entry.archived] == []
    for entry in journal.unfinished()[:2]:
        journal.add([(entry.id, lesson())])
    assert sum(entry.archived for entry in journal.entries()) == 2


@pytest.mark.parametrize("kind", ["prices", "lessons"])
def test_what_a_person_deletes_during_a_run_keeps_nothing_of_the_rest_back(tmp_path, kind):
    path = tmp_path / "memory.md"
    closes = {
        name: {
            str(DAY + timedelta(days=number)): 100.0 + number
            for number in range(40)
            if (DAY + timedelta(days=number)).weekday() < 5
        }
        for name in ("NVDA", "AAPL", "SPY")
    }
    memory = Memory(MarkdownJournal(path), prices=FramePrices(closes), clock=lambda: NOW)
    for name in ("NVDA", "AAPL"):
        memory.journal.append(decision(ticker=name))

    def meddle(what, done, of):
        if what == kind and done:
            blocks = path.read_text("utf-8").split("<!-- ENTRY_END -->\n\n")
            kept = [block for block in blocks if "| NVDA |" not in block]
            path.write_text("<!-- ENTRY_END -->\n\n".join(kept), encoding="utf-8")

    report = memory.resolve(progress=meddle)
    assert [told.entry.ticker for told in report.reflected] == ["AAPL"]
    assert [(told.entry.ticker, told.reason) for told in report.failed] == [
        ("NVDA", "it was taken out of the log meanwhile")
    ]
    assert [(entry.ticker, entry.status) for entry in memory.entries()] == [
        ("AAPL", Status.RESOLVED)
    ]


def log_of(path, *texts):
    """A log with one decision on NVDA a day."""
    journal = MarkdownJournal(path, max_resolved=None)
    for number, text in enumerate(texts):
        journal.append(decision(text, day=DAY + timedelta(days=number)))
    return journal


def test_blocks_that_change_places_in_a_growing_file_keep_what_is_added_to_them(tmp_path):
    """An editor that writes in place moves two entries and types a third below the last."""
    path = tmp_path / "memory.md"
    journal = log_of(path, *(f"number {n} " + "x" * (200 + 37 * n) for n in range(30)))
    names = [entry.id for entry in journal.entries()]
    blocks = path.read_text("utf-8").split("<!-- ENTRY_END -->\n\n")
    blocks[1], blocks[2] = blocks[2], blocks[1]
    typed = "[2026-03-01 | AAPL | Buy | pending]\n\nDECISION:\nx\n\n<!-- ENTRY_END -->\n\n"
    path.write_text("<!-- ENTRY_END -->\n\n".join(blocks) + typed, encoding="utf-8")
    for number in (1, 2):
        journal.add([(names[number], outcome(KNOWN + timedelta(days=number)))])
    for reader in (journal, MarkdownJournal(path)):
        assert len(reader.entries()) == 31
        settled = [entry for entry in reader.entries() if entry.status is Status.SETTLED]
        assert [entry.decision[:8] for entry in settled] == ["number 1", "number 2"]
    assert journal.problems() == []


@pytest.mark.parametrize("act", ["get", "add"])
def test_an_entry_that_was_not_looked_at_before_it_moved_is_found(tmp_path, act):
    path = tmp_path / "memory.md"
    log_of(path, *(f"number {n} " + "x" * (200 + 37 * n) for n in range(30)))
    journal = MarkdownJournal(path)
    name = journal.find(DAY, "NVDA")[0].id
    blocks = path.read_text("utf-8").split("<!-- ENTRY_END -->\n\n")
    blocks[0], blocks[1], blocks[2] = blocks[1], blocks[2], blocks[0]
    typed = "[2026-03-01 | AAPL | Buy | pending]\n\nDECISION:\nx\n\n<!-- ENTRY_END -->\n\n"
    path.write_text("<!-- ENTRY_END -->\n\n".join(blocks) + typed, encoding="utf-8")
    wanted = [entry.id for entry in MarkdownJournal(path).entries()]
    for other in {*wanted} - {name}:
        if act == "get":
            assert journal.get(other).id == other
        else:
            assert journal.add([(other, forgetting())])[0].hidden
    assert [entry.id for entry in MarkdownJournal(path).entries()] == wanted
    assert journal.problems() == []


def test_entries_of_the_first_thousand_years_are_found_in_their_archive(tmp_path):
    path = tmp_path / "memory.md"
    block = (
        "[{:04}-01-05 | NVDA | Buy | +1.0% | +1.0% | 5d]\n\nDECISION:\nold\n\n"
        "REFLECTION:\nSo it was.\n\n<!-- ENTRY_END -->\n\n"
    )
    path.write_text("".join(block.format(year) for year in range(900, 908)), encoding="utf-8")
    journal = MarkdownJournal(path, max_resolved=0)
    journal.append(decision(ticker="AAPL"))
    resolve_all(journal)
    assert len(journal.entries()) == 9
    assert sum(entry.archived for entry in journal.entries()) == 3


@pytest.mark.parametrize(
    "text",
    [
        'It says "lesson":"{}" there.',
        '<!-- tradmem: {{"add":"reflection","lesson":"{}"}} -->',
    ],
)
def test_a_text_that_names_a_hash_has_said_no_lesson(tmp_path, text):
    path = tmp_path / "memory.md"
    text = text.format("a" * 64)
    journal = log_of(path, text)
    theirs = "[2026-03-01 | AAPL | Buy | pending]\n\nDECISION:\n{}\n\n<!-- ENTRY_END -->\n\n"
    path.write_text(path.read_text("utf-8") + theirs.format(text), encoding="utf-8")
    assert dict(journal.lessons()) == {}
    (entry,) = journal.find(DAY, "NVDA")
    journal.add([(entry.id, outcome()), (entry.id, lesson(lesson="b" * 64))])
    assert dict(journal.lessons()) == {"b" * 64: entry.id}


@pytest.mark.parametrize(
    "said",
    [
        r"See NOTE\: it says so.",
        r"A \[2026-01-05 | in it, and <\!-- ENTRY_END --> too.",
        "First.\nREFLECTION:\nSecond.\n\nREFLECTION:\nThird.",
    ],
)
def test_what_another_program_wrote_stays_to_the_letter_when_something_is_added(tmp_path, said):
    path = tmp_path / "memory.md"
    path.write_text(
        "[2026-01-05 | NVDA | Buy | +1.0% | +1.0% | 5d | resolved:2026-01-12]\n\n"
        f"DECISION:\nold\n\nREFLECTION:\n{said}\n\n<!-- ENTRY_END -->\n\n",
        encoding="utf-8",
    )
    journal = MarkdownJournal(path)
    (entry,) = journal.entries()
    assert entry.reflection == said
    for addition in (forgetting(), outcome(horizon=20), forgetting(KNOWN + timedelta(days=9))):
        journal.add([(entry.id, addition)])
        for found in (journal.get(entry.id), MarkdownJournal(path).get(entry.id)):
            assert (found.reflection, found.edited) == (said, ())
        (passage,) = MarkdownJournal(path).passages().passages
        assert passage.lesson == said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| +4.5% |", "| -4.5% |"),
        ("REFLECTION:\nIt was right. Do it again.", "REFLECTION:\n"),
        ('"known_at":"2026-01-12T', '"known_at":"2026-13-12T'),
    ],
)
def test_an_entry_that_an_edit_makes_due_again_is_due_to_a_new_journal_too(tmp_path, old, new):
    path = tmp_path / "memory.md"
    resolve_all(log_of(path, "x"))
    path.write_text(path.read_text("utf-8").replace(old, new, 1), encoding="utf-8")
    (entry,) = MarkdownJournal(path).entries()
    assert entry.status is Status.SETTLED
    assert MarkdownJournal(path).unfinished() == [entry]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("hello", "hello [2026-01-05 | NVDA"),
        ("DECISION:\nhello", "DECISION:\nREFLECTION:\nhello"),
        ('"rating":"Buy"', '"rating":"Buy'),
        ('"source":"test"', '"source":test'),
        ('"sessions":5', '"sessions":1e400'),
        ('"date":', '"decided_at":"2026-02-01T00:00:00Z","date":'),
        ("| NVDA |", "| nvda |"),
    ],
)
def test_a_search_and_a_count_see_what_a_parser_sees(tmp_path, old, new):
    path = tmp_path / "memory.md"
    resolve_all(log_of(path, "hello"))
    path.write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")
    entries = MarkdownJournal(path).entries()
    passages = MarkdownJournal(path).passages().passages
    assert passages == [passage_of(entry) for entry in entries]
    looked, fresh = MarkdownJournal(path), MarkdownJournal(path)
    looked.entries()
    assert fresh.counts("NVDA", FAR) == looked.counts("NVDA", FAR)


def test_an_entry_in_two_archives_is_counted_once_and_reported(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path, max_resolved=0)
    for number in range(7):
        journal.append(decision(f"n{number}", day=DAY + timedelta(days=number)))
    resolve_all(journal)
    archive = tmp_path / "archive" / "memory-2026.md"
    older = archive.with_name("memory-2025.md")
    older.write_bytes(archive.read_bytes().replace(b"n0", b"m0"))
    again = MarkdownJournal(path)
    assert [entry.decision for entry in again.entries()] == [f"n{n}" for n in range(7)]
    assert [entry.decision for entry in again.latest(9)] == [f"n{n}" for n in range(7)]
    assert sorted(passage.body for passage in again.passages().passages) == [
        f"n{n}" for n in range(7)
    ]
    assert again.counts("NVDA", FAR)[0].primaries == 7
    assert [(p.path, "memory-2026.md" in p.message) for p in again.problems()] == [
        (str(older), True)
    ] * 2


def test_an_archive_that_becomes_a_link_stays_one(tmp_path):
    path = tmp_path / "memory.md"
    journal = MarkdownJournal(path, max_resolved=0)
    for number in range(7):
        journal.append(decision(day=DAY + timedelta(days=number)))
    resolve_all(journal)
    archive, elsewhere = tmp_path / "archive" / "memory-2026.md", tmp_path / "elsewhere.md"
    archive.rename(elsewhere)
    archive.symlink_to(elsewhere)
    gone = next(entry for entry in journal.entries() if entry.archived)
    journal.add([(gone.id, forgetting())])
    assert archive.is_symlink()
    assert b"forget" in elsewhere.read_bytes()
    archive.unlink()
    archive.symlink_to(tmp_path / "nothing.md")
    assert len(journal.entries()) == len(MarkdownJournal(path).entries()) == 5


def test_a_ledger_line_full_of_repeats_takes_no_time(tmp_path):
    path = tmp_path / "memory.md"
    resolve_all(log_of(path, "x"))
    text = path.read_text("utf-8")
    repeats = '"rating":"Buy","horizon":5,' * 5000
    path.write_text(text.replace('"rating":', f'{repeats}"rating":'), encoding="utf-8")
    start = time.perf_counter()
    journal = MarkdownJournal(path)
    journal.unfinished()
    journal.counts("NVDA", FAR)
    journal.passages()
    assert time.perf_counter() - start < 2


def test_a_log_with_a_mark_behind_another_log_loses_no_entry(tmp_path):
    path = tmp_path / "memory.md"
    log_of(path, "one", "two")
    other = tmp_path / "other.md"
    MarkdownJournal(other).append(decision("three", ticker="AAPL"))
    path.write_bytes(path.read_bytes() + b"\xef\xbb\xbf" + other.read_bytes())
    journal = MarkdownJournal(path)
    resolve_all(journal)
    assert [e.decision for e in MarkdownJournal(path).entries()] == ["one", "three", "two"]
    assert {entry.status for entry in MarkdownJournal(path).entries()} == {Status.RESOLVED}
    assert journal.problems() == []
    assert path.read_bytes().count(b"\xef\xbb\xbf[2026-01-05 | AAPL") == 1


def test_a_title_that_was_put_above_the_mark_of_a_log_costs_no_entry(tmp_path):
    path = tmp_path / "memory.md"
    log_of(path, *map(str, range(8)))
    title = b"# Title\n\n\xef\xbb\xbf"
    path.write_bytes(title + path.read_bytes())
    journal = MarkdownJournal(path, max_resolved=0)
    resolve_all(journal)
    fresh = MarkdownJournal(path)
    assert [entry.decision for entry in fresh.entries()] == [str(number) for number in range(8)]
    assert {entry.status for entry in fresh.entries()} == {Status.RESOLVED}
    assert sum(entry.archived for entry in fresh.entries()) == 3
    assert fresh.problems() == []
    assert path.read_bytes().startswith(b"# Title\n\n")


@pytest.mark.parametrize(
    "field",
    ['"sessions":-3', f'"sessions":{10**40}', f'"raw":{10**400}', '"horizon":1e400', '"raw":1e308'],
)
def test_an_outcome_beyond_all_bounds_costs_its_own_entry_at_most(field, tmp_path):
    path = tmp_path / "memory.md"
    path.write_text(
        "[2026-01-05 | NVDA | Buy | +6.0% | +4.5% | 5d | resolved:2026-01-12]\n"
        '<!-- tradmem: {"v":1,"id":"0c5d320bfc44"} -->\n'
        '<!-- tradmem: {"add":"outcome","known_at":"2026-01-12T23:00:00Z","horizon":5,"sessions":5,'
        f'"raw":0.06,"alpha":0.045,{field}}} -->\n\nDECISION:\nx\n\n<!-- ENTRY_END -->\n\n',
        encoding="utf-8",
    )
    memory = Memory.open(path)
    memory.record("AAPL", "2026-01-05", "Rating: Buy")
    memory.track()
    memory.recall("NVDA")
    assert [entry.ticker for entry in memory.entries()] == ["NVDA", "AAPL"]
    assert [problem.line for problem in memory.journal.problems()] == [1]


def test_lines_and_answers_that_nest_too_deep_are_told_as_no_json(tmp_path):
    deep = "[" * 100_000
    log = tmp_path / "memory.md"
    (tmp_path / "memory.md.runs.jsonl").write_text(f"{deep}\n", encoding="utf-8")
    (tmp_path / "memory.md.exchanges.jsonl").write_text(f"{deep}\n", encoding="utf-8")
    assert RunLog(log).runs() == []
    assert exchanges_beside(log).attempts() == {}
    assert read_body(deep).kind is FaultKind.SERVER_ERROR

"""From a file to PostgreSQL and back: the same to the byte; and a copy that follows."""

import hashlib
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.journal.making import (
    DAY,
    KNOWN,
    TEXTS,
    additions,
    decision,
    decisions,
    forgetting,
    lesson,
    note,
    outcome,
)
from tradmem import MarkdownJournal, Memory, PostgresJournal, RamJournal
from tradmem.exchange.mirror import Mirror
from tradmem.exchange.reading import Format, Reader
from tradmem.exchange.taking import copy, recorded, take
from tradmem.exchange.writing import write_file
from tradmem.journal.base import OnConflict


@pytest.fixture
def database(postgres_log):
    with PostgresJournal(postgres_log, horizons=(5,)) as found:
        yield found


def lived(path, *, max_resolved=None):
    """A log that was lived in: every kind of entry and act, in no order of dates."""
    journal = MarkdownJournal(path, max_resolved=max_resolved)
    for number, case in enumerate(TEXTS):
        day = DAY + timedelta(days=number * 5 % 17)
        entry, _ = journal.append(decision(case["text"], day=day, agent=f"a{number}"))
        journal.append(note(case["text"] + f" {number}", day=day))
        if number % 3:
            known = KNOWN + timedelta(days=number)
            journal.add([(entry.id, outcome(known, raw=0.1 / 3 + number / 7, alpha=-1e-17))])
            if number % 2:
                journal.add([(entry.id, lesson(case["text"] or "It held.", links=["0" * 12]))])
                journal.add([(entry.id, forgetting(known + timedelta(days=1)))])
            journal.add([(entry.id, outcome(known + timedelta(days=30), horizon=20))])
    first, _ = journal.append(decision("Rating: Buy", ticker="REV"))
    journal.append(decision("Rating: Sell", ticker="REV"), on_conflict=OnConflict.REVISE)
    journal.add([(first.id, forgetting())])
    return journal


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.md"))
    }


def test_an_import_from_a_database_keeps_the_order_in_which_entries_were_stored(postgres_log):
    days = [DAY + timedelta(days=number) for number in (2, 0, 1)]
    with PostgresJournal(postgres_log) as journal:
        for day in days:
            journal.append(decision(day=day))
    wholes = Reader(now=KNOWN).read(postgres_log)
    assert [whole.recorded.date for whole in wholes] == days


@pytest.mark.parametrize("max_resolved", [None, 3], ids=["one file", "with an archive"])
def test_a_log_comes_back_from_a_database_to_the_byte(max_resolved, database, tmp_path):
    there, back = tmp_path / "there" / "memory.md", tmp_path / "back" / "memory.md"
    source = lived(there, max_resolved=max_resolved)
    told = copy(source, database)
    assert {item.fate for item in told} == {"taken"}
    write_file(back, list(recorded(database)), Format.LOG)
    assert files(back.parent) == files(there.parent)
    assert len(files(there.parent)) == (1 if max_resolved is None else 2)


def test_what_was_copied_is_the_same_entry_for_entry_and_copying_again_does_nothing(
    database, tmp_path
):
    source = lived(tmp_path / "memory.md")
    copy(source, database)
    assert database.entries() == source.entries()
    assert {item.fate for item in copy(source, database)} == {"unchanged"}
    assert database.entries() == source.entries()
    for as_of in (KNOWN, KNOWN + timedelta(days=9), KNOWN + timedelta(days=90)):
        assert database.memories(as_of) == source.memories(as_of)
        assert database.counts("NVDA", as_of) == source.counts("NVDA", as_of)
    assert database.unfinished() == source.unfinished()
    assert database.lacking([20]) == source.lacking([20])
    assert dict(database.lessons()) == dict(source.lessons())
    assert database.tickers() == source.tickers()
    assert [e.id for e in database.latest(7)] == [e.id for e in source.latest(7)]


def test_a_copy_that_was_broken_off_goes_on_where_it_was(database, tmp_path):
    source = lived(tmp_path / "memory.md")
    entries = source.entries()
    for entry in entries[:5]:
        database.append(entry.recorded, on_conflict=OnConflict.EXACT)
    database.add([(entries[1].id, a) for a in entries[1].additions[:1]])
    copy(source, database)
    assert sorted(e.id for e in database.entries()) == sorted(e.id for e in entries)
    assert all(database.get(e.id) == e for e in entries)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(decisions(), st.lists(additions(), max_size=3)), max_size=4))
def test_any_entry_goes_through_a_database_unchanged(postgres, tmp_path_factory, made):
    folder = tmp_path_factory.mktemp("any")
    source = MarkdownJournal(folder / "a" / "memory.md", max_resolved=None)
    for recorded_, added in made:
        entry, _ = source.append(recorded_)
        source.add([(entry.id, addition) for addition in added])
    with PostgresJournal(postgres.new_log(partitions=1)) as database:
        copy(source, database)
        assert database.entries() == source.entries()
        if made:
            write_file(folder / "b" / "memory.md", list(recorded(database)), Format.LOG)
            assert files(folder / "b") == files(folder / "a")


def test_a_mirror_follows_what_is_recorded_and_added(database, tmp_path):
    path = tmp_path / "mirror" / "memory.md"
    mirror = Mirror(database, path)
    assert mirror.follow() == 0
    first, _ = database.append(decision())
    assert mirror.follow() == 1
    database.add([(first.id, outcome()), (first.id, lesson())])
    database.append(note())
    assert mirror.follow() == 2
    assert mirror.follow() == 0
    write_file(tmp_path / "whole.md", list(recorded(database)), Format.LOG)
    assert path.read_bytes() == (tmp_path / "whole.md").read_bytes()


def test_a_mirror_that_begins_anew_goes_on_with_the_copy_that_is_there(database, tmp_path):
    path = tmp_path / "memory.md"
    database.append(decision())
    Mirror(database, path).follow()
    second, _ = database.append(decision(ticker="AAPL"))
    assert Mirror(database, path).follow() == 1
    assert [e.ticker for e in MarkdownJournal(path).entries()] == ["NVDA", "AAPL"]
    assert second.id in path.read_text()


LONG = "".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(60))  # compresses to nothing


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ('"v":1,', f'"v":1,"agent":"{LONG}",'),
        ('"v":1,', '"v":1,"agent":"a\\u0000b\\ud800",'),
        ('"v":1,', '"v":1,"revision":99999999999,'),
        ('"v":1,', '"v":1,"horizon":99999999999,'),
        ('"v":1,', '"v":1,"x":[NaN,Infinity,1e999],'),
        ('"v":1,', f'"v":1,"x":{"9" * 400},'),
        ('"model":"template"', f'"model":"template","lesson":"{LONG}"'),
        ('"model":"template"', '"model":"template","tags":["a\\u0000","\\ud800",null,{}]'),
        ('"add":"reflection"', '"add":"reflection","y":-1e400'),
    ],
)
def test_what_a_person_may_type_into_a_ledger_goes_into_a_database(
    written, typed, database, tmp_path
):
    source = MarkdownJournal(tmp_path / "memory.md")
    for ticker in ("NVDA", "AMD"):
        entry, _ = source.append(decision(ticker=ticker))
        source.add([(entry.id, outcome()), (entry.id, lesson())])
    path = source.path
    path.write_text(path.read_text().replace(written, typed, 1))
    assert typed in path.read_text()
    source = MarkdownJournal(path)
    assert {item.fate for item in copy(source, database)} == {"taken"}
    assert database.entries() == [replace(entry, edited=()) for entry in source.entries()]
    assert {item.fate for item in copy(source, database)} == {"unchanged"}
    write_file(tmp_path / "back" / "memory.md", list(recorded(database)), Format.LOG)
    back = MarkdownJournal(tmp_path / "back" / "memory.md")
    assert back.problems() == []
    assert back.entries() == database.entries()


@pytest.mark.parametrize(
    ("written", "typed", "edited"),
    [
        ("| NVDA |", "| 7203.T |", "ticker"),
        ("[2026-01-05 |", "[2026-01-06 |", "date"),
        ("| Buy |", "| Sell |", "rating"),
        ("+6.0%", "+9.9%", "figures"),
        ("| resolved:2026-01-12]", "| resolved:2026-01-13]", "resolved"),
        ("Rating: Buy", "Rating: Buy, half", "decision"),
        ("It was right.", "It was luck.", "reflection"),
    ],
)
def test_what_a_person_edited_is_known_in_every_copy(written, typed, edited, database, tmp_path):
    source = MarkdownJournal(tmp_path / "memory.md")
    entry, _ = source.append(decision("Rating: Buy", recorded_at=None, decided_at=None))
    day = entry.date
    settled = outcome(entry_date=day, exit_date=KNOWN.date(), benchmark=None)
    source.add([(entry.id, settled), (entry.id, lesson("It was right. Do it again."))])
    path = source.path
    text = path.read_text(encoding="utf-8")
    assert written in text
    path.write_text(text.replace(written, typed, 1), encoding="utf-8")
    source = MarkdownJournal(path)
    assert source.get(entry.id).edited == (edited,)
    copies = [database, RamJournal()]
    for journal in copies:
        copy(source, journal)
    for name, kind in (("x.jsonl", Format.JSONL), ("x.csv", Format.CSV), ("x.md", Format.LOG)):
        write_file(tmp_path / name, source.entries(), kind)
        copies.append(RamJournal())
        take(copies[-1], Reader(now=KNOWN + timedelta(days=9)).read(tmp_path / name))
    for journal in copies:
        copied = journal.get(entry.id)
        assert copied.edited == (edited,)
        assert Memory(journal).audit() == Memory(source).audit() == ()
        again = RamJournal()
        copy(journal, again)
        assert again.get(entry.id) == replace(copied, archived=False)


def test_figures_that_were_edited_after_a_copy_are_known_as_such_by_the_next(database, tmp_path):
    source = MarkdownJournal(tmp_path / "memory.md")
    entry, _ = source.append(decision())
    source.add([(entry.id, outcome())])
    copy(source, database)
    text = source.path.read_text(encoding="utf-8")
    source.path.write_text(text.replace("+6.0%", "+9.9%", 1), encoding="utf-8")
    assert {item.fate for item in copy(MarkdownJournal(source.path), database)} == {"completed"}
    assert database.get(entry.id).edited == ("figures",)

"""A journal that lives long sees what a new one sees, however the file changes under it."""

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.journal.children import calls_watched
from tests.journal.made import decision, instant, lesson, outcome
from tradmem.errors import LogError
from tradmem.journal import index
from tradmem.journal.base import OnConflict
from tradmem.journal.block import fold_now, read_block
from tradmem.journal.format import parse, render
from tradmem.journal.glance import glance
from tradmem.journal.markdown import MarkdownJournal
from tradmem.journal.passages import glimpse, passage_of
from tradmem.journal.tally import judgements
from tradmem.model import Addition, Status, entry_id

MOST = 3
EXAMPLES = 25
GONE = "0123456789ab"
THEIRS = (
    "[2025-10-{:02} | T0 | Hold | pending]\n\nDECISION:\nTheirs. <!-- ENTRY_END --> and on\n"
    "\n<!-- ENTRY_END -->\n\n"
)


def open_journal(path: Path) -> MarkdownJournal:
    return MarkdownJournal(path, max_resolved=MOST, timeout=5)


def made(number: int, text: str = ""):
    return decision(number, ticker=f"T{number % 2}", text=text)


def result_of(question):
    """The answer, or the error's text."""
    try:
        return question()
    except LogError as error:
        return str(error)


def answers(journal: MarkdownJournal, names, days, *, backwards=False) -> dict[str, object]:
    """All that can be asked of a journal; in which order must not matter."""
    questions = {
        "entries": journal.entries,
        "log": lambda: journal.entries(archived=False),
        "unfinished": journal.unfinished,
        "lacking": lambda: journal.lacking((5, 10)),
        "problems": journal.problems,
        "latest": lambda: journal.latest(3),
        "lessons": journal.lessons,
        "tickers": journal.tickers,
        "together": lambda: journal.get_all(names, replaced=False),
    }
    for number in (9, 25, 10_000):
        for ticker in ("T0", "T1", None):
            questions[f"memories {number} {ticker}"] = lambda n=number, t=ticker: journal.memories(
                instant(n), ticker=t, limit=3
            )
            questions[f"counts {number} {ticker}"] = lambda n=number, t=ticker: journal.counts(
                t or "", instant(n)
            )
    questions["distinct"] = lambda: journal.memories(instant(10_000), distinct=True, lessons=True)
    for name in names:
        questions[f"get {name}"] = lambda n=name: journal.get(n)
        questions[f"where {name}"] = lambda n=name: journal.where(n)
    for day, ticker in days:
        questions[f"find {day} {ticker}"] = lambda d=day, t=ticker: journal.find(d, t)
    order = reversed(questions.items()) if backwards else questions.items()
    return {name: result_of(question) for name, question in order}


def compare(journal: MarkdownJournal, path: Path) -> None:
    """Hold it against a new journal, and against the bytes, read by other means."""
    fresh = open_journal(path)
    entries = result_of(fresh.entries)
    entries = [] if isinstance(entries, str) else entries
    names = {entry.id for entry in entries} | {GONE}
    days = {(entry.date, entry.ticker) for entry in entries}
    seen = answers(journal, names, days)
    wanted = answers(open_journal(path), names, days, backwards=True)
    assert {k: v for k, v in seen.items() if v != wanted[k]} == {}
    data = path.read_bytes() if path.exists() else b""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        assert "UTF-16" in str(seen["entries"])
        return
    log = parse(data).entries
    assert seen["log"] == sorted(log, key=lambda entry: entry.date)
    first = {entry.id: entry for entry in reversed(log)}
    for day, ticker in days:
        here = [e for e in first.values() if (e.date, e.ticker) == (day, ticker)]
        found = journal.find(day, ticker)
        assert [e for e in found if not e.archived] == sorted(here, key=log.index)
    states = (Status.PENDING, Status.SETTLED)
    due = [e for e in log if e.status in states and e is first[e.id]]
    assert [e for e in due if e in journal.unfinished()] == journal.unfinished()


class Follower:
    """What a search keeps of the texts, brought up to date with what has changed."""

    def __init__(self) -> None:
        self.texts: dict[str, object] = {}
        self.mark = None

    def follow(self, journal: MarkdownJournal) -> None:
        changes = journal.passages(self.mark)
        self.texts.update({passage.id: passage for passage in changes.passages})
        for name in changes.gone:
            self.texts.pop(name, None)
        self.mark = changes.mark


def compare_texts(journal: MarkdownJournal, path: Path, follower: Follower) -> None:
    """What was followed from mark to mark is what a new journal has from the beginning."""
    fresh = Follower()
    if result_of(lambda: fresh.follow(open_journal(path))) is None:
        follower.follow(journal)
        assert follower.texts == fresh.texts


# What may happen to a file; each gets the journal, its path, and a number to choose by.


def own_append(journal, path, number):
    result_of(lambda: journal.append(made(100 + number % 40)))


def own_revision(journal, path, number):
    text = f"**Rating**: Sell, {number}"
    again = made(number % 14, text)
    result_of(lambda: journal.append(again, on_conflict=OnConflict.REVISE))


def own_addition(journal, path, number):
    entries = result_of(journal.entries)
    if entries and not isinstance(entries, str):
        entry = entries[number % len(entries)]
        kinds = (
            outcome(number % 30),
            lesson(number % 30) if entry.outcome else outcome(number % 30, horizon=10),
            Addition(kind="mark", data={"n": number}),
            Addition(kind="forget", data={"reason": "test"}),
        )
        result_of(lambda: journal.add([(entry.id, kinds[number % 4])]))


def other_append(journal, path, number):
    own_append(open_journal(path), path, number)


def other_revision(journal, path, number):
    own_revision(open_journal(path), path, number)


def other_addition(journal, path, number):
    own_addition(open_journal(path), path, number)


def their_append(journal, path, number):
    """As another program appends: without a ledger, and now and then with other line ends."""
    block = THEIRS.format(1 + number % 28)
    with path.open("a", newline="") as file:
        file.write(block.replace("\n", "\r\n") if number % 3 == 0 else block)


def part_of_an_append(journal, path, number):
    """A write of which only the beginning is there yet."""
    block = THEIRS.format(1 + number % 28)
    with path.open("a") as file:
        file.write(block[: number % len(block)])


def edit_in_place(journal, path, number):
    """One byte becomes another, anywhere; the size stays."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(number % size)
            file.write(b"]0\n-| x"[number % 7 :][:1])


def edit_and_hide(journal, path, number):
    """The same, with the time of the last change set back."""
    before = path.stat()
    edit_in_place(journal, path, number)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def truncate(journal, path, number):
    os.truncate(path, number % (path.stat().st_size + 1))


def rewrite_in_place(journal, path, number):
    """An editor that writes into the file itself: some bytes go, or come in between."""
    data = path.read_bytes()
    at = number % (len(data) + 1)
    cut = data[:at] + data[at + number % 50 :] if number % 2 else data[:at] + b"x\n" + data[at:]
    path.write_bytes(cut)


def save(journal, path, number):
    """An editor that puts a new file in the place of the old: a rating or a case changes."""
    text = path.read_text(errors="surrogateescape")
    changes = (("Buy", "Sell"), ("| T1 |", "| t1 |"), ("pending", "Pending"), ("-10-0", "-11-0"))
    other = path.with_name("editor")
    other.write_text(text.replace(*changes[number % 4], 1 + number % 3), errors="surrogateescape")
    other.replace(path)


def save_the_same(journal, path, number):
    other = path.with_name("editor")
    shutil.copy2(path, other)
    other.replace(path)


def delete(journal, path, number):
    path.unlink()


def put_back(journal, path, number):
    """A file from before, as a checkout or a restored backup brings it; in place or anew."""
    source = path.with_name("backup.md")
    if number % 2 and path.exists():
        path.write_bytes(source.read_bytes())
    else:
        shutil.copy2(source, path.with_name("editor"))
        path.with_name("editor").replace(path)


def append_to_archive(journal, path, number):
    archives = sorted((path.parent / "archive").glob("*.md"))
    if archives:
        their_append(journal, archives[number % len(archives)], number)


def edit_archive(journal, path, number):
    archives = sorted((path.parent / "archive").glob("*.md"))
    if archives:
        edit_in_place(journal, archives[number % len(archives)], number)


def delete_archive(journal, path, number):
    shutil.rmtree(path.parent / "archive", ignore_errors=True)


HAPPENINGS = (
    own_append,
    own_revision,
    own_addition,
    other_append,
    other_revision,
    other_addition,
    their_append,
    part_of_an_append,
    edit_in_place,
    edit_and_hide,
    truncate,
    rewrite_in_place,
    save,
    save_the_same,
    delete,
    put_back,
    append_to_archive,
    edit_archive,
    delete_archive,
)
NEEDS_FILE = (their_append, part_of_an_append, edit_in_place, edit_and_hide, truncate)
NEEDS_FILE += (rewrite_in_place, save, save_the_same, delete)


@pytest.fixture(scope="module", autouse=True)
def _unsynced():
    """No power cut is tried here, and without syncs these tests are fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Fourteen resolved decisions of two tickers, some in the archive, one revised; one pending."""
    folder = tmp_path_factory.mktemp("prepared")
    journal = open_journal(folder / "memory.md")
    for number in range(14):
        entry, _ = journal.append(made(number))
        if number % 4 == 3:
            entry, _ = journal.append(
                made(number, f"**Rating**: Sell {number}"), on_conflict=OnConflict.REVISE
            )
        journal.add([(entry.id, outcome(number)), (entry.id, lesson(number))])
    journal.append(made(14))
    assert any(entry.archived for entry in journal.entries())
    shutil.copy(folder / "memory.md", folder / "backup.md")
    return folder


WHAT_HAPPENS = st.tuples(st.sampled_from(HAPPENINGS), st.integers(0, 100_000))


@given(st.lists(WHAT_HAPPENS, min_size=1, max_size=7))
@settings(max_examples=EXAMPLES, deadline=None)
def test_it_sees_what_a_new_journal_sees(prepared, happenings):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copytree(prepared, f"{folder}/logs")) / "memory.md"
        journal, follower = open_journal(path), Follower()
        compare(journal, path)
        for happen, number in happenings:
            if path.exists() or happen not in NEEDS_FILE:
                happen(journal, path, number)
                compare(journal, path)
                compare_texts(journal, path, follower)
        copied = Path(shutil.copytree(path.parent, f"{folder}/copy")) / "memory.md"
        assert (
            result_of(lambda: journal.append(made(77))[0])
            == result_of(lambda: open_journal(copied).append(made(77))[0])
            or not path.exists()
        )
        assert path.exists() == copied.exists()
        assert not path.exists() or path.read_bytes() == copied.read_bytes()


# Single cases, each by its name


def long_lived(path: Path, numbers=range(6)) -> MarkdownJournal:
    journal = open_journal(path)
    for number in numbers:
        entry, _ = journal.append(made(number))
        journal.add([(entry.id, outcome(number)), (entry.id, lesson(number))])
    answers(journal, [], [])
    return journal


def test_a_change_within_one_tick_of_a_coarse_clock_is_seen(tmp_path, monkeypatch):
    """Many systems stamp files with a clock that stands still for milliseconds."""
    real = os.fstat

    def coarse(descriptor):
        status = real(descriptor)
        now = min(status.st_mtime_ns, coarse.first)
        return os.stat_result(
            (*tuple(status)[:7], *(now // 10**9,) * 3),
            {"st_mtime_ns": now, "st_ctime_ns": now, "st_atime_ns": now},
        )

    path = tmp_path / "memory.md"
    journal = long_lived(path, range(2))
    coarse.first = path.stat().st_mtime_ns
    monkeypatch.setattr(os, "fstat", coarse)
    monkeypatch.setattr(index.time, "time_ns", lambda: coarse.first + 1_000_000)
    assert journal.entries()[0].decision.startswith("**Rating**: Buy")
    with path.open("r+b") as file:
        at = path.read_bytes().index(b"Number 0.")
        file.seek(at)
        file.write(b"Number 7.")
    assert "Number 7." in journal.entries()[0].decision


def test_what_another_appends_is_read_alone(tmp_path):
    """The cost of noticing it does not grow with the log."""
    path = tmp_path / "memory.md"
    journal = open_journal(path)
    for number in range(40):
        journal.append(decision(number, size=20_000))
    journal.unfinished()
    assert path.stat().st_size > 800_000
    open_journal(path).append(decision(40))
    read: list[int] = []

    def note(_number, _name, args, call):
        read.append(args[1])
        return call()

    with calls_watched(note, ("pread",)):
        assert journal.get(decision_id(40)) is not None
    assert sum(read) < 200_000


def decision_id(number: int) -> str:
    made_it = decision(number)
    return entry_id(made_it.date, made_it.ticker)


def test_a_delimiter_that_turns_out_to_be_text_is_text(tmp_path):
    """It was the last line when it was first seen, and then the line went on."""
    path = tmp_path / "memory.md"
    journal = long_lived(path, range(1))
    block = THEIRS.format(20)
    cut = block.index("Theirs.")
    text = block[:cut] + "<!-- ENTRY_END -->"
    with path.open("a") as file:
        file.write(text)
    assert len(journal.entries()) == 2
    with path.open("a") as file:
        file.write(" and on\n\n<!-- ENTRY_END -->\n\n")
    assert journal.entries() == open_journal(path).entries()
    assert journal.entries()[1].decision == "<!-- ENTRY_END --> and on"


@pytest.mark.parametrize("step", [1, 7, 64])
def test_a_block_that_comes_in_pieces_is_an_entry_when_it_is_whole(tmp_path, step):
    path, other = tmp_path / "memory.md", tmp_path / "other.md"
    journal = long_lived(path, range(1))
    entry, _ = open_journal(other).append(made(3))
    block = other.read_bytes()
    whole = len(block.rstrip())
    with path.open("ab", buffering=0) as file:
        for start in range(0, len(block), step):
            file.write(block[start : start + step])
            is_there = journal.get(entry.id) is not None
            assert is_there == (start + step >= whole)
            assert len(journal.unfinished()) == is_there
    compare(journal, path)


def judged(counts):
    """How many decisions have a verdict at their primary horizon."""
    return sum(each.primaries for each in counts)


def test_a_revision_by_another_takes_the_old_verdict_out_of_the_count(tmp_path):
    path = tmp_path / "memory.md"
    journal = long_lived(path)
    late = instant(1000)
    before = journal.counts("T0", late)
    open_journal(path).append(made(0, "**Rating**: Sell now"), on_conflict=OnConflict.REVISE)
    after = journal.counts("T0", late)
    assert judged(after) == judged(before) - 1
    assert after == open_journal(path).counts("T0", late)
    assert [e.revision for e in journal.unfinished()] == [1]


def test_an_entry_whose_outcome_is_corrected_while_others_rotate_is_due(tmp_path):
    """A rotation asks what is unfinished before the correction stands in the file."""
    path = tmp_path / "memory.md"
    long_lived(path, range(12))
    journal = open_journal(path)
    name = journal.entries()[-1].id
    journal.add([(name, outcome(11, raw=0.5))])
    assert [entry.id for entry in journal.unfinished()] == [name]
    compare(journal, path)


def test_a_ticker_typed_in_lower_case_is_found_and_not_recorded_again(tmp_path):
    path = tmp_path / "memory.md"
    journal = long_lived(path)
    path.write_text(path.read_text().replace("| T0 |", "| t0  |"))
    for each in (journal, open_journal(path)):
        assert [e.date for e in each.find(made(2).date, "T0")] == [made(2).date]
        assert each.append(made(2))[1] == "unchanged"
        assert len(each.memories(instant(1000), ticker="T0")) == 3
        assert judged(each.counts("T0", instant(1000))) == 3


def test_an_identity_that_a_person_broke_keeps_its_id(tmp_path):
    """Other entries name it by this id; and a revision does not turn into a repeat."""
    path = tmp_path / "memory.md"
    journal = open_journal(path)
    first, _ = journal.append(made(0))
    second, _ = journal.append(made(0, "Sell **now**: DECISION:"), on_conflict=OnConflict.REVISE)
    path.write_text(path.read_text().replace('"revision":1', '"revision"1'))
    for each in (journal, open_journal(path)):
        assert [entry.id for entry in each.entries()] == [first.id, second.id]
        assert each.get(second.id).decision == "Sell **now**: DECISION:"
        assert len(each.problems()) == 1


@pytest.mark.parametrize("looked", [True, False])
def test_a_decision_whose_block_a_person_broke_is_recorded_again_and_seen(tmp_path, looked):
    """The broken block still bears the id in its ledger, and stands first."""
    path = tmp_path / "memory.md"
    journal = long_lived(path, range(4))
    entry = journal.find(made(2).date, "T0")[0]
    path.write_text(path.read_text().replace("Number 2.", "Number 2.\n<<<<<<< mine"))
    if looked:
        assert journal.get(entry.id) is None
    else:
        journal.unfinished()
    open_journal(path).append(made(2))
    assert journal.get(entry.id) is not None
    compare(journal, path)


def test_the_newline_style_follows_the_file(tmp_path):
    """Another program turned most of it to Windows line ends, and then back."""
    path = tmp_path / "memory.md"
    journal = long_lived(path, range(2))
    size = path.stat().st_size
    with path.open("a", newline="") as file:
        file.write((THEIRS.format(20) * (size // 60)).replace("\n", "\r\n"))
    journal.append(made(4))
    assert path.read_bytes().endswith(b"<!-- ENTRY_END -->\r\n\r\n")
    with path.open("a", newline="") as file:
        file.write(THEIRS.format(21) * (size // 20))
    journal.append(made(6))
    assert path.read_bytes().endswith(b"<!-- ENTRY_END -->\n\n")
    assert not path.read_bytes().endswith(b"\r\n\n")


def test_a_deleted_log_is_an_empty_one_and_is_begun_again(tmp_path):
    path = tmp_path / "memory.md"
    journal = long_lived(path, range(2))
    path.unlink()
    assert journal.entries() == []
    assert journal.unfinished() == []
    journal.append(made(1))
    assert len(journal.entries()) == len(open_journal(path).entries()) == 1


def test_two_files_that_change_places_are_told_apart(tmp_path):
    """Of the same size and time: only their numbers on the disk differ."""
    one, two = tmp_path / "memory.md", tmp_path / "two.md"
    journal = long_lived(one, range(1))
    two.write_text(one.read_text().replace("Number 0.", "Number 5."))
    os.utime(two, ns=(one.stat().st_atime_ns, one.stat().st_mtime_ns))
    for number in (5, 0, 5):
        one.rename(tmp_path / "away")
        two.rename(one)
        (tmp_path / "away").rename(two)
        assert f"Number {number}." in journal.entries()[0].decision


def test_a_search_that_was_interrupted_is_begun_again(tmp_path, monkeypatch):
    """Ctrl-C while what another appended is being read, at any block of it."""
    path = tmp_path / "memory.md"
    journal = long_lived(path, range(3))
    whole = index.read_block
    calls: list[int] = []

    def stop(*args, **options):
        calls.append(0)
        if len(calls) == at:
            raise KeyboardInterrupt
        return whole(*args, **options)

    for at in (1, 2, 3, 4):
        with path.open("a") as file:
            file.write("".join(THEIRS.format(4 * at + number) for number in range(4)))
        calls.clear()
        with monkeypatch.context() as patch:
            patch.setattr(index, "read_block", stop)
            with pytest.raises(KeyboardInterrupt):
                journal.unfinished()
        compare(journal, path)
    assert len(journal.entries()) == 19


def test_a_glance_at_a_damaged_block_sees_what_a_parser_sees_or_nothing():
    """Whatever byte is another one, no shortcut counts what is no entry."""
    acts = (outcome(3), lesson(3), outcome(3, horizon=10))
    whole = render(fold_now(replace(made(3), id=decision_id(3)), acts))
    assert glance(whole) == judgements(read_block(whole).entry)
    for at in range(len(whole)):
        for byte in (b"", b"\n", b"0", b"\xff"):
            raw = whole[:at] + byte + whole[at + 1 :]
            entry, seen, passage = read_block(raw).entry, glance(raw), glimpse(raw)
            assert seen is None or (entry is not None and seen == judgements(entry))
            assert passage is None or (entry is not None and passage == passage_of(entry))

"""One run of every kind of write, and what must hold of a log whatever befell it."""

import shutil
from collections import Counter
from pathlib import Path

from tests.journal.made import decision, fill, instant, lesson, made_id, outcome, resolution
from tradmem.journal.markdown import MarkdownJournal
from tradmem.journal.ram import RamJournal
from tradmem.model import Addition, Entry, Status

MOST = 6
LONG = 20_000
MARK = Addition(kind="mark", data={"seen": True})
TORN = ("was not written to its end", "does not end with the line")
REPEATED = "stands in the log too"


def prepare(path: Path) -> set[str]:
    """A log with an archive and one pending decision, 40; what is acknowledged of it."""
    journal = MarkdownJournal(path, max_resolved=MOST)
    fill(journal, range(30))
    journal.append(decision(40))
    assert sum(entry.archived for entry in journal.entries()) == 5
    numbers = range(30)
    acknowledged = {f"{what} {number}" for what in ("recorded", "resolved") for number in numbers}
    return acknowledged | {"recorded 40"}


def run(path: Path, say) -> None:
    """Appends, a rewrite that rotates, and one of log and archive at once."""
    journal = MarkdownJournal(path, max_resolved=MOST)
    for number in (30, 31, 32):
        journal.append(decision(number))
        say(f"recorded {number}")
    journal.add([pair for number in (30, 31, 32) for pair in resolution(number)])
    for number in (30, 31, 32):
        say(f"resolved {number}")
    journal.add([(made_id(0), MARK), *resolution(40)])
    say("marked 0")
    say("resolved 40")


ALL_SAID = {f"{what} {number}" for what in ("recorded", "resolved") for number in (30, 31, 32)} | {
    "marked 0",
    "resolved 40",
}


def check(path: Path, known: set[int], acknowledged: set[str]) -> list[Entry]:
    """Hold a log against all that may stand in it, and what must.

    Args:
        path: the log.
        known: the numbers of all decisions that were ever begun.
        acknowledged: lines ``recorded N``, ``resolved N`` and ``marked N``.
    """
    journal = MarkdownJournal(path, max_resolved=MOST)
    entries = journal.entries()
    assert max(Counter(entry.id for entry in entries).values(), default=1) == 1
    by_id = {entry.id: entry for entry in entries}
    numbers = {made_id(number): number for number in known}
    assert set(by_id) <= set(numbers), "something appeared that nobody wrote"
    for name, entry in by_id.items():
        check_entry(entry, numbers[name])
    for line in acknowledged:
        what, number = line.split()
        assert made_id(int(number)) in by_id, f"{line} is lost"
        entry = by_id[made_id(int(number))]
        assert what != "resolved" or entry.status is Status.RESOLVED, f"{line} is lost"
        assert what != "marked" or MARK in entry.additions, f"{line} is lost"
    for problem in journal.problems():
        assert any(text in str(problem) for text in (*TORN, REPEATED)), str(problem)
    check_counts(journal, entries)
    return entries


def check_entry(entry: Entry, number: int) -> None:
    """It is as it was made, and resolved wholly or not at all."""
    made = decision(number, size=LONG if len(entry.decision) > 500 else 0)
    assert (entry.decision, entry.rating, entry.date) == (made.text, made.rating, made.date)
    added = [addition for addition in entry.additions if addition != MARK]
    assert [addition.kind for addition in added] in ([], ["outcome", "reflection"])
    if added:
        assert entry.outcome == outcome(number).outcome
        assert entry.reflection == lesson(number).text


def check_counts(journal: MarkdownJournal, entries: list[Entry]) -> None:
    """What a crash left in log and archive is counted, recalled and resolved once."""
    other = RamJournal()
    for entry in entries:
        other.append(entry.recorded)
        other.add([(entry.id, addition) for addition in entry.additions])
    late = instant(100_000)
    for ticker in {entry.ticker for entry in entries}:
        assert journal.counts(ticker, late) == other.counts(ticker, late)
        found = [memory.id for memory in journal.memories(late, ticker=ticker)]
        assert found == [memory.id for memory in other.memories(late, ticker=ticker)]
    assert {e.id for e in journal.unfinished()} == {e.id for e in other.unfinished()}


def go_on(path: Path, number: int) -> None:
    """The next writer finds everything in order, and its entry is not swallowed."""
    journal = MarkdownJournal(path, max_resolved=MOST, timeout=5)
    journal.append(decision(number))
    assert MarkdownJournal(path).get(made_id(number)).decision == decision(number).text
    journal.add(resolution(number))
    assert MarkdownJournal(path).get(made_id(number)).reflection == lesson(number).text


def strays(path: Path) -> list[str]:
    """Temporary files in the folder of a log and in its archive."""
    return [file.name for file in path.parent.rglob(".*") if file.is_file()]


def contents(path: Path) -> dict[str, bytes]:
    """The bytes of a log and of its archive."""
    files = [path, *(path.parent / "archive").glob("*.md")]
    return {file.name: file.read_bytes() for file in files if file.exists()}


def copy(folder: Path, to: Path) -> Path:
    """A copy of a prepared log."""
    shutil.copytree(folder, to)
    return to / "memory.md"

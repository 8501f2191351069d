"""A year of weekly decisions on real closes, through the compiled graph, on a simulated clock."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from tradmem.agent import build_graph
from tradmem.briefing import Move
from tradmem.errors import LogError, UsageError
from tradmem.journal import files
from tradmem.journal.format import parse
from tradmem.journal.markdown import MarkdownJournal
from tradmem.lessons.hits import Track
from tradmem.lessons.track import track
from tradmem.market.sample import BENCHMARK, TICKERS, demo_days, demo_prices
from tradmem.memory import Memory
from tradmem.model import Entry, Rating, Status
from tradmem.policies import Policy, by_strength, momentum_policy
from tradmem.settings import Settings
from tradmem.study.replay import Replay, replay
from tradmem.study.schedule import DecideAt

DEMO_LOG = "logs/demo.md"
YEAR = 2022  # the last one in the data, not the best one
AGENT = "momentum"
TITLE = "# Demo: a simulated year of decisions. `tradmem demo` writes this file anew each time."
KEPT = 150  # resolved entries in the log; few, so that the demo shows an archive too
BUDGET = 4000  # characters of a recall; few, so that the demo can show one
Progress = Callable[[int, int, date], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    """What a replay did, and what of it there is to see.

    Attributes:
        log: the file that was written.
        archives: those into which the oldest entries rotated.
        tickers: whom it decided on.
        weeks: the days of the decisions.
        decided: how many decisions were recorded.
        settled: how many got an outcome and a lesson.
        pending: how many still wait for closes that the data does not have.
        archived: how many rotated into the archives.
        told: how many decisions saw earlier lessons.
        stepped: how many ratings went a step towards Hold after a poor record.
        track: the verdicts, with how sure they are.
        always_buy: the verdicts, had every rating been a Buy.
        example: an entry as it is now.
        before: its block in the log right after it was recorded.
        after: its block now.
        last: the last decision.
        seen: the recalled text that it saw.
        seconds: how long the replay took.
    """

    log: Path
    archives: tuple[Path, ...]
    tickers: tuple[str, ...]
    weeks: tuple[date, ...]
    decided: int
    settled: int
    pending: int
    archived: int
    told: int
    stepped: int
    track: Track
    always_buy: Track
    example: Entry
    before: str
    after: str
    last: Entry
    seen: str
    seconds: float


def run_demo(
    log: str | os.PathLike[str] = DEMO_LOG, *, progress: Progress | None = None
) -> DemoResult:
    """Replay 2022: five decisions in the first session of each week, an hour before its close.

    No key and no network are needed: closes come with the package, the momentum policy
    decides, and lessons are written from the facts alone.

    Args:
        log: the file to write; one that an earlier demo wrote is replaced, with its archive.
        progress: called after each decision with how many are done, of how many, and its date.

    Raises:
        UsageError: the file holds something else than a demo; nothing was written.
        LogError: it cannot be written.
    """
    started = time.monotonic()
    days = demo_days(YEAR)
    seen = _Seen(start_log(Path(log)))
    done = replay(
        momentum_policy,
        TICKERS,
        demo_prices(),
        days[0],
        days[-1],
        memory=seen.journal,
        graph=seen.graph,
        decide_at=DecideAt.BEFORE_CLOSE,
        settings=Settings(benchmark=BENCHMARK, budget=BUDGET, holdout=0),
        agent=AGENT,
        progress=progress,
    )
    return seen.result(done, time.monotonic() - started)


class _Seen:
    """What of the year is to be shown, taken down as the graph decides."""

    def __init__(self, journal: MarkdownJournal) -> None:
        self.journal = journal
        self._state: Mapping[str, Any] = {}
        self._stepped = 0
        self._example, self._before = "", ""

    def graph(self, memory: Memory, decide: Policy) -> "_Watched":
        """The compiled graph, watched."""
        return _Watched(build_graph(memory, decide, agent=AGENT), self._look)

    def _look(self, state: Mapping[str, Any]) -> None:
        """Take a decision down, as it is right after it was recorded."""
        self._state = state
        is_stepped = state["rating"] != by_strength(Move(*state["brief"]["year"]).strength)
        self._stepped += is_stepped
        if is_stepped and not self._before:
            self._example = state["entry_id"]
            self._before = self._block(self._example)

    def result(self, done: Replay, seconds: float) -> DemoResult:
        """What there is to show, once all is done."""
        entries = done.entries()
        by_id = {entry.id: entry for entry in entries}
        settled = [entry for entry in entries if entry.outcome]
        return DemoResult(
            log=self.journal.path,
            archives=tuple(_beside(self.journal.path, file) for file in self.journal.archives()),
            tickers=TICKERS,
            weeks=tuple(sorted({entry.date for entry in entries})),
            decided=len(entries),
            settled=len(settled),
            pending=sum(entry.status is Status.PENDING for entry in entries),
            archived=sum(entry.archived for entry in entries),
            told=sum(bool(entry.recalled) for entry in entries),
            stepped=self._stepped,
            track=_verdicts(entries),
            always_buy=_verdicts(map(_as_buy, settled)),
            example=by_id[self._example],
            before=self._before,
            after=self._block(self._example),
            last=by_id[self._state["entry_id"]],
            seen=self._state["past_context"],
            seconds=seconds,
        )

    def _block(self, entry_id: str) -> str:
        """An entry's block, as it stands in its file."""
        for path in (self.journal.path, *self.journal.archives()):
            for block in parse(path.read_bytes()).blocks:
                if block.entry and block.entry.id == entry_id:
                    text = block.raw.decode()
                    return text[text.index("[") :].strip()
        return ""


class _Watched:
    """A compiled graph, and who is told of each of its decisions."""

    def __init__(self, compiled: Any, look: Callable[[Mapping[str, Any]], None]) -> None:
        self._compiled, self._look = compiled, look

    def invoke(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Decide once."""
        found: Mapping[str, Any] = self._compiled.invoke(state)
        self._look(found)
        return found


def _beside(log: Path, archive: Path) -> Path:
    """The archive's path as the user knows it: below the log's folder as it was given."""
    return log.parent / archive.parent.name / archive.name


def _verdicts(entries: Iterable[Entry]) -> Track:
    return track(entries).lines[0].track


def _as_buy(entry: Entry) -> Entry:
    return replace(entry, recorded=replace(entry.recorded, rating=Rating.BUY))


def start_log(path: Path) -> MarkdownJournal:
    """An empty demo log, in place of an earlier one if that is all that stands there.

    Raises:
        UsageError: something else stands there, or in the archive beside it.
        LogError: it cannot be written.
    """
    journal = MarkdownJournal(path, max_resolved=KEPT)
    real = Path(os.path.realpath(path))
    old = [file for file in (real, *journal.archives()) if file.exists()]
    for file in old:
        if not _is_demo(file, is_log=file == real):
            raise UsageError(
                f"{file} holds something else than a demo, which would be lost; "
                "move it away, or name another file with --log"
            )
    files.make_folder(real.parent)
    files.replace(real, [f"{TITLE}\n\n".encode()])
    for archive in journal.archives():
        archive.unlink()
    return journal


def _is_demo(file: Path, *, is_log: bool) -> bool:
    """Whether a file holds nothing but what a demo wrote."""
    try:
        if file.is_dir():
            raise LogError(f"cannot write {file}: it is a folder; name a file in it")
        content = file.read_bytes()
    except OSError as error:
        files.refuse("read", file, error)
    if is_log and content.strip() and not content.startswith(TITLE.encode()):
        return False
    return all(
        block.entry and block.entry.agent == AGENT and not block.entry.recorded.is_note
        for block in parse(content, str(file)).blocks
    )

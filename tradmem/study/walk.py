"""The walk of a replay from one decision to the next."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date as Date  # noqa: N812 - `date` is the name of an argument here
from datetime import datetime
from functools import partial
from hashlib import blake2b, sha256
from itertools import groupby
from typing import Any, cast

from tradmem.briefing import Brief, brief
from tradmem.errors import ModelError, PriceError, UsageError
from tradmem.journal.base import Stored
from tradmem.lessons.recall import Recall
from tradmem.memory import Memory
from tradmem.model import Entry
from tradmem.model_policy import PROMPT, PROMPT_DIGITS
from tradmem.policies import Call
from tradmem.recording import Recorded
from tradmem.resolving import ResolveReport
from tradmem.study.deciding import Driven, Graph, as_call
from tradmem.study.due import Queue
from tradmem.study.moment import Moment, Past, Sight
from tradmem.study.schedule import MARK, DecideAt, Point
from tradmem.study.sight import Eyes, Seen
from tradmem.study.veil import Veil
from tradmem.study.world import World

Progress = Callable[[int, int, Date], None]
LATELY = 10  # sessions without a close, after which a ticker is not decided on
_UNTRADED = f"no close in the last {LATELY} sessions"


class ReplayMemory(Memory):
    """A memory that marks what is recorded in it as replayed."""

    mark = ""

    def record(self, ticker: str, date: Date | str, text: str, **given: Any) -> Recorded:
        """See :meth:`tradmem.memory.Memory.record`."""
        extra = {MARK: self.mark} | dict(given.pop("extra", None) or {})
        return super().record(ticker, date, text, extra=extra, **given)


@dataclass(slots=True)
class Tally:
    """What has been done so far.

    Attributes:
        decided: decisions that were recorded.
        resumed: decisions that stood already.
        left_out: dates without a decision, by reason.
    """

    decided: int = 0
    resumed: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How a replay decides.

    Attributes:
        decide_at: when on each date.
        agent: under which name.
        horizon: sessions to hold.
        sight: how much of the memory is seen.
        seed: of what a decision draws at random.
        veil: what hides names, dates and levels from whoever decides; None for nothing.
    """

    decide_at: DecideAt
    agent: str
    horizon: int
    sight: Sight
    seed: int
    veil: Veil | None = None


class Walk:
    """One replay on its way.

    Args:
        memory: what is recorded in and recalled from; it ends at the world's clock.
        world: the closes.
        how: how it decides.
        decide: a function; or a graph.
    """

    def __init__(
        self, memory: Memory, world: World, how: How, decide: Callable[[Any], object] | Graph
    ) -> None:
        self._memory, self._world, self._how, self._decide = memory, world, how, decide
        self._queue = Queue(memory, world)
        self._eyes = Eyes(memory, how.sight, how.agent)
        self._blank = blank(memory) if how.sight is not Sight.FULL else memory
        self._standing: set[tuple[Date, str]] = set()
        self.tally = Tally()

    def resume(self) -> None:
        """Take up what the journal holds.

        Raises:
            UsageError: it holds decisions that were not replayed, or not so.
        """
        entries = [e for e in self._memory.journal.entries() if not e.recorded.is_note]
        for entry in entries:
            mark = entry.recorded.extra.get(MARK)
            if mark != self._how.decide_at:
                made = f"one of decide_at={mark!r}" if mark else "which was not replayed"
                raise UsageError(
                    f"the log to replay into holds the decision {entry.id} on {entry.ticker} of "
                    f"{entry.date}, {made}; replay into a log of its own"
                )
            if entry.agent == self._how.agent:
                self._standing.add((entry.date, entry.ticker))
        if any(entry.recorded.horizon != self._how.horizon for entry in entries):
            self._eyes.is_plain = False
        for entry in sorted(entries, key=lambda entry: entry.recorded.known_at):
            self._queue.put(entry)
            self._eyes.learn([entry])

    def go(self, points: Sequence[Point], until: datetime, progress: Progress | None) -> None:
        """Decide at each point in turn, and settle at last what is due by the end."""
        done = 0
        for instant, group in groupby(points, key=lambda point: point.instant):
            together = list(group)
            waiting = [p for p in together if (p.day, p.ticker) not in self._standing]
            self.tally.resumed += len(together) - len(waiting)
            done += len(together) - len(waiting)
            if waiting:
                self._advance(instant)
            for point in waiting:
                self._take(point)
                done += 1
                if progress:
                    progress(done, len(points), point.day)
        self._advance(max(until, points[-1].instant) if points else until)

    def _advance(self, instant: datetime) -> None:
        self._world.advance(instant)
        self._learn(self._queue.resolve(instant))

    def _learn(self, report: ResolveReport) -> None:
        self._eyes.learn(told.entry for told in report.settled)

    def _take(self, point: Point) -> None:
        """Make one decision; what cannot be decided is left out and counted."""
        if not self._world.traded_lately(point.ticker, LATELY):
            self.tally.left_out[_UNTRADED] += 1
            return
        try:
            entry = self._entry(point)
        except (PriceError, ModelError) as error:
            if getattr(error, "fatal", False):
                raise
            self.tally.left_out[" ".join(str(error).split())[:120]] += 1
            return
        if entry is None:
            self.tally.left_out["no decision"] += 1
            return
        self.tally.decided += 1
        self._queue.put(entry)

    def _entry(self, point: Point) -> Entry | None:
        """The decision at a point, made and recorded."""
        make_seed = partial(seed_of, self._how.seed, point)
        seen = self._eyes.see(point.ticker, point.decided_at, make_seed)
        moment, veil = self._moment(point, seen, make_seed), self._how.veil
        shown = veil.cover(moment) if veil else moment
        if isinstance(self._decide, Graph):
            driven: Driven = self._decide.drive(shown)
            if driven.entry:
                return driven.entry
            call = driven.call
        else:
            call = as_call(cast("Callable[[Moment], object]", self._decide)(shown))
        if call is None:
            return None
        call = _signed(call, shown)
        return self._record(point, seen, veil.lift(call) if veil else call)

    def _record(self, point: Point, seen: Seen, call: Call) -> Entry | None:
        done = self._memory.record(
            point.ticker,
            point.day,
            call.text,
            rating=call.rating,
            agent=self._how.agent,
            horizon=self._how.horizon,
            decided_at=point.decided_at,
            recalled=seen if isinstance(seen, Recall) else seen.ids,
            recalled_as_of=seen.as_of,
            withheld=None if isinstance(seen, Recall) else seen.withheld,
            cited=call.cited,
            extra=call.extra,
        )
        return done.entry if done.status is Stored.RECORDED else None

    def _moment(self, point: Point, seen: Seen, make_seed: Callable[[], int]) -> Moment:
        known, settings = self._world.known, self._memory.settings
        ticker, now = point.ticker, point.instant

        def make_brief() -> Brief:
            return brief(
                ticker, known, now, benchmarks=settings.benchmark, aliases=settings.aliases
            )

        return Moment(
            ticker=ticker,
            date=point.day,
            as_of=point.decided_at,
            horizon=self._how.horizon,
            make_memory=lambda: seen.text,
            memories=seen.memories,
            prices=known,
            past=Past(self._blank, ticker, point.decided_at),
            make_seed=make_seed,
            make_brief=make_brief,
            make_track=self._eyes.track(ticker, point.decided_at),
        )


def _signed(call: Call, shown: Moment) -> Call:
    """A model's call with a hash of what it was shown, where the policy kept none itself."""
    if "model" not in call.extra or PROMPT in call.extra:
        return call
    prompt = f"{shown.ticker}\n{shown.date}\n{shown.brief}\n{shown.memory}"
    digest = sha256(prompt.encode("utf-8", "replace")).hexdigest()[:PROMPT_DIGITS]
    return replace(call, extra={**call.extra, PROMPT: digest})


def blank(memory: Memory) -> Memory:
    """A memory of nothing, for whoever may not see the real one."""
    from tradmem.journal.ram import RamJournal  # noqa: PLC0415 - only for comparisons

    return Memory(RamJournal(), prices=memory.prices, settings=memory.settings, clock=memory.clock)


def seed_of(seed: int, point: Point) -> int:
    """The seed of one decision: the same in every variant of a study."""
    key = f"{seed}|{point.day}|{point.ticker}".encode()
    return int.from_bytes(blake2b(key, digest_size=7).digest())

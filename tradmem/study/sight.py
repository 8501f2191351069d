"""What of the memory a decision is shown: all that a recall finds, or less, for comparison."""

import random
import re
from bisect import bisect_right, insort
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from tradmem.journal.base import Journal
from tradmem.lessons.hits import Track, track_of
from tradmem.lessons.holdout import Holdout
from tradmem.lessons.parts import Rank
from tradmem.lessons.recall import Chosen, Recall, choose, compose, record_only
from tradmem.lessons.wording import Shown, surely_fits
from tradmem.market.calendars import today
from tradmem.memory import Memory
from tradmem.model import Entry
from tradmem.recording import holdout_of
from tradmem.study.moment import Sight


class Eyes:
    """Recalls for decisions of one replay, as much as they may see.

    Args:
        memory: what there is to recall.
        sight: how much of it.
        agent: who decides.
    """

    def __init__(self, memory: Memory, sight: Sight, agent: str = "") -> None:
        self._memory = memory
        self._sight = sight
        self._agent = agent
        self._taught: list[tuple[datetime, str]] = []
        self._learned: set[str] = set()
        self._is_kept = sight is Sight.SHUFFLED
        # Of a single horizon, the track record is one line, so that its length is bounded.
        self.is_plain = sight is Sight.FULL and memory.settings.rank == Rank.PLAIN

    def learn(self, entries: Iterable[Entry]) -> None:
        """Let entries that were settled take part in a shuffle."""
        if self._is_kept:
            for entry in entries:  # again at each of its horizons
                if entry.known_at and entry.id not in self._learned:
                    self._learned.add(entry.id)
                    insort(self._taught, (entry.known_at, entry.id))

    def see(self, ticker: str, as_of: datetime, make_seed: Callable[[], int]) -> "Seen":
        """What a decision on a ticker gets to see at an instant, worded when it is asked for."""
        settings = self._memory.settings
        if self.is_plain:
            journal = self._memory.journal
            chosen = choose(
                journal,
                ticker,
                as_of,
                same_ticker=settings.same_ticker,
                cross_ticker=settings.cross_ticker,
            )
            if surely_fits(chosen.entries(), settings.budget):
                lots = self._lots(ticker, as_of)
                return Quick(journal, ticker, as_of, chosen, budget=settings.budget, holdout=lots)
        return self.recall(ticker, as_of, make_seed)

    def recall(self, ticker: str, as_of: datetime, make_seed: Callable[[], int]) -> Recall:
        """The same, worded."""
        if self._sight is Sight.NONE:
            return Recall(text="", memories=(), left_out=(), ticker=ticker, as_of=as_of)
        if self._sight is Sight.TRACK:
            return record_only(self._memory.journal, ticker, as_of)
        seen = self._memory.recall(ticker, as_of, agent=self._agent)
        return self._shuffled(seen, make_seed()) if self._sight is Sight.SHUFFLED else seen

    def _lots(self, ticker: str, as_of: datetime) -> Holdout | None:
        """Those that a recall of the memory would draw."""
        settings = self._memory.settings
        if not settings.holdout:
            return None
        day = today(ticker, as_of, settings.aliases)
        return holdout_of(settings, ticker, day, self._agent)

    def track(self, ticker: str, as_of: datetime) -> Callable[[], Track]:
        """The verdicts on a ticker, to be counted when they are asked for."""
        if self._sight is Sight.NONE:
            return Track
        journal = self._memory.journal
        return lambda: track_of(journal, ticker, as_of)

    def _shuffled(self, seen: Recall, seed: int) -> Recall:
        """As many memories, each with the content of one drawn from all that were known."""
        chance = random.Random(seed)  # noqa: S311 - no secret
        known = bisect_right(self._taught, (seen.as_of, "\uffff"))
        shown = []
        for entry in seen.memories:
            donor = entry
            if entry.outcome and known:
                name = self._taught[chance.randrange(known)][1]
                found = self._memory.journal.get(name)
                donor = (found and found.at(seen.as_of)) or entry
            fake = relabelled(donor, entry.ticker)
            is_same = entry.ticker == seen.ticker
            decision = fake.decision if is_same else ""
            shown.append(Shown(entry=fake, is_same=is_same, decision=decision))
        journal = self._memory.journal
        return compose(
            journal,
            seen.ticker,
            seen.as_of,
            shown,
            seen.left_out,
            budget=self._memory.settings.budget,
        )


class Quick:
    """A recall that shows everything that it chose, and is worded only for who reads it."""

    __slots__ = (
        *("_budget", "_chosen", "_holdout", "_journal", "_text"),
        *("as_of", "ids", "memories", "ticker", "withheld"),
    )

    def __init__(
        self,
        journal: Journal,
        ticker: str,
        as_of: datetime,
        chosen: Chosen,
        *,
        budget: int,
        holdout: Holdout | None = None,
    ) -> None:
        self.ticker, self.as_of = ticker, as_of
        self.withheld: tuple[str, ...] | None = None
        kept = chosen.entries()
        if holdout:
            lots = list(zip(kept, holdout.among(kept), strict=True))
            self.withheld = tuple([entry.id for entry, lot in lots if lot])
            kept = [entry for entry, lot in lots if not lot]
        self.memories = tuple(kept)
        self.ids = tuple(entry.recorded.id for entry in kept)
        self._journal, self._chosen, self._budget = journal, chosen, budget
        self._holdout = holdout
        self._text: str | None = None

    @property
    def text(self) -> str:
        """For the prompt; empty when there is nothing to recall."""
        if self._text is None:
            found = compose(
                self._journal,
                self.ticker,
                self.as_of,
                self._chosen.shown(),
                (),
                budget=self._budget,
                holdout=self._holdout,
            )
            self._text = found.text
        return self._text


Seen = Recall | Quick


def relabelled(entry: Entry, ticker: str) -> Entry:
    """The same entry as if it were of another ticker."""
    if entry.ticker == ticker:
        return entry
    word = _word(entry.ticker)
    text = word.sub(lambda _: ticker, entry.recorded.text)
    return replace(
        entry,
        recorded=replace(entry.recorded, ticker=ticker, text=text),
        reflection=word.sub(lambda _: ticker, entry.reflection),
        remark=word.sub(lambda _: ticker, entry.remark),
    )


@lru_cache(maxsize=4096)
def _word(ticker: str) -> re.Pattern[str]:
    """A ticker where no letter or digit touches it."""
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(ticker)}(?![A-Za-z0-9])")

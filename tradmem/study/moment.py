"""What a decision of a replay gets to see: one moment, and the memory as it stood then."""

from collections.abc import Callable, Iterable
from datetime import date as Date  # noqa: N812 - `date` is the name of a field here
from datetime import datetime
from enum import StrEnum
from typing import Any

from tradmem.briefing import Brief
from tradmem.clock import AsOf
from tradmem.lessons.hits import Track
from tradmem.lessons.recall import Recall
from tradmem.lessons.track import TrackRecord
from tradmem.memory import Memory
from tradmem.model import Entry, Status
from tradmem.policies import Call, Policy
from tradmem.study.world import KnownPrices, instant_of


class Sight(StrEnum):
    """How much of the memory a decision gets to see.

    Attributes:
        FULL: what a recall shows.
        NONE: nothing of it.
        TRACK: the track record alone, no lessons.
        SHUFFLED: as many lessons, each in place of another that was known then.
    """

    FULL = "full"
    NONE = "none"
    TRACK = "track"
    SHUFFLED = "shuffled"


class Past:
    """The memory as it stood at one instant, to read from.

    Whoever asks for anything later gets :class:`~tradmem.errors.LookAhead`.
    """

    __slots__ = ("_as_of", "_memory", "_ticker")

    def __init__(self, memory: Memory, ticker: str, as_of: datetime) -> None:
        self._memory, self._ticker, self._as_of = memory, ticker, as_of

    @property
    def as_of(self) -> datetime:
        """The instant up to which it may be read, aware UTC."""
        return self._as_of

    def recall(self, ticker: str | None = None, as_of: AsOf = None, **options: Any) -> Recall:
        """See :meth:`tradmem.memory.Memory.recall`; the moment's ticker by default."""
        return self._memory.recall(ticker or self._ticker, self._at(as_of), **options)

    def entries(
        self,
        ticker: str | None = None,
        status: Status | str | None = None,
        as_of: AsOf = None,
    ) -> list[Entry]:
        """See :meth:`tradmem.memory.Memory.entries`; each as it stood then."""
        return self._memory.entries(ticker, status, self._at(as_of))

    def get(self, entry_id: str) -> Entry | None:
        """The entry with an id, as it stood then; None if there was none."""
        found = self._memory.get(entry_id)
        return found and found.at(self._as_of)

    def search(self, query: str = "", *, as_of: AsOf = None, **options: Any) -> list[Entry]:
        """See :meth:`tradmem.memory.Memory.search`."""
        return self._memory.search(query, as_of=self._at(as_of), **options)

    def track(self, as_of: AsOf = None, *, tickers: Iterable[str] = (), **only: Any) -> TrackRecord:
        """See :meth:`tradmem.memory.Memory.track`."""
        return self._memory.track(self._at(as_of), tickers=tickers, **only)

    def _at(self, as_of: AsOf) -> datetime:
        return instant_of(as_of, self._as_of)


class Moment:
    """All that a decision may look at; everything in it was known at ``as_of``.

    It has what a :class:`~tradmem.policies.Situation` has, so that a policy decides in a
    replay as it does in the agent; its brief is made when it is asked for.

    Attributes:
        ticker: in upper case.
        date: the date of the decision.
        as_of: the instant of the recall, aware UTC.
        horizon: sessions after which the decision will be judged.
        memories: what the recalled text shows, in its order, each as it stood then.
        prices: the closes that were final; a price source.
        past: the memory as it stood, to read from.
    """

    __slots__ = (
        *("_brief", "_make_brief", "_make_memory", "_make_seed", "_make_track", "_memory"),
        *("_seed", "_track", "as_of", "date", "horizon", "memories", "past", "prices", "ticker"),
    )

    def __init__(
        self,
        *,
        ticker: str,
        date: Date,
        as_of: datetime,
        horizon: int,
        memories: tuple[Entry, ...],
        prices: KnownPrices,
        past: Past,
        make_seed: Callable[[], int],
        make_memory: Callable[[], str],
        make_brief: Callable[[], Brief],
        make_track: Callable[[], Track],
    ) -> None:
        self.ticker, self.date, self.as_of, self.horizon = ticker, date, as_of, horizon
        self.memories, self.prices, self.past = memories, prices, past
        self._make_seed = make_seed
        self._make_memory, self._make_brief, self._make_track = make_memory, make_brief, make_track
        self._seed: int | None = None
        self._memory: str | None = None
        self._brief: Brief | None = None
        self._track: Track | None = None

    def __repr__(self) -> str:
        return f"Moment({self.ticker}, {self.date})"

    @property
    def seed(self) -> int:
        """Of whatever the decision draws at random; the same for all variants."""
        if self._seed is None:
            self._seed = self._make_seed()
        return self._seed

    @property
    def memory(self) -> str:
        """The recalled text, for a prompt; empty when there is nothing."""
        if self._memory is None:
            self._memory = self._make_memory()
        return self._memory

    @property
    def brief(self) -> Brief:
        """Figures from the closes that were final."""
        if self._brief is None:
            self._brief = self._make_brief()
        return self._brief

    @property
    def track(self) -> Track:
        """Verdicts on all earlier decisions on the ticker."""
        if self._track is None:
            self._track = self._make_track()
        return self._track


Decide = Callable[[Moment], Call | str | None] | Policy

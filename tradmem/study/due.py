"""Which decisions of a replay have come due, found without going through all that are pending."""

from datetime import datetime
from heapq import heappop, heappush
from typing import NamedTuple

from tradmem.market.prices import PriceSource
from tradmem.market.question import due_of
from tradmem.memory import Memory
from tradmem.model import Entry, Status
from tradmem.resolving import Ask, ResolveReport, Run

_NOTHING = ResolveReport()


class _Item(NamedTuple):
    """One outcome to ask for; they sort as a run over the whole log would ask.

    Attributes:
        is_further: whether the horizon is another one than the decision's own.
        number: the decision's, in the order in which they were recorded.
        entry_id: whose.
        horizon: in sessions.
    """

    is_further: bool
    number: int
    entry_id: str
    horizon: int


class Queue:
    """Resolves what is due as :meth:`tradmem.memory.Memory.resolve` does, and asks for no more.

    Args:
        memory: whose decisions; its clock tells the time.
        prices: where outcomes take their closes from.
    """

    def __init__(self, memory: Memory, prices: PriceSource) -> None:
        self._memory = memory
        self._prices = prices
        self._number = 0
        self._due: dict[datetime, list[_Item]] = {}
        self._instants: list[datetime] = []
        self._again: list[_Item] = []
        self._untaught: dict[str, None] = {}

    def put(self, entry: Entry) -> None:
        """Have a decision resolved once its windows have traded."""
        if entry.status is Status.SETTLED:
            self._untaught[entry.id] = None
        if entry.status in (Status.NOTE, Status.UNRESOLVABLE):
            return
        self._number += 1
        settings = self._memory.settings
        own = entry.recorded.horizon or settings.horizons[0]
        settled = {outcome.horizon for outcome in entry.outcomes}
        for horizon in dict.fromkeys((own, *settings.horizons[1:])):
            if horizon not in settled:
                item = _Item(horizon != own, self._number, entry.id, horizon)
                self._put(_due(entry, horizon, self._memory), item)

    def _put(self, due: datetime, item: _Item) -> None:
        if due not in self._due:
            self._due[due] = []
            heappush(self._instants, due)
        self._due[due].append(item)

    def resolve(self, now: datetime) -> ResolveReport:
        """Settle what is due at an instant, and have the lessons written."""
        wanted = self._again
        while self._instants and self._instants[0] <= now:
            wanted = wanted + self._due.pop(heappop(self._instants))
        if not wanted and not self._untaught:
            return _NOTHING
        journal = self._memory.journal
        with journal.resolving(10):
            run = self._run(now)
            found = [(item, journal.get(item.entry_id)) for item in sorted(wanted)]
            asks = [Ask(entry=entry, horizon=item.horizon) for item, entry in found if entry]
            old = [entry for name in self._untaught if (entry := journal.get(name))]
            settled = run.settle(asks, now)
            due = {entry.id: entry for entry in (*old, *settled)}
            run.reflect(list(due.values()))
        report = run.report()
        taught = {told.entry.id for told in report.reflected}
        self._untaught = {name: None for name in due if name not in taught}
        settled_at = {
            (told.entry.id, outcome.horizon)
            for told in report.settled
            for outcome in told.entry.outcomes
        }
        asked_on = {told.entry.id for told in (*report.waiting, *report.failed)}
        lasting = {told.entry.id for told in report.unresolvable}
        lasting |= {told.entry.id for told in report.suspect} - asked_on
        self._again = [
            item
            for item in wanted
            if item.entry_id not in lasting and (item.entry_id, item.horizon) not in settled_at
        ]
        return report

    def _run(self, now: datetime) -> Run:
        memory = self._memory
        return Run(
            journal=memory.journal,
            prices=lambda: self._prices,
            reflector=memory.reflector,
            settings=memory.settings,
            now=memory.clock,
            decided_at=lambda entry: entry.recorded.known_at,
            started=now,
        )


def _due(entry: Entry, horizon: int, memory: Memory) -> datetime:
    """When the exit session of a horizon is final."""
    decided_at = entry.decided_at or entry.recorded.known_at
    return due_of(entry.ticker, decided_at, horizon, memory.settings.aliases)

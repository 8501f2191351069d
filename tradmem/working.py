"""A worker: claims what is due, a few entries at a time, and resolves it beside others."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime, timedelta

from tradmem.errors import UsageError
from tradmem.journal.base import Journal, lacks
from tradmem.journal.queue import Claimed, WorkQueue
from tradmem.model import Entry, Status
from tradmem.resolving import ResolveReport, Run

BATCH = 20  # entries: few enough to be stored soon, enough to fetch their prices together
LEASE = 60.0  # seconds
AGAIN = timedelta(minutes=5)  # before a worker asks for the same again


def work(
    journal: Journal,
    begin: Callable[[], Run],
    *,
    tickers: Collection[str] | None,
    reflect: bool,
    batch: int,
    lease: float,
    stop: Callable[[], bool],
) -> Iterator[ResolveReport]:
    """See :meth:`tradmem.memory.Memory.work`; ``begin`` makes the run of a batch."""
    if not isinstance(journal, WorkQueue):
        raise UsageError(
            "only a log in PostgreSQL has a work queue; resolve a file without workers"
        )
    if batch < 1 or lease <= 0:
        raise UsageError("a batch holds at least one entry, and a lease lasts for some time")

    def batches() -> Iterator[ResolveReport]:
        while not stop():
            run = begin()
            claim = journal.claim(run.started, limit=batch, tickers=tickers, lease=lease)
            if not claim.entries:
                return
            with claim:
                try:
                    _resolve(run, claim, reflect=reflect)
                except Exception:  # else the next claim would take the same, and fail again
                    claim.later(dict.fromkeys((e.id for e in claim.entries), run.started + AGAIN))
                    raise
            yield run.report()

    return batches()


def _resolve(run: Run, claim: Claimed, *, reflect: bool) -> None:
    """Settle and reflect on what was claimed, and say when to look at the rest again."""
    run.add = claim.add
    entries: Sequence[Entry] = claim.entries
    asks = run.asks(
        pending=[entry for entry in entries if entry.status is Status.PENDING],
        lacking=[entry for entry in entries if lacks(entry, run.settings.horizons[1:])],
        again=(),
        accepted=frozenset(),
        retry_unresolvable=False,
        recheck=False,
    )
    settled = {entry.id: entry for entry in run.settle(asks, run.started)}
    if reflect:
        due = {e.id: e for e in entries if e.status is Status.SETTLED}
        run.reflect(list((due | settled).values()))
    claim.later(dict(_later(run, entries)))


def _later(run: Run, entries: Sequence[Entry]) -> Iterator[tuple[str, datetime]]:
    """When to look again at what got nowhere; what got on may go on at once."""
    soon = run.started + AGAIN
    failed = {told.entry.id for told in run.found.get("failed", ())}
    got_on = {
        told.entry.id for name in ("settled", "reflected") for told in run.found.get(name, ())
    }
    for entry in entries:
        if entry.id in failed or entry.id not in got_on:
            yield entry.id, max(soon, run.later.get(entry.id, soon))

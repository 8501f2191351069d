"""The work queue: claims with a lease, and workers that share the work."""

import threading
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.journal.making import DAY, KNOWN, decision, lesson, outcome
from tests.market_data import flat_prices
from tradmem import (
    FramePrices,
    MarkdownJournal,
    Memory,
    PostgresJournal,
    PriceError,
    Settings,
    Status,
    UsageError,
)
from tradmem.market.prices import PriceFault

NOW = datetime(2026, 2, 2, 12, tzinfo=UTC)
FAR = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def journal(postgres_log):
    with PostgresJournal(postgres_log, horizons=(5,)) as found:
        yield found


def pending(journal, count):
    names = []
    for number in range(count):
        day = DAY + timedelta(days=number % 5)
        names.append(journal.append(decision(f"n{number}", day=day, agent=f"a{number}"))[0].id)
    return set(names)


def ids(claim):
    return {entry.id for entry in claim.entries}


def queued(journal):
    """What a worker would find at any time; nothing of it stays claimed."""
    with journal.claim(FAR) as claim:
        return ids(claim)


def test_no_two_claims_hold_the_same_entry(journal):
    names = pending(journal, 10)
    with journal.claim(NOW, limit=4) as one, journal.claim(NOW) as two, journal.claim(NOW) as rest:
        assert len(one.entries) == 4
        assert ids(one) | ids(two) == names
        assert not ids(one) & ids(two)
        assert rest.entries == ()
    assert queued(journal) == names


def test_what_is_due_first_is_claimed_first_and_nothing_before_it_is_due(journal):
    for day in (date(2026, 1, 8), date(2026, 1, 5), date(2026, 1, 7)):
        journal.append(decision(day=day))
    with journal.claim(datetime(2026, 1, 7, 20, tzinfo=UTC)) as claim:
        assert [entry.date.day for entry in claim.entries] == [5, 7]
    with journal.claim(NOW, limit=1) as claim:
        assert [entry.date.day for entry in claim.entries] == [5]


def test_a_claim_can_be_had_of_some_tickers_or_ids_alone(journal):
    nvda, _ = journal.append(decision())
    aapl, _ = journal.append(decision(ticker="AAPL"))
    with journal.claim(NOW, tickers=["AAPL"]) as claim:
        assert ids(claim) == {aapl.id}
    with journal.claim(ids=[nvda.id]) as claim:
        assert ids(claim) == {nvda.id}


def test_a_worker_that_dies_loses_its_claim_after_the_lease(journal):
    names = pending(journal, 2)
    dead = journal.claim(NOW, lease=0.3)  # never entered: nothing renews it
    assert queued(journal) == set()
    time.sleep(0.4)
    assert queued(journal) == names == ids(dead)


def test_a_claim_is_renewed_while_its_worker_lives(journal):
    pending(journal, 2)
    with journal.claim(NOW, lease=0.3):
        time.sleep(0.8)
        assert queued(journal) == set()


def test_what_a_worker_stores_after_it_lost_its_claim_is_dropped(journal):
    (name,) = pending(journal, 1)
    slow = journal.claim(NOW, lease=0.1)
    time.sleep(0.2)
    with journal.claim(NOW) as quick:
        quick.add([(name, outcome(raw=0.01))])
        (entry,) = slow.add([(name, outcome(raw=0.02))])
        assert entry.additions == () or entry.outcome.raw_return == 0.01
    assert [a.outcome.raw_return for a in journal.get(name).additions] == [0.01]


def test_what_is_put_off_comes_up_when_it_is_due(journal):
    (name,) = pending(journal, 1)
    with journal.claim(NOW) as claim:
        claim.later({name: NOW + timedelta(days=1)})
    with journal.claim(NOW + timedelta(hours=23)) as claim:
        assert claim.entries == ()
    with journal.claim(NOW + timedelta(days=1)) as claim:
        assert ids(claim) == {name}


def test_what_is_finished_leaves_the_queue_and_comes_back_when_reopened(journal):
    (name,) = pending(journal, 1)
    journal.add([(name, outcome())])
    assert queued(journal) == {name}  # it lacks its lesson
    journal.add([(name, lesson())])
    assert queued(journal) == set()
    journal.add([(name, outcome(KNOWN + timedelta(days=9), raw=-0.1, alpha=-0.1))])
    assert queued(journal) == {name}


def test_a_resolved_entry_waits_for_its_further_horizons(postgres_log):
    with PostgresJournal(postgres_log, horizons=(5, 20)) as journal:
        (name,) = pending(journal, 1)
        journal.add([(name, outcome()), (name, lesson())])
        assert queued(journal) == {name}
        journal.add([(name, outcome(horizon=20))])
        assert queued(journal) == set()


def test_a_finished_entry_may_be_claimed_by_its_id_and_leaves_no_trace(journal):
    (name,) = pending(journal, 1)
    journal.add([(name, outcome()), (name, lesson())])
    with journal.claim(ids=[name]) as claim:
        assert ids(claim) == {name}
    assert queued(journal) == set()


def test_a_replaced_revision_leaves_the_queue(journal):
    first, _ = journal.append(decision("Rating: Buy"))
    second, _ = journal.append(decision("Rating: Sell"), on_conflict="revise")
    assert queued(journal) == {second.id} != {first.id}


class Counting:
    """Prices that say how often each ticker was asked for, from any thread."""

    def __init__(self, source, delay=0.0):
        self.source, self.delay = source, delay
        self.asked = Counter()
        self._lock = threading.Lock()

    def fetch(self, spans):
        time.sleep(self.delay)
        with self._lock:
            self.asked.update(list(spans))
        return self.source.fetch(spans)


class OnceEach:
    """A reflector that notes what it was asked about."""

    related = 0

    def __init__(self, inner):
        self.inner = inner
        self.asked = Counter()
        self._lock = threading.Lock()

    def reflect(self, cases):
        with self._lock:
            self.asked.update(case.entry.id for case in cases)
        return self.inner.reflect(cases)


def memory_on(log, prices, reflector=None, now=NOW):
    journal = PostgresJournal(log, horizons=(5,))
    return Memory(journal, prices=prices, reflector=reflector, clock=lambda: now)


def test_several_workers_fetch_and_reflect_on_each_entry_once(postgres_log):
    from tradmem import TemplateReflector

    tickers = [f"T{number}" for number in range(40)]
    prices = Counting(flat_prices([*tickers, "SPY"]), delay=0.01)
    reflector = OnceEach(TemplateReflector())
    memories = [memory_on(postgres_log, prices, reflector) for _ in range(4)]
    names = [
        memories[0]
        .record(t, "2026-01-05", "Rating: Buy", decided_at="2026-01-05T15:00:00Z")
        .entry.id
        for t in tickers
    ]

    def drain(memory):
        for report in memory.work(batch=3):
            assert not report.failed

    threads = [threading.Thread(target=drain, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {prices.asked[ticker] for ticker in tickers} == {1}
    assert reflector.asked == Counter(names)
    entries = memories[0].entries()
    assert {entry.status for entry in entries} == {Status.RESOLVED}
    assert {len(entry.additions) for entry in entries} == {2}
    for memory in memories:
        memory.journal.close()


def test_a_worker_leaves_what_is_not_due_until_it_is(postgres_log):
    prices = Counting(flat_prices(["NVDA", "SPY"]))
    early = memory_on(postgres_log, prices, now=datetime(2026, 1, 7, 12, tzinfo=UTC))
    early.record("NVDA", "2026-01-05", "Rating: Buy", decided_at="2026-01-05T15:00:00Z")
    (report,) = early.work()
    (told,) = report.not_due
    assert list(early.work()) == []
    assert not prices.asked
    at_last = memory_on(postgres_log, prices, now=told.due)
    (report,) = at_last.work()
    assert len(report.settled) == len(report.reflected) == 1
    for memory in (early, at_last):
        memory.journal.close()


class Down:
    def fetch(self, spans):
        return {t: PriceError(PriceFault.UNREACHABLE, t) for t in spans}


def test_a_worker_asks_again_for_what_failed_after_a_while(postgres_log):
    memory = memory_on(postgres_log, Down())
    memory.record("NVDA", "2026-01-05", "Rating: Buy", decided_at="2026-01-05T15:00:00Z")
    assert [len(report.failed) for report in memory.work()] == [1]
    soon = memory_on(postgres_log, Down(), now=NOW + timedelta(minutes=4))
    assert list(soon.work()) == []
    later = memory_on(postgres_log, flat_prices(["NVDA", "SPY"]), now=NOW + timedelta(minutes=5))
    assert [len(report.settled) for report in later.work()] == [1]
    for each in (memory, soon, later):
        each.journal.close()


def test_a_worker_stops_between_two_batches(postgres_log):
    memory = memory_on(postgres_log, flat_prices(["A", "B", "C", "SPY"]))
    for ticker in "ABC":
        memory.record(ticker, "2026-01-05", "Rating: Buy", decided_at="2026-01-05T15:00:00Z")
    done = []
    for report in memory.work(batch=1, stop=lambda: len(done) == 2):
        done.append(report)  # noqa: PERF402 - stop looks at it meanwhile
    assert len(done) == 2
    assert len(memory.entries(status="pending")) == 1
    memory.journal.close()


def test_a_plain_resolve_leaves_alone_what_a_worker_is_at(postgres_log):
    memory = memory_on(postgres_log, flat_prices(["A", "B", "SPY"]))
    a, b = (
        memory.record(t, "2026-01-05", "Rating: Buy", decided_at="2026-01-05T15:00:00Z").entry
        for t in "AB"
    )
    with memory.journal.claim(ids=[a.id]):
        report = memory.resolve()
        assert [told.entry.id for told in report.settled] == [b.id]
    assert [told.entry.id for told in memory.resolve().settled] == [a.id]
    memory.journal.close()


def test_a_file_has_no_work_queue(tmp_path):
    memory = Memory(MarkdownJournal(tmp_path / "memory.md"), prices=FramePrices({}))
    with pytest.raises(UsageError, match="PostgreSQL"):
        memory.work()


def test_settings_of_several_horizons_are_worked_off_too(postgres_log):
    journal = PostgresJournal(postgres_log, horizons=(5, 10))
    memory = Memory(
        journal,
        prices=flat_prices(["NVDA", "SPY"]),
        settings=Settings(horizons=(5, 10)),
        clock=lambda: NOW,
    )
    memory.record("NVDA", "2026-01-05", "Rating: Buy", decided_at="2026-01-05T15:00:00Z")
    while list(memory.work()):
        pass
    (entry,) = memory.entries()
    assert [found.horizon for found in entry.outcomes] == [5, 10]
    assert queued(journal) == set()
    journal.close()


def test_what_was_recorded_is_filed_once_by_whoever_asks_first(journal):
    names = pending(journal, 30)
    found = []
    asking = [threading.Thread(target=lambda: found.append(journal.unfinished())) for _ in range(6)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert [{entry.id for entry in entries} for entries in found] == [names] * 6
    assert [len(entries) for entries in found] == [30] * 6
    assert queued(journal) == names
    assert len(journal.passages().passages) == 30

"""The audit finds each planted leak, and nothing in a log without one."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.governance_world import START, WHY, Life, on
from tests.journal.making import decision, lesson, note, outcome
from tradmem import (
    Addition,
    FramePrices,
    MarkdownJournal,
    Memory,
    RamJournal,
    Rating,
    Settings,
)
from tradmem.audit import Leak, audit
from tradmem.demo.run import run_demo
from tradmem.journal.block import fold_now
from tradmem.market.calendars import today
from tradmem.market.symbols import benchmark_of

pytestmark = pytest.mark.leaky
SECOND = timedelta(seconds=1)


@pytest.fixture(params=["markdown", "ram"])
def life(request, tmp_path):
    """Two lessons, a note, and nothing wrong so far."""
    markdown = request.param == "markdown"
    life = Life(MarkdownJournal(tmp_path / "memory.md") if markdown else RamJournal())
    life.own = life.learn(0, "Earnings move it.", links=[])
    life.other = life.learn(1, "Rates move it.", ticker="AAPL", rating=Rating.SELL, alpha=-0.03)
    life.day(3)
    life.note = life.memory.note("NVDA guides low.", ticker="NVDA").entry.id
    return life


def decide(life, number, recalled, **more):
    """A decision of a day on NVDA, as a program would have stored it then."""
    at = life.day(number)
    known = {"decided_at": at, "recorded_at": at, "recalled_as_of": at, "recalled": tuple(recalled)}
    recorded = decision(f"Day {number}.", day=on(number), **(known | more))
    return life.journal.append(recorded)[0].id


def settle(life, name, number, **more):
    """An outcome of an entry, known on a day and stored an hour later."""
    told = outcome(life.day(number), **more)
    life.journal.add([(name, told)])
    return told


def day_close(number):
    """When New York closes on a day of January."""
    return START.replace(hour=21) + timedelta(days=number)


def an_unknown_id(life):
    decide(life, 10, [life.own, "0123456789ab"])


def an_outcome_known_after_the_recall(life):
    decide(life, 6, [life.own])


def an_outcome_known_between_recall_and_decision(life):
    decide(life, 7, [life.own], recalled_as_of=life.day(7) - timedelta(hours=1))


def a_note_of_later(life):
    later = note("Known only since.", at=life.day(12), day=on(2))
    name = life.journal.append(later)[0].id
    decide(life, 10, [name])


def a_decision_without_outcome(life):
    pending = decide(life, 9, [])
    decide(life, 10, [pending])


def an_outcome_stored_after_the_decision_that_saw_it(life):
    pending = decide(life, 2, [])
    late = replace(outcome(life.day(9)), at=life.day(11))
    life.journal.add([(pending, late)])
    decide(life, 10, [pending])


def a_lesson_of_another_ticker_written_after_the_decision_that_saw_it(life):
    recorded = decision("AMD.", day=on(2), ticker="AMD", decided_at=life.day(2))
    name = life.journal.append(replace(recorded, recorded_at=life.day(2)))[0].id
    settle(life, name, 9)
    life.journal.add([(name, lesson("Too late.", at=life.day(11)))])
    decide(life, 10, [name])


def a_memory_that_was_forgotten_by_then(life):
    life.day(9)
    life.memory.forget(life.own, **WHY)
    decide(life, 10, [life.own])


def a_memory_that_had_expired_by_then(life):
    life.day(5)
    life.memory.expire(life.note, life.day(8), **WHY)
    decide(life, 10, [life.note])


def a_recall_after_the_decision(life):
    decide(life, 10, [life.own], recalled_as_of=life.day(10) + timedelta(seconds=1))


def a_record_before_the_decision(life):
    decide(life, 10, [life.own], recorded_at=life.day(10) - timedelta(seconds=1))


def a_citation_of_what_came_later(life):
    decide(life, 5, [], cited=(life.own,))


def an_outcome_known_before_its_exit(life):
    name = decide(life, 2, [])
    settle(life, name, 9, entry_date=on(2), exit_date=on(10))


def an_outcome_known_on_the_day_of_its_exit_before_the_close(life):
    name = decide(life, 2, [])
    settle(life, name, 9, entry_date=on(2), exit_date=on(9))


def an_outcome_known_an_hour_after_the_close_before_it_was_final(life):
    name = decide(life, 2, [])
    told = outcome(day_close(9) + timedelta(hours=1), entry_date=on(2), exit_date=on(9))
    life.journal.add([(name, told)])


def a_benchmark_that_ends_after_the_outcome_was_known(life):
    name = decide(life, 2, [])
    settle(life, name, 9, exit_date=on(8), benchmark_exit_date=on(10))


def a_benchmark_that_closes_later_in_the_day_than_its_ticker(life):
    name = decide(life, 2, [], ticker="7203.T")
    settle(life, name, 9, entry_date=on(3), exit_date=on(9), benchmark_exit_date=on(9))


def an_outcome_given_up_before_its_wait_was_over(life):
    name = decide(life, 2, [])
    told = {"entry_date": on(2), "exit_date": on(3), "flags": ("stopped",)}
    settle(life, name, 30, **told)


def an_outcome_known_before_its_decision(life):
    name = decide(life, 12, [])
    life.journal.add([(name, outcome(life.day(11)))])


def an_entry_before_the_decision(life):
    name = decide(life, 2, [])
    settle(life, name, 9, entry_date=on(1), exit_date=on(8))


def an_entry_on_a_day_before_the_date_that_is_all_that_is_known(life):
    name = decide(life, 2, [], decided_at=None)
    settle(life, name, 9, entry_date=on(1), exit_date=on(8))


def an_entry_at_a_close_an_hour_before_the_decision(life):
    late = day_close(2) + timedelta(hours=1)
    name = decide(life, 2, [], decided_at=late, recorded_at=late, recalled_as_of=late)
    settle(life, name, 9, entry_date=on(2), exit_date=on(8))


def an_entry_at_the_very_close_at_which_it_was_decided(life):
    close = day_close(2)
    name = decide(life, 2, [], decided_at=close, recorded_at=close, recalled_as_of=close)
    settle(life, name, 9, entry_date=on(2), exit_date=on(8))


def an_entry_at_the_early_close_of_half_a_day(life):
    """New York closes at 18:00 UTC on the day after Thanksgiving."""
    number = (date(2026, 11, 27) - on(0)).days
    late = life.day(number) + timedelta(hours=3, minutes=30)
    name = decide(life, number, [], decided_at=late, recorded_at=late, recalled_as_of=late)
    settle(life, name, number + 8, entry_date=on(number), exit_date=on(number + 7))


def an_outcome_stamped_before_it_was_known(life):
    name = decide(life, 2, [])
    settle(life, name, 9, at=life.day(8))


def a_lesson_written_before_its_outcome(life):
    name = decide(life, 2, [])
    settle(life, name, 9)
    life.journal.add([(name, lesson("It knew.", at=life.day(9)))])


def a_lesson_that_builds_on_a_later_one(life):
    later = life.learn(6, "Known on day 13.")
    name = decide(life, 2, [])
    settle(life, name, 9)
    life.journal.add([(name, lesson("It knew.", at=life.day(14), links=[later]))])


def a_forgetting_that_claims_to_be_older(life):
    claim = Addition(kind="forget", at=life.day(12), known_at=life.day(9), data={"reason": "x"})
    life.journal.add([(life.own, claim)])


def a_supersession_by_what_came_later(life):
    later = decide(life, 12, [])
    act = Addition(kind="supersede", at=life.day(11), data={"by": later})
    life.journal.add([(life.own, act)])


LEAKS = {
    an_unknown_id: Leak.UNKNOWN,
    an_outcome_known_after_the_recall: Leak.NOT_KNOWN,
    an_outcome_known_between_recall_and_decision: Leak.NOT_KNOWN,
    a_note_of_later: Leak.NOT_KNOWN,
    a_decision_without_outcome: Leak.NOT_KNOWN,
    an_outcome_stored_after_the_decision_that_saw_it: Leak.NOT_STORED,
    a_lesson_of_another_ticker_written_after_the_decision_that_saw_it: Leak.NOT_STORED,
    a_memory_that_was_forgotten_by_then: Leak.HIDDEN,
    a_memory_that_had_expired_by_then: Leak.HIDDEN,
    a_recall_after_the_decision: Leak.LATE_RECALL,
    a_record_before_the_decision: Leak.EARLY_RECORD,
    a_citation_of_what_came_later: Leak.NOT_KNOWN,
    an_outcome_known_before_its_exit: Leak.EARLY_OUTCOME,
    an_outcome_known_on_the_day_of_its_exit_before_the_close: Leak.EARLY_OUTCOME,
    an_outcome_known_an_hour_after_the_close_before_it_was_final: Leak.EARLY_OUTCOME,
    a_benchmark_that_ends_after_the_outcome_was_known: Leak.EARLY_OUTCOME,
    a_benchmark_that_closes_later_in_the_day_than_its_ticker: Leak.EARLY_OUTCOME,
    an_outcome_given_up_before_its_wait_was_over: Leak.EARLY_OUTCOME,
    an_outcome_known_before_its_decision: Leak.EARLY_OUTCOME,
    an_entry_before_the_decision: Leak.EARLY_ENTRY,
    an_entry_on_a_day_before_the_date_that_is_all_that_is_known: Leak.EARLY_ENTRY,
    an_entry_at_a_close_an_hour_before_the_decision: Leak.EARLY_ENTRY,
    an_entry_at_the_very_close_at_which_it_was_decided: Leak.EARLY_ENTRY,
    an_entry_at_the_early_close_of_half_a_day: Leak.EARLY_ENTRY,
    an_outcome_stamped_before_it_was_known: Leak.EARLY_STAMP,
    a_lesson_written_before_its_outcome: Leak.EARLY_LESSON,
    a_lesson_that_builds_on_a_later_one: Leak.NOT_KNOWN,
    a_forgetting_that_claims_to_be_older: Leak.BACKDATED,
    a_supersession_by_what_came_later: Leak.NOT_KNOWN,
}


@pytest.mark.parametrize(("plant", "leak"), LEAKS.items(), ids=[plant.__name__ for plant in LEAKS])
def test_a_planted_leak_is_found_and_nothing_beside_it(life, plant, leak):
    assert life.memory.audit() == ()
    plant(life)
    found = life.memory.audit()
    assert [finding.leak for finding in found] == [leak]
    assert "\n" not in str(found[0])
    assert found[0].entry.id in str(found[0])


HONEST = {
    "final to the second": ("NVDA", "2026-01-07T15:00Z", "2026-01-14T23:00Z", {}),
    "a second before the close": ("NVDA", "2026-01-07T20:59:59Z", "2026-01-14T23:00Z", {}),
    "Tokyo, by the benchmark of Tokyo": (
        *("7203.T", "2026-01-07T01:00Z", "2026-01-14T08:30Z"),
        {"benchmark": "^N225", "benchmark_exit_date": on(9)},
    ),
    "crypto, on a Saturday": (
        *("ETH-USD", "2026-01-07T15:00Z", "2026-01-18T02:00Z"),
        {"exit_date": on(12), "benchmark": "BTC-USD", "benchmark_exit_date": on(12)},
    ),
    "no calendar": ("ABC.XX", "2026-01-07T22:30Z", "2026-01-14T09:00Z", {"benchmark": None}),
    "no session": ("NVDA", "2026-01-07T15:00Z", "2026-01-17T04:00Z", {"exit_date": on(12)}),
    "days not published then": (
        *("0700.HK", "2026-01-07T20:00Z", "2026-01-14T05:00Z"),
        {"flags": ("calendar_weekdays",)},
    ),
    "accepted by a person": (
        *("NVDA", "2026-01-07T15:00Z", "2026-01-20T09:00Z"),
        {"flags": ("accepted",)},
    ),
    "given up in the end": (
        *("NVDA", "2026-01-07T15:00Z", "2026-02-13T23:00Z"),
        {"exit_date": on(3), "flags": ("stopped",)},
    ),
}


@pytest.mark.parametrize(("ticker", "decided", "known", "more"), HONEST.values(), ids=HONEST)
def test_an_outcome_known_as_soon_as_its_last_close_is_final_is_no_leak(
    ticker, decided, known, more
):
    """Nor is one of which no calendar tells, while its dates are in order."""
    life = Life(RamJournal())
    at, known_at = datetime.fromisoformat(decided), datetime.fromisoformat(known)
    stamps = {"decided_at": at, "recorded_at": at, "recalled_as_of": at}
    name = decide(life, 2, [], ticker=ticker, **stamps)
    told = outcome(known_at, **({"entry_date": on(2), "exit_date": on(9)} | more))
    life.journal.add([(name, told)])
    assert life.memory.audit() == ()


def settled_in_tokyo(life, ticker):
    """The id of a decision whose outcome is known two hours after its last close in Tokyo."""
    at = datetime.fromisoformat("2026-01-07T01:00Z")
    stamps = {"decided_at": at, "recorded_at": at, "recalled_as_of": at}
    name = decide(life, 2, [], ticker=ticker, **stamps)
    known_at = datetime.fromisoformat("2026-01-14T08:30Z")
    told = outcome(known_at, entry_date=on(2), exit_date=on(9), benchmark=None)
    life.journal.add([(name, told)])
    return name


def test_a_ticker_that_a_person_typed_has_the_calendar_of_another(tmp_path):
    """The closes of a share of Tokyo are final hours before those of the name typed over it."""
    life = Life(MarkdownJournal(tmp_path / "memory.md"))
    name = settled_in_tokyo(life, "7203.T")
    assert life.memory.audit() == ()
    path = life.journal.path
    typed = path.read_text(encoding="utf-8").replace("| 7203.T |", "| NVDA |", 1)
    path.write_text(typed, encoding="utf-8")
    assert life.memory.get(name).edited == ("ticker",)
    assert life.memory.audit() == ()


def test_an_alias_tells_whose_calendar_counts():
    life = Life(RamJournal(), settings=Settings(aliases={"TOYOTA": "7203.T"}))
    settled_in_tokyo(life, "TOYOTA")
    assert life.memory.audit() == ()
    assert [found.leak for found in Memory(life.journal).audit()] == [Leak.EARLY_OUTCOME]


EVERYWHERE = ("NVDA", "7203.T", "SHEL.L", "ETH-USD", "BTC-USD", "EURUSD=X", "ES=F", "ABC.XX")
GONE, ALONE = "GONE", "SAP.DE"  # of one the closes end, of the other there is no benchmark


def test_whatever_a_resolver_settles_is_clean_and_a_second_earlier_is_a_leak():
    """On every kind of calendar, around holidays, early closes and the change of the clocks."""
    days = [date(2025, 2, 1) + timedelta(days=n) for n in range(400)]
    names = {*EVERYWHERE, GONE, ALONE, *filter(None, map(benchmark_of, EVERYWHERE))}
    closes = {name: {day: 100 + day.day / 10 for day in days} for name in names}
    closes[GONE] = {day: 50.0 for day in days if day < date(2025, 11, 27)}
    now = START
    prices, settings = FramePrices(closes), Settings(benchmark={"SHEL.L": "SPY"})
    memory = Memory(RamJournal(), prices=prices, settings=settings, clock=lambda: now)
    for start in ("2025-03-07T13:00Z", "2025-11-24T23:30Z", "2025-12-24T05:00Z"):
        for hour in (0, 15, 40):
            at = datetime.fromisoformat(start) + timedelta(hours=hour)
            for name in (*EVERYWHERE, GONE, ALONE):
                now = at
                memory.record(name, today(name, at), "Buy", rating="Buy", agent=f"{at:%d%H}")
    now = datetime(2026, 4, 1, tzinfo=UTC)
    settled = memory.resolve(reflect=False).settled
    assert len(settled) > 70
    flags = {flag for told in settled for flag in told.entry.outcome.flags}
    assert {"stopped", "no_benchmark", "calendar_weekdays", "asynchronous"} <= flags
    assert memory.audit() == ()
    for told in settled:
        early = replace(told.entry.outcome, known_at=told.entry.outcome.known_at - SECOND)
        forged = fold_now(told.entry.recorded, [replace(told.entry.additions[0], outcome=early)])
        waited = {"stopped", "no_benchmark", "calendar_weekdays"} & set(early.flags)
        assert [found.leak for found in audit([forged])] == [Leak.EARLY_OUTCOME] * (not waited)


def test_a_leak_is_found_in_the_archive_too(tmp_path):
    life = Life(MarkdownJournal(tmp_path / "memory.md", max_resolved=1))
    first = life.learn(0, "One.")
    leaking = decide(life, 3, [first])
    settle(life, leaking, 10)
    life.journal.add([(leaking, lesson("Two.", at=life.day(11)))])
    for number in range(20, 27):
        life.learn(number, f"Lesson {number}.")
    assert life.memory.get(leaking).archived
    (found,) = life.memory.audit()
    assert (found.entry.id, found.other, found.leak) == (leaking, first, Leak.NOT_KNOWN)


def test_a_recall_that_was_taken_back_later_was_no_leak(life):
    """What a person does afterwards makes no liar of a decision that saw the lesson."""
    saw = decide(life, 10, [life.own, life.note, life.other], cited=(life.own,))
    life.day(11)
    life.memory.forget(life.own, **WHY)
    life.memory.expire(life.note, life.day(12), **WHY)
    life.day(20)
    life.memory.undo(life.own, **WHY)
    life.journal.add([(life.own, outcome(life.day(25), alpha=-0.02))])
    life.journal.add([(life.other, Addition(kind="reopen", at=life.day(26)))])
    life.memory.consolidate(least=2, **WHY)
    assert life.memory.audit() == ()
    assert life.memory.get(saw).recalled == (life.own, life.note, life.other)


def test_pending_typed_back_makes_no_leak_of_who_saw_the_lesson(tmp_path):
    life = Life(MarkdownJournal(tmp_path / "memory.md"))
    own = life.learn(0, "Earnings move it.")
    decide(life, 10, [own])
    path = life.journal.path
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[0] = "[2026-01-05 | NVDA | Buy | pending]"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert life.memory.get(own).status == "pending"
    assert life.memory.audit() == ()


def test_whatever_recall_gives_can_be_recorded_and_audited(life):
    """A consolidated note, a note with an end and a superseded lesson, each seen in its time."""
    for number in range(2, 5):
        life.learn(number, f"Guidance came late, and {'abc'[number - 2]} first.", tags=["late"])
    for number in range(14, 30):
        life.day(number)
        if number == 18:
            told = life.memory.consolidate(tag="late", **WHY)[0].note
        if number == 21:
            life.memory.supersede(life.own, life.other, **WHY)
        if number == 24:
            life.memory.expire(life.note, life.day(26), **WHY)
            life.day(24)
        seen = life.memory.recall("NVDA")
        life.memory.record("NVDA", on(number), f"Rating: Hold\n{number}", recalled=seen)
    seen = {name for entry in life.memory.entries() for name in entry.recalled}
    assert {life.own, life.other, life.note, told.id, *told.links} <= seen
    assert life.memory.audit() == ()


def test_a_log_of_another_program_has_nothing_to_audit(tmp_path):
    path = tmp_path / "memory.md"
    path.write_text(
        "[2026-01-05 | NVDA | Buy | +6.0% | +4.5% | 5d]\n\nDECISION:\nBuy.\n\n"
        "REFLECTION:\nRight.\n\n<!-- ENTRY_END -->\n\n",
        encoding="utf-8",
    )
    assert Memory.open(path).audit() == ()


def test_the_demo_never_looks_ahead(tmp_path):
    run_demo(tmp_path / "demo.md")
    memory = Memory.open(tmp_path / "demo.md")
    assert sum(len(entry.recalled) for entry in memory.entries()) > 1000
    assert memory.audit() == ()

"""The memory as its users call it: record, resolve, recall, note, forget."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tradmem import (
    ConflictError,
    FramePrices,
    LogBusy,
    MarkdownJournal,
    Memory,
    PostgresJournal,
    RamJournal,
    Settings,
    Status,
    TradmemError,
    UnknownEntry,
    UsageError,
)
from tradmem.lessons.reflect import Fault, FaultKind
from tradmem.stated import conflict

CASES = json.loads((Path(__file__).parent / "data" / "outcomes.json").read_text(encoding="utf-8"))
LATE = datetime(2026, 12, 1, tzinfo=UTC)


class Clock:
    """A clock that the test sets."""

    def __init__(self, now: str) -> None:
        self.set(now)

    def set(self, now: str) -> None:
        self.now = datetime.fromisoformat(now).replace(tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def weekdays(start: str, closes: list[float]) -> dict[str, float]:
    day, out = date.fromisoformat(start), {}
    for close in closes:
        while day.weekday() > 4:
            day += timedelta(days=1)
        out[day.isoformat()] = close
        day += timedelta(days=1)
    return out


def two_weeks(nvda: float = 106.0) -> FramePrices:
    """NVDA from 100 to ``nvda`` and SPY from 400 to 406 over five sessions from 2026-01-05."""
    return FramePrices(
        {
            "NVDA": weekdays("2026-01-05", [100, 101, 102, 103, 104, nvda, nvda, nvda]),
            "SPY": weekdays("2026-01-05", [400, 401, 402, 403, 404, 406, 406, 406]),
        }
    )


@pytest.fixture(params=["markdown", "ram", "postgres"])
def journal(request, tmp_path):
    if request.param == "postgres":
        with PostgresJournal(request.getfixturevalue("postgres_log")) as found:
            yield found
        return
    yield MarkdownJournal(tmp_path / "memory.md") if request.param == "markdown" else RamJournal()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_worked_case_ends_as_it_should(case, tmp_path):
    now = datetime.fromisoformat(case["now"]) if "now" in case else LATE
    memory = Memory(
        MarkdownJournal(tmp_path / "memory.md"),
        prices=FramePrices(case["bars"]),
        settings=Settings(benchmark=case["benchmark"], horizons=(case["horizon"],)),
        clock=lambda: now,
    )
    done = memory.record(
        case["ticker"], case["date"], "Rating: Buy", decided_at=case.get("decided_at")
    )
    report = memory.resolve(as_of=case["as_of"])
    entry = memory.get(done.entry.id)
    expected = dict(case["expect"])
    status = expected.pop("status")
    if status == "unresolvable":
        assert entry.status is Status.UNRESOLVABLE
        assert entry.reason
    elif status == "settled":
        assert [item.entry.id for item in report.settled] == [entry.id]
        assert set(expected.pop("flags", [])) <= set(entry.outcome.flags)
        for name, value in expected.items():
            found = getattr(entry.outcome, "raw_return" if name == "raw" else name)
            if isinstance(value, float):
                assert found == pytest.approx(value, abs=2e-6)
            else:
                assert (found.isoformat() if isinstance(found, date) else found) == value
    else:
        assert entry.status is Status.PENDING
        assert [item.entry.id for item in getattr(report, status)] == [entry.id]
        assert getattr(report, status)[0].reason


def test_one_decision_through_its_life(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, prices=two_weeks(), clock=clock)
    done = memory.record("nvda", "2026-01-05", "**Rating**: Buy\nEnter near 100.")
    assert (done.status, done.entry.status, done.entry.rating) == ("recorded", "pending", "Buy")
    assert memory.recall("NVDA").text == ""

    clock.set("2026-01-12T22:59")
    assert [item.entry.id for item in memory.resolve().not_due] == [done.entry.id]
    clock.set("2026-01-12T23:00")
    report = memory.resolve()
    assert [item.entry.id for item in report.settled] == [done.entry.id]
    entry = memory.get(done.entry.id)
    assert entry.status is Status.RESOLVED
    assert entry.verdict == "right"
    assert "+4.5%" in entry.reflection

    seen = memory.recall("NVDA")
    assert seen.ids == (entry.id,)
    assert entry.reflection in seen.text
    assert "Enter near 100." in seen.text
    assert memory.recall("AAPL").ids == (entry.id,)
    assert "Enter near 100." not in memory.recall("AAPL").text
    assert memory.recall("NVDA", as_of="2026-01-12T22:59:00Z").text == ""

    again = memory.record("NVDA", "2026-01-12", "Rating: Hold", recalled=seen)
    assert again.entry.recalled == (entry.id,)
    assert again.entry.recorded.recalled_as_of == clock.now


def test_recording_twice_is_a_no_op_and_another_text_is_told(journal):
    memory = Memory(journal, clock=Clock("2026-01-05T15:00"))
    first = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    assert memory.record("NVDA", "2026-01-05", "Rating: Buy").status == "unchanged"
    assert memory.record("NVDA", "2026-01-05", "Rating: Sell").status == "kept"
    with pytest.raises(ConflictError, match=first.id):
        memory.record("NVDA", "2026-01-05", "Rating: Sell", on_conflict="error")
    revised = memory.record("NVDA", "2026-01-05", "Rating: Sell", on_conflict="revise")
    assert (revised.status, revised.entry.revision) == ("revised", 1)
    assert len(memory.entries()) == 2


def test_a_decision_cannot_be_revised_once_its_entry_session_has_closed(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, clock=clock)
    memory.record("NVDA", "2026-01-05", "Rating: Buy")
    clock.set("2026-01-05T20:59:59")
    memory.record("NVDA", "2026-01-05", "Rating: Hold", on_conflict="revise")
    clock.set("2026-01-06T21:00")
    with pytest.raises(ConflictError, match="entry session"):
        memory.record("NVDA", "2026-01-05", "Rating: Sell", on_conflict="revise")
    assert [entry.rating for entry in memory.entries()] == ["Buy", "Hold"]


def test_a_bare_date_means_just_before_its_close(journal):
    memory = Memory(journal, clock=Clock("2026-02-01T12:00"))
    entry = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    assert entry.decided_at == datetime(2026, 1, 5, 20, 59, 59, tzinfo=UTC)
    assert set(entry.recorded.flags) == {"date_only", "late"}


@pytest.mark.parametrize("ticker", ["A|B", "NVDA\n", "../x", "", "A" * 40, "NV DA", "ÄPFEL", "]"])
def test_an_impossible_ticker_is_refused_and_nothing_is_written(ticker, tmp_path):
    memory = Memory.open(tmp_path / "logs" / "memory.md")
    with pytest.raises(UsageError, match="ticker"):
        memory.record(ticker, "2026-01-05", "Rating: Buy")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "day", ["2026-02-30", "20260105", "yesterday", "2026-01-05T10:00", "2099-01-01"]
)
def test_an_impossible_date_is_refused_and_nothing_is_written(day, tmp_path):
    memory = Memory.open(tmp_path / "logs" / "memory.md", clock=Clock("2026-01-06T12:00"))
    with pytest.raises(UsageError, match=r"date|today"):
        memory.record("NVDA", day, "Rating: Buy")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "wrong",
    [
        {"rating": "Strong"},
        {"horizon": 0},
        {"horizon": 2.5},
        {"agent": "a|b"},
        {"agent": "a\nb"},
        {"decided_at": "2026-01-07T10:00:00Z"},
        {"decided_at": "2026-01-05T10:00:00"},
        {"on_conflict": "overwrite"},
        {"recalled": "abc"},
    ],
    ids=str,
)
def test_a_wrong_argument_is_refused_in_one_line(wrong, journal):
    memory = Memory(journal, clock=Clock("2026-01-06T12:00"))
    with pytest.raises(UsageError) as caught:
        memory.record("NVDA", "2026-01-05", "Rating: Buy", **wrong)
    assert "\n" not in str(caught.value)
    assert memory.entries() == []


def test_a_text_without_a_rating_is_stored_unrated_and_has_no_verdict(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, prices=two_weeks(), clock=clock)
    entry = memory.record("NVDA", "2026-01-05", "We wait.").entry
    assert entry.rating is None
    clock.set("2026-01-13T12:00")
    memory.resolve()
    entry = memory.get(entry.id)
    assert (entry.status, entry.verdict) == (Status.RESOLVED, None)


def test_a_note_takes_a_place_and_is_known_from_its_storing_on(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, clock=clock)
    note = memory.note("NVDA guides low.", ticker="nvda", date="2026-01-02").entry
    market = memory.note("Thin markets before the holiday.").entry
    assert (note.status, note.ticker, market.ticker) == ("note", "NVDA", "*")
    assert memory.note("NVDA guides low.", ticker="NVDA", date="2026-01-02").status == "unchanged"
    assert memory.recall("NVDA").ids == (note.id, market.id)
    assert memory.recall("NVDA", as_of="2026-01-05T14:59:59Z").ids == ()
    assert memory.entries(as_of="2026-01-04") == []


def test_forgetting_hides_from_recall_and_stays_in_the_file(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, prices=two_weeks(), clock=clock)
    entry = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    clock.set("2026-01-13T12:00")
    memory.resolve()
    clock.set("2026-01-14T12:00")
    assert memory.forget(entry.id[:6], reason="wrong ticker").hidden
    assert memory.recall("NVDA").ids == ()
    assert memory.recall("NVDA", as_of="2026-01-14T11:59:59Z").ids == (entry.id,)
    assert memory.get(entry.id).verdict == "right"
    with pytest.raises(UnknownEntry, match="000000000000"):
        memory.forget("000000000000", reason="x")
    with pytest.raises(UsageError, match="reason"):
        memory.forget(entry.id, reason=" ")


def test_pending_typed_back_asks_again_and_the_answer_is_known_when_it_came(tmp_path):
    path, clock = tmp_path / "memory.md", Clock("2026-01-05T15:00")
    memory = Memory(MarkdownJournal(path), prices=two_weeks(), clock=clock)
    entry = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    clock.set("2026-01-13T12:00")
    memory.resolve()
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[0] = "[2026-01-05 | NVDA | Buy | pending]"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert memory.get(entry.id).status is Status.PENDING

    clock.set("2026-01-20T12:00")
    again = Memory(MarkdownJournal(path), prices=two_weeks(nvda=98.0), clock=clock)
    again.resolve()
    entry = again.get(entry.id)
    assert entry.verdict == "wrong"
    assert entry.outcome.raw_return == pytest.approx(-0.02)
    assert entry.outcome.known_at == clock.now
    assert again.recall("NVDA", as_of="2026-01-20T11:59:00Z").text.count("-2.0%") == 0


def test_a_recheck_adds_a_correction_and_an_earlier_read_shows_the_earlier_number(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, prices=two_weeks(), clock=clock)
    entry = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    clock.set("2026-01-13T12:00")
    memory.resolve()
    clock.set("2026-01-20T12:00")
    assert memory.resolve(recheck=True).settled == ()
    later = Memory(journal, prices=two_weeks(nvda=103.0), clock=clock)
    assert [item.entry.id for item in later.resolve(recheck=True).settled] == [entry.id]
    assert later.get(entry.id).outcome.raw_return == pytest.approx(0.03)
    assert "corrected" in later.get(entry.id).outcome.flags
    assert later.entries(as_of="2026-01-19")[0].outcome.raw_return == pytest.approx(0.06)
    assert later.resolve(recheck=True).settled == ()


def test_a_suspect_waits_for_a_person_and_is_known_when_accepted(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, prices=two_weeks(nvda=210.0), clock=clock)
    entry = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    clock.set("2026-06-13T12:00")
    assert [item.entry.id for item in memory.resolve().suspect] == [entry.id]
    assert memory.get(entry.id).status is Status.PENDING
    clock.set("2026-06-14T12:00")
    memory.resolve(accept=[entry.id[:8]])
    assert memory.get(entry.id).outcome.known_at == clock.now
    assert memory.recall("NVDA", as_of="2026-06-14T11:00:00Z").ids == ()


def test_what_was_given_up_is_retried_on_request(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, prices=FramePrices({"SPY": {"2026-01-05": 1.0}}), clock=clock)
    entry = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    clock.set("2026-03-01T12:00")
    assert [item.entry.id for item in memory.resolve().unresolvable] == [entry.id]
    memory = Memory(journal, prices=two_weeks(), clock=clock)
    assert memory.resolve().settled == ()
    memory.resolve(retry_unresolvable=True)
    assert memory.get(entry.id).status is Status.RESOLVED
    assert memory.get(entry.id).outcome.known_at == clock.now


def test_further_horizons_are_added_when_they_fall_due(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, prices=two_weeks(), settings=Settings(horizons=(5, 1)), clock=clock)
    entry = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    clock.set("2026-01-13T12:00")
    memory.resolve()
    memory.resolve()
    entry = memory.get(entry.id)
    assert [outcome.horizon for outcome in entry.outcomes] == [5, 1]
    assert entry.outcomes[1].raw_return == pytest.approx(0.01)
    assert entry.outcome.horizon == 5
    assert entry.status is Status.RESOLVED


def test_a_price_failure_ends_nothing_and_the_next_run_goes_on(journal):
    class Down:
        def fetch(self, spans):
            raise ConnectionError("no route")

    clock = Clock("2026-01-05T15:00")
    entry = Memory(journal, clock=clock).record("NVDA", "2026-01-05", "Rating: Buy").entry
    clock.set("2026-06-13T12:00")
    report = Memory(journal, prices=Down(), clock=clock).resolve()
    assert "no route" in report.failed[0].reason
    Memory(journal, prices=two_weeks(), clock=clock).resolve()
    assert journal.get(entry.id).status is Status.RESOLVED


def test_a_failing_reflector_keeps_the_outcome_and_the_entry_due(journal):
    class Broken:
        related = 0

        def reflect(self, cases):
            return (Fault(kind=FaultKind.TIMED_OUT, message="the model timed out") for _ in cases)

    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, prices=two_weeks(), reflector=Broken(), clock=clock)
    entry = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    clock.set("2026-01-13T12:00")
    report = memory.resolve()
    assert [item.reason for item in report.failed] == ["the model timed out"]
    assert journal.get(entry.id).status is Status.SETTLED
    assert "no lesson yet" in memory.recall("NVDA").text
    assert memory.recall("AAPL").text == ""
    report = Memory(journal, prices=two_weeks(), clock=clock).resolve()
    assert [item.entry.id for item in report.reflected] == [entry.id]


def test_entries_filter_and_frame_hold_one_row_per_entry(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, prices=two_weeks(), clock=clock)
    memory.record("NVDA", "2026-01-05", "Rating: Buy")
    memory.record("AAPL", "2026-01-02", "Rating: Sell")
    clock.set("2026-01-13T12:00")
    memory.resolve(tickers=["nvda"])
    assert [entry.ticker for entry in memory.entries()] == ["AAPL", "NVDA"]
    assert [entry.ticker for entry in memory.entries(status="resolved")] == ["NVDA"]
    assert [entry.ticker for entry in memory.entries(ticker="aapl")] == ["AAPL"]
    assert {e.status for e in memory.entries(as_of="2026-01-12T22:00:00Z")} == {Status.PENDING}
    frame = memory.frame()
    assert list(frame["ticker"]) == ["AAPL", "NVDA"]
    assert list(frame["rating"]) == ["Sell", "Buy"]
    assert frame["raw_return"][1] == pytest.approx(0.06)


def test_the_resolver_is_alone(journal):
    memory = Memory(journal, prices=two_weeks(), clock=Clock("2026-01-05T15:00"))
    with journal.resolving(), pytest.raises(LogBusy):
        memory.resolve()


def test_a_memory_that_is_handed_out_is_what_opens_without_a_log(tmp_path, monkeypatch):
    """A graph that opens its own memory then works with its caller's log, prices and clock."""
    monkeypatch.setenv("TRADMEM_LOG", str(tmp_path / "other.md"))
    mine = Memory(RamJournal(), prices=two_weeks(), clock=Clock("2026-01-05T15:00"))
    with mine.handed_out():
        inside = Memory.open()
        own = Memory.open(tmp_path / "named.md", clock=Clock("2026-01-06T15:00"))
    assert (inside.journal, inside.prices, inside.clock) == (mine.journal, mine.prices, mine.clock)
    assert own.journal.path == tmp_path / "named.md"
    assert own.clock() != mine.clock()
    assert Memory.open().journal.path == tmp_path / "other.md"


def test_a_pending_decision_says_when_it_is_due(journal):
    clock = Clock("2026-01-05T15:00")
    memory = Memory(journal, prices=two_weeks(), clock=clock)
    entry = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    assert memory.due(entry) == datetime(2026, 1, 12, 23, tzinfo=UTC)
    assert memory.due(memory.record("BTC-USD", "2026-01-05", "Buy.").entry) == datetime(
        2026, 1, 11, 2, tzinfo=UTC
    )
    clock.set("2026-01-13T12:00")
    memory.resolve(tickers=["NVDA"])
    assert memory.due(memory.get(entry.id)) is None


def test_a_stated_horizon_far_beyond_the_judged_one_is_told(journal):
    memory = Memory(journal, clock=Clock("2026-01-05T15:00"))
    done = memory.record("NVDA", "2026-01-05", "Rating: Buy\nTime horizon: 6-12 months")
    assert done.entry.recorded.extra["stated_horizon"] == 126
    assert "126 sessions" in done.warnings[0]
    near = memory.record("AAPL", "2026-01-05", "Rating: Buy\nHorizon: 2 weeks")
    assert near.entry.recorded.extra["stated_horizon"] == 10
    assert near.warnings == ()
    own = memory.record("AMD", "2026-01-05", "Rating: Buy\nHorizon: 6 months", horizon=126)
    assert own.warnings == ()


def test_an_unknown_market_is_told(journal):
    memory = Memory(journal, clock=Clock("2026-01-05T15:00"))
    (warning,) = memory.record("EQNR.OL", "2026-01-05", "Rating: Buy").warnings
    assert "EQNR.OL" in warning


@pytest.mark.parametrize("name", ["id", "rating", "sha256", "recalled", "add", "torn"])
def test_extra_values_can_take_no_name_of_the_ledgers_own(tmp_path, name):
    memory = Memory(MarkdownJournal(tmp_path / "memory.md"), clock=Clock("2026-01-05T15:00:00"))
    with pytest.raises(UsageError, match=f"extra cannot hold '{name}'"):
        memory.record("NVDA", "2026-01-05", "Rating: Buy", extra={name: "x"})
    assert not (tmp_path / "memory.md").exists()


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), date(2026, 1, 5)])
def test_extra_values_have_to_be_json(tmp_path, value):
    memory = Memory(MarkdownJournal(tmp_path / "memory.md"), clock=Clock("2026-01-05T15:00:00"))
    with pytest.raises(UsageError, match="extra holds 'mine', which is no JSON value"):
        memory.record("NVDA", "2026-01-05", "Rating: Buy", extra={"mine": value})
    assert not (tmp_path / "memory.md").exists()


def test_a_rating_that_its_text_contradicts_is_kept_with_what_the_text_says(tmp_path):
    log = tmp_path / "memory.md"
    memory = Memory(MarkdownJournal(log), clock=Clock("2026-01-05T15:00:00"))
    done = memory.record("NVDA", "2026-01-05", "**Rating**: Sell", rating="Buy")
    assert done.warnings == (
        "NVDA 2026-01-05 contradicts itself: the text says Sell, the rating is Buy",
    )
    assert done.entry.recorded.extra == {"stated_rating": "Sell"}
    assert conflict(done.entry) == "the text says Sell, the rating is Buy"
    log.write_text(log.read_text().replace("| Buy |", "| Sell |"))  # a person settles it
    mended = Memory(MarkdownJournal(log)).get(done.entry.id)
    assert (mended.rating, conflict(mended)) == ("Sell", "")
    agreeing = memory.record("AMD", "2026-01-05", "**Rating**: Sell", rating="sell")
    assert (agreeing.warnings, agreeing.entry.recorded.extra) == ((), {})


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_a_decision_without_a_text_is_refused(tmp_path, text):
    memory = Memory.open(tmp_path / "m.md")
    with pytest.raises(UsageError, match="the text of a decision is empty"):
        memory.record("NVDA", "2026-01-05", text, rating="Buy")
    assert not (tmp_path / "m.md").exists()


_WRONG = [5, 1.5, float("nan"), b"x", [5], object(), True]


@pytest.mark.parametrize(
    "call",
    [
        lambda memory, bad: memory.recall(bad),
        lambda memory, bad: memory.recall("NVDA", bad),
        lambda memory, bad: memory.recall("NVDA", query=bad, rank="relevant"),
        lambda memory, bad: memory.record(bad, "2026-01-05", "x"),
        lambda memory, bad: memory.record("NVDA", bad, "x"),
        lambda memory, bad: memory.record("NVDA", "2026-01-05", bad),
        lambda memory, bad: memory.record("NVDA", "2026-01-05", "x", agent=bad),
        lambda memory, bad: memory.record("NVDA", "2026-01-05", "x", decided_at=bad),
        lambda memory, bad: memory.record("NVDA", "2026-01-05", "x", extra=bad),
        lambda memory, bad: memory.note(bad),
        lambda memory, bad: memory.note("x", valid_until=bad),
        lambda memory, bad: memory.get(bad),
        lambda memory, bad: memory.forget(bad, reason="x"),
        lambda memory, bad: memory.entries(as_of=bad),
        lambda memory, bad: memory.search(bad),
        lambda memory, bad: memory.resolve(bad),
        lambda memory, bad: memory.resolve(tickers=bad),
        lambda memory, bad: memory.resolve(accept=bad),
        lambda memory, bad: memory.track(tickers=bad),
    ],
)
def test_an_argument_of_a_wrong_kind_is_refused_in_one_line(call):
    for bad in _WRONG:
        memory = Memory(RamJournal())
        with pytest.raises(TradmemError) as raised:
            call(memory, bad)
        assert "\n" not in str(raised.value)
        assert memory.entries() == []


@pytest.mark.parametrize("wait", [float("nan"), float("inf"), -1, None, "5"])
def test_a_wait_that_is_no_number_of_seconds_is_refused(wait):
    with pytest.raises(UsageError, match=r"wait is .+; it is a number of seconds from 0 on"):
        Memory(RamJournal()).resolve(wait=wait)


@pytest.mark.parametrize("wait", [1e300, 10**400])
def test_a_wait_longer_than_can_be_waited_is_none_where_nobody_else_resolves(wait):
    assert Memory(RamJournal()).resolve(wait=wait).settled == ()


def test_a_decision_that_saw_nothing_may_say_so_with_none():
    memory = Memory(RamJournal())
    done = memory.record("NVDA", "2026-01-05", "x", recalled=None, cited=None)
    assert (done.entry.recalled, done.entry.cited) == ((), ())


def test_a_clock_that_runs_stamps_a_decision_with_one_instant():
    """Were it asked twice, a decision would be stored before it was made."""
    times = (datetime(2026, 1, 5, 15, tzinfo=UTC) + timedelta(microseconds=n) for n in range(99))
    memory = Memory(RamJournal(), clock=lambda: next(times))
    entry = memory.record("NVDA", "2026-01-05", "Rating: Buy").entry
    assert entry.decided_at == entry.recorded.recorded_at
    assert memory.audit() == ()

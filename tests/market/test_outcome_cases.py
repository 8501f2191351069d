"""Worked cases: thirty of the specification, then one or more of every kind in other markets."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.market.market_cases import (
    Answer,
    ask,
    at,
    run_case,
    series,
    sessions,
    settled,
    unsettled,
    without,
)
from tradmem.clock import format_instant, parse_date
from tradmem.errors import UsageError
from tradmem.market.outcome import Question, Why, answer
from tradmem.market.prices import Bars, make_bars
from tradmem.model import Outcome

CASES = json.loads((Path(__file__).parents[1] / "data" / "outcomes.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_worked_case(case: dict[str, Any]) -> None:
    found, expect = run_case(case), case["expect"]
    if expect["status"] != "settled":
        assert unsettled(found).kind == expect["status"], case["why"]
        assert len(expect) == 1
        return
    outcome = settled(found)
    dates = {"entry_date", "exit_date", "known_on"}
    names = {"raw": "raw_return"}
    for name, value in expect.items():
        if name == "flags":
            assert set(value) <= set(outcome.flags), case["why"]
        elif name in dates:
            assert getattr(outcome, name) == parse_date(value), case["why"]
        elif name != "status":
            got = getattr(outcome, names.get(name, name))
            assert got == (value if value is None else pytest.approx(value, abs=2e-6)), case["why"]


def window(found: Answer) -> tuple[str, str, int, str]:
    outcome = settled(found)
    assert outcome.entry_date
    assert outcome.exit_date
    known_at = outcome.known_at.isoformat(timespec="minutes").removesuffix("+00:00")
    return str(outcome.entry_date), str(outcome.exit_date), outcome.sessions, known_at


@pytest.mark.parametrize(
    ("ticker", "decided_at", "horizon", "expected"),
    [
        # The close decides, not the date: one second before it and at it.
        ("NVDA", "2026-01-05T20:59:59Z", 5, ("2026-01-05", "2026-01-12", 5, "2026-01-12T23:00")),
        ("NVDA", "2026-01-05T21:00:00Z", 5, ("2026-01-06", "2026-01-13", 5, "2026-01-13T23:00")),
        # Clocks go forward in New York on 8 March, in London on 29 March.
        ("NVDA", "2026-03-06T20:30:00Z", 5, ("2026-03-06", "2026-03-13", 5, "2026-03-13T22:00")),
        ("NVDA", "2026-03-09T20:30:00Z", 1, ("2026-03-10", "2026-03-11", 1, "2026-03-11T22:00")),
        ("VOD.L", "2026-03-27T16:00:00Z", 1, ("2026-03-27", "2026-03-30", 1, "2026-03-30T17:30")),
        ("VOD.L", "2026-03-30T15:45:00Z", 1, ("2026-03-31", "2026-04-01", 1, "2026-04-01T17:30")),
        # Early closes: half past six in the evening UTC is after the close, in the morning not.
        ("NVDA", "2025-11-28T17:59:00Z", 1, ("2025-11-28", "2025-12-01", 1, "2025-12-01T23:00")),
        ("NVDA", "2025-11-28T18:30:00Z", 1, ("2025-12-01", "2025-12-02", 1, "2025-12-02T23:00")),
        ("NVDA", "2025-12-19T15:00:00Z", 3, ("2025-12-19", "2025-12-24", 3, "2025-12-24T20:00")),
        ("NVDA", "2025-12-24T18:00:00Z", 5, ("2025-12-26", "2026-01-05", 5, "2026-01-05T23:00")),
        # Tokyo closes before London wakes; its new year is long.
        ("7203.T", "2026-01-05T06:29:59Z", 1, ("2026-01-05", "2026-01-06", 1, "2026-01-06T08:30")),
        ("7203.T", "2026-01-05T06:30:00Z", 1, ("2026-01-06", "2026-01-07", 1, "2026-01-07T08:30")),
        ("7203.T", "2025-12-30T07:00:00Z", 2, ("2026-01-05", "2026-01-07", 2, "2026-01-07T08:30")),
        # Sydney: the same UTC date after its close is the next session.
        ("BHP.AX", "2026-01-05T04:59:59Z", 1, ("2026-01-05", "2026-01-06", 1, "2026-01-06T07:00")),
        ("BHP.AX", "2026-01-05T05:00:00Z", 1, ("2026-01-06", "2026-01-07", 1, "2026-01-07T07:00")),
        ("BHP.AX", "2025-12-24T03:30:00Z", 1, ("2025-12-29", "2025-12-30", 1, "2025-12-30T07:00")),
        ("AIR.NZ", "2026-01-05T04:00:00Z", 1, ("2026-01-06", "2026-01-07", 1, "2026-01-07T05:45")),
        # Lunar new year.
        ("0700.HK", "2026-02-16T03:00:00Z", 1, ("2026-02-16", "2026-02-20", 1, "2026-02-20T10:00")),
        ("0700.HK", "2026-02-16T05:00:00Z", 1, ("2026-02-20", "2026-02-23", 1, "2026-02-23T10:00")),
        ("600519.SH", "2026-02-13T08:00Z", 5, ("2026-02-24", "2026-03-03", 5, "2026-03-03T09:00")),
        # Crypto never rests; FX rests on weekends only; futures' day ends at 17:00 in New York.
        ("BTC-USD", "2025-12-25T12:00:00Z", 3, ("2025-12-25", "2025-12-28", 3, "2025-12-29T02:00")),
        ("BTC-USD", "2026-01-11T00:00:00Z", 1, ("2026-01-11", "2026-01-12", 1, "2026-01-13T02:00")),
        ("EURUSD", "2026-01-10T12:00:00Z", 5, ("2026-01-12", "2026-01-19", 5, "2026-01-20T02:00")),
        ("EURUSD", "2026-07-01T23:30:00Z", 1, ("2026-07-02", "2026-07-03", 1, "2026-07-04T01:00")),
        ("XAUUSD", "2026-01-05T22:30:00Z", 1, ("2026-01-06", "2026-01-07", 1, "2026-01-08T00:00")),
        ("^VIX", "2026-01-05T12:00:00Z", 1, ("2026-01-05", "2026-01-06", 1, "2026-01-06T23:00")),
        ("EQNR.OL", "2026-01-05T16:00:00Z", 1, ("2026-01-05", "2026-01-06", 1, "2026-01-06T23:00")),
        ("BRK.B", "2026-01-16T15:00:00Z", 1, ("2026-01-16", "2026-01-20", 1, "2026-01-20T23:00")),
    ],
)  # fmt: skip
def test_window_of_a_decision(
    ticker: str, decided_at: str, horizon: int, expected: tuple[str, str, int, str]
) -> None:
    """Each is due exactly when it says it is known, and not a moment earlier."""
    bars = {ticker: series(sessions(ticker, "2025-11-20", "2026-07-10"))}
    none = {"*": None}
    known_at = expected[3] + "Z"
    found = ask(ticker, decided_at, known_at, bars, horizon=horizon, benchmarks=none)
    assert window(found) == expected
    before = format_instant(at(known_at) - timedelta(seconds=1))
    pending = unsettled(ask(ticker, decided_at, before, bars, horizon=horizon, benchmarks=none))
    assert (pending.kind, pending.due) == (Why.NOT_DUE, at(known_at))


JANUARY = sessions("NVDA", "2026-01-02", "2026-03-20")
NVDA = series(JANUARY)
SPY = series(JANUARY, 400, 1.001)
DECIDED = "2026-01-05T15:00:00Z"
END = "2026-02-11T23:00:00Z"  # 30 x 24 h after the close of 12 January is final
JUST_BEFORE = "2026-02-11T22:59:59Z"
LATER = "2026-06-01T00:00:00Z"


def both(**closes: dict[Any, float | None]) -> dict[str, dict[Any, float | None]]:
    return {"NVDA": NVDA, "SPY": SPY} | closes


def test_figures_of_a_plain_outcome() -> None:
    outcome = settled(ask("NVDA", DECIDED, "2026-01-12T23:00:00Z", both()))
    assert outcome.raw_return == pytest.approx(1.01**5 - 1)
    assert outcome.benchmark_return == pytest.approx(1.001**5 - 1)
    assert outcome.alpha == pytest.approx(1.01**5 - 1.001**5)
    assert (outcome.benchmark, outcome.basis, outcome.source) == ("SPY", "total", "frame")
    assert (outcome.entry_price, outcome.exit_price) == (
        NVDA[parse_date("2026-01-05")],
        NVDA[parse_date("2026-01-12")],
    )
    assert outcome.benchmark_exit_price == SPY[parse_date("2026-01-12")]
    assert (outcome.band, outcome.flags) == (0.01, ("default_band",))
    assert outcome.sigma is outcome.beta is outcome.alpha_beta is None


def test_unadjusted_closes_are_kept_beside() -> None:
    raw = {"NVDA": {day: 2 * (close or 0) for day, close in NVDA.items()}}
    outcome = settled(ask("NVDA", DECIDED, LATER, both(), raw_closes=raw))
    assert outcome.entry_close == 2 * (outcome.entry_price or 0)
    assert outcome.exit_close == 2 * (outcome.exit_price or 0)
    assert outcome.benchmark_entry_close == outcome.benchmark_entry_price
    assert outcome.raw_return == pytest.approx(1.01**5 - 1)


@pytest.mark.parametrize(
    ("missing", "entry", "exit_"),
    [
        (["2026-01-05"], "2026-01-06", "2026-01-13"),
        # The tenth session after the planned entry still is in time.
        ([str(day) for day in JANUARY[1:11]], "2026-01-20", "2026-01-27"),
        (["2026-01-12", "2026-01-13"], "2026-01-05", "2026-01-14"),
    ],
)
def test_missing_closes_move_entry_and_exit(missing: list[str], entry: str, exit_: str) -> None:
    outcome = settled(ask("NVDA", DECIDED, LATER, both(NVDA=without(NVDA, *missing))))
    assert (str(outcome.entry_date), str(outcome.exit_date)) == (entry, exit_)
    assert outcome.benchmark_entry_date == outcome.entry_date
    assert outcome.known_on == outcome.exit_date


def test_a_first_close_on_the_eleventh_session_is_too_late() -> None:
    closes = both(NVDA=without(NVDA, *map(str, JANUARY[1:12])))
    waiting = unsettled(ask("NVDA", DECIDED, JUST_BEFORE, closes))
    assert (waiting.kind, waiting.due) == (Why.WAITING, at(END))
    gone = unsettled(ask("NVDA", DECIDED, END, closes))
    assert (gone.kind, gone.due, gone.known_at) == (Why.UNRESOLVABLE, None, at(END))
    assert gone == unsettled(ask("NVDA", DECIDED, LATER, closes))
    assert gone.reason == "no close of NVDA from 2026-01-05 to 2026-01-20 by 2026-02-11 23:00 UTC"


def test_a_late_entry_waits_for_its_own_exit() -> None:
    closes = both(NVDA=without(NVDA, "2026-01-05"))
    waiting = unsettled(ask("NVDA", DECIDED, "2026-01-13T22:59:00Z", closes))
    assert (waiting.kind, waiting.due) == (Why.WAITING, at("2026-01-13T23:00Z"))
    assert "no close of NVDA on or after 2026-01-13 yet" in waiting.reason


def test_closes_on_days_without_a_session_are_no_closes() -> None:
    """Files filled forward over weekends and holidays."""
    filled = {**without(NVDA, "2026-01-05"), parse_date("2026-01-10"): 500.0}
    filled |= {parse_date("2026-01-04"): 90.0, parse_date("2026-01-19"): 500.0}
    outcome = settled(ask("NVDA", "2026-01-03T15:00:00Z", LATER, both(NVDA=filled)))
    assert str(outcome.entry_date) == "2026-01-06"
    friday = settled(ask("NVDA", "2026-01-16T22:00:00Z", LATER, both(NVDA=filled)))
    assert str(friday.entry_date) == "2026-01-20"


def test_a_benchmark_that_never_has_its_close_is_given_up() -> None:
    for gap in ("2026-01-05", "2026-01-12"):
        closes = both(SPY=without(SPY, gap))
        waiting = unsettled(ask("NVDA", DECIDED, JUST_BEFORE, closes))
        assert (waiting.kind, waiting.due) == (Why.WAITING, at(END))
        assert f"no close of the benchmark SPY on {gap} yet" in waiting.reason
        outcome = settled(ask("NVDA", DECIDED, END, closes))
        assert outcome == settled(ask("NVDA", DECIDED, LATER, closes))
        assert (outcome.alpha, outcome.known_at) == (None, at(END))
        assert outcome.raw_return == pytest.approx(1.01**5 - 1)
        assert "no_benchmark" in outcome.flags
        assert outcome.benchmark_return is outcome.basis is None


def test_a_benchmark_that_the_source_does_not_know_is_given_up_too() -> None:
    waiting = unsettled(ask("NVDA", DECIDED, JUST_BEFORE, {"NVDA": NVDA}))
    assert waiting.kind is Why.WAITING
    assert "(unknown symbol)" in waiting.reason
    assert "no_benchmark" in settled(ask("NVDA", DECIDED, END, {"NVDA": NVDA})).flags


def test_trading_that_stopped_ends_at_its_last_close() -> None:
    closes = {day: close for day, close in NVDA.items() if str(day) <= "2026-01-08"}
    waiting = unsettled(ask("NVDA", DECIDED, JUST_BEFORE, both(NVDA=closes)))
    assert waiting.kind is Why.WAITING
    outcome = settled(ask("NVDA", DECIDED, END, both(NVDA=closes)))
    assert (str(outcome.exit_date), outcome.sessions, outcome.horizon) == ("2026-01-08", 3, 5)
    assert outcome.alpha == pytest.approx(1.01**3 - 1.001**3)
    assert outcome.band == pytest.approx(0.01 * (3 / 5) ** 0.5)
    assert "stopped" in outcome.flags
    alone = settled(ask("NVDA", DECIDED, END, {"NVDA": closes}))
    assert {"stopped", "no_benchmark"} <= set(alone.flags)
    assert alone.alpha is None


def test_an_entry_and_nothing_after_it_is_unresolvable() -> None:
    closes = both(NVDA={parse_date("2026-01-05"): 100.0})
    gone = unsettled(ask("NVDA", DECIDED, END, closes))
    assert gone.kind is Why.UNRESOLVABLE
    assert gone.reason == "no close of NVDA after 2026-01-05 by 2026-02-11 23:00 UTC"


def test_closes_that_became_final_after_the_wait_do_not_count() -> None:
    """The close of 11 February is final at the instant at which the wait ends; the next is not."""
    halted = {
        day: c for day, c in NVDA.items() if str(day) <= "2026-01-06" or str(day) >= "2026-02-11"
    }
    outcome = settled(ask("NVDA", DECIDED, LATER, both(NVDA=halted)))
    assert (str(outcome.exit_date), outcome.known_at) == ("2026-02-11", at(END))
    assert "stopped" not in outcome.flags
    stopped = settled(ask("NVDA", DECIDED, LATER, both(NVDA=without(halted, "2026-02-11"))))
    assert (str(stopped.exit_date), stopped.known_at) == ("2026-01-06", at(END))
    assert "stopped" in stopped.flags


def jumping(factor: float, day: str) -> dict[Any, float | None]:
    return {
        d: (c or 0) * (factor if str(d) >= day else 1) for d, c in series(JANUARY, step=1).items()
    }


@pytest.mark.parametrize(
    ("factor", "day", "suspect"),
    [
        (1.8, "2026-01-07", True),
        (1.79, "2026-01-07", False),
        (0.55, "2026-01-12", True),
        (0.56, "2026-01-12", False),
        (10, "2026-01-05", False),  # before the entry's close
        (0.1, "2026-01-13", False),  # after the exit's
    ],
)
def test_a_jump_from_entry_to_exit_in_either_leg_is_suspect(
    factor: float, day: str, suspect: bool
) -> None:
    for closes in (both(NVDA=jumping(factor, day)), both(SPY=jumping(factor, day))):
        found = ask("NVDA", DECIDED, LATER, closes)
        assert isinstance(found, Outcome) is not suspect
        if suspect:
            assert unsettled(found).kind is Why.SUSPECT
            assert unsettled(found).due is None
            assert unsettled(found).known_at == at("2026-01-12T23:00Z")
            assert day in unsettled(found).reason


def test_crypto_may_move_further() -> None:
    days = sessions("ETH-USD", "2026-01-01", "2026-02-20")
    bitcoin = series(days)

    def found(factor: float) -> Answer:
        ether = {d: 100 * (factor if str(d) >= "2026-01-08" else 1) for d in days}
        return ask("ETH-USD", DECIDED, LATER, {"ETH-USD": ether, "BTC-USD": bitcoin})

    assert settled(found(4.9)).raw_return == pytest.approx(3.9)
    assert unsettled(found(5)).kind is Why.SUSPECT
    assert settled(found(0.21)).raw_return == pytest.approx(-0.79)
    assert unsettled(found(0.2)).kind is Why.SUSPECT


def test_a_jump_is_looked_at_when_nothing_is_waited_for() -> None:
    closes = both(NVDA=jumping(10, "2026-01-07"), SPY=without(SPY, "2026-01-12"))
    assert unsettled(ask("NVDA", DECIDED, JUST_BEFORE, closes)).kind is Why.WAITING
    found = unsettled(ask("NVDA", DECIDED, LATER, closes))
    assert (found.kind, found.known_at) == (Why.SUSPECT, at(END))


def test_a_stopped_leg_may_be_suspect() -> None:
    closes = {d: c for d, c in jumping(0.1, "2026-01-07").items() if str(d) <= "2026-01-08"}
    assert unsettled(ask("NVDA", DECIDED, LATER, both(NVDA=closes))).kind is Why.SUSPECT


def test_an_accepted_suspect_is_known_when_it_was_accepted() -> None:
    closes = both(NVDA=jumping(0.5, "2026-01-07"))
    accepted = "2026-03-02T09:00:00Z"
    early = ask("NVDA", DECIDED, "2026-03-02T08:59:59Z", closes, accepted_at=accepted)
    assert unsettled(early).kind is Why.SUSPECT
    outcome = settled(ask("NVDA", DECIDED, accepted, closes, accepted_at=accepted))
    assert outcome == settled(ask("NVDA", DECIDED, LATER, closes, accepted_at=accepted))
    assert (outcome.raw_return, outcome.known_at) == (pytest.approx(-0.5), at(accepted))
    assert "accepted" in outcome.flags


def test_accepting_what_is_not_suspect_changes_nothing() -> None:
    accepted = "2026-03-02T09:00:00Z"
    outcome = settled(ask("NVDA", DECIDED, LATER, both(), accepted_at=accepted))
    assert outcome == settled(ask("NVDA", DECIDED, LATER, both()))


@pytest.mark.parametrize(
    ("factor", "shown", "suspect"),
    [
        (1.5, 1 / 1.5, True),  # three for two, below the ratio that is suspect by itself
        (1.5, 1.0, False),
        (1.5, 0.93, False),  # a bad day that is no split
        (1.25, 0.78, True),
        (2.0, 0.6, True),
        (0.8, 1.25, True),  # shares consolidated
        (0.8, 1.03, False),
    ],
)
def test_a_reported_split_that_the_closes_still_show_is_suspect(
    factor: float, shown: float, suspect: bool
) -> None:
    closes = jumping(shown, "2026-01-07")
    for leg in ("NVDA", "SPY"):
        splits = {leg: {"2026-01-07": factor}}
        found = ask("NVDA", DECIDED, LATER, both(**{leg: closes}), splits=splits)
        assert isinstance(found, Outcome) is not suspect
        elsewhere = {leg: {"2026-01-05": factor, "2026-01-13": factor}}
        settled(ask("NVDA", DECIDED, LATER, both(**{leg: closes}), splits=elsewhere))


def test_a_split_over_a_gap_is_seen_on_the_next_close() -> None:
    closes = without(jumping(1 / 1.5, "2026-01-07"), "2026-01-07")
    found = ask("NVDA", DECIDED, LATER, both(NVDA=closes), splits={"NVDA": {"2026-01-07": 1.5}})
    assert "split 1.5 for 1 on 2026-01-07" in unsettled(found).reason


def test_splits_and_dividends_inside_the_window_are_flagged() -> None:
    events = {"NVDA": {"2026-01-12": 2.0}}
    outcome = settled(ask("NVDA", DECIDED, LATER, both(), splits=events, dividends=events))
    assert {"split", "ex_dividend"} <= set(outcome.flags)
    events = {"NVDA": {"2026-01-05": 2.0}}
    outcome = settled(ask("NVDA", DECIDED, LATER, both(), splits=events, dividends=events))
    assert not {"split", "ex_dividend"} & set(outcome.flags)


def flags(ticker: str, benchmark: str | None) -> set[str]:
    closes = {t: series(sessions(t, "2025-12-20", "2026-03-01")) for t in (ticker, benchmark) if t}
    found = ask(ticker, DECIDED, LATER, closes, benchmarks=benchmark)
    return set(settled(found).flags) - {"default_band"}


@pytest.mark.parametrize(
    ("ticker", "benchmark", "expected"),
    [
        ("NVDA", "^GSPC", set()),
        ("NVDA", "^N225", {"asynchronous", "currency"}),
        ("7203.T", "SPY", {"asynchronous", "currency"}),
        ("AIR.PA", "^GDAXI", {"asynchronous"}),
        ("TCS.NS", "^BSESN", set()),
        ("RCI.TO", "SPY", {"asynchronous", "currency"}),
        ("ETH-USD", "SPY", {"asynchronous"}),
        ("ETH-EUR", "BTC-USD", {"currency"}),
        ("EURUSD", "DX-Y.NYB", {"asynchronous"}),
        ("EQNR.OL", None, {"calendar_weekdays"}),
        ("EQNR.OL", "SPY", {"calendar_weekdays", "asynchronous", "currency"}),
        ("ABC.ZZ", "XYZ.ZZ", {"calendar_weekdays"}),
        ("ABC.ZZ", "XYZ.ZY", {"calendar_weekdays", "currency"}),
    ],
)
def test_flags_of_legs_that_differ(ticker: str, benchmark: str | None, expected: set[str]) -> None:
    assert flags(ticker, benchmark) == expected


def test_a_window_past_the_published_calendar_is_flagged() -> None:
    bars = {"TCS.NS": series(sessions("TCS.NS", "2026-12-01", "2027-01-20"))}
    bars |= {"^NSEI": bars["TCS.NS"]}
    inside = settled(ask("TCS.NS", "2026-12-21T06:00:00Z", "2027-06-01T00:00:00Z", bars))
    across = settled(ask("TCS.NS", "2026-12-28T06:00:00Z", "2027-06-01T00:00:00Z", bars))
    assert "calendar_weekdays" not in inside.flags
    assert "calendar_weekdays" in across.flags
    assert across.known_at == at("2027-01-04T23:00:00Z")


def test_the_benchmark_closes_later_than_the_ticker() -> None:
    """Tokyo against New York: the outcome is known when New York's close is final."""
    closes = {t: series(sessions(t, "2026-01-05", "2026-02-01")) for t in ("7203.T", "SPY")}
    early = ask(
        "7203.T", "2026-01-06T03:00:00Z", "2026-01-07T22:59Z", closes, horizon=1, benchmarks="SPY"
    )
    waiting = unsettled(early)
    assert (waiting.kind, waiting.due) == (Why.WAITING, at("2026-01-07T23:00Z"))
    found = ask(
        "7203.T", "2026-01-06T03:00:00Z", "2026-01-07T23:00Z", closes, horizon=1, benchmarks="SPY"
    )
    assert settled(found).known_at == at("2026-01-07T23:00Z")


def test_a_benchmark_that_rests_gives_its_last_close_before() -> None:
    """Bitcoin over a weekend against New York: Friday's close to Friday's close."""
    closes = {t: series(sessions(t, "2026-01-01", "2026-02-01")) for t in ("BTC-USD", "SPY")}
    found = ask("BTC-USD", "2026-01-10T03:00:00Z", LATER, closes, horizon=1, benchmarks="SPY")
    outcome = settled(found)
    assert str(outcome.benchmark_entry_date) == str(outcome.benchmark_exit_date) == "2026-01-09"
    assert outcome.benchmark_return == 0


def test_pence_and_pounds_are_one_currency() -> None:
    days = sessions("VOD.L", "2026-01-05", "2026-01-20")

    def bars(ticker: str, currency: str) -> Bars:
        found = make_bars(ticker, [(day, 100.0) for day in days], currency=currency)
        assert isinstance(found, Bars)
        return found

    question = Question(ticker="VOD.L", decided_at=at("2026-01-05T12:00:00Z"), benchmark="^FTSE")
    for own, other, differ in (("GBp", "GBP", False), ("USD", "GBP", True), ("GBX", "GBp", False)):
        found = answer(question, bars("VOD.L", own), bars("^FTSE", other), as_of=at(LATER))
        assert ("currency" in settled(found).flags) is differ


def test_index_benchmarks_say_how_they_are_built() -> None:
    closes = {t: series(sessions(t, "2026-01-02", "2026-02-01")) for t in ("SAP.DE", "^GDAXI")}
    assert settled(ask("SAP.DE", DECIDED, LATER, closes)).basis == "total"
    closes = {t: series(sessions(t, "2026-01-02", "2026-02-01")) for t in ("VOD.L", "^FTSE")}
    assert settled(ask("VOD.L", DECIDED, LATER, closes)).basis == "price"


@pytest.mark.parametrize("horizon", [0, -1, 2521])
def test_an_impossible_horizon_is_refused(horizon: int) -> None:
    with pytest.raises(UsageError, match="use 1 to 2520"):
        Question(ticker="NVDA", decided_at=at(DECIDED), horizon=horizon)

"""Many decisions from one call to a source, whatever the source does."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from time import process_time
from typing import Any

import pytest

from tests.market.market_cases import at, series, sessions, settled, unsettled
from tradmem.errors import PriceError, PriceFault, UsageError
from tradmem.market.frames import FilePrices, FramePrices
from tradmem.market.outcome import Question, Why
from tradmem.market.prices import Bars, Span
from tradmem.market.settle import settle
from tradmem.model import Outcome

DAYS = sessions("NVDA", "2023-12-01", "2026-05-29")
CLOSES = {"NVDA": series(DAYS), "AMD": series(DAYS, 50), "SPY": series(DAYS, 400, 1.001)}
AS_OF = at("2026-02-02T12:00:00Z")


class Spy:
    """A source that remembers what it was asked."""

    def __init__(self, source: Any, spoil: Callable[[dict[str, Any]], Any] | None = None) -> None:
        self.calls: list[dict[str, Span]] = []
        self._source = source
        self._spoil = spoil

    def fetch(self, spans: Mapping[str, Span]) -> Any:
        self.calls.append(dict(spans))
        found = self._source.fetch(spans)
        return self._spoil(found) if self._spoil else found


def ask(ticker: str, day: str, horizon: int = 5) -> Question:
    return Question(ticker=ticker, decided_at=at(f"{day}T15:00:00Z"), horizon=horizon)


def test_nothing_is_asked_for_what_is_not_due() -> None:
    spy = Spy(FramePrices(CLOSES))
    found = settle([ask("NVDA", "2026-01-30"), ask("AMD", "2026-02-02")], spy, as_of=AS_OF)
    assert [unsettled(one).kind for one in found] == [Why.NOT_DUE] * 2
    assert spy.calls == []
    assert settle([], spy, as_of=AS_OF) == []
    assert spy.calls == []


def test_one_call_asks_once_for_each_symbol() -> None:
    spy = Spy(FramePrices(CLOSES))
    questions = [
        ask("NVDA", "2026-01-05"),
        ask("AMD", "2026-01-30"),  # not due: its ticker is not asked for
        ask("NVDA", "2025-03-03"),
        ask("SPY", "2026-01-12"),
        ask("nvda", "2026-01-06", 1),
    ]
    found = settle(questions, spy, as_of=AS_OF)
    [spans] = spy.calls
    assert set(spans) == {"NVDA", "SPY"}
    assert [type(one) for one in found] == [Outcome, type(found[1]), Outcome, Outcome, Outcome]
    assert [str(settled(found[n]).entry_date) for n in (0, 2, 3, 4)] == [
        "2026-01-05",
        "2025-03-03",
        "2026-01-12",
        "2026-01-06",
    ]
    assert settled(found[3]).alpha is None
    # The oldest decision needs 250 sessions before it, the newest all that is final.
    before = [day for day in DAYS if spans["NVDA"].start <= day < date(2025, 3, 3)]
    assert len(before) >= 251
    assert spans["NVDA"].end == spans["SPY"].end == date(2026, 1, 30)


def test_a_span_ends_with_the_wait_of_an_old_decision() -> None:
    spy = Spy(FramePrices(CLOSES))
    settle([ask("NVDA", "2025-03-03")], spy, as_of=AS_OF)
    assert spy.calls[0]["NVDA"].end == date(2025, 4, 9)


def test_a_span_never_reaches_beyond_what_is_final() -> None:
    """Tokyo is a day ahead: its session of the date is final, New York's is not."""
    closes = {
        "7203.T": series(sessions("7203.T", "2025-06-02", "2026-03-02")),
        "SPY": CLOSES["SPY"],
    }
    spy = Spy(FramePrices(closes))
    as_of = at("2026-01-20T12:00:00Z")
    settle([ask("7203.T", "2026-01-05")], spy, as_of=as_of, benchmarks="SPY")
    assert spy.calls[0]["7203.T"].end == date(2026, 1, 20)
    assert spy.calls[0]["SPY"].end == date(2026, 1, 16)


def test_benchmarks_by_setting_by_question_and_none() -> None:
    source = FramePrices(CLOSES)
    own = Question(ticker="NVDA", decided_at=at("2026-01-05T15:00:00Z"), benchmark="AMD")
    [first] = settle([own], source, as_of=AS_OF, benchmarks="SPY")
    assert settled(first).benchmark == "AMD"
    [second] = settle([ask("NVDA", "2026-01-05")], source, as_of=AS_OF, benchmarks={"NVDA": "AMD"})
    assert second == first
    [third] = settle([ask("NVDA", "2026-01-05")], source, as_of=AS_OF, benchmarks={"NVDA": None})
    assert (settled(third).benchmark, settled(third).alpha) == (None, None)
    [itself] = settle([ask("AMD", "2026-01-05")], source, as_of=AS_OF, benchmarks="AMD")
    assert (settled(itself).benchmark, settled(itself).flags) == (None, ())


def test_aliases_reach_the_calendar_and_the_benchmark() -> None:
    days = sessions("7203.T", "2025-06-02", "2026-03-02")
    source = FramePrices({"TOYOTA": series(days), "^N225": series(days, 40000, 1.001)})
    aliases = {"TOYOTA": "7203.T"}
    [found] = settle([ask("TOYOTA", "2026-01-05")], source, as_of=AS_OF, aliases=aliases)
    assert settled(found).known_at == at("2026-01-14T08:30:00Z")
    assert settled(found).benchmark == "^N225"
    assert "asynchronous" not in settled(found).flags


PASSING = [PriceFault.RATE_LIMITED, PriceFault.UNREACHABLE, PriceFault.SERVER_ERROR]
LONG_AFTER = at("2026-05-28T00:00:00Z")


@pytest.mark.parametrize("kind", PASSING)
@pytest.mark.parametrize("symbol", ["NVDA", "SPY"])
@pytest.mark.parametrize("as_of", [AS_OF, LONG_AFTER])
def test_a_passing_fault_ends_nothing_and_says_why(kind: Any, symbol: str, as_of: Any) -> None:
    spy = Spy(
        FramePrices(CLOSES), lambda found: found | {symbol: PriceError(kind, symbol, "try\nlater")}
    )
    found = settle([ask("NVDA", "2026-01-05"), ask("AMD", "2026-01-05")], spy, as_of=as_of)
    first = unsettled(found[0])
    assert (first.kind, first.known_at) == (Why.FAILED, None)
    assert first.due == at("2026-01-12T23:00:00Z")
    assert first.reason == f"no prices for {symbol}: {kind} (try later)"
    assert isinstance(found[1], Outcome) is (symbol == "NVDA")
    clean = settle([ask("NVDA", "2026-01-05")], FramePrices(CLOSES), as_of=as_of)
    assert settled(clean[0]).known_at == at("2026-01-12T23:00:00Z")


@pytest.mark.parametrize("kind", [PriceFault.UNKNOWN_SYMBOL, PriceFault.NO_BARS])
def test_no_bars_count_only_when_the_wait_is_over(kind: Any) -> None:
    spy = Spy(FramePrices(CLOSES), lambda found: found | {"NVDA": PriceError(kind, "NVDA")})
    [early] = settle([ask("NVDA", "2026-01-05")], spy, as_of=AS_OF)
    assert unsettled(early).kind is Why.WAITING
    assert (f"({kind})" in unsettled(early).reason) is (kind is PriceFault.UNKNOWN_SYMBOL)
    [late] = settle([ask("NVDA", "2026-01-05")], spy, as_of=LONG_AFTER)
    assert unsettled(late).kind is Why.UNRESOLVABLE
    assert unsettled(late).known_at == at("2026-02-11T23:00:00Z")


def explode(_: Any) -> Any:
    raise ConnectionError("the cable\nis cut")


def limited(_: Any) -> Any:
    raise PriceError(PriceFault.RATE_LIMITED, "NVDA", "slow down")


def gone(_: Any) -> Any:
    raise PriceError(PriceFault.UNKNOWN_SYMBOL, "NVDA")


def unreadable(_: Any) -> Any:
    raise UsageError("cannot read prices from a.csv: no such file")


def wrong_dates(found: dict[str, Any]) -> dict[str, Any]:
    return found | {"NVDA": Bars(symbol="NVDA", dates=("x",), closes=(1.0,), raw_closes=(1.0,))}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spoil", "reasons"),
    [
        (explode, ["NVDA: unreachable (ConnectionError: the cable is cut)", "AMD: unreachable"]),
        (limited, ["NVDA: rate limited (slow down)", "AMD: rate limited (slow down)"]),
        (lambda found: {**found, "NVDA": None}, ["NVDA: unreachable (the source left it out", ""]),
        (lambda found: {k: v for k, v in found.items() if k != "NVDA"}, ["NVDA: unreachable", ""]),
        (lambda found: {**found, "NVDA": "503"}, ["NVDA: unreachable (the source left", ""]),
        (lambda _: None, ["NVDA: unreachable (TypeError", "AMD: unreachable (TypeError"]),
        (gone, ["NVDA: unreachable (no prices for NVDA: unknown", "AMD: unreachable"]),
        (unreadable, ["NVDA: unreachable (cannot read prices from a.csv: no such", "AMD: unreach"]),
        (wrong_dates, ["'x' is no date", ""]),
    ],
)
def test_whatever_a_source_does_is_an_answer(spoil: Any, reasons: list[str]) -> None:
    spy = Spy(FramePrices(CLOSES), spoil)
    found = settle([ask("NVDA", "2026-01-05"), ask("AMD", "2026-01-05")], spy, as_of=AS_OF)
    for one, reason in zip(found, reasons, strict=True):
        if reason:
            assert unsettled(one).kind is Why.FAILED
            assert reason in unsettled(one).reason
            assert "\n" not in unsettled(one).reason
        else:
            settled(one)


def test_an_interrupt_is_no_answer() -> None:
    def interrupt(_: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        settle([ask("NVDA", "2026-01-05")], Spy(FramePrices(CLOSES), interrupt), as_of=AS_OF)


def test_a_thousand_decisions_take_less_than_a_millisecond_each() -> None:
    tickers = [f"T{n}" for n in range(50)]
    closes = {ticker: series(DAYS) for ticker in tickers} | {"SPY": CLOSES["SPY"]}
    spy = Spy(FramePrices(closes))
    questions = [ask(ticker, str(day)) for ticker in tickers for day in DAYS[-120:-20:5]]
    settle(questions[:1], spy, as_of=LONG_AFTER)  # calendars load once
    spy.calls.clear()
    began = process_time()
    found = settle(questions, spy, as_of=LONG_AFTER)
    spent = process_time() - began
    assert all(isinstance(one, Outcome) for one in found)
    assert [len(call) for call in spy.calls] == [51]
    assert spent / len(questions) < 1e-3


def test_decisions_of_any_age_and_zone_are_answered() -> None:
    tokyo = timezone(timedelta(hours=9))
    old = Question(ticker="NVDA", decided_at=datetime(1, 1, 1, tzinfo=UTC))
    new = Question(ticker="NVDA", decided_at=datetime(9999, 12, 30, tzinfo=UTC), horizon=2520)
    here = Question(ticker="NVDA", decided_at=datetime(2026, 1, 6, 0, 0, tzinfo=tokyo))
    found = settle([old, new, here], FramePrices(CLOSES), as_of=AS_OF)
    assert [unsettled(one).kind for one in found[:2]] == [Why.UNRESOLVABLE, Why.NOT_DUE]
    assert found[2] == settle([ask("NVDA", "2026-01-05")], FramePrices(CLOSES), as_of=AS_OF)[0]
    with pytest.raises(UsageError, match="no time zone"):
        Question(ticker="NVDA", decided_at=datetime(2026, 1, 6))  # noqa: DTZ001


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, tradmem.market.settle, tradmem.market.frames\n"
        "heavy = {'pandas', 'numpy', 'exchange_calendars', 'pyarrow', 'yfinance'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_file_that_ends_early_is_a_failure_and_no_end_of_trading(tmp_path) -> None:
    path = tmp_path / "closes.csv"
    path.write_text("date,NVDA,SPY\n2026-01-05,100,400\n2026-01-07,102,402\n", encoding="utf-8")
    [found] = settle([ask("NVDA", "2026-01-05")], FilePrices(path), as_of=LONG_AFTER)
    assert unsettled(found).kind is Why.FAILED
    assert "closes.csv ends 2026-01-07" in unsettled(found).reason
    path.write_text("date,NVDA,SPY\n2025-12-05,100,400\n", encoding="utf-8")
    [found] = settle([ask("NVDA", "2026-01-05")], FilePrices(path), as_of=LONG_AFTER)
    assert unsettled(found).kind is Why.FAILED


def test_a_close_that_is_no_number_is_told_and_not_left_out(tmp_path) -> None:
    path = tmp_path / "closes.csv"
    path.write_text(
        'date,NVDA,SPY\n2026-01-05,"1,187.59",400\n2026-01-12,106,406\n', encoding="utf-8"
    )
    [found] = settle([ask("NVDA", "2026-01-05")], FilePrices(path), as_of=LONG_AFTER)
    assert unsettled(found).kind is Why.FAILED
    assert "the close of NVDA on 2026-01-05: '1,187.59' is no number" in unsettled(found).reason

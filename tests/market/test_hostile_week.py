"""A week in which Yahoo fails in every way it knows, and a clean day after it."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.yahoo import Fault, YahooServer
from tradmem.market.cache import CachedPrices
from tradmem.market.question import Question, Unsettled, Why
from tradmem.market.settle import settle
from tradmem.market.yahoo import YahooPrices
from tradmem.model import Outcome

DECIDED = datetime(2026, 11, 2, 15, tzinfo=UTC)  # a Monday, while New York trades
EXIT = date(2026, 11, 9)
EVENING = datetime(2026, 11, 9, 23, 30, tzinfo=UTC)  # the exit close is final since 23:00
TROUBLES = {
    "AAPL": (Fault.UNKNOWN, Why.WAITING, "unknown symbol"),
    "AMD": (Fault.RATE_LIMIT, Why.FAILED, "rate limited"),
    "BAC": (Fault.ERROR, Why.FAILED, "server error"),
    "JNJ": (Fault.ERROR_PAGE, Why.FAILED, "server error"),
    "JPM": (Fault.SLOW, Why.FAILED, "unreachable"),
    "KO": (Fault.NAN_LAST, Why.WAITING, "no close of KO on or after 2026-11-09"),
    "MSFT": (Fault.STALE_YEAR, Why.WAITING, "no close of MSFT from 2026-11-02"),
    "PFE": (Fault.EMPTY, Why.WAITING, "no close of"),
    "WMT": (Fault.HANG_UP, Why.FAILED, "unreachable"),
}
QUESTIONS = {ticker: Question(ticker=ticker, decided_at=DECIDED) for ticker in (*TROUBLES, "XOM")}


@pytest.fixture
def prices(yahoo: YahooServer, tmp_path) -> CachedPrices:
    source = YahooPrices(session=yahoo.session(), timeout=5.0, retries=0)
    return CachedPrices(source, tmp_path, clock=lambda: yahoo.now or datetime.now(UTC))


def asked(yahoo: YahooServer, prices: CachedPrices, now: datetime) -> dict[str, object]:
    yahoo.now = now
    return dict(zip(QUESTIONS, settle(QUESTIONS.values(), prices, as_of=now), strict=True))


def test_a_hostile_week_ends_in_true_reasons_and_a_clean_day_settles_all(yahoo, prices) -> None:
    for day in range(4, 8):  # none of it is due, and nobody is asked
        found = asked(yahoo, prices, datetime(2026, 11, day, 23, 30, tzinfo=UTC))
        assert {answer.kind for answer in found.values()} == {Why.NOT_DUE}
    found = asked(yahoo, prices, EVENING.replace(hour=19))  # the exit session is half over
    assert {answer.kind for answer in found.values()} == {Why.NOT_DUE}
    assert yahoo.requests() == []

    for ticker, (fault, _, _) in TROUBLES.items():
        yahoo.fault(ticker, fault, seconds=15 if fault is Fault.SLOW else None)
    yahoo.fault("XOM", Fault.DUPLICATE_LAST)
    found = asked(yahoo, prices, EVENING)
    for ticker, (_, kind, reason) in TROUBLES.items():
        answer = found[ticker]
        assert isinstance(answer, Unsettled), ticker
        assert (answer.kind, reason in answer.reason) == (kind, True), (ticker, answer)
    assert isinstance(found["XOM"], Outcome)

    yahoo.mend()
    found = asked(yahoo, prices, EVENING + timedelta(days=1))
    index = yahoo.closes("SPY")
    for ticker, outcome in found.items():
        closes = yahoo.closes(ticker)
        raw = closes[EXIT] / closes[DECIDED.date()] - 1
        alpha = raw - (index[EXIT] / index[DECIDED.date()] - 1)
        assert isinstance(outcome, Outcome), ticker
        assert (outcome.entry_date, outcome.exit_date) == (DECIDED.date(), EXIT)
        assert outcome.raw_return == pytest.approx(raw, abs=1e-12)
        assert outcome.alpha == pytest.approx(alpha, abs=1e-12)


def test_the_benchmark_is_asked_for_once_for_all(yahoo, prices) -> None:
    asked(yahoo, prices, EVENING)
    assert len(yahoo.requests("SPY")) == 1
    assert len(yahoo.requests()) == len(QUESTIONS) + 1
    asked(yahoo, prices, EVENING + timedelta(minutes=20))
    assert len(yahoo.requests()) == len(QUESTIONS) + 1

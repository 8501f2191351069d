"""The Yahoo source, with the real client against the local server."""

import json
import math
from collections import Counter
from datetime import UTC, date, datetime

import pytest

from tests.yahoo import Fault, YahooServer
from tests.yahoo.market import real_closes
from tradmem.errors import UsageError
from tradmem.market.prices import Bars, Span
from tradmem.market.yahoo import YahooPrices, undo_splits

EVENING = "2026-11-10T23:30:00+00:00"  # a Tuesday, all sessions of that date are over but crypto's
AUTUMN = ["2026-10-01", "2026-11-10"]
WORLD = ["AAPL", "SPY", "7203.T", "^N225", "BTCUSD", "BHP.AX", "VOD.L", "EURUSD", "BRK.B", "BRK-B"]
AT_YAHOO = {"BTCUSD": "BTC-USD", "EURUSD": "EURUSD=X", "BRK.B": "BRK-B"}
IMPATIENT = {"timeout": 2.0, "retries": 1, "backoff": 0.02}
FAULTS = {
    "UNKNOWN": Fault.UNKNOWN,
    "LIMITED": Fault.RATE_LIMIT,
    "BROKEN": Fault.ERROR,
    "GATEWAY": Fault.ERROR_PAGE,
    "DOWN": Fault.DOWN,
    "GARBAGE": Fault.GARBAGE,
    "HANGUP": Fault.HANG_UP,
    "SLOW": Fault.SLOW,
    "NODATA": Fault.NO_DATA,
    "EMPTY": Fault.EMPTY,
    "STALE": Fault.STALE_YEAR,
    "NAN": Fault.NAN_LAST,
    "ZERO": Fault.ZERO_VOLUME_LAST,
    "DUPLICATE": Fault.DUPLICATE_LAST,
    "HALF": Fault.HALF_BAR,
    "IMOEX.ME": Fault.ZERO_VOLUME_LAST,
    "SILENT": Fault.NO_VOLUMES,
}
PLAIN = [f"PLAIN{n}" for n in range(6)]
SYMBOLS = [*(AT_YAHOO.get(ticker, ticker) for ticker in WORLD), "CBA.AX", *FAULTS]
SYMBOLS += [*PLAIN, "TWICE", "CALM", "KO", "SPLIT", "LATE"]
MANY = [f"MANY{n}" for n in range(20)]


def plan() -> list[dict]:
    """All steps of the one child process; every step has symbols of its own."""

    def fetch(name: str, tickers: list[str], span: list[str] = AUTUMN, **options) -> dict:
        spans = dict.fromkeys(tickers, span)
        return {"name": name, "fetch": spans, "options": IMPATIENT | options}

    def order(**what) -> dict:
        return {"order": what}

    def fault(symbol: str, kind: Fault, **more) -> dict:
        return order(symbol=symbol, fault=kind, **more)

    return [
        order(now=EVENING),
        fault("cookie", Fault.SLOW, seconds=20),
        fetch("no cookie", PLAIN, workers=1),
        order(mend="cookie"),
        fetch("world", WORLD, timeout=20.0, aliases={"OLDNAME": "AAPL"}),
        fetch("crash", ["JNJ"], ["2008-09-01", "2008-10-31"]),
        fetch("sydney", ["CBA.AX"], ["2026-11-10", "2026-11-10"]),
        *(fault(symbol, kind, seconds=6) for symbol, kind in FAULTS.items() if kind != "429"),
        fault("LIMITED", Fault.RATE_LIMIT),
        fetch("faults", list(FAULTS), patience=10.0),
        fault("TWICE", Fault.RATE_LIMIT, times=2),
        fault("LATER", Fault.ERROR, times=2),
        fault("TIRED", Fault.SLOW, times=1, seconds=6),
        fetch("passing", ["TWICE", "LATER", "TIRED", "CALM"], workers=1),
        fault("WAIT", Fault.RATE_LIMIT, seconds=900),
        fetch("told to wait", ["WAIT"], retries=5, patience=2.0),
        *(fault(symbol, Fault.RATE_LIMIT) for symbol in MANY),
        fetch("storm", MANY, retries=3, backoff=2, patience=0.3),
        fault("SICK", Fault.ERROR),
        fault("FINE1", Fault.SLOW, times=1, seconds=0.5),
        fetch("one sick", ["SICK", "FINE1", "FINE2"], workers=1, patience=0.3),
        fetch("fund", ["VFIAX"]),
        order(symbol="SPLIT", split=4, date="2026-10-20"),
        order(symbol="SPLIT", split=0.5, date="2026-11-05"),
        order(symbol="SPLIT", dividend=3.5, date="2026-10-28"),
        order(symbol="LATE", split=2, date="2026-10-20", applied=False),
        fetch("actions", ["SPLIT", "LATE"], ["2026-10-01", "2026-10-30"]),
        order(now="2026-11-10T16:00:00+00:00"),
        fetch("open", ["KO"]),
        order(now=EVENING),
        fetch("closed", ["KO"]),
        order(now="2026-11-11T23:30:00+00:00"),
        fetch("next day", ["KO"], ["2026-10-01", "2026-11-11"]),
        {"environment": {"HTTPS_PROXY": "http://127.0.0.1:9"}},
        fetch("nobody there", ["AAPL"], retries=0),
    ]


class Seen:
    """What the child found, and what the server saw of it."""

    def __init__(self, server: YahooServer, home) -> None:
        server.reset()
        server.now = datetime.fromisoformat(EVENING)
        self.served = {
            symbol: {str(day): close for day, close in server.closes(symbol).items()}
            for symbol in SYMBOLS
        }
        self.home = home
        environment = server.child_environment() | {"HOME": str(home)}
        environment.pop("XDG_CACHE_HOME", None)
        done = server.run(
            __file__.replace("test_yahoo", "yahoo_child"),
            server.url,
            env=environment,
            input=json.dumps(plan()),
        )
        self.noise = done.stderr
        assert done.returncode == 0, done.stderr
        self.steps = json.loads(done.stdout)
        self.log = server.requests()
        self.counts = Counter(request.symbol for request in self.log)

    def answer(self, step: str, ticker: str) -> dict:
        return self.steps[step]["answers"][ticker]

    def within(self, symbol: str, start: str, end: str) -> dict[str, float]:
        return {day: c for day, c in self.served[symbol].items() if start <= day <= end}


@pytest.fixture(scope="module")
def seen(yahoo_server: YahooServer, tmp_path_factory) -> Seen:
    return Seen(yahoo_server, tmp_path_factory.mktemp("home"))


@pytest.mark.parametrize("ticker", WORLD)
def test_closes_are_the_served_ones_on_their_own_dates(seen: Seen, ticker: str) -> None:
    symbol = AT_YAHOO.get(ticker, ticker)
    answer = seen.answer("world", ticker)
    served = seen.within(symbol, *AUTUMN)
    if symbol in ("BTC-USD", "EURUSD=X"):  # still open
        assert served.setdefault("2026-11-10", answer["closes"]["2026-11-10"])
    assert answer["closes"] == served
    assert len(served) > 24
    assert answer["symbol"] == ticker
    assert answer["source"] == "yahoo"


def test_each_symbol_is_asked_for_once_whatever_its_spellings(seen: Seen) -> None:
    symbols = {AT_YAHOO.get(ticker, ticker) for ticker in WORLD}
    asked = Counter(request.symbol for request in seen.log if request.symbol in symbols)
    assert asked == dict.fromkeys(symbols, 1)
    assert {r.period1 is None for r in seen.log} == {False}  # none for a time zone


def test_closes_come_in_the_quotes_own_currency(seen: Seen) -> None:
    currencies = {ticker: seen.answer("world", ticker)["currency"] for ticker in WORLD}
    assert currencies["VOD.L"] == "GBp"
    assert currencies["7203.T"] == "JPY"
    assert currencies["BHP.AX"] == "AUD"
    assert currencies["AAPL"] == currencies["BTCUSD"] == "USD"


def test_an_index_is_a_price_series_and_a_fund_is_not(seen: Seen) -> None:
    assert seen.answer("world", "^N225")["basis"] == "price"
    assert seen.answer("world", "SPY")["basis"] == "total"


def test_a_past_span_has_the_real_closes_of_its_days(seen: Seen) -> None:
    crash = {
        str(day): close
        for day, close in real_closes()["JNJ"].items()
        if date(2008, 9, 1) <= day <= date(2008, 10, 31)
    }
    assert seen.answer("crash", "JNJ")["closes"] == crash
    assert len(crash) == 44


def test_a_sydney_bar_stays_on_its_sydney_date(seen: Seen) -> None:
    """It opens at 23:00 UTC of the day before, and the span is that one Sydney day."""
    assert list(seen.answer("sydney", "CBA.AX")["closes"]) == ["2026-11-10"]
    assert seen.answer("sydney", "CBA.AX")["closes"] == seen.within(
        "CBA.AX", "2026-11-10", "2026-11-10"
    )


@pytest.mark.parametrize(
    ("symbol", "fault", "said"),
    [
        ("UNKNOWN", "unknown symbol", "status 404: No data found, symbol may be delisted"),
        ("LIMITED", "rate limited", "status 429"),
        ("BROKEN", "server error", "status 500: An internal error occurred"),
        ("GATEWAY", "server error", "status 502"),
        ("DOWN", "server error", "status 200: Yahoo is down"),
        ("GARBAGE", "server error", "status 200, no chart"),
        ("HANGUP", "unreachable", "ConnectionError: Failed to perform, curl: (56)"),
        ("SLOW", "unreachable", "timed out after 2 s"),
        ("NODATA", "no bars in span", "Data doesn't exist"),
        ("EMPTY", "no bars in span", "Yahoo has no rows"),
        ("STALE", "no bars in span", "2026-10-01 to 2026-11-10"),
    ],
)
def test_each_failure_has_its_own_reason(seen: Seen, symbol: str, fault: str, said: str) -> None:
    answer = seen.answer("faults", symbol)
    assert answer["fault"] == fault
    assert answer["symbol"] == symbol
    assert answer["detail"].startswith(said)


def test_an_unknown_symbol_is_not_asked_for_again(seen: Seen) -> None:
    """The two requests are one of ours: yfinance repeats each refusal with another cookie."""
    assert seen.counts["UNKNOWN"] == seen.counts["NODATA"] == 2
    assert seen.counts["BROKEN"] == seen.counts["LIMITED"] == 4


@pytest.mark.parametrize("symbol", ["NAN", "ZERO"])
def test_a_last_row_without_a_trade_is_no_bar(seen: Seen, symbol: str) -> None:
    assert seen.answer("faults", symbol)["closes"] == seen.within(
        symbol, "2026-10-01", "2026-11-09"
    )


def test_a_volume_of_zero_says_nothing_of_an_index_or_a_fund(seen: Seen) -> None:
    """Whose symbols look like a share's. And zero on all days means that none is reported."""
    for symbol in ("IMOEX.ME", "SILENT"):
        assert seen.answer("faults", symbol)["closes"] == seen.within(symbol, *AUTUMN)
    assert len(seen.answer("fund", "VFIAX")["closes"]) == 29


def test_a_duplicated_last_row_is_one_bar(seen: Seen) -> None:
    assert seen.answer("faults", "DUPLICATE")["closes"] == seen.within("DUPLICATE", *AUTUMN)


def test_a_live_half_bar_is_returned_as_the_last_row(seen: Seen) -> None:
    got, served = seen.answer("faults", "HALF")["closes"], seen.within("HALF", *AUTUMN)
    assert got.keys() == served.keys()
    assert [day for day in got if got[day] != served[day]] == ["2026-11-10"]


def test_passing_faults_are_tried_again_and_answered(seen: Seen) -> None:
    assert seen.answer("passing", "TWICE")["closes"] == seen.within("TWICE", *AUTUMN)
    assert "closes" in seen.answer("passing", "LATER")
    assert "closes" in seen.answer("passing", "TIRED")
    assert (seen.counts["TWICE"], seen.counts["TIRED"], seen.counts["CALM"]) == (3, 2, 1)


def test_a_longer_wait_than_our_patience_is_not_begun(seen: Seen) -> None:
    assert seen.answer("told to wait", "WAIT")["fault"] == "rate limited"
    assert seen.counts["WAIT"] == 2
    assert seen.steps["told to wait"]["seconds"] < 10


def test_a_rate_limit_on_everything_ends_the_asking(seen: Seen) -> None:
    """Four workers ask once each, nobody else is asked for, and all have the true reason."""
    assert {seen.answer("storm", symbol)["fault"] for symbol in MANY} == {"rate limited"}
    assert sum(seen.counts[symbol] for symbol in MANY) <= 2 * 4
    assert seen.answer("storm", MANY[-1])["detail"].startswith("not asked")
    assert seen.steps["storm"]["seconds"] < 10


def test_one_sick_symbol_keeps_no_other_from_being_asked_for(seen: Seen) -> None:
    """Long after our patience with the first has ended."""
    assert seen.answer("one sick", "SICK")["fault"] == "server error"
    assert "closes" in seen.answer("one sick", "FINE1")
    assert "closes" in seen.answer("one sick", "FINE2")


def test_a_cookie_that_does_not_come_delays_no_prices(seen: Seen) -> None:
    """One time-out for the cookie, not one for each symbol, and none of yfinance's 30 seconds."""
    assert all("closes" in seen.answer("no cookie", symbol) for symbol in PLAIN)
    assert 2 < seen.steps["no cookie"]["seconds"] < 8


def test_raw_closes_undo_every_split_up_to_now(seen: Seen) -> None:
    """Four for one on 20 October, one for two on 5 November, which is after the span."""
    got = seen.answer("actions", "SPLIT")
    for day, close in seen.within("SPLIT", "2026-10-01", "2026-10-30").items():
        factor = 0.5 * (4 if day < "2026-10-20" else 1)
        assert got["raw"][day] == pytest.approx(close * factor, rel=1e-12)
    assert got["splits"] == {"2026-10-20": 4.0}


def test_closes_are_adjusted_for_a_dividend_and_raw_closes_are_not(seen: Seen) -> None:
    got, served = seen.answer("actions", "SPLIT"), seen.served["SPLIT"]
    cut = 1 - 3.5 / served["2026-10-27"]
    assert got["dividends"] == {"2026-10-28": 3.5}
    assert got["closes"]["2026-10-27"] == pytest.approx(served["2026-10-27"] * cut, rel=1e-12)
    assert got["closes"]["2026-10-28"] == served["2026-10-28"]


def test_a_split_that_the_closes_still_show_is_not_undone(seen: Seen) -> None:
    got, served = seen.answer("actions", "LATE"), seen.served["LATE"]
    assert got["splits"] == {"2026-10-20": 2.0}
    assert got["raw"]["2026-10-19"] == pytest.approx(2 * served["2026-10-19"], rel=1e-12)
    assert got["raw"] == got["closes"]


def test_a_later_fetch_in_the_same_process_sees_what_is_new(seen: Seen) -> None:
    half, full = (seen.answer(step, "KO")["closes"]["2026-11-10"] for step in ("open", "closed"))
    assert full == seen.served["KO"]["2026-11-10"] != half
    assert list(seen.answer("next day", "KO")["closes"])[-1] == "2026-11-11"
    assert seen.counts["KO"] == 3


def test_a_network_that_is_down_is_unreachable(seen: Seen) -> None:
    assert seen.answer("nobody there", "AAPL")["fault"] == "unreachable"


def test_nothing_is_printed_and_nothing_is_left_at_home(seen: Seen) -> None:
    assert seen.noise == ""
    assert list(seen.home.rglob("*")) == []


def test_a_session_of_ones_own_is_used(yahoo: YahooServer) -> None:
    yahoo.now = datetime(2026, 11, 10, 23, 30, tzinfo=UTC)
    prices = YahooPrices(aliases={"MYNAME": "MSFT"}, session=yahoo.session())
    found = prices.fetch({"MYNAME": Span(date(2026, 11, 2), date(2026, 11, 10))})["MYNAME"]
    assert isinstance(found, Bars)
    served = yahoo.closes("MSFT")
    assert found.closes == tuple(served[day] for day in found.dates)
    assert found.symbol == "MYNAME"
    assert len(yahoo.requests("MSFT")) == 1


def test_nothing_to_fetch_asks_nobody(yahoo: YahooServer) -> None:
    assert YahooPrices(session=yahoo.session()).fetch({}) == {}
    assert yahoo.requests() == []


DAYS = [date(2026, 1, day) for day in (5, 6, 7, 8, 9)]


def test_a_close_is_multiplied_by_each_later_split() -> None:
    closes = [10.0, 10.5, 10.0, 10.2, 10.1]
    splits = {DAYS[2]: 2.0, DAYS[4]: 3.0}
    assert undo_splits(DAYS, closes, splits) == pytest.approx([60.0, 63.0, 30.0, 30.6, 10.1])


def test_a_missing_close_beside_a_split_hides_nothing() -> None:
    """The closes before still show the split, and the row between them has no close."""
    raw = undo_splits(DAYS, [20.0, math.nan, 10.0, 10.2, 10.1], {DAYS[2]: 2.0})
    assert raw[0] == 20.0
    assert math.isnan(raw[1])
    assert raw[2:] == [10.0, 10.2, 10.1]


def test_a_small_stock_dividend_is_always_undone() -> None:
    assert undo_splits(DAYS[:2], [10.5, 10.0], {DAYS[1]: 1.05})[0] == pytest.approx(11.025)


@pytest.mark.parametrize("options", [{"workers": 0}, {"timeout": 0}, {"retries": -1}])
def test_impossible_options_are_refused(options: dict) -> None:
    with pytest.raises(UsageError, match="one worker"):
        YahooPrices(**options)


AT_ONCE = """
import sys, tempfile, threading, time
from datetime import date
from tradmem.market.prices import Span
from tradmem.market.yahoo import YahooPrices

class Slow(tempfile.TemporaryDirectory):
    made = 0

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        Slow.made += 1
        time.sleep(0.3)

def fetch(name):
    span = Span(date(2026, 11, 2), date(2026, 11, 10))
    found.append(YahooPrices(retries=0).fetch({name: span})[name])

import tradmem.market.yahoo_client
tempfile.TemporaryDirectory, found = Slow, []
threads = [threading.Thread(target=fetch, args=(name,)) for name in ("AAPL", "SPY", "KO", "MSFT")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for answer in found:
    print(getattr(answer, "source", answer))
print("folders:", Slow.made)
"""


def test_the_first_fetches_of_a_process_may_be_made_by_threads_at_once(yahoo: YahooServer) -> None:
    """They share one folder for the cookie; the second one of two would take the first away."""
    yahoo.now = datetime(2026, 11, 10, 23, 30, tzinfo=UTC)
    done = yahoo.run("-c", AT_ONCE, env=yahoo.child_environment())
    assert (done.stdout.splitlines(), done.stderr) == (["yahoo"] * 4 + ["folders: 1"], "")

"""What is a bar, and what sources in memory and in files answer."""

import gzip
import math
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pandas as pd
import pytest

from tradmem.errors import PriceError, PriceFault, UsageError
from tradmem.market.frames import FilePrices, FramePrices
from tradmem.market.prices import Bars, PriceSource, Row, Span, as_date, cut_bars, make_bars

ALL = Span(date(2000, 1, 1), date(2030, 1, 1))
JAN5, JAN6, JAN7 = date(2026, 1, 5), date(2026, 1, 6), date(2026, 1, 7)


def bars_of(found: Bars | PriceError) -> Bars:
    assert isinstance(found, Bars), found
    return found


def closes(source: PriceSource, ticker: str, span: Span = ALL) -> dict[date, float]:
    found = bars_of(source.fetch({ticker: span})[ticker])
    assert found.symbol == ticker
    return dict(zip(found.dates, found.closes, strict=True))


def fault(source: PriceSource, ticker: str, span: Span = ALL) -> PriceError:
    found = source.fetch({ticker: span})[ticker]
    assert isinstance(found, PriceError)
    return found


@pytest.mark.parametrize("bad", [None, math.nan, math.inf, -math.inf, 0, -5.0, "", "n/a", pd.NA])
def test_what_is_no_price_is_no_bar(bad: object) -> None:
    found = bars_of(make_bars("NVDA", [Row(JAN5, 100.0), Row(JAN6, bad)]))
    assert found.dates == (JAN5,)


def test_a_date_twice_is_one_bar_and_the_later_row_counts() -> None:
    rows = [(JAN6, 1.0), (JAN5, 100.0), (JAN6, 101.0), (JAN6, None)]
    found = bars_of(make_bars("NVDA", rows))
    assert (found.dates, found.closes) == ((JAN5, JAN6), (100.0, 101.0))


def test_only_an_equity_without_trades_has_no_bar() -> None:
    rows = [Row(JAN5, 100.0, None, 12), Row(JAN6, 101.0, None, 0), Row(JAN7, 102.0, None, math.nan)]
    assert bars_of(make_bars("NVDA", rows)).dates == (JAN5, JAN7)
    assert bars_of(make_bars("BRK.B", rows)).dates == (JAN5, JAN7)
    for ticker in ("EURUSD", "BTCUSD", "^FTSE", "FTSEMIB.MI", "ES=F"):
        assert bars_of(make_bars(ticker, rows)).dates == (JAN5, JAN6, JAN7)


def test_rows_and_events_outside_the_span_go() -> None:
    rows = [(JAN5 + timedelta(days=n), 100.0 + n) for n in range(5)]
    events = {JAN5: 2.0, JAN6: 3.0, "2026-01-09": 4.0}
    found = bars_of(make_bars("NVDA", rows, span=Span(JAN6, JAN7), splits=events, dividends=events))
    assert found.dates == (JAN6, JAN7)
    assert found.splits == found.dividends == {JAN6: 3.0}
    assert bars_of(cut_bars(bars_of(make_bars("NVDA", rows)), "nv", Span(JAN6, JAN6))).closes == (
        101.0,
    )
    nothing = make_bars("NVDA", rows, span=Span(date(2025, 1, 1), date(2025, 2, 1)))
    assert isinstance(nothing, PriceError)
    assert nothing.kind is PriceFault.NO_BARS


def test_unadjusted_closes_stand_beside_or_are_the_same() -> None:
    found = bars_of(
        make_bars("NVDA", [Row(JAN5, 50.0, 100.0), Row(JAN6, 51.0, math.nan), (JAN7, 52)])
    )
    assert found.raw_closes == (100.0, 51.0, 52.0)


def test_a_date_is_the_bar_s_own_local_date() -> None:
    sydney = timezone(timedelta(hours=11))
    keys = [
        "2026-01-05", "20260105", " 2026-01-05 ", "2026-01-05T00:00:00+11:00",
        "2026-01-05 00:00:00", JAN5, datetime(2026, 1, 5, 0, 30, tzinfo=sydney),
        pd.Timestamp("2026-01-05"), pd.Timestamp("2026-01-05", tz="Australia/Sydney"),
        pd.Timestamp("2026-01-05").to_datetime64(), pd.Period("2026-01-05", "D"),
    ]  # fmt: skip
    assert [as_date(key) for key in keys] == [JAN5] * len(keys)
    assert as_date(pd.NaT) is None
    with pytest.raises(UsageError, match="'05/01/2026' is no date"):
        as_date("05/01/2026")


def test_frames_of_every_shape_say_the_same() -> None:
    plain = {"NVDA": {"2026-01-05": 100.0, "2026-01-06": None}, "SPY": {"2026-01-06": 400.0}}
    index = pd.DatetimeIndex(["2026-01-05", "2026-01-06"], tz="America/New_York")
    frame = pd.DataFrame({"NVDA": [100.0, math.nan], "SPY": [math.nan, 400.0]}, index=index)
    shapes = [
        FramePrices(plain),
        FramePrices({name: pd.Series(column) for name, column in plain.items()}),
        FramePrices({"nvda": {JAN5: 100}, "SPY": {pd.Timestamp(JAN6): 400}}),
        FramePrices(frame),
        FramePrices(frame.tz_localize(None).rename_axis("Date").reset_index()),
        FramePrices(pd.concat({"Close": frame, "Volume": frame}, axis=1)),
    ]
    for source in shapes:
        assert isinstance(source, PriceSource)
        assert closes(source, "NVDA") == {JAN5: 100.0}
        assert closes(source, "SPY") == {JAN6: 400.0}


def test_a_ticker_is_found_as_written_then_under_yahoo_s_name() -> None:
    source = FramePrices(
        {"BRK-B": {JAN5: 500.0}, "BTC-USD": {JAN5: 9e4}, "600519.SH": {JAN5: 1.5e3}}
    )
    assert closes(source, "BRK.B") == {JAN5: 500.0}
    assert closes(source, "BTCUSDT") == {JAN5: 9e4}
    assert closes(source, "600519.SS") == {JAN5: 1.5e3}
    both = FramePrices({"BRK-B": {JAN5: 500.0}, "BRK.B": {JAN5: 501.0}})
    assert (closes(both, "BRK.B"), closes(both, "BRK-B")) == ({JAN5: 501.0}, {JAN5: 500.0})
    renamed = FramePrices({"META": {JAN5: 600.0}}, aliases={"FB": "META"})
    assert closes(renamed, "FB") == {JAN5: 600.0}


def test_each_ticker_is_answered_for_itself() -> None:
    source = FramePrices({"NVDA": {JAN5: 100.0}, "DEAD": {JAN5: None}})
    found = source.fetch({"NVDA": ALL, "DEAD": ALL, "FAKE": ALL})
    assert list(found) == ["NVDA", "DEAD", "FAKE"]
    assert bars_of(found["NVDA"]).closes == (100.0,)
    assert fault(source, "DEAD").kind is PriceFault.NO_BARS
    assert fault(source, "FAKE").kind is PriceFault.UNKNOWN_SYMBOL
    late = fault(source, "NVDA", Span(JAN6, JAN7))
    assert str(late) == "no prices for NVDA: no bars in span (2026-01-06 to 2026-01-07)"


def test_a_frame_with_volumes_splits_and_unadjusted_closes() -> None:
    source = FramePrices(
        {"NVDA": {JAN5: 50.0, JAN6: 51.0, JAN7: 52.0}},
        raw_closes={"NVDA": {JAN5: 100.0, JAN6: 102.0}},
        volumes={"NVDA": {JAN5: 10, JAN6: 0}},
        splits={"NVDA": {"2026-01-07": 2.0}},
        dividends={"NVDA": {JAN6: 0.25}},
        basis="price",
        source="mine",
    )
    found = bars_of(source.fetch({"NVDA": ALL})["NVDA"])
    assert (found.dates, found.raw_closes) == ((JAN5, JAN7), (100.0, 52.0))
    assert (found.splits, found.dividends) == ({JAN7: 2.0}, {JAN6: 0.25})
    assert (found.basis, found.source) == ("price", "mine")


def test_what_is_passed_in_is_copied() -> None:
    data = {"NVDA": {JAN5: 100.0}}
    frame = pd.DataFrame({"NVDA": [100.0]}, index=[JAN5])
    sources = [FramePrices(data), FramePrices(frame)]
    data["NVDA"][JAN5] = 1.0
    frame.loc[JAN5, "NVDA"] = 1.0
    assert [closes(source, "NVDA") for source in sources] == [{JAN5: 100.0}] * 2


@pytest.mark.parametrize("data", [[1.0], {"NVDA": [100.0]}, {"NVDA": 100.0}, 5])
def test_data_of_another_shape_is_refused(data: object) -> None:
    with pytest.raises(UsageError, match="closes are a DataFrame, or by ticker"):
        FramePrices(data)  # type: ignore[arg-type]


WIDE = "Date,NVDA,BRK-B,NA\n2026-01-05,100,500,1\n2026-01-06,,501,2\n2026-01-07,102,n/a,3\n"
LONG = """date,ticker,close,adj_close,volume,split,currency
2026-01-05,NVDA,100,50,10,0,USD
2026-01-06,NVDA,102,51,0,0,USD
2026-01-07,NVDA,52,52,10,2,USD
2026-01-05,VOD.L,70,70,5,0,GBp
2026-01-06,VOD.L,71,,5,0,GBp
2026-01-05,TRUE,3,3,1,0,USD
"""


def write(path: Path, text: str) -> Path:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["closes.csv", "closes.csv.gz"])
def test_a_wide_file(tmp_path: Path, name: str) -> None:
    source = FilePrices(write(tmp_path / name, WIDE))
    assert isinstance(source, PriceSource)
    assert source.tickers == ("NVDA", "BRK-B", "NA")
    assert closes(source, "NVDA") == {JAN5: 100.0, JAN7: 102.0}
    assert closes(source, "BRK.B") == {JAN5: 500.0, JAN6: 501.0}
    assert closes(source, "NA", Span(JAN6, JAN6)) == {JAN6: 2.0}
    assert bars_of(source.fetch({"NVDA": ALL})["NVDA"]).source == name


def test_a_long_file(tmp_path: Path) -> None:
    source = FilePrices(write(tmp_path / "closes.csv", LONG))
    found = bars_of(source.fetch({"NVDA": ALL})["NVDA"])
    assert (found.dates, found.closes) == ((JAN5, JAN7), (50.0, 52.0))
    assert (found.raw_closes, found.splits) == ((100.0, 52.0), {JAN7: 2.0})
    london = bars_of(source.fetch({"VOD.L": ALL})["VOD.L"])
    assert (london.dates, london.currency, london.basis) == ((JAN5,), "GBp", "total")
    assert closes(source, "TRUE") == {JAN5: 3.0}


def test_a_long_file_of_closes_alone(tmp_path: Path) -> None:
    text = "Symbol,Date,Close\nNVDA,2026-01-06,101\nNVDA,2026-01-05,100\n"
    source = FilePrices(write(tmp_path / "a.csv", text), basis="price")
    found = bars_of(source.fetch({"NVDA": ALL})["NVDA"])
    assert (found.dates, found.closes, found.basis) == ((JAN5, JAN6), (100.0, 101.0), "price")


def test_parquet_with_the_dates_as_index_or_column(tmp_path: Path) -> None:
    index = pd.DatetimeIndex(["2026-01-05", "2026-01-06"], name="Date")
    wide = pd.DataFrame({"NVDA": [100.0, math.nan], "SPY": [400.0, 401.0]}, index=index)
    long = wide.reset_index().melt("Date", var_name="ticker", value_name="close")
    for number, frame in enumerate((wide, wide.reset_index(), long)):
        path = tmp_path / f"{number}.parquet"
        frame.to_parquet(path)
        source = FilePrices(path)
        assert closes(source, "NVDA") == {JAN5: 100.0}
        assert closes(source, "SPY") == {JAN5: 400.0, JAN6: 401.0}


def test_what_pandas_writes_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"NVDA": [100.0]}, index=pd.DatetimeIndex(["2026-01-05"]))
    frame.to_csv(tmp_path / "a.csv")
    assert closes(FilePrices(tmp_path / "a.csv"), "NVDA") == {JAN5: 100.0}


def test_a_ticker_that_is_not_in_the_file_is_an_answer_that_names_it(tmp_path: Path) -> None:
    found = fault(FilePrices(write(tmp_path / "closes.csv", WIDE)), "FAKE")
    assert found.kind is PriceFault.UNKNOWN_SYMBOL
    assert str(found) == "no prices for FAKE: unknown symbol (not in closes.csv)"


def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = write(tmp_path / "closes.csv", WIDE)
    source = FilePrices(path)
    assert JAN6 not in closes(source, "NVDA")
    write(path, WIDE.replace("2026-01-06,,", "2026-01-06,101.5,"))
    assert closes(source, "NVDA")[JAN6] == 101.5


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "Date,Open,High,Low,Close\n2026-01-05,1,2,1,2\n", "no ticker; add a column"),
        ("a.csv", "Date,Close\n2026-01-05,1\n", "name that column after the ticker"),
        ("a.csv", "Date,Adj Close,Volume\n2026-01-05,1,2\n", "no ticker; add a column"),
        ("a.csv", "Date,NVDA\n05.01.2026,1\n", "'05.01.2026' is no date"),
        ("a.csv", "", "No columns"),
        ("a.csv", "ticker,close\n", "rows with date, ticker and close"),
        ("a.csv", "date,ticker,open\n2026-01-05,NVDA,1\n", "rows with date, ticker and close"),
        ("a.parquet", "no parquet", "[Pp]arquet"),
        ("a.csv", "\xff\xfe", "utf-8"),
        ("a.csv", "date;NVDA\n2026-01-05;1\n", "it has no dates"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_line(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=message) as caught:
        FilePrices(path).fetch({"NVDA": ALL})
    assert str(caught.value).startswith(f"cannot read prices from {path}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read prices from .*b\.csv: no such file"):
        FilePrices(tmp_path / "b.csv")
    with pytest.raises(UsageError, match="it is no file"):
        FilePrices(tmp_path)
    broken = tmp_path / "c.csv.gz"
    broken.write_bytes(gzip.compress(WIDE.encode())[:20])
    with pytest.raises(UsageError, match="cannot read prices from"):
        FilePrices(broken).fetch({"NVDA": ALL})


def test_a_date_with_two_closes_is_said_and_one_that_is_only_repeated_is_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "date,NVDA,SPY\n2026-01-05,1,4\n2026-01-05,2,4\n2026-01-06,,4\n2026-01-06,3,4\n"
    )
    assert FilePrices(path).notices == (
        f"{path} has several closes of NVDA on 2026-01-05; the last one counts",
    )
    path.write_text("date,ticker,close\n2026-01-05,A,1\n2026-01-05,B,2\n2026-01-05,A,1\n")
    assert FilePrices(path).notices == ()

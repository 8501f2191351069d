"""Spellings, markets, benchmarks and currencies of tickers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradmem.market.symbols import (
    MARKETS,
    benchmark_of,
    currency_of,
    index_basis,
    kind_of,
    main_currency,
    suffix_of,
    unknown_market,
    yahoo_symbol,
)
from tradmem.tickers import AssetClass, check_ticker


@pytest.mark.parametrize(
    ("ticker", "symbol"),
    [
        ("NVDA", "NVDA"),
        ("nvda", "NVDA"),
        ("BRK.B", "BRK-B"),
        ("BRK-B", "BRK-B"),
        ("BRK_B", "BRK-B"),
        ("BRKB", "BRK-B"),
        ("BF.A", "BF-A"),
        ("BAC.PR.L", "BAC-PL"),
        ("BAC.PRL", "BAC-PL"),
        ("ACHR.WS", "ACHR-WT"),
        ("RCI.B.TO", "RCI-B.TO"),
        ("REI.UN.TO", "REI-UN.TO"),
        ("VOLV.B.ST", "VOLV-B.ST"),
        ("VOD.L", "VOD.L"),
        ("7203.T", "7203.T"),
        ("ABC.V", "ABC.V"),
        ("AAPL.US", "AAPL"),
        ("BRK.B.US", "BRK-B"),
        ("MSFT.O", "MSFT"),
        ("600519.SH", "600519.SS"),
        ("600519.SS", "600519.SS"),
        ("600519.XSHG", "600519.SS"),
        ("000001.XSHE", "000001.SZ"),
        ("SH600519", "600519.SS"),
        ("SZ000001", "000001.SZ"),
        ("700.HK", "0700.HK"),
        ("00700.HK", "0700.HK"),
        ("80700.HK", "80700.HK"),
        ("M&M.NS", "M&M.NS"),
        ("XAUUSD", "GC=F"),
        ("XAG-USD", "SI=F"),
        ("USOIL", "CL=F"),
        ("BTCUSD", "BTC-USD"),
        ("BTC-USDT", "BTC-USD"),
        ("BTCUSDT", "BTC-USD"),
        ("BTC_USDC", "BTC-USD"),
        ("XBTEUR", "BTC-EUR"),
        ("ETHBTC", "ETH-BTC"),
        ("1INCHUSDT", "1INCH-USD"),
        ("USDTUSD", "USDT-USD"),
        ("SOL-EUR", "SOL-EUR"),
        ("EURUSD", "EURUSD=X"),
        ("EUR-USD", "EURUSD=X"),
        ("USD_JPY", "USDJPY=X"),
        ("USDPLN", "USDPLN=X"),
        ("EURUSD=X", "EURUSD=X"),
        ("JPY=X", "JPY=X"),
        ("ES=F", "ES=F"),
        ("US500", "^GSPC"),
        ("SPX", "^GSPC"),
        ("NAS100", "^NDX"),
        ("GER40", "^GDAXI"),
        ("JP225", "^N225"),
        ("UK100", "^FTSE"),
        ("HK50", "^HSI"),
        ("IT40", "FTSEMIB.MI"),
        ("VIX", "^VIX"),
        ("^N225", "^N225"),
        # Shares whose letters look like something else.
        ("BTC", "BTC"),
        ("ETH", "ETH"),
        ("USD", "USD"),
        ("GOLD", "GOLD"),
        ("DAX", "DAX"),
        ("COMP", "COMP"),
        ("WTI", "WTI"),
        ("EQNR.OL", "EQNR.OL"),
        ("BMW.F", "BMW.F"),
    ],
)
def test_yahoo_s_spelling(ticker: str, symbol: str) -> None:
    assert yahoo_symbol(ticker) == symbol
    assert yahoo_symbol(symbol) == symbol


def test_aliases_of_the_user_win() -> None:
    aliases = {"FB": "META", "GOLD": "B", "BTC-USD": "BTC-EUR", "SPX": "SPY"}
    assert yahoo_symbol("fb", aliases) == "META"
    assert yahoo_symbol("SPX", aliases) == "SPY"
    assert yahoo_symbol("BTCUSD", aliases) == "BTC-EUR"
    assert yahoo_symbol("BRK.B", aliases) == "BRK-B"


@given(st.from_regex(r"\^?[A-Z0-9][A-Z0-9.&=_^-]{0,12}", fullmatch=True))
def test_any_ticker_has_a_spelling_that_stays(ticker: str) -> None:
    symbol = yahoo_symbol(check_ticker(ticker))
    assert yahoo_symbol(symbol) == symbol
    assert symbol


@pytest.mark.parametrize(
    ("ticker", "kind"),
    [
        ("NVDA", AssetClass.EQUITY),
        ("BRK-B", AssetClass.EQUITY),
        ("BTCUSD", AssetClass.CRYPTO),
        ("EUR-USD", AssetClass.FX),
        ("XAUUSD", AssetClass.FUTURE),
        ("US500", AssetClass.INDEX),
        ("000001.SS", AssetClass.INDEX),
        ("000001.SH", AssetClass.INDEX),
        ("000001.SZ", AssetClass.EQUITY),
        ("FTSEMIB.MI", AssetClass.INDEX),
    ],
)
def test_asset_class_is_taken_after_aliasing(ticker: str, kind: AssetClass) -> None:
    assert kind_of(ticker) is kind


@pytest.mark.parametrize(
    ("ticker", "benchmark"),
    [
        ("NVDA", "SPY"),
        ("nvda", "SPY"),
        ("BRK.B", "SPY"),
        ("BRK-B", "SPY"),
        ("AAPL.US", "SPY"),
        ("SPY", None),
        ("QQQ", "SPY"),
        ("ETH-USD", "BTC-USD"),
        ("ETHUSDT", "BTC-USD"),
        ("ETH-EUR", "BTC-EUR"),
        ("ETH-BTC", None),
        ("BTC-USD", None),
        ("XBTEUR", None),
        ("EURUSD", None),
        ("JPY=X", None),
        ("XAUUSD", None),
        ("ES=F", None),
        ("^VIX", None),
        ("^N225", None),
        ("RELIANCE.NS", "^NSEI"),
        ("RELIANCE.BO", "^BSESN"),
        ("7203.T", "^N225"),
        ("700.HK", "^HSI"),
        ("VOD.L", "^FTSE"),
        ("RCI.B.TO", "^GSPTSE"),
        ("ABC.V", "^GSPTSE"),
        ("BHP.AX", "^AXJO"),
        ("600519.SS", "000001.SS"),
        ("600519.SH", "000001.SS"),
        ("000001.SS", None),
        ("000001.SZ", "399001.SZ"),
        ("2330.TW", "^TWII"),
        ("6488.TWO", "^TWII"),
        ("005930.KS", "^KS11"),
        ("035720.KQ", "^KQ11"),
        ("SAP.DE", "^GDAXI"),
        ("AIR.PA", "^FCHI"),
        ("ENI.MI", "FTSEMIB.MI"),
        ("FTSEMIB.MI", None),
        ("ASML.AS", "^AEX"),
        ("SAN.MC", "^IBEX"),
        ("NESN.SW", "^SSMI"),
        ("VOLV-B.ST", "^OMX"),
        ("PETR4.SA", "^BVSP"),
        ("WALMEX.MX", "^MXX"),
        ("D05.SI", "^STI"),
        ("BBCA.JK", "^JKSE"),
        ("AIR.NZ", "^NZ50"),
        ("EQNR.OL", None),
        ("BMW.F", None),
    ],
)
def test_benchmark_by_market(ticker: str, benchmark: str | None) -> None:
    assert benchmark_of(ticker) == benchmark


def test_an_explicit_benchmark_comes_first() -> None:
    assert benchmark_of("NVDA", "qqq") == "QQQ"
    assert benchmark_of("EURUSD", "DX-Y.NYB") == "DX-Y.NYB"
    assert benchmark_of("QQQ", "QQQ") is None
    assert benchmark_of("BRK.B", "BRK-B") is None
    assert benchmark_of("NVDA", "") == "SPY"
    by_ticker = {"NVDA": "SMH", "GLD": None, "BRK-B": "XLF", "*": "^GSPC"}
    assert benchmark_of("nvda", by_ticker) == "SMH"
    assert benchmark_of("GLD", by_ticker) is None
    assert benchmark_of("BRK.B", by_ticker) == "XLF"
    assert benchmark_of("7203.T", by_ticker) == "^GSPC"
    assert benchmark_of("US500", by_ticker) is None
    assert benchmark_of("7203.T", {"NVDA": "SMH"}) == "^N225"
    assert benchmark_of("FB", {"FB": "META"}, {"FB": "META"}) is None


def test_only_an_unknown_suffix_is_warned_of() -> None:
    warning = unknown_market("EQNR.OL")
    assert warning is not None
    assert warning.startswith("EQNR.OL: no calendar and no benchmark is known for .OL")
    known = ["NVDA", "BRK.B", "VOD.L", "BTCUSD", "EURUSD", "ES=F", "^VIX", "600519.SH", "DXY"]
    assert [unknown_market(ticker) for ticker in known] == [None] * len(known)


@pytest.mark.parametrize(
    ("ticker", "currency"),
    [
        ("NVDA", "USD"),
        ("VOD.L", "GBP"),
        ("SAP.DE", "EUR"),
        ("^N225", "JPY"),
        ("^VIX", "USD"),
        ("000001.SS", "CNY"),
        ("ETHUSDT", "USD"),
        ("ETH-EUR", "EUR"),
        ("EURUSD", "USD"),
        ("JPY=X", "JPY"),
        ("XAUUSD", "USD"),
        ("EQNR.OL", "NOK"),
        ("ABC.ZZ", None),
    ],
)
def test_currency(ticker: str, currency: str | None) -> None:
    assert currency_of(ticker) == currency


def test_pence_are_pounds() -> None:
    codes = ["GBp", "GBX", "ILA", "ZAc", "usd"]
    assert [main_currency(code) for code in codes] == ["GBP", "GBP", "ILS", "ZAR", "USD"]


def test_basis_of_indices() -> None:
    assert index_basis("^GDAXI") == index_basis("^BVSP") == "total"
    assert index_basis("^GSPC") == index_basis("000001.SS") == index_basis("US500") == "price"
    assert index_basis("SPY") is None


def test_suffix_of_every_benchmark_is_in_its_own_market() -> None:
    for suffix, market in MARKETS.items():
        assert market.benchmark.startswith("^") or suffix_of(market.benchmark) == suffix

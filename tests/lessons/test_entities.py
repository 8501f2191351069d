"""Tickers that a text names, and tags in one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradmem.lessons.entities import names_in, tags_of, tickers_in
from tradmem.lessons.names import COMPANIES
from tradmem.tickers import TICKER

LOG = ("NVDA", "AMD", "0700.HK", "BRK.B", "BTC-USD", "A", "IT", "AAPL", "7203.T", "2330.TW", "ACME")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$NVDA and $TSLA rose; $5 and US$500M did not.", ["NVDA", "TSLA"]),
        ("Like AMD, it fell; NVDA's margin held.", ["AMD", "NVDA"]),
        ("ANVDA, NVDAX and nvda are none.", []),
        ("0700.HK beat 9988.HK.", ["0700.HK", "9988.HK"]),
        ("$BRK.B. Then BRK.B again, and $V.", ["BRK.B", "V"]),
        ("(NASDAQ: MSFT) and NYSE:BRK.B", ["MSFT", "BRK.B"]),
        ("BTC-USD led ETH-USDT, ^GSPC lagged", ["BTC-USD", "ETH-USDT", "^GSPC"]),
        ("Apple and Nvidia; Tencent too", ["AAPL", "NVDA", "0700.HK"]),
        ("Pineapples and Nvidians", []),
        ("Microsoft is not in this log", []),
        ("A Buy on IT spending", []),
        ("$A and $IT are meant", ["A", "IT"]),
        ("M&M.NS and 600519.SS", ["M&M.NS", "600519.SS"]),
        ("トヨタは上がった。NVDAも。", ["7203.T", "NVDA"]),
        ("台積電上漲", ["2330.TW"]),
        ("Acme Widgets Inc. (ACME) fell", ["ACME"]),
        ("an AMD-like case, twice AMD", ["AMD"]),
        ("BRK.B is not BRK", ["BRK.B"]),
    ],
)
def test_tickers_are_found_in_the_order_of_their_mention(text, found):
    assert list(tickers_in(text, LOG)) == found


def test_the_own_ticker_is_left_out():
    assert tickers_in("NVDA and $AMD", LOG, own="NVDA") == ("AMD",)


def test_names_that_the_log_itself_gives_are_known():
    names = names_in("We like Acme Widgets Inc. (NYSE: ACME) and Foo (FOO).", "ACME")
    assert names == ("Acme Widgets",)
    assert tickers_in("Acme Widgets rose", LOG) == ()
    assert tickers_in("Acme Widgets rose", LOG, names={"ACME": names}) == ("ACME",)


def test_the_table_of_names_holds_tickers():
    assert all(TICKER.match(ticker) and all(names) for ticker, names in COMPANIES.items())


@pytest.mark.parametrize(
    ("given_tags", "stored"),
    [
        (["Earnings Beat", "momentum", "Momentum"], ["earnings-beat", "momentum"]),
        (["AI/Cloud  capex", "4.5%", "NVDA", "buy", "right"], ["ai-cloud-capex"]),
        (["a very long tag that goes on"], ["a-very-long-tag-that"]),
        (["x" * 50], ["x" * 24]),
        (["Zölle", "Été", "芯片", "실적"], ["zolle", "ete", "芯片", "실적"]),
        (list("abcdefgh"), list("abcde")),
        ("earnings, guidance; momentum", ["earnings", "guidance", "momentum"]),
        ([1, None, {"a": 1}, "ok"], ["ok"]),
        ({"a": 1}, []),
        (None, []),
        (["<script>alert(1)</script>"], ["script-alert-1-script"]),
    ],
)
def test_tags_are_few_short_and_of_one_form(given_tags, stored):
    assert list(tags_of(given_tags, ticker="NVDA")) == stored


@given(st.lists(st.text(max_size=60), max_size=12))
def test_any_tags_come_out_controlled_and_stay_so(values):
    tags = tags_of(values)
    assert len(tags) <= 5
    assert all(0 < len(tag) <= 24 and tag.strip("-") == tag for tag in tags)
    assert all(char.isalnum() or char == "-" or ord(char) > 127 for tag in tags for char in tag)
    assert tags_of(list(tags)) == tags


@given(st.text(max_size=200))
def test_any_text_is_read_without_fault(text):
    assert all(isinstance(ticker, str) for ticker in tickers_in(text, LOG))

"""Tickers: what may be one, and what kind of thing it names."""

import re
from enum import StrEnum
from functools import lru_cache

from tradmem.errors import UsageError

TICKER = re.compile(r"\^?[A-Z0-9][A-Z0-9.&=_^-]{0,31}\Z", re.ASCII)
MARKET = "*"  # the ticker of a note on the whole market


class AssetClass(StrEnum):
    """What kind of thing a ticker names, by its shape alone."""

    EQUITY = "equity"
    INDEX = "index"
    CRYPTO = "crypto"
    FX = "fx"
    FUTURE = "future"


# Quotes that make BASE-QUOTE a crypto pair; a class share such as BRK-B has none of them.
QUOTE_CURRENCIES = frozenset(
    {"USD", "EUR", "GBP", "JPY", "AUD", "CAD", "CHF", "CNY", "HKD", "INR", "KRW", "BRL"}
    | {"MXN", "SGD", "NZD", "SEK", "TRY", "ZAR", "USDT", "USDC", "BTC", "ETH"}
)


def asset_class(ticker: str) -> AssetClass:
    """The asset class of a ticker in Yahoo's spelling (``ETH-USD``, ``EURUSD=X``, ``ES=F``)."""
    if ticker.startswith("^"):
        return AssetClass.INDEX
    if ticker.endswith("=X"):
        return AssetClass.FX
    if ticker.endswith("=F"):
        return AssetClass.FUTURE
    base, dash, quote = ticker.rpartition("-")
    if dash and base and quote in QUOTE_CURRENCIES:
        return AssetClass.CRYPTO
    return AssetClass.EQUITY


def check_ticker(text: str) -> str:
    """A ticker in upper case.

    Raises:
        UsageError: the text can be no ticker.
    """
    ticker = _in_capitals(text) if isinstance(text, str) else ""
    if not ticker:
        raise UsageError(
            f"{str(text)[:60]!r} is no ticker; write 1 to 33 of A-Z 0-9 . & = _ ^ -, such as BRK.B"
        )
    return ticker


@lru_cache(maxsize=4096)
def _in_capitals(text: str) -> str:
    """A ticker as it is kept; empty where it can be none."""
    ticker = text.strip(" ").upper() if text.isascii() else ""
    return ticker if TICKER.match(ticker) else ""

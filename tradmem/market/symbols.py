"""What a ticker names: its asset class, market, benchmark and currency.

A log keeps what the user wrote. Everything here looks at the symbol that Yahoo uses
for it, so ``BTCUSD`` is crypto and ``600519.SH`` trades in Shanghai.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tradmem.market.spellings import STABLE_COINS, Aliases, yahoo_symbol
from tradmem.tickers import AssetClass, asset_class

__all__ = [
    "MARKETS",
    "Aliases",
    "Benchmarks",
    "Market",
    "benchmark_of",
    "currency_of",
    "index_basis",
    "kind_of",
    "main_currency",
    "market_of",
    "suffix_of",
    "unknown_market",
    "yahoo_symbol",
]

Benchmarks = str | Mapping[str, str | None] | None


class Market(NamedTuple):
    """Where the tickers with one suffix trade.

    Attributes:
        calendar: the exchange's code (MIC) in the package exchange_calendars.
        zone: its time zone.
        benchmark: what its tickers are measured against, in Yahoo's spelling.
        currency: what they are quoted in, ISO code.
    """

    calendar: str
    zone: str
    benchmark: str
    currency: str


# By Yahoo's suffix. exchange_calendars has no Mumbai NSE and no Shenzhen: they keep the
# sessions of Mumbai BSE and Shanghai.
MARKETS: Mapping[str, Market] = {
    "": Market("XNYS", "America/New_York", "SPY", "USD"),
    ".NS": Market("XBOM", "Asia/Kolkata", "^NSEI", "INR"),
    ".BO": Market("XBOM", "Asia/Kolkata", "^BSESN", "INR"),
    ".T": Market("XTKS", "Asia/Tokyo", "^N225", "JPY"),
    ".HK": Market("XHKG", "Asia/Hong_Kong", "^HSI", "HKD"),
    ".L": Market("XLON", "Europe/London", "^FTSE", "GBP"),
    ".TO": Market("XTSE", "America/Toronto", "^GSPTSE", "CAD"),
    ".V": Market("XTSE", "America/Toronto", "^GSPTSE", "CAD"),
    ".AX": Market("XASX", "Australia/Sydney", "^AXJO", "AUD"),
    ".SS": Market("XSHG", "Asia/Shanghai", "000001.SS", "CNY"),
    ".SZ": Market("XSHG", "Asia/Shanghai", "399001.SZ", "CNY"),
    ".TW": Market("XTAI", "Asia/Taipei", "^TWII", "TWD"),
    ".TWO": Market("XTAI", "Asia/Taipei", "^TWII", "TWD"),
    ".KS": Market("XKRX", "Asia/Seoul", "^KS11", "KRW"),
    ".KQ": Market("XKRX", "Asia/Seoul", "^KQ11", "KRW"),
    ".DE": Market("XETR", "Europe/Berlin", "^GDAXI", "EUR"),
    ".PA": Market("XPAR", "Europe/Paris", "^FCHI", "EUR"),
    ".MI": Market("XMIL", "Europe/Rome", "FTSEMIB.MI", "EUR"),
    ".AS": Market("XAMS", "Europe/Amsterdam", "^AEX", "EUR"),
    ".MC": Market("XMAD", "Europe/Madrid", "^IBEX", "EUR"),
    ".SW": Market("XSWX", "Europe/Zurich", "^SSMI", "CHF"),
    ".ST": Market("XSTO", "Europe/Stockholm", "^OMX", "SEK"),
    ".SA": Market("BVMF", "America/Sao_Paulo", "^BVSP", "BRL"),
    ".MX": Market("XMEX", "America/Mexico_City", "^MXX", "MXN"),
    ".SI": Market("XSES", "Asia/Singapore", "^STI", "SGD"),
    ".JK": Market("XIDX", "Asia/Jakarta", "^JKSE", "IDR"),
    ".NZ": Market("XNZE", "Pacific/Auckland", "^NZ50", "NZD"),
}
NEW_YORK = MARKETS[""]

# Currencies of suffixes that have neither a calendar nor a benchmark here.
_OTHER_CURRENCIES = (
    dict.fromkeys((".F", ".BE", ".MU", ".SG", ".DU", ".HM", ".HA", ".BR", ".LS", ".VI"), "EUR")
    | {".IR": "EUR", ".HE": "EUR", ".AT": "EUR", ".OL": "NOK", ".CO": "DKK", ".IC": "ISK"}
    | {".WA": "PLN", ".PR": "CZK", ".BD": "HUF", ".IS": "TRY", ".TA": "ILS", ".JO": "ZAR"}
    | {".SR": "SAR", ".QA": "QAR", ".BK": "THB", ".KL": "MYR", ".PS": "PHP", ".VN": "VND"}
    | {".BA": "ARS", ".SN": "CLP", ".CR": "VES", ".LM": "PEN", ".NE": "CAD", ".CN": "CAD"}
    | {".NYB": "USD", ".NYM": "USD", ".CMX": "USD", ".CBT": "USD", ".CME": "USD"}
)

_INDEX_MARKETS = {m.benchmark: m for m in MARKETS.values() if m.benchmark != NEW_YORK.benchmark}
_OTHER_INDICES = frozenset({"DX-Y.NYB"})
# Indices that reinvest dividends; nearly all others are price indices.
_TOTAL_RETURN = frozenset({"^GDAXI", "^BVSP", "^NZ50", "^SP500TR", "^XNDX", "^MDAXI", "^TECDAX"})

_SUBUNITS = {"GBp": "GBP", "GBX": "GBP", "ILA": "ILS", "ZAc": "ZAR", "ZAC": "ZAR"}


def kind_of(ticker: str, aliases: Aliases = None) -> AssetClass:
    """The asset class of what a ticker names; ``000001.SS`` is an index, ``XAUUSD`` a future."""
    symbol = yahoo_symbol(ticker, aliases)
    if symbol in _INDEX_MARKETS or symbol in _OTHER_INDICES:
        return AssetClass.INDEX
    return asset_class(symbol)


def suffix_of(symbol: str) -> str:
    """The market's suffix of Yahoo's symbol, with its dot; empty for New York."""
    _, dot, tail = symbol.rpartition(".")
    return f".{tail}" if dot else ""


def market_of(ticker: str, aliases: Aliases = None) -> Market | None:
    """Where a share or an index trades; None for an unknown suffix, crypto, FX and futures.

    An index that is no market's benchmark counts as New York's.
    """
    symbol = yahoo_symbol(ticker, aliases)
    kind = kind_of(symbol)
    if kind is AssetClass.INDEX:
        return _INDEX_MARKETS.get(symbol, NEW_YORK)
    return MARKETS.get(suffix_of(symbol)) if kind is AssetClass.EQUITY else None


def currency_of(ticker: str, aliases: Aliases = None) -> str | None:
    """The ISO code of the currency that a ticker is quoted in; None if it is not known."""
    symbol = yahoo_symbol(ticker, aliases)
    kind = kind_of(symbol)
    if kind is AssetClass.CRYPTO:
        quote = symbol.rpartition("-")[2]
        return STABLE_COINS.get(quote, quote)
    if kind is AssetClass.FX:
        return symbol.removesuffix("=X")[-3:]
    if kind is AssetClass.FUTURE:
        return NEW_YORK.currency
    market = market_of(symbol)
    return market.currency if market else _OTHER_CURRENCIES.get(suffix_of(symbol))


def main_currency(code: str) -> str:
    """The currency that a quote's code counts in: pence (``GBp``) are pounds."""
    return _SUBUNITS.get(code, code.upper())


def index_basis(ticker: str, aliases: Aliases = None) -> str | None:
    """``price`` or ``total`` for an index, by its construction; None for anything else."""
    if kind_of(ticker, aliases) is not AssetClass.INDEX:
        return None
    return "total" if yahoo_symbol(ticker, aliases) in _TOTAL_RETURN else "price"


def benchmark_of(ticker: str, overrides: Benchmarks = None, aliases: Aliases = None) -> str | None:
    """What a ticker is measured against, or None.

    Args:
        ticker: as the user wrote it.
        overrides: one benchmark for all tickers; or by ticker, where ``*`` stands for
            all others and None means no benchmark; or None.
        aliases: see :func:`yahoo_symbol`.
    """
    symbol = yahoo_symbol(ticker, aliases)
    if isinstance(overrides, str) and overrides:
        chosen: str | None = overrides
    elif isinstance(overrides, Mapping) and (
        keys := [key for key in (ticker.upper(), symbol, "*") if key in overrides]
    ):
        chosen = overrides[keys[0]]
    else:
        chosen = _usual_benchmark(symbol)
    if not chosen or yahoo_symbol(chosen, aliases) == symbol:
        return None
    return chosen.upper()


def _usual_benchmark(symbol: str) -> str | None:
    kind = kind_of(symbol)
    if kind is AssetClass.CRYPTO:
        base, _, quote = symbol.rpartition("-")
        return None if "BTC" in (base, quote) else f"BTC-{quote}"
    if kind is not AssetClass.EQUITY:
        return None
    market = MARKETS.get(suffix_of(symbol))
    return market.benchmark if market else None


def unknown_market(ticker: str, aliases: Aliases = None) -> str | None:
    """A one-line warning where a ticker's suffix is not known; None where it is."""
    symbol = yahoo_symbol(ticker, aliases)
    if kind_of(symbol) is not AssetClass.EQUITY or suffix_of(symbol) in MARKETS:
        return None
    return (
        f"{ticker}: no calendar and no benchmark is known for {suffix_of(symbol)}; its sessions "
        "are weekdays and its returns are raw; set a benchmark for it"
    )

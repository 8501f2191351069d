"""How Yahoo spells a ticker that is written in another way.

Most spellings follow a rule; the tables hold what no rule can know.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from tradmem.tickers import QUOTE_CURRENCIES

Aliases = Mapping[str, str] | None

_FIAT = frozenset(
    {"USD", "EUR", "GBP", "JPY", "CHF", "AUD", "CAD", "NZD", "CNY", "CNH", "HKD", "SGD", "INR"}
    | {"KRW", "TWD", "BRL", "MXN", "ZAR", "TRY", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "ILS"}
    | {"THB", "IDR", "MYR", "PHP", "SAR", "AED", "CLP", "COP", "PEN", "ARS", "RUB", "VND", "RON"}
)
# Coins that stand for a currency: Yahoo quotes in the currency itself.
STABLE_COINS = {"USDT": "USD", "USDC": "USD", "BUSD": "USD", "FDUSD": "USD", "TUSD": "USD"}
_COINS = frozenset(
    {"BTC", "ETH", "SOL", "XRP", "BNB", "ADA", "DOGE", "DOT", "AVAX", "LINK", "LTC", "BCH", "XLM"}
    | {"TRX", "MATIC", "POL", "UNI", "ATOM", "ETC", "FIL", "NEAR", "APT", "ARB", "OP", "SUI"}
    | {"TON", "SHIB", "PEPE", "AAVE", "MKR", "ALGO", "ICP", "HBAR", "XMR", "EOS", "XTZ", "DASH"}
    | {"ZEC", "VET", "INJ", "SEI", "TIA", "RUNE", "GRT", "SAND", "MANA", "CRV", "USDT", "USDC"}
)
_SURE_QUOTES = frozenset({"USDT", "USDC", "FDUSD"})  # no share ends in one
_COIN_NAMES = {"XBT": "BTC", "XDG": "DOGE"}
# Longest first, so that ETHUSDT is not read as ETHUSD and a T.
_QUOTES = tuple(sorted(QUOTE_CURRENCIES | STABLE_COINS.keys(), key=lambda q: (-len(q), q)))

_NAMES = {
    **dict.fromkeys(("US500", "SPX", "SPX500", "SP500", "^SPX"), "^GSPC"),
    **dict.fromkeys(("US30", "DJ30", "DJI", "DJIA", "WS30"), "^DJI"),
    **dict.fromkeys(("US100", "NAS100", "USTEC", "NDX"), "^NDX"),
    **dict.fromkeys(("US2000", "RUT"), "^RUT"),
    **dict.fromkeys(("UK100", "FTSE100"), "^FTSE"),
    **dict.fromkeys(("GER40", "GER30", "DE40", "DE30"), "^GDAXI"),
    **dict.fromkeys(("FRA40", "FR40", "CAC40"), "^FCHI"),
    **dict.fromkeys(("EU50", "EUSTX50", "STOXX50", "STOXX50E"), "^STOXX50E"),
    **dict.fromkeys(("ESP35", "ES35", "IBEX35"), "^IBEX"),
    **dict.fromkeys(("JP225", "JPN225", "NI225", "N225"), "^N225"),
    **dict.fromkeys(("NIFTY50", "IN50"), "^NSEI"),
    **dict.fromkeys(("XAUUSD", "XAU-USD"), "GC=F"),
    **dict.fromkeys(("XAGUSD", "XAG-USD"), "SI=F"),
    **dict.fromkeys(("XPTUSD", "XPT-USD"), "PL=F"),
    **dict.fromkeys(("XPDUSD", "XPD-USD"), "PA=F"),
    **dict.fromkeys(("XTIUSD", "USOIL", "WTIUSD"), "CL=F"),
    **dict.fromkeys(("XBRUSD", "UKOIL", "BRENT"), "BZ=F"),
    **dict.fromkeys(("XNGUSD", "NATGAS"), "NG=F"),
    **dict.fromkeys(("XCUUSD", "COPPER"), "HG=F"),
    **dict.fromkeys(("DXY", "USDX"), "DX-Y.NYB"),
    "IT40": "FTSEMIB.MI",
    "SWI20": "^SSMI",
    "NETH25": "^AEX",
    "HK50": "^HSI",
    "AUS200": "^AXJO",
    "VIX": "^VIX",
    "BRKA": "BRK-A",
    "BRKB": "BRK-B",
}
# Other vendors' words for a market; empty where Yahoo has no suffix.
_SUFFIX_NAMES = {"SH": "SS", "XSHG": "SS", "XSHE": "SZ", "US": "", "O": "", "OQ": "", "N": ""}
# Single letters that are markets (London, Tokyo, Toronto Venture, Frankfurt); the
# others are classes of shares.
_MARKET_LETTERS = frozenset("LTVF")
_PREFERRED = re.compile(r"([A-Z]{1,5})\.PR\.?([A-Z])\Z")
_ENDINGS = {"WS": "WT", "U": "UN"}
_CHINESE = re.compile(r"(SH|SZ)(\d{6})\Z")


def yahoo_symbol(ticker: str, aliases: Aliases = None) -> str:
    """Yahoo's name for a ticker: ``BRK.B`` -> ``BRK-B``, ``BTCUSD`` -> ``BTC-USD``.

    Args:
        ticker: as the user wrote it, in any case.
        aliases: the user's own names (upper case), which win; they map to Yahoo's
            names, such as ``{"FB": "META"}``.
    """
    ticker = ticker.upper()
    if not aliases:
        return _by_rule(ticker)
    if ticker in aliases:
        return aliases[ticker].upper()
    symbol = _by_rule(ticker)
    return aliases.get(symbol, symbol).upper()


@lru_cache(maxsize=16_384)
def _by_rule(ticker: str) -> str:
    plain = ticker.replace("_", "-")
    if plain in _NAMES:
        return _NAMES[plain]
    if plain.startswith("^") or "=" in plain:
        return plain
    return _pair(plain) or _listed(plain)


def _pair(ticker: str) -> str | None:
    """A currency pair or a crypto pair, joined or with a dash."""
    base, dash, quote = ticker.rpartition("-")
    if not dash:
        base, quote = _split_joined(ticker)
    if not base or (quote not in _FIAT and quote not in _QUOTES):
        return None
    if base in _FIAT and quote in _FIAT:
        return f"{base}{quote}=X"
    if quote not in _QUOTES:
        return None
    return f"{_COIN_NAMES.get(base, base)}-{STABLE_COINS.get(quote, quote)}"


def _split_joined(ticker: str) -> tuple[str, str]:
    if len(ticker) == 6 and ticker[:3] in _FIAT and ticker[3:] in _FIAT:
        return ticker[:3], ticker[3:]
    splits = [(ticker.removesuffix(quote), quote) for quote in _QUOTES if ticker.endswith(quote)]
    for base, quote in splits:
        if base in _COINS or base in _COIN_NAMES:
            return base, quote
    for base, quote in splits:  # any base will do
        if quote in _SURE_QUOTES and len(base) > 1 and base.isalnum() and base not in _FIAT:
            return base, quote
    return "", ""


def _listed(ticker: str) -> str:
    """A share: the suffix, the class and leading zeros as Yahoo writes them."""
    if found := _PREFERRED.match(ticker):
        return f"{found[1]}-P{found[2]}"
    if found := _CHINESE.match(ticker):
        return f"{found[2]}.{_SUFFIX_NAMES.get(found[1], found[1])}"
    head, dot, tail = ticker.rpartition(".")
    if not (dot and head and tail):
        return ticker
    tail = _SUFFIX_NAMES.get(tail, tail)
    if not tail:
        return _listed(head)
    if head.isalpha() and (tail in _ENDINGS or (len(tail) == 1 and tail not in _MARKET_LETTERS)):
        return f"{head}-{_ENDINGS.get(tail, tail)}"
    if tail == "HK" and head.isdigit():
        head = f"{int(head):04d}"
    return f"{head.replace('.', '-')}.{tail}"

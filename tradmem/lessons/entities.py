"""Which companies a text speaks of, and tags in one controlled form."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from tradmem.lessons.names import COMPANIES
from tradmem.model import Rating, Verdict
from tradmem.tickers import QUOTE_CURRENCIES

MOST_TAGS = 5
LONGEST_TAG = 24  # characters


def tickers_in(
    text: str,
    known: Iterable[str] = (),
    *,
    names: Mapping[str, Iterable[str]] = MappingProxyType({}),
    own: str = "",
) -> tuple[str, ...]:
    """The tickers that a text names, in the order of their first mention.

    Found are ``$NVDA``, ``(NASDAQ: NVDA)``, ``0700.HK``, ``BTC-USD`` and ``^GSPC``
    anywhere, and of the known tickers also the plain word and the company's name.

    Args:
        text: any text.
        known: the tickers of the log, in upper case.
        names: further company names by ticker, such as :func:`names_in` finds.
        own: a ticker to leave out, such as the entry's own.
    """
    places: dict[str, int] = {}
    for match in _WRITTEN.finditer(text):
        ticker = next(group for group in match.groups() if group)
        places.setdefault(ticker, match.start())
    for ticker in known:
        words = [*COMPANIES.get(ticker, ()), *names.get(ticker, ()), *names_in(text, ticker)]
        if len(ticker) > 1 and ticker not in _ALSO_WORDS:
            words.append(ticker)
        for word in words:
            place = _place(text, word)
            if place is not None:
                places[ticker] = min(place, places.get(ticker, place))
    places.pop(own, None)
    return tuple(sorted(places, key=lambda ticker: (places[ticker], ticker)))


def named_of(text: str, tickers: Iterable[str]) -> tuple[str, ...]:
    """Which of some tickers a text names, as :func:`tickers_in` finds them."""
    there = [t for t in tickers if t in text or any(n in text for n in COMPANIES.get(t, ()))]
    return tuple(t for t in tickers_in(text, there) if t in there) if there else ()


def names_in(text: str, ticker: str) -> tuple[str, ...]:
    """The company names that a text gives for a ticker: ``Tencent Holdings (0700.HK)``."""
    if f"{ticker})" not in text:
        return ()
    name = r"[A-Z][\w&'.-]{0,30}"  # bounded, so that no text takes long
    pattern = rf"({name}(?: {name}){{0,3}}) ?\((?:[A-Za-z]{{1,12}}: ?)?\$?{re.escape(ticker)}\)"
    names = (_SUFFIX.sub("", match[1].strip()) for match in re.finditer(pattern, text))
    return tuple(name for name in names if len(name) >= _SHORTEST_NAME)


def _place(text: str, word: str) -> int | None:
    """Where a name first stands by itself; next to letters of another script it does."""
    if word not in text:
        return None
    pattern = re.escape(word)
    if word.isascii():
        pattern = rf"(?<![A-Za-z0-9$^.-]){pattern}(?![A-Za-z0-9]|[.-][A-Z0-9])"
    found = re.search(pattern, text)
    return found.start() if found else None


def tags_of(values: Any, *, ticker: str = "") -> tuple[str, ...]:
    """Tags as they are stored: lower-case words joined by hyphens, few and short.

    Args:
        values: what a model gave: a list, or a text with commas; anything else is no tag.
        ticker: the entry's own; it says nothing as a tag, nor do ratings and verdicts.
    """
    if isinstance(values, str):
        values = re.split(r"[,;|\n]", values)
    if not isinstance(values, list | tuple):
        return ()
    empty = {_tag(word) for word in (*Rating, *Verdict, ticker, "lesson", "reflection", "trade")}
    tags = dict.fromkeys(_tag(value) for value in values if isinstance(value, str))
    return tuple(tag for tag in tags if tag and tag not in empty)[:MOST_TAGS]


def _tag(text: str) -> str:
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    plain = unicodedata.normalize("NFC", plain)  # Hangul comes together again
    words = [word for word in re.split(r"[\W_]+", plain) if word]
    tag = ""
    for word in words:
        longer = f"{tag}-{word}" if tag else word[:LONGEST_TAG]
        if len(longer) > LONGEST_TAG:
            break
        tag = longer
    return tag if any(char.isalpha() for char in tag) else ""


_SHORTEST_NAME = 3
_SUFFIX = re.compile(
    r",? (?:Inc|Corp|Corporation|Company|Co|Ltd|Limited|plc|PLC|AG|SE|SA|NV|Holdings?|Group)\.?$"
)
_EXCHANGES = (
    "NS|BO|T|HK|L|TO|V|AX|SS|SH|SZ|TW|TWO|KS|KQ|DE|PA|MI|AS|MC|SW|ST|SA|MX|SI|JK|NZ|BR|CO|HE|OL|VI"
)
_SYMBOL = r"[A-Z0-9][A-Z0-9]*(?:[.-][A-Z0-9]{1,4})?"
_WRITTEN = re.compile(
    r"(?<![\w$])\$([A-Z][A-Z0-9]{0,9}(?:[.-][A-Z0-9]{1,4})?)(?!\w)"
    rf"|\b(?:NASDAQ|NYSE|NYSEARCA|AMEX|HKEX|SEHK|LSE|TSX|ASX|TYO|XETRA): ?({_SYMBOL})\b"
    rf"|(?<![\w.$-])([A-Z0-9][A-Z0-9&]{{0,10}}(?:-[A-Z])?\.(?:{_EXCHANGES}))(?!\w)"
    rf"|(?<![\w.$-])([A-Z0-9]{{2,10}}-(?:{'|'.join(sorted(QUOTE_CURRENCIES))}))(?![\w-])"
    r"|(?<![\w.$])(\^[A-Z][A-Z0-9]{1,9})\b",
)
# Tickers that stand for something else when they are written as plain words in capitals.
_ALSO_WORDS = frozenset(
    re.findall(
        r"\w+",
        "AI AM AN ARE AS AT BE BIG BUY BY CAN CEO CFO DD DO EPS ETF EU EV FED FOR GDP GO GOOD HAS"
        " HE HOLD IN IPO IS IT ITS KEY LOW MAIN MAN ME NEXT NICE NO NOT NOW OF OLD ON ONE OR OUT PE"
        " PM PR REAL RUN SEC SEE SELL SO TECH TELL TO TWO UK UP US USA VERY WELL YOU ALL ANY"
        " CASH COST FAST FUN HI HIGH LIFE LOVE OPEN PAY PLAN PLAY RIDE SAFE STAY TRUE",
    )
)

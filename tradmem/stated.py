"""What a decision states in its text, to set beside what it is recorded and judged by."""

import re
import unicodedata

from tradmem.model import Entry

RATING = "stated_rating"  # the key in a decision's ledger

# Sessions in one of each unit; a year has 252 of them.
_UNITS = {
    "day": 1,
    "tag": 1,
    "jour": 1,
    "dia": 1,
    "dag": 1,
    "giorn": 1,
    "week": 5,
    "woche": 5,
    "semaine": 5,
    "semana": 5,
    "settiman": 5,
    "vecka": 5,
    "veckor": 5,
    "month": 21,
    "monat": 21,
    "mois": 21,
    "mes": 21,
    "maand": 21,
    "manad": 21,
    "quarter": 63,
    "year": 252,
    "jahr": 252,
    "an": 252,
    "ano": 252,
    "jaar": 252,
    "ar": 252,
    "\u4e2a\u4ea4\u6613\u65e5": 1,
    "\u5929": 1,
    "\u5468": 5,
    "\u4e2a\u6708": 21,
    "\u30f6\u6708": 21,
    "\u6708": 21,
    "\uac1c\uc6d4": 21,
    "\u5e74": 252,
    "\ub144": 252,
}
_LABEL = re.compile(
    r"(?:[^\w\n]*\d+[.)])?[^\w\n]*(?:(?:time|investment|holding|forecast|expected|trade)\W+)?"
    r"(?:horizon|horizont|period|timeframe|time\W?frame|horizonte|orizzonte|"
    r"\u6301\u6709\u671f|\u6295\u8d44\u671f\u9650|\u671f\u9650|\u671f\u9593)"
    r"[^\w\n]*(?::|\uff1a|\||\s[-\u2013\u2014]\s)",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"(\d{1,4}(?:[.,]\d)?)\s*(?:(?:-|\u2013|\u2014|to|bis|a|\u00e0|~|\u81f3)\s*\d{1,4}(?:[.,]\d)?)?"
    r"[\s-]*(?:trading|business)?[\s-]*([^\W\d_]+)",
    re.IGNORECASE,
)
_LONGEST = 2520


def stated_horizon(text: str) -> int | None:
    """Sessions that a decision means to hold, as its text says behind a label; else None.

    Of a range ("6-12 months") the shorter end counts. Days are taken for sessions.
    """
    for line in text.splitlines():
        label = _LABEL.match(line[:200])
        span = _SPAN.search(line[label.end() : label.end() + 80]) if label else None
        if not span:
            continue
        unit = _sessions(span[2])
        if unit:
            sessions = round(float(span[1].replace(",", ".")) * unit)
            return min(max(sessions, 1), _LONGEST)
    return None


def _sessions(word: str) -> int | None:
    """How many sessions a unit of time has; the longest beginning that is known decides."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(letter for letter in plain if not "\u0300" <= letter <= "\u036f")
    for unit in sorted(_UNITS, key=len, reverse=True):
        key = unicodedata.normalize("NFKD", unit)
        whole = len(key) < 3 and key.isascii()
        if plain in (key, key + "s") if whole else plain.startswith(key):
            return _UNITS[unit]
    return None


def conflict(entry: Entry) -> str:
    """How the rating of a decision and its own text disagree, in a line; empty if they do not."""
    stated = entry.recorded.extra.get(RATING)
    if not isinstance(stated, str) or entry.rating in (None, stated):
        return ""
    return f"the text says {stated}, the rating is {entry.rating}"

"""The market behind the local Yahoo: real closes where there are any, made-up ones elsewhere.

The US companies of ``tests/data/us_closes.csv.gz`` have their real closes to 2022-12-28;
from then on each repeats its own daily returns from 2000 on, all on the same days, so that
recent dates keep real volatility and real correlation with the index. ``SPY`` stands for
a tenth of ``^GSPC``. Any other symbol walks at random, seeded by its name.
"""

import csv
import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache
from math import exp
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

REAL = Path(__file__).parents[1] / "data" / "us_closes.csv.gz"
WALK_FROM = date(2018, 1, 1)
STANDS_FOR = {"SPY": ("^GSPC", 0.1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Venue:
    """Where a symbol trades: an exchange calendar (or weekdays, or every day) in its own zone."""

    calendar: str
    zone: str
    currency: str
    opens: time
    closes: time  # midnight means the end of the day
    kind: str = "EQUITY"
    start: float = 100.0
    volatility: float = 0.015

    def opened(self, day: date) -> datetime:
        return datetime.combine(day, self.opens, ZoneInfo(self.zone))

    def closed(self, day: date) -> datetime:
        if self.closes == time(0):
            day += timedelta(days=1)
        return datetime.combine(day, self.closes, ZoneInfo(self.zone))


def _venue(calendar: str, zone: str, currency: str, opens: str, closes: str, **more) -> Venue:
    return Venue(
        calendar=calendar,
        zone=zone,
        currency=currency,
        opens=time.fromisoformat(opens),
        closes=time.fromisoformat(closes),
        **more,
    )


NEW_YORK = _venue("XNYS", "America/New_York", "USD", "09:30", "16:00")
LONDON = _venue("XLON", "Europe/London", "GBp", "08:00", "16:30", start=900.0)
TOKYO = _venue("XTKS", "Asia/Tokyo", "JPY", "09:00", "15:30", start=2500.0)
FX = _venue("weekdays", "Europe/London", "USD", "00:00", "00:00", kind="CURRENCY", start=1.1)
CRYPTO = _venue("daily", "UTC", "USD", "00:00", "00:00", kind="CRYPTOCURRENCY", start=9000.0)
FUTURES = _venue("weekdays", "America/New_York", "USD", "00:00", "00:00", kind="FUTURE")

SUFFIXES = {
    "T": TOKYO,
    "L": LONDON,
    "AX": _venue("XASX", "Australia/Sydney", "AUD", "10:00", "16:00"),
    "HK": _venue("XHKG", "Asia/Hong_Kong", "HKD", "09:30", "16:00"),
    "DE": _venue("XETR", "Europe/Berlin", "EUR", "09:00", "17:30"),
    "PA": _venue("XPAR", "Europe/Paris", "EUR", "09:00", "17:30"),
    "MI": _venue("XMIL", "Europe/Rome", "EUR", "09:00", "17:30"),
    "TO": _venue("XTSE", "America/Toronto", "CAD", "09:30", "16:00"),
    "NS": _venue("XBOM", "Asia/Kolkata", "INR", "09:15", "15:30"),
    "BO": _venue("XBOM", "Asia/Kolkata", "INR", "09:15", "15:30"),
    "SS": _venue("XSHG", "Asia/Shanghai", "CNY", "09:30", "15:00"),
    "SZ": _venue("XSHG", "Asia/Shanghai", "CNY", "09:30", "15:00"),
    "KS": _venue("XKRX", "Asia/Seoul", "KRW", "09:00", "15:30", start=50000.0),
    "TW": _venue("XTAI", "Asia/Taipei", "TWD", "09:00", "13:30"),
    "SW": _venue("XSWX", "Europe/Zurich", "CHF", "09:00", "17:30"),
    "SA": _venue("BVMF", "America/Sao_Paulo", "BRL", "10:00", "17:00"),
    "AS": _venue("XAMS", "Europe/Amsterdam", "EUR", "09:00", "17:30"),
    "MC": _venue("XMAD", "Europe/Madrid", "EUR", "09:00", "17:30"),
    "ST": _venue("XSTO", "Europe/Stockholm", "SEK", "09:00", "17:30"),
    "V": _venue("XTSE", "America/Toronto", "CAD", "09:30", "16:00"),
    "KQ": _venue("XKRX", "Asia/Seoul", "KRW", "09:00", "15:30", start=20000.0),
    "TWO": _venue("XTAI", "Asia/Taipei", "TWD", "09:00", "13:30"),
    "MX": _venue("XMEX", "America/Mexico_City", "MXN", "08:30", "15:00"),
    "SI": _venue("XSES", "Asia/Singapore", "SGD", "09:00", "17:00"),
    "JK": _venue("XIDX", "Asia/Jakarta", "IDR", "09:00", "16:00", start=9000.0),
    "NZ": _venue("XNZE", "Pacific/Auckland", "NZD", "10:00", "16:45"),
}
INDICES = {
    "^AEX": SUFFIXES["AS"],
    "^IBEX": SUFFIXES["MC"],
    "^OMX": SUFFIXES["ST"],
    "^KQ11": SUFFIXES["KQ"],
    "^MXX": SUFFIXES["MX"],
    "^STI": SUFFIXES["SI"],
    "^JKSE": SUFFIXES["JK"],
    "^NZ50": SUFFIXES["NZ"],
    "^N225": SUFFIXES["T"],
    "^FTSE": replace(LONDON, currency="GBP"),
    "^AXJO": SUFFIXES["AX"],
    "^HSI": SUFFIXES["HK"],
    "^GDAXI": SUFFIXES["DE"],
    "^FCHI": SUFFIXES["PA"],
    "^GSPTSE": SUFFIXES["TO"],
    "^NSEI": SUFFIXES["NS"],
    "^BSESN": SUFFIXES["BO"],
    "^KS11": SUFFIXES["KS"],
    "^TWII": SUFFIXES["TW"],
    "^SSMI": SUFFIXES["SW"],
    "^BVSP": SUFFIXES["SA"],
    "000001.SS": SUFFIXES["SS"],
    "399001.SZ": SUFFIXES["SZ"],
    "FTSEMIB.MI": SUFFIXES["MI"],
    "IMOEX.ME": _venue("weekdays", "Europe/Moscow", "RUB", "10:00", "18:45"),
}
CRYPTO_QUOTES = ("USD", "EUR", "USDT", "USDC", "BTC", "GBP", "JPY")


def venue_of(symbol: str) -> Venue:
    """Where a Yahoo symbol trades; New York if nothing else fits."""
    base, dash, quote = symbol.rpartition("-")
    if symbol in INDICES or symbol.startswith("^"):
        return replace(INDICES.get(symbol, NEW_YORK), kind="INDEX", volatility=0.01, start=5000.0)
    if symbol.endswith("=X"):
        return replace(FX, currency=symbol[-5:-2], volatility=0.005)
    if symbol.endswith("=F"):
        return FUTURES
    if dash and base and quote in CRYPTO_QUOTES:
        return replace(CRYPTO, currency=quote, volatility=0.03)
    suffix = symbol.rpartition(".")[2] if "." in symbol else ""
    fund = len(symbol) == 5 and symbol.isalpha() and symbol.endswith("X")
    kind = "ETF" if symbol == "SPY" else "MUTUALFUND" if fund else "EQUITY"
    return replace(SUFFIXES.get(suffix, NEW_YORK), kind=kind)


@cache
def real_closes() -> Mapping[str, Mapping[date, float]]:
    """The closes of the data file, by company and date."""
    with gzip.open(REAL, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    days = [date.fromisoformat(row[0]) for row in rows[1:]]
    return {
        name: dict(zip(days, (float(row[at]) for row in rows[1:]), strict=True))
        for at, name in enumerate(rows[0])
        if at
    }


@cache
def sessions(calendar: str, start: date, end: date) -> tuple[date, ...]:
    """The session dates of a calendar, both ends included; weekdays past its published end."""
    days = [start + timedelta(days=i) for i in range((end - start).days + 1)]
    if calendar == "daily":
        return tuple(days)
    weekdays = [day for day in days if day.weekday() < 5]
    if calendar == "weekdays":
        return tuple(weekdays)
    import exchange_calendars

    try:
        published = exchange_calendars.get_calendar(calendar, start=start.isoformat())
    except exchange_calendars.errors.InvalidCalendarName:
        return tuple(weekdays)
    last = published.last_session.date()
    known = {session.date() for session in published.sessions}
    return tuple(day for day in weekdays if day in known or day > last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a chart answer; None is what Yahoo writes as null."""

    day: date
    at: int  # seconds since 1970: the session's opening, or the last trade of a live row
    close: float | None
    adjusted: float | None
    volume: int | None


@dataclass(frozen=True, slots=True)
class Split:
    """New shares per old one; unapplied, Yahoo reports it while the closes still show it."""

    day: date
    ratio: float
    applied: bool = True


@dataclass(frozen=True, slots=True)
class Dividend:
    """An amount per share, by ex-date."""

    day: date
    amount: float


Action = Split | Dividend


@cache
def history(symbol: str, until: date) -> tuple[tuple[date, float], ...]:
    """The split-adjusted closes of a symbol by session, in order, before any corporate action."""
    name, scale = STANDS_FOR.get(symbol, (symbol, 1.0))
    closes = _repeated(real_closes()[name], until) if name in real_closes() else _walk(name, until)
    return tuple((day, round(close * scale, 6)) for day, close in closes if day <= until)


def _repeated(real: Mapping[date, float], until: date) -> Iterator[tuple[date, float]]:
    yield from real.items()
    days, closes = list(real), list(real.values())
    close = closes[-1]
    later = sessions("XNYS", days[-1] + timedelta(days=1), max(until, days[-1]))
    for i, day in enumerate(later):
        close *= closes[i + 1] / closes[i]
        yield day, close


def _walk(symbol: str, until: date) -> Iterator[tuple[date, float]]:
    venue, random = venue_of(symbol), Random(symbol)
    close = venue.start * (0.5 + random.random())
    for day in sessions(venue.calendar, WALK_FROM, until):
        close *= exp(random.gauss(0.0003, venue.volatility))
        yield day, close


def rows_of(symbol: str, until: date, actions: Sequence[Action] = ()) -> list[Row]:
    """Every row to a date, as Yahoo has it: one close adjusted for splits alone, one for both."""
    venue = venue_of(symbol)
    days = [day for day, _ in history(symbol, until)]
    closes = [close for _, close in history(symbol, until)]
    factors = [1.0] * len(days)
    for action in actions:
        earlier = sum(day < action.day for day in days)
        if isinstance(action, Dividend):
            cut = 1 - action.amount / closes[earlier - 1] if earlier else 1.0
            factors[:earlier] = [factor * cut for factor in factors[:earlier]]
        elif not action.applied:
            closes[:earlier] = [close * action.ratio for close in closes[:earlier]]
    traded = venue.kind not in ("CURRENCY", "MUTUALFUND")  # these have a volume of zero each day
    return [
        Row(
            day=day,
            at=int(venue.opened(day).timestamp()),
            close=close,
            adjusted=close * factor,
            volume=1_000_000 + day.toordinal() if traded else 0,
        )
        for day, close, factor in zip(days, closes, factors, strict=True)
    ]


def as_of(rows: Sequence[Row], venue: Venue, now: datetime) -> list[Row]:
    """The rows that Yahoo has at an instant: of an open session it has a live half bar."""
    seen: list[Row] = []
    for row in rows:
        if venue.closed(row.day) <= now:
            seen.append(row)
        elif row.at <= now.timestamp():
            seen.append(half(row, seen[-1] if seen else row, int(now.timestamp())))
    return seen


def half(row: Row, before: Row, at: int) -> Row:
    """The row of a session that is still open: another price, stamped with the last trade."""
    assert row.close is not None
    assert row.adjusted is not None
    price = (row.close + (before.close or row.close)) / 2 * 1.01
    ratio = row.adjusted / row.close
    return replace(row, at=at, close=price, adjusted=price * ratio, volume=(row.volume or 0) // 2)

"""What Yahoo's chart endpoint answers: rows as JSON, and everything that can be wrong with them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from tests.yahoo.market import Action, Dividend, Row, Split, Venue, as_of, half, rows_of, venue_of


class Fault(StrEnum):
    """What goes wrong; the value is its name in the control API and on the command line."""

    UNKNOWN = "404"
    RATE_LIMIT = "429"
    ERROR = "500"  # with an error in JSON, which yfinance alone would read as a delisting
    ERROR_PAGE = "502"  # with a page in HTML
    NO_DATA = "400"  # the symbol is known and has nothing in these dates
    DOWN = "down"  # the page "Will be right back" with status 200
    GARBAGE = "garbage"
    HANG_UP = "hang_up"  # the connection is closed without an answer
    SLOW = "slow"
    EMPTY = "empty"  # status 200 and no rows
    NAN_LAST = "nan_last"
    ZERO_VOLUME_LAST = "zero_volume_last"
    NO_VOLUMES = "no_volumes"
    DUPLICATE_LAST = "duplicate_last"
    STALE_YEAR = "stale_year"  # the rows of the year before
    HALF_BAR = "half_bar"  # the last row is still live


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer; a status of 0 closes the connection instead."""

    status: int
    body: str
    type: str = "application/json"
    retry_after: int | None = None


def _error(status: int, code: str, description: str) -> Answer:
    error = {"code": code, "description": description}
    return Answer(status, json.dumps({"chart": {"result": None, "error": error}}))


BROKEN = {
    Fault.UNKNOWN: _error(404, "Not Found", "No data found, symbol may be delisted"),
    Fault.RATE_LIMIT: Answer(429, "Too Many Requests\r\n", "text/html"),
    Fault.ERROR: _error(500, "Internal Server Error", "An internal error occurred"),
    Fault.ERROR_PAGE: Answer(502, "<html><body>Bad Gateway</body></html>", "text/html"),
    Fault.NO_DATA: _error(400, "Bad Request", "Data doesn't exist for startDate = 1, endDate = 2"),
    Fault.DOWN: Answer(200, "<html>Will be right back...</html>", "text/html"),
    Fault.GARBAGE: Answer(200, '{"chart": {"resu'),
    Fault.HANG_UP: Answer(0, ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request to the chart endpoint."""

    symbol: str
    period1: int | None = None
    period2: int | None = None
    range: str | None = None

    def holds(self, row: Row, days_back: int = 0) -> bool:
        """Whether a row lies in the period asked for: from period1 up to and without period2."""
        if self.period1 is None or self.period2 is None:
            return True
        at = row.at + days_back * 86400
        return self.period1 <= at < self.period2


def answer(
    question: Question, now: datetime, actions: Sequence[Action] = (), fault: Fault | None = None
) -> Answer:
    """What Yahoo says to a question at an instant."""
    if fault in BROKEN:
        return BROKEN[fault]
    symbol, venue = question.symbol, venue_of(question.symbol)
    past = [action for action in actions if venue.opened(action.day) <= now]
    every = as_of(rows_of(symbol, (now + timedelta(days=1)).date(), past), venue, now)
    rows = [row for row in every if question.holds(row)]
    if question.range:
        rows = every[-5:] if question.range == "5d" else every[-1:]
    if fault is Fault.STALE_YEAR:
        rows = [row for row in every if question.holds(row, days_back=364)]
    elif fault is Fault.EMPTY:
        rows = []
    elif not rows and every and question.period2 and question.period2 <= every[0].at:
        return BROKEN[Fault.NO_DATA]
    return Answer(200, json.dumps(_chart(question, venue, now, _dirty(rows, venue, fault), past)))


def _dirty(rows: list[Row], venue: Venue, fault: Fault | None) -> list[Row]:
    if not rows:
        return rows
    last, tail = rows[-1], rows[-1:]
    match fault:
        case Fault.NO_VOLUMES:
            return [replace(row, volume=None) for row in rows]
        case Fault.NAN_LAST:
            tail = [replace(last, close=None, adjusted=None, volume=None)]
        case Fault.ZERO_VOLUME_LAST:
            tail = [replace(last, volume=0)]
        case Fault.DUPLICATE_LAST:
            again = int(venue.closed(last.day).timestamp()) - 1
            tail = [last, replace(last, at=again, volume=(last.volume or 0) + 7)]
        case Fault.HALF_BAR:
            tail = [half(last, rows[-2] if len(rows) > 1 else last, last.at + 5400)]
    return [*rows[:-1], *tail]


def _chart(
    question: Question, venue: Venue, now: datetime, rows: list[Row], actions: Sequence[Action]
) -> dict[str, object]:
    closes = [row.close for row in rows]
    quote = dict.fromkeys(("open", "high", "low", "close"), closes)
    result: dict[str, object] = {"meta": _meta(question.symbol, venue, now, rows)}
    if rows:
        result["timestamp"] = [row.at for row in rows]
        quote["volume"] = [row.volume for row in rows]
    indicators = {"quote": [quote if rows else {}]}
    indicators["adjclose"] = [{"adjclose": [row.adjusted for row in rows]} if rows else {}]
    events = _events(venue, actions, question)
    if events:
        result["events"] = events
    return {"chart": {"result": [result | {"indicators": indicators}], "error": None}}


def _meta(symbol: str, venue: Venue, now: datetime, rows: list[Row]) -> dict[str, object]:
    offset = venue.opened(now.date()).utcoffset()
    start, end = venue.opened(now.date()), venue.closed(now.date())
    period = {
        "timezone": start.tzname(),
        "start": int(start.timestamp()),
        "end": int(end.timestamp()),
        "gmtoffset": int(offset.total_seconds()) if offset else 0,
    }
    return {
        "currency": venue.currency,
        "symbol": symbol,
        "exchangeName": venue.calendar,
        "instrumentType": venue.kind,
        "regularMarketTime": rows[-1].at if rows else int(now.timestamp()),
        "gmtoffset": period["gmtoffset"],
        "timezone": period["timezone"],
        "exchangeTimezoneName": venue.zone,
        "regularMarketPrice": rows[-1].close if rows else None,
        "priceHint": 2,
        "currentTradingPeriod": dict.fromkeys(("pre", "regular", "post"), period),
        "dataGranularity": "1d",
        "range": "",
        "validRanges": ["1d", "5d", "1mo", "3mo", "6mo", "1y", "2y", "5y", "10y", "ytd", "max"],
    }


def _events(
    venue: Venue, actions: Sequence[Action], question: Question
) -> dict[str, dict[str, dict[str, object]]]:
    """The corporate actions in the period asked for, in Yahoo's shape."""
    events: dict[str, dict[str, dict[str, object]]] = {}
    for action in actions:
        at = int(venue.opened(action.day).timestamp())
        if question.period1 is None or not question.period1 <= at < (question.period2 or at + 1):
            continue
        match action:
            case Dividend(amount=amount):
                events.setdefault("dividends", {})[str(at)] = {"amount": amount, "date": at}
            case Split(ratio=ratio):
                top, bottom = ratio.as_integer_ratio()
                events.setdefault("splits", {})[str(at)] = {
                    "date": at,
                    "numerator": top,
                    "denominator": bottom,
                    "splitRatio": f"{top}:{bottom}",
                }
    return events

"""One history request through yfinance, and what the wire really said.

yfinance answers a server error, an unknown symbol and a time-out alike, with an empty frame.
So the session under it is this module's: it notes for each call how the chart request ended,
and it keeps every request of yfinance's (cookie, crumb, chart) within the time given.
"""

import json
import logging
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from http import HTTPStatus
from pathlib import Path
from time import monotonic
from typing import Any

import pandas as pd
import yfinance
from curl_cffi.requests import Session
from curl_cffi.requests.exceptions import Timeout

from tradmem.errors import PriceFault
from tradmem.market.prices import Span

CHART = "/v8/finance/chart/"
REFUSED = (429, 999)  # 999 is what Yahoo's edge tells a client that it takes for a robot
SIDE_PAUSE = 60.0  # seconds without cookie requests after one failed; the chart needs none
_calls = threading.local()
_preparing = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What Yahoo has on one symbol, row by row, before any rule about bars.

    Attributes:
        dates: in the exchange's own zone, ascending, each once.
        adjusted: closes adjusted for splits and dividends; NaN where there is none.
        closes: closes adjusted for splits alone; NaN where there is none.
        volumes: zero also where Yahoo has none.
        splits: new shares per old one, by date.
        dividends: per share of today, capital gains of funds included, by ex-date.
        currency: Yahoo's code, such as ``USD`` or ``GBp``.
        kind: Yahoo's instrument type, such as ``EQUITY``, ``INDEX`` or ``MUTUALFUND``.
    """

    dates: tuple[date, ...]
    adjusted: tuple[float, ...]
    closes: tuple[float, ...]
    volumes: tuple[float, ...]
    splits: Mapping[date, float]
    dividends: Mapping[date, float]
    currency: str | None
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why one request brought no rows, and how long the server asks to wait, in seconds."""

    fault: PriceFault
    detail: str
    wait: float = 0.0


@dataclass(slots=True)
class _Call:
    """One call of yfinance's, as the wire sees it."""

    timeout: float
    until: float
    response: Any = None
    error: Exception | None = None


class Wire(Session[Any]):
    """The session under yfinance; outside of :func:`ask` it is a plain one.

    Args:
        inner: the session that sends; this one by default.
    """

    def __init__(self, inner: Session[Any] | None = None) -> None:
        super().__init__(impersonate="chrome")
        self._inner = inner
        self._side_rests_until = 0.0

    def request(self, method: Any, url: str, *args: Any, **kwargs: Any) -> Any:
        """Send, and note how it ended if this is the chart request of a call under way."""
        send = self._inner.request if self._inner else super().request
        call: _Call | None = getattr(_calls, "current", None)
        if call is None:
            return send(method, url, *args, **kwargs)
        chart, now = CHART in url, monotonic()
        try:
            if now >= call.until or (now < self._side_rests_until and not chart):
                raise Timeout("not asked")  # noqa: TRY301 - it ends like any other time-out
            kwargs["timeout"] = min(call.timeout, call.until - now)
            response = send(method, url, *args, **kwargs)
        except Exception as error:
            if chart:
                call.response, call.error = None, error
            else:
                self._side_rests_until = monotonic() + SIDE_PAUSE
            raise
        if chart:
            call.response, call.error = response, None
        return response


class _Silence(logging.Filter):
    """Keeps yfinance's log lines out of calls whose failures are told as values."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002
        return getattr(_calls, "current", None) is None


def prepare() -> None:
    """Once a process: no log lines of yfinance's in our calls, no files of it in the home folder.

    Its cookie store goes to a temporary folder, unless the program has chosen a place itself.
    """
    with _preparing:  # a second thread would make a second folder, and the first one would go
        _prepare()


@cache
def _prepare() -> None:
    logging.getLogger("yfinance").addFilter(_Silence())
    store = getattr(yfinance.cache, "_CookieDBManager", None)
    if store is None or Path(store.get_location()).name == "py-yfinance":
        yfinance.set_tz_cache_location(_scratch().name)


@cache  # and so kept until the process ends, which removes the folder
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="tradmem-yfinance-", ignore_cleanup_errors=True)


def ask(symbol: str, span: Span, *, wire: Wire, timeout: float) -> History | Failure:
    """The rows of a symbol from the day before a span up to now, in one chart request.

    Up to now, because only later splits tell what a close was before them, and because
    yfinance keeps answers on past ranges for the life of the process.

    Args:
        symbol: as Yahoo has it.
        span: the dates that are wanted.
        wire: the session.
        timeout: seconds for each request; the whole call takes at most three times as long.
    """
    call = _Call(timeout, monotonic() + 3 * timeout)
    _calls.current = call
    try:
        ticker = yfinance.Ticker(symbol, session=wire)
        ticker._tz = "UTC"  # noqa: SLF001 - else it asks for the zone, in a request of its own
        frame = ticker.history(
            start=span.start - timedelta(days=1),  # a session in the east opens the day before
            end=max(span.end, datetime.now(UTC).date()) + timedelta(days=2),
            interval="1d",
            auto_adjust=False,
            actions=True,
            timeout=timeout,
        )
        if len(frame):
            return _history(frame, ticker.history_metadata)
    except Exception as error:  # noqa: BLE001 - yfinance raises anything; the wire knows why
        return _failure(call, error)
    finally:
        _calls.current = None
    return _failure(call, None)


def _history(frame: pd.DataFrame, meta: Mapping[str, Any]) -> History:
    dates = tuple(stamp.date() for stamp in frame.index)

    def column(name: str) -> tuple[float, ...]:
        return tuple(map(float, frame[name])) if name in frame else (0.0,) * len(dates)

    def events(*names: str) -> dict[date, float]:
        sums = map(sum, zip(*map(column, names), strict=True))
        return {day: value for day, value in zip(dates, sums, strict=True) if value > 0}

    return History(
        dates=dates,
        adjusted=column("Adj Close"),
        closes=column("Close"),
        volumes=column("Volume"),
        splits=events("Stock Splits"),
        dividends=events("Dividends", "Capital Gains"),
        currency=meta.get("currency"),
        kind=str(meta.get("instrumentType") or ""),
    )


def _failure(call: _Call, error: Exception | None) -> Failure:
    """Why a call brought no rows, by what the wire saw of its last chart request."""
    if call.response is None:
        cause = call.error or error
        if isinstance(cause, Timeout):
            detail = f"timed out after {call.timeout:g} s"
            return Failure(fault=PriceFault.UNREACHABLE, detail=detail)
        fault = PriceFault.UNREACHABLE if isinstance(cause, OSError) else PriceFault.SERVER_ERROR
        if cause is None:
            return Failure(fault=fault, detail="yfinance gave up before it asked, without a reason")
        return Failure(fault=fault, detail=_plain(cause))
    text = str(call.response.text)
    fault, detail = _verdict(int(call.response.status_code), text)
    if fault is PriceFault.NO_BARS and error is not None and '"timestamp"' in text:
        fault, detail = PriceFault.SERVER_ERROR, f"unreadable answer: {_plain(error)}"
    asked = str(call.response.headers.get("Retry-After") or "")
    return Failure(fault=fault, detail=detail, wait=float(asked) if asked.isdecimal() else 0.0)


def _verdict(status: int, text: str) -> tuple[PriceFault, str]:
    """What an answer without rows means; only Yahoo's own word makes a symbol unknown."""
    error, known = _chart(text)
    said = str(error.get("description") or "")
    detail = f"status {status}: {said}" if said else f"status {status}"
    if status in REFUSED:
        return PriceFault.RATE_LIMITED, detail
    if "Will be right back" in text:
        return PriceFault.SERVER_ERROR, f"status {status}: Yahoo is down"
    if status == HTTPStatus.NOT_FOUND or error.get("code") == "Not Found":
        return PriceFault.UNKNOWN_SYMBOL, detail
    if said.startswith("Data doesn't exist"):
        return PriceFault.NO_BARS, said
    if status == HTTPStatus.OK and known and not error:
        return PriceFault.NO_BARS, "Yahoo has no rows"
    return PriceFault.SERVER_ERROR, detail if status != HTTPStatus.OK else f"{detail}, no chart"


def _chart(text: str) -> tuple[Mapping[str, Any], bool]:
    """The error of a chart answer (empty without one), and whether Yahoo knows the symbol."""
    try:
        chart = json.loads(text)["chart"]
        error, result = chart.get("error"), chart.get("result")
        known = bool(result and result[0]["meta"])
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return {}, False
    return error if isinstance(error, dict) else {}, known


def _plain(error: Exception) -> str:
    """An exception in one short line."""
    said = " ".join(str(error).split()).partition(". See https://")[0]
    return f"{type(error).__name__}: {said[:120]}"

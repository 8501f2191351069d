"""Closes from Yahoo through yfinance: one request per symbol, a true reason for each failure."""

import random
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from math import inf, isfinite, log
from time import monotonic
from typing import TYPE_CHECKING, Any

from tradmem.errors import PriceError, PriceFault, UsageError
from tradmem.market.prices import Bars, Row, Span, make_bars
from tradmem.market.symbols import Aliases, index_basis, yahoo_symbol

if TYPE_CHECKING:
    from tradmem.market.yahoo_client import Failure, History, Wire

LONGEST_PAUSE = 30.0  # seconds between two tries, unless Yahoo asks for more
PLAIN_SPLIT = 1.5  # from this ratio on (or its inverse) a split is told from a day's move
TRADED = ("EQUITY", "ETF")  # Yahoo reports a volume of zero for every day of anything else


class YahooPrices:
    """Daily closes from Yahoo, adjusted for splits and dividends.

    Each symbol is asked for once, from its span's first day up to now. ``raw_closes`` are the
    closes of their day: Yahoo adjusts them for splits, and every split up to now is undone.
    Today's bar is half a bar while its session is open. Nothing is kept between fetches, and
    nothing is written but yfinance's cookie, to a temporary folder.

    A rate limit, a time-out and a server error are tried again after a growing pause; a rate
    limit pauses all symbols. An unknown symbol and a span without bars are answers.

    Args:
        aliases: the user's own names, see :func:`tradmem.market.symbols.yahoo_symbol`.
        workers: requests under way at once.
        timeout: seconds for one request.
        retries: how often one symbol is asked for again.
        backoff: seconds of the first pause, on average; each next one is twice as long.
        patience: seconds after the first failure from which nothing is tried again and, while
            Yahoo answers nothing else, nothing more is asked for.
        session: a session of curl_cffi that sends in place of this source's own.

    Raises:
        UsageError: an option is out of range.
    """

    def __init__(
        self,
        *,
        aliases: Aliases = None,
        workers: int = 4,
        timeout: float = 10.0,
        retries: int = 3,
        backoff: float = 1.0,
        patience: float = 60.0,
        session: Any = None,
    ) -> None:
        if workers < 1 or timeout <= 0 or min(retries, backoff, patience) < 0:
            raise UsageError(
                f"workers={workers}, timeout={timeout}, retries={retries}, backoff={backoff}, "
                f"patience={patience}: one worker and some time are needed, and nothing below 0"
            )
        self._aliases = dict(aliases or {})
        self._workers = workers
        self._timeout = timeout
        self._retries = retries
        self._backoff = backoff
        self._patience = patience
        self._session = session
        self._wire: Wire | None = None

    def symbol_of(self, ticker: str) -> str:
        """Yahoo's name for a ticker."""
        return yahoo_symbol(ticker, self._aliases)

    def fetch(self, spans: Mapping[str, Span]) -> Mapping[str, Bars | PriceError]:
        """The bars of each ticker in its span, or why there are none."""
        if not spans:
            return {}
        from tradmem.market import yahoo_client  # noqa: PLC0415 - a second, for pandas and yfinance

        wanted: dict[str, Span] = {}
        for ticker, span in spans.items():
            symbol = self.symbol_of(ticker)
            other = wanted.get(symbol, span)
            wanted[symbol] = Span(min(span.start, other.start), max(span.end, other.end))
        yahoo_client.prepare()
        self._wire = self._wire or yahoo_client.Wire(self._session)
        weather = _Weather(self._patience)
        pool = ThreadPoolExecutor(min(self._workers, len(wanted)), thread_name_prefix="yahoo")
        try:
            asked = {s: pool.submit(self._ask, s, span, weather) for s, span in wanted.items()}
            found = {symbol: future.result() for symbol, future in asked.items()}
        finally:
            weather.over.set()
            pool.shutdown(cancel_futures=True)
        return {
            ticker: self._answer(ticker, span, found[self.symbol_of(ticker)])
            for ticker, span in spans.items()
        }

    def _ask(self, symbol: str, span: Span, weather: "_Weather") -> "History | Failure":
        """Ask for one symbol, as often as the options and the weather allow."""
        from tradmem.market import yahoo_client  # noqa: PLC0415

        assert self._wire is not None
        failure: Failure | None = None
        pause = 0.0
        for attempt in range(self._retries + 1):
            if not weather.clears(pause, again=failure is not None):
                break
            got = yahoo_client.ask(symbol, span, wire=self._wire, timeout=self._timeout)
            if isinstance(got, yahoo_client.History) or not got.fault.passing:
                weather.good()
                return got
            failure = got
            pause = min(self._backoff * 2**attempt, LONGEST_PAUSE) * random.uniform(0.5, 1.5)  # noqa: S311
            pause = max(pause, got.wait)
            weather.bad(got.fault, pause)
        if failure is None:
            detail = f"not asked, after {self._patience:g} s of failures on other symbols"
            return yahoo_client.Failure(fault=weather.fault, detail=detail)
        return failure

    def _answer(self, ticker: str, span: Span, found: "History | Failure") -> Bars | PriceError:
        """What was found of a symbol, as an answer on a ticker and its own span."""
        from tradmem.market import yahoo_client  # noqa: PLC0415

        symbol = self.symbol_of(ticker)
        alias = "" if symbol == ticker else f"{symbol} at Yahoo, "
        if isinstance(found, yahoo_client.Failure):
            return PriceError(found.fault, ticker, alias + found.detail)
        # yfinance writes a missing volume as zero, so zeros alone are no report.
        reported = found.kind in TRADED and any(found.volumes)
        raw_closes = undo_splits(found.dates, found.closes, found.splits)
        volumes = found.volumes if reported else [None] * len(found.dates)
        basis = index_basis(symbol) or ("price" if found.kind == "INDEX" else "total")
        return make_bars(
            ticker,
            map(Row, found.dates, found.adjusted, raw_closes, volumes),
            span=span,
            splits=found.splits,
            dividends=found.dividends,
            currency=found.currency,
            basis=basis,
            source="yahoo",
            aliases=self._aliases,
        )


class _Weather:
    """How Yahoo does during one fetch; shared by its workers.

    Attributes:
        over: set when the fetch ends, so that nobody waits longer.
        fault: the last passing fault; it stands until another symbol is answered.
    """

    def __init__(self, patience: float) -> None:
        self.over = threading.Event()
        self.fault = PriceFault.UNREACHABLE
        self._lock = threading.Lock()
        self._patience = patience
        self._failing = False
        self._calm_at = -inf
        self._end = inf

    def good(self) -> None:
        """Yahoo has answered."""
        with self._lock:
            self._failing = False

    def bad(self, fault: PriceFault, pause: float) -> None:
        """Yahoo has failed; after a rate limit nobody asks for the length of the pause."""
        with self._lock:
            now = monotonic()
            self.fault, self._failing = fault, True
            self._end = min(self._end, now + self._patience)
            if fault is PriceFault.RATE_LIMITED:
                self._calm_at = max(self._calm_at, now + pause)

    def clears(self, pause: float, *, again: bool) -> bool:
        """Wait for the pause and for calm; False if there is no use in asking (any more)."""
        with self._lock:
            now, failing = monotonic(), self._failing
            start = max(now + pause, self._calm_at)
        if start > self._end and (again or failing):
            return False
        return not self.over.wait(max(0.0, start - now))


def undo_splits(
    dates: Sequence[date], closes: Sequence[float], splits: Mapping[date, float]
) -> list[float]:
    """The closes of their day, from closes adjusted for the splits after them.

    A split that Yahoo reports before it has adjusted the closes is left alone: there the
    closes themselves still jump by its ratio.

    Args:
        dates: ascending.
        closes: adjusted for splits alone; NaN where there is none.
        splits: new shares per old one, by date.
    """
    factor = 1.0
    raw = list(closes)
    undone = sorted(splits.items(), reverse=True)
    later = inf  # the close next in time
    for at in range(len(dates) - 1, -1, -1):
        if not isfinite(closes[at]):
            continue
        while undone and dates[at] < undone[0][0]:
            _, ratio = undone.pop(0)
            if not _still_shown(closes[at] / later, ratio):
                factor *= ratio
        raw[at] = closes[at] * factor
        later = closes[at]
    return raw


def _still_shown(step: float, ratio: float) -> bool:
    """Whether a step from one close to the next is nearer to a split's ratio than to none."""
    if not isfinite(step) or step <= 0 or 1 / PLAIN_SPLIT < ratio < PLAIN_SPLIT:
        return False
    return abs(log(step / ratio)) < abs(log(step))

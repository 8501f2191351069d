"""A server that speaks Yahoo's chart protocol on 127.0.0.1, and the TLS proxy in front of it.

One port does three things: it answers ``/v8/finance/chart/SYMBOL`` in plain HTTP, it takes
orders at ``/_control``, and as a proxy (CONNECT) it ends TLS for Yahoo's names with a
certificate of its own, so that the real yfinance client runs against it unchanged. Any
other host is refused.
"""

import os
import ssl
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import trustme
from curl_cffi.requests import Session

from tests.yahoo.chart import BROKEN, Answer, Fault, Question, answer
from tests.yahoo.market import Action, Dividend, Split, as_of, rows_of, venue_of
from tests.yahoo.wire import Local, Port

ROOT = Path(__file__).parents[2]
ANY = "*"
COOKIE = "cookie"  # in place of a symbol: what yfinance asks for before a chart


@dataclass(slots=True)
class Order:
    """A fault that a symbol suffers, for so many requests or until further notice."""

    symbol: str
    fault: Fault
    times: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to the chart endpoint, and what it got."""

    symbol: str
    period1: int | None
    period2: int | None
    status: int
    fault: Fault | None


class YahooServer:
    """Yahoo on this machine; use it as a context manager.

    Attributes:
        now: the instant at which the market stands; None means the clock of this machine.
    """

    def __init__(self, *, port: int = 0, now: datetime | None = None) -> None:
        self.now = now
        self._lock = threading.Lock()
        self._orders: list[Order] = []
        self._actions: dict[str, list[Action]] = {}
        self._log: list[Request] = []
        self._stopping = threading.Event()
        self._folder = tempfile.TemporaryDirectory(prefix="yahoo-")
        authority = trustme.CA()
        self.authority = Path(self._folder.name) / "authority.pem"
        authority.cert_pem.write_to_path(self.authority)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("*.yahoo.com", "*.finance.yahoo.com").configure_cert(self.tls)
        self._http = Port(("127.0.0.1", port))
        self._http.yahoo = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        self._folder.cleanup()

    @property
    def url(self) -> str:
        """Where it listens, in plain HTTP."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def environment(self) -> dict[str, str]:
        """The variables under which another process takes this server for Yahoo."""
        return {
            "HTTPS_PROXY": self.url,
            "NO_PROXY": "",
            "SSL_CERT_FILE": str(self.authority),
            "CURL_CA_BUNDLE": str(self.authority),
            "REQUESTS_CA_BUNDLE": str(self.authority),
        }

    def child_environment(self) -> dict[str, str]:
        """The whole environment of such a process: this one's, without its proxies."""
        kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        paths = os.pathsep.join(filter(None, (str(ROOT), kept.get("PYTHONPATH"))))
        return kept | self.environment() | {"PYTHONPATH": paths}

    def session(self) -> Session:
        """A session for yfinance in this very process, that finds Yahoo here."""
        return Local(self.url)

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run this Python with arguments, in another process that takes this server for Yahoo."""
        given: dict[str, Any] = {"env": self.child_environment(), "capture_output": True}
        command = [sys.executable, *arguments]
        return subprocess.run(command, text=True, check=False, **(given | options))

    def fault(
        self,
        symbol: str,
        fault: Fault | str,
        *,
        times: int | None = None,
        seconds: float | None = None,
    ) -> None:
        """Let a symbol (``*``: any) suffer a fault for so many requests, or until further notice.

        yfinance asks again at once after any status from 400 on: it uses up two of ``times``.

        Args:
            symbol: as Yahoo has it; ``cookie`` is what yfinance asks for before any symbol.
            fault: what goes wrong.
            times: how often.
            seconds: how slow (30 by default), or what a rate limit says in Retry-After.
        """
        with self._lock:
            self._orders.append(Order(symbol, Fault(fault), times, seconds))

    def split(self, symbol: str, day: date, ratio: float, *, applied: bool = True) -> None:
        """Let a symbol split; unapplied, its closes still show it."""
        with self._lock:
            self._actions.setdefault(symbol, []).append(Split(day, ratio, applied))

    def dividend(self, symbol: str, day: date, amount: float) -> None:
        """Let a symbol pay a dividend; the adjusted closes before the day go down."""
        with self._lock:
            self._actions.setdefault(symbol, []).append(Dividend(day, amount))

    def mend(self, symbol: str = ANY) -> None:
        """End the faults of a symbol; of all of them by default."""
        with self._lock:
            self._orders = [o for o in self._orders if symbol not in (ANY, o.symbol)]

    def reset(self) -> None:
        """Forget faults, corporate actions, the requests seen and the instant."""
        with self._lock:
            self._orders, self._actions, self._log, self.now = [], {}, [], None

    def requests(self, symbol: str = ANY) -> list[Request]:
        """The requests to the chart endpoint so far, as they came."""
        with self._lock:
            return [r for r in self._log if symbol in (ANY, r.symbol)]

    def closes(self, symbol: str) -> dict[date, float]:
        """The adjusted closes of the sessions closed by now, without any fault."""
        return {row.day: row.adjusted for row in self._rows(symbol) if row.adjusted is not None}

    def _rows(self, symbol: str):
        now, venue = self._now(), venue_of(symbol)
        rows = rows_of(symbol, (now + timedelta(days=1)).date(), self._actions.get(symbol, ()))
        return [row for row in as_of(rows, venue, now) if venue.closed(row.day) <= now]

    def _now(self) -> datetime:
        return self.now or datetime.now(UTC)

    def chart(self, question: Question) -> Answer:
        """Answer one request to the chart endpoint, and note it before it is answered."""
        with self._lock:
            order = self._next_order(question.symbol)
            actions: Sequence[Action] = tuple(self._actions.get(question.symbol, ()))
        said = answer(question, self._now(), actions, order.fault if order else None)
        if order and order.seconds is not None and order.fault is Fault.RATE_LIMIT:
            said = replace(said, retry_after=int(order.seconds))
        noted = Request(
            symbol=question.symbol,
            period1=question.period1,
            period2=question.period2,
            status=said.status,
            fault=order.fault if order else None,
        )
        with self._lock:
            self._log.append(noted)
        self._be_slow(order)
        return said

    def cookie(self, said: Answer) -> Answer:
        """Answer a request for anything but a chart: all that yfinance asks for on its cookie."""
        with self._lock:
            order = self._next_order(COOKIE)
        self._be_slow(order)
        return BROKEN.get(order.fault, said) if order else said

    def _be_slow(self, order: Order | None) -> None:
        if order and order.fault is Fault.SLOW:
            self._stopping.wait(30.0 if order.seconds is None else order.seconds)

    def _next_order(self, symbol: str) -> Order | None:
        for order in self._orders:
            wanted = (COOKIE,) if symbol == COOKIE else (ANY, symbol)
            if order.symbol in wanted and order.times != 0:
                if order.times is not None:
                    order.times -= 1
                return order
        return None

    def control(self, order: Mapping[str, Any]) -> None:
        """Carry out one order of the control API.

        ``{"symbol": S, "fault": F, "times": N, "seconds": X}``,
        ``{"symbol": S, "split": RATIO, "date": D, "applied": true}``,
        ``{"symbol": S, "dividend": AMOUNT, "date": D}``, ``{"now": INSTANT or null}``,
        ``{"mend": S or "*"}``, ``{"reset": true}``.
        """
        symbol = str(order.get("symbol", ANY))
        if order.get("reset"):
            self.reset()
        elif "mend" in order:
            self.mend(str(order["mend"]))
        elif "now" in order:
            self.now = datetime.fromisoformat(order["now"]) if order["now"] else None
        elif "split" in order:
            day, applied = date.fromisoformat(order["date"]), bool(order.get("applied", True))
            self.split(symbol, day, float(order["split"]), applied=applied)
        elif "dividend" in order:
            self.dividend(symbol, date.fromisoformat(order["date"]), float(order["dividend"]))
        else:
            times, seconds = order.get("times"), order.get("seconds")
            self.fault(symbol, order["fault"], times=times, seconds=seconds)

    def state(self) -> dict[str, Any]:
        """What the control API shows: the instant, the faults, and the requests by symbol."""
        with self._lock:
            return {
                "now": self._now().isoformat(),
                "faults": [
                    {"symbol": o.symbol, "fault": o.fault, "times": o.times}
                    for o in self._orders
                    if o.times != 0
                ],
                "requests": dict(Counter(r.symbol for r in self._log)),
            }

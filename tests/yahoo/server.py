"""A server that speaks Yahoo's chart protocol on 127.0.0.1, and the TLS proxy in front of it.

One port does three things: it answers ``/v8/finance/chart/SYMBOL`` in plain HTTP, it takes
orders at ``/_control``, and as a proxy (CONNECT) it ends TLS for Yahoo's names with a
certificate of its own, so that the real yfinance client runs against it unchanged. Any
other host is refused.
"""

import json
import os
import ssl
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

import trustme

from tests.yahoo.chart import Answer, Fault, Question, answer
from tests.yahoo.market import Action, Dividend, Split, as_of, rows_of, venue_of

CHART = "/v8/finance/chart/"
ANY = "*"


@dataclass(slots=True)
class Order:
    """A fault that a symbol suffers, for so many requests or until further notice."""

    symbol: str
    fault: Fault
    times: int | None = None
    seconds: float = 30.0


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
        self._http = _Http(("127.0.0.1", port), _Handler)
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
        return kept | self.environment()

    def fault(
        self, symbol: str, fault: Fault | str, *, times: int | None = None, seconds: float = 30.0
    ) -> None:
        """Let a symbol (``*``: any) suffer a fault for so many requests, or until further notice.

        yfinance asks again at once after any status from 400 on: it uses up two of ``times``.
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
        """The requests to the chart endpoint so far, in the order of their answers."""
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
        """Answer one request to the chart endpoint, and note it."""
        with self._lock:
            order = self._next_order(question.symbol)
            actions: Sequence[Action] = tuple(self._actions.get(question.symbol, ()))
        fault = order.fault if order else None
        if order and fault is Fault.SLOW:
            self._stopping.wait(order.seconds)
        said = answer(question, self._now(), actions, fault)
        with self._lock:
            self._log.append(
                Request(
                    symbol=question.symbol,
                    period1=question.period1,
                    period2=question.period2,
                    status=said.status,
                    fault=fault,
                )
            )
        return said

    def _next_order(self, symbol: str) -> Order | None:
        for order in self._orders:
            if order.symbol in (ANY, symbol) and order.times != 0:
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
            times, seconds = order.get("times"), float(order.get("seconds", 30.0))
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


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    yahoo: YahooServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up (its time-out passed) is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    server: _Http

    def do_CONNECT(self) -> None:
        """Become Yahoo on this connection: end TLS and answer what comes through it."""
        host = self.path.rpartition(":")[0]
        if not host.endswith(".yahoo.com"):
            self.send_error(403, "only Yahoo is here")
            return
        self.send_response(200, "Connection established")
        self.end_headers()
        self.request = self.server.yahoo.tls.wrap_socket(self.connection, server_side=True)
        self.setup()
        self.close_connection = False

    def finish(self) -> None:
        super().finish()
        self.request.close()

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        yahoo = self.server.yahoo
        if url.path.startswith(CHART):
            asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
            question = Question(
                symbol=unquote(url.path.removeprefix(CHART)),
                period1=int(asked["period1"]) if "period1" in asked else None,
                period2=int(asked["period2"]) if "period2" in asked else None,
                range=asked.get("range"),
            )
            self._say(yahoo.chart(question))
        elif url.path == "/_control":
            self._say(Answer(200, json.dumps(yahoo.state())))
        elif url.path == "/v1/test/getcrumb":
            self._say(Answer(200, "crumb", "text/plain"))
        elif url.path == "/":
            self._say(Answer(404, "", "text/html"), cookie=True)
        else:
            self._say(Answer(200, "{}"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/_control":
            self._say(Answer(200, "{}"))
            return
        try:
            orders = json.loads(body)
            for order in orders if isinstance(orders, list) else [orders]:
                self.server.yahoo.control(order)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._say(Answer(400, json.dumps({"error": str(error)})))
        else:
            self._say(Answer(200, json.dumps(self.server.yahoo.state())))

    def _say(self, said: Answer, *, cookie: bool = False) -> None:
        if said.status == 0:
            self.close_connection = True
            return
        body = said.body.encode()
        self.send_response(said.status)
        self.send_header("Content-Type", said.type)
        self.send_header("Content-Length", str(len(body)))
        if cookie:
            year = "Expires=Thu, 31 Dec 2037 23:59:59 GMT"
            self.send_header("Set-Cookie", f"A3=local; Domain=.yahoo.com; Path=/; {year}")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay silent; ``requests`` tells."""

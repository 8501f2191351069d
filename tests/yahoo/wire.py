"""The local Yahoo's connections: plain HTTP, TLS through CONNECT, and a session that comes here."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from curl_cffi.requests import Session

from tests.yahoo.chart import Answer, Question

CHART = "/v8/finance/chart/"


class Local(Session):
    """A session that takes every https address to one server in plain HTTP."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def request(self, method, url, *args, **kwargs):
        return super().request(method, self._url + urlsplit(url).path, *args, **kwargs)


class Port(ThreadingHTTPServer):
    """The listening port; ``yahoo`` answers."""

    daemon_threads = True
    block_on_close = False
    yahoo: Any  # the YahooServer, which imports this module

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address, _Connection)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up (its time-out passed) is no news."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    server: Port

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
        elif url.path == "/":
            self._say(yahoo.cookie(Answer(404, "", "text/html")), cookie=True)
        elif url.path == "/v1/test/getcrumb":
            self._say(yahoo.cookie(Answer(200, "crumb", "text/plain")))
        else:
            self._say(yahoo.cookie(Answer(200, "{}")))

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
        if said.retry_after is not None:
            self.send_header("Retry-After", str(said.retry_after))
        if cookie:
            year = "Expires=Thu, 31 Dec 2037 23:59:59 GMT"
            self.send_header("Set-Cookie", f"A3=local; Domain=.yahoo.com; Path=/; {year}")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay silent; ``requests`` tells."""

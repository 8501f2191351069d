"""The MCP server over streamable HTTP: loopback, or bearer tokens.

Without sessions: each request stands for itself, and its token says whose it is. How often
somebody may call, and TLS, are a proxy's job in front of it.
"""

import ipaddress
import socket
import sys
from typing import Any

import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST
from pydantic import AnyHttpUrl
from starlette.types import ASGIApp

from tradmem.errors import UsageError
from tradmem.plugin.call_log import CallLog
from tradmem.plugin.callers import Caller, Grant, Tokens, hash_of
from tradmem.plugin.mcp_gate import Gate, PromptProtocol
from tradmem.plugin.mcp_server import MemoryServer, logger
from tradmem.plugin.wire import MOST_BYTES

PATH = "/mcp"
_MOST_CONNECTIONS = 200
_BACKLOG = 128
_SHUTDOWN = 5  # seconds that calls under way are given
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


def parse_address(text: str) -> tuple[str, int]:
    """A host and a port from ``HOST:PORT``.

    Raises:
        UsageError: it is none.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise UsageError(f"{text[:60]!r} is no HOST:PORT; write it like 127.0.0.1:8765")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host's address; a name counts if all it means does."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(str(info[4][0]).split("%")[0]).is_loopback for info in found)


def serve_http(
    address: str,
    *,
    caller: Caller | None = None,
    tokens: Tokens | None = None,
    calls: CallLog | None = None,
) -> None:
    """Serve until the process is told to stop.

    Args:
        address: ``HOST:PORT``; port 0 takes a free one. Which it is, is said on stderr.
        caller: who everybody is, on loopback.
        tokens: who may call from anywhere.
        calls: where each request is noted.

    Raises:
        UsageError: the address cannot be, or others than this machine could call unknown.
    """
    host, port = parse_address(address)
    if tokens is None and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached from other machines; hand in --tokens FILE, or listen on "
            "127.0.0.1"
        )
    app = http_app(caller=caller, tokens=tokens, calls=calls)
    listener = _listen(host, port)
    shown, taken = listener.getsockname()[:2]
    told = f"[{shown}]" if ":" in shown else shown
    where = f"http://{told}:{taken}{PATH}"
    sys.stderr.write(f"tradmem: listening on {where}\n")
    if tokens is not None and not is_loopback(host):
        sys.stderr.write("tradmem: tokens are sent in the clear; put a proxy with TLS in front\n")
    sys.stderr.flush()
    config = uvicorn.Config(
        app,
        http=PromptProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_SHUTDOWN,
        ws="none",
    )
    uvicorn.Server(config).run(sockets=[listener])


def http_app(
    *, caller: Caller | None = None, tokens: Tokens | None = None, calls: CallLog | None = None
) -> ASGIApp:
    """The server as an ASGI application, with its lifespan.

    Args:
        caller: who everybody is; no token is asked for.
        tokens: who calls with which token.
        calls: where each request is noted.

    Raises:
        UsageError: neither is given, or both are.
    """
    if (caller is None) == (tokens is None):
        raise UsageError("a server needs either one caller or a file of tokens")
    bearers = None if tokens is None else _Bearers(tokens)
    who = (lambda _: caller) if bearers is None else bearers.caller_of
    server = MemoryServer(who, calls).server()  # type: ignore[arg-type]
    shared: dict[str, Any] = {
        "streamable_http_path": PATH,
        "json_response": True,
        "stateless_http": True,
        "max_request_body_size": MOST_BYTES,
    }
    if bearers is None:
        names = [f"{name}:*" for name in _LOOPBACK_NAMES]
        security = TransportSecuritySettings(
            allowed_hosts=[*names, *_LOOPBACK_NAMES],
            allowed_origins=[f"http://{name}" for name in (*names, *_LOOPBACK_NAMES)],
        )
        return Gate(server.streamable_http_app(**shared, transport_security=security), calls)
    # A page in somebody's browser, for which the host is checked elsewhere, knows no token.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    auth = AuthSettings(
        issuer_url=AnyHttpUrl("https://tradmem.invalid"),  # nobody is sent there
        resource_server_url=None,
    )
    app = server.streamable_http_app(
        **shared, transport_security=security, auth=auth, token_verifier=bearers
    )
    return Gate(app, calls, bearers.knows)


class _Bearers:
    """Tells callers by their tokens."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def knows(self, token: str) -> bool:
        """Whether a token stands for anything."""
        return self._find(hash_of(token)) is not None

    async def verify_token(self, token: str) -> AccessToken | None:
        """What the transport keeps of a token: its hash, and whose it is."""
        grant = self._find(hash_of(token))
        if grant is None:
            return None
        caller = grant.caller
        return AccessToken(
            token=grant.sha256,
            client_id=f"{caller.tenant}/{caller.name}",
            scopes=[],
            subject=grant.sha256,
        )

    def caller_of(self, ctx: Any) -> Caller:
        """Who is behind a request, by the token that it came with.

        Raises:
            MCPError: the token holds no more.
        """
        user = ctx.request.scope.get("user") if ctx.request is not None else None
        token = getattr(user, "access_token", None)
        grant = self._find(token.subject) if token is not None else None
        if grant is None:
            raise MCPError(INVALID_REQUEST, "the token is not known")
        return grant.caller

    def _find(self, digest: str) -> Grant | None:
        try:
            return self._tokens.of_hash(digest)
        except UsageError as error:
            logger.error("nobody is let in: %s", error)
            return None


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot listen on {host}:{port}: {told}; choose another port") from error
    listener.setblocking(False)
    return listener

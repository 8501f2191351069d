"""What stands before the MCP server over HTTP: who may ask, in which time, and what is noted.

Nobody can hold a place for nothing: a connection says within seconds what it wants, a token is
looked at before the body is waited for, and a body comes in time.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradmem.plugin.call_log import CallLog
from tradmem.plugin.wire import MOST_BYTES, whole

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as AutoHTTPProtocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 10.0  # in which a connection says what it wants
BODY_SECONDS = 30.0  # in which the rest of a request is there
_REFUSALS = (401, 403, 405, 408, 413, 421)
_SCHEME = "bearer"
_CLOSE = {"Connection": "close"}  # what may be left of the request is not waited for


class Gate:
    """Lets through what may ask; notes what was refused, here or behind it.

    There are no sessions, so a stream that a GET would open has nothing to tell, and would
    stay open for nothing: only POST is answered.

    Args:
        app: what answers.
        calls: where a refusal is noted.
        knows: whether a token is somebody's; None where none is asked for.
    """

    def __init__(
        self, app: ASGIApp, calls: CallLog | None, knows: Callable[[str], bool] | None = None
    ) -> None:
        self._app = app
        self._calls = calls
        self._knows = knows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in _REFUSALS:
                self._note(scope, message["status"])
            await send(message)

        answer = self._refusal(scope) or await _read(receive)
        if isinstance(answer, Response):
            await answer(scope, receive, watch)
        elif answer is not None:
            await self._app(scope, _having_read(answer, receive), watch)

    def _refusal(self, scope: Scope) -> Response | None:
        if scope["method"] != "POST":
            return Response("only POST is answered here", 405, {"Allow": "POST"})
        if self._knows is None:
            return None
        given = Headers(scope=scope).getlist("authorization")
        # Of several, a proxy before it may have looked at another one than whoever answers would.
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() == _SCHEME and self._knows(token):
            return None
        headers = {"WWW-Authenticate": "Bearer", **_CLOSE}
        return Response("the token is missing or not known", 401, headers)

    def _note(self, scope: Scope, status: int) -> None:
        if self._calls is not None:
            self._calls.write(refused=status, peer=(scope.get("client") or ("",))[0])


async def _read(receive: Receive) -> bytes | Response | None:
    """The body of a request, or why there is none; None if nobody is left to be told."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > MOST_BYTES:
                    return Response(f"a request has at most {MOST_BYTES} bytes", 413, _CLOSE)
                if not message.get("more_body", False):
                    return whole(body.decode("utf-8", "surrogateescape")).encode(
                        "utf-8", "surrogateescape"
                    )
    except TimeoutError:
        return Response(f"the request did not come within {BODY_SECONDS:g} s", 408, _CLOSE)


def _having_read(body: bytes, receive: Receive) -> Receive:
    """What an application receives of a request that was read before."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return left.pop() if left else await receive()

    return received


class PromptProtocol(AutoHTTPProtocol):
    """A connection that is closed where it holds its place without a request."""

    def connection_made(self, transport: Any) -> None:
        """See :meth:`asyncio.BaseProtocol.connection_made`."""
        super().connection_made(transport)
        self._served: Any = None
        self._timer = self.loop.call_later(HEAD_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """See :meth:`asyncio.BaseProtocol.connection_lost`."""
        self._timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Close what has no request in hand, and had none when it was looked at before."""
        cycle = self.cycle
        is_idle = cycle is None or cycle.response_complete
        if is_idle and cycle is self._served:
            self.transport.close()
            return
        self._served = cycle
        self._timer = self.loop.call_later(HEAD_SECONDS, self._look)

"""Nobody holds a place of the HTTP server for nothing: heads and bodies come in time, or go."""

import asyncio
import socket
import threading
import time

import anyio
import pytest
import uvicorn

from tradmem.plugin import mcp_gate
from tradmem.plugin.mcp_gate import Gate, PromptProtocol
from tradmem.plugin.wire import MOST_BYTES

TOKEN = [(b"authorization", b"Bearer good")]
NEVER = object()


async def echo(scope, receive, send):
    """An application that answers with what it was sent."""
    message = await receive()
    assert not message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


class Calls:
    def __init__(self):
        self.written = []

    def write(self, **values):
        self.written.append(values)


def ask(parts, *, headers=TOKEN, method="POST"):
    """What a request that comes in parts is answered: status, body and what was noted."""
    sent, calls, left = [], Calls(), list(parts)
    scope = {"type": "http", "method": method, "headers": headers, "client": ("1.2.3.4", 5)}

    async def receive():
        part = left.pop(0)
        if part is NEVER:
            await asyncio.sleep(60)
        if part is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    async def send(message):
        sent.append(message)

    anyio.run(Gate(echo, calls, lambda token: token == "good"), scope, receive, send)
    status = sent[0]["status"] if sent else None
    return status, sent[-1]["body"] if sent else b"", calls.written


def test_a_body_in_parts_is_handed_on_as_one():
    assert ask([b'{"a":', b" 1}"]) == (200, b'{"a": 1}', [])
    assert ask([b""]) == (200, b"", [])
    assert ask([b"\xff\x00\xfe"])[1] == b"\xff\x00\xfe"
    assert ask([rb'"half \ud800, whole \ud83d\ude00, \\ud800"'])[1] == (
        rb'"half \ufffd, whole \ud83d\ude00, \\ud800"'
    )


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(mcp_gate, "BODY_SECONDS", 0.05)
    status, _, noted = ask([b"{", NEVER])
    assert status == 408
    assert noted == [{"refused": 408, "peer": "1.2.3.4"}]


def test_a_body_beyond_the_limit_is_refused_before_the_rest_of_it_is_read():
    status, _, noted = ask([b"x" * MOST_BYTES, b"x", NEVER])
    assert (status, noted[0]["refused"]) == (413, 413)
    assert ask([b"x" * MOST_BYTES])[0] == 200


def test_of_who_went_nothing_is_told():
    assert ask([b"{", None]) == (None, b"", [])


@pytest.mark.parametrize(
    "given",
    [
        [],
        [(b"authorization", b"Bearer bad")],
        [(b"authorization", b"Basic good")],
        [*TOKEN, *TOKEN],
        [*TOKEN, (b"authorization", b"Bearer bad")],
    ],
)
def test_for_the_body_of_a_stranger_nobody_waits(given):
    status, told, noted = ask([NEVER], headers=given)
    assert (status, noted[0]["refused"]) == (401, 401)
    assert b"token" in told


async def slow(scope, receive, send):
    """An application that takes its time."""
    await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def address(monkeypatch):
    """Where a server listens that waits a fifth of a second for a head."""
    monkeypatch.setattr(mcp_gate, "HEAD_SECONDS", 0.2)
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(slow, http=PromptProtocol, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()
    server.should_exit = True
    thread.join(timeout=20)
    listener.close()


HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize("begun", [b"", b"POST / HTTP/1.1\r\nHost: x\r\nX-A: "])
def test_a_connection_that_does_not_say_what_it_wants_is_closed(address, begun):
    with socket.create_connection(address, timeout=10) as client:
        client.sendall(begun)
        assert client.recv(100) == b""


def test_one_that_was_answered_is_waited_for_no_longer(address):
    with socket.create_connection(address, timeout=10) as client:
        client.sendall(HEAD)
        assert client.recv(1000).startswith(b"HTTP/1.1 204")  # although that took longer
        client.sendall(HEAD[:20])
        begun = time.monotonic()
        assert client.recv(100) == b""
        assert time.monotonic() - begun < 5

"""The MCP server on this process's standard streams: one caller, a request a line.

A line that is no request is answered as one, so that whoever sent it does not wait for good.
"""

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from tradmem.plugin.call_log import CallLog
from tradmem.plugin.callers import Caller
from tradmem.plugin.mcp_server import MemoryServer
from tradmem.plugin.wire import MOST_BYTES, whole

_CHUNK = 65536


def serve_stdio(caller: Caller, calls: CallLog | None = None) -> None:
    """Serve one caller until the input ends.

    Args:
        caller: who everybody is.
        calls: where each request is noted.

    Raises:
        BrokenPipeError: nobody reads the output any more.
    """
    server = MemoryServer(lambda _: caller, calls).server()

    async def serve() -> None:
        lines = _Lines(0)
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (read, write):
            lines.answer_by(write)
            await server.run(read, write, server.create_initialization_options())

    is_gone = False
    try:
        anyio.run(serve, backend="asyncio")
    except* BrokenPipeError:
        is_gone = True
    if is_gone:
        raise BrokenPipeError("nobody reads the answers any more")


class _Lines:
    """The lines of a descriptor that are messages; the others are answered as what they are.

    A thread that is left to itself when the server ends reads them, past the buffer of
    ``sys.stdin``: neither a signal nor a client that is gone has to wait for another line.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._write: Any = None
        self._ready = anyio.Event()

    def answer_by(self, write: Any) -> None:
        """Begin, with the stream that takes the answers."""
        self._write = write
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        await self._ready.wait()
        async for line in self._lines():
            text = whole(line.decode("utf-8", "replace"))
            refusal = _refusal(text) if len(line) <= MOST_BYTES else _no_message()
            if refusal is None:
                yield text
            else:
                await self._write.send(SessionMessage(refusal))

    async def _lines(self) -> AsyncIterator[bytes]:
        """Those that hold anything; of one that is too long, what is too much already."""
        rest, is_cut = b"", False
        async for data in self._data():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if line.strip() and not is_cut:
                    yield line
                is_cut = False
            if len(rest) > MOST_BYTES:
                if not is_cut:
                    yield rest
                rest, is_cut = b"", True
        if rest.strip() and not is_cut:
            yield rest

    def _data(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        sending, receiving = anyio.create_memory_object_stream[bytes](0)

        def read() -> None:
            with suppress(RuntimeError, anyio.BrokenResourceError, CancelledError):  # it has ended
                while data := self._read():
                    asyncio.run_coroutine_threadsafe(sending.send(data), loop).result()
                loop.call_soon_threadsafe(sending.close)

        threading.Thread(target=read, daemon=True, name="standard input").start()
        return receiving

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _CHUNK)
        except OSError:  # it is closed
            return b""


def _refusal(text: str) -> types.JSONRPCError | None:
    """The answer to what is no message; None for what is one."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        message = None
    if message is not None and not isinstance(message, types.JSONRPCNotification):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _no_message()
    if message is not None and "id" not in found:
        return None
    name = found.get("id") if isinstance(found, dict) else None  # that of a notice can be none
    is_name = isinstance(name, int | str) and not isinstance(name, bool)
    return _no_message(name if is_name else None, types.INVALID_REQUEST)


def _no_message(name: int | str | None = None, code: int = types.PARSE_ERROR) -> types.JSONRPCError:
    told = f"this line is no JSON-RPC message of at most {MOST_BYTES} bytes"
    error = types.ErrorData(code=code, message=told)
    return types.JSONRPCError(jsonrpc="2.0", id=name, error=error)

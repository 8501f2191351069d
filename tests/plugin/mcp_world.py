"""Servers in processes of their own, and the official client to talk to them."""

import os
import re
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).parents[2]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
COMMAND = [sys.executable, "-m", "tradmem", "mcp"]

LIBRARIES = """
[libraries.us-tech]
log = "acme/us-tech.md"
description = "US technology companies"

[libraries.macro]
log = "acme/macro.md"
description = "The economy"

[libraries.private]
log = "umbrella/private.md"
description = "Pharmaceuticals"
"""


def stdio(folder, *options, mode="auto"):
    """A client of a server on standard streams, which ends with it."""
    server = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], *options], env=ENV, cwd=str(folder)
    )
    return Client(stdio_client(server), mode=mode)


class HttpServer:
    """A server over HTTP until the end of the block."""

    def __init__(self, folder, *options, address="127.0.0.1:0"):
        self.process = subprocess.Popen(
            [*COMMAND, "--http", address, *options],
            cwd=folder,
            env=ENV,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.process.stderr.readline()
        found = re.search(r"listening on (http://\S+)", line)
        if not found:
            line += self.process.communicate(timeout=30)[1]
            raise AssertionError(line)
        self.url = found[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.rest = self.process.communicate(timeout=30)[1]

    @asynccontextmanager
    async def client(self, token=None, mode="auto"):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield client


def text(result):
    """What a call answered; that it failed is for the test to ask."""
    return result.content[0].text


def make_token(folder, caller, tenant, *libraries, access="add"):
    """A token from the command line, as an operator makes one."""
    names = [option for name in libraries for option in ("--library", name)]
    options = ["--tokens", "tokens.toml", "--caller", caller, "--tenant", tenant, *names]
    done = subprocess.run(
        [*COMMAND, "token", *options, "--access", access],
        cwd=folder,
        env=ENV,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()

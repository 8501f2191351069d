"""The application behind LangGraph's own server, driven through its HTTP API."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_sync_client

from tests.yahoo.fixtures import yahoo, yahoo_server  # noqa: F401 - fixtures
from tradmem.journal.markdown import MarkdownJournal
from tradmem.model import Status
from tradmem.variables import VARIABLES

ROOT = Path(__file__).parents[1]
NODES = ["resolve", "recall", "analyse", "decide", "record"]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def server(tmp_path, yahoo):  # noqa: F811
    """The address of a real development server that serves ``graph/``."""
    folder = tmp_path / "app"
    folder.mkdir()
    shutil.copy(ROOT / "langgraph.json", folder)
    shutil.copytree(ROOT / "graph", folder / "graph")
    env = yahoo.child_environment() | {
        "TRADMEM_LOG": str(tmp_path / "logs" / "memory.md"),
        "TRADMEM_CACHE": str(tmp_path / "cache"),
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "NO_PROXY": "127.0.0.1",
    }
    for name in (*VARIABLES["api_key"], *VARIABLES["base_url"]):
        env.pop(name, None)
    port = free_port()
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--no-browser", "--no-reload"]
    with (tmp_path / "server.log").open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=out, stderr=out, start_new_session=True
        )
        try:
            url = f"http://127.0.0.1:{port}"
            until_up(url, process, tmp_path / "server.log")
            yield url
        finally:
            os.killpg(process.pid, 15)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()


def until_up(url, process, log):
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        try:
            if httpx.get(f"{url}/ok", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise AssertionError(log.read_text())


def test_a_ticker_runs_through_the_server_and_stands_in_the_log(server, tmp_path):
    with get_sync_client(url=server) as client:
        told = list(
            client.runs.stream(None, "agent", input={"ticker": "aapl"}, stream_mode="updates")
        )
        nodes = [name for part in told if part.event == "updates" for name in part.data]
        assert nodes == NODES
        (entry,) = MarkdownJournal(tmp_path / "logs" / "memory.md").entries()
        assert (entry.ticker, entry.status) == ("AAPL", Status.PENDING)
        assert told[-1].data["record"]["entry_id"] == entry.id
        assert (
            "AAPL up to the close of"
            in told[NODES.index("analyse") + 1].data["analyse"]["analysis"]
        )

        thread = client.threads.create()  # the server's own checkpointer keeps the state
        state = client.runs.wait(thread["thread_id"], "agent", input={"ticker": "AAPL"})
        assert (state["entry_id"], state["status"]) == (entry.id, "unchanged")
        kept = client.threads.get_state(thread["thread_id"])
        assert kept["values"]["decision"] == entry.decision
        assert len(MarkdownJournal(tmp_path / "logs" / "memory.md").entries()) == 1

        with pytest.raises(Exception, match="the state has no 'ticker'"):
            client.runs.wait(None, "agent", input={})

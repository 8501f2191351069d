"""The server on standard streams, asked by the official client."""

import json
import subprocess

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from tests.plugin.mcp_world import COMMAND, ENV, LIBRARIES, stdio, text
from tradmem.memory import Memory
from tradmem.plugin.libraries import Library
from tradmem.plugin.tools import library_tools


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_adds_a_memory_and_finds_it(tmp_path, mode):
    async def talk():
        async with stdio(tmp_path, "--log", "memory.md", mode=mode) as client:
            tools = (await client.list_tools()).tools
            added = await client.call_tool(
                "add_memory", {"content": "NVDA guides low.", "ticker": "NVDA", "library": "x"}
            )
            stored = (tmp_path / "memory.md").read_text()
            found = await client.call_tool("query_memory", {"query": "who guides low?"})
            return tools, added, stored, found

    tools, added, stored, found = anyio.run(talk)
    own = library_tools(Library(name="memory", memory=Memory.open(tmp_path / "memory.md")))
    told = [(tool.name, tool.description, tool.input_schema) for tool in tools]
    assert told[:2] == [(tool.name, tool.description, dict(tool.parameters)) for tool in own]
    assert [tool.name for tool in tools] == [
        "query_memory",
        "add_memory",
        "recall",
        "pending",
        "track_record",
        "record_decision",
    ]
    hints = {tool.name: tool.annotations.read_only_hint for tool in tools}
    assert [name for name, reads in hints.items() if not reads] == ["add_memory", "record_decision"]
    assert not added.is_error
    assert "NVDA guides low." in stored
    assert "NVDA guides low." in text(found)


def test_a_decision_names_what_its_caller_was_shown(tmp_path):
    note = Memory.open(tmp_path / "memory.md").note("Guides low.", ticker="NVDA").entry

    async def talk():
        async with stdio(tmp_path, "--log", "memory.md", "--agent", "desk") as client:
            prompt = await client.get_prompt("decide_with_memory", {"ticker": "nvda"})
            decided = await client.call_tool(
                "record_decision",
                {"ticker": "NVDA", "decision": "**Rating**: Sell\n\nIt guides low.", "agent": "x"},
            )
            return prompt, decided, await client.call_tool("pending", {})

    prompt, decided, pending = anyio.run(talk)
    assert "Guides low." in prompt.messages[0].content.text
    assert "call record_decision with it" in prompt.messages[0].content.text
    assert text(decided).startswith("Recorded as ")
    entry = next(e for e in Memory.open(tmp_path / "memory.md").entries() if e.rating)
    assert (entry.agent, entry.rating, entry.recalled) == ("desk", "Sell", (note.id,))
    assert entry.id in text(pending)


def test_resources_are_the_log_and_its_entries(tmp_path):
    memory = Memory.open(tmp_path / "memory.md")
    first, second = (memory.note(f"{name} opens.").entry for name in ("Tokyo", "Paris"))

    async def talk():
        async with stdio(tmp_path, "--log", "memory.md") as client:
            (listed,) = (await client.list_resources()).resources
            log = await client.read_resource(listed.uri)
            one = await client.read_resource(f"tradmem://memory/entries/{second.id}")
            faults = []
            for uri in (
                "tradmem://memory/entries/000000000000",
                "tradmem://memory/entries/../log",
                "tradmem://other/log",
                "file:///etc/passwd",
            ):
                try:
                    await client.read_resource(uri)
                except MCPError as error:
                    faults.append(str(error))
            return log.contents[0].text, one.contents[0].text, faults

    log, one, faults = anyio.run(talk)
    assert "Tokyo opens." in log
    assert "Paris opens." in log
    assert first.id not in one
    assert "Paris opens." in one
    assert len(faults) == 4
    assert all("there is no resource" in fault for fault in faults)


def test_declared_libraries_have_tools_of_their_own_and_read_only_ones_add_nothing(tmp_path):
    (tmp_path / "tradmem.toml").write_text(LIBRARIES)
    options = ["--library", "us-tech", "--library", "macro"]

    async def talk(*more):
        async with stdio(tmp_path, *options, *more) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            added = await client.call_tool("add_memory_macro", {"content": "Rates rose."})
            return names, added

    names, added = anyio.run(talk)
    assert {"query_memory_us_tech", "add_memory_us_tech", "query_memory_macro"} <= names
    assert not added.is_error
    assert "Rates rose." in (tmp_path / "acme" / "macro.md").read_text()
    names, added = anyio.run(talk, "--read-only")
    assert not any(name.startswith(("add_memory", "record_decision")) for name in names)
    assert added.is_error


def test_every_call_is_noted_and_no_text_of_it(tmp_path):
    async def talk():
        async with stdio(tmp_path, "--log", "logs/memory.md", "--agent", "desk") as client:
            await client.call_tool("add_memory", {"content": "My password is hunter2."})
            await client.call_tool("add_memory", {"content": 7, "x\ny": "hunter2"})

    anyio.run(talk)
    raw = (tmp_path / "logs" / "mcp-calls.jsonl").read_text()
    assert "hunter2" not in raw
    calls = [line for line in map(json.loads, raw.splitlines()) if line["method"] == "tools/call"]
    assert [(call["target"], call["caller"], call["fault"]) for call in calls] == [
        ("add_memory", "desk", ""),
        ("add_memory", "desk", "error"),
    ]
    assert calls[0]["sizes"] == {"content": 23}
    assert (tmp_path / "logs" / "mcp-calls.jsonl").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--library", "us-teck"], "the nearest is us-tech"),
        (["--agent", "a|b"], "is no name of a caller"),
        (["--tokens", "tokens.toml"], "--tokens is for --http"),
        (["--http", "8765"], "is no HOST:PORT"),
        (["--http", "127.0.0.1:99999"], "is no HOST:PORT"),
        (["--http", "0.0.0.0:0"], "can be reached from other machines"),
        (["--http", "[::]:0"], "can be reached from other machines"),
        (["--http", "127.0.0.1:0", "--tokens", "none.toml"], "cannot read the tokens none.toml"),
    ],
)
def test_a_server_that_cannot_serve_says_why_in_one_line_and_ends(tmp_path, options, told):
    (tmp_path / "tradmem.toml").write_text(LIBRARIES)
    done = subprocess.run(
        [*COMMAND, *options],
        cwd=tmp_path,
        env=ENV,
        input="",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""

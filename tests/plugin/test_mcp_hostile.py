"""What a server on standard streams makes of clients that do not keep to the protocol."""

import json
import os
import signal
import subprocess
import threading
from contextlib import suppress
from queue import Queue

import pytest

from tests.plugin.mcp_world import COMMAND, ENV, LIBRARIES
from tradmem.memory import Memory

SECRET = "The merger closes in March."
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
ADD = {"name": "add_memory_us_tech", "arguments": {"content": "x"}}


class Raw:
    """A server and its streams, without a client between."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen(
            [*COMMAND, *options],
            cwd=folder,
            env=ENV,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines = Queue()
        self.errors = []
        self.threads = [threading.Thread(target=read) for read in (self._read, self._hear)]
        for thread in self.threads:
            thread.start()
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(timeout=30)
        for thread in self.threads:
            thread.join(timeout=30)
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.stderr.close()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _hear(self):
        self.errors.extend(self.process.stderr)

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def ask(self, method, params=None):
        """The answer to a request, past whatever else is answered before."""
        self.number += 1
        name = f"ask-{self.number}"
        body = {"jsonrpc": "2.0", "id": name, "method": method, "params": params or {}}
        self.send(json.dumps(body).encode() + b"\n")
        while (found := self.answer()).get("id") != name:
            pass
        return found

    def answer(self):
        """The next line of its output."""
        line = self.lines.get(timeout=20)
        assert line is not None, b"".join(self.errors).decode()
        found = json.loads(line)
        assert found["jsonrpc"] == "2.0"
        return found

    def greet(self):
        self.ask("initialize", HELLO)
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        return self

    def end(self, data=b""):
        """Close its input; its status, what was left of its output, and its errors."""
        with suppress(BrokenPipeError):
            self.send(data)
            self.process.stdin.close()
        status = self.process.wait(timeout=20)
        for thread in self.threads:
            thread.join(timeout=20)
        rest = list(iter(lambda: self.lines.get(timeout=20), None))
        return status, rest, b"".join(self.errors).decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "tradmem.toml").write_text(LIBRARIES)
    memory = Memory.open(folder / "umbrella" / "private.md")
    memory.note(SECRET, ticker="PFE")
    Memory.open(folder / "acme" / "us-tech.md").note("NVDA guides low.", ticker="NVDA")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    """One that serves two of the three libraries."""
    with Raw(folder, "--library", "us-tech", "--library", "macro") as found:
        yield found.greet()
        status, _, errors = found.end()
    assert status == 0
    assert "Traceback" not in errors


def serves(server):
    found = server.ask(
        "tools/call", {"name": "query_memory_us_tech", "arguments": {"query": "low"}}
    )
    return "NVDA guides low." in found["result"]["content"][0]["text"]


LINES = {
    "nothing": b"",
    "blank": b"   \t",
    "half": b'{"jsonrpc": "2.0", "id": 1, "meth',
    "text": b"hello, is anybody there?",
    "http": b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n\r",
    "list": b"[]",
    "null": b"null",
    "number": b"7",
    "empty": b"{}",
    "batch": b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
    "version": b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    "no version": b'{"id": 1, "method": "ping"}',
    "method no text": b'{"jsonrpc": "2.0", "id": 1, "method": 7}',
    "params a list": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}',
    "params a text": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": "x"}',
    "nan": b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}',
    "big number": b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}',
    "binary": bytes(range(256)).replace(b"\n", b""),
    "nul": b"\x00" * 1000,
    "bad utf-8": b'{"jsonrpc": "2.0", "id": "\xff\xfe", "method": "ping"}',
    "utf-16": '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'.encode("utf-16"),
    "mark": b"\xef\xbb\xbf" + b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}',
    "surrogate": b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}',
    "twice": b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping", "method": "x"}',
    "deep": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 100_000,
    "deep object": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "an answer": b'{"jsonrpc": "2.0", "id": 99, "result": {"tools": []}}',
    "an error": b'{"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "x"}}',
    "cancels nothing": b'{"jsonrpc": "2.0", "method": "notifications/cancelled",'
    b' "params": {"requestId": {"x": 1}}}',
    "a notice of nothing": b'{"jsonrpc": "2.0", "method": "notifications/../x"}',
    "hello again": json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 7}}
    ).encode(),
    "huge": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "'
    + b"x" * 5_000_000
    + b'"}}',
    "huge and no json": b"x" * 5_000_000,
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_that_is_no_request_costs_nothing_but_itself(server, name):
    server.send(LINES[name] + b"\n")
    assert serves(server)


@pytest.mark.parametrize(
    ("line", "name", "code"),
    [
        (LINES["half"], None, -32700),
        (LINES["huge"], None, -32700),
        (LINES["deep"], None, -32700),
        (LINES["list"], None, -32600),
        (LINES["no version"], 1, -32600),
        (LINES["params a text"], 1, -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32600),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_line_that_is_no_request_is_answered_by_its_id_if_it_has_one(server, line, name, code):
    server.send(line + b"\n")
    found = server.answer()
    assert (found["id"], found["error"]["code"]) == (name, code)


def test_half_a_character_is_replaced_and_no_reason_to_refuse_what_it_stands_in(server, folder):
    for text, stored in {
        "half \ud800.": "half \ufffd.",
        "other half \udc00": "other half \ufffd",
        "whole \U0001f600": "whole \U0001f600",
        "escaped \\ud800": "escaped \\ud800",
        "after it \\\ud800": "after it \\\ufffd",
    }.items():
        params = {"name": "add_memory_macro", "arguments": {"content": text}}
        assert not server.ask("tools/call", params)["result"]["isError"]
        notes = [entry.note for entry in Memory.open(folder / "acme" / "macro.md").entries()]
        assert stored in notes


@pytest.mark.parametrize(
    "number",
    [1.5, None, True, -1, 10**30, "", "\ud800", "x" * 100_000, [1], {"x": 1}],
    ids=lambda value: repr(value)[:20],
)
def test_an_id_of_any_kind_is_answered_or_passed_over(server, number):
    body = {"jsonrpc": "2.0", "id": number, "method": "ping"}
    server.send(json.dumps(body).encode() + b"\n")
    assert serves(server)


@pytest.mark.parametrize(
    "method",
    ["", "nonsense", "tools/../call", "TOOLS/LIST", "tools/list\x00", "x" * 100_000, "__class__"],
    ids=lambda value: repr(value)[:20],
)
def test_a_method_that_is_none_is_an_error(server, method):
    assert server.ask(method)["error"]["code"] == -32601
    assert serves(server)


WRONG = [None, True, 0, -1, 1.5, 10**400, [], ["NVDA"], {}, {"$ne": 1}, "", " ", "\x00", "\ud800"]
WRONG += ["../../etc/passwd", "A|B", "x" * 30_000, "2026-13-45", "NVDA\n[2026-01-05 | EVIL | Buy]"]


def test_an_argument_of_a_wrong_kind_is_told_to_the_model_and_stores_no_entry_of_it(server, folder):
    tools = server.ask("tools/list")["result"]["tools"]
    good = {"ticker": "NVDA", "query": "x", "content": "x", "decision": "x", "rating": "Buy"}
    answers = []
    for tool in tools:
        properties = tool["inputSchema"]["properties"]
        for name in properties:
            for wrong in WRONG:
                arguments = {key: good.get(key, "2026-01-05") for key in properties}
                params = {"name": tool["name"], "arguments": arguments | {name: wrong}}
                result = server.ask("tools/call", params)
                answers.append(result["result"]["content"][0]["text"])
    assert len(answers) > 20 * len(WRONG)
    assert not any("cannot be used at the moment" in answer for answer in answers)
    for library in ("us-tech", "macro"):
        journal = Memory.open(folder / "acme" / f"{library}.md").journal
        assert journal.problems() == []
        assert set(journal.tickers()) <= {"NVDA", "*", "2026-13-45"}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": None},
        {"name": 7, "arguments": {}},
        {"name": ["add_memory_us_tech"], "arguments": {}},
        {"name": "add_memory_us_tech", "arguments": "x"},
        {"name": "add_memory_us_tech", "arguments": [1]},
        {"name": "add_memory_us_tech", "arguments": None},
        {"name": "add_memory_us_tech" + "\u200b", "arguments": {"content": "x"}},
        {"name": "\u0430dd_memory_us_tech", "arguments": {"content": "x"}},
        {"name": "x" * 100_000, "arguments": {"content": "x"}},
        {"name": "../add_memory_us_tech", "arguments": {"content": "x"}},
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_call_that_is_none_is_an_error(server, folder, params):
    before = (folder / "acme" / "us-tech.md").read_bytes()
    found = server.ask("tools/call", params)
    assert "error" in found or found["result"]["isError"]
    assert (folder / "acme" / "us-tech.md").read_bytes() == before
    assert len(json.dumps(found)) < 3000


def ids_of(folder):
    return [entry.id for entry in Memory.open(folder / "umbrella" / "private.md").entries()]


URIS = [
    "tradmem://private/log",
    "tradmem://private/entries/{id}",
    "tradmem://us-tech/entries/{id}",
    "tradmem://us-tech/../private/log",
    "tradmem://us-tech/entries/../../private/log",
    "tradmem://us-tech/entries/../log",
    "tradmem://us-tech/%2e%2e/private/log",
    "tradmem://us-tech%2f..%2fprivate/log",
    "tradmem://us-tech/entries/%2e%2e%2flog",
    "tradmem://us-tech/log%00",
    "tradmem://us-tech/log\n",
    "tradmem://us-tech/log/",
    "tradmem://us-tech/log?library=private",
    "tradmem://us-tech/log#private",
    "tradmem://private@us-tech/log",
    "tradmem://us-tech:80/log",
    "tradmem://US-TECH/log",
    "tradmem://us\u2010tech/log",
    "tradmem://us-te\u0441h/log",
    "tradmem:///etc/passwd",
    "tradmem:us-tech/log",
    "file:///etc/passwd",
    "file:{folder}/umbrella/private.md",
    "{folder}/umbrella/private.md",
    "/etc/passwd",
    "../umbrella/private.md",
    "umbrella/private.md",
    "",
    "x" * 100_000,
    "tradmem://" + "x" * 100_000 + "/log",
    "tradmem://us-tech/entries/" + "0" * 100_000,
    "tradmem://us-tech/entries/",
    "tradmem://us-tech/entries/0",
    "tradmem://us-tech/entries/\u0660\u0661\u0662\u0663",
]


@pytest.mark.parametrize("uri", URIS, ids=lambda value: repr(value)[:60])
def test_a_resource_that_is_none_of_ones_own_is_not_there(server, folder, uri):
    for name in ids_of(folder):
        place = uri.replace("{id}", name).replace("{folder}", str(folder))
        told = json.dumps(server.ask("resources/read", {"uri": place}))
        assert '"error"' in told
        assert SECRET not in told
        assert "root:" not in told
        assert len(told) < 3000


def test_of_hostile_prompts_none_is_given(server):
    for params in (
        {"name": "decide_with_memory_private", "arguments": {"ticker": "PFE"}},
        {"name": "decide_with_memory_us_tech", "arguments": {}},
        {"name": "decide_with_memory_us_tech", "arguments": {"ticker": 7}},
        {"name": "decide_with_memory_us_tech", "arguments": {"ticker": "A|B"}},
        {"name": "decide_with_memory_us_tech", "arguments": {"ticker": "NVDA", "query": "\ud800"}},
        {"name": 7},
        {},
    ):
        told = json.dumps(server.ask("prompts/get", params))
        assert '"error"' in told or "NVDA" in told
        assert SECRET not in told
    assert serves(server)


def test_nothing_is_written_but_the_logs_of_its_own_libraries(server, folder):
    """After all that the tests above have sent."""
    assert serves(server)
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {name for name in there if not name.endswith(".lock")} <= {
        "tradmem.toml",
        "acme/us-tech.md",
        "acme/macro.md",
        "acme/mcp-calls.jsonl",
        "umbrella/private.md",
    }
    assert len(ids_of(folder)) == 1


@pytest.mark.parametrize("last", [b'{"jsonrpc": "2.0", "id": 1, "meth', b"\xff\xfe\x00"])
def test_the_end_of_its_input_ends_it_and_what_was_answered_is_stored(tmp_path, last):
    with Raw(tmp_path, "--log", "memory.md") as server:
        params = {"name": "add_memory", "arguments": {"content": "NVDA guides low."}}
        assert not server.greet().ask("tools/call", params)["result"]["isError"]
        status, rest, errors = server.end(last)
    assert (status, errors) == (0, "")
    assert all("error" in json.loads(line) for line in rest)
    assert "NVDA guides low." in (tmp_path / "memory.md").read_text()


def test_why_a_log_cannot_be_read_is_for_no_client_to_know(tmp_path):
    (tmp_path / "memory.md").mkdir()
    asked = [
        ("resources/read", {"uri": "tradmem://memory/log"}),
        ("resources/read", {"uri": "tradmem://memory/entries/000000000000"}),
        ("prompts/get", {"name": "decide_with_memory", "arguments": {"ticker": "NVDA"}}),
        ("tools/call", {"name": "recall", "arguments": {"ticker": "NVDA"}}),
        ("tools/call", {"name": "add_memory", "arguments": {"content": "x"}}),
    ]
    with Raw(tmp_path, "--log", str(tmp_path / "memory.md")) as server:
        server.greet()
        told = [json.dumps(server.ask(method, params)) for method, params in asked]
        _, _, errors = server.end()
    assert all("cannot be used at the moment" in line for line in told)
    assert not any(str(tmp_path) in line for line in told)
    assert errors.count(f"cannot read {tmp_path}") == len(asked)
    assert "Traceback" not in errors


def test_before_it_is_greeted_it_does_nothing(tmp_path):
    with Raw(tmp_path, "--log", "memory.md") as server:
        params = {"name": "add_memory", "arguments": {"content": "x"}}
        assert "error" in server.ask("tools/call", params)
        assert server.end()[0] == 0
    assert not (tmp_path / "memory.md").exists()


def test_a_client_that_is_gone_ends_it(tmp_path):
    reading, writing = os.pipe()
    options = {"stdin": subprocess.PIPE, "stdout": writing, "stderr": subprocess.PIPE}
    process = subprocess.Popen([*COMMAND, "--log", "memory.md"], cwd=tmp_path, env=ENV, **options)
    os.close(writing)
    os.close(reading)
    with suppress(BrokenPipeError):
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        process.stdin.write(json.dumps(body).encode() + b"\n")
        process.stdin.flush()
    process.wait(timeout=30)  # although its input is open still
    assert process.stderr.read() == b""
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.stderr.close()


def test_a_signal_ends_it_at_once_without_a_word_on_its_output(tmp_path):
    with Raw(tmp_path, "--log", "memory.md") as server:
        server.greet().process.send_signal(signal.SIGINT)
        server.process.wait(timeout=20)
        assert server.lines.get(timeout=20) is None
        server.threads[1].join(timeout=20)
        assert b"Traceback" not in b"".join(server.errors)

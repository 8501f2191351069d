"""The local Yahoo as a person uses it: started in one shell, asked from another."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.yahoo import Fault
from tests.yahoo.server import ROOT

FETCH = """
from datetime import date
from tradmem.market.prices import Span
from tradmem.market.yahoo import YahooPrices
span = Span(date(2026, 11, 2), date(2026, 11, 10))
for ticker, found in YahooPrices(retries=0).fetch(dict.fromkeys(["AAPL", "MSFT"], span)).items():
    print(ticker, getattr(found, "kind", None) or found.dates[-1])
"""


class ByHand:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        printed = [process.stdout.readline()]
        while not printed[-1].startswith("faults:"):
            printed.append(process.stdout.readline())
        self.printed = "".join(printed)
        exports = [shlex.split(line)[1] for line in printed if line.startswith("  export ")]
        self.exports = dict(export.split("=", 1) for export in exports)
        self.url = self.exports["HTTPS_PROXY"]

    def order(self, body: str) -> dict:
        with urlopen(f"{self.url}/_control", body.encode()) as answer:
            return json.load(answer)


@pytest.fixture(scope="module")
def by_hand() -> Iterator[ByHand]:
    command = [sys.executable, "-m", "tests.yahoo", "--port", "0", "--fault", "AAPL=429"]
    command += ["--now", "2026-11-10T22:00:00Z"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield ByHand(process)
        finally:
            process.kill()


def test_another_shell_takes_it_for_yahoo(by_hand: ByHand) -> None:
    environment = os.environ | by_hand.exports | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", FETCH], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["AAPL rate limited", "MSFT 2026-11-10"]


def test_orders_are_taken_and_shown(by_hand: ByHand) -> None:
    by_hand.order('{"mend": "*"}')
    state = by_hand.order('[{"symbol": "KO", "fault": "500", "times": 2}]')
    assert state["faults"] == [{"symbol": "KO", "fault": "500", "times": 2}]
    assert state["now"] == "2026-11-10T22:00:00+00:00"
    with pytest.raises(HTTPError, match="400"):
        by_hand.order('{"symbol": "KO", "fault": "no such"}')


def test_it_prints_every_fault(by_hand: ByHand) -> None:
    assert all(fault in by_hand.printed for fault in Fault)


def test_other_hosts_are_refused(by_hand: ByHand) -> None:
    port = int(by_hand.url.rpartition(":")[2])
    for host, status in (("example.com:443", b"403"), ("query2.finance.yahoo.com:443", b"200")):
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert connection.recv(64).split()[1] == status


def test_a_signal_ends_it(by_hand: ByHand) -> None:
    by_hand.process.send_signal(signal.SIGTERM)
    assert by_hand.process.wait(timeout=5) == 0

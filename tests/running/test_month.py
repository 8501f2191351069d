"""A month of daily runs from the command line, on a local price server and a local model server.

The clock is the test's; prices and answers come over the wire. In the month: holidays of two
exchanges, an outage of the prices, one of the model, a run that is killed, two started at
once, and three days on which the machine was off.
"""

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from functools import cache

import exchange_calendars
import pytest
from click.testing import CliRunner

from tests.model_server import MODEL, ModelServer
from tests.yahoo.chart import Fault
from tests.yahoo.fixtures import yahoo, yahoo_server  # noqa: F401 - fixtures
from tradmem.cli import cli
from tradmem.journal.markdown import MarkdownJournal
from tradmem.market.yahoo import YahooPrices
from tradmem.model import Status
from tradmem.running import RunLog, RunState

EXCHANGES = {"AAPL": "XNYS", "JPM": "XNYS", "7203.T": "XTKS"}
AT = time(5, 30, tzinfo=UTC)  # before the open in New York, before the close in Tokyo
FIRST, LAST, AFTER = date(2026, 1, 1), date(2026, 1, 31), date(2026, 2, 11)
PRICES_DOWN, MODEL_DOWN = date(2026, 1, 13), date(2026, 1, 15)
KILLED, TWICE = date(2026, 1, 20), date(2026, 1, 22)
OFF = {date(2026, 1, 26), date(2026, 1, 27), date(2026, 1, 28)}
DECISION = '{"rating": "%s", "thesis": "It has moved. It may move on.", "cited": []}'
CHILD = """
import sys
from datetime import datetime
from tradmem.cli import cli
now = datetime.fromisoformat(sys.argv[1])
cli.main(sys.argv[2:], obj=lambda: now)
"""


class House:
    """The machine on which the runs are started."""

    def __init__(self, folder, market):
        self.folder, self.yahoo, self.model = folder, market, None
        self.log = folder / "memory.md"
        self.now = datetime.combine(FIRST, AT)
        self.down, self.kill = False, None
        self.env = {
            **market.environment(),
            "TRADMEM_CACHE": str(folder / "cache"),
            "TRADMEM_MODEL": MODEL,
            "TRADMEM_MODEL_PRICES": "2,10",
            "TRADMEM_MODEL_RETRIES": "0",
            "COLUMNS": "120",
        }
        self.words = ["run", *EXCHANGES, "--skip-closed", "--retries", "0", "--log", str(self.log)]

    def ask(self, model):
        """Ask this server for decisions and lessons."""
        self.model = model
        self.env["TRADMEM_BASE_URL"] = model.url

    def play(self, about):
        """What the model server answers: decisions are about a ticker, lessons about a day too."""
        if self.down:
            return "503"
        ticker, *day = about.split()
        if day:
            return "ok"
        if self.kill and ticker == "JPM":
            os.kill(self.kill, signal.SIGKILL)
        return DECISION % ("Buy" if self.now.day % 2 else "Sell")

    def start(self, day):
        """The daily run, in this process."""
        self.go(day)
        return CliRunner().invoke(cli, self.words, obj=lambda: self.now, env=self.env)

    def go(self, day):
        self.now = self.yahoo.now = datetime.combine(day, AT)

    def child(self, *more):
        """The daily run, in a process of its own."""
        command = [sys.executable, "-W", "ignore", "-c", CHILD, self.now.isoformat()]
        env = self.yahoo.child_environment() | self.env
        return subprocess.Popen(
            [*command, *self.words, *more],
            env=env,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def entries(self):
        return MarkdownJournal(self.log).entries() if self.log.exists() else []


@pytest.fixture
def house(tmp_path, monkeypatch, yahoo):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("TRADMEM_", "OPENAI_")):
            monkeypatch.delenv(name)
    patient = YahooPrices.__init__.__kwdefaults__
    monkeypatch.setitem(patient, "backoff", 0.01)  # the outage is one of minutes otherwise
    made = House(tmp_path, yahoo)
    with ModelServer(made.play) as model:
        made.ask(model)
        yield made


@cache
def calendar_of(ticker):
    """The exchange's own calendar."""
    return exchange_calendars.get_calendar(EXCHANGES[ticker], start="2025-12-01", end="2026-04-01")


def trading(day):
    """Who trades on a day."""
    return [ticker for ticker in EXCHANGES if calendar_of(ticker).is_session(str(day))]


def said(output, word):
    """The number that the headline of a digest puts before a word."""
    (headline,) = [line for line in output.splitlines() if re.match(r"2026-\d\d-\d\d \d\d:", line)]
    found = re.search(rf"(\d+) {word}", headline)
    return int(found[1]) if found else 0


def check_digest(output, day, before, after):
    """The digest says what the log shows: no more and no less."""
    known = {entry.id: entry for entry in before}
    new = [entry for entry in after if entry.id not in known]
    done = [e for e in after if e.outcome and not (e.id in known and known[e.id].outcome)]
    lessons = [e for e in after if e.reflection and not (e.id in known and known[e.id].reflection)]
    assert said(output, "decided") == len(new)
    assert said(output, "resolved") == len(done)
    assert said(output, "lesson") == len(lessons)
    verdicts = Counter(str(entry.verdict) for entry in done)
    for verdict in ("right", "wrong", "neutral"):
        assert said(output, verdict) == verdicts[verdict]
    waiting = [entry for entry in after if entry.status is Status.PENDING]
    assert said(output, "pending") == len(waiting)
    for entry in (*new, *done):
        assert entry.id in output
    assert {entry.date for entry in new} <= {day}


def test_a_month_leaves_one_entry_per_ticker_and_session_and_digests_that_tell_the_truth(house):
    day = FIRST
    while day <= LAST:
        if day not in OFF:
            live(house, day)
        day += timedelta(days=1)
    result = house.start(AFTER)  # all of January has come due
    assert result.exit_code == 0, result.output
    january = [entry for entry in house.entries() if entry.date <= LAST]
    expected = Counter(
        (ticker, FIRST + timedelta(days=n))
        for n in range((LAST - FIRST).days + 1)
        if (each := FIRST + timedelta(days=n)) not in OFF
        for ticker in trading(each)
    )
    assert Counter((entry.ticker, entry.date) for entry in january) == expected
    assert len(expected) > 40
    assert {entry.status for entry in january} == {Status.RESOLVED}
    assert not any("late" in entry.recorded.flags for entry in january)
    assert all(entry.recorded.extra["model"] == MODEL for entry in january)
    check_record(house)


def live(house, day):
    """One day: a run, what goes wrong in it, and the digest."""
    if day in (PRICES_DOWN, MODEL_DOWN):
        suffer(house, day)
    if day == KILLED:
        die(house, day)
    elif day == TWICE:
        start_twice(house, day)
    else:
        go_well(house, day)


def go_well(house, day):
    """A run without any fault; started again, it has nothing to do."""
    before = house.entries()
    result = house.start(day)
    after = house.entries()
    assert result.exit_code == 0, result.output
    check_digest(result.output, day, before, after)
    assert sorted(e.ticker for e in after if e.date == day) == sorted(trading(day))
    assert [e for e in after if e.status is Status.SETTLED] == []
    assert [e for e in after if e.status is Status.PENDING and due(e) <= house.now] == []
    if day.weekday() in (0, 2):
        calls = len(house.model.seen)
        again = house.start(day)
        assert again.exit_code == 0
        assert "nothing to do" in again.output
        assert len(house.model.seen) == calls
        assert house.entries() == after


def suffer(house, day):
    """A run in an outage, of the prices or of the model: nothing is made up, and all is told."""
    before, calls = house.entries(), len(house.model.seen)
    if day == PRICES_DOWN:
        house.yahoo.fault("*", Fault.ERROR)
    house.down = day == MODEL_DOWN
    result = house.start(day)
    after = house.entries()
    check_digest(result.output, day, before, after)
    assert result.exit_code == 1
    assert [entry for entry in after if entry.date == day] == []
    assert said(result.output, "failed") == len(trading(day))
    told = " ".join(result.output.split())
    assert "run again later: what is decided stays" in told
    if day == PRICES_DOWN:
        assert "server error" in told
        assert "it stays due, and the next run asks again by itself" in told
        assert len(house.model.seen) == calls
    house.yahoo.mend()
    house.down = False


def die(house, day):
    """A run that is killed when it asks about the second ticker; the next one finds the rest."""
    house.go(day)
    process = house.child("--concurrency", "1")
    house.kill = process.pid
    out, _ = process.communicate(timeout=120)
    house.kill = None
    assert process.returncode == -signal.SIGKILL, out
    before = house.entries()
    assert [entry.ticker for entry in before if entry.date == day] == ["AAPL"]
    assert RunLog(house.log).runs()[-1].state is RunState.DIED
    result = house.start(day)
    assert result.exit_code == 0, result.output
    assert "AAPL" in result.output
    assert said(result.output, "decided before") == 1
    check_digest(result.output.replace("1 decided before", ""), day, before, house.entries())


def start_twice(house, day):
    """Two runs at the same moment: one does everything, the other says that there is nothing."""
    house.go(day)
    before = house.entries()
    processes = [house.child(), house.child()]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    idle, busy = sorted(outputs, key=lambda output: said(output, "decided"))
    assert "nothing to do" in idle
    check_digest(busy, day, before, house.entries())


def due(entry):
    """When an entry's exit session is final, by the exchange's own calendar."""
    calendar = calendar_of(entry.ticker)
    entered = calendar.minute_to_session(entry.decided_at.replace(second=0), direction="next")
    exit_session = calendar.session_offset(entered, 5)
    return calendar.session_close(exit_session).to_pydatetime() + timedelta(hours=2)


def check_record(house):
    """The record of runs holds each of them, and every call that the model's server saw."""
    runs = RunLog(house.log).runs()
    states = Counter(run.state for run in runs)
    assert states[RunState.DIED] == 1
    assert states[RunState.INTERRUPTED] == states[RunState.UNDER_WAY] == 0
    recorded = sum(run.data["calls"] for run in runs if run.ended)
    (dead,) = [run for run in runs if run.state is RunState.DIED]
    by_the_dead = len(house.model.seen) - recorded
    assert 2 <= by_the_dead <= 2 + 3  # two decisions were asked for, and lessons before them
    assert len(dead.decided) == 1
    decided = [key for run in runs for key in run.decided]
    assert len(decided) == len(set(decided)) == len(house.entries())

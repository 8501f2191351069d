"""``tradmem doctor``: against the local Yahoo, a model's server, and things that are broken."""

import json
import time

import pytest

from tests.model_server import MODEL, ModelServer
from tests.yahoo import Fault
from tests.yahoo.fixtures import yahoo, yahoo_server

__all__ = ["yahoo", "yahoo_server"]


@pytest.fixture
def doctor(yahoo, tmp_path):
    def run(*options, log=None, **environment):
        log = log or tmp_path / "memory.md"
        command = ["-m", "tradmem", "doctor", "--log", str(log), *options]
        return yahoo.run(*command, env=yahoo.child_environment() | environment)

    return run


def unwrapped(text):
    """A text without the blanks and line ends that a long path is broken by."""
    return "".join(text.split())


def test_all_is_well_where_everything_answers(doctor, tmp_path):
    with ModelServer(["ready"]) as server:
        done = doctor(OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, TRADMEM_MODEL=MODEL)
    assert done.returncode == 0, done.stdout + done.stderr
    for symbol in ("SPY", "7203.T", "BTC-USD"):
        assert f"{symbol}: ok, " in done.stdout
    assert f"{MODEL}: ok, answers" in done.stdout
    assert "model.api_key: set, not shown (OPENAI_API_KEY)" in done.stdout
    assert "not there yet" in done.stdout
    assert f"log:{tmp_path / 'memory.md'}(option)" in unwrapped(done.stdout)
    assert "benchmark" not in done.stdout
    assert "all others are their defaults; `tradmem settings` lists them" in done.stdout
    assert "all is well" in done.stderr
    assert not (tmp_path / "memory.md").exists()


def test_a_source_that_fails_is_told_with_its_true_reason(doctor, yahoo):
    yahoo.fault("7203.T", Fault.UNKNOWN)
    done = doctor("--json")
    assert done.returncode == 1
    found = {item["about"]: item for item in json.loads(done.stdout)}
    assert found["Prices from yahoo: SPY"]["good"] is True
    tokyo = found["Prices from yahoo: 7203.T"]
    assert tokyo["good"] is False
    assert "unknown symbol" in tokyo["said"]
    assert found["Model"]["good"] is None
    assert found["Settings: benchmark"]["said"] == "each market's own (default)"


def test_a_file_is_asked_for_its_own_tickers_and_a_folder_is_no_log(doctor, tmp_path):
    closes = tmp_path / "closes.csv"
    closes.write_text("date,NVDA\n2026-01-05,100\n2026-01-06,101\n", encoding="utf-8")
    done = doctor("--prices", str(closes), log=tmp_path)
    assert done.returncode == 1
    assert "NVDA: ok, 2 closes up to 2026-01-06" in done.stdout
    assert "it is a folder" in done.stdout
    assert f"prices:{closes}(option)" in unwrapped(done.stdout)


def test_a_model_that_refuses_the_key_is_one_line(doctor):
    with ModelServer(["401"]) as server:
        done = doctor(
            "--prices",
            "demo",
            OPENAI_API_KEY="k-secret",
            OPENAI_BASE_URL=server.url,
            TRADMEM_MODEL=MODEL,
        )
    assert done.returncode == 1
    assert f"{MODEL}: FAILS" in done.stdout
    assert "k-secret" not in done.stdout + done.stderr


def test_a_setting_of_the_model_that_cannot_be_is_named_and_no_model_is_asked(doctor):
    with ModelServer(["ready"]) as server:
        found = {
            "OPENAI_API_KEY": "k-secret",
            "OPENAI_BASE_URL": server.url,
            "TRADMEM_MODEL": MODEL,
        }
        done = doctor("--prices", "demo", **found, TRADMEM_MODEL_TIMEOUT="soon")
        assert server.seen == []
    assert done.returncode == 1
    assert "TRADMEM_MODEL_TIMEOUT is 'soon'; it has to be seconds above 0" in (
        " ".join(done.stdout.split())
    )
    assert "Settings\n  log:" in done.stdout


def test_a_source_that_does_not_answer_is_given_up_soon_on_all_symbols_at_once(doctor, yahoo):
    yahoo.fault("*", Fault.SLOW, seconds=30)
    start = time.monotonic()
    done = doctor("--json")
    took = time.monotonic() - start
    failed = [item["said"] for item in json.loads(done.stdout) if item["good"] is False]
    assert (done.returncode, len(failed)) == (1, 3)
    assert all("timed out after 4 s" in said for said in failed)
    assert took < 45  # one after the other, each tried again, they took over two minutes

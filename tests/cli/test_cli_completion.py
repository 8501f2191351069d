"""What the Tab key offers, as the shells ask for it."""

import subprocess
import sys

import pytest

from tests.cli.test_cli_group import environment
from tradmem.cli import COMMANDS


def offered(words: str, **env: str) -> list[str]:
    """What follows some words, the last of which is not finished."""
    given = environment(
        _TRADMEM_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")), **env
    )
    code = "from tradmem.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code],
        env=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "pandas" not in done.stderr
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_are_offered_without_loading_any():
    assert offered("tradmem ") == list(COMMANDS)
    assert offered("tradmem st") == ["status", "stats"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tradmem log -v ", ["right", "wrong", "neutral"]),
        ("tradmem log --kn", ["--known-since"]),
        ("tradmem log p", ["path"]),
        ("tradmem export x.csv --format p", ["parquet", "pages"]),
        ("tradmem log -t n", ["NVDA"]),
        ("tradmem log N", ["NVDA"]),
        ("tradmem show ", ["AAPL", "NVDA", "last"]),
        ("tradmem forget l", ["last"]),
        ("tradmem supersede NVDA n", ["NVDA"]),
    ],
)
def test_options_choices_and_tickers_of_the_log_are_offered(world, words, expected):
    world.record("NVDA")
    world.record("AAPL")
    assert offered(words, TRADMEM_LOG=str(world.log)) == expected


def test_a_settings_file_that_cannot_be_read_offers_nothing_and_says_nothing(world):
    (world.folder / "tradmem.toml").write_text("lgo = 1\n")
    assert offered("tradmem show ") == ["last"]

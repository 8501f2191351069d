"""The command line as a process: help, start-up, exit statuses, pipes and encodings."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.cli.world import one_line
from tradmem import Memory
from tradmem.cli import COMMANDS, cli
from tradmem.cli.group import Group, Lazy
from tradmem.errors import (
    ConflictError,
    LogBusy,
    LogError,
    LookAhead,
    ModelError,
    PriceError,
    PriceFault,
    UnknownEntry,
    UsageError,
)

ROOT = Path(__file__).parents[2]
HEAVY = ["pandas", "numpy", "langgraph", "openai", "yfinance", "rich", "exchange_calendars"]
HEAVY += ["asyncio", "filelock", "platformdirs", "tradmem.memory"]  # some ten milliseconds each


def environment(**more: str) -> dict[str, str]:
    """The environment of a process that runs this working copy."""
    left_out = ("PYTHONUNBUFFERED", "NO_COLOR", "FORCE_COLOR", "TRADMEM_LOG", "PYTHONIOENCODING")
    given = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**given, "PYTHONPATH": str(ROOT), **more}


def process(*words: str, binary: bool = False, **options) -> subprocess.CompletedProcess:
    env = environment(**options.pop("env", {}))
    return subprocess.run(
        [sys.executable, "-m", "tradmem", *words],
        capture_output=True,
        text=not binary,
        env=env,
        timeout=120,
        check=False,
        **options,
    )


# Help


def test_help_lists_every_command_with_one_line():
    result = CliRunner().invoke(cli, ["--help"])
    assert result.exit_code == 0
    listed = re.findall(r"^  ([a-z]+)  +([A-Z].*\.)$", result.stdout, re.MULTILINE)
    assert dict(listed) == {name: command.help for name, command in COMMANDS.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_is_the_first_sentence_of_the_commands_own_help(name):
    command = cli.get_command(click.Context(cli), name)
    assert command.name == name
    assert command.get_short_help_str(limit=100) == COMMANDS[name].help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_within_80_columns(name):
    result = CliRunner().invoke(cli, [name, "-h"])
    assert result.exit_code == 0
    assert COMMANDS[name].help in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_no_command_at_all_prints_the_help():
    result = CliRunner().invoke(cli, [])
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: tradmem")


def test_every_command_that_the_readme_documents_is_there():
    """The table of commands names each as `tradmem NAME`; a readme without one names none."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    named = {name for row in rows for name in re.findall(r"`tradmem ([a-z]+)", row)}
    assert named <= set(COMMANDS)
    if named:
        assert named == set(COMMANDS)


# Start-up


@pytest.mark.parametrize(
    "words", [["--help"], ["log"], ["log", "--help"], ["log", "--verdict", "right"], ["check"]]
)
def test_looking_at_a_log_loads_nothing_heavy(world, words):
    world.settle_week()
    code = (
        "import sys; from tradmem.cli import main\n"
        "try: main()\nexcept SystemExit as end: status = end.code\n"
        f"print(status, [name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        env=environment(TRADMEM_LOG=str(world.log)),
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "0 []"


def test_help_loads_no_command():
    code = (
        "import sys; from tradmem.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name.startswith('tradmem.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=60,
        check=True,
    )
    loaded = set(json.loads(done.stdout.splitlines()[-1].replace("'", '"')))
    assert loaded == {
        *("tradmem.cli", "tradmem.cli.group", "tradmem.cli.output"),
        *("tradmem.clock", "tradmem.errors"),
    }


# Failures


def failing(error: BaseException) -> Group:
    """A command line with one command, which fails."""

    @click.command()
    def fail() -> None:
        raise error

    group = Group("tradmem", lazy={"fail": Lazy("none", "Fails.", "Any")})
    group.get_command = lambda ctx, name: fail if name == "fail" else None
    return group


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (UsageError("no such ticker"), 2, "no such ticker"),
        (LookAhead("not known then"), 2, "not known then"),
        (LogBusy("x.md is in use"), 3, "x.md is in use"),
        (LogError("cannot write x.md"), 1, "cannot write x.md"),
        (ConflictError("stands already"), 1, "stands already"),
        (UnknownEntry("no entry"), 1, "no entry"),
        (PriceError(PriceFault.UNREACHABLE, "X"), 1, "no prices for X: unreachable"),
        (ModelError("refused"), 1, "the model gave no answer: refused"),
        (click.BadParameter("bad"), 2, "bad"),
        (click.FileError("f", "gone"), 1, "gone"),
        (KeyError("x"), 1, "internal error: KeyError: 'x'; --debug shows where"),
        (UsageError("two\nlines\x1b[31m"), 2, "two lines\\x1b[31m"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "cannot write the output: no space"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_every_failure_is_one_line_and_an_exit_status(error, status, said):
    result = CliRunner().invoke(failing(error), ["fail"])
    assert result.exit_code == status
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("tradmem: ")
    assert said in lines[0]


def test_debug_shows_the_traceback_wherever_it_stands():
    for words in (["--debug", "log"], ["log", "--debug"], ["log", "list", "--debug"]):
        done = process(*words, env={"TRADMEM_LOG": str(ROOT)})
        assert done.returncode == 1
        assert "Traceback" in done.stderr
        assert f"LogError: cannot read {ROOT}: it is a folder" in done.stderr


def test_a_text_that_says_debug_is_no_option(world):
    result = world.run("record", "A|B", "--log", world.log, "--", "--debug", log=False)
    assert result.exit_code == 2
    assert "is no ticker" in one_line(result)


@pytest.mark.parametrize("command", ["upgrade", "status", "archive", "rebuild"])
@pytest.mark.parametrize(
    ("log", "told"),
    [("memory.md", "is a file"), ("postgresql://host/db", "pip install 'tradmem[postgres]'")],
)
def test_without_the_driver_a_database_is_refused_in_one_line(monkeypatch, command, log, told):
    for name in [name for name in sys.modules if name.startswith("tradmem.journal.postgres.")]:
        if name != "tradmem.journal.postgres.place":
            monkeypatch.delitem(sys.modules, name)
    for name in ("psycopg", "psycopg_pool"):
        monkeypatch.setitem(sys.modules, name, None)
    result = CliRunner().invoke(cli, ["db", command, "--log", log])
    assert result.exit_code == 2
    assert told in one_line(result)


def test_a_misspelt_command_or_option_is_one_line():
    result = CliRunner().invoke(cli, ["lgo"])
    assert result.exit_code == 2
    assert "no such command 'lgo'; did you mean log?" in one_line(result)
    far = CliRunner().invoke(cli, ["zzzzzz"])
    assert "did you mean" not in one_line(far)
    result = CliRunner().invoke(cli, ["log", "--vrdict", "right"])
    assert result.exit_code == 2
    assert "see tradmem log --help" in one_line(result)


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert CliRunner().invoke(cli, ["--version"]).stdout == f"tradmem {version('tradmem')}\n"


# Where logs cannot be


@pytest.mark.parametrize(
    "name", ["postgres//h/x", "postgresql:/h/x", "postgresql:h/x", "Postgres:x", "POSTGRESQL//x"]
)
def test_a_mistyped_url_of_a_database_is_no_path(world, name, monkeypatch):
    """As a path it would keep on this machine what was meant for all."""
    monkeypatch.chdir(world.folder)
    before = list(world.folder.iterdir())
    for words in (["record", "NVDA", "Buy"], ["log"], ["import", name]):
        result = world.run(*words, "--log", name, log=False)
        assert result.exit_code == 2
        assert "write postgresql://host/database" in one_line(result)
    with pytest.raises(UsageError, match="write postgresql://"):
        Memory.open(name)
    assert list(world.folder.iterdir()) == before


def test_a_folder_may_be_called_like_a_database(world, monkeypatch):
    monkeypatch.chdir(world.folder)
    for name in ("postgres/memory.md", "./postgresql:old/memory.md"):
        assert world.run("record", "NVDA", "Buy", "--log", name, log=False).exit_code == 0


@pytest.mark.parametrize("place", ["closes.csv/memory.md", "/proc/nowhere/memory.md", "x" * 300])
def test_a_log_that_cannot_be_written_is_one_line(world, place):
    for words in (["record", "NVDA", "x"], ["note", "x"], ["run", "NVDA"]):
        result = world.run(*words, "--log", place, log=False)
        assert result.exit_code == 1
        assert os.path.dirname(place) or place in one_line(result)  # noqa: PTH120


@pytest.mark.parametrize("words", [["log"], ["show", "last"], ["status"], ["check"]])
def test_a_path_that_is_too_long_is_one_line(world, words):
    result = world.run(*words, "--log", "x" * 300, log=False)
    assert result.exit_code == 1
    assert "file name too long" in one_line(result)


@pytest.mark.parametrize(
    "words",
    [
        ["report", "--out"],
        ["resolve", "--prices"],
        ["import"],
        ["export"],
        ["mirror"],
        ["run", "--watchlist"],
        ["record", "NVDA", "--file"],
    ],
)
@pytest.mark.parametrize("suffix", ["", ".csv"])
def test_a_name_of_a_file_that_is_too_long_is_no_internal_error(world, words, suffix):
    world.record("NVDA")
    result = world.run(*words, "x" * 300 + suffix)
    assert result.exit_code in {1, 2}
    assert "internal error" not in one_line(result)


# Pipes, signals, encodings


def test_the_whole_loop_through_the_entry_point(world):
    def run(*words: str) -> str:
        done = process(*words, "--log", str(world.log), cwd=world.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("record", "NVDA", "**Rating**: Buy", "--date", "2025-06-02")
    digest = run("resolve", "--prices", str(world.prices))
    (entry,) = json.loads(run("log", "--json"))
    assert (entry["ticker"], entry["status"]) == ("NVDA", "resolved")
    assert f"1 settled (1 {entry['verdict']}), 1 lesson" in digest
    assert f"Lesson: {entry['reflection']}" in run("recall", "NVDA")
    assert f"2025-06-02 NVDA Buy  {entry['verdict']}  {entry['id']}" in run("show", "last")


def test_a_reader_who_has_seen_enough_is_no_failure(world):
    for number in range(60):
        world.memory.note(f"note {number} " + "x" * 3000)
    command = f"{sys.executable} -m tradmem log --json | head -c 100"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        env=environment(TRADMEM_LOG=str(world.log)),
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_interrupt_ends_with_130_and_without_a_traceback(world):
    child = subprocess.Popen(
        [sys.executable, "-m", "tradmem", "note", "-", "--log", str(world.log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert child.stdin is not None
    child.stdin.write(b"x" * 300_000)  # more than a pipe holds: it reads its input now
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert b"Traceback" not in err
    assert err.strip() == b"tradmem: interrupted"


@pytest.mark.parametrize("encoding", ["cp1252", "gbk", "ascii", "utf-8"])
def test_output_reaches_a_pipe_of_any_encoding(world, encoding):
    world.settle_week()
    text = "**Rating**: Buy\n\nÜber 新しい ₹ 💰 …"
    world.run("record", "NVDA", text)
    for words in (["log"], ["show", "last"], ["status"], ["recall", "NVDA"], ["log", "--csv"]):
        result = world.run(*words, charset=encoding)
        assert result.exit_code == 0, result.output
        result.stdout_bytes.decode(encoding)
    found = world.run("log", "--json", charset=encoding).stdout_bytes.decode(encoding)
    assert json.loads(found)[0]["decision"] == text
    env = {"TRADMEM_LOG": str(world.log), "PYTHONIOENCODING": encoding}
    done = process("show", "AAPL", binary=True, env=env)
    band = " a band of +/-" if encoding == "ascii" else " a band of ±"
    assert band.encode(encoding) in done.stdout
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("closed", "words", "status", "told"),
    [
        (">&-", "log", 0, ""),
        (">&- 2>&-", "record NVDA 'Rating: Buy'", 0, ""),
        ("<&-", "record NVDA -", 2, "tradmem: the text is empty"),
    ],
)
def test_a_stream_that_was_closed_is_no_failure(tmp_path, closed, words, status, told):
    log = tmp_path / "memory.md"
    command = f"{sys.executable} -m tradmem {words} --log {log} {closed}"
    done = subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    if "'" in words:
        assert log.read_text().startswith("[20")

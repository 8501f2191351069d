"""A long list on a terminal goes through the pager; the editor is followed by a check."""

import os
import pty
import sys
from pathlib import Path

import pytest

from tests.cli.test_cli_group import environment
from tests.cli.world import MONTHS_LATER, one_line
from tradmem import Memory


@pytest.fixture
def many(world):
    for number in range(30):
        world.memory.record(f"T{number}", "2026-01-05", "**Rating**: Buy")
    return world


def on_a_terminal(world, *words, **env) -> str:
    """What a command prints on a terminal of 24 lines."""
    child, fd = pty.fork()
    if child == 0:
        given = environment(TRADMEM_LOG=str(world.log), LINES="24", COLUMNS="80", **env)
        os.execve(sys.executable, [sys.executable, "-m", "tradmem", *words], given)
    shown = b""
    try:
        while chunk := os.read(fd, 65536):
            shown += chunk
    except OSError:  # the end of a terminal
        pass
    os.waitpid(child, 0)
    os.close(fd)
    return shown.decode()


@pytest.fixture
def pager(world):
    """A pager that tells that it was used."""
    path = world.folder / "pager"
    path.write_text("#!/bin/sh\necho PAGED\ncat\n")
    path.chmod(0o755)
    return str(path)


def test_what_fits_on_the_screen_is_printed_as_it_is(many, pager):
    assert "PAGED" not in on_a_terminal(many, "log", "-n", "5", PAGER=pager)


def test_a_long_list_goes_through_the_pager(many, pager):
    shown = on_a_terminal(many, "log", "-n", "0", PAGER=pager)
    assert shown.count("pending") == 30
    assert "PAGED" in shown


@pytest.mark.parametrize(("words", "name"), [(["--no-pager"], ""), ([], "cat"), ([], "less '")])
def test_no_pager_is_no_pager(many, pager, words, name):
    name = name or pager
    shown = on_a_terminal(many, "log", "-n", "0", *words, PAGER=name)
    assert shown.count("pending") == 30
    assert "PAGED" not in shown


def test_a_pipe_gets_no_pager(many, pager):
    result = many.run("log", "-n", "0", env={"PAGER": pager})
    assert "PAGED" not in result.stdout
    assert result.stdout.count("pending") == 30


def editor(world, text: str) -> dict[str, str]:
    path: Path = world.folder / "editor.py"
    path.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\n{text}\n")
    return {"EDITOR": f"{sys.executable} {path}", "VISUAL": ""}


def test_what_the_editor_did_is_checked(world):
    world.record("NVDA")
    fine = world.run("log", "edit", env=editor(world, ""))
    assert (fine.exit_code, "no problem" in fine.stderr) == (0, True)
    bad = editor(world, "path.write_text(path.read_text().replace('2026-01-05 |', '2026-13-05 |'))")
    broken = world.run("log", "edit", env=bad)
    assert broken.exit_code == 1
    assert f"{world.log}:1: " in broken.stdout


def terminal_editor(world):
    """Something that is called as an editor on a terminal is."""
    path = world.folder / "vi"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_an_editor_that_is_not_there_or_fails_is_one_line(world):
    assert "there is no log at" in one_line(world.run("log", "edit"))
    assert "is a directory" in one_line(world.run("log", "edit", "--log", ".", log=False))
    world.record("NVDA")
    missing = world.run("log", "edit", env={"EDITOR": "/no/such/editor", "VISUAL": ""})
    assert "cannot start the editor /no/such/editor" in one_line(missing)
    nobody = world.run("log", "edit", env={"EDITOR": "", "VISUAL": ""})
    assert "set EDITOR" in one_line(nobody)
    keys = world.run("log", "edit", env={"EDITOR": "", "VISUAL": terminal_editor(world)})
    assert "there is no terminal to start" in one_line(keys)
    open_end = world.run("log", "edit", env={"EDITOR": "vim '", "VISUAL": ""})
    assert "no closing quotation; set it to an editor" in one_line(open_end)
    failed = world.run("log", "edit", env=editor(world, "sys.exit(3)"))
    assert "ended with status 3" in one_line(failed)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("path.unlink()", "the editor left no file: no such file"),
        ("path.unlink(); path.mkdir()", "the editor left no file: is a directory"),
        ("path.write_text('\\n')", "the editor left an empty file; the log is as it was"),
        ("path.write_text(path.read_text(), encoding='utf-16')", "it is UTF-16; save it as UTF-8"),
    ],
)
def test_an_editor_that_leaves_no_log_changes_none(world, text, told):
    world.record("NVDA")
    before = world.log.read_bytes()
    result = world.run("log", "edit", env=editor(world, text))
    assert result.exit_code == 1
    assert told in one_line(result)
    assert world.log.read_bytes() == before


def test_a_call_that_went_wrong_is_found_by_when_that_was_known(world):
    world.settle_week()
    assert "AAPL" in world.run("log", "-v", "wrong", "--known-since", "7d").stdout
    assert "no entry" in one_line(world.run("log", "-v", "wrong", "--known-since", "2026-01-13"))


def test_days_are_counted_back_from_the_instant_of_an_as_of(world):
    world.settle_week()
    world.now = MONTHS_LATER
    options = ("-v", "wrong", "--known-since", "7d")
    assert "no entry" in one_line(world.run("log", *options))
    assert "AAPL" in world.run("log", *options, "--as-of", "2026-01-15").stdout
    assert (
        "AAPL"
        in world.run("export", "-", *options, "--format", "csv", "--as-of", "2026-01-15").stdout
    )
    found = world.run("search", "thesis", "--since", "14d", "--as-of", "2026-01-15")
    assert "AAPL" in found.stdout


def test_what_others_record_while_the_editor_is_open_is_not_lost(world):
    """The editor writes its older copy last, as editors do."""
    world.record("NVDA")
    meanwhile = (
        "text = path.read_text()\n"
        "from tradmem import Memory\n"
        f"memory = Memory.open({str(world.log)!r})\n"
        "memory.record('AAPL', '2026-01-05', '**Rating**: Sell')\n"
        "memory.forget(memory.entries()[0].id, reason='meanwhile')\n"
        "path.write_text(text.replace('| Buy |', '| Hold |'))"
    )
    done = world.run("log", "edit", env=editor(world, meanwhile))
    assert done.exit_code == 0, done.output
    nvda, aapl = Memory.open(world.log).entries()
    assert (nvda.rating, nvda.forgotten, aapl.ticker) == ("Hold", True, "AAPL")


def test_an_editor_that_fails_changes_nothing(world):
    world.record("NVDA")
    before = world.log.read_bytes()
    world.run("log", "edit", env=editor(world, "path.write_text('')\nsys.exit(1)"))
    assert world.log.read_bytes() == before

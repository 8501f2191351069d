"""Pages of a terminal, and the editor of the person in front of it."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from tradmem.cli.output import colours, write
from tradmem.errors import UsageError

_PAGER = "less"
_EDITORS = ("sensible-editor", "nano", "vim", "vi", "notepad")
# Those that wait for keys, and so for ever where nobody can press any.
_ON_A_TERMINAL = frozenset({*_EDITORS[:-1], "editor", "nvim", "ed", "ex", "joe", "mcedit", "pico"})


def write_paged(lines: Iterable[str], *, wanted: bool = True) -> None:
    """Lines on stdout; by the page where they are more than a terminal shows at once.

    ``PAGER`` names the pager, ``less`` by default; empty or ``cat`` means none.
    """
    found = list(lines)
    if not (wanted and sys.stdout.isatty() and _paged(found)):
        for line in found:
            write(line)


def _paged(lines: list[str]) -> bool:
    """Show lines by the page; false if they fit the screen, or there is no pager."""
    import shlex
    import shutil
    import subprocess

    import click

    name = os.environ.get("PAGER", _PAGER).strip()
    try:
        command = shlex.split(name) if name != "cat" else []
    except ValueError:  # a quotation that does not end: nothing that could be started
        command = []
    fits = len(lines) < shutil.get_terminal_size().lines
    if fits or not command or not shutil.which(command[0]):
        return False
    text = "".join(f"{line}\n" for line in lines)
    text = text if colours(sys.stdout) else click.unstyle(text)
    given = {"LESS": "FRX", "LESSCHARSET": "utf-8"} | os.environ  # FRX: quit if short, colours
    try:
        subprocess.run(  # noqa: S603 - it is the person's own
            command, input=text, text=True, encoding="utf-8", env=given, check=False
        )
    except (OSError, KeyboardInterrupt):
        sys.stdout.flush()
    return True


def edit(path: Path) -> None:
    """Open a file in the editor, and wait until it is closed.

    Raises:
        UsageError: there is no editor, or it failed.
    """
    import shlex
    import shutil
    import subprocess

    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    try:
        command = shlex.split(named) if named else [n for n in _EDITORS if shutil.which(n)][:1]
    except ValueError as error:
        raise UsageError(f"EDITOR is {named}: {str(error).lower()}; set it to an editor") from error
    if not command:
        raise UsageError("no editor is known; set EDITOR to one")
    waits = not named or Path(command[0]).name in _ON_A_TERMINAL
    if waits and shutil.which(command[0]) and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            f"there is no terminal to start {command[0]} on; set EDITOR to one that needs none"
        )
    try:
        done = subprocess.run([*command, str(path)], check=False)  # noqa: S603 - it is the person's own
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot start the editor {command[0]}: {reason}; set EDITOR") from error
    if done.returncode:
        raise UsageError(f"the editor {command[0]} ended with status {done.returncode}")

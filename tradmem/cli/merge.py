"""``merge``: two versions of a log into one, by hand or as a merge driver of git."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from tradmem.cli import options
from tradmem.cli.group import DONE, FAILED
from tradmem.cli.output import safe, say, write_json
from tradmem.cli.words import counted
from tradmem.errors import LogBusy, LogError, UsageError
from tradmem.exchange.merge import merge as joined
from tradmem.journal import files

_DRIVER = "merge.tradmem"


@click.command()
@click.argument("files_", nargs=-1, metavar="OURS BASE THEIRS")
@click.option("--install", is_flag=True, help="Let git join the log so, in this repository.")
@click.option("--name", metavar="PATH", help="What to call OURS, where git made a copy of it.")
@options.dry_run
@options.log
@options.as_json
def merge(
    *,
    files_: tuple[str, ...],
    install: bool,
    name: str | None,
    dry_run: bool,
    log: str,
    as_json: bool,
) -> int:
    """Join two versions of a log.

    OURS and THEIRS both come from BASE; the result is written to OURS. Entries that one side
    has come in, and what each side added to an entry is there once. Exit status 1 if a person
    has to look: a decision that says one thing here and another there stands twice then, and
    the earlier one counts.

    --install makes it git's way to join the log and its archive: for two machines that commit
    the same log.
    """
    if install:
        if files_:
            raise UsageError("--install takes no files; leave them out")
        _install(Path(log), dry_run=dry_run)
        return DONE
    if len(files_) != 3:
        raise UsageError("name three files: OURS BASE THEIRS")
    ours, base, theirs = map(Path, files_)
    before = _bytes(ours)
    found = joined(before, _bytes(base), _bytes(theirs))
    if not dry_run and found.data != before:
        _write(ours, before, found.data)
    if as_json:
        write_json(
            [
                {
                    "taken": list(found.taken),
                    "completed": list(found.completed),
                    "conflicts": list(found.conflicts),
                }
            ]
        )
    for conflict in found.conflicts:
        say(conflict)
    taken = counted(len(found.taken), "entry", "entries")
    say(f"{safe(name or str(ours))}: {taken} taken, {len(found.completed):,} completed")
    return FAILED if found.conflicts else DONE


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise UsageError(f"cannot read {path}: {reason}") from error


def _write(path: Path, before: bytes, data: bytes) -> None:
    """Put the result in place of the file that was read, and of no other."""
    if not files.replace(path, [data], unchanged=lambda: path.read_bytes() == before):
        raise LogBusy(f"{path} was changed meanwhile; merge it again")


def _install(log: Path, *, dry_run: bool) -> None:
    """Tell git how a log is joined, and which files are logs.

    Raises:
        UsageError: there is no git, or the log is in no repository.
    """
    git = shutil.which("git")
    if git is None:
        raise UsageError("git is not installed; it is what --install sets up")
    folder = log.absolute().parent
    there = next(place for place in (folder, *folder.parents) if place.is_dir())
    root = Path(_git(git, there, "rev-parse", "--show-toplevel").strip())
    lines = list(_attributes(log.absolute(), root))
    path = root / ".gitattributes"
    known = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    new = [line for line in lines if line not in known]
    driver = f'"{sys.executable}" -m tradmem merge --name=%P %A %O %B'
    if not dry_run:
        _git(git, root, "config", f"{_DRIVER}.name", "two versions of a tradmem log")
        _git(git, root, "config", f"{_DRIVER}.driver", driver)
        if new:
            text = "\n".join([*known, *new] if known[-1:] != [""] else [*known[:-1], *new])
            try:
                path.write_text(text.lstrip("\n") + "\n", encoding="utf-8")
            except OSError as error:
                raise LogError(f"cannot write {path}: {error.strerror}") from error
    for line in new:
        say(f"{path}: {safe(line)}")
    say(
        f"git config {_DRIVER}.driver: {driver}; commit .gitattributes, and run this once in "
        "every clone"
    )


def _attributes(log: Path, root: Path) -> Iterator[str]:
    try:
        own = log.resolve().relative_to(root.resolve()).as_posix()
    except ValueError as error:
        raise UsageError(f"{log} is not in the repository {root}") from error
    above = own.rpartition("/")[0]
    folder = f"{above}/" if above else ""
    for pattern, way in (
        (_literal(own), "tradmem"),
        (f"{_literal(folder)}archive/{_literal(log.name.removesuffix('.md'))}-*.md", "tradmem"),
        (f"{_literal(own)}.*.jsonl", "union"),
    ):
        yield f"{_quoted('/' + pattern)} merge={way}"


def _literal(name: str) -> str:
    """A path as a pattern that means it alone."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", name)


def _quoted(pattern: str) -> str:
    """A pattern with blanks in quotes, since it would end at one."""
    if not re.search(r'[\s"]', pattern):
        return pattern
    escaped = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _git(git: str, folder: Path, *words: str) -> str:
    command: Sequence[str] = (git, "-C", str(folder), *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise UsageError(f"git {words[0]} failed in {folder}: {said}")
    return done.stdout

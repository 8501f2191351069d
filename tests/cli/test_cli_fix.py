"""``tradmem check --fix``."""

import subprocess
import sys

from tests.journal.making import decision
from tradmem import MarkdownJournal


def run(*words):
    command = [sys.executable, "-m", "tradmem", "check", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_a_dry_run_shows_a_diff_and_changes_nothing(tmp_path):
    path = tmp_path / "memory.md"
    MarkdownJournal(path).append(decision())
    with path.open("a", encoding="utf-8") as file:
        file.write("[2026-01-06 | MSFT | Buy | pending]\n\nDEC")
    before = path.read_bytes()
    done = run("--fix", "--dry-run", "--log", path)
    assert done.returncode == 1
    assert '+<!-- tradmem: {"torn":true} -->' in done.stdout
    assert path.read_bytes() == before
    done = run("--fix", "--log", path)
    assert '+<!-- tradmem: {"torn":true} -->' in done.stdout
    assert path.read_bytes().startswith(before)
    assert run("--fix", "--dry-run", "--log", path).returncode == 0


def test_a_dry_run_of_nothing_is_wrong_use(tmp_path):
    done = run("--dry-run", "--log", tmp_path / "memory.md")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)

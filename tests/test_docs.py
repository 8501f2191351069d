"""Every example of the pages under docs/ runs, and every settings file there is one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tradmem.configuration import load

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def blocks(language: str) -> list:
    found = []
    for page in PAGES:
        texts = re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        found += [pytest.param(text, id=f"{page.stem}-{n}") for n, text in enumerate(texts)]
    return found


@pytest.mark.parametrize("code", blocks("python"))
def test_an_example_runs_as_it_stands(code, tmp_path):
    (tmp_path / ".git").mkdir()  # no settings file above counts
    given = {name: value for name, value in os.environ.items() if not name.startswith("TRADMEM_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=given | {"TRADMEM_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", blocks("toml"))
def test_a_settings_file_can_be_read(text, tmp_path):
    (tmp_path / "tradmem.toml").write_text(text, encoding="utf-8")
    assert load(tmp_path, {}).path == tmp_path / "tradmem.toml"


def test_the_page_on_settings_shows_every_key(tmp_path):
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    (tmp_path / "tradmem.toml").write_text(re.findall(r"```toml\n(.*?)```", text, re.DOTALL)[0])
    found = load(tmp_path, {})
    assert [key for key in found.sources if not found.is_set(key)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_that_a_page_links_is_there(page):
    for name in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert "://" in name or (page.parent / name).exists(), name

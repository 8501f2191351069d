"""Every example of the README runs, and every command, extra and page that it names is there."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import anyio
import pytest

from tradmem.model_settings import ModelSettings
from tradmem.variables import VARIABLES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted((ROOT / "docs").glob("*.md"))
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^\| `tradmem (\w+)", README, re.MULTILINE)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs_as_it_stands(number, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", EXAMPLES[number]],
        cwd=tmp_path,
        env={**os.environ, "TRADMEM_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "logs" / "memory.md").read_text(encoding="utf-8").startswith("[20")
    if "FramePrices" in EXAMPLES[number]:
        assert done.stdout == "right +6.0%, alpha +4.5%\n"


def test_each_way_to_plug_it_in_takes_five_lines():
    part = README.partition("## Plug it into an agent that you have")[2].partition("\n## ")[0]
    blocks = re.findall(r"```\w+\n(.*?)```", part, re.DOTALL)
    named = ("library_tools", "mcpServers", "with_memory", "MemoryStore", "TradingMemoryLog")
    assert [name for name in named if not any(name in block for block in blocks)] == []
    for block in blocks:
        assert len([line for line in block.splitlines() if line.strip()]) <= 5, block


def test_the_examples_run_one_after_the_other_and_again_and_leave_a_log_that_stands(tmp_path):
    """As whoever pastes them all into one folder does, here without a network."""
    given = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 120}
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "TRADMEM_CACHE": str(tmp_path / "cache")}
    given["env"] = {**os.environ, **nowhere}
    twice = EXAMPLES + EXAMPLES[1:]  # the first would only wait for the network once more
    program = f"for text in {twice!r}: exec(text, {{'__name__': '__main__'}})"
    done = subprocess.run([sys.executable, "-c", program], check=False, **given)
    assert done.returncode == 0, done.stderr
    assert "unrated" not in done.stderr
    for command in ("audit", "check"):
        done = subprocess.run([sys.executable, "-m", "tradmem", command], check=False, **given)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_server_that_clients_are_told_to_start_answers(tmp_path):
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    (text,) = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    told = json.loads(text)["mcpServers"]["memory"]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", told["command"], *told["args"]],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=str(tmp_path),
    )

    async def talk():
        async with Client(stdio_client(server)) as client:
            return await client.call_tool("add_memory", {"content": "NVDA guides low."})

    assert not anyio.run(talk).is_error
    assert "NVDA guides low." in (tmp_path / "logs" / "memory.md").read_text(encoding="utf-8")


def test_every_command_of_the_table_has_a_help(tmp_path):
    assert len(COMMANDS) >= 11
    for command in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "tradmem", command, "--help"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Usage:")


def test_every_setting_of_the_model_is_in_the_table_with_its_default():
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (.*?) \| (.*?) \|$", page, re.MULTILINE))
    defaults = ModelSettings()
    for field, names in VARIABLES.items():
        (row,) = [name for name in rows if f"`{names[0]}`" in name]
        assert all(f"`{name}`" in row for name in names)
        default = getattr(defaults, field)
        if isinstance(default, int | float):
            assert rows[row].endswith(f": {default:g}")


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{p.name}" for p in PAGES)])
def test_every_file_that_a_page_links_is_there(page):
    place = ROOT / page
    for name in re.findall(r"\]\(([^)#:]+)\)", place.read_text(encoding="utf-8")):
        assert (place.parent / name).exists(), name


def test_the_readme_leads_to_every_page_of_the_documentation():
    linked = set(re.findall(r"\]\(docs/([^)#]+)", README))
    assert linked == {page.name for page in PAGES}


def test_every_extra_for_users_is_in_the_table_and_no_other():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    table = README.partition("| extra | for |")[2].partition("\n\n")[0]
    told = set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE))
    assert told == set(project["optional-dependencies"]) - {"test", "dev", "browser"}

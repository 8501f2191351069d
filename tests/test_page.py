"""An entry as a page of markdown: its figures are there, and nothing in its texts is live."""

from datetime import UTC, datetime

import pytest

from tests.cli.world import SETTLED, World
from tradmem import FilePrices, Memory

HOSTILE = (
    "**Rating**: Buy\n\n<script>alert(1)</script> [click](javascript:x) ![pixel](http://x/p.png)\n"
    "costs $5 & $6\n| a | b |\n# Heading"
)


@pytest.fixture
def resolved(tmp_path):
    world = World(tmp_path)
    prices = FilePrices(world.prices)
    world.memory.record("NVDA", "2026-01-05", HOSTILE, agent="<b>|x</b>".replace("|", "/"))
    world.now = SETTLED
    Memory.open(world.log, clock=world.clock, prices=prices).resolve()
    return world.memory.entries()[0]


def test_a_notebook_shows_the_figures_and_the_verdict(resolved):
    page = resolved._repr_markdown_()
    assert page.startswith("#### 2026-01-05 NVDA Buy\n")
    assert f"**{resolved.verdict}**" in page
    row = next(line for line in page.splitlines() if line.startswith("| 5 |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    outcome = resolved.outcome
    assert cells[3] == f"{100 * outcome.raw_return:+.1f}%"
    assert cells[5] == f"{100 * outcome.alpha:+.1f}%"
    assert cells[1].startswith("2026-01-05 at ")
    assert cells[-1] == str(outcome.known_at.date())
    assert resolved.id in page


def test_nothing_in_a_text_is_live(resolved):
    page = resolved._repr_markdown_()
    body = [line for line in page.splitlines() if "alert" in line or "Heading" in line]
    assert all(line.startswith("> ") for line in body)
    assert "<script" not in page
    assert "<b>" not in page
    assert "](" not in page.replace("\\](", "")
    assert "\\$5 &amp; \\$6" in page


def test_a_note_and_a_pending_one_have_no_table(tmp_path):
    memory = Memory.open(tmp_path / "m.md", clock=lambda: datetime(2026, 1, 5, 15, tzinfo=UTC))
    note = memory.note("Index changes.").entry._repr_markdown_()
    assert note.startswith("#### 2026-01-05 market Note\n")
    pending = memory.record("NVDA", "2026-01-05", "No view.").entry._repr_markdown_()
    assert "NVDA Unrated" in pending
    assert "|---" not in note + pending

"""Entries in words and colours; a colour never says what no word says."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import click

from tradmem.cli.layout import Cell, Style, one_line
from tradmem.journal.tagline import UNRATED
from tradmem.lessons.counting import counted as counted  # noqa: PLC0414 - commands take it from here
from tradmem.model import Entry, Status, Verdict

if TYPE_CHECKING:
    from tradmem.lessons.reflect import Usage

_VERDICTS: dict[Verdict, Style] = {
    Verdict.RIGHT: {"fg": "green"},
    Verdict.WRONG: {"fg": "red"},
    Verdict.NEUTRAL: {"fg": "yellow"},
}
_STATES: dict[Status, Style] = {
    Status.PENDING: {"fg": "cyan"},
    Status.UNRESOLVABLE: {"fg": "magenta"},
    Status.NOTE: {"dim": True},
}


def result(entry: Entry) -> Cell:
    """The verdict in one word; the status where there is none."""
    verdict = entry.verdict
    if verdict:
        return Cell(str(verdict), _VERDICTS[verdict])
    if entry.outcome and entry.rating is None:
        return Cell("no verdict")
    return Cell(str(entry.status), _STATES.get(entry.status, {}))


def called(entry: Entry) -> str:
    """The rating as the tag has it; ``Note`` for a note."""
    return "Note" if entry.recorded.is_note else str(entry.rating or UNRATED)


def says(entry: Entry) -> str:
    """What an entry teaches, or why it teaches nothing, on one line."""
    return one_line(entry.reflection or entry.note or entry.reason)


def minute(instant: datetime) -> str:
    """An instant for people: ``2026-01-12 23:00 UTC``."""
    return f"{instant:%Y-%m-%d %H:%M} UTC"


def from_now(instant: datetime, now: datetime) -> str:
    """How far away an instant is, rounded, in the largest unit that fits."""
    seconds = (instant - now).total_seconds()
    size = abs(seconds)
    for unit, length, least in (
        ("day", 86400, 23.5 * 3600),
        ("hour", 3600, 3570),
        ("minute", 60, 30),
    ):
        if size >= least:
            text = counted(max(int(size / length + 0.5), 1), unit)
            return f"in {text}" if seconds > 0 else f"{text} ago"
    return "now"


def took(usage: "Usage") -> str:
    """What asking a model took: calls, tokens and money."""
    sent, received = usage.prompt_tokens, usage.completion_tokens
    tokens = f"{counted(sent + received, 'token')} ({sent:,} sent, {received:,} received)"
    return f"{counted(usage.calls, 'call')}, {tokens} and {dollars(usage.cost)}"


def dollars(cost: float | None) -> str:
    """An amount with as many digits as say something."""
    if cost is None:
        return "an unknown cost"
    return f"${cost:,.2f}" if cost >= 1 else f"${cost:.4f}"


def styled(cells: Sequence[Cell | str]) -> str:
    """A line of texts in their styles, empty ones left out."""
    parts = [
        cell if isinstance(cell, str) else click.style(cell.text, **cell.style) for cell in cells
    ]
    return "  ".join(part for part in parts if part)


def done_line(done: str, entry: Entry) -> str:
    """What was done, and to which entry."""
    words = f"{done}  {entry.date}  {entry.ticker}  {called(entry)}"
    return styled([words, result(entry) if not entry.recorded.is_note else "", entry.id])


def bold(text: str) -> str:
    """A heading."""
    return click.style(text, bold=True)


def dim(text: str) -> str:
    """Something beside the point."""
    return click.style(text, dim=True)

"""One entry as a page of markdown, for a notebook or a folder of notes.

Texts of models stand in it as quotations in which nothing is live: no HTML, no links, no images.
"""

from collections.abc import Iterator
from datetime import date

from tradmem.model import Entry, Outcome, Status, band_or_default

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "[": "\\[", "]": "\\]", "$": "\\$"}
)


def entry_page(entry: Entry, *, heading: str = "####", anchor: bool = False) -> str:
    """An entry as markdown: its heading, its figures, and what was said.

    Args:
        entry: what to show.
        heading: the mark of its heading.
        anchor: whether a note-taking tool may link to it by ``^`` and its id.
    """
    return "\n".join(_lines(entry, heading, f" ^{entry.id}" * anchor)) + "\n"


def quoted(text: str) -> str:
    """A text as a quotation, with nothing live in it."""
    lines = text.translate(_ESCAPES).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def inline(text: str) -> str:
    """A text within a line of markdown, or a cell of a table."""
    return " ".join(text.split()).translate(_ESCAPES).replace("|", "\\|")


def _lines(entry: Entry, heading: str, anchor: str) -> Iterator[str]:
    note = entry.recorded.is_note
    called = "Note" if note else str(entry.rating or "Unrated")
    yield f"{heading} {entry.date} {inline(entry.ticker).replace('*', 'market')} {called}"
    yield ""
    yield " · ".join(_facts(entry)) + anchor
    if entry.outcomes:
        yield ""
        yield from _outcomes(entry)
    for title, text in (
        ("", entry.decision or entry.note),
        ("Lesson", entry.reflection),
        ("Remark", entry.remark),
    ):
        if text:
            yield from ("", f"**{title}**", "") if title else ("",)
            yield quoted(text)


def _facts(entry: Entry) -> Iterator[str]:
    if entry.verdict:
        yield f"**{entry.verdict}**"
    yield str(entry.status)
    if entry.status is Status.UNRESOLVABLE and entry.reason:
        yield inline(entry.reason)
    if entry.agent:
        yield f"by {inline(entry.agent)}"
    if entry.hidden:
        yield "hidden from recall"
    if entry.archived:
        yield "archived"
    yield f"`{entry.id}`"


def _outcomes(entry: Entry) -> Iterator[str]:
    yield "| sessions | from | to | return | benchmark | alpha | band | verdict | known |"
    yield "|---:|---|---|---:|---:|---:|---:|---|---|"
    for outcome in entry.outcomes:
        cells = _cells(entry, outcome)
        yield f"| {' | '.join(inline(cell) for cell in cells)} |"


def _cells(entry: Entry, outcome: Outcome) -> tuple[str, ...]:
    band = band_or_default(outcome.band, entry.ticker, outcome.sessions)
    gain = _percent(outcome.benchmark_return)
    return (
        str(outcome.sessions),
        _leg(outcome.entry_date, outcome.entry_price),
        _leg(outcome.exit_date, outcome.exit_price),
        _percent(outcome.raw_return),
        f"{outcome.benchmark} {gain}" if outcome.benchmark and gain else "none",
        _percent(outcome.alpha) or "n/a",
        f"±{band:.1%}",
        str(outcome.verdict(entry.rating, entry.ticker) or "none"),
        str(outcome.known_on),
    )


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:+.1%}"


def _leg(day: date | None, price: float | None) -> str:
    if day is None:
        return "not told"
    return f"{day} at {price:.6g}" if price is not None else str(day)

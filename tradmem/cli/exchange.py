"""The raw exchanges with a model about an entry, for people."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from tradmem.cli.layout import Cell, one_line, paragraphs
from tradmem.cli.words import bold, counted, dim, dollars, minute, styled
from tradmem.lessons.exchanges import dated


def known_by(
    records: Sequence[Mapping[str, Any]], as_of: datetime | None
) -> Sequence[Mapping[str, Any]]:
    """Those of an instant or before, without what is not dated; all of them if that is None."""
    if as_of is None:
        return records
    return [record for record in records if (at := dated(record)) and at <= as_of]


def conversation(records: Sequence[Mapping[str, Any]], room: int) -> Iterator[str]:
    """What was asked and answered, in order; what a question repeats is told in a line."""
    before: Sequence[Mapping[str, Any]] = ()
    for record in records:
        messages = [message for message in record.get("messages") or () if _is_message(message)]
        yield from ("", _head(record))
        if record.get("message"):
            yield from paragraphs(str(record["message"]), room)
        repeated = len(before) if before and messages[: len(before)] == list(before) else 0
        if repeated:
            yield from ("", dim(f"the {counted(repeated, 'message')} above, and then"))
        for message in messages[repeated:]:
            yield from ("", bold(one_line(str(message["role"]))))
            yield from paragraphs(str(message["content"]), room)
        for name in ("answer", "refusal"):
            if record.get(name):
                yield from ("", bold(name), *paragraphs(str(record[name]), room))
        before = messages


def _head(record: Mapping[str, Any]) -> str:
    """When, whom, what it took, and what came of it."""
    at = dated(record)
    tokens = record.get("tokens")
    sent, received = tokens if isinstance(tokens, list) and len(tokens) == 2 else (0, 0)
    cost, seconds = record.get("cost"), record.get("seconds")
    told = [
        f"{record.get('model', '?')} at {record.get('host', '?')}",
        counted(record.get("calls", 0), "call"),
        f"{sent:,} tokens sent, {received:,} received",
        dollars(cost) if cost is not None else "",
        f"{seconds:.1f} s" if seconds is not None else "",
    ]
    came = next((name for name in ("lesson", "decision") if record.get(name)), "")
    became = came or str(record.get("fault") or "no lesson")
    colour = {"fg": "green"} if came else {"fg": "yellow"}
    cells: list[Cell | str] = [
        bold(minute(at) if at else "undated"),
        one_line(", ".join(part for part in told if part)),
        Cell(one_line(became), colour),
    ]
    return styled(cells)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and "role" in value and "content" in value

"""One answer of a price source as a parquet file: written whole, checked when read."""

import hashlib
import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tradmem.clock import format_instant, parse_instant
from tradmem.market.prices import Bars, Span

# A date is over everywhere on earth 36 h after it began in UTC, and final 2 h later at most.
FINAL_AFTER = timedelta(hours=38)
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One answer of a source.

    Attributes:
        asked: the span that was asked for.
        fetched_at: when, aware UTC.
        name: the source's own name of the ticker.
        bars: the answer.
    """

    asked: Span
    fetched_at: datetime
    name: str
    bars: Bars

    @property
    def final_end(self) -> date | None:
        """The last bar that can have been no half bar; later dates may still get one."""
        over = (self.fetched_at - FINAL_AFTER).date()
        return max((day for day in self.bars.dates if day <= over), default=None)

    def covers(self, span: Span) -> bool:
        """Whether every bar of the span was final when this was fetched."""
        end = self.final_end
        return self.asked.start <= span.start and end is not None and span.end <= end

    def holds(self, span: Span) -> bool:
        """Whether the span was asked for, final or not."""
        return self.asked.start <= span.start and span.end <= self.asked.end


def save(path: Path, kept: Kept) -> None:
    """Write an answer; floats come back bit for bit."""
    bars = kept.bars
    head = {
        "v": _FORMAT,
        "name": kept.name,
        "asked": [day.isoformat() for day in kept.asked],
        "fetched_at": format_instant(kept.fetched_at),
        "symbol": bars.symbol,
        "splits": {day.isoformat(): ratio for day, ratio in bars.splits.items()},
        "dividends": {day.isoformat(): amount for day, amount in bars.dividends.items()},
        "currency": bars.currency,
        "basis": bars.basis,
        "source": bars.source,
    }
    columns = {
        "date": pa.array(bars.dates, pa.date32()),
        "close": pa.array(bars.closes, pa.float64()),
        "raw_close": pa.array(bars.raw_closes, pa.float64()),
    }
    text = json.dumps(head)
    table = pa.table(columns).replace_schema_metadata({"tradmem": text, "sha256": _digest(text)})
    pq.write_table(table, path, write_page_checksum=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def load(path: Path) -> Kept:
    """Read what :func:`save` wrote.

    Raises:
        ValueError, KeyError, OSError, pa.ArrowException: the file is damaged, or another one.
    """
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read()
    metadata = table.schema.metadata or {}
    text = metadata[b"tradmem"].decode()
    if metadata[b"sha256"].decode() != _digest(text):
        raise ValueError("its description was damaged")
    head: dict[str, Any] = json.loads(text)
    if head["v"] != _FORMAT:
        raise ValueError(f"it has format {head['v']}, not {_FORMAT}")
    dates, closes, raw_closes = (
        table.column(name).to_pylist() for name in ("date", "close", "raw_close")
    )

    def events(name: str) -> dict[date, float]:
        return {date.fromisoformat(day): float(value) for day, value in head[name].items()}

    bars = Bars(
        symbol=head["symbol"],
        dates=tuple(dates),
        closes=tuple(closes),
        raw_closes=tuple(raw_closes),
        splits=events("splits"),
        dividends=events("dividends"),
        currency=head["currency"],
        basis=head["basis"],
        source=head["source"],
    )
    start, end = map(date.fromisoformat, head["asked"])
    fetched_at = parse_instant(head["fetched_at"])
    return Kept(asked=Span(start, end), fetched_at=fetched_at, name=head["name"], bars=bars)

"""What a report is about, and its entries as the page holds them: JSON that no text can leave."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date as Date  # noqa: N812 - `date` is the name of a field elsewhere
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from tradmem.clock import AsOf, as_instant, format_instant, parse_date
from tradmem.journal.tagline import UNRATED
from tradmem.lessons.track import TrackRecord
from tradmem.lessons.utility import LessonUtility
from tradmem.market.prices import Bars, PriceSource
from tradmem.market.symbols import Aliases
from tradmem.model import Entry, Outcome, band_or_default
from tradmem.study.closes import Closes, closes_of
from tradmem.tickers import check_ticker

if TYPE_CHECKING:
    from tradmem.memory import Memory

# What could end the element that holds the JSON, or a line of a script.
_UNSAFE = str.maketrans(
    {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029\u007f\ufeff"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a report is about.

    Attributes:
        as_of: the instant from which it looks, aware UTC.
        entries: as they stood then, by date, then in file order.
        record: their track record.
        utility: what lessons were worth to them.
        dues: when a pending decision's outcome is due, by id.
        bars: closes by symbol, to draw decisions on; empty where none were asked for.
        remarks: what has to be said beside the figures, one line each.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.
    """

    as_of: datetime
    entries: tuple[Entry, ...]
    record: TrackRecord
    utility: LessonUtility
    dues: Mapping[str, datetime]
    bars: Mapping[str, Bars] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    aliases: Aliases = None

    @property
    def decisions(self) -> tuple[Entry, ...]:
        """Those entries that are no notes."""
        return tuple(entry for entry in self.entries if not entry.recorded.is_note)


def subject_of(
    memory: "Memory",
    as_of: AsOf = None,
    *,
    tickers: Iterable[str] = (),
    agents: Iterable[str] = (),
    since: Date | str | None = None,
    until: Date | str | None = None,
    prices: PriceSource | None = None,
) -> Subject:
    """What a memory has to report.

    Args:
        memory: whose entries.
        as_of: as they stood then; now by default.
        tickers: only these; all by default.
        agents: only these; all by default.
        since: only what carries this date or a later one.
        until: only what carries this date or an earlier one.
        prices: where closes to draw decisions on come from; none are drawn by default.

    Raises:
        UsageError: no such ticker or date.
        LogError: the log cannot be read.
    """
    instant = as_instant(as_of, memory.clock())
    tickers, agents = ((one,) if isinstance(one, str) else tuple(one) for one in (tickers, agents))
    record = memory.track(instant, tickers=tickers, agents=agents, since=since, until=until)
    utility = memory.lesson_utility(
        instant, tickers=tickers, agents=agents, since=since, until=until
    )
    first = Date.min if since is None else parse_date(since)
    last = Date.max if until is None else parse_date(until)
    names = set(map(check_ticker, tickers))
    entries = tuple(
        entry
        for entry in memory.entries(as_of=instant)
        if first <= entry.date <= last
        and (not names or entry.ticker in names)
        and (not agents or entry.agent in agents)
    )
    dues = {entry.id: due for entry in entries if (due := memory.due(entry))}
    drawn = closes_of(entries, prices, instant, memory.settings.aliases) if prices else Closes()
    return Subject(
        as_of=instant,
        entries=entries,
        record=record,
        utility=utility,
        dues=dues,
        bars=drawn.bars,
        remarks=drawn.remarks,
        aliases=memory.settings.aliases,
    )


def as_script(value: Any) -> str:
    """JSON for an element of a page: nothing in any text can end it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_UNSAFE)


def page_entries(subject: Subject) -> list[dict[str, Any]]:
    """The entries as the page holds them, the newest first; what is empty is left out."""
    # File order within a date, so that a repeat of an id never hides the first one.
    unique = {entry.id: entry for entry in reversed(subject.entries)}
    ordered = sorted(unique.values(), key=lambda entry: entry.date, reverse=True)
    return [_entry(entry, subject.dues.get(entry.id)) for entry in ordered]


def _entry(entry: Entry, due: datetime | None) -> dict[str, Any]:
    recorded, outcome = entry.recorded, entry.outcome
    values = {
        "id": entry.id,
        "date": entry.date.isoformat(),
        "ticker": entry.ticker,
        "rating": "Note" if recorded.is_note else str(entry.rating or UNRATED),
        "status": str(entry.status),
        "verdict": entry.verdict and str(entry.verdict),
        "raw": _number(outcome.raw_return) if outcome else None,
        "alpha": _number(outcome.alpha) if outcome else None,
        "known": outcome.known_on.isoformat() if outcome else None,
        "agent": entry.agent,
        "revision": entry.revision,
        "text": recorded.text,
        "lesson": entry.reflection,
        "remark": entry.remark,
        "reason": entry.reason,
        "hidden": _hidden(entry),
        "decided": _instant(recorded.decided_at),
        "recorded": _instant(recorded.recorded_at),
        "due": _instant(due),
        "model": _word(recorded.extra.get("model")),
        "horizon": recorded.horizon,
        "flags": list(recorded.flags),
        "edited": list(entry.edited),
        "archived": entry.archived,
        "tags": list(entry.tags),
        "seen": list(entry.recalled),
        "seen_at": _instant(recorded.recalled_as_of),
        "cited": list(entry.cited),
        "withheld": list(entry.withheld),
        "links": list(entry.links),
        "outcomes": [_outcome(entry, found) for found in entry.outcomes],
    }
    return {name: value for name, value in values.items() if _says(value)}


def _says(value: Any) -> bool:
    """Whether a value has to be told; a return of exactly 0 has."""
    return value is not None and value is not False and value not in ("", [])


def _outcome(entry: Entry, outcome: Outcome) -> dict[str, Any]:
    verdict = outcome.verdict(entry.rating, entry.ticker)
    return {
        "sessions": outcome.sessions,
        "from": outcome.entry_date and outcome.entry_date.isoformat(),
        "to": outcome.exit_date and outcome.exit_date.isoformat(),
        "bought": _number(outcome.entry_price),
        "sold": _number(outcome.exit_price),
        "raw": _number(outcome.raw_return),
        "benchmark": outcome.benchmark,
        "market": _number(outcome.benchmark_return),
        "alpha": _number(outcome.alpha),
        "band": _number(band_or_default(outcome.band, entry.ticker, outcome.sessions)),
        "verdict": verdict and str(verdict),
        "known": outcome.known_on.isoformat(),
        "flags": list(outcome.flags),
    }


def _hidden(entry: Entry) -> str:
    """Why recall leaves an entry out; empty where it does not."""
    if entry.forgotten:
        return "forgotten"
    if entry.superseded_by:
        return f"superseded by {entry.superseded_by}"
    return "expired" if entry.expired else ""


def _number(value: float | None) -> float | None:
    """As many digits as say something."""
    return float(f"{value:.7g}") if value is not None and isfinite(value) else None


def _instant(value: datetime | None) -> str | None:
    return format_instant(value) if value else None


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None

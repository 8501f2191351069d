"""A blind replay: names, dates and price levels hidden from whoever decides.

A model that was trained on the years of a replay remembers what became of Apple after October
2008. It cannot remember what became of S07 in another century. Tickers and company names get
other names, dates are shifted by whole weeks, closes are scaled; returns, the order of things
and the weekdays stay as they are. On record everything has its own name again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

from tradmem.briefing import Brief
from tradmem.clock import AsOf, format_instant
from tradmem.errors import LookAhead, PriceError
from tradmem.lessons.recall import Recall
from tradmem.lessons.reflect import Case, Fault, Lesson, Reflector, lesson_hash
from tradmem.lessons.track import Group, TrackRecord
from tradmem.market.prices import Bars, Span
from tradmem.model import Entry, Outcome
from tradmem.policies import Call
from tradmem.study.mask import Mask
from tradmem.study.moment import Moment, Past
from tradmem.study.world import Closes, KnownPrices, instant_of
from tradmem.tickers import MARKET

_FIRST = datetime.min.replace(tzinfo=UTC)


class Veil:
    """What hides a world, and puts it back.

    Args:
        mask: the names and dates.
        bars: the closes by symbol, whose first ones set the scale.
    """

    def __init__(self, mask: Mask, bars: Mapping[str, Bars]) -> None:
        self.mask = mask
        self._scales = {
            name: mask.scales[name] / found.closes[0]
            for name, found in bars.items()
            if name in mask.scales
        }
        self._ids: dict[str, str] = {}

    def cover(self, moment: Moment) -> Moment:
        """The moment as a model may see it."""
        mask = self.mask
        return Moment(
            ticker=mask.masked(moment.ticker),
            date=moment.date + mask.shift,
            as_of=mask.later(moment.as_of),
            horizon=moment.horizon,
            make_memory=lambda: mask.hide(moment.memory),
            memories=tuple(map(self.entry, moment.memories)),
            prices=VeiledPrices(moment.prices, self),
            past=VeiledPast(moment.past, self),
            make_seed=lambda: moment.seed,
            make_brief=lambda: self._brief(moment.brief),
            make_track=lambda: moment.track,
        )

    def lift(self, call: Call) -> Call:
        """A call with the names and dates that were hidden."""
        cited = tuple(self._ids.get(name, name) for name in call.cited)
        return Call(call.rating, self.mask.show(call.text), cited, call.extra)

    def scale(self, symbol: str) -> float:
        """By what the closes of a symbol are multiplied."""
        return self._scales.get(symbol, 1.0)

    def hidden_id(self, name: str) -> str:
        """What stands for an id, which would tell date and ticker to whoever tries them all."""
        hidden = sha256(f"{self.mask.shift.days} {name}".encode()).hexdigest()[:12]
        self._ids[hidden] = name
        return hidden

    def real_id(self, hidden: str) -> str:
        """The id that a hidden one stands for."""
        return self._ids.get(hidden, hidden)

    def entry(self, entry: Entry) -> Entry:
        """An entry as a model may see it; what it is made of is not shown."""
        mask, recorded = self.mask, entry.recorded
        shown = replace(
            recorded,
            id=self.hidden_id(recorded.id),
            date=recorded.date + mask.shift,
            ticker=recorded.ticker if recorded.ticker == MARKET else mask.masked(recorded.ticker),
            text=mask.hide(recorded.text),
            decided_at=self._instant(recorded.decided_at),
            recorded_at=self._instant(recorded.recorded_at),
            recalled=tuple(map(self.hidden_id, recorded.recalled)),
            recalled_as_of=self._instant(recorded.recalled_as_of),
            cited=tuple(map(self.hidden_id, recorded.cited)),
            valid_until=self._instant(recorded.valid_until),
            extra={},
        )
        return replace(
            entry,
            recorded=shown,
            changed_at=mask.later(entry.changed_at),
            additions=(),
            outcomes=tuple(self._outcome(entry.ticker, outcome) for outcome in entry.outcomes),
            reflection=mask.hide(entry.reflection),
            remark=mask.hide(entry.remark),
            reason=mask.hide(entry.reason),
            links=tuple(map(self.hidden_id, entry.links)),
            tags=tuple(map(mask.hide, entry.tags)),
            superseded_by=entry.superseded_by and self.hidden_id(entry.superseded_by),
            valid_until=self._instant(entry.valid_until),
        )

    def _outcome(self, ticker: str, outcome: Outcome) -> Outcome:
        changes: dict[str, Any] = {"source": "", "extra": {}}
        for prefix, symbol in (("", ticker), ("benchmark_", outcome.benchmark or "")):
            for name in ("entry_date", "exit_date"):
                day = getattr(outcome, prefix + name)
                changes[prefix + name] = day and day + self.mask.shift
            for name in ("entry_price", "exit_price", "entry_close", "exit_close"):
                close = getattr(outcome, prefix + name)
                changes[prefix + name] = close and close * self.scale(symbol)
        changes["known_at"] = self.mask.later(outcome.known_at)
        changes["benchmark"] = outcome.benchmark and self.mask.masked(outcome.benchmark)
        return replace(outcome, **changes)

    def _brief(self, seen: Brief) -> Brief:
        return replace(
            seen,
            ticker=self.mask.masked(seen.ticker),
            benchmark=seen.benchmark and self.mask.masked(seen.benchmark),
            last=seen.last and seen.last + self.mask.shift,
            missing=seen.missing and self.mask.masked(seen.missing),
            detail=self.mask.hide(seen.detail),
        )

    def _instant(self, instant: datetime | None) -> datetime | None:
        return instant and self.mask.later(instant)


class VeiledPrices(KnownPrices):
    """Closes under other names and dates, and on another scale."""

    def __init__(self, prices: KnownPrices, veil: Veil) -> None:
        super().__init__()
        self._prices, self._veil = prices, veil

    def __repr__(self) -> str:
        return f"VeiledPrices({len(self.tickers)} symbols)"

    def clock(self) -> datetime:
        """What time it is in the replay, aware UTC."""
        return self._veil.mask.later(self._prices.clock())

    @property
    def tickers(self) -> tuple[str, ...]:
        """See :class:`~tradmem.study.world.KnownPrices`."""
        return tuple(sorted(map(self._veil.mask.masked, self._prices.tickers)))

    def last(self, ticker: str) -> date | None:
        """See :class:`~tradmem.study.world.KnownPrices`."""
        day = self._prices.last(self._veil.mask.real(ticker))
        return day and day + self._veil.mask.shift

    def closes(
        self,
        ticker: str,
        count: int | None = None,
        *,
        start: date | None = None,
        end: date | None = None,
    ) -> Closes:
        """See :class:`~tradmem.study.world.KnownPrices`."""
        name, shift = self._veil.mask.real(ticker), self._veil.mask.shift
        real = {"start": start and _back(start, shift), "end": end and _back(end, shift)}
        try:
            found = self._prices.closes(name, count, **real)
        except LookAhead:  # which tells the real name and dates
            raise self._unknown(ticker, end) from None
        scale = self._veil.scale(name)
        return Closes(
            tuple(day + shift for day in found.dates),
            tuple(close * scale for close in found.values),
        )

    def fetch(self, spans: Mapping[str, Span]) -> dict[str, Bars | PriceError]:
        """See :class:`~tradmem.study.world.KnownPrices`."""
        found: dict[str, Bars | PriceError] = {}
        shift = self._veil.mask.shift
        for ticker, (start, end) in spans.items():
            name = self._veil.mask.real(ticker)
            span = Span(_back(start, shift), _back(end, shift))
            try:
                bars = self._prices.fetch({name: span})[name]
            except LookAhead:
                raise self._unknown(ticker, end) from None
            if isinstance(bars, PriceError):
                found[ticker] = PriceError(bars.kind, ticker)
                continue
            scale = self._veil.scale(name)
            found[ticker] = replace(
                bars,
                symbol=ticker,
                dates=tuple(day + shift for day in bars.dates),
                closes=tuple(close * scale for close in bars.closes),
                raw_closes=tuple(close * scale for close in bars.raw_closes),
                splits={day + shift: factor for day, factor in bars.splits.items()},
                dividends={day + shift: paid * scale for day, paid in bars.dividends.items()},
                source="",
            )
        return found

    def _unknown(self, ticker: str, end: date | None) -> LookAhead:
        now = format_instant(self.clock())
        return LookAhead(f"closes of {ticker} until {end} are not known yet; it is {now}")


def _back(day: date, shift: Any) -> date:
    """A shown date as it is; one before all dates stays the first."""
    return day - shift if day - date.min > shift else date.min


class VeiledPast(Past):
    """The memory under other names and dates, to read from."""

    __slots__ = ("_past", "_veil")

    def __init__(self, past: Past, veil: Veil) -> None:
        self._past, self._veil = past, veil

    def recall(self, ticker: str | None = None, as_of: AsOf = None, **options: Any) -> Recall:
        """See :class:`~tradmem.study.moment.Past`."""
        name = None if ticker is None else self._veil.mask.real(ticker)
        if options.get("query"):
            options["query"] = self._veil.mask.show(options["query"])
        seen = self._past.recall(name, self._asked(as_of), **options)
        return Recall(
            text=self._veil.mask.hide(seen.text),
            memories=tuple(map(self._veil.entry, seen.memories)),
            left_out=(),
            ticker=self._veil.mask.masked(seen.ticker),
            as_of=self._veil.mask.later(seen.as_of),
        )

    def entries(
        self, ticker: str | None = None, status: Any = None, as_of: AsOf = None
    ) -> list[Entry]:
        """See :class:`~tradmem.study.moment.Past`."""
        name = None if ticker is None else self._veil.mask.real(ticker)
        found = self._past.entries(name, status, self._asked(as_of))
        return [self._veil.entry(entry) for entry in found]

    def get(self, entry_id: str) -> Entry | None:
        """See :class:`~tradmem.study.moment.Past`."""
        found = self._past.get(self._veil.real_id(entry_id))
        return found and self._veil.entry(found)

    def search(self, query: str = "", *, as_of: AsOf = None, **options: Any) -> list[Entry]:
        """See :class:`~tradmem.study.moment.Past`; by words, a ticker and a number of entries."""
        kept = {name: options[name] for name in ("limit",) if name in options}
        if options.get("ticker"):
            kept["ticker"] = self._veil.mask.real(options["ticker"])
        asked = self._asked(as_of)
        found = self._past.search(self._veil.mask.show(query), as_of=asked, **kept)
        return [self._veil.entry(entry) for entry in found]

    def track(self, as_of: AsOf = None, *, tickers: Iterable[str] = (), **only: Any) -> TrackRecord:
        """See :class:`~tradmem.study.moment.Past`."""
        names = [self._veil.mask.real(ticker) for ticker in tickers]
        kept = {name: only[name] for name in ("agents",) if name in only}
        found = self._past.track(self._asked(as_of), tickers=names, **kept)
        lines = (
            replace(line, name=self._veil.mask.masked(line.name))
            if line.group is Group.TICKER
            else line
            for line in found.lines
        )
        return replace(found, lines=tuple(lines))

    def _asked(self, as_of: AsOf) -> datetime:
        """The instant that is meant, refused by the shown clock: the real one is not told."""
        mask = self._veil.mask
        asked = instant_of(as_of, mask.later(self._past.as_of))
        return asked - mask.shift if asked - _FIRST > mask.shift else _FIRST


class VeiledReflector:
    """Has the lessons of a blind replay written by a model that sees no name and no date either.

    Args:
        reflector: who writes them.
        veil: what hides the cases.
    """

    def __init__(self, reflector: Reflector, veil: Veil) -> None:
        self._reflector, self._veil = reflector, veil
        self.related = reflector.related

    def reflect(self, cases: Sequence[Case]) -> Iterator[Lesson | Fault]:
        """See :class:`tradmem.lessons.reflect.Reflector`."""
        hidden = [
            Case(
                entry=self._veil.entry(case.entry),
                related=tuple(map(self._veil.entry, case.related)),
            )
            for case in cases
        ]
        for case, answer in zip(cases, self._reflector.reflect(hidden), strict=True):
            yield self._lifted(answer, case.entry) if isinstance(answer, Lesson) else answer

    def _lifted(self, lesson: Lesson, entry: Entry) -> Lesson:
        text = self._veil.mask.show(lesson.text)
        return replace(
            lesson,
            text=text,
            sha256=lesson_hash(text, entry.ticker),
            links=tuple(map(self._veil.real_id, lesson.links)),
            tags=tuple(map(self._veil.mask.show, lesson.tags)),
        )

"""Prices kept in a folder between runs: one parquet file per symbol, refreshed as a whole.

A file holds one answer of the source, so all of its closes are of one adjustment. It is never
patched: a span that it does not cover is asked for again together with what it held. Folders
may be shared by processes; any file may be deleted at any time, at the cost of one request.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import Protocol, runtime_checkable

import pyarrow as pa
from filelock import FileLock, Timeout

from tradmem.clock import Clock, system_clock
from tradmem.errors import PriceError, UsageError
from tradmem.market.cache_file import Kept, load, save
from tradmem.market.prices import Bars, PriceSource, Span, cut_bars
from tradmem.tickers import TICKER

FRESH = timedelta(minutes=30)  # under 2 h: what is final now was closed when it was fetched
KEEP = timedelta(days=7)
_log = logging.getLogger(__name__)


@runtime_checkable
class Renaming(Protocol):
    """A price source that asks for a ticker under another name."""

    def symbol_of(self, ticker: str) -> str:
        """The source's own name of a ticker."""
        ...


class CachedPrices:
    """A price source that keeps what another one answered.

    Bars are served from the folder where they were final when they were fetched and are not
    older than ``keep``, or where nothing is older than ``fresh``. Failures are not kept; where
    the source fails, final bars are served at any age.

    Args:
        source: asked for whatever the folder does not have.
        folder: made when needed; one per source. If it cannot be written, prices are not kept,
            and one warning says so.
        clock: what time it is.
        fresh: the age up to which today's bars are served again; under two hours, or a bar
            could be served as a close that was fetched before the close.
        keep: the age from which closed bars are asked for again, because sources mend them.
        patience: seconds to wait for another process that is refreshing the same folder.
    """

    def __init__(
        self,
        source: PriceSource,
        folder: Path | str,
        *,
        clock: Clock = system_clock,
        fresh: timedelta = FRESH,
        keep: timedelta = KEEP,
        patience: float = 60.0,
    ) -> None:
        if fresh >= timedelta(hours=2):
            raise UsageError(f"fresh is {fresh}; it must be under 2 hours, or half bars are kept")
        self.source = source
        self.folder = Path(folder)
        self._clock = clock
        self._fresh = fresh
        self._keep = keep
        self._patience = patience
        self._warned = False

    def fetch(self, spans: Mapping[str, Span]) -> Mapping[str, Bars | PriceError]:
        """The bars of each symbol, from the folder where it has them, else from the source."""
        answers = self._served(spans)
        if len(answers) < len(spans):
            with self._refreshing():
                answers |= self._served(_without(spans, answers))  # another process may have been
                answers |= self._refresh(_without(spans, answers))
        return {ticker: answers[ticker] for ticker in spans if ticker in answers}

    def _served(self, spans: Mapping[str, Span]) -> dict[str, Bars | PriceError]:
        now = self._clock()
        answers: dict[str, Bars | PriceError] = {}
        for ticker, span in spans.items():
            kept = self._read(ticker)
            if kept is None:
                continue
            age = now - kept.fetched_at
            fresh = timedelta(0) <= age <= self._fresh
            if (kept.covers(span) and age <= self._keep) or (fresh and kept.holds(span)):
                answers[ticker] = cut_bars(kept.bars, ticker, span)
        return answers

    def _refresh(self, spans: Mapping[str, Span]) -> dict[str, Bars | PriceError]:
        if not spans:
            return {}
        now = self._clock()
        kept = {ticker: self._read(ticker) for ticker in spans}
        wider = {ticker: _join(span, kept[ticker]) for ticker, span in spans.items()}
        answers: dict[str, Bars | PriceError] = {}
        found = self.source.fetch(wider)
        for ticker, span in spans.items():
            answer, old = found.get(ticker), kept[ticker]
            if isinstance(answer, Bars):
                name = self._name(ticker)
                new = Kept(asked=wider[ticker], fetched_at=now, name=name, bars=answer)
                self._write(ticker, new)
                answers[ticker] = cut_bars(answer, ticker, span)
            elif old is not None and old.covers(span):
                answers[ticker] = cut_bars(old.bars, ticker, span)
            elif answer is not None:
                answers[ticker] = answer
        return answers

    @contextmanager
    def _refreshing(self) -> Iterator[None]:
        """Let one process refresh at a time; go on without, where that cannot be had."""
        lock = FileLock(self.folder / ".lock", timeout=self._patience)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            _log.info("%s is being refreshed by another process; going on without", self.folder)
        except (OSError, NotImplementedError) as error:  # the second: no locks on this file system
            self._warn(error)
        try:
            yield
        finally:
            lock.release()

    def _name(self, ticker: str) -> str:
        return self.source.symbol_of(ticker) if isinstance(self.source, Renaming) else ticker

    def _path(self, ticker: str) -> Path:
        return self.folder / f"bars-{ticker}.parquet"

    def _read(self, ticker: str) -> Kept | None:
        """What is kept of a ticker; None if nothing can be read, or it was of another name."""
        if not TICKER.match(ticker):
            return None
        try:
            kept = load(self._path(ticker))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
            _log.info("%s cannot be read and is fetched again: %s", self._path(ticker), error)
            return None
        return kept if kept.name == self._name(ticker) and kept.bars.symbol == ticker else None

    def _write(self, ticker: str, kept: Kept) -> None:
        if not TICKER.match(ticker):
            return
        path = self._path(ticker)
        scratch = path.with_name(f".{path.name}.{os.getpid()}-{token_hex(4)}")
        try:
            save(scratch, kept)
            scratch.replace(path)
        except OSError as error:
            self._warn(error)
        finally:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            _log.warning(
                "cannot keep prices in %s: %s; the source is asked each time until the folder"
                " can be written",
                self.folder,
                error,
            )


def _without(spans: Mapping[str, Span], answers: Mapping[str, object]) -> dict[str, Span]:
    return {ticker: span for ticker, span in spans.items() if ticker not in answers}


def _join(span: Span, kept: Kept | None) -> Span:
    if kept is None:
        return span
    return Span(min(span.start, kept.asked.start), max(span.end, kept.asked.end))

"""Price sources that need no network: closes in memory and closes in a file."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from os import PathLike, stat_result
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from tradmem.errors import PriceError, PriceFault, UsageError
from tradmem.market.prices import Bars, Row, Span, as_date, cut_bars, make_bars
from tradmem.market.symbols import Aliases, yahoo_symbol
from tradmem.model import NOTHING

if TYPE_CHECKING:
    import pandas as pd

_DATES = ("date", "datetime", "timestamp", "time", "day")
_UNNAMED = ("", "index", "unnamed: 0")  # what pandas calls an index that it wrote without a name
_TICKERS = ("ticker", "symbol")
_ADJUSTED = ("adj_close", "adjclose", "adjusted_close", "adj._close")
_CLOSES = ("close", "price")
_SPLITS = ("split", "splits", "stock_splits")
_DIVIDENDS = ("dividend", "dividends")


_Names = tuple[str, ...]


class _History(NamedTuple):
    """Everything that is known of one ticker, as it came."""

    rows: list[Row]
    splits: dict[Any, Any]
    dividends: dict[Any, Any]
    currency: str | None = None
    basis: str = "total"


class _Shelf:
    """Histories by ticker, found under the ticker as written, then under Yahoo's name for it."""

    def __init__(
        self,
        histories: Mapping[str, _History],
        source: str,
        aliases: Aliases,
        *,
        may_end: bool = False,
    ) -> None:
        self._histories = histories
        self._until = _last_date(histories) if may_end else None
        self._source = source
        self._aliases = aliases
        self._bars: dict[str, Bars | PriceError] = {}
        self._names: dict[str, str] = {}
        for spell in (str.upper, lambda name: yahoo_symbol(name, aliases)):
            for name in histories:
                self._names.setdefault(spell(name), name)

    @property
    def tickers(self) -> tuple[str, ...]:
        """As they were written."""
        return tuple(self._histories)

    def cut(self, ticker: str, span: Span) -> Bars | PriceError:
        """The bars of a ticker in a span."""
        name = self._names.get(ticker.upper())
        name = name or self._names.get(yahoo_symbol(ticker, self._aliases))
        if name is None:
            return PriceError(PriceFault.UNKNOWN_SYMBOL, ticker, f"not in {self._source}")
        if name not in self._bars:
            history = self._histories[name]
            self._bars[name] = make_bars(
                name,
                history.rows,
                splits=history.splits,
                dividends=history.dividends,
                currency=history.currency,
                basis=history.basis,
                source=self._source,
                aliases=self._aliases,
            )
        bars = self._bars[name]
        if isinstance(bars, PriceError):
            return PriceError(bars.kind, ticker, f"no close of it in {self._source}")
        found = cut_bars(bars, ticker, span)
        if self._until is None:
            return found
        if isinstance(found, Bars):
            return replace(found, until=self._until)
        if self._until < span.end:
            return PriceError(
                PriceFault.NOT_HELD, ticker, f"{self._source}, which ends {self._until}"
            )
        return found


def _last_date(histories: Mapping[str, _History]) -> date | None:
    """The last date of any close."""
    days = (as_date(row.day) for history in histories.values() for row in history.rows)
    return max((day for day in days if day), default=None)


class FramePrices:
    """Closes that are in memory: a DataFrame, or mappings.

    What is passed in is copied: changing it afterwards changes no answer.

    Args:
        closes: a DataFrame with dates as index and tickers as columns; or by ticker a
            Series or a mapping from dates to closes. Dates are dates, ISO text, or
            instants, of which the own local date counts. None and NaN are no closes.
        raw_closes: unadjusted closes, in either shape.
        volumes: volumes, in either shape.
        splits: by ticker and date, new shares per old one.
        dividends: by ticker and ex-date, per share.
        basis: ``total`` if the closes are adjusted for dividends, ``price`` if not.
        source: what outcomes name as their source.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.

    Raises:
        UsageError: a date cannot be read.
    """

    def __init__(
        self,
        closes: "pd.DataFrame | Mapping[str, Any]",
        *,
        raw_closes: "pd.DataFrame | Mapping[str, Any]" = NOTHING,
        volumes: "pd.DataFrame | Mapping[str, Any]" = NOTHING,
        splits: Mapping[str, Mapping[Any, float]] = NOTHING,
        dividends: Mapping[str, Mapping[Any, float]] = NOTHING,
        basis: str = "total",
        source: str = "frame",
        aliases: Aliases = None,
    ) -> None:
        raws, traded = _columns(raw_closes), _columns(volumes)
        histories = {}
        for name, column in _columns(closes).items():
            raw, volume = dict(raws.get(name, ())), dict(traded.get(name, ()))
            histories[name] = _History(
                [Row(day, close, raw.get(day), volume.get(day)) for day, close in column],
                dict(splits.get(name, NOTHING)),
                dict(dividends.get(name, NOTHING)),
                basis=basis,
            )
        self._shelf = _Shelf(histories, source, aliases)

    @property
    def tickers(self) -> tuple[str, ...]:
        """The tickers that there are closes of."""
        return self._shelf.tickers

    def fetch(self, spans: Mapping[str, Span]) -> dict[str, Bars | PriceError]:
        """See :class:`tradmem.market.prices.PriceSource`."""
        return {ticker: self._shelf.cut(ticker, span) for ticker, span in spans.items()}


class FilePrices:
    """Closes in a file: ``.csv``, ``.csv.gz`` or ``.parquet``, read again when it changes.

    Two layouts, told apart by the header. Wide: a date, then one column of closes per
    ticker. Long: ``date``, ``ticker``, ``close``, and if wanted ``adj_close`` (which then
    is what counts), ``volume``, ``split``, ``dividend``, ``currency``.

    Args:
        path: the file.
        basis: ``total`` if the closes are adjusted for dividends, ``price`` if not.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.

    Raises:
        UsageError: there is no such file; when it is read: it cannot be.
    """

    def __init__(
        self, path: str | PathLike[str], *, basis: str = "total", aliases: Aliases = None
    ) -> None:
        self._path = Path(path)
        self._basis = basis
        self._aliases = aliases
        self._lock = Lock()
        self._read: tuple[tuple[int, int, int], _Shelf, _Names, _Names] | None = None
        self._stat()

    @property
    def tickers(self) -> tuple[str, ...]:
        """The tickers in the file, as it spells them.

        Raises:
            UsageError: the file cannot be read.
        """
        return self._load()[1]

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know of the file, one line each.

        Raises:
            UsageError: the file cannot be read.
        """
        return self._load()[2]

    def fetch(self, spans: Mapping[str, Span]) -> dict[str, Bars | PriceError]:
        """See :class:`tradmem.market.prices.PriceSource`.

        Raises:
            UsageError: the file cannot be read.
        """
        shelf = self._load()[0]
        return {ticker: shelf.cut(ticker, span) for ticker, span in spans.items()}

    def _stat(self) -> stat_result:
        try:
            found = self._path.stat()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"cannot read prices from {self._path}: {reason}") from error
        if not self._path.is_file():
            raise UsageError(f"cannot read prices from {self._path}: it is no file")
        return found

    def _load(self) -> tuple[_Shelf, _Names, _Names]:
        with self._lock:
            found = self._stat()
            version = (found.st_ino, found.st_mtime_ns, found.st_size)
            if self._read is None or self._read[0] != version:
                histories = _file_histories(self._path, self._basis)
                shelf = _Shelf(histories, self._path.name, self._aliases, may_end=True)
                notices = tuple(_repeats(histories, str(self._path)))
                self._read = (version, shelf, tuple(histories), notices)
            return self._read[1:]


def _columns(data: "pd.DataFrame | Mapping[str, Any]") -> dict[str, list[tuple[Any, Any]]]:
    """Closes (or volumes) by ticker as pairs of a date and a value, copied."""
    if not hasattr(data, "columns"):
        try:
            return {
                str(name): [(day, value) for key, value in column.items() if (day := as_date(key))]
                for name, column in data.items()
            }
        except AttributeError as error:
            raise UsageError(
                "closes are a DataFrame, or by ticker a Series or a mapping from dates to closes"
            ) from error
    frame: Any = data
    if getattr(frame.columns, "nlevels", 1) > 1 and "Close" in frame.columns.get_level_values(0):
        frame = frame["Close"]  # the layout in which yfinance hands out several tickers
    place = _date_column([str(name) for name in frame.columns])
    if place is None and frame.index.dtype.kind == "i":
        raise UsageError("it has no dates; give it a column date, and separate columns by commas")
    days = [as_date(key) for key in (frame.index if place is None else frame.iloc[:, place])]
    return {
        str(name): [(d, v) for d, v in zip(days, frame.iloc[:, at].tolist(), strict=True) if d]
        for at, name in enumerate(frame.columns)
        if at != place
    }


def _date_column(names: list[str]) -> int | None:
    """Where the dates stand; None means that they are the index."""
    lower = [name.strip().lower() for name in names]
    if lower and lower[0] in _DATES + _UNNAMED:
        return 0
    return next((lower.index(name) for name in _DATES[:3] if name in lower), None)


def _file_histories(path: Path, basis: str) -> dict[str, _History]:
    frame = _read_frame(path)
    names = ["_".join(str(name).lower().split()) for name in frame.columns]
    try:
        if _first(names, _TICKERS) is not None:
            return _long(frame, names, basis)
        if unsaid := [name for name in names if name in _CLOSES + _ADJUSTED]:
            raise UsageError(  # noqa: TRY301
                f"it has a column {unsaid[0]} and no ticker; add a column ticker, or name that "
                "column after the ticker, as in date,NVDA"
            )
        return {
            name: _History([Row(day, value) for day, value in column], {}, {}, basis=basis)
            for name, column in _columns(frame).items()
        }
    except UsageError as error:
        raise UsageError(f"cannot read prices from {path}: {error}") from error


def _repeats(histories: Mapping[str, _History], path: str) -> Iterator[str]:
    """Where a ticker has more than one close on a date; the last one counts."""
    for name, history in histories.items():
        closes: dict[date, set[str]] = {}
        for row in history.rows:
            if (day := as_date(row.day)) and str(row.close).strip():
                closes.setdefault(day, set()).add(str(row.close).strip())
        days = sorted(day for day, values in closes.items() if len(values) > 1)
        if days:
            more = f" and {len(days) - 1:,} more dates" if len(days) > 1 else ""
            yield f"{path} has several closes of {name} on {days[0]}{more}; the last one counts"


def _read_frame(path: Path) -> "pd.DataFrame":
    import pandas as pd  # noqa: PLC0415 - costs half a second

    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return pd.read_parquet(path)
        # As text: a column of the ticker NA or TRUE would be read as something else.
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, EOFError, ValueError, ImportError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise UsageError(f"cannot read prices from {path}: {reason}") from error


def _first(names: list[str], wanted: Iterable[str]) -> int | None:
    return next((names.index(name) for name in wanted if name in names), None)


def _long(frame: "pd.DataFrame", names: list[str], basis: str) -> dict[str, _History]:
    """The long layout: one row per date and ticker."""
    columns = [frame.iloc[:, at].tolist() for at in range(len(names))]

    def column(*wanted: str) -> list[Any] | None:
        place = _first(names, wanted)
        return None if place is None else columns[place]

    days = column(*_DATES) or (None if len(frame) == 0 else list(frame.index))
    tickers, adjusted, plain = column(*_TICKERS), column(*_ADJUSTED), column(*_CLOSES)
    closes = adjusted or plain
    if not (days and tickers and closes):
        raise UsageError("it needs rows with date, ticker and close")
    nothing: list[Any] = [None] * len(days)
    volumes, currencies = column("volume") or nothing, column("currency") or nothing
    splits, dividends = column(*_SPLITS) or nothing, column(*_DIVIDENDS) or nothing
    found: dict[str, _History] = {}
    for day, ticker, close, raw, volume, split, dividend, currency in zip(
        days, tickers, closes, plain or nothing, volumes, splits, dividends, currencies, strict=True
    ):
        name = str(ticker).strip()
        if name not in found:
            code = currency.strip() if isinstance(currency, str) else ""
            found[name] = _History([], {}, {}, code or None, "total" if adjusted else basis)
        found[name].rows.append(Row(day, close, raw, volume))
        found[name].splits[day] = split
        found[name].dividends[day] = dividend
    return found

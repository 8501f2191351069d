"""The settings that are no table of their own: what each has to be, and how it is read."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tradmem.errors import UsageError
from tradmem.settings_file import nearest
from tradmem.tickers import check_ticker

NO_BENCHMARK: Mapping[str, str | None] = {"*": None}
REFLECTORS = ("auto", "openai", "template")
SOURCES = ("yahoo", "demo")  # of prices, those that are no files
_NONE = "none"


class Kind(NamedTuple):
    """How a value is read, from the file and from a variable.

    Attributes:
        wanted: what it has to be, for a message.
        of_file: from what TOML holds.
        of_text: from a variable.
        is_path: whether a relative one starts at the folder of the file.
    """

    wanted: str
    of_file: Callable[[Any], Any]
    of_text: Callable[[str], Any]
    is_path: bool = False


def word(value: Any) -> str:
    """A text that says something.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, str) or not value.strip() or "\x00" in value:
        raise TypeError(value)
    return value


def _one_of(*choices: str) -> Kind:
    def read(value: Any) -> str:
        said = word(value)
        if said not in choices:
            near = nearest(said, choices)
            raise UsageError(f"{said!r} is none of {', '.join(choices)}; the nearest is {near}")
        return said

    return Kind(f"one of {', '.join(choices)}", read, read)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(value)
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    return float(value)


def _limit(value: Any) -> int | None:
    return None if value == _NONE else _whole(value)


def _horizons(value: Any) -> tuple[int, ...]:
    return tuple(_whole(item) for item in _list(value))


def _tickers(value: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(check_ticker(word(item)) for item in _list(value)))


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(value)
    return value


def _benchmark(value: Any) -> str | Mapping[str, str | None]:
    """One ticker for all, ``none``, or a table by ticker."""
    if isinstance(value, Mapping):
        return {
            key if key == "*" else check_ticker(key): _reference(name)
            for key, name in value.items()
        }
    return _reference(value) or NO_BENCHMARK


def _reference(value: Any) -> str | None:
    return None if word(value).lower() == _NONE else check_ticker(value)


def _aliases(value: Any) -> dict[str, str]:
    return {check_ticker(key): word(name) for key, name in _table(value).items()}


def _weights(value: Any) -> dict[str, float]:
    return {key: _number(weight) for key, weight in _table(value).items()}


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(value)
    return value


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.replace(",", " ").split()]


def _pairs(text: str) -> dict[str, str]:
    found = {}
    for part in _split(text):
        key, equals, value = part.partition("=")
        if not (key and equals and value):
            raise ValueError(text)
        found[key] = value
    return found


_TEXT = Kind("a text", word, word)
_COUNT = Kind("a whole number", _whole, int)
_PATH = Kind("a path", lambda value: Path(word(value)), lambda text: Path(word(text)), True)
KINDS: Mapping[str, Kind] = {
    "log": Kind("a path", word, word, True),
    "watchlist": Kind(
        'a list of tickers, such as ["NVDA", "AAPL"]', _tickers, lambda text: _tickers(_split(text))
    ),
    "prices": Kind("yahoo, demo or the path of a file", word, word, True),
    "reflector": _one_of(*REFLECTORS),
    "actor": _TEXT,
    "benchmark": Kind("a ticker, none, or a table of both by ticker", _benchmark, _benchmark),
    "horizons": Kind(
        "a list of whole numbers, such as [5, 20]",
        _horizons,
        lambda text: tuple(int(part) for part in _split(text)),
    ),
    "aliases": Kind(
        'a table of names by ticker, such as {FB = "META"}',
        _aliases,
        lambda text: _aliases(_pairs(text)),
    ),
    "max_resolved": Kind(
        "a whole number, or none", _limit, lambda text: None if text == _NONE else int(text)
    ),
    "same_ticker": _COUNT,
    "cross_ticker": _COUNT,
    "budget": _COUNT,
    "rank": _one_of("plain", "relevant"),
    "weights": Kind(
        "a table of numbers by part, such as {semantic = 0.5}",
        _weights,
        lambda text: {key: float(value) for key, value in _pairs(text).items()},
    ),
    "half_life": Kind("a number of days", _number, float),
    "embeddings": _one_of("auto", "none", "wordllama", "openai"),
    "holdout": Kind("a share from 0 to below 1, such as 0.1", _number, float),
    "holdout_salt": _TEXT,
    "related": _COUNT,
    "cache": _PATH,
    "vectors": _PATH,
}

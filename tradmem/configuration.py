"""Every setting of a project, and where its value comes from.

Defaults, the settings file, and ``TRADMEM_*`` in the environment, each stronger than the one
before. What a call or an option of the command line says is stronger than all of them.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tradmem.errors import UsageError
from tradmem.lessons.parts import DEFAULT_WEIGHTS
from tradmem.model import check_ticker
from tradmem.model_settings import (
    KEYS,
    SECTION,
    VARIABLES,
    ModelSettings,
    model_settings,
    model_sources,
)
from tradmem.settings import DEFAULT_LOG, Settings
from tradmem.settings_file import SettingsFile, find_file, nearest

DEFAULT = "default"
NO_BENCHMARK: Mapping[str, str | None] = {"*": None}
_PREFIX = "TRADMEM_"
_NONE = "none"
_REFLECTORS = ("auto", "openai", "template")
_WORDS = ("yahoo", "demo")  # price sources that are no files
_ALIKE = 0.7  # from here on, a variable is a misspelt one rather than somebody else's


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Every setting of a project.

    Attributes:
        settings: what a memory does.
        log: the path or address of the log.
        prices: where closes come from: ``yahoo``, ``demo`` or a file.
        reflector: who writes the lessons: ``auto``, ``openai`` or ``template``.
        actor: who acts on entries; empty for whoever is logged in.
        watchlist: the tickers of a daily run.
        libraries: the tables ``[libraries.NAME]``, as they stand in the file.
        sources: by dotted key, where its value comes from: ``default``, the path of the file
            or the name of a variable.
        file: the settings file.
        strangers: variables named ``TRADMEM_*`` that set nothing here.
        env: the environment.
    """

    settings: Settings = field(default_factory=Settings)
    log: str = DEFAULT_LOG
    prices: str = _WORDS[0]
    reflector: str = _REFLECTORS[0]
    actor: str = ""
    watchlist: tuple[str, ...] = ()
    libraries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    file: SettingsFile = field(default_factory=SettingsFile)
    strangers: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # it may hold keys

    @property
    def path(self) -> Path | None:
        """Of the settings file; None where there is none."""
        return self.file.path

    @property
    def model(self) -> ModelSettings:
        """Which language model is asked, and how.

        Raises:
            UsageError: a value cannot be; who asks no model need not know.
        """
        return model_settings(file=self.file, env=self.env)

    def is_set(self, key: str) -> bool:
        """Whether the file or the environment says something of a dotted key."""
        return self.sources.get(key, DEFAULT) != DEFAULT


def load(start: Path | None = None, env: Mapping[str, str] = os.environ) -> Configuration:
    """What the settings file and the environment say, and defaults for the rest.

    Args:
        start: the folder from which on the file is looked for; the working folder by default.
        env: the environment.

    Raises:
        UsageError: the file cannot be read, has a key that is none, or a value cannot be.
    """
    file = find_file(start)
    file.check_keys(file.table, [*_KINDS, SECTION, "libraries"])
    file.check_keys(file.section(SECTION), [*KEYS.values(), "embedding"], SECTION)
    found, sources = _values(file, start, env)
    embedding, source = _embedding(file, env)
    own = {key: found.pop(key) for key in _OWN if key in found}
    if "cache" in found and "vectors" not in found:
        found["vectors"] = found["cache"] / "vectors"
    return Configuration(
        settings=_settings(found | {"embedding_model": embedding}, sources, file),
        libraries=_libraries(file),
        sources=dict.fromkeys(_KINDS, DEFAULT)
        | sources
        | {f"{SECTION}.{key}": DEFAULT for key in KEYS.values()}
        | {f"{SECTION}.{key}": where for key, where in model_sources(file, env).items()}
        | {f"{SECTION}.embedding": source}
        | {f"libraries.{name}": str(file.path) for name in file.section("libraries")},
        file=file,
        env=env,
        strangers=tuple(_strangers(env)),
        **own,
    )


def variable(key: str) -> str:
    """The variable that sets a dotted key."""
    if key == f"{SECTION}.embedding":
        return _EMBEDDING
    section, _, name = key.rpartition(".")
    if section == SECTION:
        return next(VARIABLES[setting][0] for setting, own in KEYS.items() if own == name)
    return _PREFIX + name.upper()


@dataclass(frozen=True, slots=True)
class _Kind:
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


def _values(
    file: SettingsFile, start: Path | None, env: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """What is said of the keys that are no table, and where."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for key, kind in _KINDS.items():
        if key in file.table:
            where = f"{file.path}: {key}"
            values[key] = _read(kind.of_file, file.table[key], where, kind.wanted)
            if kind.is_path:
                values[key] = _placed(values[key], file, start)
            sources[key] = str(file.path)
        name = variable(key)
        if text := env.get(name, "").strip():
            values[key] = _read(kind.of_text, text, name, kind.wanted)
            sources[key] = name
    return values, sources


def _read(read: Callable[[Any], Any], value: Any, where: str, wanted: str) -> Any:
    try:
        return read(value)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{where} is {value!r}; it has to be {wanted}") from error


def _settings(values: dict[str, Any], sources: Mapping[str, str], file: SettingsFile) -> Settings:
    """The settings; one that cannot be is told with the place where it stands."""
    for key, value in values.items():
        try:
            Settings(**{key: value})
        except UsageError as error:
            where = sources.get(key, str(file.path))
            raise UsageError(f"{where}: {error}") from error
    return Settings(**values)


def _placed(value: Any, file: SettingsFile, start: Path | None) -> Any:
    """A path of the file, as seen from the working folder; what is no path as it is."""
    text = str(value)
    if "://" in text or text in _WORDS or file.path is None:
        return value
    path = Path(text).expanduser()
    folder = file.path.parent
    if not path.is_absolute() and folder != (start or Path.cwd()).absolute():
        path = folder / path
    return type(value)(path)


def _embedding(file: SettingsFile, env: Mapping[str, str]) -> tuple[str, str]:
    """The name of the model that makes vectors, and where it is said."""
    if text := env.get(_EMBEDDING, "").strip():
        return text, _EMBEDDING
    name = file.section(SECTION).get("embedding")
    if name is None:
        return "", DEFAULT
    where = f"{file.path}: {SECTION}.embedding"
    return _read(_word, name, where, "the name of a model"), str(file.path)


def _libraries(file: SettingsFile) -> Mapping[str, Mapping[str, Any]]:
    tables = file.section("libraries")
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise UsageError(
                f"{file.path}: libraries.{name} is {table!r}; write a table [libraries.{name}]"
            )
    return tables


def _strangers(env: Mapping[str, str]) -> Iterator[str]:
    """The variables of ours that set nothing.

    Raises:
        UsageError: one looks like a misspelt one.
    """
    known = {variable(key): key for key in _KINDS}
    known |= {name: name for names in VARIABLES.values() for name in names}
    known[_EMBEDDING] = _EMBEDDING
    ours = [name.removeprefix(_PREFIX) for name in known if name.startswith(_PREFIX)]
    for name in sorted(env):
        if not name.startswith(_PREFIX) or name in known:
            continue
        word = name.removeprefix(_PREFIX)
        if word not in _OTHERS and get_close_matches(word, ours, n=1, cutoff=_ALIKE):
            near = _PREFIX + nearest(word, ours)
            raise UsageError(f"{name} is no variable of tradmem; the nearest is {near}")
        yield name


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or "\x00" in value:
        raise TypeError(value)
    return value


def _one_of(*choices: str) -> _Kind:
    def read(value: Any) -> str:
        word = _word(value)
        if word not in choices:
            raise UsageError(
                f"{word!r} is none of {', '.join(choices)}; the nearest is {nearest(word, choices)}"
            )
        return word

    return _Kind(f"one of {', '.join(choices)}", read, read)


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
    return tuple(dict.fromkeys(check_ticker(_word(item)) for item in _list(value)))


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
    return None if _word(value).lower() == _NONE else check_ticker(value)


def _aliases(value: Any) -> dict[str, str]:
    return {check_ticker(key): _word(name) for key, name in _table(value).items()}


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


_EMBEDDING = "TRADMEM_EMBEDDING_MODEL"
_OTHERS: frozenset[str] = frozenset()  # ends of variables that look like one of ours, and are not
_TEXT = _Kind("a text", _word, _word)
_COUNT = _Kind("a whole number", _whole, int)
_PATH = _Kind("a path", lambda value: Path(_word(value)), lambda text: Path(_word(text)), True)
_PARTS = ", ".join(DEFAULT_WEIGHTS)
_KINDS: Mapping[str, _Kind] = {
    "log": _Kind("a path", _word, _word, True),
    "watchlist": _Kind(
        'a list of tickers, such as ["NVDA", "AAPL"]', _tickers, lambda text: _tickers(_split(text))
    ),
    "prices": _Kind("yahoo, demo or the path of a file", _word, _word, True),
    "reflector": _one_of(*_REFLECTORS),
    "actor": _TEXT,
    "benchmark": _Kind("a ticker, none, or a table of both by ticker", _benchmark, _benchmark),
    "horizons": _Kind(
        "a list of whole numbers, such as [5, 20]",
        _horizons,
        lambda text: tuple(int(part) for part in _split(text)),
    ),
    "aliases": _Kind(
        'a table of names by ticker, such as {FB = "META"}',
        _aliases,
        lambda text: _aliases(_pairs(text)),
    ),
    "max_resolved": _Kind(
        "a whole number, or none", _limit, lambda text: None if text == _NONE else int(text)
    ),
    "same_ticker": _COUNT,
    "cross_ticker": _COUNT,
    "budget": _COUNT,
    "rank": _one_of("plain", "relevant"),
    "weights": _Kind(
        f"a table of numbers by part ({_PARTS})",
        _weights,
        lambda text: {key: float(value) for key, value in _pairs(text).items()},
    ),
    "half_life": _Kind("a number of days", _number, float),
    "embeddings": _one_of("auto", "none", "wordllama", "openai"),
    "holdout": _Kind("a share from 0 to below 1, such as 0.1", _number, float),
    "holdout_salt": _TEXT,
    "related": _COUNT,
    "cache": _PATH,
    "vectors": _PATH,
}
_OWN = ("log", "prices", "reflector", "actor", "watchlist")

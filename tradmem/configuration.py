"""Every setting of a project, and where its value comes from.

Defaults, the settings file, and ``TRADMEM_*`` in the environment, each stronger than the one
before. What a call or an option of the command line says is stronger than all of them.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradmem.errors import UsageError
from tradmem.masking import shown
from tradmem.setting_kinds import KINDS, NO_BENCHMARK, REFLECTORS, SOURCES, word
from tradmem.settings_file import DEFAULT_LOG, SettingsFile, find_file, nearest
from tradmem.variables import EMBEDDING, KEYS, SECTION, VARIABLES

if TYPE_CHECKING:
    from tradmem.model_settings import ModelSettings
    from tradmem.settings import Settings

__all__ = ["DEFAULT", "NO_BENCHMARK", "Configuration", "load", "variable"]

DEFAULT = "default"
_OWN = ("log", "prices", "reflector", "actor", "watchlist")
_OTHERS: frozenset[str] = frozenset()  # ends of variables that look like one of ours, and are not
_PREFIX = "TRADMEM_"
_ALIKE = 0.7  # from here on, a variable is a misspelt one rather than somebody else's


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Every setting of a project.

    Attributes:
        log: the path or address of the log.
        prices: where closes come from: ``yahoo``, ``demo`` or a file.
        reflector: who writes the lessons: ``auto``, ``openai`` or ``template``.
        actor: who acts on entries; empty for whoever is logged in.
        watchlist: the tickers of a daily run.
        libraries: the tables ``[libraries.NAME]``, as they stand in the file.
        values: what is said of a memory's settings; defaults hold for the rest.
        said: by key, where what is said comes from.
        file: the settings file.
        strangers: variables named ``TRADMEM_*`` that set nothing here.
        env: the environment.
    """

    log: str = DEFAULT_LOG
    prices: str = SOURCES[0]
    reflector: str = REFLECTORS[0]
    actor: str = ""
    watchlist: tuple[str, ...] = ()
    libraries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    file: SettingsFile = field(default_factory=SettingsFile)
    strangers: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # it may hold keys

    @property
    def path(self) -> Path | None:
        """Of the settings file; None where there is none."""
        return self.file.path

    @property
    def settings(self) -> "Settings":
        """What a memory does."""
        from tradmem.settings import Settings  # noqa: PLC0415 - who only reads a log needs none

        return Settings(**self.values)

    @property
    def model(self) -> "ModelSettings":
        """Which language model is asked, and how.

        Raises:
            UsageError: a value cannot be; who asks no model need not know.
        """
        from tradmem.model_settings import model_settings  # noqa: PLC0415 - for who asks one

        return model_settings(file=self.file, env=self.env)

    @property
    def sources(self) -> Mapping[str, str]:
        """By dotted key, where its value comes from.

        That is ``default``, the path of the file, or the name of a variable.
        """
        from tradmem.model_settings import model_sources  # noqa: PLC0415 - for who looks

        models = dict.fromkeys(KEYS.values(), DEFAULT) | model_sources(self.file, self.env)
        return (
            {key: self.said.get(key, DEFAULT) for key in KINDS}
            | {f"{SECTION}.{key}": source for key, source in models.items()}
            | {f"{SECTION}.embedding": self.said.get("embedding_model", DEFAULT)}
            | {f"libraries.{name}": str(self.path) for name in self.libraries}
        )

    def value(self, key: str) -> str:
        """What is said of one of its own texts; empty where nothing is."""
        return str(getattr(self, key)) if key in self.said else ""

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
    file.check_keys(file.table, [*KINDS, SECTION, "libraries"])
    file.check_keys(file.section(SECTION), [*KEYS.values(), "embedding"], SECTION)
    found, said = _values(file, start, env)
    embedding, source = _embedding(file, env)
    own = {key: found.pop(key) for key in _OWN if key in found}
    if "cache" in found and "vectors" not in found:
        found["vectors"] = found["cache"] / "vectors"
    if embedding:
        found["embedding_model"], said["embedding_model"] = embedding, source
    _check(found, said, file)
    return Configuration(
        values=found,
        said=said,
        libraries=_libraries(file),
        file=file,
        env=env,
        strangers=tuple(_strangers(env)),
        **own,
    )


def variable(key: str) -> str:
    """The variable that sets a dotted key."""
    if key == f"{SECTION}.embedding":
        return EMBEDDING
    section, _, name = key.rpartition(".")
    if section == SECTION:
        return next(VARIABLES[setting][0] for setting, own in KEYS.items() if own == name)
    return _PREFIX + name.upper()


def _values(
    file: SettingsFile, start: Path | None, env: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """What is said of the keys that are no table, and where."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for key, kind in KINDS.items():
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
        raise UsageError(f"{where} is {shown(value)}; it has to be {wanted}") from error


def _check(values: Mapping[str, Any], said: Mapping[str, str], file: SettingsFile) -> None:
    """See to it that each value can be.

    Raises:
        UsageError: one cannot; the message says where it stands.
    """
    if not values:
        return
    from tradmem.settings import Settings  # noqa: PLC0415 - needed only where something is said

    for key, value in values.items():
        try:
            Settings(**{key: value})
        except UsageError as error:
            raise UsageError(f"{said.get(key, str(file.path))}: {error}") from error


def _placed(value: Any, file: SettingsFile, start: Path | None) -> Any:
    """A path of the file, as seen from the working folder; what is no path as it is."""
    text = str(value)
    if "://" in text or text in SOURCES or file.path is None:
        return value
    path = Path(text).expanduser()
    folder = file.path.parent
    if not path.is_absolute() and folder != (start or Path.cwd()).absolute():
        path = folder / path
    return type(value)(path)


def _embedding(file: SettingsFile, env: Mapping[str, str]) -> tuple[str, str]:
    """The name of the model that makes vectors, and where it is said."""
    if text := env.get(EMBEDDING, "").strip():
        return text, EMBEDDING
    name = file.section(SECTION).get("embedding")
    if name is None:
        return "", DEFAULT
    where = f"{file.path}: {SECTION}.embedding"
    return _read(word, name, where, "the name of a model"), str(file.path)


def _libraries(file: SettingsFile) -> Mapping[str, Mapping[str, Any]]:
    tables = file.section("libraries")
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise UsageError(
                f"{file.path}: libraries.{name} is no table; write it as [libraries.{name}]"
            )
    return tables


def _strangers(env: Mapping[str, str]) -> Iterator[str]:
    """The variables of ours that set nothing.

    Raises:
        UsageError: one looks like a misspelt one.
    """
    known = {variable(key): key for key in KINDS}
    known |= {name: name for names in VARIABLES.values() for name in names}
    known[EMBEDDING] = EMBEDDING
    ours = [name.removeprefix(_PREFIX) for name in known if name.startswith(_PREFIX)]
    model = f"{SECTION.upper()}_"
    as_in_file = {  # a key of the model as one who knows the file alone would write it
        (model + KEYS[key].upper()): names[0].removeprefix(_PREFIX)
        for key, names in VARIABLES.items()
    }
    as_in_file |= {name.removeprefix(model): name for name in ours}
    for name in sorted(env):
        if not name.startswith(_PREFIX) or name in known:
            continue
        end = name.removeprefix(_PREFIX)
        near = (
            as_in_file.get(end)
            or nearest(end, ours, cutoff=_ALIKE)
            or next((name for name in ours if sorted(name) == sorted(end)), "")
        )
        if near and end not in _OTHERS:
            raise UsageError(f"{name} is no variable of tradmem; the nearest is {_PREFIX}{near}")
        yield name

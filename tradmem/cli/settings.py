"""``settings``: every setting, and where its value comes from."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import click

from tradmem.cli import options
from tradmem.cli.layout import Cell, Column, Style, table
from tradmem.cli.opening import configuration
from tradmem.cli.output import say, width, write, write_json
from tradmem.configuration import Configuration
from tradmem.masking import without_password
from tradmem.model_settings import NO_KEY
from tradmem.settings import default_cache, default_vectors
from tradmem.variables import KEYS, SECTION

_COLUMNS = (Column("SETTING"), Column("FROM"), Column("VALUE"))
_UNSET: Mapping[str, Callable[[], Any]] = {
    "cache": default_cache,
    "vectors": default_vectors,
    "actor": options.login,
}
_HIDDEN = "set, not shown"
_SECRET = re.compile(r"key|token|secret|passw", re.IGNORECASE)


class Told(NamedTuple):
    """One setting.

    Attributes:
        key: dotted, as in the settings file.
        value: JSON; None for nothing.
        source: ``default``, the file, or a variable.
    """

    key: str
    value: Any
    source: str


@click.command()
@options.as_json
def settings(*, as_json: bool) -> None:
    """Print every setting, and where its value comes from.

    The nearest tradmem.toml, in this folder or one above it as far as the repository's root,
    or else the table [tool.tradmem] of a pyproject.toml; then TRADMEM_* in the environment;
    then the options of a command: each is stronger than the one before.
    """
    found = configuration()
    items = list(told(found))
    if as_json:
        write_json(item._asdict() for item in items)
        return
    rows = []
    for item in items:
        value = Cell(said(found, item))
        rows.append([Cell(item.key), Cell(item.source, _style(found, item)), value])
    for line in table(_COLUMNS, rows, width()):
        write(line)
    if found.path is None:
        say("there is no tradmem.toml here or above, and no [tool.tradmem] in a pyproject.toml")
    for name in found.strangers:
        say(f"{name} is set, and is no setting of tradmem")


def said(found: Configuration, item: Told) -> str:
    """A setting's value in words; a benchmark that nobody set is each market's own."""
    if item.key == "benchmark" and not found.is_set(item.key):
        return "each market's own"
    return shown(item.value)


def _style(found: Configuration, item: Told) -> Style:
    return {} if found.is_set(item.key) else {"dim": True}


def told(found: Configuration, *, models: bool = True) -> Iterator[Told]:
    """Every setting, without what is secret.

    Args:
        found: what is set.
        models: whether those of the model are wanted, which may be none that can be.
    """
    for key, source in found.sources.items():
        if key.startswith(f"{SECTION}.") and not models:
            continue
        yield Told(key, _masked(key, _plain(_value(found, key))), _place(found, source))


def _value(found: Configuration, key: str) -> Any:
    section, _, name = key.rpartition(".")
    if key == f"{SECTION}.embedding":
        return found.settings.embedding_model or None
    if section == SECTION:
        field = next(setting for setting, own in KEYS.items() if own == name)
        value = getattr(found.model, field)
        return None if value in ("", NO_KEY) else value
    if section:
        return found.libraries[key.partition(".")[2]]
    value = getattr(found, key) if hasattr(found, key) else getattr(found.settings, key)
    if value in (None, "") and key in _UNSET:
        return _UNSET[key]()
    return value


def _plain(value: Any) -> Any:
    """As JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Path | date):
        return str(value)
    return value


def _masked(key: str, value: Any) -> Any:
    """A value without what is secret in it."""
    if isinstance(value, Mapping):
        return {name: _masked(name, item) for name, item in value.items()}
    if isinstance(value, list):
        return [_masked(key, item) for item in value]
    if value is None or not isinstance(value, str):
        return value
    if _SECRET.search(key):
        return _HIDDEN
    return without_password(value)


def _place(found: Configuration, source: str) -> str:
    """Where a value comes from, as it is best typed."""
    if source == str(found.path):
        try:
            return str(Path(source).relative_to(Path.cwd()))
        except ValueError:
            return source
    return source


def shown(value: Any) -> str:
    """A value of a setting in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {shown(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(shown, value)) or "none"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)

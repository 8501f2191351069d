"""Named memories: each a log or database with a scope in words, bound by settings.

    [libraries.us-tech]
    log = "logs/us-tech.md"
    description = "US technology companies: earnings, guidance, how our calls on them went."
    access = "add"

A model is offered a library through its tools (:mod:`tradmem.plugin.tools`); which library that
is, is fixed here and never by the model.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradmem.clock import Clock
from tradmem.configuration import load
from tradmem.errors import UsageError
from tradmem.memory import Memory
from tradmem.settings import Settings

if TYPE_CHECKING:
    from tradmem.market.prices import PriceSource

DEFAULT_DESCRIPTION = (
    "trading decisions of this agent, what became of them, the lessons that they taught, and "
    "facts about companies and markets that later decisions should know"
)
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?\Z", re.ASCII)
_LONGEST_DESCRIPTION = 1000  # characters
_KEYS = ("log", "description", "access", "tenant")


class Access(StrEnum):
    """What may be done with a library."""

    READ = "read"
    ADD = "add"

    def within(self, other: "Access") -> "Access":
        """The lesser of two rights."""
        return Access.ADD if self is other is Access.ADD else Access.READ


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A memory under a name, as a model is offered it.

    Attributes:
        name: a to z, 0 to 9, ``-`` and ``_``, up to 32.
        memory: what is remembered.
        description: its scope in words; by them a model knows what belongs here.
        access: whether the tools may add to it.
        tenant: whose it is; empty where there is one tenant only.
        log: the path or address that it was opened from; empty where a memory was handed in.

    Raises:
        UsageError: the name or the description cannot be.
    """

    name: str
    memory: Memory
    description: str = DEFAULT_DESCRIPTION
    access: Access = Access.ADD
    tenant: str = ""
    log: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.match(self.name):
            raise UsageError(
                f"{str(self.name)[:60]!r} is no name of a library; use up to 32 of a-z 0-9 - _, "
                "such as us-tech"
            )
        text = self.description.strip() if isinstance(self.description, str) else ""
        if not text or len(text) > _LONGEST_DESCRIPTION:
            raise UsageError(
                f"the library {self.name} needs a description of 1 to {_LONGEST_DESCRIPTION} "
                "characters; it tells a model what belongs there"
            )
        object.__setattr__(self, "description", " ".join(text.split()))

    @property
    def scope(self) -> str:
        """The description as it stands within a sentence: without a full stop at its end."""
        return self.description.rstrip(".") or self.description

    @property
    def suffix(self) -> str:
        """What tells its tools from those of other libraries: ``us_tech``."""
        return self.name.replace("-", "_")

    @property
    def place(self) -> str:
        """Where it is kept, the same for every spelling of one path."""
        path = getattr(self.memory.journal, "path", None)
        if path is not None:
            return str(os.path.realpath(path))
        name = getattr(self.memory.journal, "name", "")  # of a database, without its password
        return str(name) or f"memory {id(self.memory.journal)}"


def open_libraries(
    tables: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    folder: Path | None = None,
    prices: "PriceSource | None" = None,
    settings: Settings | None = None,
    clock: Clock | None = None,
) -> dict[str, Library]:
    """The libraries that settings declare, by name, each opened.

    Args:
        tables: by name, a table with ``log`` and ``description``, and perhaps ``access``
            (``add`` by default) and ``tenant``; by default those of the settings file.
        folder: from which relative paths of logs start; that of the settings file, or else the
            working folder, by default.
        prices: see :class:`~tradmem.memory.Memory`, for all of them.
        settings: for all of them.
        clock: for all of them.

    Raises:
        UsageError: a table cannot be, a library to read is not there, two names make one tool
            name, or two tenants share a log.
    """
    if tables is None:
        said = load()
        tables, settings = said.libraries, settings or said.settings
        folder = folder or (said.path.parent if said.path else None)
    found = {}
    for name, table in tables.items():
        log = _log(name, table, folder or Path())
        found[name] = Library(
            name=name,
            memory=Memory.open(log, prices=prices, settings=settings, clock=clock),
            description=table["description"],
            access=Access(table.get("access", Access.ADD)),
            tenant=table.get("tenant", ""),
            log=log,
        )
    check_apart(found.values())
    return found


def library_of(libraries: Mapping[str, Library], name: str) -> Library:
    """The library of a name.

    Raises:
        UsageError: there is none.
    """
    if name in libraries:
        return libraries[name]
    near = get_close_matches(name, libraries, n=1, cutoff=0)
    hint = f"the nearest is {near[0]}" if near else "none is set up; add a table [libraries.NAME]"
    raise UsageError(f"there is no library {name[:60]!r}; {hint}")


def check_apart(libraries: Iterable[Library]) -> None:
    """That libraries can serve side by side.

    Raises:
        UsageError: two names make one tool name, or two tenants share a log.
    """
    names: dict[str, str] = {}
    places: dict[object, Library] = {}
    for library in libraries:
        other = names.setdefault(library.suffix, library.name)
        if other != library.name:
            raise UsageError(
                f"the libraries {other} and {library.name} would have tools of one name; "
                "rename one of them"
            )
        for place in _places(library):
            first = places.setdefault(place, library)
            if first.tenant != library.tenant:
                raise UsageError(
                    f"the libraries {first.name} and {library.name} of two tenants share a log; "
                    "give each its own"
                )


def _places(library: Library) -> Iterator[object]:
    """What tells a log from all others: its path, and for one that is there the file itself."""
    yield library.place
    path = getattr(library.memory.journal, "path", None)
    if path is not None and path.exists():
        found = path.stat()
        yield found.st_dev, found.st_ino


def _log(name: str, table: Mapping[str, Any], folder: Path) -> str:
    """The path or address of a library's log.

    Raises:
        UsageError: the table cannot be, or a log to read is not there.
    """
    _check_table(name, table)
    log = str(table["log"])
    if "://" in log:
        return log
    path = folder / Path(log).expanduser()
    if table.get("access") == Access.READ and not path.exists():
        raise UsageError(
            f"the library {name} is to be read and its log {path} is not there; mend the path, "
            'or set access = "add" to begin one'
        )
    return str(path)


def _check_table(name: str, table: Mapping[str, Any]) -> None:
    if not isinstance(table, Mapping):
        raise UsageError(f"libraries.{name} is no table; write [libraries.{name}]")
    for key, value in table.items():
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1, cutoff=0)[0]
            raise UsageError(f"libraries.{name} has no key {key!r}; the nearest is {near}")
        if not isinstance(value, str) or (not value.strip() and key != "tenant"):
            raise UsageError(f"libraries.{name}.{key} is {value!r}; it is a text")
    for key in ("log", "description"):
        if key not in table:
            raise UsageError(f"the library {name} has no {key}; add one to [libraries.{name}]")
    access = table.get("access", Access.ADD)
    if access not in list(Access):
        raise UsageError(
            f"the access of the library {name} is {access!r}; choose one of {', '.join(Access)}"
        )

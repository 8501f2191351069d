"""The file that holds a project's settings: where it is found, and what stands in it.

``tradmem.toml``, or the table ``[tool.tradmem]`` of a ``pyproject.toml``.
"""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from tradmem.errors import UsageError

FILE = "tradmem.toml"
DEFAULT_LOG = "logs/memory.md"
DEFAULT_HORIZONS = (5,)
_PROJECT = "pyproject.toml"
# Without this a pyproject.toml need not be parsed.
_TABLE = re.compile(rb"\btool\s*\.\s*[\"']?tradmem\b|^\s*\[\s*tool\s*\]|^\s*tool\s*=", re.MULTILINE)


class SettingsFile(NamedTuple):
    """What a settings file says.

    Attributes:
        path: absolute; None where there is no file.
        table: its keys and tables, of a ``pyproject.toml`` those below ``[tool.tradmem]``.
    """

    path: Path | None = None
    table: Mapping[str, Any] = MappingProxyType({})

    def section(self, name: str) -> Mapping[str, Any]:
        """One of its tables; empty where it has none.

        Raises:
            UsageError: it is no table.
        """
        found = self.table.get(name, {})
        if not isinstance(found, Mapping):
            raise UsageError(f"{self.path}: {name} is no table; write it as [{name}]")
        return found

    def check_keys(self, keys: Collection[str], known: Collection[str], section: str = "") -> None:
        """See to it that each key of a table is one that is known.

        Raises:
            UsageError: one is not; the message names the nearest right one.
        """
        for key in keys:
            if key in known:
                continue
            near = nearest(key, known)
            place = f" in [{section}]" if section else ""
            raise UsageError(
                f"{self.path}: there is no setting {key!r}{place}; the nearest is {near!r}"
            )


def nearest(word: str, known: Collection[str], *, cutoff: float = 0.0) -> str:
    """The known word that looks most like another; empty if none looks alike by the cutoff."""
    from difflib import get_close_matches  # noqa: PLC0415 - where all is well, nothing needs it

    alike = {name.lower().replace("-", "_"): name for name in known}
    found = get_close_matches(word.lower().replace("-", "_"), list(alike), n=1, cutoff=cutoff)
    return alike[found[0]] if found else ""


def find_file(start: Path | None = None) -> SettingsFile:
    """The nearest settings file, in a folder or one above it.

    Looks no further than the root of the repository and the user's home. In one folder
    ``tradmem.toml`` comes before ``pyproject.toml``.

    Args:
        start: the folder; the working folder by default.

    Raises:
        UsageError: the file cannot be read, or is no TOML.
    """
    try:
        folder = (start or Path.cwd()).absolute()
    except FileNotFoundError:  # the working folder is gone
        return SettingsFile()
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home fails where there is none
    for place in (folder, *folder.parents):
        own, project = place / FILE, place / _PROJECT
        if own.is_file():
            return SettingsFile(path=own, table=_parsed(own, _content(own)))
        if project.is_file() and _TABLE.search(content := _content(project)):
            tools = _parsed(project, content).get("tool", {})
            table = tools.get("tradmem") if isinstance(tools, Mapping) else None
            if isinstance(table, Mapping):
                return SettingsFile(path=project, table=table)
        if str(place) == home or (place / ".git").exists():
            break
    return SettingsFile()


def is_silent(env: Mapping[str, str] = os.environ) -> bool:
    """Whether nothing but the log is set, as is usual: then all settings are the default ones.

    Raises:
        UsageError: there is a settings file that cannot be read.
    """
    says = any(name.startswith("TRADMEM_") and name != "TRADMEM_LOG" for name in env)
    return not says and find_file().path is None


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot read {path}: {reason}; mend it or move it away") from error


def _parsed(path: Path, content: bytes) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - where there is no file, nothing needs it

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no TOML: {' '.join(str(error).split())}") from error

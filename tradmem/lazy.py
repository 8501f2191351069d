"""Public names that are imported when they are first asked for: each costs only its user."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a package names ``__getattr__`` and ``__dir__``.

    Args:
        package: its full name.
        homes: by module below it, the names that live there, with blanks between them.
    """
    places = {name: f"{package}.{home}" for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name in places:
            found = getattr(import_module(places[name]), name)
            setattr(sys.modules[package], name, found)
            return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return get, names

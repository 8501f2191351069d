"""Somebody's graph: what ``langgraph.json`` declares, or ``module:attribute`` names.

The conventions are those of the LangGraph CLI: ``{"graphs": {"agent": "./agent.py:graph"}}``,
where the attribute is a compiled graph, a ``StateGraph``, or a function that makes one.
"""

import asyncio
import inspect
import json
import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tradmem.errors import UsageError
from tradmem.running.driving import Graph

CONFIG = "langgraph.json"


def find_graph(name: str | None, folder: Path) -> tuple[str, str] | None:
    """The name and the place of the graph that is meant; None for our own agent.

    Args:
        name: ``module:attribute``, ``path.py:attribute``, a name in the folder's
            ``langgraph.json``, or None for the only one there.
        folder: where to look.

    Raises:
        UsageError: there is no such graph, or it is not clear which.
    """
    if name and ":" in name:
        return name, name
    declared = _declared(folder / CONFIG)
    if name is None and not declared:
        return None
    names = ", ".join(sorted(declared)) or "none"
    if name is None and len(declared) > 1:
        raise UsageError(f"{CONFIG} declares several graphs ({names}); name one with --graph")
    chosen = name or next(iter(declared))
    if chosen not in declared:
        raise UsageError(
            f"there is no graph {chosen!r}: {CONFIG} here declares {names}; "
            "name one of them, or module:attribute"
        )
    return chosen, declared[chosen]


def load_graph(name: str, place: str, folder: Path) -> Graph:
    """Import a graph.

    Args:
        name: for messages.
        place: ``module:attribute`` or ``path.py:attribute``.
        folder: from which paths and modules are looked for.

    Raises:
        UsageError: it cannot be imported, or is no graph.
    """
    where, _, attribute = place.rpartition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        module = _by_path(folder / where) if _is_path(where) else import_module(where)
        found = getattr(module, attribute)
        compiled = _compiled(found)
    except UsageError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        which = name if name == place else f"{name} ({place})"
        raise UsageError(f"the graph {which} cannot be loaded: {reason}") from error
    if not hasattr(compiled, "invoke"):
        raise UsageError(
            f"{place} is no graph but {type(found).__name__}; name a compiled graph, "
            "a StateGraph, or a function that returns one"
        )
    return Graph(name, compiled)


def _declared(config: Path) -> dict[str, str]:
    """The graphs of a ``langgraph.json``, by name; its environment is taken over."""
    try:
        data = json.loads(config.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"cannot read {config}: {error}") from error
    graphs = data.get("graphs") if isinstance(data, dict) else None
    if not isinstance(graphs, dict):
        raise UsageError(
            f'{config} declares no graphs; write {{"graphs": {{"name": "path:attr"}}}}'
        )
    places: dict[str, str] = {}
    for name, given in graphs.items():
        place = given.get("path") if isinstance(given, dict) else given
        if not (isinstance(place, str) and ":" in place):
            raise UsageError(f"{config}: the graph {name!r} needs a place such as ./agent.py:graph")
        places[name] = place
    _take_environment(data.get("env"), config.parent)
    return places


def _take_environment(given: Any, folder: Path) -> None:
    """Set what the file names, itself or as a file of ``NAME=value`` lines; what is set stays."""
    if isinstance(given, str):
        try:
            lines = (folder / given).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {folder / given}: {error}") from error
        pairs = [line.removeprefix("export ").partition("=") for line in map(str.strip, lines)]
        given = {key.strip(): value.strip().strip("\"'") for key, _, value in pairs if value}
        given = {key: value for key, value in given.items() if not key.startswith("#")}
    for key, value in (given or {}).items() if isinstance(given, dict) else ():
        os.environ.setdefault(str(key), str(value))


def _is_path(where: str) -> bool:
    return where.endswith(".py") or "/" in where or os.sep in where


def _by_path(path: Path) -> ModuleType:
    name = f"_graph_{path.stem}"  # not the stem itself, which may be the name of a module
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"there is no file {path}; {CONFIG} or --graph names it")
    module = module_from_spec(spec)
    sys.modules[name] = module  # a dataclass looks for its module here
    spec.loader.exec_module(module)
    return module


def _compiled(found: Any) -> Any:
    """The compiled graph that an attribute is, or makes."""
    if callable(found) and not hasattr(found, "invoke") and not hasattr(found, "compile"):
        takes = [p for p in inspect.signature(found).parameters.values() if p.default is p.empty]
        made = found({"configurable": {}}) if takes else found()
        found = asyncio.run(made) if inspect.iscoroutine(made) else made
    if not hasattr(found, "invoke") and hasattr(found, "compile"):
        return found.compile()
    return found

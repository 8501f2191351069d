"""Whether what a thread holds was written by the run that goes on in it, or by an earlier one."""

import hashlib
from collections.abc import Mapping
from typing import Any

from tradmem.plugin.loop import Key
from tradmem.plugin.states import text_of
from tradmem.plugin.streams import reduced


def begun(
    channels: Mapping[str, Any],
    versions: Mapping[str, Any],
    state: Mapping[str, Any],
    given: Mapping[str, Any],
    answers: Mapping[str, Key],
) -> Mapping[str, str]:
    """What there is of each answer when a run begins, in short.

    A key that nobody has written since is at its version still, also where the same was written.
    What the input sets, and what a function reads, is known by its text alone.

    Args:
        channels: of the graph.
        versions: of the channels in the thread, before the run's input.
        state: of the thread by then.
        given: the run's input.
        answers: the names of what the memory reads from a graph's state, and by which keys.
    """
    shown = dict(state)
    for name, value in given.items():
        shown[name] = reduced(channels.get(name), shown, name, value)
    found = {}
    for name, key in answers.items():
        if isinstance(key, str) and key not in channels:
            continue  # what the graph returns is of this run
        by_version = isinstance(key, str) and key not in given
        found[name] = _version(versions, key) if by_version else _digest(shown, key)
    return {name: mark for name, mark in found.items() if mark}


def written(
    before: Mapping[str, str],
    versions: Mapping[str, Any],
    state: Mapping[str, Any],
    answers: Mapping[str, Key],
) -> frozenset[str]:
    """The answers that were written since; those too of which nothing is known.

    Args:
        before: what :func:`begun` gave.
        versions: of the channels by now.
        state: of the thread by now.
        answers: as in :func:`begun`.
    """
    return frozenset(
        name
        for name, key in answers.items()
        if before.get(name) not in (_version(versions, key), _digest(state, key))
    )


def _version(versions: Mapping[str, Any], key: Key) -> str:
    return f"v{versions.get(key)}" if isinstance(key, str) else ""


def _digest(state: Mapping[str, Any], key: Key) -> str:
    """A text in short; empty where none can be read."""
    try:
        text = text_of(state.get(key) if isinstance(key, str) else key(state))
    except Exception:  # noqa: BLE001 - it was written for what a whole run returns
        return ""
    return "t" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

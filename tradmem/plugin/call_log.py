"""The log of calls: one JSON line for each, without anything that was said in it."""

import json
import logging
import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tradmem.clock import Clock, format_instant, system_clock
from tradmem.errors import LogError

logger = logging.getLogger("tradmem.plugin")
_LONGEST = 200  # characters of a value
_TOKEN = re.compile(r"tradmem_[A-Za-z0-9_-]{20,}")  # should a client name a thing by one


class CallLog:
    """Appends a line for every call: when, who, what, how it came out and how long it took.

    Neither tokens nor texts are written; of arguments only their names and lengths. A line
    is one write, so several servers may share a file. It is not synced to the disk.

    Args:
        path: the file; made with its folder, for its owner alone.
        clock: stamps the lines.

    Raises:
        LogError: it cannot be written.
    """

    def __init__(self, path: Path, *, clock: Clock = system_clock) -> None:
        self.path = path
        self._clock = clock
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError as error:
            raise LogError(f"cannot write the log of calls {path}: {error.strerror}") from error

    def write(self, **values: Any) -> None:
        """Append a line; a failure is logged and stops nothing."""
        line = {"at": format_instant(self._clock()), **values}
        data = json.dumps(_short(line), ensure_ascii=True, default=str) + "\n"
        data = _TOKEN.sub("(a token)", data)
        try:
            with self._lock:
                os.write(self._descriptor, data.encode())
        except OSError:
            logger.exception("cannot write the log of calls %s", self.path)


def sizes(arguments: Mapping[str, Any] | None) -> dict[str, int]:
    """By the names of arguments, how long each is as text."""
    found = list((arguments or {}).items())[:20]
    return {
        str(name)[:40]: len(value if isinstance(value, str) else repr(value))
        for name, value in found
    }


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, Mapping):
        return {key: _short(item) for key, item in value.items()}
    return value

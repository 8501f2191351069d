"""Files that stand beside a log and belong to it alone."""

import json
import os
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from tradmem.errors import LogError


def beside(log: str | os.PathLike[str], suffix: str) -> Path:
    """A file beside a log, named after it: two logs in one folder share none.

    A log that is a link has its files beside the file that it leads to, as its lock is,
    so that all names of one log lead to the same.

    Args:
        log: its path.
        suffix: what comes after the log's whole name, such as ``.runs.jsonl``.
    """
    path = Path(log)
    real = Path(os.path.realpath(path)) if path.is_symlink() else path
    return real.parent / (real.name + suffix)


def json_lines(path: Path, what: str) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines, none if it is not there; other lines are passed over.

    Args:
        path: the file.
        what: what it holds, in words.

    Raises:
        LogError: it cannot be read.
    """
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise LogError(f"cannot read {what} in {path}: {reason}") from error
    for line in lines:
        try:
            record = json.loads(line, parse_float=_finite, parse_constant=_finite)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _finite(text: str) -> float | None:
    """A number; None for what no JSON can say again, such as NaN."""
    number = float(text)
    return number if isfinite(number) else None

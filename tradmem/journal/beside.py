"""Files that stand beside a log and belong to it alone."""

import os
from pathlib import Path


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
    return real.with_name(real.name + suffix)

"""Garbage collection while a replay grows a large memory, none of which is garbage."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = 500  # collections of what is young, before one goes through all that there is
_lock = threading.Lock()
_within = 0
_before = (0, 0, 0)


@contextmanager
def rarely_all() -> Iterator[None]:
    """Within, everything is gone through seldom; what is young as often as ever.

    So cycles that a decision makes and drops go as they always do. It holds for the whole
    process, until the last of those that are within at once has left.
    """
    global _within, _before  # noqa: PLW0603 - of the process, as the collector is
    with _lock:
        if not _within:
            _before = gc.get_threshold()
            gc.set_threshold(*_before[:2], max(_before[2], _SELDOM))
        _within += 1
    try:
        yield
    finally:
        with _lock:
            _within -= 1
            if not _within:
                gc.set_threshold(*_before)

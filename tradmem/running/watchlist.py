"""Which tickers a daily run is about: a plain file of them."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from tradmem.errors import UsageError
from tradmem.tickers import check_ticker

_BETWEEN = re.compile(r"[\s,;]+")


def read_watchlist(path: str | Path) -> tuple[str, ...]:
    """The tickers in a file: any number a line, blanks or commas between them, ``#`` a remark.

    Args:
        path: the file; ``-`` for what is piped in.

    Raises:
        UsageError: it cannot be read, holds no ticker, or a word that is none.
    """
    where = "the watchlist on standard input" if str(path) == "-" else str(path)
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "").lower() or "it is no UTF-8 text"
        raise UsageError(f"cannot read the watchlist {where}: {reason}") from error
    found: dict[str, None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        for word in _BETWEEN.split(line.partition("#")[0]):
            if word:
                found[_ticker(word, f"{where}:{number}: ")] = None
    if not found:
        raise UsageError(f"{where} names no ticker; write one a line")
    return tuple(found)


def tickers_of(*groups: Iterable[str]) -> tuple[str, ...]:
    """Tickers from several places in upper case, each once, in their order.

    Raises:
        UsageError: one of them can be none.
    """
    return tuple(dict.fromkeys(check_ticker(name) for group in groups for name in group))


def _ticker(word: str, where: str) -> str:
    try:
        return check_ticker(word)
    except UsageError as error:
        raise UsageError(f"{where}{error}") from error

"""Where commands print to: streams that take any text, a terminal that no text can drive."""

import codecs
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TextIO

import click

from tradmem.clock import format_instant

# What could drive a terminal: control characters, other line ends, changes of direction.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_PLAIN = {"…": "...", "±": "+/-", "·": "-", "\u2013": "-", "\u2014": "-", "\u2019": "'"}
_CONCEALED: dict[str, str] = {}
_PIPE_WIDTH = 100  # columns where no terminal says how many it has


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Write what an encoding lacks in plain words, or else as an escape."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    escaped = (_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in text)
    return "".join(escaped), error.end


codecs.register_error("tradmem-plain", _plain)


def fit_streams() -> None:
    """Let output never fail: for a character that cannot be shown, or for want of a stream."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # the caller has closed it
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="tradmem-plain")


def safe(text: str) -> str:
    """A text from a log, unable to drive the terminal that shows it."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def conceal(secret: str, shown: str) -> None:
    """Let a text that holds a password never be printed; ``shown`` stands in."""
    if secret != shown:
        _CONCEALED[secret] = shown


def _without_secrets(text: str) -> str:
    for secret, shown in _CONCEALED.items():
        text = text.replace(secret, shown)
    return text


def say(text: str) -> None:
    """A remark for the person in front of the screen: one line on stderr."""
    sys.stdout.flush()
    line = safe(" ".join(_without_secrets(text).split()))
    click.echo(f"tradmem: {line}", file=sys.stderr)


def write(text: str = "") -> None:
    """A line on stdout, with its colours where they are seen."""
    click.echo(_without_secrets(text), file=sys.stdout, color=colours(sys.stdout))


def write_exactly(text: str) -> None:
    """A text on stdout as it is; on a terminal, unable to drive it."""
    sys.stdout.write(safe(text) if sys.stdout.isatty() else text)


def json_safe(text: str) -> str:
    """JSON that says the same, unable to drive the terminal that shows it."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def write_json(items: Iterable[Mapping[str, Any]]) -> None:
    """One JSON array, ASCII unless the output takes any character."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    text = json.dumps(list(items), ensure_ascii=encoding != "utf8", indent=2, allow_nan=False)
    sys.stdout.write(json_safe(_without_secrets(text)) + "\n")


def colours(stream: TextIO) -> bool:
    """Whether colours are wanted (``FORCE_COLOR``, ``NO_COLOR``) or else can be seen."""
    if os.environ.get("FORCE_COLOR"):
        return True
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def width() -> int:
    """The columns of the terminal that is likely to show what is printed."""
    if os.environ.get("COLUMNS", "").isdigit() and int(os.environ["COLUMNS"]):
        return int(os.environ["COLUMNS"])
    for stream in (sys.__stdout__, sys.__stderr__):
        try:
            return os.get_terminal_size(stream.fileno()).columns if stream else _PIPE_WIDTH
        except (OSError, ValueError):
            continue
    return _PIPE_WIDTH


def write_csv(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Rows as CSV, the names first: ISO dates, fractions, nothing for None, lists by spaces."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    on_screen = sys.stdout.isatty()
    writer.writerow(names)
    for row in rows:
        fields = [_field(row[name]) for name in names]
        writer.writerow(
            [safe(value) if on_screen and isinstance(value, str) else value for value in fields]
        )


def _field(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_instant(value)
    from tradmem.rows import harmless

    if isinstance(value, tuple):
        value = " ".join(value)
    return harmless(value) if isinstance(value, str) else value

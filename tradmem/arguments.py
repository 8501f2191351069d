"""What callers hand in: refused in one line where it is of the wrong kind."""

from collections.abc import Iterable
from enum import StrEnum
from math import inf
from sys import maxsize
from threading import TIMEOUT_MAX
from typing import TypeVar

from tradmem.errors import UsageError

_Choice = TypeVar("_Choice", bound=StrEnum)


def check_text(value: object, what: str) -> str:
    """A text.

    Args:
        value: as it was handed in.
        what: how it is called in the message, such as ``the text of a note``.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(value, str):
        raise UsageError(f"{what} is {_shown(value)}; hand in a string")
    return value


def check_seconds(value: float, what: str) -> float:
    """A number of seconds from 0 on; longer than can be waited is as long as can be.

    Raises:
        UsageError: it is none.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 <= value < inf):
        raise UsageError(f"{what} is {_shown(value)}; it is a number of seconds from 0 on")
    return min(value, TIMEOUT_MAX)


def check_count(value: int, what: str) -> int:
    """How many; more than there can be is as many as there can be.

    Raises:
        UsageError: it is no whole number from 0 on.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UsageError(f"{what} is {_shown(value)}; it is a whole number from 0 on")
    return min(value, maxsize)


def check_list(value: Iterable[str] | None, what: str) -> tuple[str, ...]:
    """Several texts, or one; nothing for None.

    Raises:
        UsageError: it is something else.
    """
    if value is None or isinstance(value, str):
        return () if value is None else (value,)
    if not isinstance(value, Iterable):
        raise UsageError(f"{what} is {_shown(value)}; hand in a list of strings")
    return tuple(check_text(each, what) for each in value)


def check_choice(kind: type[_Choice], value: str, what: str) -> _Choice:
    """A member of a closed set, in any case.

    Raises:
        UsageError: it is none of them.
    """
    try:
        return kind(value)
    except ValueError:  # it is written otherwise, or none
        pass
    for member in kind:
        if str(value).lower() == member.value.lower():
            return member
    choices = ", ".join(member.value for member in kind)
    raise UsageError(f"{value!r} is no {what}; choose one of {choices}")


def _shown(value: object) -> str:
    return " ".join(repr(value).split())[:60]

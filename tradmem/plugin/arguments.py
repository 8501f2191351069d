"""The arguments of the tools: their schemas, and how they are read.

A model sends what it likes. What a schema names is read strictly, and a misspelt name is told;
everything else is ignored.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any, NamedTuple

from tradmem.clock import as_instant
from tradmem.errors import UsageError
from tradmem.model import Rating
from tradmem.tickers import MARKET, check_ticker

MOST_CONTENT = 20_000  # characters of a note or a decision
MOST_QUERY = 2_000
_NEAR = 0.8  # of 1: `tickr`, `Ticker` and `tickers` are near to `ticker`


class Argument(NamedTuple):
    """An argument and its JSON schema."""

    name: str
    spec: Mapping[str, Any]


QUERY = Argument(
    "query",
    {
        "type": "string",
        "maxLength": MOST_QUERY,
        "description": "What you want to know, in words or as a question.",
    },
)
ABOUT = Argument(
    "query",
    {
        "type": "string",
        "maxLength": MOST_QUERY,
        "description": "What the decision is about; with it the most relevant come first.",
    },
)
TICKER = Argument(
    "ticker",
    {
        "type": "string",
        "maxLength": 40,
        "description": "The one ticker that it is about, such as NVDA; leave it out if none.",
    },
)
DATE = Argument(
    "date",
    {
        "type": "string",
        "maxLength": 40,
        "description": "YYYY-MM-DD: only what was known on that date; now by default.",
    },
)
CONTENT = Argument(
    "content",
    {
        "type": "string",
        "minLength": 1,
        "maxLength": MOST_CONTENT,
        "description": "What to remember, with its date: '2026-01-05: NVDA raised guidance.'",
    },
)
DECISION = Argument(
    "decision",
    {
        "type": "string",
        "minLength": 1,
        "maxLength": MOST_CONTENT,
        "description": "The decision and its reasons, as text.",
    },
)
RATING = Argument(
    "rating",
    {
        "type": "string",
        "enum": [rating.value for rating in Rating],
        "description": "The rating; read from the text where it is left out.",
    },
)


def schema(*arguments: Argument, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON schema of an object with some arguments."""
    return {
        "type": "object",
        "properties": {name: dict(spec) for name, spec in arguments},
        "required": list(required),
    }


def misspelt(arguments: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """What seems to stand for an argument that is missing, with the name of that argument."""
    known = list(names)
    missing = [name for name in known if name not in arguments]
    near = {
        given: get_close_matches(str(given).lower(), missing, n=1, cutoff=_NEAR)
        for given in arguments
        if given not in known
    }
    return {given: found[0] for given, found in near.items() if found}


def text_of(arguments: Mapping[str, Any], argument: Argument, *, required: bool = True) -> str:
    """A text; empty where it may be left out and is.

    Raises:
        UsageError: it is missing, no text, or too long.
    """
    name, value = argument.name, arguments.get(argument.name)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise UsageError(f"{name} is missing or no text")
    if required and not value.strip():
        raise UsageError(f"{name} is empty")
    most = int(argument.spec["maxLength"])
    if len(value) > most:
        raise UsageError(f"{name} has {len(value)} characters; {most} is the most")
    return value


def ticker_of(arguments: Mapping[str, Any], *, required: bool = False) -> str | None:
    """A ticker in upper case; None where none, or the whole market, is meant.

    Raises:
        UsageError: it can be no ticker, or is missing.
    """
    given = text_of(arguments, TICKER, required=required).strip()
    return None if given in ("", MARKET) and not required else check_ticker(given)


def date_of(arguments: Mapping[str, Any], now: datetime) -> str | None:
    """A date as it was given; None for now, for want of one or because it has not passed.

    Raises:
        UsageError: it is no date.
    """
    given = text_of(arguments, DATE, required=False).strip()
    if not given or as_instant(given, now) >= now:
        return None
    return given

"""Options that several commands share, one decorator each."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from math import isfinite
from typing import Any

import click

from tradmem.clock import parse_date
from tradmem.errors import TradmemError, UsageError
from tradmem.opening import is_database
from tradmem.settings_file import DEFAULT_LOG, is_silent


class Amount(click.FloatRange):
    """A number from 0 on; ``nan`` and ``inf`` are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value!r} is no number from 0 on.", param, ctx)
        return found


AMOUNT = Amount(min=0)


def _set(key: str) -> Callable[[], str]:
    """What the settings file says of a key, asked when an option is not given."""

    def look() -> str:
        from tradmem.cli.opening import configuration

        if key == "log" and is_silent():  # or else half of the settings would be loaded for it
            return DEFAULT_LOG
        try:
            return str(getattr(configuration(), key))
        except TradmemError:
            if click.get_current_context().resilient_parsing:  # the Tab key wants no errors
                return ""
            raise

    return look


def _note_log(_: click.Context, __: click.Parameter, name: str) -> str:
    """The log that is meant; see to it that the password of a database is never printed."""
    if not name:
        return DEFAULT_LOG
    if is_database(name):
        from tradmem.cli.output import conceal
        from tradmem.journal.postgres.place import where

        conceal(name, where(name).shown)
    return name


log = click.option(
    "--log",
    metavar="PATH|URL",
    callback=_note_log,
    envvar="TRADMEM_LOG",
    show_envvar=True,
    default=_set("log"),
    show_default=DEFAULT_LOG,
    help="The log file, or postgresql://user@host/database.",
)


def login() -> str:
    """Who is logged in; empty where the system does not know."""
    from getpass import getuser

    try:
        return getuser()
    except (ImportError, KeyError, OSError):
        return ""


reason = click.option(
    "--reason", required=True, metavar="TEXT", help="Why; it is kept with the entry."
)
actor = click.option(
    "--actor",
    metavar="NAME",
    envvar="TRADMEM_ACTOR",
    show_envvar=True,
    default=lambda: _set("actor")() or login(),
    show_default="your login name",
    help="Who asks for it; kept with the entry.",
)
dry_run = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON array of objects.")
as_of = click.option(
    "--as-of",
    metavar="WHEN",
    help="Only what was known then: a date, or an instant like 2026-01-05T15:04:05Z.",
)
prices = click.option(
    "--prices",
    metavar="SOURCE",
    envvar="TRADMEM_PRICES",
    show_envvar=True,
    default=_set("prices"),
    show_default="yahoo",
    help="Where closes come from: yahoo, demo, or a .csv, .csv.gz or .parquet file.",
)
reflector = click.option(
    "--reflector",
    type=click.Choice(["auto", "openai", "template"]),
    envvar="TRADMEM_REFLECTOR",
    show_envvar=True,
    default=_set("reflector"),
    show_default="auto",
    help="Who writes the lessons; auto asks a model where a key or a server is set.",
)
benchmark = click.option(
    "--benchmark",
    metavar="TICKER",
    envvar="TRADMEM_BENCHMARK",
    show_envvar=True,
    help="What returns are measured against; by default each market's own, or none.",
)

_BACK = re.compile(r"([0-9]{1,4})([dw])\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


def days(today: date, *texts: str | None) -> list[date | None]:
    """What :func:`day` makes of each; None of what is not given."""
    return [day(text, today) if text else None for text in texts]


def day(text: str, today: date) -> date:
    """A date, or so many days or weeks before today.

    Raises:
        UsageError: the text is neither.
    """
    found = _BACK.match(text)
    if found:
        return today - timedelta(days=int(found[1]) * (7 if found[2] == "w" else 1))
    if not _DATE.match(text):
        raise UsageError(f"{text!r} is no date; write it like 2026-01-05, or 7d for a week back")
    return parse_date(text)

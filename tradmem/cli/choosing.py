"""The options that choose entries, shared by the commands that list or take them out."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, TypeVar

import click

from tradmem.cli import options
from tradmem.cli.completing import tickers
from tradmem.errors import UsageError
from tradmem.journal.tagline import UNRATED
from tradmem.model import Entry, Rating, Status, Verdict
from tradmem.tickers import MARKET, check_ticker

Test = Callable[[Entry], bool]
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _choice(values: Sequence[str]) -> click.Choice[str]:
    return click.Choice(list(values), case_sensitive=False)


_OPTIONS = (
    click.option(
        "--ticker",
        "-t",
        multiple=True,
        metavar="TICKER",
        shell_complete=tickers,
        help="Only these tickers.",
    ),
    click.option("--status", "-s", multiple=True, type=_choice([*Status]), help="Only these."),
    click.option("--rating", "-r", multiple=True, type=_choice([*Rating, UNRATED])),
    click.option("--verdict", "-v", multiple=True, type=_choice([*Verdict])),
    click.option("--agent", "-a", multiple=True, metavar="NAME", help="Only of these agents."),
    click.option("--since", metavar="DATE", help="Decided then or later; 7d and 2w count back."),
    click.option("--until", metavar="DATE", help="Decided then or earlier."),
    click.option("--known-since", metavar="DATE", help="Whose outcome came then or later."),
    click.option(
        "--grep", "-g", metavar="REGEX", help="Only those whose texts match, in any case."
    ),
)
NAMES = ("ticker", "status", "rating", "verdict", "agent", "since", "until", "known_since", "grep")


def filters(command: _Command) -> _Command:
    """Give a command the options that choose entries; it takes them as ``**filters``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def conditions(
    today: date,
    *,
    ticker: Sequence[str],
    status: Sequence[str],
    rating: Sequence[str],
    verdict: Sequence[str],
    agent: Sequence[str],
    since: str | None,
    until: str | None,
    known_since: str | None,
    grep: str | None,
) -> Sequence[Test]:
    """What an entry has to pass; of each filter given more than once, any one will do.

    Raises:
        UsageError: a filter can match nothing.
    """
    found: list[Test] = []
    names = {name if name == MARKET else check_ticker(name) for name in ticker}
    if names:
        found.append(lambda entry: entry.ticker in names)
    if status:
        found.append(lambda entry: entry.status in status)
    if rating:
        found.append(lambda e: not e.recorded.is_note and str(e.rating or UNRATED) in rating)
    if verdict:
        found.append(lambda entry: entry.verdict in verdict)
    if agent:
        found.append(lambda entry: entry.agent in agent)
    if since:
        first = options.day(since, today)
        found.append(lambda entry: entry.date >= first)
    if until:
        last = options.day(until, today)
        found.append(lambda entry: entry.date <= last)
    if known_since:
        start = options.day(known_since, today)
        found.append(lambda e: bool(e.outcome and e.outcome.known_on >= start))
    if grep:
        pattern = _pattern(grep)
        found.append(lambda entry: any(map(pattern.search, _texts(entry))))
    return found


def _texts(entry: Entry) -> tuple[str, ...]:
    return (entry.decision, entry.reflection, entry.note, entry.reason)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise UsageError(f"--grep {text!r} is no regular expression: {error}") from error

"""``log``: list entries, the newest first, and where they are."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import click

from tradmem.cli import options
from tradmem.cli.listing import entry_lines
from tradmem.cli.opening import is_there, now, open_file, open_journal
from tradmem.cli.output import say, width, write, write_csv, write_json
from tradmem.clock import as_instant
from tradmem.errors import UsageError
from tradmem.journal.tagline import UNRATED
from tradmem.model import MARKET, Entry, Rating, Status, Verdict, check_ticker

_SHOWN = 20  # lines that a screen holds beside what was typed
_Test = Callable[[Entry], bool]


class _Log(click.Group):
    """A group whose first word may be left out: it lists."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Log)
def log() -> None:
    """List decisions, the newest first."""


def _choice(values: Sequence[str]) -> click.Choice[str]:
    return click.Choice(list(values), case_sensitive=False)


@log.command("list", epilog="`tradmem log path` prints where the log is.")
@click.option("--ticker", "-t", multiple=True, metavar="TICKER", help="Only these tickers.")
@click.option("--status", "-s", multiple=True, type=_choice([*Status]), help="Only these.")
@click.option("--rating", "-r", multiple=True, type=_choice([*Rating, UNRATED]))
@click.option("--verdict", "-v", multiple=True, type=_choice([*Verdict]))
@click.option("--agent", "-a", multiple=True, metavar="NAME", help="Only of these agents.")
@click.option("--since", metavar="DATE", help="Decided then or later; 7d and 2w count back.")
@click.option("--until", metavar="DATE", help="Decided then or earlier.")
@click.option("--grep", "-g", metavar="REGEX", help="Only those whose texts match, in any case.")
@click.option(
    "--limit", "-n", type=click.IntRange(min=0), metavar="N", help="How many; 0 is all of them."
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, one line per entry.")
@options.as_json
@options.as_of
@options.log
def list_entries(
    *,
    log: str,
    as_of: str | None,
    limit: int | None,
    as_json: bool,
    as_csv: bool,
    **filters: Any,
) -> None:
    """List decisions, the newest first.

    Shows the newest 20, unless --limit, --json or --csv is given. LESSON is what an entry
    teaches; `tradmem show ID` tells everything of one.
    """
    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other; give one of them")
    if limit is None:
        limit = 0 if as_json or as_csv else _SHOWN
    entries, more = _select(log, as_of, limit, filters)
    if as_json:
        from tradmem.rows import as_json as json_of

        write_json(json_of(entry) for entry in entries)
    elif as_csv:
        from tradmem.rows import COLUMNS, as_row

        write_csv(COLUMNS, (as_row(entry) for entry in entries))
    else:
        for line in entry_lines(entries, width()):
            write(line)
        _remark(log, entries, more, is_filtered=any(filters.values()))


@log.command()
@options.log
def path(*, log: str) -> None:
    """Print the path of the log."""
    write(str(open_file(log, "has a path").path.absolute()))


def _select(
    log: str, as_of: str | None, limit: int, filters: dict[str, Any]
) -> tuple[list[Entry], bool]:
    """The entries that are wanted, the newest first, and whether there are more."""
    journal = open_journal(log)
    tests = list(_tests(now().date(), **filters))
    if limit and not tests and as_of is None:
        found = [entry.by(now()) for entry in journal.latest(limit + 1)[::-1]]
    else:
        found = [entry.by(now()) for entry in journal.entries()[::-1]]
        if as_of is not None:
            instant = as_instant(as_of, now())
            found = [then for entry in found if (then := entry.at(instant))]
        found = [entry for entry in found if all(test(entry) for test in tests)]
    return found[: limit or None], bool(limit) and len(found) > limit


def _tests(
    today: date,
    *,
    ticker: Sequence[str],
    status: Sequence[str],
    rating: Sequence[str],
    verdict: Sequence[str],
    agent: Sequence[str],
    since: str | None,
    until: str | None,
    grep: str | None,
) -> "Sequence[_Test]":
    """What an entry has to pass; of each filter given more than once, any one will do.

    Raises:
        UsageError: a filter can match nothing.
    """
    tests: list[_Test] = []
    tickers = {name if name == MARKET else check_ticker(name) for name in ticker}
    if tickers:
        tests.append(lambda entry: entry.ticker in tickers)
    if status:
        tests.append(lambda entry: entry.status in status)
    if rating:
        tests.append(lambda e: not e.recorded.is_note and str(e.rating or UNRATED) in rating)
    if verdict:
        tests.append(lambda entry: entry.verdict in verdict)
    if agent:
        tests.append(lambda entry: entry.agent in agent)
    if since:
        first = options.day(since, today)
        tests.append(lambda entry: entry.date >= first)
    if until:
        last = options.day(until, today)
        tests.append(lambda entry: entry.date <= last)
    if grep:
        pattern = _pattern(grep)
        tests.append(lambda entry: any(map(pattern.search, _texts(entry))))
    return tests


def _texts(entry: Entry) -> tuple[str, ...]:
    return (entry.decision, entry.reflection, entry.note, entry.reason)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise UsageError(f"--grep {text!r} is no regular expression: {error}") from error


def _remark(log: str, entries: Sequence[Entry], more: bool, *, is_filtered: bool) -> None:
    if more:
        say(f"these are the newest {len(entries)}; --limit 0 shows all")
    elif not entries and not is_there(log):
        say(f"there is no log at {log} yet; `tradmem record` or `tradmem run` starts one")
    elif not entries:
        say(f"no entry of {log} matches" if is_filtered else f"{log} holds no entry")

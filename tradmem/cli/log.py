"""``log``: list entries, the newest first, and where they are."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tradmem.cli import choosing, options
from tradmem.cli.completing import tickers as known_tickers
from tradmem.cli.listing import entry_lines
from tradmem.cli.opening import is_there, no_log, now, open_file, open_journal
from tradmem.cli.output import say, width, write, write_csv, write_json
from tradmem.cli.paging import edit as open_editor
from tradmem.cli.paging import write_paged
from tradmem.clock import as_instant
from tradmem.errors import LogError, UsageError
from tradmem.journal.files import refuse
from tradmem.journal.markdown import MarkdownJournal
from tradmem.model import Entry

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_SHOWN = 20  # lines that a screen holds beside what was typed


class _Log(click.Group):
    """A group whose first word may be left out: it lists."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)
        if not args or args[0] not in self.commands:
            args = ["list", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """What may follow: a command, or what the one that may be left out takes."""
        listing = self.commands["list"]
        below = click.Context(listing, parent=ctx, info_name="list", resilient_parsing=True)
        found = super().shell_complete(ctx, incomplete) + listing.shell_complete(below, incomplete)
        if not incomplete.startswith("-"):
            found += known_tickers(below, listing.params[0], incomplete)
        return list({item.value: item for item in found}.values())


class _Listing(click.Context):
    """Of the command whose word may be left out: help and errors leave it out."""

    @property
    def command_path(self) -> str:
        assert self.parent is not None
        return self.parent.command_path


@click.group(cls=_Log)
def log() -> None:
    """List decisions, the newest first."""


_EXAMPLES = """\b
Examples:
  tradmem log -v wrong --known-since 7d    what went wrong last week
  tradmem log NVDA -s pending              what NVDA waits for
  tradmem log --csv > decisions.csv        all of it for a spreadsheet
  tradmem log path, tradmem log edit       where the log is; open it"""


@log.command("list", epilog=_EXAMPLES)
@click.argument("tickers", nargs=-1, metavar="[TICKER]...", shell_complete=known_tickers)
@choosing.filters
@click.option(
    "--limit", "-n", type=click.IntRange(min=0), metavar="N", help="How many; 0 is all of them."
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, one line per entry.")
@click.option("--no-pager", is_flag=True, help="Print all at once, however long it is.")
@options.as_json
@options.as_of
@options.log
def list_entries(
    *,
    tickers: tuple[str, ...],
    log: str,
    as_of: str | None,
    limit: int | None,
    as_json: bool,
    as_csv: bool,
    no_pager: bool,
    **filters: Any,
) -> None:
    """List decisions, the newest first.

    Of all tickers, or only of those that are named. Shows the newest 20, unless --limit,
    --json or --csv is given. LESSON, where there is room for it, is what an entry teaches;
    `tradmem show ID` tells everything of one.
    """
    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other; give one of them")
    if limit is None:
        limit = 0 if as_json or as_csv else _SHOWN
    filters["ticker"] += tickers
    entries, more = _select(log, as_of, limit, filters)
    if as_json:
        from tradmem.rows import as_json as json_of

        write_json(json_of(entry) for entry in entries)
    elif as_csv:
        from tradmem.rows import COLUMNS, as_row

        write_csv(COLUMNS, (as_row(entry) for entry in entries))
    else:
        write_paged(entry_lines(entries, width()), wanted=not no_pager)
        _remark(log, entries, more, is_filtered=any(filters.values()))


@log.command()
@options.log
def path(*, log: str) -> None:
    """Print the path of the log."""
    write(str(open_file(log, "has a path").path.absolute()))


@log.command()
@options.log
@click.pass_context
def edit(context: click.Context, *, log: str) -> Any:
    """Open the log in the editor, and check it afterwards.

    The editor is what VISUAL or EDITOR names; it gets a copy, and what you change in it
    counts. Whatever others record or resolve meanwhile is joined with it, so nothing is lost
    however long it takes.
    """
    from tradmem.cli.check import check

    journal = open_file(log, "can be opened in an editor")
    if not is_there(log):
        raise UsageError(no_log(log))
    _edit(journal)
    return context.invoke(check, fix=False, dry_run=False, log=log, as_json=False)


def _edit(journal: MarkdownJournal) -> None:
    """Let a person change a copy of the log, and join it with what the log is by then."""
    from tempfile import TemporaryDirectory

    from tradmem.exchange.merge import merge

    try:
        before = journal.path.read_bytes()
    except OSError as error:
        refuse("read", journal.path, error)
    with TemporaryDirectory(prefix="tradmem-") as folder:
        copy = Path(folder) / journal.path.name
        copy.write_bytes(before)
        open_editor(copy)
        after = _left(copy, before)
    if after == before:
        return
    conflicts: list[str] = []

    def change(now: bytes) -> bytes:
        if now == before:
            return after
        found = merge(after, before, now)
        conflicts.extend(found.conflicts)
        return found.data

    journal.revise(change)
    for conflict in conflicts:
        say(conflict)


def _left(copy: Path, before: bytes) -> bytes:
    """What an editor left of a log.

    Raises:
        LogError: nothing, or no text; then the log stays as it is.
    """
    from tradmem.journal.format import check_encoding

    try:
        data = copy.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise LogError(f"the editor left no file: {reason}; the log is as it was") from error
    if before.strip() and not data.strip():
        raise LogError("the editor left an empty file; the log is as it was")
    if data != before:
        check_encoding(data, f"what the editor left of {copy.name}")
    return data


list_entries.context_class = _Listing


def _select(
    log: str, as_of: str | None, limit: int, filters: dict[str, Any]
) -> tuple[list[Entry], bool]:
    """The entries that are wanted, the newest first, and whether there are more."""
    journal = open_journal(log)
    wanted = choosing.conditions(as_instant(as_of, now()).date(), **filters)
    if limit and not wanted and as_of is None:
        found = [entry.by(now()) for entry in journal.latest(limit + 1)[::-1]]
    else:
        found = [entry.by(now()) for entry in journal.entries()[::-1]]
        if as_of is not None:
            instant = as_instant(as_of, now())
            found = [then for entry in found if (then := entry.at(instant))]
        found = [entry for entry in found if all(test(entry) for test in wanted)]
    return found[: limit or None], bool(limit) and len(found) > limit


def _remark(log: str, entries: Sequence[Entry], more: bool, *, is_filtered: bool) -> None:
    if more:
        say(f"these are the newest {len(entries)}; --limit 0 shows all")
    elif not entries and not is_there(log):
        say(no_log(log))
    elif not entries:
        say(f"no entry of {log} matches" if is_filtered else f"{log} holds no entry")

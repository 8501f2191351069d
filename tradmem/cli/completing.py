"""What the Tab key offers: names that only the log knows."""

from typing import TYPE_CHECKING

import click

from tradmem.errors import TradmemError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def tickers(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """The tickers of the log that begin so; nothing where the log cannot be read."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in _names(ctx) if name.startswith(incomplete.upper())]


def entries(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Tickers, and the word for the newest entry."""
    from click.shell_completion import CompletionItem

    last = [CompletionItem("last")] if "last".startswith(incomplete) else []
    return tickers(ctx, param, incomplete) + last


def _names(ctx: click.Context) -> list[str]:
    from tradmem.cli.opening import open_journal
    from tradmem.configuration import load

    try:
        with ctx.scope(cleanup=False):
            return sorted(open_journal(str(ctx.params.get("log") or load().log)).tickers())
    except (TradmemError, OSError):
        return []

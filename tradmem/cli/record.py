"""``record`` and ``note``: what people and programs put into the memory."""

import sys
from collections.abc import Sequence

import click

from tradmem.cli import options
from tradmem.cli.naming import entry_of
from tradmem.cli.opening import now, open_memory
from tradmem.cli.output import say, write, write_json
from tradmem.cli.words import done_line
from tradmem.errors import UsageError
from tradmem.journal.base import Stored
from tradmem.memory import Memory
from tradmem.model import Entry, Rating
from tradmem.rows import as_json as json_of
from tradmem.tickers import check_ticker

_file = click.option(
    "--file", "-f", metavar="FILE", help="Take the text from a file; - is standard input."
)


@click.command()
@click.argument("ticker")
@click.argument("text", required=False)
@_file
@click.option("--date", metavar="DATE", help="Of the decision; today at the exchange by default.")
@click.option("--rating", metavar="RATING", help="One of the five; read from the text by default.")
@click.option("--agent", default="", metavar="NAME", help="Who decided.")
@click.option("--horizon", type=int, metavar="N", help="Sessions to hold.")
@click.option("--decided-at", metavar="INSTANT", help="When exactly, like 2026-01-05T15:04:05Z.")
@click.option("--recalled", multiple=True, metavar="ID", help="A memory that it saw; repeatable.")
@click.option("--cited", multiple=True, metavar="ID", help="A memory that it names; repeatable.")
@click.option(
    "--withheld",
    multiple=True,
    metavar="ID",
    help="A memory that a hold-out kept from it; `tradmem recall` names them; repeatable.",
)
@click.option(
    "--on-conflict",
    type=click.Choice(["keep", "revise", "error"]),
    default="keep",
    show_default=True,
    help="If this date, ticker and agent stand with another text.",
)
@options.log
@options.as_json
def record(
    *,
    ticker: str,
    text: str | None,
    file: str | None,
    date: str | None,
    rating: str | None,
    agent: str,
    horizon: int | None,
    decided_at: str | None,
    recalled: tuple[str, ...],
    cited: tuple[str, ...],
    withheld: tuple[str, ...],
    on_conflict: str,
    log: str,
    as_json: bool,
) -> None:
    """Store a decision.

    TEXT is what was decided and why, in markdown; - reads it from standard input. Without
    --rating the text has to say it, in a line such as **Rating**: Buy.
    """
    from tradmem.market.calendars import today

    memory = open_memory(log)
    has_lots = bool(memory.settings.holdout)
    ticker = check_ticker(ticker)
    body = read_text(text, file)
    done = memory.record(
        ticker,
        date or today(ticker, now()),
        body,
        rating=rating,
        agent=agent,
        horizon=horizon,
        decided_at=decided_at,
        recalled=_known(memory, recalled),
        cited=_known(memory, cited),
        withheld=_known(memory, withheld) if withheld or (recalled and has_lots) else None,
        on_conflict=on_conflict,
    )
    _print_stored(done.entry, done.status, as_json=as_json)
    _warn(done.entry, done.status)
    for warning in done.warnings:
        say(warning)


@click.command()
@click.argument("text", required=False)
@_file
@click.option("--ticker", metavar="TICKER", help="Whom it is about; the whole market by default.")
@click.option("--date", metavar="DATE", help="The date that it carries; today by default.")
@click.option("--valid-until", metavar="WHEN", help="When recall leaves it out again.")
@options.log
@options.as_json
def note(
    *,
    text: str | None,
    file: str | None,
    ticker: str | None,
    date: str | None,
    valid_until: str | None,
    log: str,
    as_json: bool,
) -> None:
    """Store a lesson or a remark of your own.

    Recall shows it from now on, never to a decision of the past. --valid-until takes a
    date, whose last instant in UTC is meant, or an instant.
    """
    body = read_text(text, file)
    done = open_memory(log).note(body, ticker=ticker, date=date, valid_until=valid_until)
    _print_stored(done.entry, done.status, as_json=as_json)


def read_text(text: str | None, file: str | None) -> str:
    """The text that a command was given: as an argument, a file, or on standard input.

    Raises:
        UsageError: there is none, there are two, or it is no UTF-8.
    """
    if text not in (None, "-") and file is not None:
        raise UsageError("there are two texts, an argument and a file; give one of them")
    if text == "-" or (file == "-" and text is None):
        name, data = "standard input", sys.stdin.buffer.read()
    elif file is not None:
        name, data = file, _read_file(file)
    elif text is not None:
        return _not_empty(text)
    else:
        raise UsageError("there is no text; give it as an argument, with --file, or as - on stdin")
    try:
        return _not_empty(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is no UTF-8 text; save it as UTF-8, then try again") from error


def _read_file(name: str) -> bytes:
    try:
        with open(name, "rb") as stream:  # noqa: PTH123 - Path refuses what open explains
            return stream.read()
    except (OSError, ValueError) as error:
        reason: str = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read {name}: {reason.lower()}") from error


def _not_empty(text: str) -> str:
    if not text.strip():
        raise UsageError("the text is empty; write what was decided, or what to remember")
    return text


def _known(memory: Memory, given: Sequence[str]) -> list[str]:
    """The ids that some names stand for, each as for `tradmem show`.

    Raises:
        UnknownEntry: one stands for none.
    """
    return [entry_of(memory, name.split()).id for name in given]


def _print_stored(entry: Entry, stored: Stored, *, as_json: bool) -> None:
    if as_json:
        write_json([json_of(entry) | {"stored": str(stored)}])
    else:
        write(done_line(str(stored), entry))


def _warn(entry: Entry, stored: Stored) -> None:
    """What the person who records should know, and could otherwise miss."""
    if stored is Stored.KEPT:
        say(
            f"nothing was stored: {entry.id} stands with another text or rating; until its entry "
            "session closes, --on-conflict revise replaces it"
        )
    elif entry.rating is None:
        names = ", ".join(rating.value for rating in Rating)
        say(f"{entry.id} is unrated: its text gives no clear rating; --rating takes {names}")
    if "late" in entry.recorded.flags and stored is not Stored.KEPT:
        say(f"{entry.id} is late: the close at which it enters had passed; statistics mark it")

"""``db``: the schema of a log in PostgreSQL, and how it stands."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from tradmem.cli import options
from tradmem.cli.opening import configuration, now
from tradmem.cli.output import write, write_json
from tradmem.cli.words import counted, minute
from tradmem.clock import format_instant
from tradmem.errors import UsageError
from tradmem.opening import is_database, open_journal

if TYPE_CHECKING:
    from tradmem.journal.postgres.connection import Conn
    from tradmem.journal.postgres.journal import PostgresJournal
    from tradmem.journal.postgres.place import Where


@click.group()
def db() -> None:
    """Look after a log in PostgreSQL.

    All of these take --log postgresql://user@host/database, or TRADMEM_LOG.
    """


@db.command()
@click.option(
    "--partitions",
    type=click.IntRange(1, 1024),
    default=16,
    show_default=True,
    help="Into how many a new log is divided, by ticker; it stays so.",
)
@click.option(
    "--grant",
    "roles",
    multiple=True,
    metavar="ROLE",
    help="Let a role record, resolve and recall, and change nothing.",
)
@options.log
def upgrade(*, partitions: int, roles: tuple[str, ...], log: str) -> None:
    """Make the schema, or bring it up to date.

    Does nothing where nothing is to be done; of two at the same time one waits. Where
    the server has pgvector, it finds the nearest vectors from then on; else each process does.
    """
    with _owner(log) as (connection, place):
        from tradmem.journal.postgres.migrating import LATEST, grant, offer_vectors
        from tradmem.journal.postgres.migrating import upgrade as bring_up

        done = bring_up(connection, place.schema, partitions=partitions)
        for step in done:
            write(f"applied {step.number} ({step.name.replace('_', ' ')})")
        for role in roles:
            grant(connection, place.schema, role)
            write(f"{role} may record, resolve and recall")
        write(offer_vectors(connection, place.schema))
    write(f"{place.shown} is up to date, version {LATEST}")


@db.command()
@options.log
@options.as_json
def status(*, log: str, as_json: bool) -> None:
    """Say how large the log is, and what its work queue holds.

    Numbers from 100,000 on are the server's estimates.
    """
    with _journal(log) as journal:
        found = journal.measure(now())
        if as_json:
            oldest = found["oldest_due"]
            write_json([found | {"oldest_due": format_instant(oldest) if oldest else None}])
            return
        entries = counted(found["entries"], "entry", "entries")
        additions = counted(found["additions"], "addition")
        write(f"{journal.name}, version {found['version']}, {found['partitions']} partitions")
        write(f"{entries}, {additions}, {found['bytes'] / 1e6:.1f} MB")
        write(found["vectors"])
        due = f"{found['due']} due, {found['claimed']} claimed"
        oldest = found["oldest_due"] if found["due"] else None
        since = f"; the oldest since {minute(oldest)}" if oldest else ""
        write(f"{found['queued']} in the work queue: {due}{since}")


@db.command()
@click.option(
    "--keep",
    type=click.IntRange(0),
    metavar="N",
    help="Resolved entries that stay; by default the setting max_resolved.",
)
@options.log
def archive(*, keep: int | None, log: str) -> None:
    """Mark the oldest resolved entries as archived, which keeps the daily indexes small.

    Nothing is lost: recall, statistics and search see through it.
    """
    most = configuration().settings.max_resolved if keep is None else keep
    if most is None:
        raise UsageError("max_resolved keeps everything; say how many stay with --keep")
    with _journal(log) as journal:
        moved = journal.archive(most, now())
        write(f"{counted(moved, 'entry', 'entries')} archived")


@db.command()
@options.log
def rebuild(*, log: str) -> None:
    """Make anew everything that follows from entries and additions.

    For after a new version of tradmem that folds otherwise, or a repair by hand.
    """
    with _journal(log) as journal:
        write(f"{counted(journal.rebuild(), 'entry', 'entries')} folded anew")


@contextmanager
def _journal(log: str) -> Iterator["PostgresJournal"]:
    _check(log)
    journal: Any = open_journal(log, configuration().settings)
    with journal:
        yield journal


@contextmanager
def _owner(log: str) -> Iterator[tuple["Conn", "Where"]]:
    """A connection that asks for no schema yet."""
    _check(log)
    open_journal(log, configuration().settings)  # says what is not installed
    from tradmem.journal.postgres.connection import connected
    from tradmem.journal.postgres.place import where

    place = where(log)
    with connected(place) as connection:
        yield connection, place


def _check(log: str) -> None:
    if not is_database(log):
        raise UsageError(f"{log} is a file; name a database with --log postgresql://host/database")

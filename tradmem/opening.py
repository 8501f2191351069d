"""The journal that a log's name means: a file, or a database."""

import os
import re
from typing import TYPE_CHECKING

from tradmem.errors import UsageError
from tradmem.journal.base import Journal
from tradmem.journal.markdown import MarkdownJournal

if TYPE_CHECKING:
    from tradmem.settings import Settings

_MISTYPED = re.compile(r"postgres(?:ql)?(?::|//)", re.IGNORECASE)


def is_database(log: str | os.PathLike[str]) -> bool:
    """Whether a log's name is a URL rather than a path.

    Raises:
        UsageError: it is a URL of PostgreSQL but for its ``://``; as a path it would hold what
            was meant for the database.
    """
    name = os.fspath(log)
    if "://" in name:
        return True
    if found := _MISTYPED.match(name):
        raise UsageError(
            f"{found[0]}… is neither a URL nor a path of a log; write postgresql://host/database"
        )
    return False


def open_journal(log: str | os.PathLike[str], settings: "Settings") -> Journal:
    """The journal of a log: a path, or ``postgresql://host/database``.

    Args:
        log: its name; nothing is made or asked before the first use.
        settings: how many resolved entries a file keeps, and after which sessions
            outcomes are taken.

    Raises:
        UsageError: the URL names no database, or its driver is not installed.
    """
    if not is_database(log):
        return MarkdownJournal(log, max_resolved=settings.max_resolved, horizons=settings.horizons)
    from importlib.util import find_spec  # noqa: PLC0415 - for databases only

    if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
        raise UsageError(
            "a log in PostgreSQL needs psycopg; install it with `pip install 'tradmem[postgres]'`"
        )
    from tradmem.journal.postgres.journal import PostgresJournal  # noqa: PLC0415 - loads psycopg

    return PostgresJournal(os.fspath(log), horizons=settings.horizons)

"""What a server answers, in the words and classes of this package."""

import psycopg
from psycopg import errors

from tradmem.errors import LogBusy, LogError, TradmemError

# Nothing was done, and the same again may well succeed.
PASSING = (errors.DeadlockDetected, errors.SerializationFailure)
# The connection is gone, or the server is going or coming up: it may have done it.
LOST = (psycopg.OperationalError, psycopg.InterfaceError)
# The answers of a server that end its connection: it stops, has crashed, or is starting; or a
# session was idle for longer than the server allows, between transactions or within one.
_ENDING = ("57P01", "57P02", "57P03", "57P05", "25P03")
_HOPELESS = (
    "password authentication failed",
    "no password supplied",
    "does not exist",
    "no pg_hba.conf entry",
    "could not translate host name",
    "invalid port",
    "not permitted to log in",
)

# Nobody gives the code of what refuses a connection that is only being made.
_NONE_LEFT = ("too many clients", "too many connections", "remaining connection slots")

_TRIED = ("connection to server", "Error: connection to server", "connection failed")

Kinds = tuple[type[psycopg.Error], ...]
# The first that fits.
_WORDS: tuple[tuple[Kinds, type[LogError], str], ...] = (
    ((errors.LockNotAvailable,), LogBusy, "{shown} is busy: {said}; try again later"),
    (PASSING, LogBusy, "{shown} is busy: {said}; try again later"),
    (
        (errors.DiskFull,),
        LogError,
        "cannot write {shown}: the server's disk is full; free some space, then try again",
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        LogError,
        "cannot write {shown}: {said}; name the primary in the URL, or a role that may write",
    ),
    (
        (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName),
        LogError,
        "cannot use {shown}: its schema is not the one expected ({said}); run `tradmem db upgrade`",
    ),
    (
        (errors.InsufficientPrivilege,),
        LogError,
        "cannot use {shown}: {said}; its owner grants it with `tradmem db upgrade --grant ROLE`",
    ),
    (
        (errors.InsufficientResources, errors.OutOfMemory, errors.ConfigurationLimitExceeded),
        LogError,
        "cannot use {shown}: the server lacks resources ({said})",
    ),
)


def is_lost(error: psycopg.Error) -> bool:
    """Whether an error says that the connection is gone, and a new one may do."""
    if error.sqlstate:
        return error.sqlstate in _ENDING or error.sqlstate.startswith("08")
    return isinstance(error, LOST) and not any(words in str(error) for words in _HOPELESS)


def refusal(error: psycopg.Error, shown: str) -> TradmemError:
    """What to tell of an error that no further attempt mends.

    Args:
        error: what psycopg raised.
        shown: the log, for people.
    """
    said = _first_line(error)
    for kinds, make, words in _WORDS:
        if isinstance(error, kinds):
            return make(words.format(shown=shown, said=said))
    if isinstance(error, LOST) and any(words in said for words in _NONE_LEFT):
        return LogBusy(
            f"{shown} has no connection left: {said}; raise the limit, or share connections"
        )
    if isinstance(error, LOST) and (not error.sqlstate or is_lost(error)):
        return LogError(f"cannot reach {shown}: {said}; see that the server runs and the URL fits")
    return LogError(f"cannot use {shown}: {said}")


def _first_line(error: psycopg.Error) -> str:
    text = (error.diag.message_primary or str(error) or type(error).__name__).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # libpq lists every address that it tried; the last one that failed says why.
    tried = [line for line in lines if line.startswith(_TRIED)]
    return (tried[-1] if tried else lines[0]).removeprefix("Error: ")

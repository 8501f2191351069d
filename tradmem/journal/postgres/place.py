"""Where a log in a database is: its URL, read and shown."""

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from tradmem.errors import UsageError

SCHEMA = "tradmem"
_SCHEMES = ("postgresql", "postgres")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}\Z")
_RESERVED = ("pg_", "information_schema", "public")


class Where(NamedTuple):
    """A database, and the schema in it that holds a log.

    Attributes:
        url: what the server is asked with, password and all.
        schema: the log's own schema.
        shown: for people: without the password.
    """

    url: str
    schema: str
    shown: str


def is_database(log: str) -> bool:
    """Whether a log's name is a URL rather than a path."""
    return "://" in log


def where(url: str, schema: str | None = None) -> Where:
    """The database and schema that a URL names.

    Args:
        url: ``postgresql://user:password@host:port/database``; ``?schema=NAME`` names a
            schema other than ``tradmem``, so that several logs fit into one database.
        schema: the same, and stronger.

    Raises:
        UsageError: it is no such URL, or no name of a schema.
    """
    try:
        parts = urlsplit(url)
        asked = parse_qsl(parts.query, keep_blank_values=True)
        password = parts.password
    except (ValueError, AttributeError) as error:
        raise UsageError(f"the log's URL cannot be read: {error}") from error
    if parts.scheme not in _SCHEMES:
        raise UsageError(
            f"{parts.scheme!r} is no kind of log; use a path, or postgresql://host/database"
        )
    named = [value for name, value in asked if name == "schema"]
    found = schema or (named[-1] if named else SCHEMA)
    if not _NAME.match(found) or found.startswith(_RESERVED):
        raise UsageError(
            f"{found[:60]!r} is no name of a schema here; use a-z, 0-9 and _, such as {SCHEMA}"
        )
    rest = [(name, value) for name, value in asked if name != "schema"]
    secret = {"password", "sslpassword"}
    open_rest = [(name, "***" if name in secret else value) for name, value in rest]
    if found != SCHEMA:
        open_rest.append(("schema", found))
    netloc = parts.netloc
    if password is not None:
        login, _, host = netloc.rpartition("@")
        netloc = f"{login.partition(':')[0]}:***@{host}"
    return Where(
        url=_url("postgresql", parts.netloc, parts.path, rest),
        schema=found,
        shown=_url(parts.scheme, netloc, parts.path, open_rest),
    )


def _url(scheme: str, netloc: str, path: str, pairs: list[tuple[str, str]]) -> str:
    """A URL whose two slashes stay also where no host follows them, as urlunsplit's do not."""
    query = _query(pairs)
    return f"{scheme}://{netloc}{path}" + (f"?{query}" if query else "")


def _query(pairs: list[tuple[str, str]]) -> str:
    return urlencode(pairs, quote_via=quote, safe="/*")

"""Where a log in a database is: its URL, read and shown."""

import re
from typing import NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlencode, urlsplit

from tradmem.errors import UsageError

SCHEMA = "tradmem"
_SCHEMES = ("postgresql", "postgres")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}\Z")
_RESERVED = ("pg_", "information_schema", "public")
_ENCODED = re.compile(r"%(?!00)[0-9A-Fa-f]{2}")
_PORTS = re.compile(r"(?:\[[^]]*\]|[^:\[\]]*)(?::\d*)?\Z")  # one host, and its port
_OPEN = frozenset(
    {  # what a URL may say aloud; anything else could hold a secret
        *("application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname"),
        *("gssencmode", "host", "hostaddr", "keepalives", "keepalives_idle", "port", "sslmode"),
        *("sslnegotiation", "target_session_attrs", "tcp_user_timeout", "user"),
    }
)
_HELD = re.compile("[@=]")  # a URL or name=value in place of a plain value: a login may be in it
_ENCODE = "write a special character of a password percent-encoded, such as %2F for /"


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
    parts = _parts(url)
    if parts.scheme not in _SCHEMES:
        raise UsageError(
            f"{parts.scheme!r} is no kind of log; use a path, or postgresql://host/database"
        )
    _check(url, parts)
    asked = _pairs(parts.query)
    named = [value for name, value in asked if name == "schema"]
    found = schema or (named[-1] if named else SCHEMA)
    if not _NAME.match(found) or found.startswith(_RESERVED):
        raise UsageError(
            f"{found[:60]!r} is no name of a schema here; use a-z, 0-9 and _, such as {SCHEMA}"
        )
    rest = [(name, value) for name, value in asked if name != "schema"]
    shown = [_shown(name, value) for name, value in rest]
    if found != SCHEMA:
        shown.append(("schema", found))
    login, at, host = parts.netloc.rpartition("@")
    user, colon, password = login.partition(":")
    # The server's own reader ends a password at its first @.
    encoded = quote(password, safe="%!$&'()*+,;=~:")
    return Where(
        url=_url("postgresql", f"{user}{colon}{encoded}{at}{host}", parts.path, rest),
        schema=found,
        shown=_url(parts.scheme, f"{user}{':***' if colon else ''}{at}{host}", parts.path, shown),
    )


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except (ValueError, AttributeError):  # whose words may quote a password
        raise UsageError(f"the log's URL cannot be read; {_ENCODE}") from None


def _check(url: str, parts: SplitResult) -> None:
    """See that everything stands where the server's own reader looks for it.

    Raises:
        UsageError: a part of a password may stand elsewhere, or the server would quote it.
    """
    host = parts.netloc.rpartition("@")[2]
    wrong = (
        "://" not in url and "has no ://",
        not url.isprintable() and "holds a control character",
        "#" in url and "holds a #",
        "@" in parts.path and "has an @ behind its host",
        "=" in parts.path and "has a = before its ?",
        "%" in _ENCODED.sub("", url) and "has a % without two hexadecimal digits",
        not all(map(_PORTS.match, host.split(","))) and "has a port that is no number",
    )
    for what in filter(None, wrong):
        raise UsageError(f"the log's URL {what}; {_ENCODE}")


def _pairs(query: str) -> list[tuple[str, str]]:
    """The names and values of a query, a plus as itself, as the server's own reader has it."""
    split = (pair.partition("=") for pair in query.split("&") if pair)
    pairs = [(unquote(name), unquote(value)) for name, _, value in split]
    for name, _ in pairs:
        if not _NAME.match(name):
            raise UsageError(f"the log's URL has a ? before what is no name=value; {_ENCODE}")
    return pairs


def _shown(name: str, value: str) -> tuple[str, str]:
    is_plain = name in _OPEN and not _HELD.search(value)
    return name, value if is_plain else "***"


def _url(scheme: str, netloc: str, path: str, pairs: list[tuple[str, str]]) -> str:
    """A URL whose two slashes stay also where no host follows them, as urlunsplit's do not."""
    query = _query(pairs)
    return f"{scheme}://{netloc}{path}" + (f"?{query}" if query else "")


def _query(pairs: list[tuple[str, str]]) -> str:
    return urlencode(pairs, quote_via=quote, safe="/*")

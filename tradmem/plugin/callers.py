"""Who calls, and what that caller may use; read from a file of tokens, never from a call.

    [[tokens]]
    sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    caller = "desk-1"
    tenant = "acme"
    libraries = ["us-tech"]
    access = "add"

A token is random and long, so that its plain SHA-256 cannot be guessed back; only that is kept.
"""

import hashlib
import hmac
import os
import re
import secrets
import threading
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tradmem.clock import Clock, last_instant, system_clock, utc
from tradmem.errors import LogError, UsageError
from tradmem.plugin.libraries import Access, Library, check_apart, library_of

PREFIX = "tradmem_"
_RANDOM_BYTES = 32
_KEYS = ("sha256", "caller", "tenant", "libraries", "access", "expires")
_NEEDED = ("sha256", "caller", "tenant", "libraries")
_HASH = re.compile(r"[0-9a-f]{64}\Z")
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Somebody who uses libraries.

    Attributes:
        name: under which decisions and notes are kept; may be empty where nobody else calls.
        tenant: whose libraries the caller's are.
        libraries: what the caller may use, with the access that it has.

    Raises:
        UsageError: the name can be none.
    """

    name: str
    libraries: tuple[Library, ...]
    tenant: str = ""

    def __post_init__(self) -> None:
        if self.name:
            _name("caller", self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a token stands for; see the module."""

    sha256: str
    caller: Caller
    expires: datetime | None = None


class Tokens:
    """A file of tokens, read again when it has changed; one that cannot be read lets nobody in.

    Args:
        path: the file.
        libraries: those that it may name.
        clock: tells which have expired.

    Raises:
        UsageError: the file cannot be read, or a token in it cannot be.
    """

    def __init__(
        self, path: Path, libraries: Mapping[str, Library], *, clock: Clock = system_clock
    ) -> None:
        self.path = path
        self._libraries = libraries
        self._clock = clock
        self._lock = threading.Lock()
        self._mark = self._marked()
        self._grants = read_tokens(path, libraries)

    def find(self, token: str) -> Grant | None:
        """What a token stands for; None if nothing, or if it has expired."""
        return self.of_hash(hash_of(token))

    def of_hash(self, digest: str) -> Grant | None:
        """The same by the token's hash; as long whether and wherever it is found."""
        found = None
        for grant in self._current():
            if hmac.compare_digest(grant.sha256.encode(), digest.encode()):
                found = grant
        if found and found.expires and found.expires <= utc(self._clock()):
            return None
        return found

    def _current(self) -> tuple[Grant, ...]:
        with self._lock:
            mark = self._marked()
            if mark != self._mark:
                self._grants, self._mark = (), mark  # nobody, should it be broken
                self._grants = read_tokens(self.path, self._libraries)
            return self._grants

    def _marked(self) -> tuple[int, ...]:
        try:
            found = self.path.stat()
        except OSError:
            return ()
        return (found.st_mtime_ns, found.st_size, found.st_ino)


def read_tokens(path: Path, libraries: Mapping[str, Library]) -> tuple[Grant, ...]:
    """The grants of a file.

    Raises:
        UsageError: it cannot be read, a token cannot be, or tenants would share a library.
    """
    grants = []
    for number, table in enumerate(_tables(path), 1):
        try:
            grants.append(_grant(table, libraries))
        except UsageError as error:
            raise UsageError(f"{path}, token {number}: {error}") from error
    _check(path, grants)
    return tuple(grants)


def _tables(path: Path) -> list[Any]:
    """What stands under ``tokens`` in a file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"cannot read the tokens {path}: {error}") from error
    tables = data.get("tokens", [])
    if set(data) - {"tokens"} or not isinstance(tables, list):
        raise UsageError(f"{path} holds more than tokens; write each as a table [[tokens]]")
    return tables


def new_token() -> str:
    """A token that nobody can guess."""
    return PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def hash_of(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def check_names(
    path: Path, tables: Mapping[str, Mapping[str, Any]], tenant: str, libraries: Iterable[str]
) -> None:
    """That a token of a tenant may name libraries, so that a slip of the pen locks nobody out.

    Args:
        path: the file of tokens; it need not be there.
        tables: the libraries that the settings declare.
        tenant: whose token it is to be.
        libraries: what it is to name.

    Raises:
        UsageError: there is no such library, or it is another tenant's.
    """
    others = _tenants(path) if path.exists() else {}
    for name in libraries:
        if name not in tables:
            near = get_close_matches(name, tables, n=1, cutoff=0)
            hint = f"; the nearest is {near[0]}" if near else ""
            raise UsageError(f"there is no library {name[:60]!r}{hint}")
        owner = tables[name].get("tenant") or others.get(name) or tenant
        if owner != tenant:
            raise UsageError(f"the library {name} is another tenant's")


def _tenants(path: Path) -> dict[str, str]:
    """By the names of libraries, whose they are by a file of tokens."""
    return {
        str(name): str(table.get("tenant"))
        for table in _tables(path)
        if isinstance(table, Mapping) and isinstance(table.get("libraries"), list)
        for name in table["libraries"]
    }


def write_token(
    path: Path, token: str, *, caller: str, tenant: str, libraries: Iterable[str], access: Access
) -> None:
    """Add a token's hash to a file, which only its owner may read.

    Raises:
        UsageError: a name cannot be.
        LogError: the file cannot be written.
    """
    names = list(libraries)
    texts = {"sha256": hash_of(token), "caller": _name("caller", caller)}
    texts |= {"tenant": _name("tenant", tenant)}
    lines = [f"{key} = {_quoted(text)}" for key, text in texts.items()]
    lines.append(f"libraries = [{', '.join(map(_quoted, names))}]")
    lines.append(f"access = {_quoted(access)}")
    block = "[[tokens]]\n" + "\n".join(lines) + "\n\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            before = b"\n" if os.fstat(descriptor).st_size else b""
            os.write(descriptor, before + block.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise LogError(f"cannot write the tokens {path}: {error.strerror}") from error


def _grant(table: Any, libraries: Mapping[str, Library]) -> Grant:
    _check_table(table)
    digest, access = table["sha256"], table.get("access", Access.READ)
    if not isinstance(digest, str) or not _HASH.match(digest):
        raise UsageError("its sha256 is no 64 hex digits; `tradmem mcp token` makes one")
    if access not in list(Access):
        raise UsageError(f"its access is {access!r}; choose one of {', '.join(Access)}")
    tenant = _name("tenant", table["tenant"])
    own = []
    for name in dict.fromkeys(table["libraries"]):
        library = library_of(libraries, name)
        if library.tenant not in ("", tenant):
            raise UsageError(f"the library {name} is another tenant's")
        own.append(replace(library, access=library.access.within(Access(access)), tenant=tenant))
    caller = Caller(name=_name("caller", table["caller"]), libraries=tuple(own), tenant=tenant)
    return Grant(sha256=digest, caller=caller, expires=_expiry(table.get("expires")))


def _check_table(table: Any) -> None:
    if not isinstance(table, Mapping):
        raise UsageError("it is no table; write it as [[tokens]]")
    for key in table:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1, cutoff=0)[0]
            raise UsageError(f"there is no key {key!r}; the nearest is {near}")
    for key in _NEEDED:
        if key not in table:
            raise UsageError(f"it has no {key}")
    names = table["libraries"]
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise UsageError("its libraries are no list of names")


def _check(path: Path, grants: Iterable[Grant]) -> None:
    """That no two tenants share a library or a log, and no token stands for two things."""
    grants = list(grants)
    if len({grant.sha256 for grant in grants}) < len(grants):
        raise UsageError(f"{path} holds one token twice; let one of the two go")
    try:
        check_apart(library for grant in grants for library in grant.caller.libraries)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _expiry(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return utc(value)
    if isinstance(value, date):
        return last_instant(value)
    if value is not None:
        raise UsageError(f"expires is {value!r}; write a date such as 2027-01-31")
    return None


def _name(what: str, value: Any) -> str:
    if (
        not isinstance(value, str)
        or not value.strip()
        or len(value) > _LONGEST_NAME
        or not value.isprintable()
        or "|" in value
    ):
        raise UsageError(
            f"{value!r:.60} is no name of a {what}; use up to {_LONGEST_NAME} printable "
            "characters without |"
        )
    return value


def _quoted(text: str) -> str:
    """A TOML string; what goes in is printable."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

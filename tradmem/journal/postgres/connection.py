"""Connections to one database: pooled, told apart by process, and tried again when they break."""

import logging
import os
import shlex
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import Connection, errors
from psycopg_pool import ConnectionPool, PoolTimeout

from tradmem.errors import LogBusy, LogError
from tradmem.journal.postgres import faults
from tradmem.journal.postgres.migrating import LATEST, version
from tradmem.journal.postgres.place import Where

for _name in ("psycopg", "psycopg.pool"):  # what fails is raised anyway
    logging.getLogger(_name).addHandler(logging.NullHandler())

Conn = Connection[tuple[Any, ...]]
T = TypeVar("T")
_PAUSES = (0.05, 0.1, 0.2, 0.5, 1.0)  # between attempts; the last one for ever
# Whatever the role has set: who waited for a lock sees what its holder did.
_TOGETHER = r"-c default_transaction_isolation=read\ committed"
_IDLE = 120.0  # seconds after which a connection that nobody uses is closed


class Server:
    """The database of one log.

    Args:
        place: where it is.
        timeout: seconds to go on trying to reach a server that is away, and to wait for a
            lock that another transaction holds.
        connections: at most this many at a time.
    """

    def __init__(self, place: Where, *, timeout: float, connections: int) -> None:
        self.place = place
        self.timeout = timeout
        self._connections = connections
        self._threads = threading.Lock()
        self._pool: ConnectionPool[Conn] | None = None
        self._process = 0
        self._checked = False

    def settings(self) -> dict[str, Any]:
        """How a connection is made."""
        options = (
            f"{_TOGETHER} -c lock_timeout={int(self.timeout * 1000)} -c timezone=UTC -c jit=off "
            # Each statement prunes the partitions when it runs; planning anew costs more.
            "-c plan_cache_mode=force_generic_plan"
        )
        return {
            "autocommit": True,
            "prepare_threshold": 0,
            "application_name": "tradmem",
            "client_encoding": "UTF8",  # whatever the role or the environment has set
            "options": options,
            "connect_timeout": max(2, int(min(self.timeout, 10))),
            "keepalives_idle": 30,
            "tcp_user_timeout": 30_000,
        }

    def connect(self) -> Conn:
        """A connection of one's own, outside the pool."""
        connection = _connect(self.place, self.settings())
        _be_durable(connection)
        return connection

    def run(self, work: Callable[[Conn], T]) -> T:
        """Do something over a connection, again if that breaks or the server asks for it.

        Args:
            work: done in one transaction or none; doing it twice must do no harm, since a
                lost connection does not tell whether it was done.

        Raises:
            LogBusy: another transaction holds what is needed.
            LogError: the server cannot be reached, or refuses.
        """
        ends = time.monotonic() + self.timeout
        for attempt in range(1_000_000):
            try:
                with self._connection() as connection:
                    return work(connection)
            except psycopg.Error as error:
                again = isinstance(error, faults.PASSING) or faults.is_lost(error)
                pause = _PAUSES[min(attempt, len(_PAUSES) - 1)]
                if not again or time.monotonic() + pause > ends:
                    raise faults.refusal(error, self.place.shown) from error
                if faults.is_lost(error):
                    self.forget()
                time.sleep(pause)
        raise AssertionError("unreachable")

    @contextmanager
    def _connection(self) -> Iterator[Conn]:
        pool = self._opened()
        try:
            connection = pool.getconn(timeout=self.timeout)
        except PoolTimeout as error:
            raise LogBusy(
                f"{self.place.shown}: all {self._connections} connections of this process are in "
                "use; try again later"
            ) from error
        try:
            yield connection
        finally:
            pool.putconn(connection)

    def _opened(self) -> "ConnectionPool[Conn]":
        with self._threads:
            if self._process != os.getpid():  # forked: the sockets are the parent's
                self._pool, self._process = None, os.getpid()
            if self._pool is None:
                first = self.connect()  # which tells why it fails, as a pool does not
                with first:
                    if not self._checked:
                        self.check(first)
                        self._checked = True
                self._pool = ConnectionPool(
                    self.place.url,
                    kwargs=self.settings(),
                    configure=_be_durable,
                    min_size=0,
                    max_size=self._connections,
                    max_idle=_IDLE,
                    open=True,
                    num_workers=1,
                    reconnect_timeout=1.0,
                    name=f"tradmem-{self.place.schema}",
                )
            return self._pool

    def check(self, connection: Conn) -> None:
        """See that the schema is there and fits.

        Raises:
            LogError: it is not there, older or newer.
        """
        found = version(connection, self.place.schema)
        if found == LATEST:
            return
        what = "has no log yet" if not found else f"is of version {found}, this needs {LATEST}"
        todo = (
            "run a newer tradmem"
            if found > LATEST
            else f"run `tradmem db upgrade --log {shlex.quote(self.place.shown)}`"
        )
        raise LogError(f"{self.place.shown} {what}; {todo}")

    def forget(self) -> None:
        """Let go of all pooled connections; the next one is made anew."""
        with self._threads:
            pool, self._pool = self._pool, None
        if pool is not None and self._process == os.getpid():
            with suppress(psycopg.Error, errors.Error):
                pool.close(timeout=1.0)

    close = forget


def _connect(place: Where, settings: dict[str, Any]) -> Conn:
    try:
        return psycopg.connect(place.url, **settings)
    except UnicodeError as error:  # no name of a host has such a form
        raise LogError(
            f"cannot reach {place.shown}: its host can be none; see that the URL fits"
        ) from error


def _be_durable(connection: Conn) -> None:
    """What is acknowledged stands, also where the server is set up to be hasty."""
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) "
        "WHERE current_setting('synchronous_commit') = 'off'"
    )


@contextmanager
def connected(place: Where) -> Iterator[Conn]:
    """A connection that asks for no schema yet.

    Raises:
        LogError: the server cannot be reached, or refuses what is asked of it.
    """
    settings = {
        "autocommit": True,
        "connect_timeout": 10,
        "client_encoding": "UTF8",
        "options": _TOGETHER,
    }
    try:
        with _connect(place, settings) as connection:
            yield connection
    except psycopg.Error as error:
        raise explain(error, place) from error


def explain(error: psycopg.Error, place: Where) -> LogError:
    """An error outside :meth:`Server.run`, in words."""
    found = faults.refusal(error, place.shown)
    return found if isinstance(found, LogError) else LogError(str(found))

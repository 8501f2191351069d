"""The work queue: who is at which unfinished entry, and until when.

A claim is a lease by the server's clock. Whoever holds it renews it while he works; when he
dies it runs out, and the next one takes it. What he stores later all the same is dropped.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from tradmem.errors import TradmemError
from tradmem.journal.postgres import queries, writing
from tradmem.journal.postgres.connection import Conn, Server
from tradmem.journal.postgres.queries import Queries
from tradmem.journal.postgres.rows import askable
from tradmem.model import Addition, Entry

LEASE = 60.0  # seconds
_RENEWALS = 3  # in the time of a lease
_FAR = "infinity"


class Claim:
    """Some entries that nobody else resolves; renewed within ``with``, given back at its end.

    Attributes:
        entries: as they stood when they were claimed.

    Args:
        server: where they are.
        ask: the statements.
        holder: a name that no other claim has.
        entries: what was claimed.
        lease: seconds that the claim lasts without being renewed.
        horizons: sessions after which outcomes are taken.
        named: whether they were asked for by id, finished ones among them.
    """

    def __init__(
        self,
        server: Server,
        ask: Queries,
        holder: str,
        entries: Sequence[Entry],
        *,
        lease: float,
        horizons: Sequence[int],
        named: bool,
    ) -> None:
        self.entries = tuple(entries)
        self._server = server
        self._ask = ask
        self._holder = holder
        self._lease = lease
        self._horizons = tuple(horizons)
        self._named = named
        self._later: dict[str, datetime] = {}
        self._done = threading.Event()
        self._renewer: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self.entries:
            self._renewer = threading.Thread(target=self._renew_often, daemon=True)
            self._renewer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._renewer:
            self._renewer.join()
        try:
            self.release()
        except TradmemError:
            if error is None:  # else it would hide what went wrong; the lease runs out
                raise

    def add(self, additions: Sequence[tuple[str, Addition]]) -> list[Entry]:
        """Add to entries as :meth:`tradmem.journal.base.Journal.add` does.

        What is claimed by somebody else by now, because the lease ran out, stays as he left it.
        """
        return self._server.run(
            lambda connection: writing.add(
                connection, self._ask, additions, horizons=self._horizons, holder=self._holder
            )
        )

    def later(self, dues: Mapping[str, datetime]) -> None:
        """From when on asking again for some of the entries can help, aware UTC."""
        self._later |= dues

    def renew(self) -> None:
        """Hold on for one more lease."""
        query = self._ask(queries.RENEW)
        values = self._mine | {"lease": self._lease}
        self._server.run(lambda connection: connection.execute(query, values))

    @property
    def _mine(self) -> dict[str, Any]:
        return {
            "holder": self._holder,
            "tickers": [entry.ticker for entry in self.entries],
            "ids": [entry.id for entry in self.entries],
        }

    def _renew_often(self) -> None:
        while not self._done.wait(self._lease / _RENEWALS):
            try:
                self.renew()
            except TradmemError:
                continue  # the lease may run out, and then what is stored here is dropped

    def release(self) -> None:
        """Give back what is not finished."""
        if not self.entries:
            return
        rows = [
            (self._later.get(entry.id), entry.ticker, entry.id, self._holder)
            for entry in sorted(self.entries, key=lambda entry: (entry.ticker, entry.id))
        ]
        query = self._ask(queries.RELEASE)

        def give_back(connection: Conn) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(query, rows)
                if self._named:
                    cursor.execute(self._ask(queries.UNQUEUE), self._mine)

        self._server.run(give_back)


def claim(
    server: Server,
    ask: Queries,
    *,
    due: datetime | None,
    limit: int | None,
    tickers: Iterable[str] | None,
    ids: Iterable[str] | None,
    lease: float,
    horizons: Sequence[int],
) -> Claim:
    """Claim what is due and nobody is at, see ``PostgresJournal.claim``."""
    holder = uuid4().hex
    values: dict[str, Any] = {"due": due or _FAR}
    which = ""
    if tickers is not None:
        which += " AND ticker = ANY(%(tickers)s)"
        values["tickers"] = sorted(filter(askable, tickers))
    if ids is not None:
        which += " AND id = ANY(%(ids)s)"
        values["ids"] = [*filter(askable, ids)]
    ends = "ALL" if limit is None else str(int(limit))
    query = ask(queries.CLAIMABLE.replace("{which}", which).replace("{limit}", ends))

    def take(connection: Conn) -> list[Entry]:
        writing.file_new(connection, ask, horizons)
        with connection.transaction():
            if ids is not None:  # finished ones stand in no queue
                connection.execute(ask(queries.QUEUE_UP), (values["ids"],))
            ready = connection.execute(query, values).fetchall()
            if not ready:
                return []
            with connection.cursor() as cursor:
                cursor.executemany(ask(queries.CLAIM), [(holder, lease, *key) for key in ready])
            return list(
                writing.by_id(connection, ask, [entry_id for _, entry_id in ready]).values()
            )

    entries = sorted(server.run(take), key=lambda entry: (entry.date, entry.ticker, entry.id))
    return Claim(
        server, ask, holder, entries, lease=lease, horizons=horizons, named=ids is not None
    )

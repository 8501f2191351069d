"""Vectors of memories in the database, for every process that embeds by the same model."""

import sys
from array import array
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from psycopg import sql

from tradmem.journal.nearness import Behind, Kept, Made, Numbers
from tradmem.journal.passages import passage_of
from tradmem.journal.postgres import pgvector
from tradmem.journal.postgres.connection import Conn, Server
from tradmem.journal.postgres.queries import ENTRY, Queries
from tradmem.journal.postgres.rows import entry_of

_AT_ONCE = 500  # entries whose vectors are lost if the next ones fail
_MARGIN = 16  # further rows, for those that round to the same similarity
_HEAD = 20  # bytes before the first number of an array as the server sends it
# What the index of a partition looks at for one question; the more, the fewer it misses.
_BY_INDEX = (
    "SET LOCAL hnsw.ef_search = 80",
    "SET LOCAL hnsw.iterative_scan = strict_order",
    "SET LOCAL enable_seqscan = off",  # estimated by pages, not by how long a vector takes
    "SET LOCAL enable_sort = off",
)

MAY_WRITE = """
SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'
    AND has_table_privilege(%s, 'INSERT')
"""
_MODEL = "SELECT dimension, done::text FROM {s}.vector_models WHERE model = %s"
# A dump that was read into another server names transactions that are still to come there.
_DONE = """
UPDATE {s}.vector_models SET done = %s::text::xid8 WHERE model = %s
    AND (done < %s::text::xid8 OR done > pg_snapshot_xmax(pg_current_snapshot()))
"""
_NEW_MODEL = """
INSERT INTO {s}.vector_models (model, dimension) VALUES (%s, %s) ON CONFLICT DO NOTHING
"""
_BEHIND = f"""
SELECT t.changed::text, v.digest, v.since, {ENTRY}
FROM {{s}}.states t JOIN {{s}}.entries e ON e.ticker = t.ticker AND e.id = t.id
LEFT JOIN {{s}}.vectors v ON v.ticker = t.ticker AND v.id = t.id AND v.model = %(model)s
WHERE {{which}} ORDER BY {{order}} LIMIT {_AT_ONCE}
"""
_ANY = ("(t.ticker, t.id) > (%(ticker)s, %(id)s)", "t.ticker, t.id")
_SINCE = """t.changed >= %(done)s::text::xid8
    AND (t.changed, t.ticker, t.id) > (%(changed)s::text::xid8, %(ticker)s, %(id)s)"""
_LATER = (_SINCE, "t.changed, t.ticker, t.id")
_PUT = """
INSERT INTO {s}.vectors (ticker, id, model, dimension, digest, since, numbers)
SELECT t.ticker, t.id, %(model)s, %(dimension)s, %(digest)s, %(since)s, %(numbers)s::real[]
FROM {s}.states t
WHERE t.ticker = %(ticker)s AND t.id = %(id)s AND t.changed = %(version)s::text::xid8 FOR SHARE
ON CONFLICT (ticker, id, model) DO UPDATE SET digest = excluded.digest, since = excluded.since,
    numbers = excluded.numbers, changed = pg_current_xact_id()
"""
_BY_DIGEST = """
SELECT DISTINCT ON (digest) digest, array_send(numbers) FROM {s}.vectors
WHERE model = %s AND digest = ANY(%s) AND numbers IS NOT NULL
"""
_CHANGED = """
SELECT id, ticker, since, array_send(numbers) FROM {s}.vectors
WHERE model = %s AND changed >= %s::text::xid8
"""
_NOW = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"
_STANDS = "model = {model} AND numbers IS NOT NULL AND since <= %(as_of)s"
_NEAREST = (
    "SELECT id, ticker, since, array_send(numbers) FROM {table} WHERE " + _STANDS + " AND {which} "
    "ORDER BY {near} LIMIT %(limit)s"
)
# As the similarity is rounded elsewhere; of those equally near the newest first.
_EXACT = "round(1000000 * ({near})), since DESC, id DESC"


class StoredVectors:
    """See :class:`~tradmem.journal.nearness.KeptVectors`.

    Args:
        server: where they are.
        ask: the statements.
        model: of which they are.
    """

    def __init__(self, server: Server, ask: Queries, model: str) -> None:
        self._server = server
        self._ask = ask
        self._model = model
        self._dimension = 0

    @cached_property
    def _extension(self) -> pgvector.Extension:
        return self._server.run(pgvector.extension)

    @property
    def ranks(self) -> bool:
        """Whether pgvector is there, and takes vectors of this dimension."""
        return bool(self._extension.schema) and pgvector.can_rank(self.dimension() or 1)

    def dimension(self) -> int:
        """How many numbers each has; 0 while there are none."""
        if not self._dimension:
            self._dimension = self._about()[0]
        return self._dimension

    def _about(self) -> tuple[int, str]:
        query = self._ask(_MODEL)
        row = self._server.run(lambda c: c.execute(query, (self._model,)).fetchone())
        return (int(row[0]), str(row[1])) if row else (0, "0")

    def behind(self) -> tuple[str, Iterator[Sequence[Behind]]]:
        """What changed since all had their vectors, some at a time, and the mark up to there."""
        _, done = self._about()
        row = self._server.run(lambda c: c.execute(_NOW).fetchone())
        (mark,) = row or ("0",)
        return mark, self._behind("0" if int(done) > int(mark) else done)

    def _behind(self, done: str) -> Iterator[Sequence[Behind]]:
        # Where all of them are looked at, their key is the order that costs no sorting.
        which, order = _LATER if done != "0" else _ANY
        query = self._ask(_BEHIND.replace("{which}", which).replace("{order}", order))
        values = {"model": self._model, "done": done, "changed": "0", "ticker": "", "id": ""}
        while rows := self._rows(query, values):
            yield [
                Behind(passage_of(entry_of(row[3:])), row[0], bytes(row[1] or b""), row[2])
                for row in rows
            ]
            if len(rows) < _AT_ONCE:
                return
            values |= {"changed": rows[-1][0], "ticker": rows[-1][3], "id": rows[-1][4]}

    def _rows(self, query: bytes, values: Any) -> list[tuple[Any, ...]]:
        return self._server.run(lambda c: c.execute(query, values).fetchall())

    def put(self, made: Sequence[Made], dimension: int) -> None:
        """Keep some vectors, those of entries that are still of that version."""
        rows = [
            {
                **item._asdict(),
                "model": self._model,
                "dimension": dimension,
                "numbers": None if item.numbers is None else array("f", item.numbers).tolist(),
            }
            for item in sorted(made, key=lambda item: (item.ticker, item.id))
        ]

        def keep(connection: Conn) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute(self._ask(_NEW_MODEL), (self._model, dimension))
                cursor.executemany(self._ask(_PUT), rows)

        self._server.run(keep)

    def done(self, mark: str) -> None:
        """Say that everything up to a mark has its vector."""
        query = self._ask(_DONE)
        if self._about()[1] != mark:
            self._server.run(lambda c: c.execute(query, (mark, self._model, mark)))

    def by_digest(self, digests: Sequence[bytes]) -> dict[bytes, Numbers]:
        """The vectors of some texts, as far as they are there."""
        if not digests:
            return {}
        values, query = (self._model, list(digests)), self._ask(_BY_DIGEST)
        rows = self._server.run(lambda c: c.execute(query, values, binary=True).fetchall())
        return {bytes(key): _numbers(raw) for key, raw in rows}

    def changed(self, mark: str | None) -> tuple[str, list[Kept]]:
        """What was kept since a mark, or all, and the mark for the next time."""
        query = self._ask(_CHANGED)

        def read(connection: Conn) -> tuple[str, list[Kept]]:
            with connection.transaction(), connection.cursor("vectors", binary=True) as cursor:
                (now,) = connection.execute(_NOW).fetchone() or ("0",)
                cursor.itersize = _AT_ONCE
                rows = cursor.execute(query, (self._model, mark or "0"))
                return now, [_kept(row) for row in rows]

        return self._server.run(read)

    # Ranked by the server

    def nearest(
        self, numbers: Numbers, as_of: datetime, ticker: str, own: int, others: int
    ) -> list[Kept]:
        """The nearest of a ticker and of others that stand as they do since then."""
        if not self.dimension():
            return []  # nothing is kept yet
        values = {"as_of": as_of, "ticker": ticker, "vector": array("f", numbers).tolist()}
        # Before a connection is taken, since the first time they take one themselves.
        settings = _BY_INDEX if self._is_indexed else ()
        ask_own, ask_others = self._nearest_own, self._nearest_others
        of_own, of_others = values | {"limit": own + _MARGIN}, values | {"limit": others + _MARGIN}

        def read(connection: Conn) -> list[tuple[Any, ...]]:
            with connection.transaction():
                found = connection.execute(ask_own, of_own, binary=True).fetchall()
                for setting in settings:
                    connection.execute(setting)
                rest = connection.execute(ask_others, of_others, binary=True)
                return [*found, *rest]

        return [_kept(row) for row in self._server.run(read)]

    @cached_property
    def _is_indexed(self) -> bool:
        schema = self._ask.schema
        return bool(pgvector.indexed_as(self.dimension())) and self._server.run(
            lambda c: pgvector.is_indexed(c, schema, self._model)
        )

    @cached_property
    def _nearest_own(self) -> bytes:
        return self._ranking("ticker = %(ticker)s", is_exact=True)

    @cached_property
    def _nearest_others(self) -> bytes:
        return self._ranking("ticker <> %(ticker)s", is_exact=not self._is_indexed)

    def _ranking(self, which: str, *, is_exact: bool) -> bytes:
        """The statement for the nearest of some rows: all looked at, or those of the index."""
        kind = "vector" if is_exact else pgvector.indexed_as(self.dimension())
        near = sql.SQL("numbers::{kind} OPERATOR({schema}.<=>) %(vector)s::real[]::{kind}").format(
            kind=pgvector.typed(self._extension.schema, kind, self.dimension()),
            schema=sql.Identifier(self._extension.schema),
        )
        order = sql.SQL(_EXACT).format(near=near) if is_exact else near
        # The model stands in the statement, or no index over its vectors alone would fit.
        query = sql.SQL(_NEAREST).format(
            model=sql.SQL(sql.Literal(self._model).as_string().replace("%", "%%")),
            table=sql.Identifier(self._ask.schema, "vectors"),
            which=sql.SQL(which),
            near=order,
        )
        return query.as_string().encode()


def _kept(row: Sequence[Any]) -> Kept:
    name, ticker, since, raw = row
    return Kept(name, ticker, since, None if raw is None else _numbers(raw))


def _numbers(raw: bytes) -> Numbers:
    """A vector from an array as the server sends it: before each number, its length in bytes."""
    found = array("f", bytes(raw)[_HEAD:])[1::2]
    if sys.byteorder == "little":
        found.byteswap()
    return found.tobytes()

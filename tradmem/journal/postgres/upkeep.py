"""What an owner does with a log: measure it, archive what is old, fold everything anew."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tradmem.clock import utc
from tradmem.journal.base import is_replaced, newest_revisions
from tradmem.journal.postgres import pgvector, queries, writing
from tradmem.journal.postgres.connection import Conn
from tradmem.journal.postgres.migrating import version
from tradmem.journal.postgres.queries import Queries
from tradmem.journal.postgres.rows import ARCHIVE, entry_of
from tradmem.model import Addition

_AT_ONCE = 500  # entries in one transaction
_SMALL = 100_000  # rows that are counted rather than estimated

SIZES = """
SELECT parent.relname, count(*), sum(greatest(child.reltuples, 0))::bigint,
    sum(pg_total_relation_size(child.oid))::bigint
FROM pg_inherits i JOIN pg_class child ON child.oid = i.inhrelid
JOIN pg_class parent ON parent.oid = i.inhparent
WHERE parent.relnamespace = %s::regnamespace AND parent.relkind = 'p' GROUP BY parent.relname
"""

# Beyond the newest of all, never among the newest of a ticker, and only with every horizon.
OLD = """
SELECT t.id FROM {s}.states t JOIN (
    SELECT m.ticker, m.id, m.known_at,
        row_number() OVER (ORDER BY m.known_at DESC, m.id DESC) AS place,
        count(*) FILTER (WHERE NOT m.hidden) OVER (
            PARTITION BY m.ticker ORDER BY m.known_at DESC, m.id DESC) AS of_ticker
    FROM {s}.memories m WHERE NOT m.archived AND m.until = 'infinity'
        AND EXISTS (SELECT FROM {s}.states r
                    WHERE r.ticker = m.ticker AND r.id = m.id AND r.status = 'resolved')
) n USING (ticker, id)
WHERE n.place > %(keep)s AND n.of_ticker > %(newest)s AND t.status = 'resolved'
    AND t.horizons @> %(horizons)s::integer[] AND NOT t.archived AND NOT t.replaced
ORDER BY n.known_at LIMIT %(limit)s
"""

PAGE = """
SELECT ticker, id FROM {s}.entries WHERE (ticker, id) > (%s, %s) ORDER BY ticker, id LIMIT %s
"""


def measure(connection: Conn, ask: Queries, due: datetime) -> dict[str, Any]:
    """How large a log is, by the server's own estimates, and what its queue holds."""
    rows = connection.execute(SIZES.encode(), (f'"{ask.schema}"',)).fetchall()
    sizes = {name: (count, tuples, size) for name, count, tuples, size in rows}
    for name in ("entries", "additions"):
        count, tuples, size = sizes[name]
        if tuples < _SMALL:  # the estimate of a table that was never looked at is nothing
            row = connection.execute(ask(f"SELECT count(*) FROM {{s}}.{name}")).fetchone()
            sizes[name] = (count, row[0] if row else 0, size)
    queue = connection.execute(ask(queries.QUEUE), {"due": due}).fetchone()
    ready, queued, claimed, oldest = queue or (0, 0, 0, None)
    return {
        "version": version(connection, ask.schema),
        "partitions": sizes["entries"][0],
        "entries": sizes["entries"][1],
        "additions": sizes["additions"][1],
        "bytes": sum(size for _, _, size in sizes.values()),
        "queued": queued,
        "due": ready,
        "claimed": claimed,
        "oldest_due": utc(oldest) if oldest else None,
        "vectors": pgvector.told(
            pgvector.extension(connection), pgvector.models(connection, ask.schema)
        ),
    }


def oldest(
    connection: Conn, ask: Queries, keep: int, newest: int, horizons: Sequence[int]
) -> list[str]:
    """The ids of some resolved entries that may leave the daily indexes."""
    values = {
        "keep": keep,
        "newest": newest,
        "horizons": list(horizons),
        "limit": _AT_ONCE,
    }
    return [name for (name,) in connection.execute(ask(OLD), values)]


def archived(at: datetime | None) -> Addition:
    """The addition that says that an entry is archived."""
    return Addition(kind=ARCHIVE, at=at)


Key = tuple[str, str]


def fold_anew(
    connection: Conn, ask: Queries, after: Key, horizons: Sequence[int]
) -> tuple[int, Key]:
    """Fold some entries anew, in the order of their keys.

    Returns:
        How many, and the last one's key.
    """
    with connection.transaction():
        keys = connection.execute(ask(PAGE), (*after, _AT_ONCE)).fetchall()
        if not keys:
            return 0, after
        names = [name for _, name in keys]
        connection.execute(ask(queries.ID_ANEW_ALL), ([ticker for ticker, _ in keys], names))
        connection.execute(ask(queries.FILED), (names,))
        connection.execute(ask(queries.LOCK_STATES), (names,))  # nobody adds to them meanwhile
        rows = connection.execute(ask(queries.BY_ID), (names,)).fetchall()
        entries = [entry_of(row) for row in rows]
        group = [
            entry_of(row)
            for day, ticker in sorted({(entry.date, entry.ticker) for entry in entries})
            for row in connection.execute(ask(queries.BY_DAY), {"ticker": ticker, "date": day})
        ]
        newest = newest_revisions(group)
        flags = {entry.id: is_replaced(entry, newest) for entry in entries}
        places = {row[1]: row[2] for row in rows}
        writing.fold_anew(connection, ask, entries, places, flags, horizons=horizons)
    return len(keys), (str(keys[-1][0]), str(keys[-1][1]))

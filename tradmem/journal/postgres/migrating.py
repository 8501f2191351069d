"""The schema, by numbered migrations: each is applied once, in order, by one at a time."""

import hashlib
import re
from importlib.resources import files
from typing import Any, NamedTuple

from psycopg import Connection, sql

from tradmem.errors import LogError, UsageError
from tradmem.journal.postgres import pgvector

_FOLDER = files("tradmem.journal.postgres") / "migrations"
_FILE = re.compile(r"([0-9]{4})_([a-z0-9_]+)\.sql\Z")
PARTITIONS = 16
_MOST_PARTITIONS = 1024
_LOCK = 0x7472_6D65  # of migrations, whatever the schema
_GROWING = ("entries", "additions", "ids", "lessons")
_DERIVED = ("states", "memories", "verdicts", "claims", "texts", "vectors")
_SEQUENCES = ("entry_order", "addition_order")


class Migration(NamedTuple):
    """One step from a schema to the next."""

    number: int
    name: str
    script: str

    @property
    def sha256(self) -> str:
        """Of the script, by which a changed one is noticed."""
        return hashlib.sha256(self.script.encode()).hexdigest()


def migrations() -> list[Migration]:
    """All of them, in order."""
    found = [(file, m) for file in _FOLDER.iterdir() if (m := _FILE.match(file.name))]
    steps = [Migration(int(m[1]), m[2], file.read_text(encoding="utf-8")) for file, m in found]
    return sorted(steps)


MIGRATIONS = migrations()
LATEST = MIGRATIONS[-1].number


def version(connection: "Connection[Any]", schema: str) -> int:
    """The number of the last migration of a schema; 0 if it is not there."""
    found = connection.execute(
        "SELECT to_regclass(%s) IS NOT NULL", (f'"{schema}".migrations',)
    ).fetchone()
    if not found or not found[0]:
        return 0
    query = sql.SQL("SELECT coalesce(max(number), 0) FROM {}.migrations")
    row = connection.execute(query.format(sql.Identifier(schema))).fetchone()
    return int(row[0]) if row else 0


def upgrade(
    connection: "Connection[Any]", schema: str, *, partitions: int = PARTITIONS
) -> list[Migration]:
    """Bring a schema up to date, all of it or nothing; two that start at once take turns.

    Args:
        connection: of a role that may create a schema.
        schema: its name.
        partitions: into how many a new log is divided, by ticker; it stays so.

    Returns:
        What was applied; nothing if it was up to date.

    Raises:
        UsageError: no such number of partitions.
        LogError: the schema is newer, or a migration was changed after it was applied; or
            the database cannot hold every text.
    """
    _check_encoding(connection)
    if not 1 <= partitions <= _MOST_PARTITIONS:
        raise UsageError(f"{partitions} partitions cannot be; use 1 to {_MOST_PARTITIONS}")
    name = sql.Identifier(schema)
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
        connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(name))
        connection.execute("SELECT set_config('tradmem.partitions', %s, true)", (str(partitions),))
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, name text NOT NULL,"
            " sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        applied = dict(connection.execute("SELECT number, sha256 FROM migrations").fetchall())
        _check(applied, schema)
        missing = [step for step in MIGRATIONS if step.number not in applied]
        for step in missing:
            connection.execute(step.script.encode())
            connection.execute(
                "INSERT INTO migrations (number, name, sha256) VALUES (%s, %s, %s)",
                (step.number, step.name, step.sha256),
            )
    return missing


def _check_encoding(connection: "Connection[Any]") -> None:
    found = connection.execute("SELECT current_setting('server_encoding')").fetchone()
    encoding = found[0] if found else ""
    encoding = encoding.decode() if isinstance(encoding, bytes) else encoding  # of SQL_ASCII
    if encoding != "UTF8":
        raise LogError(
            f"the database {connection.info.dbname} holds {encoding} text, and a log any text; "
            "make another one with `createdb --encoding=UTF8 --template=template0 NAME`"
        )


def offer_vectors(connection: "Connection[Any]", schema: str) -> str:
    """Let the server rank vectors where it can, and say who does; by one at a time.

    Puts the extension pgvector into the database if it can be had, and makes the index of each
    model of which many vectors are kept.

    Args:
        connection: of the schema's owner.
        schema: its name, up to date.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        found = pgvector.install(connection)
        pgvector.make_indexes(connection, schema, found)
        return pgvector.told(found, pgvector.models(connection, schema))


def _check(applied: dict[int, str], schema: str) -> None:
    if applied and max(applied) > LATEST:
        raise LogError(
            f"the schema {schema} is of version {max(applied)}, and this tradmem knows {LATEST}; "
            "run a newer tradmem"
        )
    for step in MIGRATIONS:
        if applied.get(step.number, step.sha256) != step.sha256:
            raise LogError(
                f"the schema {schema} was made by another migration {step.number} than this "
                "tradmem has; run the tradmem that made it, or copy the log into a new schema"
            )


def grant(connection: "Connection[Any]", schema: str, role: str) -> None:
    """Let a role use a log as an application does: entries and additions can only grow.

    Of two at the same time one waits.

    Args:
        connection: of the schema's owner.
        schema: its name.
        role: one that is there.
    """
    names = {"schema": sql.Identifier(schema), "role": sql.Identifier(role)}

    def tables(of: tuple[str, ...]) -> sql.Composed:
        return sql.SQL(", ").join(sql.Identifier(schema, table) for table in of)

    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        for query, of in (
            ("GRANT USAGE ON SCHEMA {schema} TO {role}", ()),
            ("GRANT SELECT ON {tables} TO {role}", ("migrations",)),
            ("REVOKE ALL ON {tables} FROM {role}", _GROWING),
            ("GRANT SELECT, INSERT ON {tables} TO {role}", _GROWING),
            ("GRANT UPDATE (filed) ON {tables} TO {role}", ("ids",)),
            ("REVOKE ALL ON {tables} FROM {role}", ("vector_models",)),
            ("GRANT SELECT, INSERT, UPDATE (done) ON {tables} TO {role}", ("vector_models",)),
            ("GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {role}", _DERIVED),
            ("GRANT USAGE ON SEQUENCE {tables} TO {role}", _SEQUENCES),
        ):
            connection.execute(sql.SQL(query).format(**names, tables=tables(of)))

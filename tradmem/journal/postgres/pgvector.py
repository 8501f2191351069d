"""The extension pgvector: whether it is there, and the indexes by which it finds the nearest."""

import hashlib
from typing import Any, NamedTuple

from psycopg import Connection, Error, sql

MANY = 20_000  # vectors of a model from which on an index pays; it gives up a little exactness
_MOST_INDEXED = 2_000  # numbers of a vector
_MOST_INDEXED_HALF = 4_000  # of one whose numbers are kept by half their bits
_MOST = 16_000

_FOUND = """
SELECT n.nspname, e.extversion, has_schema_privilege(n.oid, 'USAGE')
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""
_AVAILABLE = "SELECT FROM pg_available_extensions WHERE name = 'vector'"
_MODELS = """
SELECT m.model, m.dimension,
    (SELECT count(*) FROM {s}.vectors v WHERE v.model = m.model AND v.numbers IS NOT NULL)
FROM {s}.vector_models m ORDER BY m.model
"""


class Extension(NamedTuple):
    """Where pgvector is.

    Attributes:
        schema: of its types and operators; empty if it is not there, or may not be used.
        said: its version, or why it is not used.
    """

    schema: str
    said: str


class Model(NamedTuple):
    """What is kept of one model.

    Attributes:
        is_indexed: whether the nearest come from an index, which may miss one now and then.
    """

    model: str
    dimension: int
    vectors: int
    is_indexed: bool


def extension(connection: "Connection[Any]") -> Extension:
    """The extension as this connection's role may use it."""
    row = connection.execute(_FOUND).fetchone()
    if row is None:
        lies_there = connection.execute(_AVAILABLE).fetchone()
        why = "it is not in this database" if lies_there else 'extension "vector" is not available'
        return Extension("", f"without pgvector: {why}")
    schema, version, is_ours = row
    if not is_ours:
        return Extension("", f"without pgvector: its schema {schema} may not be used")
    return Extension(schema, f"pgvector {version}")


def install(connection: "Connection[Any]") -> Extension:
    """Put the extension into the database, if it can be had and is not there yet."""
    found = extension(connection)
    if found.schema:
        return found
    try:
        with connection.transaction():
            # Of the database, not of one log in it; another log must outlive this one.
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except Error as error:
        return Extension("", f"without pgvector: {error.diag.message_primary or error}")
    return extension(connection)


def make_indexes(connection: "Connection[Any]", schema: str, found: Extension) -> list[str]:
    """Make the index of each model that has many vectors and none yet, and name the models.

    Nobody can keep a vector meanwhile, which takes a minute for some hundred thousand.
    """
    made = []
    for model in models(connection, schema) if found.schema else ():
        kind = indexed_as(model.dimension)
        if kind and model.vectors >= MANY and not model.is_indexed:
            connection.execute(
                sql.SQL(
                    "CREATE INDEX {name} ON {table} USING hnsw ((numbers::{kind}) {operators}) "
                    "WHERE model = {model}"
                ).format(
                    name=sql.Identifier(index_name(model.model)),
                    table=sql.Identifier(schema, "vectors"),
                    kind=typed(found.schema, kind, model.dimension),
                    operators=sql.Identifier(found.schema, f"{kind}_cosine_ops"),
                    model=sql.Literal(model.model),
                )
            )
            made.append(model.model)
    return made


def models(connection: "Connection[Any]", schema: str) -> list[Model]:
    """The models of which vectors are kept."""
    query = sql.SQL(_MODELS).format(s=sql.Identifier(schema))
    rows = connection.execute(query).fetchall()
    return [
        Model(model, dimension, count, is_indexed(connection, schema, model))
        for model, dimension, count in rows
    ]


def is_indexed(connection: "Connection[Any]", schema: str, model: str) -> bool:
    """Whether the vectors of a model have their index."""
    query = "SELECT to_regclass(%s) IS NOT NULL"
    row = connection.execute(query, (f'"{schema}"."{index_name(model)}"',)).fetchone()
    return bool(row and row[0])


def index_name(model: str) -> str:
    """The name of the index over the vectors of a model."""
    return f"vectors_near_{hashlib.sha256(model.encode()).hexdigest()[:12]}"


def indexed_as(dimension: int) -> str:
    """The type by which vectors of a dimension are indexed; empty if they cannot be."""
    if dimension <= _MOST_INDEXED:
        return "vector"
    return "halfvec" if dimension <= _MOST_INDEXED_HALF else ""


def can_rank(dimension: int) -> bool:
    """Whether pgvector takes vectors of a dimension at all."""
    return 0 < dimension <= _MOST


def typed(schema: str, kind: str, dimension: int) -> sql.Composed:
    """A type of pgvector, for vectors of a dimension."""
    return sql.SQL("{}({})").format(sql.Identifier(schema, kind), sql.SQL(str(dimension)))


def told(found: Extension, kept: list[Model]) -> str:
    """Who finds the nearest, in words."""
    who = "the server" if found.schema else "each process"
    what = "; ".join(
        f"{m.vectors} of {m.model} ({m.dimension} numbers{', by index' if m.is_indexed else ''})"
        for m in kept
    )
    return f"{found.said}: {who} finds the nearest" + (f"; vectors: {what}" if what else "")

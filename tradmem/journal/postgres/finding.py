"""Full text by PostgreSQL itself: candidates by index, then a look at how each stood.

The index has every word that an entry ever held, so it misses nothing that stood at some
instant; what it finds because of words that came later, or are gone, is looked at again.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tradmem.journal.finding import Sought
from tradmem.journal.passages import passage_of
from tradmem.journal.postgres.connection import Conn, Server
from tradmem.journal.postgres.queries import ENTRY, Queries
from tradmem.journal.postgres.rows import askable, entry_of
from tradmem.journal.postgres.words import indexed, terms, words_of
from tradmem.journal.postgres.writing import by_id
from tradmem.model import Entry

_AT_ONCE = 64  # entries that are read before the next are looked at
_MOST_CLOSE = 20_000  # the newest that hold any of the words, among which the closest are told
_CLOSEST = 500
_RARE = 0.01  # of all entries; more than what is estimated of a word that is not known

_WANTED = """
    (%(ticker)s::text IS NULL OR t.ticker = %(ticker)s) AND t.date >= %(since)s::date
    AND t.date <= %(until)s::date AND (%(archived)s::boolean OR NOT EXISTS (
        SELECT FROM {s}.states s WHERE s.ticker = t.ticker AND s.id = t.id AND s.archived))"""
# The estimate of what a walk by date meets is the same for every word that the statistics do
# not name, whether a thousand hold it or one; the former are named, so it is looked for by index.
_ESTIMATE = "EXPLAIN (FORMAT JSON) SELECT FROM {s}.texts t WHERE {words}"
_PAGE = f"""
SELECT {ENTRY} FROM (
    SELECT t.ticker, t.id, t.date, t.place FROM {{s}}.texts t
    WHERE {_WANTED} AND {{words}} AND (t.date, t.place) < (%(day)s::date, %(place)s::bigint)
    ORDER BY t.date DESC, t.place DESC LIMIT {_AT_ONCE}) n
CROSS JOIN LATERAL (
    SELECT * FROM {{s}}.entries WHERE ticker = n.ticker AND id = n.id LIMIT 1) e
ORDER BY n.date DESC, n.place DESC
"""
_CLOSE = f"""
SELECT id FROM (
    SELECT t.id, t.date, t.place, t.words FROM {{s}}.texts t
    WHERE {_WANTED} AND {{any}}
    ORDER BY t.date DESC, t.place DESC LIMIT {_MOST_CLOSE}) n
ORDER BY {{many}} DESC, date DESC, place DESC LIMIT {_CLOSEST}
"""
_HELD = """
SELECT n - 1, ({many}) FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS t (text, n),
    LATERAL (SELECT to_tsvector('{s}.words', text) AS words) w
"""


def holding(server: Server, ask: Queries, sought: Sought) -> Iterator[Entry]:
    """See :class:`~tradmem.journal.finding.FullTextJournal`."""
    wanted = terms(sought.query)
    if sought.query.strip() and not wanted:
        return
    every = f"t.words @@ ({_joined(len(wanted), ' && ')})" if wanted else "true"
    page = ask(_PAGE.replace("{words}", every))
    values = _values(sought, wanted) | {"day": "9999-12-31", "place": 2**62}
    are_few = bool(wanted) and server.run(lambda c: _are_few(c, ask, every, values))

    def read(connection: Conn) -> list[tuple[Any, ...]]:
        return _planned(connection, page, values, are_few=are_few)

    while True:
        rows = server.run(read)
        yield from _as_they_stood(server, ask, rows, sought, wanted)
        if len(rows) < _AT_ONCE:
            return
        values["day"], values["place"] = rows[-1][3], rows[-1][2]


def _are_few(connection: Conn, ask: Queries, words: str, values: dict[str, Any]) -> bool:
    """Whether so few hold what is wanted that sorting them is less work than a walk by date."""
    some, every = (
        _planned(connection, ask(_ESTIMATE.replace("{words}", which)), values, are_few=False)
        for which in (words, "true")
    )
    return bool(_rows(some) <= _RARE * _rows(every))


def _rows(plan: Sequence[Any]) -> float:
    return float(plan[0][0][0]["Plan"]["Plan Rows"])


def _planned(
    connection: Conn, query: bytes, values: dict[str, Any], *, are_few: bool
) -> list[tuple[Any, ...]]:
    """The rows of a search, planned for these very words: rare ones and common ones differ."""
    with connection.transaction():
        connection.execute("SET LOCAL plan_cache_mode = force_custom_plan")
        if are_few:
            connection.execute("SET LOCAL enable_indexscan = off")  # which would be that by date
        return connection.execute(query, values, prepare=False).fetchall()


def _as_they_stood(
    server: Server, ask: Queries, rows: Sequence[Any], sought: Sought, wanted: Sequence[str]
) -> Iterator[Entry]:
    entries = [(entry, _then(entry, sought)) for entry in map(entry_of, rows)]
    pairs = [(entry, then) for entry, then in entries if then]
    changed = [then for entry, then in pairs if wanted and _has_changed(entry, then)]
    counts = held(server, ask, changed, wanted)
    for _, then in pairs:
        if counts.get(then.id, len(wanted)) == len(wanted):
            yield then


def holding_some(server: Server, ask: Queries, sought: Sought) -> Iterator[Entry]:
    """See :class:`~tradmem.journal.finding.FullTextJournal`."""
    wanted = terms(sought.query)
    if not wanted:
        return
    some = f"t.words @@ ({_joined(len(wanted), ' || ')})"
    query = _CLOSE.replace("{any}", some).replace("{many}", _many(wanted))
    values = _values(sought, wanted)

    def close(connection: Conn) -> list[Entry]:
        are_few = _are_few(connection, ask, some, values)
        rows = _planned(connection, ask(query), values, are_few=are_few)
        names = [entry_id for (entry_id,) in rows]
        return list(by_id(connection, ask, names).values())

    then = [found for entry in server.run(close) if (found := _then(entry, sought))]
    counts = held(server, ask, then, wanted)
    order = sorted(then, key=lambda entry: -counts[entry.id])  # stable: else the newest first
    yield from (entry for entry in order if counts[entry.id])


def held(
    server: Server, ask: Queries, entries: Sequence[Entry], wanted: Sequence[str]
) -> dict[str, int]:
    """How many of some terms each of some entries holds as it stands there."""
    if not entries or not wanted:
        return {}
    texts = [indexed(passage_of(entry).text) for entry in entries]
    values = {"texts": texts} | _numbered(wanted)
    query = ask(_HELD.replace("{many}", _many(wanted).replace("words @@", "w.words @@")))
    rows = server.run(lambda c: c.execute(query, values).fetchall())
    return {entries[number].id: count for number, count in rows}


def _then(entry: Entry, sought: Sought) -> Entry | None:
    return entry if sought.as_of is None else entry.at(sought.as_of)


def _has_changed(entry: Entry, then: Entry) -> bool:
    """Whether an entry ever held other words than it held then."""
    return sorted(indexed(passage_of(then).text).split()) != sorted(words_of(entry).split())


def _joined(count: int, sign: str) -> str:
    return sign.join(map(_phrase, range(count)))


def _phrase(number: int) -> str:
    return f"phraseto_tsquery('{{s}}.words', %(term{number})s)"


def _many(wanted: Sequence[str]) -> str:
    """How many of the terms a row holds, as an expression."""
    return " + ".join(f"(words @@ {_phrase(n)})::integer" for n in range(len(wanted)))


def _numbered(wanted: Sequence[str]) -> dict[str, str]:
    return {f"term{number}": term for number, term in enumerate(wanted)}


def _values(sought: Sought, wanted: Sequence[str]) -> dict[str, Any]:
    return {
        "ticker": None if sought.ticker is None else askable(sought.ticker),
        "since": sought.since or "0001-01-01",
        "until": sought.until or "9999-12-31",
        "archived": sought.archived,
        **_numbered(wanted),
    }

"""The statements, with the schema's name where ``{s}`` stands."""

from functools import cached_property

from psycopg import sql

_ADDITIONS = """coalesce((
        SELECT json_agg(json_build_array(a.line, a.text) ORDER BY a.place)
        FROM {s}.additions a WHERE a.ticker = e.ticker AND a.id = e.id), '[]')"""
# What rows.Row takes.
ENTRY = "e.ticker, e.id, e.place, e.date, e.is_note, e.rating, e.text, e.identity, " + _ADDITIONS
_NEWEST = "known_at DESC, date DESC, id DESC"
# It is tomorrow already, east of UTC; nothing is dated later than it was made.
_THEN = (
    "known_at <= %(as_of)s AND since <= %(as_of)s AND until > %(as_of)s AND date <= %(day)s::date"
)
_UNFINISHED = "status IN ('pending', 'settled') AND NOT replaced AND NOT archived"

# One statement records a note or a revision, all of it or, where the id is taken, nothing.
RECORD = """
WITH fresh AS (
    INSERT INTO {s}.ids (id, ticker)
    SELECT %(id)s::text, %(ticker)s::text
    ON CONFLICT DO NOTHING
    RETURNING ticker, id
), entry AS (
    INSERT INTO {s}.entries
        (ticker, id, date, agent, revision, is_note, rating, text, identity, edited)
    SELECT ticker, id, %(date)s::date, %(agent)s::text, %(revision)s::integer,
        %(is_note)s::boolean, %(rating)s::text, %(text)s::text,
        %(identity)s::json, %(edited)s::text[]
    FROM fresh
    RETURNING ticker, id, place, date
), state AS (
    INSERT INTO {s}.states (ticker, id, place, date, status, replaced)
    SELECT ticker, id, place, date, %(status)s::text, %(replaced)s::boolean FROM entry
), words AS (
    INSERT INTO {s}.texts (ticker, id, place, date, words)
    SELECT ticker, id, place, date, to_tsvector('{s}.words', %(words)s::text) FROM entry
), claim AS (
    INSERT INTO {s}.claims (ticker, id, due)
    SELECT ticker, id, %(due)s::timestamptz FROM entry WHERE %(due)s::timestamptz IS NOT NULL
)
SELECT place FROM entry
"""

# A decision that is the first of its day, ticker and agent; what follows from it is filed later.
RECORD_FIRST = """
WITH fresh AS (
    INSERT INTO {s}.ids (id, ticker, filed)
    SELECT %(id)s::text, %(ticker)s::text, false
    WHERE NOT EXISTS (
        SELECT FROM {s}.entries
        WHERE ticker = %(ticker)s AND date = %(date)s AND agent = %(agent)s AND NOT is_note)
    ON CONFLICT DO NOTHING
    RETURNING ticker, id
)
INSERT INTO {s}.entries (ticker, id, date, agent, revision, is_note, rating, text, identity, edited)
SELECT ticker, id, %(date)s::date, %(agent)s::text, %(revision)s::integer, false,
    %(rating)s::text, %(text)s::text, %(identity)s::json, %(edited)s::text[]
FROM fresh
RETURNING place
"""
UNFILED = "SELECT ticker, id FROM {s}.ids WHERE NOT filed LIMIT %s"
UNFILED_OF = "SELECT ticker, id FROM {s}.ids WHERE NOT filed AND id = ANY(%s)"
LOCK_UNFILED = """
SELECT ticker, id FROM {s}.ids WHERE NOT filed AND id = ANY(%s) ORDER BY id FOR UPDATE
"""
FILED = "UPDATE {s}.ids SET filed = true WHERE id = ANY(%s)"

LOCK_STATES = """
SELECT t.ticker, t.id, t.place, t.date, t.replaced
FROM {s}.ids i JOIN {s}.states t ON t.ticker = i.ticker AND t.id = i.id
WHERE i.id = ANY(%s) ORDER BY t.ticker, t.id FOR UPDATE OF t
"""

LOCK_CLAIMS = """
SELECT c.id FROM {s}.ids i JOIN {s}.claims c ON c.ticker = i.ticker AND c.id = i.id
WHERE i.id = ANY(%(ids)s) AND c.holder = %(holder)s ORDER BY c.ticker, c.id FOR UPDATE OF c
"""

BY_ID = f"""
SELECT {ENTRY} FROM {{s}}.ids i JOIN {{s}}.entries e ON e.ticker = i.ticker AND e.id = i.id
WHERE i.id = ANY(%s)
"""

BY_DAY = f"""
SELECT {ENTRY} FROM {{s}}.entries e WHERE e.ticker = %(ticker)s AND e.date = %(date)s
ORDER BY e.place
"""

ALL = f"SELECT {ENTRY} FROM {{s}}.entries e ORDER BY e.date, e.place"

IN_SEQUENCE = f"SELECT {ENTRY} FROM {{s}}.entries e ORDER BY e.place"

LATEST = f"""
SELECT {ENTRY} FROM (
    SELECT ticker, id, date, place FROM {{s}}.states ORDER BY date DESC, place DESC LIMIT %s) t
JOIN {{s}}.entries e USING (ticker, id) ORDER BY e.date, e.place
"""

IN_LOG = f"""
SELECT {ENTRY} FROM {{s}}.states t JOIN {{s}}.entries e USING (ticker, id)
WHERE NOT t.archived ORDER BY e.date, e.place
"""

UNFINISHED = f"""
SELECT {ENTRY} FROM {{s}}.states t JOIN {{s}}.entries e USING (ticker, id)
WHERE t.{_UNFINISHED.replace("AND NOT ", "AND NOT t.")} ORDER BY e.place
"""

PENDING_OF = f"""
SELECT id FROM {{s}}.states WHERE ticker = %(ticker)s AND {_UNFINISHED} ORDER BY place
"""

LACKING = f"""
SELECT {ENTRY} FROM {{s}}.states t JOIN {{s}}.entries e USING (ticker, id)
WHERE t.horizons <> '{{{{}}}}' AND NOT t.horizons @> %s::integer[]
    AND NOT t.replaced AND NOT t.archived ORDER BY e.place
"""

CHANGED = f"""
SELECT {ENTRY} FROM {{s}}.states t JOIN {{s}}.entries e USING (ticker, id)
WHERE t.changed >= %s::text::xid8 ORDER BY t.changed, e.place
"""

TAKEN = "SELECT FROM {s}.ids WHERE id = %s"
REPLACED_OF = """
SELECT id FROM {s}.states t JOIN {s}.ids USING (ticker, id)
WHERE ids.id = ANY(%s) AND t.replaced
"""
BEGINNING = "SELECT id FROM {s}.ids WHERE id >= %s AND id < %s ORDER BY id"
LESSON = "SELECT id FROM {s}.lessons WHERE hash = %s"
LESSONS = "SELECT hash, id FROM {s}.lessons"
TICKERS = """
WITH RECURSIVE found AS (
    (SELECT ticker FROM {s}.entries ORDER BY ticker LIMIT 1)
    UNION ALL
    SELECT (SELECT e.ticker FROM {s}.entries e WHERE e.ticker > found.ticker
            ORDER BY e.ticker LIMIT 1)
    FROM found WHERE found.ticker IS NOT NULL
)
SELECT ticker FROM found WHERE ticker IS NOT NULL
"""

ADD = """
INSERT INTO {s}.additions (ticker, id, digest, kind, line, text)
VALUES (%s, %s, %s, %s, %s::json, %s) ON CONFLICT DO NOTHING
"""
STATE = """
UPDATE {s}.states SET status = %s, horizons = %s, archived = %s, changed = pg_current_xact_id()
WHERE ticker = %s AND id = %s
"""
REPLACE = """
UPDATE {s}.states SET replaced = true, changed = pg_current_xact_id()
WHERE ticker = %s AND id = ANY(%s)
"""
FORGET_TAUGHT = "DELETE FROM {s}.memories WHERE ticker = %s AND id = ANY(%s)"
FORGET_VERDICTS = "DELETE FROM {s}.verdicts WHERE ticker = %s AND id = ANY(%s)"
FORGET_CLAIMS = "DELETE FROM {s}.claims WHERE ticker = %s AND id = ANY(%s)"
TEACH = """
INSERT INTO {s}.memories
    (ticker, id, date, since, until, known_at, has_lesson, hidden, archived)
VALUES (%s, %s, %s, %s, coalesce(%s, 'infinity'::timestamptz), %s, %s, %s, %s)
"""
JUDGE = """
INSERT INTO {s}.verdicts
    (ticker, id, known_at, change, horizon, entry, span, cell, is_raw, is_primary)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
STATE_ANEW = """
INSERT INTO {s}.states (ticker, id, place, date, status, replaced, archived, horizons)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (ticker, id) DO UPDATE SET place = excluded.place, date = excluded.date,
    status = excluded.status, replaced = excluded.replaced, archived = excluded.archived,
    horizons = excluded.horizons, changed = pg_current_xact_id()
"""
WORDS_ANEW = """
INSERT INTO {s}.texts (ticker, id, place, date, words)
VALUES (%s, %s, %s, %s, to_tsvector('{s}.words', %s))
ON CONFLICT (ticker, id) DO UPDATE SET words = excluded.words
"""
ID_ANEW_ALL = """
INSERT INTO {s}.ids (ticker, id) SELECT * FROM unnest(%s::text[], %s::text[])
ON CONFLICT DO NOTHING
"""
SAY = "INSERT INTO {s}.lessons (hash, id) VALUES (%s, %s) ON CONFLICT DO NOTHING"
WORDS = """
UPDATE {s}.texts SET words = to_tsvector('{s}.words', %s) WHERE ticker = %s AND id = %s
"""
DUE = """
INSERT INTO {s}.claims (ticker, id, due) VALUES (%s, %s, %s)
ON CONFLICT (ticker, id) DO UPDATE SET due = excluded.due
"""
DUE_ANEW = "INSERT INTO {s}.claims (ticker, id, due) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"

COUNTS = """
WITH known AS NOT MATERIALIZED (
    SELECT horizon, change, entry, span, cell, is_raw, is_primary
    FROM {s}.verdicts WHERE ticker = %(ticker)s AND known_at <= %(as_of)s
), totals AS (
    SELECT horizon, cell, sum(change) AS n,
        sum(change) FILTER (WHERE is_raw) AS raw, sum(change) FILTER (WHERE is_primary) AS own
    FROM known GROUP BY horizon, cell
), spans AS (
    SELECT horizon, span, sum(change) AS n FROM known WHERE cell <> 9 GROUP BY horizon, span
), longest AS (
    SELECT horizon, greatest(max(span), 1) AS days FROM spans WHERE n > 0 GROUP BY horizon
), blocks AS (
    SELECT horizon, (entry - 1) / (2 * days) AS block,
        sum(change) FILTER (WHERE cell IN (0, 8)) AS r, sum(change) AS n
    FROM known JOIN longest USING (horizon) WHERE cell IN (0, 8, 2, 6) GROUP BY horizon, block
)
SELECT horizon, array_agg(cell), array_agg(n::bigint),
    coalesce(sum(raw) FILTER (WHERE cell <> 9), 0)::bigint, coalesce(sum(own), 0)::bigint,
    (SELECT array[sum(n), sum(coalesce(r, 0)), count(*), sum(coalesce(r, 0) * coalesce(r, 0)),
                  sum(coalesce(r, 0) * n), sum(n * n)]::bigint[]
     FROM blocks WHERE blocks.horizon = totals.horizon AND n > 0)
FROM totals GROUP BY horizon ORDER BY horizon
"""

CLAIMABLE = """
SELECT ticker, id FROM {s}.claims
WHERE due <= %(due)s::timestamptz AND leased_until < clock_timestamp() {which}
ORDER BY due LIMIT {limit} FOR UPDATE SKIP LOCKED
"""
CLAIM = """
UPDATE {s}.claims SET holder = %s, leased_until = clock_timestamp() + make_interval(secs => %s)
WHERE ticker = %s AND id = %s
"""
# Entries that are finished, for a person who asks again; they leave the queue with the claim.
QUEUE_UP = """
INSERT INTO {s}.claims (ticker, id, due)
SELECT ticker, id, 'infinity' FROM {s}.ids WHERE id = ANY(%s) ORDER BY ticker, id
ON CONFLICT DO NOTHING
"""
_MINE = """holder = %(holder)s
    AND (ticker, id) IN (SELECT * FROM unnest(%(tickers)s::text[], %(ids)s::text[]))"""
UNQUEUE = f"DELETE FROM {{s}}.claims WHERE due = 'infinity' AND {_MINE}"
RENEW = f"""
UPDATE {{s}}.claims SET leased_until = clock_timestamp() + make_interval(secs => %(lease)s)
WHERE {_MINE}
"""
RELEASE = """
UPDATE {s}.claims SET holder = '', leased_until = '-infinity', due = coalesce(%s, due)
WHERE ticker = %s AND id = %s AND holder = %s AND due < 'infinity'
"""
QUEUE = """
SELECT count(*) FILTER (WHERE due <= %(due)s), count(*),
    count(*) FILTER (WHERE leased_until >= clock_timestamp()), min(due)
FROM {s}.claims
"""


def _places(which: str, limit: int | None, *, is_archived: bool) -> str:
    ends = "" if limit is None else f" LIMIT {limit}"
    archived = "archived" if is_archived else "NOT archived"
    return (
        "(SELECT ticker, id, known_at, date FROM {s}.memories "
        f"WHERE {archived} AND {which} AND {_THEN} ORDER BY {_NEWEST}{ends})"
    )


def memories(which: str, limit: int | None) -> str:
    """The newest memories of a kind, from the log's index and the archive's, in one statement."""
    ends = "" if limit is None else f" LIMIT {limit}"
    log, archive = (_places(which, limit, is_archived=old) for old in (False, True))
    newest = f"WITH n AS (SELECT * FROM ({log} UNION ALL {archive}) b ORDER BY {_NEWEST}{ends}) "
    if limit is None:
        return newest + f"SELECT {ENTRY} FROM n JOIN {{s}}.entries e USING (ticker, id) {_IN_ORDER}"
    also = "AND ticker = %(ticker)s" if "%(ticker)s" in which else ""
    return newest + _few(also)


_IN_ORDER = "ORDER BY n.known_at DESC, n.date DESC, n.id DESC"


def _few(also: str = "") -> str:
    """The entries of the few rows of ``n``, each by its key, whatever the planner expects."""
    return (
        f"SELECT {ENTRY} FROM n CROSS JOIN LATERAL (SELECT * FROM {{s}}.entries "
        f"WHERE ticker = n.ticker AND id = n.id {also} LIMIT 1) e {_IN_ORDER}"
    )


def others(which: str, limit: int) -> str:
    """The newest memory of each of the tickers that have the newest: one walk down the index."""
    step = "".join(
        f"(SELECT ticker, id, known_at, date FROM {{s}}.memories m WHERE {archived} AND {which} "
        f"AND {_THEN} AND {{below}} ORDER BY {_NEWEST} LIMIT 1)"
        + (" UNION ALL " if archived == "NOT archived" else "")
        for archived in ("NOT archived", "archived")
    )
    one = f"SELECT * FROM ({step}) b ORDER BY {_NEWEST} LIMIT 1"
    first = one.replace("{below}", "ticker <> %(not_ticker)s")
    below = "(m.known_at, m.date, m.id) < (f.known_at, f.date, f.id) AND m.ticker <> ALL (f.seen)"
    then = one.replace("{below}", below)
    return (
        "WITH RECURSIVE n AS ("
        f"SELECT g.*, array[g.ticker, %(not_ticker)s] AS seen, 1 AS many FROM ({first}) g "
        "UNION ALL SELECT g.*, g.ticker || f.seen, f.many + 1 FROM n f "
        f"CROSS JOIN LATERAL ({then}) g WHERE f.many < {limit}) {_few()}"
    )


class Queries:
    """Statements for one schema, each made once."""

    def __init__(self, schema: str) -> None:
        self.schema = schema
        self._made: dict[str, bytes] = {}

    @cached_property
    def _name(self) -> str:
        return sql.Identifier(self.schema).as_string(None)

    def __call__(self, template: str) -> bytes:
        """A statement for this schema."""
        made = self._made.get(template)
        if made is None:
            named = template.replace("{s}", self._name).replace("{{}}", "{}")
            made = self._made[template] = named.encode()
        return made

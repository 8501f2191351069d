"""What a transaction writes: an entry, additions, and everything that follows from them."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from psycopg import errors

from tradmem.errors import UnknownEntry
from tradmem.journal.base import check_additions, is_replaced, newest_revisions
from tradmem.journal.block import fold_now
from tradmem.journal.postgres import queries
from tradmem.journal.postgres.connection import Conn
from tradmem.journal.postgres.deriving import Derived, derive
from tradmem.journal.postgres.queries import Queries
from tradmem.journal.postgres.rows import (
    ARCHIVE,
    as_stored,
    askable,
    entry_of,
    identity_of,
    key_of,
    line_of,
)
from tradmem.journal.postgres.words import words_of
from tradmem.model import Addition, Entry

_AT_ONCE = 500  # entries that are filed in one transaction


class Standing(NamedTuple):
    """Where a locked entry stands in the database."""

    ticker: str
    id: str
    place: int
    date: Any
    replaced: bool


def record(
    connection: Conn,
    ask: Queries,
    entry: Entry,
    *,
    anew: bool,
    horizons: Sequence[int],
    olds: Sequence[Entry] = (),
) -> bool:
    """Store a decision or a note that nothing was added to yet.

    Args:
        connection: in no transaction.
        ask: the statements.
        entry: as it is.
        anew: whether to store it though others of its day, ticker and agent stand.
        horizons: sessions after which outcomes are taken.
        olds: those of its day, ticker and agent that stand, where it is stored anew.

    Returns:
        Whether it was stored; else its id or its key is taken.
    """
    try:
        if not (anew or entry.recorded.is_note or "lesson" in entry.recorded.extra):
            values = _stored(entry)
            return connection.execute(ask(queries.RECORD_FIRST), values).fetchone() is not None
        with connection.transaction():
            return _record_anew(connection, ask, entry, horizons, olds)
    except errors.UniqueViolation:  # another transaction was faster
        return False


def _record_anew(
    connection: Conn, ask: Queries, entry: Entry, horizons: Sequence[int], olds: Sequence[Entry]
) -> bool:
    """Store a note, or a decision beside others of its key, with all that follows from it."""
    derived = derive(entry, horizons)
    newest = newest_revisions([*olds, entry])
    older = [old.id for old in olds if is_replaced(old, newest)]
    file_new(connection, ask, horizons, older)
    values = _recorded(entry, derived, replaced=is_replaced(entry, newest))
    if connection.execute(ask(queries.RECORD), values).fetchone() is None:
        return False
    if older:
        connection.execute(ask(queries.REPLACE), (entry.ticker, older))
        _forget(connection, ask, entry.ticker, older)
    _derive(connection, ask, [(entry, derived)])
    return True


def file_new(
    connection: Conn, ask: Queries, horizons: Sequence[int], names: Sequence[str] | None = None
) -> None:
    """See to it that the tables that follow have what was recorded: all of it, or some ids."""
    while True:
        if names is None:
            found = connection.execute(ask(queries.UNFILED), (_AT_ONCE,)).fetchall()
        elif names:
            found = connection.execute(ask(queries.UNFILED_OF), (list(names),)).fetchall()
        else:
            found = []
        if not found:
            return
        with connection.transaction():
            _file(connection, ask, horizons, [entry_id for _, entry_id in found])


def file_if_writable(connection: Conn, ask: Queries, horizons: Sequence[int]) -> None:
    """File what was recorded; a read-only server is read as far as its primary has filed it."""
    with suppress(errors.ReadOnlySqlTransaction):
        file_new(connection, ask, horizons)


def _file(connection: Conn, ask: Queries, horizons: Sequence[int], wanted: list[str]) -> None:
    # Whoever files the same at the same time is waited for, and has done it then.
    keys = connection.execute(ask(queries.LOCK_UNFILED), (wanted,)).fetchall()
    names = [entry_id for _, entry_id in keys]
    if names:
        rows = connection.execute(ask(queries.BY_ID), (names,)).fetchall()
        entries = [entry_of(row) for row in rows]
        fold_anew(
            connection,
            ask,
            entries,
            {row[1]: row[2] for row in rows},
            dict.fromkeys(names, False),  # a later revision would have filed it
            horizons=horizons,
        )
        connection.execute(ask(queries.FILED), (names,))


def _stored(entry: Entry) -> dict[str, Any]:
    recorded = entry.recorded
    return {
        "id": recorded.id,
        "ticker": recorded.ticker,
        "date": recorded.date,
        **key_of(recorded),
        "is_note": recorded.is_note,
        "rating": recorded.rating,
        "text": recorded.text,
        "identity": identity_of(recorded),
        "edited": list(entry.edited),
    }


def _recorded(entry: Entry, derived: Derived, *, replaced: bool) -> dict[str, Any]:
    return _stored(entry) | {
        "status": derived.status.value,
        "replaced": replaced,
        "words": words_of(entry),
        "due": None if replaced else derived.due,
    }


def add(
    connection: Conn,
    ask: Queries,
    additions: Sequence[tuple[str, Addition]],
    *,
    horizons: Sequence[int],
    holder: str = "",
) -> list[Entry]:
    """Add to entries, and bring up to date what follows from them, in one transaction.

    Args:
        connection: in no transaction.
        ask: the statements.
        additions: as for :meth:`tradmem.journal.base.Journal.add`.
        horizons: sessions after which outcomes are taken.
        holder: whose claims they have to be; what is not claimed by it is left alone.

    Raises:
        UnknownEntry: no entry has such an id; nothing was added.
        UsageError: an outcome is beyond all bounds; nothing was added.
    """
    check_additions(additions)
    names = list(dict.fromkeys(entry_id for entry_id, _ in additions))
    for entry_id in names:
        if not askable(entry_id):
            raise _unknown(entry_id)
    file_new(connection, ask, horizons, names)
    with connection.transaction():
        found = connection.execute(ask(queries.LOCK_STATES), (names,)).fetchall()
        standing = {row[1]: Standing(*row) for row in found}
        for entry_id in names:
            if entry_id not in standing:
                raise _unknown(entry_id)
        held = set(names)
        if holder:
            mine = {"ids": names, "holder": holder}
            held = {found for (found,) in connection.execute(ask(queries.LOCK_CLAIMS), mine)}
        before = by_id(connection, ask, names)
        fresh = _fresh(before, [pair for pair in additions if pair[0] in held])
        now = {entry_id: _grown(before[entry_id], added) for entry_id, added in fresh.items()}
        _store(connection, ask, standing, fresh)
        pairs = [(entry, derive(entry, horizons)) for entry in now.values()]
        _update(connection, ask, standing, before, pairs)
    after = before | now
    return [after[entry_id] for entry_id, _ in additions]


def _unknown(entry_id: str) -> UnknownEntry:
    return UnknownEntry(f"no entry has the id {entry_id}; `tradmem log` lists them")


def _fresh(
    before: Mapping[str, Entry], additions: Iterable[tuple[str, Addition]]
) -> dict[str, list[Addition]]:
    """By entry, what it has not got yet."""
    fresh: dict[str, list[Addition]] = {}
    for entry_id, addition in additions:
        stored = as_stored(addition)
        there = (*before[entry_id].additions, *fresh.get(entry_id, ()))
        is_there = before[entry_id].archived if stored.kind == ARCHIVE else stored in there
        if not is_there:
            fresh.setdefault(entry_id, []).append(stored)
    return fresh


def _grown(entry: Entry, added: Sequence[Addition]) -> Entry:
    kept = [addition for addition in added if addition.kind != ARCHIVE]
    return fold_now(
        entry.recorded,
        (*entry.additions, *kept),
        archived=entry.archived or len(kept) < len(added),
    )


def _store(
    connection: Conn,
    ask: Queries,
    standing: Mapping[str, Standing],
    fresh: Mapping[str, Sequence[Addition]],
) -> None:
    lines = [
        (standing[entry_id].ticker, entry_id, *line_of(addition))
        for entry_id, added in fresh.items()
        for addition in added
    ]
    if lines:
        with connection.cursor() as cursor:
            cursor.executemany(ask(queries.ADD), lines)


def _update(
    connection: Conn,
    ask: Queries,
    standing: Mapping[str, Standing],
    before: Mapping[str, Entry],
    pairs: Sequence[tuple[Entry, Derived]],
) -> None:
    """Bring what follows from entries up to date."""
    states = [
        (d.status.value, d.horizons, entry.archived, entry.ticker, entry.id) for entry, d in pairs
    ]
    texts = [
        (words, entry.ticker, entry.id)
        for entry, _ in pairs
        if (words := words_of(entry)) != words_of(before[entry.id])
    ]
    with connection.cursor() as cursor:
        if states:
            cursor.executemany(ask(queries.STATE), states)
        if texts:
            cursor.executemany(ask(queries.WORDS), texts)
    current = [pair for pair in pairs if not standing[pair[0].id].replaced]
    by_ticker: dict[str, list[str]] = {}
    for entry, _ in current:
        by_ticker.setdefault(entry.ticker, []).append(entry.id)
    for ticker, names in by_ticker.items():
        for query in (queries.FORGET_TAUGHT, queries.FORGET_VERDICTS):
            connection.execute(ask(query), (ticker, names))
        closed = [entry.id for entry, d in current if entry.ticker == ticker and d.due is None]
        if closed:
            connection.execute(ask(queries.FORGET_CLAIMS), (ticker, closed))
    _derive(connection, ask, current)
    _say(connection, ask, [pair for pair in pairs if standing[pair[0].id].replaced])
    open_ones = [
        (entry.ticker, entry.id, derived.due)
        for entry, derived in current
        if derived.due is not None and _moved(before[entry.id], entry)
    ]
    if open_ones:
        with connection.cursor() as cursor:
            cursor.executemany(ask(queries.DUE), open_ones)


def _moved(before: Entry, now: Entry) -> bool:
    """Whether a resolver has something else to do than before."""
    return (before.status, before.outcomes) != (now.status, now.outcomes)


def _forget(connection: Conn, ask: Queries, ticker: str, names: list[str]) -> None:
    for query in (queries.FORGET_TAUGHT, queries.FORGET_VERDICTS, queries.FORGET_CLAIMS):
        connection.execute(ask(query), (ticker, names))


def _derive(connection: Conn, ask: Queries, pairs: Sequence[tuple[Entry, Derived]]) -> None:
    """Store what entries taught, how they were judged, and what they said."""
    taught = [
        (entry.ticker, entry.id, entry.date, *period, entry.archived)
        for entry, derived in pairs
        for period in derived.taught
    ]
    judged = [
        (entry.ticker, entry.id, known_at, change, *sample_columns(sample))
        for entry, derived in pairs
        for known_at, change, sample in derived.judgements
    ]
    with connection.cursor() as cursor:
        for query, rows in ((queries.TEACH, taught), (queries.JUDGE, judged)):
            if rows:
                cursor.executemany(ask(query), rows)
    _say(connection, ask, pairs)


def _say(connection: Conn, ask: Queries, pairs: Sequence[tuple[Entry, Derived]]) -> None:
    """Store who said a lesson first, also where a later revision stands for him."""
    first: dict[str, str] = {}
    for entry, derived in pairs:
        for digest in derived.lessons:
            first.setdefault(digest, entry.id)
    if first:
        with connection.cursor() as cursor:
            cursor.executemany(ask(queries.SAY), sorted(first.items()))


def sample_columns(sample: Any) -> tuple[Any, ...]:
    """A sample in the order of the columns of ``verdicts``."""
    return (
        sample.horizon,
        sample.entry,
        sample.span,
        sample.cell,
        sample.is_raw,
        sample.is_primary,
    )


def by_id(connection: Conn, ask: Queries, names: Sequence[str]) -> dict[str, Entry]:
    """The entries with some ids, as far as they are there, in the order of the ids."""
    rows = connection.execute(ask(queries.BY_ID), ([*filter(askable, names)],))
    found = {entry.id: entry for entry in map(entry_of, rows)}
    return {entry_id: found[entry_id] for entry_id in names if entry_id in found}


def is_taken(connection: Conn, ask: Queries, entry_id: str) -> bool:
    """Whether an id stands already."""
    return connection.execute(ask(queries.TAKEN), (entry_id,)).fetchone() is not None


def fold_anew(
    connection: Conn,
    ask: Queries,
    entries: Sequence[Entry],
    places: Mapping[str, int],
    replaced: Mapping[str, bool],
    *,
    horizons: Sequence[int],
) -> None:
    """Write anew what follows from entries, whatever stood there; their claims stay as they are."""
    pairs = [(entry, derive(entry, horizons)) for entry in entries]
    heads = [(e.ticker, e.id, places[e.id], e.date) for e in entries]
    states = [
        (*head, d.status.value, replaced[entry.id], entry.archived, d.horizons)
        for head, (entry, d) in zip(heads, pairs, strict=True)
    ]
    texts = [(*head, words_of(entry)) for head, entry in zip(heads, entries, strict=True)]
    dues = [
        (entry.ticker, entry.id, d.due) for entry, d in pairs if d.due and not replaced[entry.id]
    ]
    names: dict[str, list[str]] = {}
    closed: dict[str, list[str]] = {}
    for entry, derived in pairs:
        names.setdefault(entry.ticker, []).append(entry.id)
        if derived.due is None or replaced[entry.id]:
            closed.setdefault(entry.ticker, []).append(entry.id)
    with connection.cursor() as cursor:
        for query, groups in (
            (queries.FORGET_TAUGHT, names),
            (queries.FORGET_VERDICTS, names),
            (queries.FORGET_CLAIMS, closed),
        ):
            cursor.executemany(ask(query), list(groups.items()))
        cursor.executemany(ask(queries.STATE_ANEW), states)
        cursor.executemany(ask(queries.WORDS_ANEW), texts)
        cursor.executemany(ask(queries.DUE_ANEW), dues)
    _derive(connection, ask, [pair for pair in pairs if not replaced[pair[0].id]])
    _say(connection, ask, [pair for pair in pairs if replaced[pair[0].id]])

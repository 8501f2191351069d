"""A log of any size in PostgreSQL, by COPY: the rows that recording and resolving would leave."""

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from psycopg import Connection, sql

FIRST = date(2010, 1, 4)
PROSE = (
    "**Rating**: Buy\\n\\nRevenue grew faster than costs and the guidance was raised; the shares "
    "trade below their average of five years, and the momentum of the last quarter holds. "
)
_LESSON = "The Buy on {ticker} came out at {alpha:+.1%}. Look at {point} before the next one."
_ABOUT = tuple(
    "averag below buy came cost faster five grew guidanc hold last look momentum next of on out "  # noqa: SIM905
    "point quarter rais rate revenu share than the their trade year".split()
)
_AT_ONCE = 5_000  # lines


class Row:
    """One entry, its parts as COPY takes them."""

    def __init__(self, number: int, tickers: int, pending_from: int, archived_below: int) -> None:
        self.number = number
        self.ticker = f"T{number % tickers:04}"
        self.day = FIRST + timedelta(days=number // tickers)
        self.id = hashlib.sha256(f"{self.day}|{self.ticker}||0".encode()).hexdigest()[:12]
        decided = datetime.combine(self.day, time(20, 30), UTC)
        self.decided = f"{decided:%Y-%m-%dT%H:%M:%SZ}"
        self.known = f"{decided + timedelta(days=7, hours=2):%Y-%m-%dT%H:%M:%SZ}"
        self.alpha = ((number * 37) % 200 - 100) / 1000
        self.is_pending = number >= pending_from
        self.is_archived = number < archived_below

    @property
    def lesson(self) -> str:
        point = "".join(chr(97 + int(digit)) for digit in str(self.number))  # a word, no figure
        return _LESSON.format(ticker=self.ticker, alpha=self.alpha, point=point)

    @property
    def digest(self) -> str:
        """Of the lesson, as the ledger has it; here the number makes it the only one."""
        return hashlib.sha256(self.lesson.encode()).hexdigest()


def entries(row: Row) -> Iterator[str]:
    text = PROSE.replace("\\n", "\n")
    identity = (
        f'{{"v":1,"id":"{row.id}","decided_at":"{row.decided}","at":"{row.decided}",'
        f'"date":"{row.day}","ticker":"{row.ticker}","rating":"Buy","horizon":5,'
        f'"sha256":"{_SHA[text]}"}}'
    )
    yield "\t".join(
        (
            row.ticker,
            row.id,
            str(row.number + 1),
            str(row.day),
            "",
            "0",
            "f",
            "Buy",
            PROSE,
            identity,
        )
    )


_SHA = {text: hashlib.sha256(text.encode()).hexdigest() for text in (PROSE.replace("\\n", "\n"),)}


def additions(row: Row) -> Iterator[str]:
    if row.is_pending:
        return
    place = 3 * row.number + 1
    outcome = (
        f'{{"add":"outcome","at":"{row.known}","horizon":5,"sessions":5,"raw":{row.alpha + 0.01!r},'
        f'"alpha":{row.alpha!r},"known_at":"{row.known}","entry":"{row.day}",'
        f'"exit":"{row.day + timedelta(days=7)}","benchmark":"SPY","band":0.0115,"source":"bench"}}'
    )
    lesson = (
        f'{{"add":"reflection","at":"{row.known}","sha256":"{row.digest}",'
        f'"model":"bench","lesson":"{row.digest}"}}'
    )
    found = [("outcome", outcome, ""), ("reflection", lesson, row.lesson)]
    if row.is_archived:
        found.append(("archive", f'{{"add":"archive","at":"{row.known}"}}', ""))
    for number, (kind, line, text) in enumerate(found):
        digest = hashlib.sha256(f"{line}\n{text}".encode()).hexdigest()[:32]
        yield "\t".join(
            (row.ticker, row.id, f"\\\\x{digest}", str(place + number), kind, line, text)
        )


def ids(row: Row) -> Iterator[str]:
    yield f"{row.id}\t{row.ticker}"


def states(row: Row) -> Iterator[str]:
    status, horizons = ("pending", "{}") if row.is_pending else ("resolved", "{5}")
    archived = "t" if row.is_archived else "f"
    yield "\t".join(
        (row.ticker, row.id, str(row.number + 1), str(row.day), status, "f", archived, horizons)
    )


def memories(row: Row) -> Iterator[str]:
    if not row.is_pending:
        archived = "t" if row.is_archived else "f"
        yield "\t".join(
            (row.ticker, row.id, row.known, "infinity", row.known, str(row.day), "t", "f", archived)
        )


def verdicts(row: Row) -> Iterator[str]:
    if not row.is_pending:
        cell = 0 if row.alpha > 0.0115 else 2 if row.alpha < -0.0115 else 1
        known = (row.ticker, row.id, row.known, "1", "5", str(row.day.toordinal()), "7")
        yield "\t".join((*known, str(cell), "f", "t"))


def lessons(row: Row) -> Iterator[str]:
    if not row.is_pending:
        yield f"{row.digest}\t{row.id}"


def claims(row: Row) -> Iterator[str]:
    if row.is_pending:
        yield f"{row.ticker}\t{row.id}\t{row.decided}"


def texts(row: Row) -> Iterator[str]:
    words = (*_ABOUT, row.ticker.lower(), f"n{row.number}")  # of the lesson, a word of its own
    vector = " ".join(f"{word}:{place}" for place, word in enumerate(words, 1))
    yield "\t".join((row.ticker, row.id, str(row.day), str(row.number + 1), vector))


TABLES: dict[str, tuple[str, Callable[[Row], Iterator[str]]]] = {
    "entries": (
        "ticker, id, place, date, agent, revision, is_note, rating, text, identity",
        entries,
    ),
    "additions": ("ticker, id, digest, place, kind, line, text", additions),
    "ids": ("id, ticker", ids),
    "states": ("ticker, id, place, date, status, replaced, archived, horizons", states),
    "memories": (
        "ticker, id, since, until, known_at, date, has_lesson, hidden, archived",
        memories,
    ),
    "verdicts": (
        "ticker, id, known_at, change, horizon, entry, span, cell, is_raw, is_primary",
        verdicts,
    ),
    "lessons": ("hash, id", lessons),
    "claims": ("ticker, id, due", claims),
    "texts": ("ticker, id, date, place, words", texts),
}


def fill(
    connection: Connection,
    schema: str,
    count: int,
    *,
    tickers: int = 1000,
    pending: int = 0,
    archived: float = 0.0,
) -> None:
    """Fill an empty log with entries, one a day and ticker, the last ones pending.

    Args:
        connection: of a superuser, in no transaction.
        schema: the log's.
        count: of entries.
        tickers: how many different ones.
        pending: how many have no outcome yet.
        archived: the share of the entries that is archived, the oldest.
    """
    rows = (count, tickers, count - pending, int((count - pending) * archived))
    connection.execute("SET session_replication_role = replica")  # the rows are known to fit
    connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))
    connection.execute("DROP INDEX texts_words")
    for table, (columns, make) in TABLES.items():
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy,
        ):
            lines = _lines(make, *rows)
            while part := list(islice(lines, _AT_ONCE)):
                copy.write("\n".join(part) + "\n")
    connection.execute("CREATE INDEX texts_words ON texts USING gin (words)")
    for sequence, last in (("entry_order", count + 1), ("addition_order", 3 * count + 2)):
        connection.execute("SELECT setval(%s::regclass, %s)", (sequence, last))
    connection.execute("RESET session_replication_role")
    for table in TABLES:
        connection.execute(f"VACUUM ANALYZE {table}")
    connection.execute("RESET search_path")


def _lines(
    make: Callable[[Row], Iterator[str]], count: int, tickers: int, pending: int, archived: int
) -> Iterator[str]:
    for number in range(count):
        yield from make(Row(number, tickers, pending, archived))

"""How the server goes about it: by index, in one partition, whatever the log's size."""

import re
from datetime import UTC, datetime

import psycopg
import pytest

from tests.bench.postgres_rows import fill
from tradmem import PostgresJournal
from tradmem.journal.finding import Sought
from tradmem.journal.postgres import finding, queries
from tradmem.journal.postgres.reading import memories_query
from tradmem.journal.selection import Wanted

NOW = datetime(2031, 1, 6, 15, tzinfo=UTC)
PARTITIONS = 8


@pytest.fixture(scope="module")
def filled(postgres):
    """A log of some thousand entries, known to the planner."""
    log = postgres.new_log(partitions=PARTITIONS)
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        fill(connection, log.rpartition("=")[2], 8_000, tickers=100, pending=3_000, archived=0.5)
    with PostgresJournal(log) as journal:
        yield journal


def scanned(text, table):
    """The partitions of a table that a plan may touch."""
    return set(re.findall(rf" on {table}_(\d+)\b", text))


def custom(journal, query, values):
    """The plan for these very values, as the partitions are pruned when it runs."""
    with journal._server.connect() as connection:
        connection.execute("SET plan_cache_mode = force_custom_plan")
        rows = connection.execute(
            b"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) " + query, values
        ).fetchall()
    return "\n".join(line for (line,) in rows)


def test_a_recall_reads_one_partition_by_index(filled):
    wanted = Wanted(as_of=NOW, ticker="T0007", not_ticker=None, limit=5)
    text = custom(filled, *memories_query(filled._ask, wanted))
    assert len(scanned(text, "memories")) == 1
    assert len(scanned(text, "entries")) == 1
    assert "Seq Scan" not in text
    assert re.search(r"Index.* using memories_\d+_ticker_known_at_date_id_idx", text)


def test_the_log_and_the_archive_have_indexes_of_their_own(filled):
    wanted = Wanted(as_of=NOW, ticker="T0007", not_ticker=None, limit=5)
    text = custom(filled, *memories_query(filled._ask, wanted))
    used = set(re.findall(r"using (memories_\d+_ticker_known_at_date_id_idx\d?)", text))
    assert len(used) == 2
    with filled._server.connect() as connection:
        schema = filled._place.schema
        rows = connection.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = %s", (schema,)
        ).fetchall()
    found = {name: definition for name, definition in rows if name in used}
    assert {d.rpartition("WHERE ")[2] for d in found.values()} == {"(NOT archived)", "archived"}


def test_the_newest_of_other_tickers_are_found_by_walking_down_an_index(filled):
    wanted = Wanted(
        as_of=NOW, ticker=None, not_ticker="T0007", distinct=True, lessons=True, limit=3
    )
    text = custom(filled, *memories_query(filled._ask, wanted))
    assert "Seq Scan" not in text
    assert max(map(float, re.findall(r"rows=([0-9.]+)", text))) < 50  # of 5,000 memories
    assert re.search(r"using memories_\d+_known_at_date_id_idx", text)


def test_the_pending_of_a_ticker_are_in_one_partition_by_a_partial_index(filled):
    text = custom(filled, filled._ask(queries.PENDING_OF), {"ticker": "T0007"})
    assert len(scanned(text, "states")) == 1
    assert "Seq Scan" not in text
    assert re.search(r"states_\d+_ticker_place_idx", text)


def claimable(which=""):
    return queries.CLAIMABLE.replace("{which}", which).replace("{limit}", "20")


def test_a_claim_takes_what_is_due_from_the_front_of_an_index(filled):
    text = custom(filled, filled._ask(claimable()), {"due": NOW})
    assert "Seq Scan" not in text
    assert re.search(r"using claims_\d+_due_idx", text)
    assert "Sort Key" not in text or "Merge Append" in text


def test_a_claim_of_one_ticker_reads_its_partition_alone(filled):
    query = filled._ask(claimable(" AND ticker = ANY(%(tickers)s)"))
    text = custom(filled, query, {"due": NOW, "tickers": ["T0007"]})
    assert len(scanned(text, "claims")) == 1


def test_a_claim_is_written_into_one_partition_by_its_key(filled):
    values = ("x", 0.0, "T0007", "000000000000")
    text = custom(filled, filled._ask(queries.CLAIM), values)
    assert len(scanned(text, "claims")) == 1
    assert "Seq Scan" not in text


def test_the_generic_plan_that_is_kept_prunes_when_it_runs(filled):
    with filled._server.connect() as connection:
        connection.execute(
            b"PREPARE counts (text, timestamptz) AS "
            + filled._ask(queries.COUNTS).replace(b"%(ticker)s", b"$1").replace(b"%(as_of)s", b"$2")
        )
        rows = connection.execute(
            "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "
            "EXECUTE counts ('T0007', '2031-01-06')"
        ).fetchall()
    text = "\n".join(line for (line,) in rows)
    assert f"Subplans Removed: {PARTITIONS - 1}" in text


def test_a_rare_word_is_found_by_its_index_and_a_common_one_by_date(filled, monkeypatch):
    planned, plans = finding._planned, []

    def explained(connection, query, values, *, are_few):
        more = {"are_few": are_few}
        if query.startswith(b"EXPLAIN"):
            return planned(connection, query, values, **more)
        text = planned(connection, b"EXPLAIN (ANALYZE, TIMING OFF) " + query, values, **more)
        plans.append("\n".join(line for (line,) in text))
        return planned(connection, query, values, **more)

    monkeypatch.setattr(finding, "_planned", explained)
    assert len(list(filled.holding(Sought(query="n4711")))) == 1
    assert next(filled.holding(Sought(query="guidance raised")))
    list(filled.holding_some(Sought(query="n4711 nosuchword")))
    rare, common, close = plans
    for text in (rare, close):
        assert re.search(r"Bitmap Index Scan on texts_\d+_words_idx", text)
        assert max(map(float, re.findall(r"actual rows=([0-9.]+)", text))) <= 3  # of additions
    assert re.search(r"Index Scan using texts_\d+_date_place_idx", common)
    assert max(map(float, re.findall(r"actual rows=([0-9.]+)", common))) <= 64


def test_what_was_filled_in_bulk_is_what_the_fold_makes(filled):
    before = filled.memories(NOW, ticker="T0007", limit=20), filled.counts("T0007", NOW)
    assert len(before[0]) == 20
    filled.rebuild()
    assert (filled.memories(NOW, ticker="T0007", limit=20), filled.counts("T0007", NOW)) == before

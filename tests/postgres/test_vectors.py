"""Vectors in the database: kept for all, ranked by pgvector where it is, the same either way."""

import random
import threading
from datetime import timedelta

import psycopg
import pytest

from tests.journal.making import DAY, DECIDED, KNOWN, decision, forgetting, lesson, note, outcome
from tests.lessons.embedders import Broken, Letters
from tradmem import MarkdownJournal, Memory, PostgresJournal, Settings
from tradmem.journal.postgres import pgvector
from tradmem.journal.postgres import vectors as stored_vectors
from tradmem.journal.postgres.migrating import grant, offer_vectors

WORDS = "alpha margin rate tariff wafer debt café volume guidance lease cloud zinc".split()  # noqa: SIM905
TICKERS = ("NVDA", "AMD", "MU", "AAPL", "TSM")
END = KNOWN + timedelta(days=60)
NOWHERE = "-c extension_control_path=/nowhere"  # a server beside which no extension lies


ASKED = []


class Shared(Letters):
    """Whatever any of them was asked for."""

    def embed(self, texts):
        ASKED.extend(texts)
        return super().embed(texts)


@pytest.fixture(autouse=True)
def nothing_asked():
    ASKED.clear()


@pytest.fixture(params=["pgvector", "plain"])
def kind(request):
    return request.param


@pytest.fixture
def log(kind, postgres_log, postgres):
    """A log in a database of which the server finds the nearest, or each process does."""
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        if kind == "plain":
            connection.execute("DROP EXTENSION IF EXISTS vector CASCADE")
        else:
            said(offer_vectors(connection, schema_of(postgres_log)), postgres)
    return postgres_log


def said(told, postgres):
    """Whether the server ranks, which it says as it is; that from pip has to."""
    with psycopg.connect(postgres.url) as connection:
        query = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'"
        (count,) = connection.execute(query).fetchone()
    assert count or postgres.owned is None
    beginning = "pgvector " if count else 'without pgvector: extension "vector" is not available'
    assert told.startswith(beginning)
    return bool(count)


def schema_of(log):
    return log.rpartition("=")[2]


def opened(journal, embedder=None, **settings):
    settings = {"embeddings": "none", "weights": {"semantic": 2.0}} | settings
    return Memory(
        journal,
        settings=Settings(**settings),
        clock=lambda: END,
        embedder=embedder or Shared(),
    )


def grow(*journals, count=70, seed=3):
    """The same history in each: decisions, lessons, notes, corrections, what was forgotten."""
    chance = random.Random(seed)
    for number in range(count):
        text = " ".join(chance.choices(WORDS, k=6))
        said = " ".join(chance.choices(WORDS, k=8)) + f" {'abcdefg'[number % 7]}."
        day, at = DAY + timedelta(days=number % 7), KNOWN + timedelta(days=number % 40)
        made = decision(text, day=day, ticker=chance.choice(TICKERS), agent=f"a{number}")
        acts = [outcome(at)]
        acts += [lesson(said, at=at + timedelta(hours=1))] if number % 5 else []
        acts += [forgetting(at + timedelta(days=2))] if number % 11 == 3 else []
        acts += [outcome(at + timedelta(days=4), raw=-0.1, alpha=-0.2)] if number % 7 == 2 else []
        for journal in journals:
            if number % 13 == 5:
                journal.append(note(f"{text} noted.", ticker="NVDA", at=at))
            entry = journal.append(made)[0]
            journal.add([(entry.id, act) for act in acts])


def has_extension(database):
    with database._server.connect() as connection:
        query = "SELECT count(*) FROM pg_extension WHERE extname = 'vector'"
        return connection.execute(query).fetchone()[0] == 1


def seen(memory, query, ticker, as_of):
    found = memory.recall(ticker, as_of, rank="relevant", query=query, explain=True)
    return [(item.entry.id, item.is_shown, item.score, item.parts) for item in found.explained]


def test_a_ranked_recall_finds_what_that_of_a_file_finds_as_of_any_instant(log, kind, tmp_path):
    file = MarkdownJournal(tmp_path / "memory.md")
    with PostgresJournal(log) as database:
        grow(file, database)
        one, other = opened(file), opened(database)
        if kind == "plain":
            assert not other.finder.vectors._kept.ranks
        elif has_extension(database):
            assert other.finder.vectors._kept.ranks
        for query in ("wafer tariffs", "guidance of the cloud", "zzz", "café leases NVDA"):
            for ticker in ("NVDA", "MU", "NEW"):
                for days in (-3, 0, 6, 21, 60):
                    as_of = KNOWN + timedelta(days=days)
                    found = seen(other, query, ticker, as_of)
                    assert found == seen(one, query, ticker, as_of)
        assert any(part.name == "semantic" for part in found[0][3])


def test_each_text_is_embedded_once_for_all_processes(log):
    with PostgresJournal(log) as database:
        grow(database, count=20)
        opened(database).recall("NVDA", rank="relevant", query="wafers")
        first = len(ASKED)
        assert first > 15
        with PostgresJournal(log) as another:
            opened(another).recall("NVDA", rank="relevant", query="wafers")
            assert ASKED[first:] == ["wafers"]
            entry = database.append(note("A zinc lease.", at=KNOWN))[0]
            found = opened(another).recall("NVDA", rank="relevant", query="zinc lease")
            assert ASKED[first + 1 :] == ["A zinc lease.", "zinc lease"]
            assert found.ids[0] == entry.id
            opened(database).recall("NVDA", rank="relevant", query="zinc lease")
            assert ASKED[first + 3 :] == ["zinc lease"]


def test_a_lesson_that_was_taken_back_is_no_longer_near(log):
    with PostgresJournal(log) as database:
        grow(database, count=12)
        entry = database.append(decision("", ticker="ZZZ"))[0]
        database.add([(entry.id, outcome()), (entry.id, lesson("zzzz zzzz."))])
        memory = opened(database)
        vectors = memory.finder.vectors

        def nearest(as_of):
            vectors.refresh()
            return vectors.nearest(vectors.vector("zzz"), as_of, ticker="ZZZ", most=1)[:1]

        assert nearest(END) == [entry.id]
        later = KNOWN + timedelta(days=9)
        database.add([(entry.id, outcome(later, raw=-0.2, alpha=-0.2))])
        assert nearest(END) != [entry.id]  # without its lesson it says nothing


def test_an_empty_log_has_nothing_near(log):
    with PostgresJournal(log) as database:
        found = opened(database).recall("NVDA", rank="relevant", query="tariff")
        assert (found.memories, found.remarks) == ((), ())


def test_an_embedder_that_is_away_costs_no_recall_and_is_made_up_for(log):
    with PostgresJournal(log) as database:
        grow(database, count=12)
        broken = Broken()
        memory = opened(database, broken)
        assert "nobody there" in memory.recall("NVDA", rank="relevant", query="tariff").remarks[0]
        broken.is_mended = True
        memory.finder.vectors._not_before = 0.0
        found = memory.recall("NVDA", rank="relevant", query="tariff")
        assert found.remarks == ()
        assert {len(vector) for vector in memory.finder.vectors.vectors(["a", "b"])} == {26}
        assert stored(database) > 10


def stored(database):
    with database._server.connect() as connection:
        query = database._ask("SELECT count(*) FROM {s}.vectors WHERE numbers IS NOT NULL")
        return connection.execute(query).fetchone()[0]


def test_a_model_of_another_dimension_is_refused_by_this_and_by_the_table(log):
    class Longer(Letters):
        def embed(self, texts):
            return [vector.repeat(2) / 2**0.5 for vector in super().embed(texts)]

    with PostgresJournal(log) as database:
        grow(database, count=6)
        opened(database).recall("NVDA", rank="relevant", query="tariff")
        database.append(note("More of it.", at=KNOWN))
        found = opened(database, Longer()).recall("NVDA", rank="relevant", query="tariff")
        assert "letters gives 52 numbers, and gave 26 before; " in found.remarks[0]
        with database._server.connect() as connection:
            for wrong in ("dimension = 25", "numbers = '{1,2}'", "model = 'another'"):
                with pytest.raises(psycopg.errors.IntegrityError):
                    connection.execute(database._ask(f"UPDATE {{s}}.vectors SET {wrong}"))


def test_two_models_stand_beside_each_other(log):
    class Other(Letters):
        model = '100% other\'s "model" {x}'

        def embed(self, texts):
            return [vector[::-1] for vector in super().embed(texts)]

    with PostgresJournal(log) as database:
        grow(database, count=20)
        found = [
            opened(database, made).recall("NVDA", rank="relevant", query="tariff").ids
            for made in (Letters(), Other(), Letters())
        ]
        assert found[0] == found[1] == found[2]
        assert len(database.measure(END)["vectors"].partition("vectors: ")[2].split("; ")) == 2


def test_many_vectors_have_an_index_that_finds_nearly_the_same(postgres, postgres_log, monkeypatch):
    monkeypatch.setattr(pgvector, "MANY", 50)
    schema = schema_of(postgres_log)
    with PostgresJournal(postgres_log) as database:
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            offer_vectors(connection, schema)
            grow(database, count=120)
            exact = opened(database)
            expected = seen(exact, "wafer tariffs", "NVDA", END)
            told = offer_vectors(connection, schema)
            assert (", by index)" in told) == said(told, postgres)
            assert offer_vectors(connection, schema) == told
        memory = opened(PostgresJournal(postgres_log))
        vectors = memory.finder.vectors
        assert seen(memory, "wafer tariffs", "NVDA", END) == expected
        if not vectors._kept.ranks:
            return
        query = vectors._kept._nearest_others
        values = {"as_of": END, "ticker": "NVDA", "vector": [1.0] * 26, "limit": 5}
        with database._server.connect() as connection:
            for setting in stored_vectors._BY_INDEX:
                connection.execute(setting.replace(" LOCAL", ""))
            plan = connection.execute(b"EXPLAIN " + query, values).fetchall()
        assert any("vectors_" in line and "numbers_idx" in line for (line,) in plan), plan
        memory.journal.close()


def test_without_the_extension_an_upgrade_says_so_and_each_process_ranks(postgres, postgres_log):
    """The server of which no extension lies on its disk, and a role that may make none."""
    schema = schema_of(postgres_log)
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP EXTENSION IF EXISTS vector CASCADE")
        connection.execute("DROP ROLE IF EXISTS plain_owner")
        connection.execute("CREATE ROLE plain_owner")
        grant(connection, schema, "plain_owner")
        connection.execute("SET ROLE plain_owner")
        told = offer_vectors(connection, schema)
        assert told.startswith("without pgvector: ")
        assert "permission denied to create extension" in told or "not available" in told
        assert told.endswith(": each process finds the nearest")
    if postgres.owned:  # a server that can be told where extensions lie
        with psycopg.connect(postgres.url, autocommit=True, options=NOWHERE) as connection:
            told = offer_vectors(connection, schema)
            assert told.startswith('without pgvector: extension "vector" is not available')
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP OWNED BY plain_owner")
        connection.execute("DROP ROLE plain_owner")


def test_upgrades_that_start_at_once_put_the_extension_in_once(postgres, postgres_log):
    told, faults = [], []

    def offer():
        try:
            with psycopg.connect(postgres.url, autocommit=True) as connection:
                told.append(offer_vectors(connection, schema_of(postgres_log)))
        except Exception as error:  # noqa: BLE001 - a thread tells no other way
            faults.append(error)

    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP EXTENSION IF EXISTS vector CASCADE")
    threads = [threading.Thread(target=offer) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(set(told)) == 1
    said(told[0], postgres)


def test_a_replica_ranks_in_memory_and_writes_nothing(log, postgres):
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS vector_reader")
        connection.execute("CREATE ROLE vector_reader LOGIN")
        connection.execute("ALTER ROLE vector_reader SET default_transaction_read_only = on")
        grant(connection, schema_of(log), "vector_reader")
    with PostgresJournal(log) as database:
        grow(database, count=20)
        expected = seen(opened(database), "wafer tariffs", "NVDA", END)
        before = stored(database)
        database.append(note("Wafer tariffs again.", at=KNOWN))
        with PostgresJournal(log.replace("//postgres:", "//vector_reader:", 1)) as replica:
            found = seen(opened(replica), "wafer tariffs", "NVDA", END)
        assert stored(database) == before
        assert found == seen(opened(database), "wafer tariffs", "NVDA", END) != expected
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP OWNED BY vector_reader")
        connection.execute("DROP ROLE vector_reader")


def test_the_role_of_an_application_keeps_vectors(log, postgres):
    schema = schema_of(log)
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS embedding_app")
        connection.execute("CREATE ROLE embedding_app LOGIN")
        grant(connection, schema, "embedding_app")
    url = log.replace("//postgres:", "//embedding_app:", 1)
    with PostgresJournal(url) as app:
        grow(app, count=8)
        opened(app).recall("NVDA", rank="relevant", query="tariff")
        assert stored(app) >= 8
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP OWNED BY embedding_app")
        connection.execute("DROP ROLE embedding_app")


def test_an_entry_that_changed_meanwhile_keeps_no_vector_of_what_it_was(log):
    """Whoever read it before the change is slower than whoever read it after."""
    with PostgresJournal(log) as database:
        entry = database.append(note("aaa", at=DECIDED))[0]
        kept = database.vectors("letters")
        mark, pages = kept.behind()
        (page,) = pages
        database.add([(entry.id, forgetting())])  # another version of it
        vectors = opened(database, Letters()).finder.vectors
        vectors._kept = kept
        assert vectors._settle(page)
        assert stored(database) == 0
        kept.done(mark)
        vectors.refresh()
        assert stored(database) == 1


def test_every_memory_has_its_vector_whoever_changes_and_asks_at_the_same_time(log):
    faults = []

    def busy(work, number):
        try:
            with PostgresJournal(log) as journal:
                for turn in range(6):
                    work(journal, f"{number}{turn}")
        except Exception as error:  # noqa: BLE001 - a thread tells no other way
            faults.append(error)

    def change(journal, name):
        entry = journal.append(decision("aaa", ticker="NVDA", agent=f"b{name}"))[0]
        journal.add([(entry.id, outcome()), (entry.id, lesson(f"{name} bbb."))])
        journal.add([(entry.id, outcome(KNOWN + timedelta(days=3), raw=-0.2, alpha=-0.2))])
        late = KNOWN + timedelta(days=4)
        journal.add([(entry.id, lesson(f"{name} ccc.", at=late))])

    def ask(journal, _):
        found = opened(journal, Letters()).recall("NVDA", rank="relevant", query="ccc")
        assert found.remarks == ()

    kinds = [change, change, ask, ask]
    threads = [threading.Thread(target=busy, args=(kind, n)) for n, kind in enumerate(kinds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with PostgresJournal(log) as journal:
        vectors = opened(journal, Letters()).finder.vectors
        vectors.refresh()
        entries = journal.entries()
        assert len(entries) == 12
        kept = vectors.of(entries, END)
        again = vectors.embedder.embed([f"{entry.reflection}\naaa" for entry in entries])
        assert [list(vector) for vector in kept] == [list(vector) for vector in again]
        near = vectors.nearest(again[0], END, ticker="NVDA", most=20)
        assert sorted(near) == sorted(entry.id for entry in entries)

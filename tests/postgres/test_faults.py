"""What goes wrong between here and the server: one clear line, nothing lost or doubled."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.journal.making import DAY, KNOWN, decision, lesson, note, outcome
from tests.postgres.proxy import Wire
from tests.postgres.server import TestServer, with_database, with_schema
from tradmem import LogBusy, LogError, PostgresJournal
from tradmem.journal.finding import Sought
from tradmem.journal.postgres.connection import connected
from tradmem.journal.postgres.migrating import LATEST, MIGRATIONS, grant, upgrade
from tradmem.journal.postgres.place import where


@pytest.fixture
def journal(postgres_log):
    with PostgresJournal(postgres_log, timeout=5) as found:
        yield found


def owner(journal):
    """A connection of the owner, its names those of the log."""
    connection = psycopg.connect(journal._place.url, autocommit=True)
    connection.execute(f"SET search_path TO {journal._place.schema}")
    return connection


@pytest.fixture
def wire(postgres, postgres_log):
    """A journal over a wire that can be cut."""
    told = conninfo_to_dict(postgres.url)
    host, port = told.get("host", "/var/run/postgresql"), told.get("port") or "5432"
    found = Wire(f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, int(port)))
    schema = postgres_log.rpartition("=")[2]
    login = f"{told.get('user', 'postgres')}:{told.get('password', '')}"
    url = f"postgresql://{login}@127.0.0.1:{found.port}/{told['dbname']}?sslmode=disable"
    with PostgresJournal(with_schema(url, schema), timeout=5) as journal:
        journal.tickers()  # the connection stands
        yield found, journal
    found.close()


def test_a_record_whose_answer_was_lost_stands_once_and_is_acknowledged(wire):
    cut, journal = wire
    cut.swallow = True
    entry, stored = journal.append(decision())
    assert (cut.cuts, stored) == (1, "recorded")
    assert [e.id for e in journal.entries()] == [entry.id]
    assert journal.append(decision()) == (entry, "unchanged")


def test_a_note_whose_answer_was_lost_stands_once(wire):
    cut, journal = wire
    cut.swallow = True
    assert journal.append(note())[1] == "recorded"
    assert cut.cuts == 1
    assert len(journal.entries()) == 1


def test_a_revision_whose_answer_was_lost_stands_once(wire):
    cut, journal = wire
    journal.append(decision("Rating: Buy"))
    for swallowed in range(3):  # at whichever of its answers
        cut.swallow = True
        text = f"Rating: Sell, {swallowed}"
        entry, stored = journal.append(decision(text), on_conflict="revise")
        assert (entry.decision, stored) == (text, "revised")
    assert [e.revision for e in journal.entries()] == [0, 1, 2, 3]
    assert len(journal.unfinished()) == 1


def test_additions_whose_answer_was_lost_stand_once(wire):
    cut, journal = wire
    entry, _ = journal.append(decision())
    for addition in (outcome(), lesson()):
        cut.swallow = True
        journal.add([(entry.id, addition)])
    assert cut.cuts == 2
    assert [a.kind for a in journal.get(entry.id).additions] == ["outcome", "reflection"]
    assert len(journal.memories(KNOWN)) == 1


def test_a_claim_whose_answer_was_lost_comes_back_after_its_lease(wire):
    cut, journal = wire
    entry, _ = journal.append(decision())
    cut.swallow = True
    with journal.claim(KNOWN, lease=0.5) as first:
        taken = len(first.entries)
    time.sleep(0.6)
    with journal.claim(KNOWN) as again:
        assert taken + len(again.entries) in (1, 2)
        assert [e.id for e in again.entries] == [entry.id]


def test_a_server_that_was_restarted_meanwhile_is_found_again():
    own = TestServer(own=True)
    own.psql("ALTER SYSTEM SET synchronous_commit = off")  # which this must not follow
    try:
        with PostgresJournal(own.new_log(), timeout=20) as journal:
            acknowledged = []
            stop = threading.Event()

            def record():
                while not stop.is_set():
                    name = f"a{len(acknowledged)}"
                    acknowledged.append(journal.append(decision(agent=name))[0].id)

            thread = threading.Thread(target=record)
            thread.start()
            time.sleep(0.5)
            own.restart()
            before = len(acknowledged)
            time.sleep(1.0)
            stop.set()
            thread.join()
            assert len(acknowledged) > before > 0
            assert sorted(e.id for e in journal.entries()) == sorted(acknowledged)
    finally:
        own.stop()


@pytest.mark.parametrize("host", ["a..b", "a" * 64, "h/db?host=%E2%80%A8x"])
def test_a_host_that_can_be_none_is_one_line_and_names_no_password(host):
    url = f"postgresql://u:hush@{host}"
    for begin in (PostgresJournal(url, timeout=0.1).entries, connected(where(url)).__enter__):
        with pytest.raises(LogError, match="cannot reach") as found:
            begin()
        assert "hush" not in str(found.value)
        assert "\n" not in str(found.value)


def test_a_server_that_stays_away_is_one_line_and_names_no_password(postgres):
    url = "postgresql://me:s3cret@127.0.0.1:1/nowhere"
    journal = PostgresJournal(url, timeout=0.3)
    with pytest.raises(LogError, match="cannot reach postgresql://me:") as found:
        journal.append(decision())
    assert "s3cret" not in str(found.value)
    assert "s3cret" not in repr(journal)
    assert "\n" not in str(found.value)


def test_a_full_disk_stores_nothing_and_says_so(journal):
    first, _ = journal.append(decision())
    with owner(journal) as connection:
        connection.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; "
            "END $$"
        )
        for table in ("memories", "entries"):
            connection.execute(
                f"CREATE TRIGGER disk BEFORE INSERT ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION full_disk()"
            )
        with pytest.raises(LogError, match="disk is full"):
            journal.append(decision(ticker="AAPL"))
        with pytest.raises(LogError, match="disk is full"):
            journal.add([(first.id, outcome())])
        assert [e.additions for e in journal.entries()] == [()]
        for table in ("memories", "entries"):
            connection.execute(f"DROP TRIGGER disk ON {table}")
    journal.add([(first.id, outcome())])
    assert journal.append(decision(ticker="AAPL"))[1] == "recorded"


def test_a_lock_that_is_held_for_too_long_is_busy(postgres_log):
    with PostgresJournal(postgres_log, timeout=0.3) as journal:
        entry, _ = journal.append(decision())
        with owner(journal) as connection, connection.transaction():
            connection.execute("LOCK TABLE states IN EXCLUSIVE MODE")
            with pytest.raises(LogBusy, match="busy"):
                journal.add([(entry.id, outcome())])
        assert journal.add([(entry.id, outcome())])[0].outcome


def test_a_resolver_whose_connection_ends_before_it_has_the_lock_asks_again(journal, monkeypatch):
    connect, ended = journal._server.connect, []

    def ending():
        connection = connect()
        if not ended:
            ended.append(connection.info.backend_pid)
            with owner(journal) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", ended)
        return connection

    journal.tickers()  # the pool stands
    monkeypatch.setattr(journal._server, "connect", ending)
    another = PostgresJournal(journal._place.url, schema=journal._place.schema)
    with journal.resolving(), another:
        assert ended
        with pytest.raises(LogBusy, match="being resolved"), another.resolving(timeout=0.2):
            pass
    with journal.resolving():
        pass


def test_a_resolver_keeps_its_turn_where_the_server_ends_idle_sessions(journal):
    def alike():
        return PostgresJournal(journal._place.url, schema=journal._place.schema)

    with owner(journal) as other:
        other.execute("ALTER ROLE CURRENT_USER SET idle_session_timeout = '100ms'")
    try:
        with alike() as first, alike() as second, first.resolving():
            time.sleep(0.4)
            with pytest.raises(LogBusy, match="being resolved"), second.resolving():
                pass
    finally:
        with owner(journal) as other:
            other.execute("ALTER ROLE CURRENT_USER RESET idle_session_timeout")


def test_a_deadlock_is_tried_again(journal):
    entries = [journal.append(decision(ticker=ticker))[0] for ticker in "ABCDEFGH"]
    faults = []

    def add(order, number):
        try:
            for _ in range(5):
                extra = {"n": f"{number}-{time.monotonic_ns()}"}
                journal.add([(e.id, lesson(**extra)) for e in order])
        except LogError as error:
            faults.append(error)

    orders = [entries, entries[::-1], entries[4:] + entries[:4]]
    threads = [threading.Thread(target=add, args=(o, n)) for n, o in enumerate(orders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert {len(e.additions) for e in journal.entries()} == {15}


def test_an_old_schema_and_a_newer_one_are_told_apart(journal):
    journal.append(decision())
    with owner(journal) as connection:
        connection.execute("DELETE FROM migrations WHERE number = %s", (LATEST,))
        fresh = PostgresJournal(journal._place.url, schema=journal._place.schema)
        with pytest.raises(LogError, match="tradmem db upgrade"):
            fresh.entries()
        connection.execute(
            "INSERT INTO migrations (number, name, sha256) VALUES (999, 'later', '')"
        )
        with pytest.raises(LogError, match="run a newer tradmem"):
            fresh.entries()
        with pytest.raises(LogError, match="run a newer tradmem"):
            upgrade(connection, journal._place.schema)


def test_a_migration_that_was_changed_after_it_was_applied_is_refused(journal):
    with owner(journal) as connection:
        connection.execute("UPDATE migrations SET sha256 = 'other' WHERE number = 1")
        with pytest.raises(LogError, match="another migration 1"):
            upgrade(connection, journal._place.schema)


def test_a_read_only_server_can_be_read_and_says_why_it_cannot_be_written(journal, postgres):
    entry, _ = journal.append(decision())
    with psycopg.connect(journal._place.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("ALTER ROLE reader SET default_transaction_read_only = on")
        grant(connection, journal._place.schema, "reader")
    url = journal._place.url.replace("//postgres:", "//reader:", 1)
    with PostgresJournal(url, schema=journal._place.schema) as replica:
        assert replica.get(entry.id) == entry
        assert replica.unfinished() == []  # as far as the primary has filed it
        assert journal.unfinished() == replica.unfinished() == [entry]
        with pytest.raises(
            LogError, match="in a read-only transaction; name the primary in the URL, or a role"
        ):
            replica.append(decision(ticker="AAPL"))
        with pytest.raises(
            LogError, match="in a read-only transaction; name the primary in the URL, or a role"
        ):
            replica.add([(entry.id, outcome())])
    drop_role(journal, "reader")


def drop_role(journal, name):
    with psycopg.connect(journal._place.url, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


def test_the_role_of_an_application_can_do_everything_but_change_what_stands(journal):
    with psycopg.connect(journal._place.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS app")
        connection.execute("CREATE ROLE app LOGIN")
        grant(connection, journal._place.schema, "app")
    url = journal._place.url.replace("//postgres:", "//app:", 1)
    with PostgresJournal(url, schema=journal._place.schema, horizons=(5,)) as app:
        entry, _ = app.append(decision())
        app.append(note())
        other, _ = app.append(decision("other"), on_conflict="revise")
        with app.claim(KNOWN) as claim, app.resolving():
            claim.add([(e.id, outcome()) for e in claim.entries])
        app.add([(other.id, lesson(lesson="ab" * 32))])
        assert app.lessons()["ab" * 32] == other.id
        assert app.rebuild() == 3
        assert app.passages().passages
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"SET search_path TO {journal._place.schema}")
            for statement in (
                "UPDATE entries SET text = ''",
                "DELETE FROM entries",
                "TRUNCATE entries CASCADE",
                "UPDATE additions SET text = ''",
                "DELETE FROM additions",
                "UPDATE ids SET ticker = 'GONE'",
                "DELETE FROM ids",
                "DELETE FROM lessons",
                "UPDATE entries_0 SET text = ''",
                "DELETE FROM additions_0",
                "DROP TABLE entries",
                "CREATE TABLE more (id int)",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)
    assert journal.get(entry.id).decision == "Rating: Buy"
    drop_role(journal, "app")


def test_even_the_owner_changes_nothing_by_mistake(journal):
    entry, _ = journal.append(decision())
    journal.add([(entry.id, outcome())])
    with owner(journal) as connection:
        for table in ("entries", "additions"):
            for statement in (f"UPDATE {table} SET text = 'x'", f"DELETE FROM {table}"):
                with pytest.raises(psycopg.Error, match="only ever grows"):
                    connection.execute(statement)
        for table in ("additions", "additions_0", "entries CASCADE", "entries_0 CASCADE"):
            with pytest.raises(psycopg.Error, match="only ever grows"):
                connection.execute(f"TRUNCATE {table}")


def test_a_role_without_rights_is_told_who_can_give_them(journal):
    with psycopg.connect(journal._place.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS nobody_yet")
        connection.execute("CREATE ROLE nobody_yet LOGIN")
    url = journal._place.url.replace("//postgres:", "//nobody_yet:", 1)
    with pytest.raises(LogError, match="db upgrade --grant"):
        PostgresJournal(url, schema=journal._place.schema).entries()
    drop_role(journal, "nobody_yet")


def upgraded_at_once(connect, schema):
    """What four upgrades that start together have applied, over connections of their own."""
    done = []

    def bring_up(_):
        with connect() as connection:
            done.extend(upgrade(connection, schema, partitions=2))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(bring_up, range(4)))  # which raises what one of them raised
    return done


def test_upgrades_that_start_at_once_apply_each_migration_once(postgres):
    connect = partial(psycopg.connect, postgres.url, autocommit=True)
    assert upgraded_at_once(connect, f"together_{os.getpid()}") == MIGRATIONS


def test_an_upgrade_that_fails_half_way_leaves_nothing(postgres):
    schema = f"half_{os.getpid()}"
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"CREATE TABLE {schema}.lessons (id int)")  # in the way
        with pytest.raises(psycopg.errors.DuplicateTable):
            upgrade(connection, schema)
        rows = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace", (schema,)
        ).fetchall()
        assert rows == [("lessons",)]


def test_a_child_process_makes_connections_of_its_own(journal):
    journal.append(decision())
    child = os.fork()
    if child == 0:
        try:
            journal.append(decision(ticker="CHILD"))
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the child ends here, come what may
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    journal.append(decision(ticker="AFTER"))
    assert {e.ticker for e in journal.find(DAY, "CHILD") + journal.find(DAY, "AFTER")} == {
        "CHILD",
        "AFTER",
    }


def test_roles_that_are_granted_at_once_take_turns(journal):
    roles = [f"desk_{number}" for number in range(4)]
    with psycopg.connect(journal._place.url, autocommit=True) as connection:
        for role in roles:
            connection.execute(f"DROP ROLE IF EXISTS {role}")
            connection.execute(f"CREATE ROLE {role}")
    faults = []

    def give(role):
        try:
            with psycopg.connect(journal._place.url, autocommit=True) as connection:
                for _ in range(3):
                    grant(connection, journal._place.schema, role)
        except psycopg.Error as error:
            faults.append(error)

    threads = [threading.Thread(target=give, args=(role,)) for role in roles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for role in roles:
        drop_role(journal, role)


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_hold_every_text_is_refused(encoding, postgres):
    name = f"of_{encoding.lower()}_{os.getpid()}"
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 "
            "LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        try:
            with (
                psycopg.connect(with_database(postgres.url, name), autocommit=True) as other,
                pytest.raises(LogError, match=f"holds {encoding} text.*createdb --encoding=UTF8"),
            ):
                upgrade(other, "tradmem")
        finally:
            connection.execute(f"DROP DATABASE {name}")


@pytest.mark.parametrize(
    "setting",
    [
        *("client_encoding = 'LATIN1'", "datestyle = 'German'", "timezone = 'Asia/Tokyo'"),
        *("standard_conforming_strings = off", "bytea_output = 'escape'", "array_nulls = off"),
        *("default_transaction_isolation = 'serializable'", "extra_float_digits = -15"),
        *("search_path = 'nowhere'", "default_text_search_config = 'german'"),
    ],
)
def test_what_a_role_has_set_for_itself_changes_nothing(setting, journal):
    with psycopg.connect(journal._place.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS odd_one")
        connection.execute("CREATE ROLE odd_one LOGIN SUPERUSER")
        connection.execute(f"ALTER ROLE odd_one SET {setting}")
    url = journal._place.url.replace("//postgres:", "//odd_one:", 1)
    with PostgresJournal(url, schema=journal._place.schema) as odd:
        entry, _ = odd.append(decision("数据 é"))
        odd.add([(entry.id, outcome(raw=0.1 / 3)), (entry.id, lesson())])
        odd.append(note(), on_conflict="revise")
        assert odd.entries() == journal.entries()
        assert odd.memories(KNOWN) == journal.memories(KNOWN)
        assert odd.counts("NVDA", KNOWN) == journal.counts("NVDA", KNOWN)
        assert [e.id for e in odd.holding(Sought(query="数据"))] == [entry.id]
    drop_role(journal, "odd_one")


def test_a_session_that_was_idle_for_too_long_within_a_transaction_begins_again(journal):
    server, asked = journal._server, []

    def work(connection):
        asked.append(None)
        with connection.transaction():
            if len(asked) == 1:  # a process that was held up there
                connection.execute("SET idle_in_transaction_session_timeout = '1ms'")
                time.sleep(0.3)
            return connection.execute("SELECT 7").fetchone()

    assert server.run(work) == (7,)
    assert len(asked) == 2


@pytest.mark.parametrize("limited", ["ROLE crowded", "DATABASE {database}"])
def test_a_server_without_a_connection_left_is_busy(limited, journal):
    with owner(journal) as connection:
        connection.execute("DROP ROLE IF EXISTS crowded")
        connection.execute("CREATE ROLE crowded LOGIN")
        grant(connection, journal._place.schema, "crowded")
        limited = limited.format(database=connection.info.dbname)
        connection.execute(f"ALTER {limited} CONNECTION LIMIT 0")
        try:
            url = journal._place.url.replace("//postgres:", "//crowded:", 1)
            with (
                PostgresJournal(url, schema=journal._place.schema, timeout=0.2) as crowded,
                pytest.raises(LogBusy, match=r"no connection left: .*too many connections"),
            ):
                crowded.tickers()
        finally:
            connection.execute(f"ALTER {limited} CONNECTION LIMIT -1")
    drop_role(journal, "crowded")


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read", "serializable"])
def test_upgrades_of_any_role_take_turns(isolation, postgres):
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS patient")
        connection.execute("CREATE ROLE patient LOGIN SUPERUSER")
        connection.execute(f"ALTER ROLE patient SET default_transaction_isolation = '{isolation}'")
    place = where(postgres.url.replace("//postgres:", "//patient:", 1))
    schema = f"turns_{isolation.replace(' ', '_')}_{os.getpid()}"
    assert upgraded_at_once(partial(connected, place), schema) == MIGRATIONS
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP OWNED BY patient CASCADE")
        connection.execute("DROP ROLE patient")

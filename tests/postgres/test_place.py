"""URLs of logs: read as the server takes them, shown without a password."""

import pytest

from tests.journal.making import decision, lesson, outcome
from tradmem import Addition, LogError, PostgresJournal, UsageError
from tradmem.journal.postgres.place import where
from tradmem.masking import without_password


@pytest.mark.parametrize(
    ("given", "asked", "schema", "shown"),
    [
        ("postgresql://h/db", "postgresql://h/db", "tradmem", "postgresql://h/db"),
        ("postgres://u:p@h:5/db", "postgresql://u:p@h:5/db", "tradmem", "postgres://u:***@h:5/db"),
        (
            "postgresql:///db?host=/run/pg",
            "postgresql:///db?host=/run/pg",
            "tradmem",
            "postgresql:///db?host=/run/pg",
        ),
        (
            "postgresql://h/db?schema=desk",
            "postgresql://h/db",
            "desk",
            "postgresql://h/db?schema=desk",
        ),
        (
            "postgresql://h/db?password=s%40cret&sslmode=require",
            "postgresql://h/db?password=s%40cret&sslmode=require",
            "tradmem",
            "postgresql://h/db?password=***&sslmode=require",
        ),
        (
            "postgresql://u:a@b:c@h/db",
            "postgresql://u:a%40b:c@h/db",  # the server's reader ends it at an @
            "tradmem",
            "postgresql://u:***@h/db",
        ),
        (
            "postgresql://u:a b@h,[::1]:5/db?host=/run/a+b&options=-cx=y",
            "postgresql://u:a%20b@h,[::1]:5/db?host=/run/a%2Bb&options=-cx%3Dy",
            "tradmem",
            "postgresql://u:***@h,[::1]:5/db?host=/run/a%2Bb&options=***",
        ),
    ],
)
def test_a_url_names_a_server_and_a_schema(given, asked, schema, shown):
    assert where(given) == (asked, schema, shown)


@pytest.mark.parametrize(
    "url",
    [
        *("mysql://h/db", "logs/memory.md", "", "postgresql://[::1/db", "://"),
        *(
            "postgresql://h/db?schema=",
            "postgresql://h/db?schema=a b",
            "postgresql://h/db?schema=A",
        ),
        "postgresql://h/db?schema=pg_toast",
    ],
)
def test_anything_else_is_refused_in_one_line(url):
    with pytest.raises(UsageError) as found:
        PostgresJournal(url)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "url",
    [
        *("postgresql://u:hush/hush@h/db", "postgresql://u:hush#hush@h/db"),
        *("postgresql://u:5/hush@h/db", "postgresql://u:hush?hush@h/db"),
        *("postgresql://u:5?hush@h/db", "postgresql://u:hush%hush@h/db"),
        *("postgresql://u:%00hush@h/db", "postgresql://u:hush\u2100@h/db"),
        *("postgresql://u:hush\ud800@h/db", "postgresql://u:hush\x00@h/db"),
        *("postgresql://h:hush/db", "postgresql://h/db?password%3Dhush", "postgresql:u:hush@h/d"),
        *("postgresql://h/db?PASSWORD=hush", "postgresql://h/db;password=hush"),
    ],
)
def test_a_password_in_a_wrong_place_is_refused_and_never_told(url):
    with pytest.raises(UsageError) as found:
        where(url)
    assert "hush" not in str(found.value)
    assert "percent-encoded" in str(found.value)
    assert "hush" not in without_password(url) or "://h" in url or "://" not in url


@pytest.mark.parametrize("name", ["password", "sslpassword", "passwort", "options", "%70assword"])
def test_only_what_holds_no_secret_is_shown_of_a_query(name):
    url = f"postgresql://127.0.0.1:1/db?user=u&{name}=hush"
    with PostgresJournal(url, timeout=0.1) as journal, pytest.raises(LogError) as found:
        journal.entries()
    assert "hush" not in f"{journal!r} {journal.name} {found.value}"
    assert "user=u" in journal.name


@pytest.mark.parametrize("value", ["postgresql://u:hush@h/db", "password=hush", "u:hush@h"])
@pytest.mark.parametrize("name", ["dbname", "host", "user"])
def test_a_login_inside_a_value_is_not_shown(name, value):
    shown = where(f"postgresql://h/db?sslmode=disable&{name}={value}").shown
    assert shown == f"postgresql://h/db?sslmode=disable&{name}=***"


def test_a_hash_of_a_lesson_that_no_column_takes_is_kept_in_the_entry_alone(postgres_log):
    with PostgresJournal(postgres_log) as journal:
        entry, _ = journal.append(decision())
        journal.add([(entry.id, outcome()), (entry.id, lesson(lesson="a\x00\ud800"))])
        assert journal.get(entry.id).additions[1].data["lesson"] == "a\x00\ud800"
        assert dict(journal.lessons()) == {}


def test_what_no_column_can_hold_is_no_id_and_no_trouble(postgres_log):
    with PostgresJournal(postgres_log) as journal:
        entry, _ = journal.append(decision())
        assert journal.get("a\x00b") is None
        odd = Addition(kind="k\x00\ud800", data={"reason": "\ud800\x00"})
        assert journal.add([(entry.id, odd)])[0].additions == (odd,)
        assert journal.get(entry.id).additions == (odd,)

"""Full text by the server: the same entries as the index in memory finds, as of any instant."""

from datetime import timedelta

import pytest

from tests.journal.making import DAY, KNOWN, decision, lesson, note, outcome
from tradmem import Memory, PostgresJournal, RamJournal
from tradmem.journal.finding import Sought

TEXTS = [
    "Rating: Buy. Revenue grew, margins widen; the outlook for data centres is strong.",
    "Rating: Sell. Margins shrink and the café chain's debt is due.",
    "Rating: Hold. 英伟达 的数据中心收入增长很快。",
    "Rating: Buy. NVDA's P/E of 30.5 isn't cheap, C++ developers say; --risk: AT&T.",
    "Rating: Buy. Running costs were cut; they run lean.",
    "'); DROP TABLE entries; -- & | ! <-> ( ) :* \\ \" rating",
    "Rating: Buy. " + "word " * 300 + "needle",
    "수익이 늘었다. Прибыль растёт. Ο τζίρος αυξήθηκε.",
]
QUERIES = [
    *("margins", "margin", "MARGINS widen", '"margins widen"', '"widen margins"', "café", "cafe"),
    *("数据中心", "中心", "收入 增长", "run", "running", "30.5", "isn't", "C++", "AT&T", "needle"),
    *("прибыль", "수익", "nosuchword", "margins nosuchword debt", "drop table", "NVDA", "(", '"'),
    *("& | !", ":*", "' or 1=1 --", "\\", "rating buy", "the", "said", "lesson number 3", "tagged"),
]


@pytest.fixture
def journals(postgres_log):
    """The same entries in memory and in the database."""
    with PostgresJournal(postgres_log) as database:
        ram = RamJournal()
        for journal in (ram, database):
            for number, text in enumerate(TEXTS):
                day = DAY + timedelta(days=number // 2)
                entry, _ = journal.append(decision(text, day=day, agent=f"a{number}"))
                if number % 2:
                    known = KNOWN + timedelta(days=number)
                    said = f"Lesson number {number} said so. Mind it."
                    told = lesson(said, at=known + timedelta(hours=2), tags=["tagged"])
                    journal.add([(entry.id, outcome(known)), (entry.id, told)])
            journal.append(note("Mind the lock-up of the margins.", ticker="AAPL"))
        yield ram, database


def found(journal, query, **more):
    return [entry.id for entry in Memory(journal).search(query, limit=None, **more)]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_finds_what_the_index_in_memory_finds(query, journals):
    ram, database = journals
    whole = [entry.id for entry in database.holding(Sought(query=query))]
    if whole:
        assert sorted(found(database, query)) == sorted(found(ram, query)) == sorted(whole)
    else:
        assert set(found(database, query)) == set(found(ram, query))


def test_filters_narrow_what_is_found(journals):
    ram, database = journals
    for more in (
        {"ticker": "AAPL"},
        {"since": DAY + timedelta(days=1)},
        {"until": DAY},
        {"since": DAY, "until": DAY + timedelta(days=1), "ticker": "NVDA"},
        {"where": {"rating": "Buy"}},
    ):
        for query in ("", "margins", "rating buy"):
            assert sorted(found(database, query, **more)) == sorted(found(ram, query, **more))


def test_a_search_as_of_an_instant_knows_no_later_word(journals):
    ram, database = journals
    for hours in (-1, 23, 25, 24 * 9):
        as_of = KNOWN + timedelta(hours=hours)
        for query in ("lesson number", "said tagged", "margins", "needle lesson"):
            one, other = found(database, query, as_of=as_of), found(ram, query, as_of=as_of)
            assert set(one) == set(other)
    assert found(database, "lesson number", as_of=KNOWN) == []


def test_a_word_of_a_lesson_that_was_taken_back_is_found_as_of_then_alone(journals):
    _, database = journals
    (name,) = found(database, '"lesson number 3"')
    later = KNOWN + timedelta(days=60)
    database.add([(name, outcome(later, raw=-0.2, alpha=-0.2))])
    assert found(database, '"lesson number 3"', as_of=later - timedelta(days=1)) == [name]
    assert name not in found(database, '"lesson number 3"', as_of=later)


def test_the_newest_come_first_and_a_long_list_is_read_on(postgres_log):
    with PostgresJournal(postgres_log) as database:
        for number in range(150):
            day = DAY + timedelta(days=number % 7)
            database.append(decision("Rating: Buy. Alike.", day=day, agent=f"a{number}"))
        entries = Memory(database).search("alike", limit=None)
        assert len({entry.id for entry in entries}) == 150
        assert [e.date for e in entries] == sorted((e.date for e in entries), reverse=True)
        assert len(Memory(database).search("alike", limit=70)) == 70


def test_what_holds_the_most_words_comes_first_where_none_holds_all(journals):
    _, database = journals
    entries = Memory(database).search("margins shrink debt nosuchword")
    assert "debt is due" in entries[0].decision
    assert len(entries) > 1


def test_an_archived_entry_is_found_unless_it_is_not_wanted(journals):
    _, database = journals
    (name,) = found(database, "needle")
    database.mark_archived([name])
    assert found(database, "needle") == [name]
    assert found(database, "needle", archived=False) == []


def test_a_huge_text_can_be_stored_and_found(postgres_log):
    with PostgresJournal(postgres_log) as database:
        huge = "Rating: Buy. start " + " ".join(f"w{n}" for n in range(300_000)) + " " + "x" * 9_000
        entry, _ = database.append(decision(huge))
        assert database.get(entry.id).decision == huge
        assert found(database, "start") == [entry.id]

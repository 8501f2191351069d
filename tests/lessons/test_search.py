"""Search: what is found, as of when, and that the index follows the journal."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.journal.making import DAY, DECIDED, KNOWN, decision, forgetting, lesson, note, outcome
from tradmem import MarkdownJournal, Memory, RamJournal, UsageError
from tradmem.errors import TradmemError
from tradmem.lessons import fulltext, search
from tradmem.lessons.search import SearchIndex
from tradmem.lessons.words import asked_for, terms_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOURS = timedelta(hours=2)  # after which a lesson is written


@pytest.fixture(params=["markdown", "ram"])
def journal(request, tmp_path):
    return MarkdownJournal(tmp_path / "memory.md") if request.param == "markdown" else RamJournal()


@pytest.fixture
def memory(journal):
    return Memory(journal, clock=lambda: NOW)


def put(memory, text="Rating: Buy", *, day=0, known=None, said="", **more):
    """A decision so many days after the first, resolved where a lesson is said."""
    at = timedelta(days=day)
    entry = memory.journal.append(decision(text, day=DAY + at, **more))[0]
    if known is not None or said:
        when = (known or KNOWN) + at
        memory.journal.add([(entry.id, outcome(when))])
        if said:
            memory.journal.add([(entry.id, lesson(said, at=when + HOURS))])
    return entry.id


def ids(memory, *query, **how):
    return [entry.id for entry in memory.search(*query, **how)]


def test_all_words_have_to_stand_in_an_entry_wherever_they_stand(memory):
    one = put(memory, "The guidance fell.", said="It was raised later.")
    two = put(memory, "The guidance was raised.", day=1)
    put(memory, "Raised by nobody.", day=2)
    assert ids(memory, "raised guidance") == [two, one]
    assert ids(memory, '"guidance was raised"') == [two]
    assert ids(memory, "raise") == [*ids(memory, "nobody"), two, one]


def test_ticker_tags_and_notes_are_looked_into(memory):
    one = put(memory, ticker="AMD")
    name = memory.journal.append(decision(day=DAY + timedelta(days=1)))[0].id
    tagged = lesson("It held.", tags=["share-buyback"])
    memory.journal.add([(name, outcome()), (name, tagged)])
    said = memory.note("Conference in May.", ticker="NVDA").entry.id
    assert ids(memory, "amd") == [one]
    assert ids(memory, "buyback") == [name]
    assert ids(memory, "may conference") == [said]


def test_where_none_holds_all_words_those_that_hold_the_rarest_come_first(memory):
    common = [put(memory, "momentum holds", day=day) for day in range(5)]
    rare = put(memory, "zebra", day=9)
    assert ids(memory, "momentum zebra unicorn") == [rare, *common[::-1]]
    assert ids(memory, "unicorn") == []


@pytest.mark.parametrize("query", ["", "thesis", "thesis absent"])
def test_of_one_date_the_last_made_comes_first_whatever_is_learned_later(memory, query):
    made = [
        put(memory, f"A thesis, {n}.", ticker=ticker, decided_at=DECIDED - timedelta(minutes=9 - n))
        for n, ticker in enumerate(("NVDA", "AAPL", "AMD"))
    ]
    found = ids(memory, query)
    memory.journal.add([(made[0], outcome(KNOWN)), (made[0], lesson("Late.", at=KNOWN + HOURS))])
    assert ids(memory, query) == found == made[::-1]


def test_nothing_is_found_by_what_was_not_known_then(memory):
    name = put(memory, "We buy.", said="The margin fell.")
    memory.journal.add([(name, outcome(KNOWN + timedelta(days=30), alpha=-0.2))])
    memory.journal.add([(name, lesson("Costs rose.", at=KNOWN + timedelta(days=30) + HOURS))])
    before, between = KNOWN - timedelta(seconds=1), KNOWN + timedelta(days=29)
    assert ids(memory, "costs") == [name]
    assert ids(memory, "margin") == []
    assert ids(memory, "margin", as_of=KNOWN) == ids(memory, "margin", as_of=between) == [name]
    assert ids(memory, "costs", as_of=between) == []
    assert ids(memory, "margin", as_of=before) == []
    assert ids(memory, "buy", as_of=before) == ids(memory, "buy", as_of=DECIDED) == [name]
    assert ids(memory, "buy", as_of=DECIDED - timedelta(microseconds=1)) == []
    assert memory.search("buy", as_of=before)[0].status == "pending"


def test_an_instant_within_a_second_is_kept_to(memory):
    half = timedelta(microseconds=500_000)
    one = put(memory, "First thesis", known=KNOWN)
    two = put(memory, "Second thesis", known=KNOWN + half, agent="b")
    for query in ("thesis", ""):
        settled = {"as_of": KNOWN, "where": {"status": "settled"}}
        assert ids(memory, query, **settled) == [one]
        assert set(ids(memory, query, **settled | {"as_of": KNOWN + half})) == {one, two}
    for as_of, count in ((KNOWN, 1), (KNOWN + half, 2)):
        with memory.finder.index.view(as_of, memories=True) as view:
            assert len(view) == count
            assert [len(word.keys) for word in view.rarest(terms_of("thesis"))] == [count]


def test_a_note_is_found_from_its_storing_on(journal):
    journal.append(note("Low guidance.", at=DECIDED))
    memory = Memory(journal, clock=lambda: NOW)
    assert len(memory.search("guidance", as_of=DECIDED)) == 1
    assert memory.search("guidance", as_of=DECIDED - timedelta(seconds=1)) == []


def test_what_is_forgotten_or_replaced_is_still_found(memory):
    name = put(memory, "Old thesis", said="It held.")
    memory.journal.add([(name, forgetting(KNOWN + timedelta(days=1)))])
    again = memory.journal.append(decision("New thesis"), on_conflict="revise")[0].id
    assert set(ids(memory, "thesis")) == {name, again}
    assert memory.search("old")[0].hidden
    assert not memory.search("old", as_of=KNOWN)[0].hidden


def test_expiry_is_told_as_of_the_clock(journal):
    memory = Memory(journal, clock=lambda: NOW)
    memory.note("Passing remark", valid_until=NOW + timedelta(days=1))
    assert not memory.search("remark")[0].hidden
    assert len(memory.search("remark", where={"hidden": False})) == 1
    later = Memory(journal, clock=lambda: NOW + timedelta(days=2))
    assert later.search("remark")[0].hidden
    assert later.search("remark", where={"hidden": False}) == []


def test_filters_limits_and_dates_narrow_what_is_found(memory):
    names = [
        put(memory, "A thesis", day=day, ticker=t) for day, t in enumerate(("NVDA", "AMD") * 3)
    ]
    right = put(memory, "A thesis", day=9, said="It held.")
    assert ids(memory, "thesis", limit=2) == [right, names[5]]
    assert ids(memory, "thesis", ticker="amd") == [names[5], names[3], names[1]]
    since, until = DAY + timedelta(days=2), DAY + timedelta(days=3)
    assert ids(memory, "thesis", since=since, until=str(until)) == [names[3], names[2]]
    assert ids(memory, "thesis", where={"verdict": "right"}) == [right]
    assert ids(memory, where={"status": "pending"}, ticker="NVDA") == names[0:6:2][::-1]
    assert ids(memory, limit=None) == [right, *names[::-1]]
    assert ids(memory, "   ", limit=1) == [right]
    assert ids(memory, "...") == []


def test_a_filter_may_pass_over_more_than_is_read_at_once(memory):
    first = put(memory, "A thesis", ticker="AMD")
    for number in range(150):
        put(memory, "A thesis", day=1, agent=f"a{number}")
    assert ids(memory, "thesis", where={"ticker": "AMD"}) == [first]


@pytest.mark.parametrize(
    "wrong",
    [{"ticker": "A|B"}, {"since": "soon"}, {"where": {"x": 1}}, {"where": 5}, {"as_of": "then"}],
    ids=str,
)
def test_a_wrong_argument_is_refused(wrong, memory):
    with pytest.raises(UsageError):
        memory.search("thesis", **wrong)


def test_the_index_follows_every_change(memory):
    assert memory.search("thesis") == []
    name = put(memory, "A thesis")
    assert memory.search("thesis")[0].status == "pending"
    memory.journal.add([(name, outcome())])
    assert memory.search("thesis")[0].status == "settled"
    memory.journal.add([(name, lesson("The margin fell.", at=NOW))])
    assert ids(memory, "margin") == [name]


def test_what_others_write_and_people_edit_is_found(tmp_path):
    path = tmp_path / "memory.md"
    memory, other = (Memory.open(path, clock=lambda: NOW) for _ in range(2))
    one = put(memory, "The margin fell.")
    assert ids(memory, "margin") == [one]
    two = put(other, "The margin rose.", day=1)
    assert ids(memory, "margin") == [two, one]
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("margin fell", "price fell"), encoding="utf-8")
    assert ids(memory, "margin") == [two]
    assert ids(memory, "price") == [one]
    end = "<!-- ENTRY_END -->\n\n"
    path.write_text(text[text.index(end) + len(end) :], encoding="utf-8")
    assert ids(memory, "margin") == [two]
    assert ids(memory, "price") == []
    with memory.finder.index.view(None) as view:
        assert len(view) == 1


def test_the_archive_is_looked_into_unless_told_otherwise(tmp_path):
    memory = Memory(MarkdownJournal(tmp_path / "memory.md", max_resolved=1), clock=lambda: NOW)
    names = [put(memory, f"Thesis {day}", day=day, said="It held.") for day in range(8)]
    archived = {entry.id for entry in memory.entries() if entry.archived}
    assert archived
    assert ids(memory, "thesis") == names[::-1]
    assert {entry.id for entry in memory.search("thesis") if entry.archived} == archived
    assert set(ids(memory, "thesis", archived=False)) == set(names) - archived
    put(memory, "Thesis 9", day=9, said="It held.")  # rotates once more
    assert len(memory.search("thesis", archived=False)) == len(names) - len(archived)


def test_an_index_whose_rows_were_mostly_replaced_is_built_anew(memory, monkeypatch):
    monkeypatch.setattr(search, "_MOST_DEAD", 3)
    names = [put(memory, f"Thesis {day}", day=day) for day in range(6)]
    for name in names:
        assert len(memory.search("thesis")) == 6
        memory.journal.add([(name, outcome())])
    memory.search("thesis")
    assert sum(memory.finder.index.dead) <= 3
    assert len(memory.search("thesis", where={"status": "settled"})) == 6


def test_replaced_rows_are_not_counted(memory):
    names = [put(memory, "A thesis", day=day, known=KNOWN) for day in range(4)]
    index = memory.finder.index
    with index.view(NOW, memories=True) as view:
        assert len(view) == 4
    memory.journal.add([(name, lesson("The margin fell.", at=NOW)) for name in names[:2]])
    with index.view(NOW, memories=True) as view:
        assert len(view) == 4
        thesis, margin = (view.rarest(terms_of(word))[0] for word in ("thesis", "margin"))
        assert (len(thesis.keys), len(margin.keys)) == (4, 2)
        assert sum(index.dead) == 2


def test_of_a_common_word_only_the_newest_are_looked_at_whoever_came_first(monkeypatch):
    """Of those of one second, which ones does not depend on the order in which they came."""
    monkeypatch.setattr("tradmem.lessons.view.COMMON", 3)
    kept = []
    for order in (range(8), reversed(range(8))):
        memory = Memory(RamJournal(), clock=lambda: NOW)
        index = SearchIndex(memory.journal)
        for number in order:
            name = put(memory, "A thesis", known=KNOWN, agent=f"a{number}")
            with index.view(NOW, memories=True) as view:
                kept_now = view.rarest(terms_of("thesis"))[0].keys
                shown = [entry.id for entry in view.entries(kept_now).values()]
            assert name
        kept.append(shown)
    assert len(kept[0]) == 3
    assert kept[0] == kept[1]


def test_how_common_a_word_is_is_told_from_its_newest_places(monkeypatch):
    monkeypatch.setattr("tradmem.lessons.view.COMMON", 20)
    memory = Memory(RamJournal(), clock=lambda: NOW)
    for number in range(200):
        text = "everywhere " + "often " * (number % 2 == 0) + "seldom" * (number % 40 == 0)
        put(memory, text, known=KNOWN + timedelta(hours=number), agent=f"a{number}")
    with memory.finder.index.view(NOW, memories=True) as view:
        words = view.rarest(terms_of("everywhere often seldom"))
    assert [word.term.text for word in words] == ["seldom", "often", "everywhere"]
    assert [len(word.keys) for word in words] == [5, 20, 20]
    assert words[1].weight == pytest.approx(0.69, abs=0.05)
    assert words[2].weight == pytest.approx(0.0, abs=0.01)


def test_without_full_text_search_the_error_says_what_to_do(monkeypatch):
    class Connection:
        def execute(self, *_):
            raise fulltext.sqlite3.OperationalError("no such module: fts5")

        def close(self):
            pass

    monkeypatch.setattr(fulltext.sqlite3, "connect", lambda *_, **__: Connection())
    with pytest.raises(TradmemError, match="FTS5"):
        fulltext.FullText()


def test_several_threads_may_ask_while_one_records(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    memory = Memory.open(tmp_path / "memory.md", clock=lambda: NOW)
    put(memory, "A thesis")

    def ask(_):
        return len(memory.search("thesis"))

    with ThreadPoolExecutor(4) as pool:
        counts = [pool.submit(ask, number) for number in range(20)]
        for day in range(1, 6):
            put(memory, "A thesis", day=day)
        assert all(1 <= count.result() <= 6 for count in counts)
    assert len(memory.search("thesis")) == 6
    assert asked_for("thesis")


@pytest.mark.parametrize("limit", [-1, True, "3", 1.5])
def test_a_limit_that_cannot_be_is_wrong_use(memory, limit):
    with pytest.raises(UsageError, match=r"limit is .*; it is a whole number from 0 on"):
        memory.search("thesis", limit=limit)


def test_a_limit_beyond_all_numbers_of_entries_finds_all(memory):
    assert memory.search(limit=10**30) == memory.search(limit=None)
    assert memory.search(limit=0) == []

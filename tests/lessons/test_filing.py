"""What is added to a lesson when it is stored."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.journal.making import DAY, KNOWN, decision, outcome
from tradmem import FramePrices, MarkdownJournal, Memory, RamJournal
from tradmem.lessons.reflect import Lesson, lesson_hash

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Says:
    """A reflector that gives the same text for every case, or one per ticker."""

    related = 10

    def __init__(self, text):
        self.text = text

    def reflect(self, cases):
        for case in cases:
            ticker = case.entry.ticker
            text = self.text if isinstance(self.text, str) else self.text[ticker]
            text = text.replace("TICKER", ticker)
            yield Lesson(text=text, model="m", sha256=lesson_hash(text, ticker))


@pytest.fixture(params=["markdown", "rotating", "ram"])
def journal(request, tmp_path):
    if request.param == "ram":
        return RamJournal()
    limit = 1 if request.param == "rotating" else None
    return MarkdownJournal(tmp_path / "memory.md", max_resolved=limit)


def settle(journal, count, *, start=0, ticker="NVDA", text="Rating: Buy"):
    """Settled entries, each known a day after the one before."""
    names = []
    for number in range(start, start + count):
        entry, _ = journal.append(decision(text, day=DAY + timedelta(days=number), ticker=ticker))
        journal.add([(entry.id, outcome(KNOWN + timedelta(days=number)))])
        names.append(entry.id)
    return names


def reflect(journal, text):
    memory = Memory(journal, prices=FramePrices({}), reflector=Says(text), clock=lambda: NOW)
    memory.resolve()
    return memory


def data_of(journal, name):
    return dict(journal.get(name).additions[-1].data)


def test_a_lesson_said_before_is_stored_in_its_entry_with_the_first(journal):
    first, second = settle(journal, 2)
    reflect(journal, "TICKER rose 4.5% after it cut costs. Buy such cuts.")
    (third,) = settle(journal, 1, start=9)
    memory = reflect(journal, "TICKER rose 12% after it cut costs. Buy such cuts.")
    assert "same_as" not in data_of(journal, first)
    assert data_of(journal, second)["same_as"] == first
    assert data_of(journal, third)["same_as"] == first
    assert journal.get(third).reflection == "NVDA rose 12% after it cut costs. Buy such cuts."
    seen = memory.recall("NVDA")
    assert seen.ids == (third,)
    assert "said of 3 decisions" in seen.text


def test_a_lesson_that_says_nearly_the_same_is_linked_and_stands_by_itself(journal):
    settle(journal, 1)
    reflect(journal, "The margin held because costs were cut early. Buy when costs are cut early.")
    first = journal.memories(NOW)[0].id
    (second,) = settle(journal, 1, start=3)
    reflect(journal, "The margin held because costs were cut early. Buy if costs are cut early.")
    assert data_of(journal, second)["similar"] == [first]
    (third,) = settle(journal, 1, start=5)
    reflect(journal, "Rates fell and banks lagged. Wait for the next meeting.")
    assert "similar" not in data_of(journal, third)


def test_lessons_of_one_run_that_say_nearly_the_same_are_linked_to_the_earlier_one(journal):
    settle(journal, 1, ticker="AMD")
    settle(journal, 1, ticker="NVDA", start=1)
    settle(journal, 1, ticker="MU", start=2)
    texts = {
        "AMD": "The margin held because costs were cut early. Buy when costs are cut early.",
        "NVDA": "The margin held because costs were cut early. Buy if costs are cut early.",
        "MU": "Rates fell and banks lagged. Wait for the next meeting.",
    }
    reflect(journal, texts)
    by_ticker = {entry.ticker: entry for entry in journal.entries()}
    assert data_of(journal, by_ticker["NVDA"].id)["similar"] == [by_ticker["AMD"].id]
    assert "similar" not in data_of(journal, by_ticker["AMD"].id)
    assert "similar" not in data_of(journal, by_ticker["MU"].id)


def test_of_many_that_are_alike_a_few_are_named(journal):
    names = settle(journal, 9)
    middle = "The margin held because costs were cut early by the team in"
    words = iter(["Rome", "Oslo", "Bonn", "Lyon", "Kyiv", "Nice", "Bath", "Graz", "Cork"])

    class Varies(Says):
        def reflect(self, cases):
            for case in cases:
                self.text = f"{middle} {next(words)}. Buy when costs are cut early."
                yield from super().reflect([case])

    Memory(journal, prices=FramePrices({}), reflector=Varies(""), clock=lambda: NOW).resolve()
    found = [data_of(journal, name).get("similar", []) for name in names]
    assert [len(similar) for similar in found] == [0, 1, 2, 3, 4, 5, 5, 5, 5]
    assert found[8] == names[7:2:-1]


@pytest.mark.parametrize("error", [RuntimeError("broke"), KeyboardInterrupt()])
def test_what_came_before_a_run_was_cut_short_is_stored(journal, error):
    first, second = settle(journal, 2)

    class Breaks(Says):
        def reflect(self, cases):
            yield from super().reflect(cases[:1])
            raise error

    text = "It held because costs were cut. Buy such cuts."
    memory = Memory(journal, prices=FramePrices({}), reflector=Breaks(text), clock=lambda: NOW)
    with pytest.raises(type(error)):
        memory.resolve()
    assert journal.get(first).reflection == text
    assert journal.get(second).reflection == ""


def test_companies_that_a_decision_or_lesson_names_are_kept(journal):
    settle(journal, 1, ticker="AMD")
    reflect(journal, "Orders fell. Wait for the next quarter.")
    (name,) = settle(journal, 1, start=3, text="Rating: Buy\nUnlike AMD and $INTC it has orders.")
    reflect(journal, "Orders came in, as at 0700.HK. Look at orders first.")
    assert data_of(journal, name)["tickers"] == ["AMD", "INTC", "0700.HK"]


def test_a_note_is_filed_without_a_model(journal):
    settle(journal, 1, ticker="AMD")
    memory = Memory(journal, clock=lambda: NOW)
    first = memory.note("Guidance before a conference is cautious.", ticker="NVDA").entry
    second = memory.note("guidance before a conference  is cautious.", ticker="AMD").entry
    third = memory.note("AMD guides with NVDA.", ticker="NVDA").entry
    assert second.recorded.extra["same_as"] == first.id
    assert third.recorded.extra["tickers"] == ["AMD"]


def test_a_ticker_that_always_teaches_the_same_is_shown_once_and_not_searched_for_ever(journal):
    settle(journal, 60)
    memory = reflect(journal, "TICKER rose 4.5% after it cut costs. Buy such cuts.")
    seen = memory.recall("NVDA")
    assert len(seen.ids) == 1
    assert "said of 40 decisions" in seen.text


def test_a_lesson_never_names_one_that_became_known_later(journal):
    """The later decision was settled and taught first; a read as of then would tell of it."""
    (later,) = settle(journal, 1, start=20)
    reflect(journal, "TICKER rose 4.5% after it cut costs. Buy such cuts.")
    (earlier,) = settle(journal, 1)
    reflect(journal, "TICKER rose 12% after it cut costs. Buy such cuts.")
    assert journal.get(later).known_at > journal.get(earlier).known_at
    assert "same_as" not in data_of(journal, earlier)
    (nearly,) = settle(journal, 1, start=1)
    reflect(journal, "TICKER rose 12% after it had cut costs. Buy such cuts.")
    assert data_of(journal, nearly)["similar"] == [earlier]

"""Neither recall by relevance nor search looks ahead, whatever was recorded since."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import test_as_of
from tests.histories import TICKERS, WORDS, History
from tests.lessons.embedders import Letters
from tests.test_as_of import SHARED, histories, instants, picks
from tradmem import MarkdownJournal, RamJournal, Settings
from tradmem.lessons import rank, view

QUERY = "NVDA: earnings moved it, decision 3; nothing else. Note rates of AMD, and number 7."
ASKED = ("rates", "nothing", "note", "decision", "otherwise", "nothing note", "12", "aapl")


class Relevant(History):
    """A history whose memory ranks by all parts, and is asked again at every step."""

    def open(self, journal):
        memory = super().open(journal)
        memory.settings = Settings(
            same_ticker=2, cross_ticker=2, weights={"record": 0.3}, embeddings="none"
        )
        memory.finder.settings = memory.settings
        memory.finder.embedder = Letters()
        return memory

    def grow(self, *step):
        super().grow(*step)
        self.memory.recall(TICKERS[step[1] % 3], rank="relevant", query=QUERY)


def grown(journal, plan):
    return test_as_of.grown(journal, plan, Relevant)


def shown(memory, instant):
    found = []
    for ticker in TICKERS:
        seen = memory.recall(ticker, instant, rank="relevant", query=QUERY, explain=True)
        found.append((seen.ids, seen.text, told(seen)))
    return found


def told(seen):
    return [(i.entry.id, i.score, i.parts, i.is_shown, i.reason) for i in seen.explained]


def check(history, journals, picks):
    moments = instants(history)
    for pick in picks if moments else ():
        instant = moments[pick % len(moments)]
        expected = shown(history.memory, instant)
        for journal in journals():
            cut = history.cut_off(journal, instant)
            end, history.now = history.now, instant
            assert shown(cut, None) == expected
            history.now = end


@pytest.fixture(params=["wide", "narrow"])
def limits(request, monkeypatch):
    """Narrow ones are met at once; what they leave out may not depend on the future either."""
    if request.param == "narrow":
        monkeypatch.setattr(view, "COMMON", 3)
        monkeypatch.setattr(view.View.rarest, "__defaults__", (4,))
        monkeypatch.setattr(rank, "CANDIDATES", 2)
        monkeypatch.setattr(rank, "_NEWEST", rank.Newest(of_ticker=1, of_named=1, of_others=1))


@pytest.mark.usefixtures("limits")
def test_a_relevant_recall_as_of_an_instant_is_that_of_a_log_cut_off_there():
    @settings(deadline=None, max_examples=15)
    @given(histories, picks)
    def holds(plan, picks):
        check(grown(RamJournal(), plan), lambda: [RamJournal()], picks[:3])

    holds()


@settings(deadline=None, max_examples=5)
@given(histories, picks)
def test_the_same_in_a_file_whose_entries_rotate(plan, picks):
    with tempfile.TemporaryDirectory(dir=SHARED) as folder:
        names = iter(range(100))

        def journal():
            return MarkdownJournal(Path(folder) / f"{next(names)}" / "memory.md", max_resolved=1)

        history = grown(journal(), plan)
        check(history, lambda: [journal(), RamJournal()], picks[:2])


def words_of(entry):
    text = " ".join((entry.ticker, entry.decision, entry.reflection, entry.note, *entry.tags))
    return plain(re.findall(r"\w+", text.lower()))


def plain(words):
    """Plurals are looked for as their singulars, as a search by stems does."""
    return {word.rstrip("s") for word in words}


@settings(deadline=None, max_examples=20)
@given(histories, picks)
def test_a_search_finds_what_a_look_through_all_entries_finds(plan, picks):
    history = grown(RamJournal(), plan)
    memory, moments = history.memory, instants(history)
    for pick in picks:
        instant = moments[pick % len(moments)] if moments else None
        for query in ASKED:
            there = [
                entry
                for entry in memory.entries(as_of=instant)
                if plain(query.split()) <= words_of(entry)
            ]
            found = memory.search(query, as_of=instant, limit=None)
            if there:
                assert sorted(e.id for e in found) == sorted(e.id for e in there)
                assert all(entry in there for entry in found)
                assert [e.date for e in found] == sorted((e.date for e in found), reverse=True)
            else:
                assert all(plain(query.split()) & words_of(entry) for entry in found)


def test_what_is_asked_for_is_there_to_be_found():
    """A search for words that no history holds would prove nothing."""
    text = " ".join(WORDS).lower()
    assert "rates" in text
    assert "nothing" in text


@pytest.mark.long
@settings(deadline=None, max_examples=500)
@given(st.data())
def test_many_more_of_them(data):
    check(grown(RamJournal(), data.draw(histories)), lambda: [RamJournal()], data.draw(picks))

"""Random histories: as of any instant, a database answers every question as a file does."""

import tempfile
from datetime import timedelta
from random import Random

import pytest

from tests.histories import KINDS, TICKERS, History
from tests.lessons.embedders import Letters
from tradmem import MarkdownJournal, Memory, PostgresJournal, Settings

SETTINGS = Settings(same_ticker=2, cross_ticker=2, embeddings="none", horizons=(5, 20))
QUERIES = ("earnings", "decision 3", "nothing rates")


def told(entries):
    return [(e.id, e.status, e.known_at, e.hidden, e.reflection, e.verdict) for e in entries]


def answers(memory, as_of):
    """All that can be asked as of an instant."""
    journal = memory.journal
    yield sorted(told(memory.entries(as_of=as_of)))
    for query in QUERIES:
        yield sorted(entry.id for entry in memory.search(query, as_of=as_of, limit=None))
    for ticker in (*TICKERS[:2], "NEW"):
        yield journal.counts(ticker, as_of)
        for hidden in (False, True):
            for lessons in (False, True):
                kind = {"hidden": hidden, "lessons": lessons}
                yield told(journal.memories(as_of, ticker=ticker, **kind))
                others = {"not_ticker": ticker, "distinct": True, "limit": 2}
                yield told(journal.memories(as_of, **others, **kind))
        for how in ({}, {"rank": "relevant", "query": "Earnings move NVDA"}):
            seen = memory.recall(ticker, as_of, explain=True, **how)
            yield seen.text, [(w.entry.id, w.score, w.reason) for w in seen.explained]


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 40))]
)
def test_every_answer_of_a_database_is_that_of_a_file(seed, postgres):
    chance = Random(seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        PostgresJournal(postgres.new_log(partitions=1 + seed % 3), horizons=(5,)) as database,
    ):
        kept = chance.choice([None, 2, 5])
        file = MarkdownJournal(f"{folder}/memory.md", max_resolved=kept)
        history = History(file)
        for _ in range(chance.randrange(15, 30)):
            first, second = chance.randrange(99), chance.randrange(99)
            hours, lag = chance.randrange(1, 60), chance.randrange(40)
            history.grow(chance.choice(KINDS), first, second, hours, lag)
        history.replay(database, lambda _: True)
        if seed % 2:
            database.archive(chance.randrange(4), history.now)
        if seed % 3 == 1:
            database.rebuild()
        one, other = (
            Memory(j, settings=SETTINGS, clock=lambda: history.now, embedder=Letters())
            for j in (file, database)
        )
        steps = chance.sample(history.steps, 2)
        instants = [step.known for step in steps] + [steps[0].clock - timedelta(seconds=1)]
        for as_of in (*instants, history.now):
            for expected, found in zip(answers(one, as_of), answers(other, as_of), strict=True):
                assert found == expected
        assert [e.id for e in file.unfinished()] == [e.id for e in database.unfinished()]

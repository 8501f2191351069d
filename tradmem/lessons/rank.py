"""Recall by relevance: what has the most to do with a query, each score accounted for.

Candidates are what shares the query's rarest words, what is nearest to it in meaning, what is
on a ticker that it names, and the newest. Their scores add up parts of 0 to 1, each times its
weight. All of it depends only on what was known by the instant of the recall.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from math import log
from typing import TYPE_CHECKING, NamedTuple

from tradmem.journal.base import Journal
from tradmem.lessons.choosing import Choice
from tradmem.lessons.entities import tickers_in
from tradmem.lessons.holdout import Holdout
from tradmem.lessons.mixing import mixed
from tradmem.lessons.parts import DEFAULT_WEIGHTS, PartName
from tradmem.lessons.readers import Readers
from tradmem.lessons.recall import Recall, compose
from tradmem.lessons.search import SearchIndex
from tradmem.lessons.view import Rare, View
from tradmem.lessons.weighing import Question, weigh
from tradmem.lessons.words import terms_of
from tradmem.model import Entry

if TYPE_CHECKING:
    from tradmem.lessons.making import Vectors

CANDIDATES = 12  # of the ticker and as many of others; by words, and as many by meaning
_LEAST = log(2)  # the weight of a word that half of the memories hold; more hold what says nothing
_MOST_NAMED = 8  # tickers of a query that count
HALF_LIFE = 90.0  # days


class Newest(NamedTuple):
    """How many of the newest are candidates: of the ticker, of each named one, of others."""

    of_ticker: int = 10
    of_named: int = 5
    of_others: int = 10


_NEWEST = Newest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How relevance is judged.

    Attributes:
        index: over the journal's texts.
        vectors: over its memories; None without embeddings.
        readers: which decisions saw a memory; asked only where that has a weight.
        weights: what a part of 1 adds to a score, by the part's name.
        half_life: days after which the recency of a memory is half of what it was.
    """

    index: SearchIndex
    readers: Readers
    vectors: "Vectors | None" = None
    weights: Mapping[str, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    half_life: float = HALF_LIFE


def recall_relevant(
    journal: Journal,
    ticker: str,
    as_of: datetime,
    query: str,
    ranking: Ranking,
    *,
    same_ticker: int = 5,
    cross_ticker: int = 3,
    budget: int = 8000,
    explain: bool = False,
    holdout: Holdout | None = None,
) -> Recall:
    """What was known by an instant and has the most to do with a query.

    Args:
        journal: where the entries are.
        ticker: in upper case.
        as_of: aware UTC.
        query: what the decision is about, such as the day's brief.
        ranking: how relevance is judged.
        same_ticker: how many memories of the ticker, with their decisions.
        cross_ticker: how many of other tickers, at most one of each.
        budget: characters of the text at most. Decisions are cut first, the most relevant
            least; then the least relevant lessons go.
        explain: whether to account for every memory that was looked at.
        holdout: which of those that would be shown are withheld; none by default.
    """
    vectors = ranking.vectors if ranking.weights[PartName.SEMANTIC] else None
    if vectors is not None:
        vectors.refresh()
    vector = vectors.vector(query) if vectors is not None and query.strip() else None
    with ranking.index.view(as_of, memories=True) as view:
        entities = _entities(ticker, query, ranking.index.tickers(as_of))
        words = [word for word in view.rarest(terms_of(query)) if word.weight >= _LEAST]
        keys = _by_words(view, words, ticker)
        if vectors is not None and vector is not None:
            near = vectors.nearest(
                vector, as_of, ticker=ticker, most=CANDIDATES, changed=view.changed
            )
            keys += view.find(near)
        entries = view.entries(dict.fromkeys(keys), replaced=False).values()
    found = {entry.id: entry for entry in entries}
    found |= {entry.id: entry for entry in _newest(journal, ticker, as_of, entities)}
    memories = [entry for entry in found.values() if entry.known_at]
    question = Question(
        ticker=ticker,
        as_of=as_of,
        words=words,
        entities=entities,
        weights=ranking.weights,
        half_life=ranking.half_life,
        vectors=vectors,
        vector=vector,
        readers=ranking.readers.of(found, as_of) if ranking.weights[PartName.RECORD] else {},
    )
    choice = Choice(ticker, same_ticker, cross_ticker)
    for item in weigh(question, memories):
        choice.take(item)
    recalled = compose(
        journal,
        ticker,
        as_of,
        choice.shown,
        choice.repeats,
        budget=budget,
        order="most relevant first",
        holdout=holdout,
    )
    fault = vectors.fault if vectors is not None else ""
    return replace(
        recalled,
        explained=choice.account(recalled) if explain else (),
        remarks=(f"some memories were ranked without embeddings: {fault}",) if fault else (),
    )


def _entities(ticker: str, query: str, known: Collection[str]) -> tuple[str, ...]:
    """The decision's own ticker, and those that the query names, of those that were known."""
    named = [name for name in tickers_in(query, known, own=ticker) if name in known]
    return (ticker, *named[:_MOST_NAMED])


def _by_words(view: View, words: Iterable[Rare], ticker: str) -> list[int]:
    """What holds the greatest weight of the words, the newest of equals first."""
    scores: dict[int, float] = {}
    for word in words:
        for key in word.keys:
            scores[key] = scores.get(key, 0.0) + word.weight
    best = sorted(scores, key=scores.__getitem__, reverse=True)
    ranked = (
        (view.row(key).ticker, key)
        for _, equals in groupby(best, key=scores.__getitem__)
        for key in sorted(equals, key=view.newness, reverse=True)
    )
    return mixed(ranked, ticker, CANDIDATES)


def _newest(
    journal: Journal, ticker: str, as_of: datetime, entities: Sequence[str]
) -> Iterable[Entry]:
    yield from journal.memories(as_of, ticker=ticker, limit=_NEWEST.of_ticker)
    for name in entities[1:]:
        yield from journal.memories(as_of, ticker=name, lessons=True, limit=_NEWEST.of_named)
    yield from journal.memories(
        as_of, not_ticker=ticker, distinct=True, lessons=True, limit=_NEWEST.of_others
    )

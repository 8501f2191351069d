"""Searching a journal: by words and filters, or by what has to do with a query."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date as Date  # noqa: N812 - `date` is the name of a parameter elsewhere
from datetime import datetime
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tradmem.journal.base import Journal
from tradmem.journal.finding import FullTextJournal, Sought
from tradmem.journal.nearness import VectorJournal
from tradmem.lessons.holdout import Holdout
from tradmem.lessons.parts import PartName
from tradmem.lessons.rank import Ranking, recall_relevant
from tradmem.lessons.readers import Readers
from tradmem.lessons.recall import Recall
from tradmem.lessons.search import Row, SearchIndex
from tradmem.lessons.view import View
from tradmem.lessons.words import Term, asked_for
from tradmem.model import Entry
from tradmem.settings import Embeddings, Settings, default_vectors

if TYPE_CHECKING:
    from tradmem.lessons.embed import Embedder
    from tradmem.lessons.making import Vectors

_AT_ONCE = 64  # entries that are read before the next are looked at


class Finder:
    """The indexes over one journal, each made when it is first needed.

    Args:
        journal: what to look into.
        settings: how relevance is judged, and where vectors come from.
        embedder: makes vectors; what the settings name by default.
    """

    def __init__(
        self, journal: Journal, settings: Settings, embedder: "Embedder | None" = None
    ) -> None:
        self.journal = journal
        self.settings = settings
        self.embedder = embedder

    @cached_property
    def index(self) -> SearchIndex:
        """Over all texts."""
        return SearchIndex(self.journal)

    @cached_property
    def vectors(self) -> "Vectors | None":
        """Over all memories; None without embeddings.

        Raises:
            UsageError: the settings name embeddings that are not to be had.
        """
        embedder = self.embedder or _embedder(self.settings)
        if embedder is None:
            return None
        return _vectors(self.journal, embedder, self.settings.vectors or default_vectors())

    @cached_property
    def _readers(self) -> Readers:
        return Readers(self.journal)

    def recall(
        self,
        ticker: str,
        as_of: datetime,
        query: str,
        *,
        explain: bool = False,
        holdout: Holdout | None = None,
    ) -> Recall:
        """See :func:`tradmem.lessons.rank.recall_relevant`."""
        wanted = self.settings.weights[PartName.SEMANTIC] > 0
        return recall_relevant(
            self.journal,
            ticker,
            as_of,
            query,
            Ranking(
                index=self.index,
                readers=self._readers,
                vectors=self.vectors if wanted else None,
                weights=self.settings.weights,
                half_life=self.settings.half_life,
            ),
            same_ticker=self.settings.same_ticker,
            cross_ticker=self.settings.cross_ticker,
            budget=self.settings.budget,
            explain=explain,
            holdout=holdout,
        )


def _vectors(journal: Journal, embedder: "Embedder", folder: Path) -> "Vectors":
    """Vectors that the journal keeps, where it can; else in this process's own memory."""
    kept = journal.vectors(embedder.model) if isinstance(journal, VectorJournal) else None
    if kept is not None:
        from tradmem.lessons.shared_vectors import SharedVectors  # noqa: PLC0415 - loads numpy

        return SharedVectors(kept, embedder, folder)
    from tradmem.lessons.vectors import VectorIndex  # noqa: PLC0415 - loads numpy

    return VectorIndex(journal, embedder, folder)


def _embedder(settings: Settings) -> "Embedder | None":
    """The embedder that is named; None for none, or where it is not installed and need not be."""
    name = settings.embeddings
    if name == Embeddings.NONE or (name == Embeddings.AUTO and find_spec("wordllama") is None):
        return None
    from tradmem.lessons.embed import (  # noqa: PLC0415 - loads numpy
        OpenAIEmbedder,
        WordLlamaEmbedder,
    )

    if name == Embeddings.OPENAI:
        return OpenAIEmbedder(model=settings.embedding_model or None)
    return WordLlamaEmbedder()


class Found(NamedTuple):
    """What a search found.

    Attributes:
        entries: as they stood.
        terms: what was looked for.
        whole: whether each entry holds all of it.
    """

    entries: list[Entry]
    terms: list[Term]
    whole: bool = True


def search(
    index: SearchIndex,
    query: str,
    *,
    as_of: datetime | None = None,
    limit: int | None = None,
    accepts: Callable[[Row], bool] = lambda _: True,
    passes: Callable[[Entry], bool] = lambda _: True,
) -> Found:
    """The entries that hold all the words of a query, the newest first; all for an empty one.

    Where none holds all of them: those that hold some, by how rare these are.

    Args:
        index: over the journal.
        query: words, and phrases in quotation marks; anything else in it is mere text.
        as_of: aware UTC; None for everything that is stored.
        limit: at most this many; None for all.
        accepts: what a cheap look tells of an entry.
        passes: the full test, asked only of what was found so far.

    """
    terms = asked_for(query)
    if query.strip() and not terms:
        return Found([], terms)
    with index.view(as_of) as view:
        keys = view.holding(*terms) if terms else view.keys()
        found = _entries(view, filter(_test(view, accepts), _newest(view, keys)), passes)
        whole = list(islice(found, limit))
        if whole or len(terms) < 2:
            return Found(whole, terms)
        close = filter(_test(view, accepts), _closest(view, terms))
        return Found(list(islice(_entries(view, close, passes), limit)), terms, whole=False)


def find(
    finder: Finder,
    sought: Sought,
    *,
    limit: int | None = None,
    passes: Callable[[Entry], bool] = lambda _: True,
) -> Found:
    """What a search of a journal finds, by the journal's own full text where it has one.

    Such a one tells the closest by how many of the words they hold, whatever their rarity.

    Args:
        finder: the indexes over the journal.
        sought: what is looked for.
        limit: at most this many; None for all.
        passes: a further test.
    """
    journal = finder.journal
    if isinstance(journal, FullTextJournal):
        words = asked_for(sought.query)
        whole = list(islice(filter(passes, journal.holding(sought)), limit))
        if whole or len(words) < 2:
            return Found(whole, words)
        close = list(islice(filter(passes, journal.holding_some(sought)), limit))
        return Found(close, words, whole=False)
    accepts = accepting(
        ticker=sought.ticker, since=sought.since, until=sought.until, archived=sought.archived
    )
    return search(
        finder.index,
        sought.query,
        as_of=sought.as_of,
        limit=limit,
        accepts=accepts,
        passes=passes,
    )


def accepting(
    *, ticker: str | None, since: Date | None, until: Date | None, archived: bool
) -> Callable[[Row], bool]:
    """What a row of the index has to be: of a ticker, within dates, wherever it may stand."""
    first = since.isoformat() if since else None
    last = until.isoformat() if until else None
    return lambda row: (
        (ticker is None or row.ticker == ticker)
        and (first is None or row.day >= first)
        and (last is None or row.day <= last)
        and (archived or not row.archived)
    )


def _test(view: View, accepts: Callable[[Row], bool]) -> Callable[[int], bool]:
    return lambda key: accepts(view.row(key))


def _newest(view: View, keys: Iterable[int]) -> Iterator[int]:
    """The keys by date, then as they were made; what nobody looks at is not put in order."""
    days: dict[str, list[int]] = {}
    for key in keys:
        days.setdefault(view.row(key).day, []).append(key)
    for day in sorted(days, reverse=True):
        yield from sorted(days[day], key=lambda key: _made(view.row(key)), reverse=True)


def _closest(view: View, terms: list[Term]) -> list[int]:
    """What holds some of the words: by their weight, then the newest first."""
    scores: dict[int, float] = {}
    for word in view.rarest(terms, most=len(terms)):
        for key in word.keys:
            scores[key] = scores.get(key, 0.0) + word.weight
    return sorted(scores, key=lambda key: (scores[key], *_made(view.row(key))), reverse=True)


def _made(row: Row) -> tuple[str, datetime, str]:
    """By date, then by when it was decided or noted: no lesson that comes later moves it."""
    return row.day, row.made, row.id


def _entries(view: View, keys: Iterable[int], passes: Callable[[Entry], bool]) -> Iterator[Entry]:
    """The entries of some keys in their order, read in batches."""
    left = iter(keys)
    while batch := list(islice(left, _AT_ONCE)):
        yield from filter(passes, view.entries(batch).values())

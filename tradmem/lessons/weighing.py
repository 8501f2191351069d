"""How much each memory has to do with a query: the parts of its score, each from 0 to 1."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tradmem.journal.passages import passage_of
from tradmem.lessons.entities import named_of
from tradmem.lessons.fulltext import Texts
from tradmem.lessons.parts import Part, PartName, Weighed
from tradmem.lessons.view import Rare
from tradmem.model import Entry, Verdict

if TYPE_CHECKING:
    from tradmem.lessons.embed import Vector
    from tradmem.lessons.making import Vectors

_DAY = timedelta(days=1)
_SHOWN_WORDS = 6
_DIGITS = 4

Told = tuple[float, str]  # a part's value, and where it comes from


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What memories are weighed against.

    Attributes:
        ticker: whose decision is to be made.
        as_of: aware UTC.
        words: the rarest of the query.
        entities: the tickers that the query names, and the decision's own.
        weights: what a part of 1 adds, by its name.
        half_life: days after which the recency of a memory is half of what it was.
        vectors: of the memories; None without embeddings.
        vector: of the query.
        readers: by a memory's id, the decisions that saw it, as they stood.
    """

    ticker: str
    as_of: datetime
    words: Sequence[Rare]
    entities: Collection[str]
    weights: Mapping[str, float]
    half_life: float
    vectors: "Vectors | None" = None
    vector: "Vector | None" = None
    readers: Mapping[str, Sequence[Entry]] = field(default_factory=dict)


def weigh(question: Question, entries: Sequence[Entry]) -> list[Weighed]:
    """The scores of some memories as they stood, the highest first, of equals the newest."""
    parts: dict[PartName, list[Told]] = {
        PartName.KEYWORD: _keyword(question, entries),
        PartName.ENTITIES: [_entities(question, entry) for entry in entries],
        PartName.RECENCY: [_recency(question, entry) for entry in entries],
    }
    if question.vector is not None:
        parts[PartName.SEMANTIC] = _semantic(question, entries)
    if question.weights[PartName.RECORD]:
        parts[PartName.RECORD] = [_record(question, entry) for entry in entries]
    weighed = [
        _sum(question, entry, {name: told[number] for name, told in parts.items()})
        for number, entry in enumerate(entries)
    ]
    return sorted(weighed, key=lambda item: (item.score, *_newness(item.entry)), reverse=True)


def _sum(question: Question, entry: Entry, told: Mapping[PartName, Told]) -> Weighed:
    """The score is the sum of the points as they are shown, to the last digit."""
    parts = []
    for name in PartName:
        value, detail = told.get(name, (0.0, ""))
        weight = question.weights[name]
        if name in told:
            points = round(weight * value, _DIGITS)
            parts.append(
                Part(
                    name=name,
                    value=round(value, _DIGITS),
                    weight=weight,
                    points=points,
                    detail=detail,
                )
            )
    score = round(sum(part.points for part in parts), _DIGITS)
    return Weighed(entry=entry, parts=tuple(parts), score=score)


def _newness(entry: Entry) -> tuple[datetime, str, str]:
    return (entry.known_at or entry.recorded.known_at, entry.date.isoformat(), entry.id)


def _keyword(question: Question, entries: Sequence[Entry]) -> list[Told]:
    """The share of the rarest words that a memory holds, by their weight."""
    total = sum(word.weight for word in question.words)
    if not total:
        return [(0.0, "")] * len(entries)
    texts = Texts(passage_of(entry).text for entry in entries)
    held = [(word, texts.holding(word.term)) for word in question.words]
    out = []
    for number in range(len(entries)):
        words = [word for word, places in held if number in places]
        names = ", ".join(word.term.text for word in words[:_SHOWN_WORDS])
        more = f" and {len(words) - _SHOWN_WORDS} more" if len(words) > _SHOWN_WORDS else ""
        out.append((sum(word.weight for word in words) / total, names + more))
    return out


def _semantic(question: Question, entries: Sequence[Entry]) -> list[Told]:
    """The cosine of the angle to the query; 0 where it is negative."""
    from tradmem.lessons.matrix import similarity  # noqa: PLC0415 - loads numpy

    found, vector = question.vectors, question.vector
    assert found is not None
    assert vector is not None
    own = found.of(entries, question.as_of)
    others = [entry for entry, there in zip(entries, own, strict=True) if there is None]
    made = iter(found.vectors([found.gist(passage_of(entry)) for entry in others]))
    out = []
    for there in own:
        other = next(made) if there is None else there
        if other is None:
            out.append((0.0, "no vector"))
        else:
            near = similarity(other, vector)
            out.append((max(0.0, near), f"cosine {near:.2f}"))
    return out


def _entities(question: Question, entry: Entry) -> Told:
    """The share of the query's tickers that a memory is on, or names."""
    text = f"{entry.reflection}\n{entry.decision}\n{entry.note}"
    others = [ticker for ticker in question.entities if ticker != entry.ticker]
    named = {entry.ticker, *named_of(text, others)}
    shared = [ticker for ticker in question.entities if ticker in named]
    return (len(shared) / len(question.entities), ", ".join(shared))


def _recency(question: Question, entry: Entry) -> Told:
    days = (question.as_of - (entry.known_at or question.as_of)) / _DAY
    return (0.5 ** (days / question.half_life), f"{int(days)} days old")


def _record(question: Question, entry: Entry) -> Told:
    """How the decisions that saw a memory came out: a half while there is nothing to tell."""
    verdicts = [reader.verdict for reader in question.readers.get(entry.id, ())]
    right, wrong = verdicts.count(Verdict.RIGHT), verdicts.count(Verdict.WRONG)
    return ((right + 1) / (right + wrong + 2), f"{right} right, {wrong} wrong that saw it")

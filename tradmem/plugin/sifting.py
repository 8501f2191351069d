"""Which items of a store pass a filter, match a namespace, and have to do with a query."""

from collections.abc import Callable, Mapping, Sequence
from math import log
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any

from langgraph.store.base import MatchCondition, get_text_at_path, tokenize_path

from tradmem.errors import UsageError
from tradmem.lessons.fulltext import Texts
from tradmem.lessons.words import terms_of

if TYPE_CHECKING:
    from tradmem.lessons.making import Vectors

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
_OPERATORS = ("$eq", "$ne", *_ORDERS)
_LONGEST = 100_000  # characters of a value that are searched


def passes(value: Any, wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value has what a filter names; nested objects are compared key by key.

    An order holds between two numbers, or two texts, and never for what is missing.

    Raises:
        UsageError: the filter has an operator that is none.
    """
    return all(_fits(value.get(name), asked) for name, asked in (wanted or {}).items())


def _fits(found: Any, asked: Any) -> bool:
    if isinstance(asked, Mapping):
        if any(str(name).startswith("$") for name in asked):
            return all(_compare(found, name, value) for name, value in asked.items())
        return isinstance(found, Mapping) and passes(found, asked)
    if isinstance(asked, list | tuple):
        same = isinstance(found, list) and len(found) == len(asked)
        return same and all(map(_fits, found, asked))
    return bool(_equal(found, asked))


def _compare(found: Any, operator: str, asked: Any) -> bool:
    if operator == "$eq":
        return _equal(found, asked)
    if operator == "$ne":
        return not _equal(found, asked)
    if operator not in _ORDERS:
        raise UsageError(f"there is no operator {operator!r}; use one of {', '.join(_OPERATORS)}")
    order, one, other = _ORDERS[operator], _number(found), _number(asked)
    if one is not None and other is not None:
        return order(one, other)
    return isinstance(found, str) and isinstance(asked, str) and order(found, asked)


def _equal(found: Any, asked: Any) -> bool:
    """As JSON has it, where 1 is not true."""
    return bool(found == asked) and isinstance(found, bool) == isinstance(asked, bool)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends with a path, in which ``*`` is any label."""
    path = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise UsageError(f"{condition.match_type!r} is no way to match; use prefix or suffix")
    is_prefix = condition.match_type == "prefix"
    part = namespace[: len(path)] if is_prefix else namespace[len(namespace) - len(path) :]
    return len(namespace) >= len(path) and all(
        asked in ("*", label) for label, asked in zip(part, path, strict=True)
    )


def words_of(value: Mapping[str, Any], index: Sequence[str] | bool | None) -> str | None:
    """The text of a value that is searched; None if none is to be.

    Args:
        value: what was put.
        index: paths of its fields, as LangGraph writes them; None for all, False for none.
    """
    if index is False:
        return None
    if isinstance(index, list | tuple):
        paths = [tokenize_path(path) for path in index if isinstance(path, str)]
        texts = [text for path in paths for text in get_text_at_path(value, path)]
    else:
        texts = list(_leaves(value))
    return "\n".join(texts)[:_LONGEST]


def _leaves(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _leaves(item)]
    if isinstance(value, list):
        return [text for item in value for text in _leaves(item)]
    return [] if value is None else [str(value)]


def scores(
    query: str, texts: Mapping[str, str | None], vectors: "Vectors | None" = None
) -> dict[str, float | None]:
    """How much each text has to do with a query, from 0 to 1; None for what has no text.

    The share of the query's words that it holds, the rare ones counting more; with embeddings,
    the mean of that and of the cosine of the angle between them.
    """
    found: dict[str, float | None] = dict.fromkeys(texts)
    known = {name: text for name, text in texts.items() if text is not None}
    places, names = Texts(known.values()), list(known)
    held = [places.holding(term) for term in terms_of(query)]
    weights = [log(1 + len(names) / len(group)) for group in held if group]
    total = sum(weights) + sum(log(1 + len(names)) for group in held if not group)
    groups = [group for group in held if group]
    for number, name in enumerate(names):
        pairs = zip(groups, weights, strict=True)
        held_here = sum(weight for group, weight in pairs if number in group)
        found[name] = held_here / total if total else 0.0
    near = _near(query, known, vectors) if vectors is not None else {}
    for name, cosine in near.items():
        found[name] = ((found[name] or 0.0) + max(0.0, cosine)) / 2
    return found


def _near(query: str, texts: Mapping[str, str], vectors: "Vectors") -> dict[str, float]:
    """The cosines to a query; empty where it, or a text, has no vector."""
    from tradmem.lessons.matrix import similarity  # noqa: PLC0415 - loads numpy

    vector = vectors.vector(query)
    if vector is None:
        return {}
    longest = vectors.embedder.longest
    made = vectors.vectors([text[:longest] for text in texts.values()])
    return {
        name: 0.0 if other is None else similarity(other, vector)
        for name, other in zip(texts, made, strict=True)
    }

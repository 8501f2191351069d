"""A log as LangGraph's store: items are notes, and nothing is ever overwritten.

Putting an item adds a note, which supersedes the one that stood under its key; deleting is a
forgetting. What an item was stays in the log, with when and by what it was replaced.
"""

import asyncio
import copy
import json
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from tradmem.clock import format_instant
from tradmem.errors import UsageError
from tradmem.memory import Memory
from tradmem.model import Entry
from tradmem.plugin.shelf import Items, Kept, Path
from tradmem.plugin.sifting import matches, passes, scores, words_of
from tradmem.tickers import check_ticker

EXTRA = "store"
_GISTS = ("content", "memory", "text", "data")  # where LangGraph's and langmem's tools put words
_ACTOR = "store"
_TRIES = 20


class MemoryStore(BaseStore):
    """A store on a memory, sync and async, for graphs and for langmem's tools.

    In a batch the reads come first and the puts last, of one key the last one, as in
    LangGraph's own stores. A search without a query gives what was put last first; with one,
    what has the most to do with it: by its words, and by meaning where embeddings are
    installed. Items do not expire.

    Two processes that put under one key at once both succeed; the later one is what is read.

    Args:
        memory: where the notes are kept.
        actor: who is named in what the store replaces or deletes.
    """

    __slots__ = ("_actor", "_items", "_lock", "memory")

    def __init__(self, memory: Memory, *, actor: str = _ACTOR) -> None:
        self.memory = memory
        self._actor = actor
        self._items = Items(memory.journal, EXTRA)
        self._lock = threading.RLock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """See :meth:`langgraph.store.base.BaseStore.batch`.

        Raises:
            UsageError: a value is no JSON, an index or a query can be none, or a lifetime is
                asked for; nothing was put.
        """
        ops = list(ops)
        for op in ops:
            _check_search(op)
        puts = {(op.namespace, op.key): _checked(op) for op in ops if isinstance(op, PutOp)}
        with self._lock:
            results = [self._read(op) for op in ops]
            for op in puts.values():
                self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread of its own."""
        return await asyncio.to_thread(self.batch, list(ops))

    # Reading

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                kept = self._items.newest((tuple(op.namespace), op.key))
                return _item(kept) if kept and self._stands(kept) else None
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
        raise UsageError(f"{type(op).__name__} is no operation of a store")

    def _stands(self, kept: Kept) -> bool:
        """Whether an item is there: its newest revision is not hidden."""
        return not kept.entry.by(self.memory.clock()).hidden

    def _all(self, prefix: tuple[str, ...] = ()) -> list[Kept]:
        """The items below a namespace, the last put first."""
        found = filter(self._stands, self._items.below(prefix))
        return sorted(found, key=lambda kept: kept.order_in_time, reverse=True)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found = [k for k in self._all(tuple(op.namespace_prefix)) if passes(k.value, op.filter)]
        told: dict[str, float | None] = {}
        if op.query:
            vectors = self.memory.finder.vectors
            texts = {kept.entry.id: words_of(kept.value, kept.index) for kept in found}
            told = scores(op.query, texts, vectors)
            found.sort(key=lambda kept: _worth(told[kept.entry.id]), reverse=True)
        return [
            SearchItem(
                namespace=kept.path[0],
                key=kept.path[1],
                value=copy.deepcopy(kept.value),
                created_at=kept.created_at,
                updated_at=kept.updated_at,
                score=told.get(kept.entry.id),
            )
            for kept in found[op.offset : op.offset + op.limit]
        ]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        there = {kept.path[0] for kept in self._all()}
        for condition in op.match_conditions or ():
            there = {namespace for namespace in there if matches(namespace, condition)}
        if op.max_depth is not None:
            there = {namespace[: op.max_depth] for namespace in there}
        return sorted(there)[op.offset : op.offset + op.limit]

    # Writing

    def _put(self, op: PutOp) -> None:
        path = (tuple(op.namespace), op.key)
        before = self._items.recent(path)
        standing = [kept for kept in before if self._stands(kept)]
        if op.value is None:
            for kept in standing:
                self.memory.forget(kept.entry.id, reason="deleted in the store", actor=self._actor)
            return
        note = self._note(op, path, before[-1] if before else None)
        for kept in standing:
            self.memory.supersede(
                kept.entry.id, note.id, reason="put anew in the store", actor=self._actor
            )

    def _note(self, op: PutOp, path: Path, before: Kept | None) -> Entry:
        """The note of a new revision; where another process took its number, of the next one.

        Raises:
            UsageError: others are always faster.
        """
        value = dict(op.value or {})
        item: dict[str, Any] = {"namespace": list(path[0]), "key": path[1], "value": value}
        if op.index is not None:
            item["index"] = op.index
        if before and self._stands(before):
            item["created_at"] = format_instant(before.created_at)
        first = before.revision + 1 if before else 1
        for revision in range(first, first + _TRIES):
            item["revision"] = revision
            text = _text(path, value, revision)
            entry = self.memory.note(text, ticker=_ticker(value), extra={EXTRA: dict(item)}).entry
            if not entry.hidden and entry.recorded.extra.get(EXTRA) == item:
                return entry
        raise UsageError(f"{path[1][:60]!r} cannot be put: too many others are putting it")


def _check_namespace(namespace: tuple[str, ...]) -> None:
    for label in namespace:
        if not isinstance(label, str) or not label or "." in label:
            raise UsageError(
                f"{label!r:.60} is no label of a namespace; use a text without periods"
            )


def _check_search(op: Op) -> None:
    if not isinstance(op, SearchOp):
        return
    if op.query is not None and not isinstance(op.query, str):
        raise UsageError(f"the query is {op.query!r:.60}; it is a text")
    if op.filter is not None and not isinstance(op.filter, Mapping):
        raise UsageError(f"the filter is {op.filter!r:.60}; it is an object of values by name")


def _checked(op: PutOp) -> PutOp:
    """An operation whose value is what JSON makes of it.

    Raises:
        UsageError: it is no JSON, its index names no fields, or it is to expire.
    """
    _check_namespace(op.namespace)
    if op.index is not None and op.index is not False and not _is_index(op.index):
        raise UsageError(f"the index is {op.index!r:.60}; it is False or a list of fields")
    if op.ttl is not None:
        raise UsageError("a tradmem store keeps what is put; leave the ttl out, and delete")
    if op.value is None:
        return op
    if not isinstance(op.value, Mapping) or not all(isinstance(name, str) for name in op.value):
        raise UsageError(f"the value of {op.key[:60]!r} is no object with names as keys")
    try:
        value = json.loads(json.dumps(dict(op.value), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the value of {op.key[:60]!r} is no JSON: {error}") from error
    return op._replace(value=value)


def _is_index(index: object) -> bool:
    return isinstance(index, list | tuple) and all(isinstance(path, str) for path in index)


def _item(kept: Kept) -> Item:
    return Item(
        value=copy.deepcopy(kept.value),
        key=kept.path[1],
        namespace=kept.path[0],
        created_at=kept.created_at,
        updated_at=kept.updated_at,
    )


def _worth(score: float | None) -> float:
    return -1.0 if score is None else score


def _ticker(value: Mapping[str, Any]) -> str | None:
    """The ticker that a value names, under which recall shows the note."""
    try:
        return check_ticker(value["ticker"]) if "ticker" in value else None
    except UsageError:
        return None


def _text(path: Path, value: Mapping[str, Any], revision: int) -> str:
    """An item for people to read; which one it is, keeps two equal ones apart."""
    words = next((value[name] for name in _GISTS if isinstance(value.get(name), str)), "")
    gist = words.strip() or json.dumps(value, ensure_ascii=False, indent=1)
    return f"{gist}\n\n(item {'/'.join(path[0])}/{path[1]}, revision {revision})"

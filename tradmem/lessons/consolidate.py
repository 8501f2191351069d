"""Which lessons say the same or are about the same, and the one note that stands for them.

Two lessons on a ticker are near-identical if they come from the same rating and verdict and
share most of their words, apart from figures. Lessons that no other one equals are gathered
by their tags. Nothing is written here; the words of a note are chosen by the facts alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from tradmem.journal.tagline import UNRATED
from tradmem.lessons.reflect import masked
from tradmem.model import Entry, Status, Verdict

ALIKE = 0.8  # the share of words in common from which on two lessons say the same
LEAST = 3  # lessons from which on a note is worth its place
_QUOTED = 3  # lessons that a note quotes at most
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[\w#@]+")
_MANNER = "consolidated"  # the key in a note's ledger, and below its two values
_SAME, _TAG = "same", "tag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Lessons of one ticker that one note can stand for.

    Attributes:
        ticker: whose.
        tag: what they are about; empty if they say the same.
        sources: what the note stands for, the newest first: lessons, and earlier notes of
            the same kind.
        evidence: the lessons themselves, those behind earlier notes too, the newest first.
    """

    ticker: str
    tag: str = ""
    sources: tuple[Entry, ...]
    evidence: tuple[Entry, ...]

    def extra(self) -> dict[str, object]:
        """What the note keeps in its ledger: how it came about, and what it stands for."""
        out: dict[str, object] = {_MANNER: _TAG if self.tag else _SAME}
        if any(_by_hindsight(entry) for entry in self.evidence):
            out["hindsight"] = True
        tags = (self.tag,) if self.tag else self.evidence[0].tags
        out |= {"tags": list(tags)} if tags else {}
        return out | {"links": [entry.id for entry in self.sources]}


def is_consolidation(entry: Entry) -> bool:
    """Whether an entry is a note that stands for lessons."""
    return entry.recorded.is_note and entry.recorded.extra.get(_MANNER) in (_SAME, _TAG)


def clusters(
    memories: Iterable[Entry],
    by_id: Mapping[str, Entry],
    *,
    tag: str = "",
    least: int = LEAST,
) -> list[Cluster]:
    """What could be told by one note each, by ticker.

    Args:
        memories: what recall could show now, the newest first.
        by_id: everything, to look up the lessons behind earlier notes.
        tag: gather only lessons with this tag; by default those that say the same first,
            then those with a tag in common, the most frequent tag first.
        least: lessons in a cluster at least, those behind earlier notes not counted.
    """
    tickers: dict[str, list[_Item]] = {}
    for entry in memories:
        evidence = tuple(_evidence(entry, by_id, set()))
        if evidence and (entry.status is Status.RESOLVED or is_consolidation(entry)):
            tickers.setdefault(entry.ticker, []).append(_Item(entry=entry, evidence=evidence))
    found = []
    for ticker, items in sorted(tickers.items()):
        left = items
        if not tag:
            same = [group for group in _same(items) if _is_worth_it(group, least)]
            found += [_cluster(ticker, "", group) for group in same]
            taken = {item.entry.id for group in same for item in group}
            left = [item for item in items if item.entry.id not in taken]
        found += [_cluster(ticker, name, group) for name, group in _by_tag(left, tag, least)]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """A lesson, or a note and the lessons behind it."""

    entry: Entry
    evidence: tuple[Entry, ...]

    @property
    def manner(self) -> str:
        """Empty for a lesson."""
        return str(self.entry.recorded.extra[_MANNER]) if self.entry.recorded.is_note else ""


def _evidence(entry: Entry, by_id: Mapping[str, Entry], seen: set[str]) -> Iterable[Entry]:
    """The lessons that an entry stands for; a resolved one stands for itself."""
    if entry.id in seen:
        return
    seen.add(entry.id)
    if is_consolidation(entry):
        for name in entry.links:
            if name in by_id:
                yield from _evidence(by_id[name], by_id, seen)
    elif entry.reflection:
        yield entry


def _is_worth_it(group: Sequence[_Item], least: int) -> bool:
    return sum(not item.manner for item in group) >= least


def _cluster(ticker: str, tag: str, group: Sequence[_Item]) -> Cluster:
    evidence = {entry.id: entry for item in group for entry in item.evidence}
    newest = sorted(evidence.values(), key=lambda entry: (entry.date, entry.id), reverse=True)
    sources = tuple(item.entry for item in group)
    return Cluster(ticker=ticker, tag=tag, sources=sources, evidence=tuple(newest))


def _same(items: Sequence[_Item]) -> list[list[_Item]]:
    """Groups of what says the same; each joins the first group whose newest is like it."""
    kinds: dict[tuple[object, ...], list[_Item]] = {}
    for item in items:
        if item.manner != _TAG:
            first = item.evidence[0]
            kinds.setdefault((first.rating, first.verdict), []).append(item)
    return [group for kind in kinds.values() for group in _alike(kind)]


def _alike(items: Sequence[_Item]) -> list[list[_Item]]:
    """Greedy, from the newest on: a group's first member decides who belongs to it.

    Two sets that share a given part of their words share one of their rarest few, so only
    groups that were found by those are compared.
    """
    sets = [_words(item.evidence[0]) for item in items]
    frequency = Counter(word for words in sets for word in words)
    groups: list[list[_Item]] = []
    first: list[frozenset[str]] = []
    by_word: dict[str, list[int]] = {}
    for item, words in zip(items, sets, strict=True):
        rarest = sorted(words, key=lambda word: (frequency[word], word))
        probes = rarest[: len(words) - ceil(ALIKE * len(words)) + 1]
        near = sorted({number for word in probes for number in by_word.get(word, ())})
        found = next((n for n in near if share(words, first[n]) >= ALIKE), None)
        if found is not None:
            groups[found].append(item)
            continue
        for word in probes:
            by_word.setdefault(word, []).append(len(groups))
        groups.append([item])
        first.append(words)
    return groups


def _words(entry: Entry) -> frozenset[str]:
    return frozenset(_WORD.findall(masked(entry.reflection, entry.ticker)))


def share(one: frozenset[str], other: frozenset[str]) -> float:
    """The words that two sets have in common, as a part of all their words (Jaccard)."""
    return len(one & other) / len(one | other) if one or other else 1.0


def _by_tag(items: Sequence[_Item], tag: str, least: int) -> list[tuple[str, list[_Item]]]:
    """Groups by tag, the largest first; what one has taken is not in the next."""
    found: list[tuple[str, list[_Item]]] = []
    left = [item for item in items if item.manner != _SAME]
    while True:
        sizes = Counter(name for item in left if not item.manner for name in item.entry.tags)
        names = [tag] if tag else sorted(sizes, key=lambda name: (-sizes[name], name))
        if not names or sizes[names[0]] < least:
            return found
        group = [item for item in left if names[0] in item.entry.tags]
        found.append((names[0], group))
        taken = {item.entry.id for item in group}
        left = [item for item in left if item.entry.id not in taken]


def _by_hindsight(entry: Entry) -> bool:
    return any(addition.data.get("hindsight") for addition in entry.additions)


def heading(cluster: Cluster) -> str:
    """The facts that a note begins with: how many, when, how they came out."""
    evidence = cluster.evidence
    days = sorted({entry.date for entry in evidence})
    span = f"of {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
    if not cluster.tag:
        newest = evidence[0]
        came_out = f", each {newest.verdict}" if newest.verdict else ""
        return (
            f"{len(evidence)} decisions on {cluster.ticker} {span} taught the same: "
            f"each {newest.rating or UNRATED}{came_out}."
        )
    counts = Counter(entry.verdict for entry in evidence)
    told = [f"{counts[verdict]} {verdict}" for verdict in Verdict]
    told += [f"{counts[None]} without a verdict"] if counts[None] else []
    about = f"{len(evidence)} lessons on {cluster.ticker} about {cluster.tag}"
    return f"{about} (decisions {span}): {', '.join(told)}."


def note_text(cluster: Cluster) -> str:
    """The words of the note without a model: the facts, and what the lessons said."""
    head, evidence = heading(cluster), cluster.evidence
    if not cluster.tag:
        return f"{head} The newest said:\n\n{evidence[0].reflection}"
    lines = [head, ""]
    quoted = _distinct(evidence)
    lines += [_quote(entry) for entry in quoted[:_QUOTED]]
    if (more := len(quoted) - _QUOTED) > 0:
        lines += [
            "",
            f"The log holds {more} more that {'says' if more == 1 else 'say'} other things.",
        ]
    return "\n".join(lines)


def _distinct(evidence: Sequence[Entry]) -> list[Entry]:
    """The newest of each group that says the same."""
    groups = _same([_Item(entry=entry, evidence=(entry,)) for entry in evidence])
    kept = {group[0].entry.id for group in groups}
    return [entry for entry in evidence if entry.id in kept]


def _quote(entry: Entry) -> str:
    verdict = f", {entry.verdict}" if entry.verdict else ""
    lesson = " ".join(entry.reflection.split())
    return f"- {entry.date} {entry.rating or UNRATED}{verdict}: {lesson}"

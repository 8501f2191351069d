"""Which memories go into the next prompt, in which order and in which words.

The plain rule: the newest lessons on the same ticker with their decisions, and the newest
lesson of each of some other tickers; only what was known by the instant in question.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from tradmem.journal.ahead import ahead
from tradmem.journal.base import Journal
from tradmem.lessons.hits import line_of
from tradmem.lessons.holdout import WITHHELD, Holdout
from tradmem.lessons.parts import Weighed
from tradmem.lessons.per_entry import per_entry
from tradmem.lessons.reflect import lesson_hash
from tradmem.lessons.wording import Frame, Shown, fit, written
from tradmem.model import Entry, Status

OVER_BUDGET = "over the budget"
_NEAR = 3  # memories that were not chosen and are explained, beside each kind of place
_DEPTH = 8  # times the places of a ticker that are looked at for lessons that differ


class LeftOut(NamedTuple):
    """A memory that was not shown, and why."""

    entry: Entry
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What a decision gets to see.

    Attributes:
        text: for the prompt; empty when there is nothing to recall.
        memories: what the text shows, in its order.
        left_out: what the rule chose and the text does not show, with the reason.
        ticker: whose decision it is for.
        as_of: the instant that was used, aware UTC.
        explained: where that was asked for, every memory that was looked at, and why it is
            shown or not, the best first.
        remarks: what a person should hear of, such as embeddings that were not to be had.
        withheld: what the text would show had a lot not fallen on it; the places are empty.
        holdout: the share on which lots fall; 0 where none are drawn.
    """

    text: str
    memories: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]
    ticker: str
    as_of: datetime
    explained: tuple[Weighed, ...] = ()
    remarks: tuple[str, ...] = ()
    withheld: tuple[Entry, ...] = ()
    holdout: float = 0.0

    def __str__(self) -> str:
        return self.text

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the memories, in the order of the text."""
        return tuple(entry.id for entry in self.memories)


def recall(
    journal: Journal,
    ticker: str,
    as_of: datetime,
    *,
    same_ticker: int = 5,
    cross_ticker: int = 3,
    budget: int = 8000,
    explain: bool = False,
    holdout: Holdout | None = None,
) -> Recall:
    """What was known of a ticker, and some lessons of others, by an instant.

    Args:
        journal: where the entries are.
        ticker: in upper case.
        as_of: aware UTC.
        same_ticker: how many memories of the ticker, with their decisions.
        cross_ticker: how many of other tickers, at most one of each.
        budget: characters of the text at most. Decisions are cut first, the newest least;
            then the oldest lessons go.
        explain: whether to say of each memory why it is shown or not.
        holdout: which of those that would be shown are withheld; none by default.
    """
    journal = ahead(journal, ticker, as_of, same=2 * same_ticker, others=cross_ticker)
    chosen = choose(journal, ticker, as_of, same_ticker=same_ticker, cross_ticker=cross_ticker)
    left_out = list(_repeats(chosen.looked_at, chosen.said))
    found = compose(
        journal, ticker, as_of, chosen.shown(), left_out, budget=budget, holdout=holdout
    )
    if not explain:
        return found
    near = _near_misses(journal, found, same_ticker, cross_ticker)
    return replace(found, explained=(*_explained(found), *near))


class Chosen(NamedTuple):
    """What the plain rule chooses.

    Attributes:
        said: those of the ticker by what they say, the newest of each first.
        others: of other tickers, the newest first.
        looked_at: of the ticker, the newest first.
    """

    said: Mapping[str, Sequence[Entry]]
    others: Sequence[Entry]
    looked_at: Sequence[Entry]

    def entries(self) -> list[Entry]:
        """What is to be shown, in the order of the text."""
        return [*[group[0] for group in self.said.values()], *self.others]

    def shown(self) -> list[Shown]:
        """The same, as a text shows it; those that say the same are counted."""
        same = [
            Shown(group[0], is_same=True, times=len(group), decision=group[0].decision)
            for group in self.said.values()
        ]
        return [*same, *(Shown(entry, is_same=False) for entry in self.others)]


def choose(
    journal: Journal, ticker: str, as_of: datetime, *, same_ticker: int, cross_ticker: int
) -> Chosen:
    """What the plain rule would show of a ticker and of others, by an instant."""
    said, looked_at = _same(journal, ticker, as_of, same_ticker)
    others = (
        journal.memories(as_of, not_ticker=ticker, distinct=True, lessons=True, limit=cross_ticker)
        if cross_ticker
        else []
    )
    return Chosen(said, others, looked_at)


def compose(
    journal: Journal,
    ticker: str,
    as_of: datetime,
    shown: Sequence[Shown],
    left_out: Sequence[LeftOut],
    *,
    budget: int,
    order: str = "newest first",
    holdout: Holdout | None = None,
) -> Recall:
    """The text that shows some memories, within the budget, led by the track record.

    Args:
        journal: where the track record comes from.
        ticker: in upper case.
        as_of: aware UTC.
        shown: what is to be shown, in this order.
        left_out: what is not, and why.
        budget: characters of the text at most.
        order: of what is shown, in words.
        holdout: which of it is withheld: the rest, and the track record, stay as they are.
    """
    frame = Frame(ticker, as_of, line_of(journal, ticker, as_of), order)
    fitting, dropped = fit(shown, frame, budget)
    lots = holdout.among(item.entry for item in fitting) if holdout else [False] * len(fitting)
    kept = [item for item, withheld in zip(fitting, lots, strict=True) if not withheld]
    withheld = tuple(item.entry for item, lot in zip(fitting, lots, strict=True) if lot)
    return Recall(
        text=written(kept, frame) if kept or (withheld and frame.track) else "",
        memories=tuple(item.entry for item in kept),
        left_out=(
            *left_out,
            *(LeftOut(entry=entry, reason=OVER_BUDGET) for entry in dropped),
            *(LeftOut(entry=entry, reason=WITHHELD) for entry in withheld),
        ),
        ticker=ticker,
        as_of=as_of,
        withheld=withheld,
        holdout=holdout.share if holdout else 0.0,
    )


def record_only(journal: Journal, ticker: str, as_of: datetime) -> Recall:
    """The track record on a ticker and no memories; an empty text while nothing was judged."""
    track = line_of(journal, ticker, as_of)
    text = written([], Frame(ticker, as_of, track, "")) if track else ""
    return Recall(text=text, memories=(), left_out=(), ticker=ticker, as_of=as_of)


def _explained(found: Recall) -> tuple[Weighed, ...]:
    """What the plain rule says of each memory that it chose."""
    shown = [
        Weighed(
            entry=entry,
            is_shown=True,
            reason="among the newest of the ticker"
            if entry.ticker == found.ticker
            else "the newest of its ticker, and among the newest of other tickers",
        )
        for entry in found.memories
    ]
    return (*shown, *(Weighed(entry=out.entry, reason=out.reason) for out in found.left_out))


def _near_misses(
    journal: Journal, found: Recall, same_ticker: int, cross_ticker: int
) -> Iterator[Weighed]:
    """What would have been shown next, or was hidden among what is shown, and why it is not."""
    ticker = found.ticker
    told = {*found.ids, *(out.entry.id for out in found.left_out)}
    shown = {entry.ticker for entry in (*found.memories, *found.withheld)}
    there = sum(e.ticker == ticker for e in (*found.memories, *(o.entry for o in found.left_out)))
    as_of, own, other = found.as_of, there + _NEAR, cross_ticker + _NEAR
    near = [
        entry
        for hidden in (True, False)
        for entry in (
            *journal.memories(as_of, ticker=ticker, hidden=hidden, limit=own),
            *journal.memories(as_of, not_ticker=ticker, hidden=hidden, limit=other),
        )
    ]
    for entry in {entry.id: entry for entry in near if entry.id not in told}.values():
        if entry.hidden:
            reason = why_hidden(entry)
        elif entry.ticker == ticker:
            reason = f"{same_ticker} of {ticker} are newer"
        elif entry.status is Status.SETTLED:
            reason = "no lesson yet, and of another ticker"
        elif entry.ticker in shown:
            reason = "another memory of its ticker is newer"
        else:
            reason = "other tickers have something newer"
        yield Weighed(entry=entry, reason=reason)


def why_hidden(entry: Entry) -> str:
    """What hides a memory, in a word or two; empty if nothing does."""
    if entry.forgotten:
        return "forgotten"
    if entry.superseded_by:
        return f"superseded by {entry.superseded_by}"
    return "expired" if entry.expired else ""


def _same(
    journal: Journal, ticker: str, as_of: datetime, wanted: int
) -> tuple[dict[str, list[Entry]], Sequence[Entry]]:
    """The newest of the ticker by what they say; an equal lesson takes no second place.

    Where they repeat each other it looks so far back, and no further: a ticker that always
    teaches the same leaves places empty.
    """
    limit, most, seen = wanted, _DEPTH * wanted, 0
    said: dict[str, list[Entry]] = {}
    while wanted:
        found = journal.memories(as_of, ticker=ticker, limit=limit)
        for entry in found[seen:]:
            key = lesson_key(entry)
            if key in said:
                said[key].append(entry)
            elif len(said) < wanted:
                said[key] = [entry]
        if len(said) >= wanted or len(found) < limit or limit >= most:
            return said, found
        limit, seen = min(2 * limit, most), len(found)
    return {}, ()


def _repeats(found: Sequence[Entry], said: Mapping[str, Sequence[Entry]]) -> Iterator[LeftOut]:
    """Those that say the same as a newer one, the newest first."""
    firsts = {e.recorded.id: group[0].id for group in said.values() for e in group[1:]}
    for entry in found:
        first = firsts.get(entry.recorded.id)
        if first:
            yield LeftOut(entry, f"the same lesson as {first}")


@per_entry(4096)
def lesson_key(entry: Entry) -> str:
    """What makes two lessons the same one; an entry without a lesson is only itself."""
    return lesson_hash(entry.reflection, entry.ticker) if entry.reflection else entry.id

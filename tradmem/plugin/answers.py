"""What the tools of a library do: look things up, and store them."""

import re
import threading
from collections import OrderedDict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tradmem.clock import as_instant, utc
from tradmem.journal.base import Stored, is_replaced, newest_revisions
from tradmem.journal.passages import passage_of
from tradmem.lessons.fulltext import Texts
from tradmem.lessons.parts import PartName, Rank, Weighed
from tradmem.lessons.recall import Recall, compose
from tradmem.lessons.wording import Shown
from tradmem.lessons.words import terms_of
from tradmem.model import Entry, Status
from tradmem.plugin import texts
from tradmem.plugin.arguments import CONTENT, QUERY, date_of, text_of, ticker_of
from tradmem.plugin.libraries import Library
from tradmem.tickers import MARKET

_NEAR = 0.3  # a cosine from which on a memory has to do with a query by its meaning
_MOST_PENDING = 5  # open decisions that are named beside what was found
_KEPT = timedelta(days=1)  # for which a caller is taken to remember what it was shown
_MOST_SEEN = 1024
_SAY_NOTHING = frozenset(
    re.findall(
        r"\w+",
        "about after again all also an and any anything are as at be because been before but by can"
        " could did do does for from had has have her his how if in into is it its know like me"
        " more my no not of on or our should so some tell that the their them then there they this"
        " to us was we were what when where which who why will with would you your",
    )
)


class Glance(NamedTuple):
    """What a caller was shown of a ticker.

    Attributes:
        ids: of what was shown.
        as_of: the instant that was looked from.
        withheld: ids that the settings' hold-out kept from it; None where no lots are drawn.
    """

    ids: tuple[str, ...] = ()
    as_of: datetime | None = None
    withheld: tuple[str, ...] | None = None


class Seen:
    """What callers were shown before they decide, so that a decision names what it saw.

    It is kept in this process for a day; several threads may ask.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._glances: OrderedDict[tuple[str, str, str], Glance] = OrderedDict()

    def add(self, caller: str, library: Library, recalled: Recall) -> None:
        """Note what a caller was shown on a ticker."""
        key = (caller, library.name, recalled.ticker)
        with self._lock:
            before = self._of(key, recalled.as_of)
            ids = dict.fromkeys((*before.ids, *recalled.ids))
            as_of = max(recalled.as_of, before.as_of or recalled.as_of)
            self._glances[key] = Glance(tuple(ids), as_of, _withheld(before, recalled, ids))
            self._glances.move_to_end(key)
            while len(self._glances) > _MOST_SEEN:
                self._glances.popitem(last=False)

    def take(self, caller: str, library: Library, ticker: str, now: datetime) -> Glance:
        """What a caller was shown on a ticker, for the decision that it now takes."""
        key = (caller, library.name, ticker)
        with self._lock:
            glance = self._of(key, now)
            self._glances.pop(key, None)
        return glance

    def _of(self, key: tuple[str, str, str], now: datetime) -> Glance:
        glance = self._glances.get(key, Glance())
        return glance if glance.as_of and abs(now - glance.as_of) < _KEPT else Glance()


def _withheld(before: Glance, recalled: Recall, shown: Container[str]) -> tuple[str, ...] | None:
    """What lots kept from a caller, at one look or another, and it was not shown at any."""
    if before.withheld is None and not recalled.holdout:
        return None
    names = (*(before.withheld or ()), *(entry.id for entry in recalled.withheld))
    return tuple(name for name in dict.fromkeys(names) if name not in shown)


def query(
    library: Library, arguments: Mapping[str, Any], *, caller: str = "", seen: Seen | None = None
) -> str:
    """What a library knows of a query, the most relevant first; in words if it is nothing.

    Raises:
        UsageError: an argument cannot be.
        TradmemError: the library cannot be read.
    """
    now = utc(library.memory.clock())
    asked, ticker = text_of(arguments, QUERY), ticker_of(arguments)
    date = date_of(arguments, now)
    found = look_up(library, asked, ticker, date, caller=caller)
    if ticker and seen:
        seen.add(caller, library, found)
    parts = [found.text.strip()] if found.text else []
    parts += open_decisions(library, ticker, found.as_of) if ticker else []
    return "\n\n".join(parts) or texts.NOT_FOUND.format(about=_about(ticker, date))


def look_up(
    library: Library,
    asked: str,
    ticker: str | None = None,
    date: str | None = None,
    *,
    caller: str = "",
) -> Recall:
    """The memories of a ticker, and those of others that have to do with a query.

    Args:
        library: where to look.
        asked: words, or a question.
        ticker: without one, all tickers count alike.
        date: only what was known then; of a ticker, before its close on that date.
        caller: by whose name a hold-out draws its lots.
    """
    memory = library.memory
    if ticker:
        found = memory.recall(
            ticker, date, rank=Rank.RELEVANT, query=asked, agent=caller, explain=True
        )
    else:
        instant = as_instant(date, utc(memory.clock()))
        found = memory.finder.recall(MARKET, instant, asked, explain=True)
    kept_back = {entry.id for entry in found.withheld}
    items = [item for item in found.explained if item.is_shown or item.entry.id in kept_back]
    sharing = _sharing(asked, items)
    fitting = [
        item
        for number, item in enumerate(items)
        if item.entry.ticker == ticker or number in sharing or _is_near(item)
    ]
    told = compose(
        memory.journal,
        found.ticker,
        found.as_of,
        [_shown(item, ticker) for item in fitting if item.is_shown],
        (),
        budget=memory.settings.budget,
        order="most relevant first",
    )
    withheld = tuple(item.entry for item in fitting if not item.is_shown)
    return replace(told, withheld=withheld, holdout=found.holdout)


def _shown(item: Weighed, ticker: str | None) -> Shown:
    entry = item.entry
    return Shown(
        entry=entry, is_same=entry.ticker == ticker, worth=item.score, decision=entry.decision
    )


def _sharing(asked: str, items: Sequence[Weighed]) -> set[int]:
    """The places of the memories that hold a word of what was asked."""
    terms = [term for term in terms_of(asked) if term.text.casefold() not in _SAY_NOTHING]
    held = Texts(passage_of(item.entry).text for item in items)
    return set().union(*(held.holding(term) for term in terms))


def _is_near(item: Weighed) -> bool:
    """Whether a memory has the meaning of what was asked, or names a ticker that it names."""
    parts = {part.name: part for part in item.parts}
    semantic, entities = parts.get(PartName.SEMANTIC), parts.get(PartName.ENTITIES)
    return bool(
        (semantic and semantic.value >= _NEAR)
        or (entities and entities.detail.strip(f"{MARKET}, "))
    )


def open_decisions(library: Library, ticker: str, as_of: datetime) -> Iterator[str]:
    """One paragraph on what was decided on a ticker and has no outcome yet."""
    memory = library.memory
    entries: Iterable[Entry] = memory.journal.unfinished()
    if as_of < utc(memory.clock()):  # what is settled by now was open then
        found = memory.journal.entries()
        newest = newest_revisions(found)
        entries = [entry for entry in found if not is_replaced(entry, newest)]
    then = (entry.at(as_of) for entry in entries if entry.ticker == ticker)
    entries = [e for e in then if e and e.status is Status.PENDING and not e.hidden]
    if entries:
        told = [f"{entry.date} {entry.rating or 'Unrated'}" for entry in entries[-_MOST_PENDING:]]
        yield f"Open decisions on {ticker}, outcome not known yet: {', '.join(told)}."


def add(library: Library, arguments: Mapping[str, Any], *, caller: str = "") -> str:
    """Store a note, durably, before it answers.

    Raises:
        UsageError: an argument cannot be; nothing was stored.
        TradmemError: it could not be stored.
    """
    content, ticker = text_of(arguments, CONTENT), ticker_of(arguments)
    done = library.memory.note(content, ticker=ticker, extra={"by": caller} if caller else None)
    told = texts.KNOWN if done.status is Stored.UNCHANGED else texts.STORED
    return told.format(id=done.entry.id, date=done.entry.date, about=_about(ticker))


def _about(ticker: str | None, date: str | None = None) -> str:
    return (f" about {ticker}" if ticker else "") + (f" as of {date}" if date else "")

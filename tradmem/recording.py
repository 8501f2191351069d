"""What is recorded: a decision or a note, made of what a caller handed in."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from tradmem.arguments import check_text
from tradmem.clock import parse_instant, utc
from tradmem.errors import UsageError
from tradmem.journal.base import Stored
from tradmem.journal.ledger import RESERVED
from tradmem.lessons.holdout import Holdout, Lots, lots
from tradmem.lessons.recall import Recall
from tradmem.model import Entry, Rating
from tradmem.settings import Settings
from tradmem.stated import RATING, conflict, stated_horizon

_AGENT_LENGTH = 64
_FAR = 4  # times the judged horizon, beyond which a stated one is another question


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What came of recording.

    Attributes:
        entry: the entry that stands for the key now.
        status: ``recorded``, ``unchanged`` (the same again), ``kept`` (another text; the
            first stands) or ``revised``.
        warnings: what a person should know of it, one line each.
    """

    entry: Entry
    status: Stored
    warnings: tuple[str, ...] = ()


def check_words(text: str, what: str, hint: str) -> str:
    """A text that says something.

    Raises:
        UsageError: it is none, or empty.
    """
    check_text(text, f"the text of {what}")
    if not text.strip():
        raise UsageError(f"the text of {what} is empty; {hint}")
    return text


def check_agent(name: str) -> str:
    """The name of an agent.

    Raises:
        UsageError: it can be none.
    """
    check_text(name, "agent")
    if len(name) > _AGENT_LENGTH or not name.isprintable() or "|" in name:
        raise UsageError(
            f"{name[:60]!r} is no name of an agent; use up to {_AGENT_LENGTH} printable "
            "characters without |"
        )
    return name


def rating_of(text: str) -> Rating | None:
    """The rating that a text clearly gives."""
    from tradmem.rating import parse_rating  # noqa: PLC0415 - its vocabulary takes a tenth of a second

    return parse_rating(text)


def recall_instant(
    recalled: Recall | Iterable[str], given: datetime | str | None
) -> datetime | None:
    """The instant of what a decision saw: a recall's own, or as it was given."""
    if isinstance(recalled, Recall):
        return recalled.as_of
    return parse_instant(given) if isinstance(given, str) else given and utc(given)


def ids_of(names: Iterable[str] | None) -> tuple[str, ...]:
    """Ids, each once, of a list of them or of entries.

    Raises:
        UsageError: it is no list.
    """
    if names is None or names == ():
        return ()
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise UsageError(f"{names!r} is no list of ids; hand in one")
    found = [name if type(name) is str else str(getattr(name, "id", name)) for name in names]
    return tuple(dict.fromkeys(found))


def lots_of(
    seen: Recall | Iterable[str] | None, withheld: Iterable[str] | None, share: float | None
) -> Lots:
    """What a decision keeps of what it saw, and of the lots that were drawn for it.

    Args:
        seen: a recall, or ids.
        withheld: ids that were kept from it, where ids are handed in; None without lots.
        share: of the settings' hold-out; None for none.
    """
    if isinstance(seen, Recall):
        return lots(seen.ids, (entry.id for entry in seen.withheld), seen.holdout)
    return lots(ids_of(seen), ids_of(withheld), 0.0 if withheld is None else share or 0.0)


def holdout_of(settings: Settings, ticker: str, day: date, agent: str) -> Holdout | None:
    """The lots of one decision; None where the settings have none drawn."""
    if not settings.holdout:
        return None
    return Holdout(
        share=settings.holdout,
        ticker=ticker,
        date=day,
        agent=agent,
        salt=settings.holdout_salt,
    )


def extra_of(text: str, said: Rating | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept beside a decision: what its text states otherwise, and what was given.

    Raises:
        UsageError: what was given is no JSON, or has a name that the ledger uses itself.
    """
    stated = {"stated_horizon": stated_horizon(text), RATING: said and said.value}
    return {name: value for name, value in stated.items() if value is not None} | check_extra(given)


def check_extra(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept beside a decision or a note, as it was given.

    Raises:
        UsageError: it is no JSON, or has a name that the ledger uses itself.
    """
    if not isinstance(given, Mapping):
        raise UsageError(f"extra is {str(given)[:60]!r}; hand in a mapping of JSON values")
    for name, value in given.items():
        if name in RESERVED:
            raise UsageError(f"extra cannot hold {name!r}, a name that every entry has itself")
        if isinstance(value, str):
            continue
        try:
            json.dumps({name: value}, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UsageError(f"extra holds {name!r}, which is no JSON value: {error}") from error
    return dict(given)


def warnings_of(entry: Entry, *, own_benchmark: bool) -> Iterator[str]:
    """What a person should know of a decision that stands, one line each.

    Args:
        entry: the decision.
        own_benchmark: whether each market is measured by its own benchmark.
    """
    stated, horizon = entry.recorded.extra.get("stated_horizon"), entry.recorded.horizon
    if isinstance(stated, int) and horizon and stated > _FAR * horizon:
        yield (
            f"the text states a horizon of some {stated} sessions, and is judged after "
            f"{horizon}; record it with a horizon of its own"
        )
    if told := conflict(entry):
        yield f"{entry.ticker} {entry.date} contradicts itself: {told}"
    if own_benchmark:
        from tradmem.market.symbols import unknown_market  # noqa: PLC0415 - only where it decides

        if unknown := unknown_market(entry.ticker):
            yield unknown

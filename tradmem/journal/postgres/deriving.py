"""What the tables beside entries and additions hold, as it follows from an entry."""

from collections.abc import Iterator, Sequence
from datetime import date as Date  # noqa: N812 - `date` is the name of a field here
from datetime import datetime
from typing import NamedTuple

from tradmem.clock import parse_instant
from tradmem.errors import UsageError
from tradmem.journal.base import lacks
from tradmem.journal.tally import Judgement, judgements
from tradmem.model import Act, Entry, Status, known

_LONGEST_HASH = 200  # characters


class Taught(NamedTuple):
    """What an entry taught from one instant until another; None if it still does."""

    since: datetime
    until: datetime | None
    known_at: datetime
    has_lesson: bool
    hidden: bool


class Derived(NamedTuple):
    """What follows from an entry.

    Attributes:
        status: as all that is stored makes it.
        horizons: at which it has an outcome.
        taught: what it taught, and when.
        judgements: what it adds to the counts, and when.
        lessons: the hashes of the lessons in it.
        due: from when on a resolver has something to do; None if there is nothing.
    """

    status: Status
    horizons: list[int]
    taught: list[Taught]
    judgements: list[Judgement]
    lessons: list[str]
    due: datetime | None


def derive(entry: Entry, horizons: Sequence[int] = ()) -> Derived:
    """What the other tables hold of an entry that no revision replaces.

    Args:
        entry: everything that is stored of it.
        horizons: sessions after which outcomes are taken.
    """
    return Derived(
        status=entry.status,
        horizons=sorted(outcome.horizon for outcome in entry.outcomes),
        taught=list(taught(entry)),
        judgements=judgements(entry),
        lessons=lessons(entry),
        due=due(entry, horizons),
    )


def taught(entry: Entry) -> Iterator[Taught]:
    """What an entry taught over time, equal neighbours made one."""
    standing: Taught | None = None
    for instant in _instants(entry):
        then = entry.at(instant)
        if then is None or then.known_at is None:
            now = None
        else:
            has_lesson = then.status is not Status.SETTLED
            now = Taught(instant, None, then.known_at, has_lesson, then.hidden)
        if standing and (now is None or now[2:] != standing[2:]):
            yield standing._replace(until=instant)
            standing = None
        standing = standing or now
    if standing:
        yield standing


def _instants(entry: Entry) -> list[datetime]:
    """When an entry may have become something else, from its making on."""
    recorded = entry.recorded
    dated = known(entry.additions, recorded)
    ends = [recorded.valid_until]
    ends += [_end(act.data.get("valid_until")) for _, act in dated if act.kind == Act.EXPIRE]
    found = {when for when in (*(when for when, _ in dated), *ends) if when}
    return sorted({max(when, recorded.known_at) for when in found} | {recorded.known_at})


def _end(text: object) -> datetime | None:
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except UsageError:
        return None


def lessons(entry: Entry) -> list[str]:
    """The hashes of the lessons that were ever stored in an entry."""
    found = (entry.recorded.extra, *(addition.data for addition in entry.additions))
    hashes = dict.fromkeys(str(data["lesson"]) for data in found if "lesson" in data)
    return [name for name in hashes if _is_hash(name)]


def _is_hash(name: str) -> bool:
    """Whether it can be one; a person may have written anything there."""
    return len(name) <= _LONGEST_HASH and name.isascii() and name.isprintable()


def due(entry: Entry, horizons: Sequence[int]) -> datetime | None:
    """From when on a resolver has something to do; it finds out itself how much later."""
    if entry.status is Status.PENDING:
        return entry.recorded.known_at
    if entry.status is Status.SETTLED:
        return entry.known_at
    if entry.status is Status.RESOLVED and lacks(entry, horizons[1:]):
        return entry.known_at
    return None


class Place(NamedTuple):
    """Where an entry stands in the database."""

    ticker: str
    id: str
    place: int
    date: Date

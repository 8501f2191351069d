"""What the memory is made of, and the one fold from additions to what an entry is.

A :class:`Decision` is what was recorded and never changes. Everything that was
learnt or done later is an :class:`Addition`. An :class:`Entry` is a decision and
its additions, folded: its status, outcome, verdict and lesson as of one instant.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date as Date  # noqa: N812 - `date` is the name of a field here
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from math import sqrt
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from tradmem.clock import last_instant, parse_instant
from tradmem.errors import UsageError
from tradmem.tickers import AssetClass, asset_class

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Rating(StrEnum):
    """What an agent says about a ticker, from the most to the least favourable.

    Attributes:
        exposure: the position that the rating stands for, from 1 (Buy) to -1 (Sell).
        direction: +1 for Buy and Overweight, -1 for Underweight and Sell, 0 for Hold.
    """

    BUY = "Buy", 1.0
    OVERWEIGHT = "Overweight", 0.5
    HOLD = "Hold", 0.0
    UNDERWEIGHT = "Underweight", -0.5
    SELL = "Sell", -1.0

    exposure: float
    direction: int

    def __new__(cls, value: str, exposure: float = 0.0) -> Self:
        """A rating with its exposure; of one that is looked up by its value, none is given."""
        rating = str.__new__(cls, value)
        rating._value_ = value
        rating.exposure = exposure
        rating.direction = (exposure > 0) - (exposure < 0)
        return rating


class Status(StrEnum):
    """How far an entry has come."""

    PENDING = "pending"
    SETTLED = "settled"
    RESOLVED = "resolved"
    UNRESOLVABLE = "unresolvable"
    NOTE = "note"


class Verdict(StrEnum):
    """The rating's direction against the alpha, said by code and never by a model."""

    RIGHT = "right"
    WRONG = "wrong"
    NEUTRAL = "neutral"


@lru_cache(maxsize=1024)  # asked for when a decision is made, and again when it is stored
def entry_id(day: Date, ticker: str, agent: str = "", revision: int = 0) -> str:
    """The id of a decision: 12 hex digits of the SHA-256 of its key."""
    return _short_hash(f"{day.isoformat()}|{ticker}|{agent}|{revision}")


def note_id(day: Date, ticker: str, text: str) -> str:
    """The id of a note: the same digest over the date, the ticker and the text's SHA-256."""
    return _short_hash(
        f"{day.isoformat()}|{ticker}|note|{hashlib.sha256(text.encode()).hexdigest()}"
    )


def _short_hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was recorded: a decision of an agent, or a note. It never changes.

    Attributes:
        id: 12 hex digits, see :func:`entry_id` and :func:`note_id`.
        date: the date of the decision, in the zone of the ticker's exchange.
        ticker: as the user wrote it, in upper case; ``*`` on a note on the whole market.
        text: the decision's or the note's text.
        rating: None where the text holds none.
        agent: who decided; empty by default.
        revision: 0 for the first decision with this date, ticker and agent.
        is_note: whether this is a note.
        decided_at: when it was decided, aware UTC; None where only the date is known.
        recorded_at: what the clock said when it was stored, aware UTC.
        horizon: sessions to hold, where the decision carries its own.
        recalled: ids of the memories that the decision saw.
        recalled_as_of: the instant that this recall used.
        cited: ids of the memories that the decision names.
        withheld: ids of the memories that it would have seen, had a lot not fallen on them.
        holdout: the share of memories on which such lots fell; 0 where none were drawn.
        valid_until: the instant from which on a note is hidden, aware UTC; None if it stays.
        flags: short words on how it was recorded, such as ``date_only`` or ``late``.
        extra: further fields that a caller or a later version stored.
    """

    id: str
    date: Date
    ticker: str
    text: str
    rating: Rating | None = None
    agent: str = ""
    revision: int = 0
    is_note: bool = False
    decided_at: datetime | None = None
    recorded_at: datetime | None = None
    horizon: int | None = None
    recalled: tuple[str, ...] = ()
    recalled_as_of: datetime | None = None
    cited: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    holdout: float = 0.0
    valid_until: datetime | None = None
    flags: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[Date, str, str, int]:
        """What may be decided once: Date, ticker, agent, revision."""
        return (self.date, self.ticker, self.agent, self.revision)

    @property
    def known_at(self) -> datetime:
        """When it was made; the date's last instant where no time is known.

        A note is known from the instant at which it was stored.
        """
        if self.is_note and self.recorded_at:
            return self.recorded_at
        return self.decided_at or last_instant(self.date)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The realised return of a ticker and of its benchmark over one holding window.

    Returns are fractions (0.042 is +4.2 %). Prices are closes; ``*_price`` are adjusted
    for splits and dividends as the source gave them, ``*_close`` are unadjusted.

    Attributes:
        horizon: sessions that were to be held.
        sessions: sessions that were held.
        alpha: raw return less the benchmark's; None without a benchmark.
        sigma: standard deviation of the daily series that is judged, before the decision.
        band: the half-width around zero in which a move says nothing.
        beta: of the ticker on the benchmark, over up to 250 sessions before the decision.
        alpha_beta: raw return less beta times the benchmark's.
        basis: whether the benchmark is a ``price`` or a ``total`` return series.
        known_at: when the last close (or wait) that this needed became final, aware UTC.
        source: where the prices come from.
        flags: what a reader should know, such as ``stopped`` or ``default_band``.
        extra: further fields of a later version.
    """

    horizon: int
    sessions: int
    raw_return: float
    alpha: float | None
    known_at: datetime
    entry_date: Date | None = None
    exit_date: Date | None = None
    entry_price: float | None = None
    exit_price: float | None = None
    entry_close: float | None = None
    exit_close: float | None = None
    benchmark: str | None = None
    benchmark_return: float | None = None
    benchmark_entry_date: Date | None = None
    benchmark_exit_date: Date | None = None
    benchmark_entry_price: float | None = None
    benchmark_exit_price: float | None = None
    benchmark_entry_close: float | None = None
    benchmark_exit_close: float | None = None
    basis: str | None = None
    sigma: float | None = None
    band: float | None = None
    beta: float | None = None
    alpha_beta: float | None = None
    source: str = ""
    flags: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def known_on(self) -> Date:
        """The UTC date of ``known_at``."""
        return self.known_at.date()

    @property
    def judged(self) -> float:
        """The return that a verdict looks at: alpha, or raw where there is none."""
        return self.raw_return if self.alpha is None else self.alpha

    @property
    def z(self) -> float | None:
        """The judged return in standard deviations of its holding period."""
        return (
            self.judged / (self.sigma * sqrt(self.sessions))
            if self.sigma and self.sessions
            else None
        )

    def verdict(self, rating: Rating | None, ticker: str) -> Verdict | None:
        """Whether a rating was right about this outcome; None for an unrated decision.

        An outcome without a band of its own (a log of another program) is judged
        by the default band of the ticker's asset class.
        """
        if rating is None:
            return None
        band = self.band
        if band is None:
            band = default_band(ticker, self.sessions)
        return judge(rating, self.raw_return if self.alpha is None else self.alpha, band)


def judge(rating: Rating, judged: float, band: float) -> Verdict:
    """The verdict on a rating: its direction against a return, around a band."""
    if rating is Rating.HOLD:
        return Verdict.RIGHT if abs(judged) <= band else Verdict.WRONG
    gain = rating.direction * judged
    return Verdict.RIGHT if gain > band else Verdict.WRONG if gain < -band else Verdict.NEUTRAL


# Half-width over five sessions, as a fraction, where history is too short for a sigma.
_DEFAULT_BAND = {AssetClass.CRYPTO: 0.03, AssetClass.FX: 0.005}


def default_band(ticker: str, sessions: int) -> float:
    """The band where fewer than 40 sessions of history stand before the decision."""
    return _DEFAULT_BAND.get(asset_class(ticker), 0.01) * sqrt(sessions / 5)


def band_or_default(band: float | None, ticker: str, sessions: int) -> float:
    """An outcome's own band, or the default one of an outcome that has none."""
    return default_band(ticker, sessions) if band is None else band


class Act(StrEnum):
    """The kinds of additions that the fold knows; others are kept and ignored."""

    OUTCOME = "outcome"
    REFLECTION = "reflection"
    UNRESOLVABLE = "unresolvable"
    REOPEN = "reopen"
    REMARK = "remark"
    FORGET = "forget"
    EXPIRE = "expire"
    SUPERSEDE = "supersede"
    UNDO = "undo"


# What a person or a program does to an entry that stands: known when it was done, never earlier.
GOVERNING = frozenset({Act.FORGET, Act.EXPIRE, Act.SUPERSEDE, Act.UNDO})


# In the data of a lesson that a person typed over: its stamp is the old text's. Among the flags of
# an outcome: a person typed its figures. In the identity of a copy: what was typed over before.
EDITED = "edited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """One thing added to an entry.

    Attributes:
        kind: one of :class:`Act`, or a word of a later version.
        at: what the clock said when it was added, aware UTC; None if a person typed it.
        known_at: when it was known, if that is another instant than ``at``.
        outcome: the outcome, of an ``outcome``.
        text: the lesson, of a ``reflection``.
        data: everything else, as JSON values (``reason``, ``actor``, ``model``, ``links`` …):
            ``valid_until`` of an ``expire``, ``by`` (an id) of a ``supersede``, ``undoes`` and
            ``undoes_at`` (kind and instant of an earlier act) of an ``undo``.
    """

    kind: str
    at: datetime | None = None
    known_at: datetime | None = None
    outcome: Outcome | None = None
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


class Problem(NamedTuple):
    """Something in a log that a person should look at; ``line`` counts from 1."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


_OPEN = (Status.PENDING, Status.UNRESOLVABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A decision or a note, and what it had become as of one instant.

    Attributes:
        recorded: what was recorded.
        additions: what was added to it and known by then, in the order of the log.
        status: how far it has come.
        outcomes: the latest outcome of each horizon, the primary one first.
        reflection: the lesson; empty where there is none.
        remark: what a person noted below the decision.
        links: ids of the entries that the lesson builds on.
        tags: short words for what the lesson is about.
        reason: why it is unresolvable.
        forgotten: whether a person had it hidden.
        superseded_by: the id of the entry that stands in its place; empty if none does.
        valid_until: the instant from which on it is hidden; None if it does not expire.
        expired: whether that instant has passed.
        edited: the fields that a person changed in the file.
        archived: whether it stands in the archive.
        changed_at: the last instant, aware UTC, at which it became what it is here.
    """

    recorded: Decision
    changed_at: datetime
    additions: tuple[Addition, ...] = ()
    status: Status = Status.PENDING
    outcomes: tuple[Outcome, ...] = ()
    reflection: str = ""
    remark: str = ""
    links: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    reason: str = ""
    forgotten: bool = False
    superseded_by: str = ""
    valid_until: datetime | None = None
    expired: bool = False
    edited: tuple[str, ...] = ()
    archived: bool = False

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        from tradmem.page import entry_page  # noqa: PLC0415 - it needs this module

        return entry_page(self)

    @property
    def hidden(self) -> bool:
        """Whether recall leaves it out: forgotten, superseded or expired."""
        return self.forgotten or bool(self.superseded_by) or self.expired

    @property
    def id(self) -> str:
        """12 hex digits."""
        return self.recorded.id

    @property
    def date(self) -> Date:
        """The date of the decision, in the zone of the ticker's exchange."""
        return self.recorded.date

    @property
    def ticker(self) -> str:
        """In upper case, as the user wrote it."""
        return self.recorded.ticker

    @property
    def agent(self) -> str:
        """Who decided; empty by default."""
        return self.recorded.agent

    @property
    def revision(self) -> int:
        """0 for the first decision with this date, ticker and agent."""
        return self.recorded.revision

    @property
    def rating(self) -> Rating | None:
        """None where the decision holds none."""
        return self.recorded.rating

    @property
    def decision(self) -> str:
        """The decision's text; empty for a note."""
        return "" if self.recorded.is_note else self.recorded.text

    @property
    def note(self) -> str:
        """The note's text; for a decision, what a person noted beside it."""
        return self.recorded.text if self.recorded.is_note else self.remark

    @property
    def recalled(self) -> tuple[str, ...]:
        """Ids of the memories that the decision saw."""
        return self.recorded.recalled

    @property
    def cited(self) -> tuple[str, ...]:
        """Ids of the memories that the decision names."""
        return self.recorded.cited

    @property
    def withheld(self) -> tuple[str, ...]:
        """Ids of the memories that a lot kept from the decision."""
        return self.recorded.withheld

    @property
    def decided_at(self) -> datetime | None:
        """When it was decided, aware UTC; None where only the date is known."""
        return self.recorded.decided_at

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the primary horizon."""
        return self.outcomes[0] if self.outcomes and self.status not in _OPEN else None

    @property
    def verdict(self) -> Verdict | None:
        """What code says of the rating, where there is an outcome."""
        outcome, recorded = self.outcome, self.recorded
        return outcome.verdict(recorded.rating, recorded.ticker) if outcome else None

    @property
    def known_at(self) -> datetime | None:
        """When what it teaches became known, aware UTC; None while it teaches nothing."""
        if self.status is Status.NOTE:
            return self.recorded.known_at
        return self.outcome.known_at if self.outcome else None

    @property
    def known_on(self) -> Date | None:
        """The UTC date of ``known_at``."""
        return self.known_at.date() if self.known_at else None

    def at(self, instant: datetime) -> "Entry | None":
        """The entry as it stood at an instant; None if it was not there yet."""
        if instant >= self.changed_at:
            return self
        return fold(
            self.recorded,
            self.additions,
            as_of=instant,
            edited=self.edited,
            archived=self.archived,
        )

    def by(self, now: datetime) -> "Entry":
        """All that is stored of the entry, with an expiry only if it has come by ``now``.

        Unlike :meth:`at`, this hides nothing that was stored; what is folded without an
        ``as_of`` looks from the end of time, where every expiry has come.
        """
        if self.valid_until is None or now >= self.valid_until:
            return self
        return replace(self, expired=False)


def known(
    additions: Sequence[Addition], recorded: Decision
) -> list[tuple[datetime | None, Addition]]:
    """Each addition with the instant at which it was known; None where nothing tells.

    A lesson is known with the outcome of the primary horizon that it was written from. What a
    person typed into the file came after whatever stood there before it, so it is known no
    earlier than the last stamp above it; a lesson that was typed over, than the last of all.
    """
    primary, settled_at, last = recorded.horizon, None, recorded.recorded_at
    dated: list[tuple[datetime | None, Addition]] = []
    for addition in additions:
        when = addition.known_at or addition.at
        is_primary = False
        if addition.outcome:
            when = addition.outcome.known_at
            is_primary = primary in (None, addition.outcome.horizon)
        elif addition.kind == Act.REFLECTION:
            when = settled_at or when
        elif addition.kind in GOVERNING:
            when = addition.at
        if addition.at is None:
            when = _later(when, last)
        elif EDITED in addition.data:
            when = max([when or addition.at, *(a.at for a in additions if a.at)])
        if is_primary and addition.outcome:
            primary, settled_at = addition.outcome.horizon, when
        last = _later(last, addition.at or when)
        dated.append((when, addition))
    return dated


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    """The later of two instants, as far as there are any."""
    return max(one, other) if one and other else one or other


def fold(
    recorded: Decision,
    additions: Sequence[Addition],
    *,
    as_of: datetime | None = None,
    edited: tuple[str, ...] = (),
    archived: bool = False,
) -> Entry | None:
    """What an entry is: its decision and those of its additions that were known by ``as_of``.

    A lesson stands until another outcome comes, or an edit by hand turns its verdict: then
    the entry is settled again, and due for another.

    Args:
        recorded: what was recorded.
        additions: what was added, in the order of the log.
        as_of: aware UTC; None means the end of time, where everything stored is known and
            every expiry has come (see :meth:`Entry.by`).
        edited: the fields that a person changed in the file.
        archived: whether the entry stands in the archive.

    Returns:
        The entry, or None if the decision itself was made later than ``as_of``.
    """
    changed_at = recorded.known_at
    if as_of is not None and changed_at > as_of:
        return None
    if EDITED in recorded.extra:
        edited = tuple(dict.fromkeys((*_words(recorded.extra[EDITED]), *edited)))
    if not additions and recorded.valid_until is None:
        return Entry(
            recorded=recorded,
            changed_at=changed_at,
            status=Status.NOTE if recorded.is_note else Status.PENDING,
            links=_words(recorded.extra.get("links")),
            tags=_words(recorded.extra.get("tags")),
            edited=edited,
            archived=archived,
        )
    dated = known(additions, recorded)
    if as_of is not None:
        dated = [(when, addition) for when, addition in dated if when is None or when <= as_of]
    for when, _ in dated:
        if when and when > changed_at:
            changed_at = when
    additions = tuple([addition for _, addition in dated])
    state = _State(
        status=Status.NOTE if recorded.is_note else Status.PENDING, valid_until=recorded.valid_until
    )
    for addition in in_force(additions):
        state.take(addition, recorded)
    primary, until = state.primary, state.valid_until
    expired = until is not None and (as_of is None or until <= as_of)
    for outcome in state.outcomes.values():
        if EDITED in outcome.flags and "figures" not in edited:
            edited = (*edited, "figures")
    return Entry(
        recorded=recorded,
        changed_at=max(changed_at, until) if until and expired else changed_at,
        additions=additions,
        status=state.status,
        outcomes=_ordered(state.outcomes, primary),
        reflection=state.reflection,
        remark=state.remark,
        links=state.links or _words(recorded.extra.get("links")),
        tags=state.tags or _words(recorded.extra.get("tags")),
        reason=state.reason,
        forgotten=state.forgotten,
        superseded_by=state.superseded_by,
        valid_until=until,
        expired=expired,
        edited=edited,
        archived=archived,
    )


def _ordered(outcomes: Mapping[int, Outcome], primary: int | None) -> tuple[Outcome, ...]:
    """The outcomes, that of the primary horizon first."""
    if len(outcomes) < 2:
        return tuple(outcomes.values())
    return tuple(sorted(outcomes.values(), key=lambda o: (o.horizon != primary, o.horizon)))


def in_force(additions: Sequence[Addition]) -> Sequence[Addition]:
    """Those additions that no later one undoes.

    An undo names the kind and the instant of an act before it, and may itself be undone;
    one that names nothing does nothing.
    """
    if Act.UNDO not in [addition.kind for addition in additions]:
        return additions
    undone: set[int] = set()
    for number in range(len(additions) - 1, -1, -1):
        if additions[number].kind == Act.UNDO and number not in undone:
            target = _target(additions[number])
            for earlier in range(number - 1, -1, -1):
                act = additions[earlier]
                if (act.kind, act.at) == target and earlier not in undone:
                    undone.add(earlier)
                    break
    return [addition for number, addition in enumerate(additions) if number not in undone]


def _target(undo: Addition) -> tuple[str, datetime | None] | None:
    """The kind and the instant of what an undo names, if it can be undone."""
    kind, at = undo.data.get("undoes"), _instant(undo.data.get("undoes_at"))
    return (kind, at) if kind in GOVERNING and at else None


def _words(values: object) -> tuple[str, ...]:
    """A list of a ledger; nothing for anything else."""
    return tuple(map(str, values)) if values and isinstance(values, (list, tuple)) else ()


def _instant(text: object) -> datetime | None:
    """An instant of a ledger; None for anything else."""
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except UsageError:
        return None


class _State:
    """The fold half-way."""

    primary: int | None = None
    reflection = ""
    remark = ""
    links: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    reason = ""
    forgotten = False
    superseded_by = ""

    def __init__(self, status: Status, valid_until: datetime | None) -> None:
        self.status = status
        self.valid_until = valid_until
        self.outcomes: dict[int, Outcome] = {}

    def take(self, addition: Addition, recorded: Decision) -> None:
        """Let one more addition act; a kind that is not known here does nothing."""
        match addition.kind:
            case Act.OUTCOME if addition.outcome:
                self._settle(addition.outcome, recorded)
            case Act.REFLECTION if self.status in (Status.SETTLED, Status.RESOLVED):
                self.status = Status.RESOLVED
                self.reflection = addition.text
                self.links = _words(addition.data.get("links"))
                self.tags = _words(addition.data.get("tags"))
            case Act.UNRESOLVABLE:
                self.status, self.reason = Status.UNRESOLVABLE, str(addition.data.get("reason", ""))
            case Act.REOPEN:
                self.status = Status.PENDING
                self._drop_lesson()
            case Act.REMARK:
                self.remark = addition.text
            case Act.FORGET:
                self.forgotten = True
            case Act.EXPIRE:
                self.valid_until = _instant(addition.data.get("valid_until")) or self.valid_until
            case Act.SUPERSEDE:
                self.superseded_by = str(addition.data.get("by", "")) or self.superseded_by

    def _settle(self, outcome: Outcome, recorded: Decision) -> None:
        if self.primary is None:
            self.primary = recorded.horizon or outcome.horizon
        before = self.outcomes.get(outcome.horizon)
        self.outcomes[outcome.horizon] = outcome
        if outcome.horizon != self.primary:
            return
        if self.reflection and before and "edited" in outcome.flags:
            verdicts = {o.verdict(recorded.rating, recorded.ticker) for o in (before, outcome)}
            if len(verdicts) == 1:
                self.status = Status.RESOLVED
                return
        self._drop_lesson()
        self.status = Status.SETTLED

    def _drop_lesson(self) -> None:
        self.reflection, self.links, self.tags = "", (), ()

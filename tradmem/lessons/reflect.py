"""What a lesson is, who may write one, and the reflector that needs no model.

A :class:`Reflector` is handed settled entries as :class:`Case` values and gives
back one :class:`Lesson` or one :class:`Fault` for each, in their order. It never
raises for a model that misbehaves: a fault leaves its entry due and costs the
others nothing.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from tradmem.errors import UsageError
from tradmem.lessons.template import lesson_text
from tradmem.model import Entry

RELATED = 10  # memories, as of the outcome, that a model may see beside the decision
TEMPLATE = "template"  # what the ledger names as the model of a lesson that had none


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A settled entry that is due for its lesson.

    Attributes:
        entry: settled, as it stands now.
        related: memories that were visible when its outcome became known, newest first.

    Raises:
        UsageError: the entry has no outcome.
    """

    entry: Entry
    related: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        if self.entry.outcome is None:
            raise UsageError(f"entry {self.entry.id} has no outcome; resolve it before reflecting")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What asking a model took.

    Attributes:
        calls: requests that a server answered or failed to answer, retries included.
        prompt_tokens: tokens sent, as the server counted them.
        completion_tokens: tokens received, as the server counted them.
        cost: in US dollars; None where no price is known.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=sum(costs) if costs else None,
        )


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A lesson that may be stored.

    Attributes:
        text: 2 to 4 sentences in one paragraph.
        model: who wrote it; ``template`` if no model did.
        sha256: :func:`lesson_hash` of the text.
        links: ids of the related memories that it builds on.
        tags: at most 5 short words in lower case.
        hindsight: whether the model may have known the outcome from its training:
            its stated cutoff is later than the decision, or nobody stated one.
        data: further JSON values for the ledger.
        repaired: which checks a first version had failed, by name.
        links_dropped: links that named no memory that was shown.
        usage: what it took to get it.
    """

    text: str
    model: str
    sha256: str
    links: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    hindsight: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)
    repaired: tuple[str, ...] = ()
    links_dropped: int = 0
    usage: Usage = NO_USAGE

    def ledger(self) -> dict[str, Any]:
        """Everything but the text, as JSON values for the addition's ``data``."""
        out: dict[str, Any] = {"model": self.model, "lesson": self.sha256}
        if self.links:
            out["links"] = list(self.links)
        if self.tags:
            out["tags"] = list(self.tags)
        if self.hindsight:
            out["hindsight"] = True
        return out | dict(self.data)


class FaultKind(StrEnum):
    """Why there is no lesson."""

    UNAUTHORISED = "unauthorised"
    UNKNOWN_MODEL = "unknown model"
    NO_CREDIT = "no credit"
    BAD_REQUEST = "bad request"
    RATE_LIMITED = "rate limited"
    SERVER_ERROR = "server error"
    TIMED_OUT = "timed out"
    UNREACHABLE = "unreachable"
    EMPTY = "empty answer"
    REFUSED = "refused"
    UNREADABLE = "unreadable answer"
    REJECTED = "rejected by the checks"
    STUCK = "stuck"
    OVER_BUDGET = "over budget"
    NOT_ASKED = "not asked"

    @property
    def fatal(self) -> bool:
        """Whether every further call in this run would meet the same."""
        return self in (self.UNAUTHORISED, self.UNKNOWN_MODEL, self.NO_CREDIT)

    @property
    def passing(self) -> bool:
        """Whether the same call may succeed a moment later."""
        return self in (self.RATE_LIMITED, self.SERVER_ERROR, self.TIMED_OUT, self.UNREACHABLE)

    @property
    def counts(self) -> bool:
        """Whether it is the model's answer to this entry that was of no use."""
        return self in (self.BAD_REQUEST, self.EMPTY, self.REFUSED, self.UNREADABLE, self.REJECTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why an entry has no lesson yet; it stays settled and due.

    Attributes:
        kind: the reason.
        message: one line for a person: what happened and what to do.
        fatal: whether it is why nothing more was asked in this run.
        reasons: which checks failed, by name, where a lesson was rejected.
        usage: what it took to find out.
    """

    kind: FaultKind
    message: str
    fatal: bool = False
    reasons: tuple[str, ...] = ()
    usage: Usage = NO_USAGE


@runtime_checkable
class Reflector(Protocol):
    """Anything that turns outcomes into lessons.

    Attributes:
        related: how many related memories it reads per case; 0 if none are needed.
    """

    related: int

    def reflect(self, cases: Sequence[Case]) -> Iterator[Lesson | Fault]:
        """One answer per case, in the order of the cases, each as soon as it is there."""
        ...


class TemplateReflector:
    """Writes lessons from the facts alone: no model, no key, the same words every time."""

    related = 0

    def reflect(self, cases: Iterable[Case]) -> Iterator[Lesson | Fault]:
        """One lesson per case, in order."""
        for case in cases:
            text = lesson_text(case.entry)
            yield Lesson(text=text, model=TEMPLATE, sha256=lesson_hash(text, case.entry.ticker))


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ASCII_NUMBER = re.compile(r"[0-9]++(?:[.,][0-9]++)*+")  # the same in ASCII, found sooner


@lru_cache(maxsize=4096)  # of a lesson when it is stored, and again when it is recalled
def lesson_hash(text: str, ticker: str) -> str:
    """SHA-256 of what a lesson says: case, white space, Unicode form, ticker and figures masked.

    Two lessons with the same hash say the same thing about two occasions.
    """
    return hashlib.sha256(masked(text, ticker).encode("utf-8", "replace")).hexdigest()


def masked(text: str, ticker: str) -> str:
    """What a lesson says apart from its occasion: ``@`` for the ticker, ``#`` for each figure."""
    if not text.isascii():
        text = _nfkc(_nfkc(text).casefold())
        for sign in _SIGNS:
            text = text.replace(sign, "-")
    text = _as_word(ticker).sub("@", text.lower())
    text = (_ASCII_NUMBER if text.isascii() else _NUMBER).sub("#", text).replace("$@", "@")
    for sign in ("+#", "-#"):
        text = text.replace(sign, "#")
    return " ".join(text.split()).replace("# %", "#").replace("#%", "#")


_SIGNS = "\u2010\u2011\u2012\u2013\u2212\u00b1"


def _nfkc(text: str) -> str:
    """Normalised; the question whether it is already so costs a tenth of doing it."""
    if unicodedata.is_normalized("NFKC", text):
        return text
    return unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=4096)
def _as_word(ticker: str) -> re.Pattern[str]:
    """The ticker where no letter or digit touches it; the literal first, for the search's speed."""
    word = re.escape(ticker.lower())
    return re.compile(rf"{word}(?<![a-z0-9]{word})(?![a-z0-9])")

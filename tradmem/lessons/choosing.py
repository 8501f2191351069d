"""Which of some weighed memories a recall shows, and why each other one is left out."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tradmem.lessons.filing import SIMILAR
from tradmem.lessons.parts import Weighed
from tradmem.lessons.recall import LeftOut, Recall, lesson_key, why_hidden
from tradmem.lessons.wording import Shown
from tradmem.model import Entry, Status
from tradmem.tickers import MARKET


class _Said(NamedTuple):
    """What a memory teaches, and of which call."""

    text: str
    key: str
    call: str


@dataclass(slots=True)
class Choice:
    """Takes memories in the order of their scores, and keeps those that are to be shown.

    Attributes:
        ticker: whose decision is to be made.
        same_ticker: how many memories of it.
        cross_ticker: how many of other tickers, at most one of each.
        shown: what is to be shown.
        repeats: what says the same as something that is shown.
    """

    ticker: str
    same_ticker: int
    cross_ticker: int
    shown: list[Shown] = field(default_factory=list)
    repeats: list[LeftOut] = field(default_factory=list)
    _said: list[_Said] = field(default_factory=list)
    _taken: list[tuple[Weighed, str]] = field(default_factory=list)

    def take(self, item: Weighed) -> None:
        """Show a memory, or note why not."""
        entry, said = item.entry, _said_by(item.entry)
        reason = self._unfit(entry) or self._repeated(entry, said) or self._crowded_out(entry)
        if not reason:
            is_same = entry.ticker == self.ticker
            decision = entry.decision if is_same else ""
            self.shown.append(
                Shown(entry=entry, is_same=is_same, worth=item.score, decision=decision)
            )
            self._said.append(said)
        self._taken.append((item, reason))

    def _unfit(self, entry: Entry) -> str:
        if entry.hidden:
            return why_hidden(entry)
        if entry.status is Status.SETTLED and entry.ticker != self.ticker:
            return "no lesson yet, and of another ticker"
        return ""

    def _repeated(self, entry: Entry, said: _Said) -> str:
        """Whether something that is shown says nearly the same; it is counted there."""
        for number, other in enumerate(self._said):
            if _say_the_same(said, other):
                item = self.shown[number]
                self.shown[number] = item._replace(times=item.times + 1)
                reason = f"says the same as {item.entry.id}"
                self.repeats.append(LeftOut(entry=entry, reason=reason))
                return reason
        return ""

    def _crowded_out(self, entry: Entry) -> str:
        is_same = entry.ticker == self.ticker
        group = [item.entry for item in self.shown if item.is_same == is_same]
        if not is_same and any(other.ticker == entry.ticker for other in group):
            return f"another memory of {_name(entry)} scores higher"
        if is_same and len(group) >= self.same_ticker:
            return f"{self.same_ticker} of {self.ticker} score higher"
        if not is_same and len(group) >= self.cross_ticker:
            return f"{self.cross_ticker} of other tickers score higher"
        return ""

    def account(self, recalled: Recall) -> tuple[Weighed, ...]:
        """Every memory that was taken, with what became of it."""
        since = {out.entry.id: out.reason for out in recalled.left_out}
        told = ((item, reason or since.get(item.entry.id, "")) for item, reason in self._taken)
        return tuple(
            replace(item, is_shown=not reason, reason=reason or self._merit(item.entry))
            for item, reason in told
        )

    def _merit(self, entry: Entry) -> str:
        if entry.ticker == self.ticker:
            return f"among the {self.same_ticker} best of {self.ticker}"
        best = f"among the {self.cross_ticker} best of other tickers"
        return f"the best of {_name(entry)}, and {best}"


def _name(entry: Entry) -> str:
    return "the market" if entry.ticker == MARKET else entry.ticker


def _said_by(entry: Entry) -> _Said:
    text = entry.reflection or entry.note
    return _Said(text, lesson_key(entry), f"{entry.rating} {entry.verdict}")


def _say_the_same(one: _Said, other: _Said) -> bool:
    """Whether two lessons say nearly the same of the same verdict."""
    if not one.text or not other.text or one.call != other.call:
        return False
    if one.key == other.key:
        return True
    from rapidfuzz import fuzz  # noqa: PLC0415 - only where memories are ranked

    return bool(fuzz.token_sort_ratio(one.text, other.text, score_cutoff=SIMILAR))

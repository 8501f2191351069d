"""Random histories of a memory, and the same histories cut off at an instant."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tests.governance_world import START
from tests.journal.making import decision, lesson, outcome
from tradmem import Addition, Memory, Rating, Settings, Status, UsageError
from tradmem.journal.base import OnConflict

TICKERS = ("NVDA", "AAPL", "AMD")
WORDS = ("Earnings move it.", "Earnings moved it.", "Rates move it.", "Nothing moved.")
TAGS = ("earnings", "rates")
RATINGS = (*Rating, None)
SETTINGS = Settings(same_ticker=2, cross_ticker=2, embeddings="none")
GOVERNING = ("forget", "expire", "supersede", "undo", "redo", "consolidate")
KINDS = (
    *("record", "settle", "reflect", "reflect", *GOVERNING),
    *("note", "fading note", "correct", "further", "give up", "retry", "revise", "take back"),
)
# What is done instead where there is nothing to do it to; a decision can always be made.
INSTEAD = {"reflect": "settle", "settle": "record", "redo": "undo", "undo": "forget"}


@dataclass(frozen=True)
class Step:
    """Something that happened: by whose clock, known from when on, and how to do it again."""

    kind: str
    clock: datetime
    known: datetime
    do: Callable[[Memory], object]


class History:
    """A memory that grows by random steps, each of which can be replayed elsewhere."""

    def __init__(self, journal):
        self.now = START
        self.steps = []
        self.memory = self.open(journal)

    def open(self, journal):
        return Memory(journal, settings=SETTINGS, clock=lambda: self.now)

    def grow(self, kind, first, second, hours, lag):
        """One more step, or another where there is nothing to do it to."""
        self.now += timedelta(hours=hours)
        back = self.now - timedelta(hours=lag)
        while not self._try(kind, first, second, back):
            kind = INSTEAD.get(kind, "reflect" if kind != "record" else "note")

    def _try(self, kind, first, second, back):
        found = getattr(self, "_" + kind.replace(" ", "_"))(first, second, back)
        if found is None:
            return False
        step = Step(kind, self.now, *found)
        try:
            step.do(self.memory)
        except UsageError:  # such as nothing to undo
            return False
        self.steps.append(step)
        return True

    def replay(self, journal, wanted):
        """The steps that are wanted, done again in another journal, each at its own clock."""
        memory, end = self.open(journal), self.now
        for step in self.steps:
            if wanted(step):
                self.now = step.clock
                step.do(memory)
        self.now = end
        return memory

    def cut_off(self, journal, instant):
        """What was known by an instant, done again in another journal."""
        return self.replay(journal, lambda step: step.known <= instant)

    def _entries(self, *states):
        entries = self.memory.journal.entries()
        newest = {entry.recorded.key[:3]: entry for entry in entries if not entry.recorded.is_note}
        return [
            entry
            for entry in entries
            if entry.status in states
            and (entry.recorded.is_note or newest[entry.recorded.key[:3]].id == entry.id)
        ]

    def _pick(self, number, *states):
        found = self._entries(*states)
        return found[number % len(found)] if found else None

    def _add(self, entry, known, addition):
        return known, lambda memory: memory.journal.add([(entry.id, addition)])

    def _record(self, first, second, back):
        ticker = TICKERS[first % len(TICKERS)]
        seen = self.memory.recall(ticker, back)
        recorded = decision(
            f"Decision {len(self.steps)}.",
            day=back.date(),
            ticker=ticker,
            rating=RATINGS[second % len(RATINGS)],
            agent=f"a{len(self.steps)}",
            decided_at=back,
            recorded_at=self.now,
            horizon=5,
            recalled=seen.ids,
            recalled_as_of=back,
        )
        return back, lambda memory: memory.journal.append(recorded)

    def _revise(self, first, second, back):
        entry = self._pick(first, Status.PENDING)
        if entry is None or entry.outcomes:
            return None
        stamps = {"decided_at": self.now, "recorded_at": self.now, "recalled": ()}
        text = f"Otherwise {len(self.steps)}."
        recorded = replace(entry.recorded, text=text, recalled_as_of=None, **stamps)
        return self.now, lambda memory: memory.journal.append(
            recorded, on_conflict=OnConflict.REVISE
        )

    def _note(self, first, second, back, until=None):
        ticker = (*TICKERS, "*")[first % 4]
        text = f"Note {len(self.steps)}."
        return self.now, lambda memory: memory.note(text, ticker=ticker, valid_until=until)

    def _fading_note(self, first, second, back):
        return self._note(first, second, back, self.now + timedelta(hours=1 + second))

    def _outcome(self, entry, known, number, horizon=5):
        alpha = (0.05, -0.05, 0.001, None)[number % 4]
        told = outcome(known, alpha=alpha, raw=0.01 * number, horizon=horizon, at=self.now)
        return self._add(entry, known, told)

    def _settle(self, first, second, back):
        entry = self._pick(first, Status.PENDING)
        if entry is None:
            return None
        known = self.now if entry.outcomes else max(back, entry.recorded.known_at)
        return self._outcome(entry, known, second)

    def _take_back(self, first, second, back):
        entry = self._pick(first, Status.SETTLED, Status.RESOLVED)
        return entry and self._add(entry, self.now, Addition(kind="reopen", at=self.now))

    def _correct(self, first, second, back):
        entry = self._pick(first, Status.SETTLED, Status.RESOLVED)
        return entry and self._outcome(entry, self.now, second)

    def _further(self, first, second, back):
        entry = self._pick(first, Status.SETTLED, Status.RESOLVED)
        return entry and self._outcome(entry, max(back, entry.recorded.known_at), second, 20)

    def _give_up(self, first, second, back):
        entry = self._pick(first, Status.PENDING)
        if entry is None or entry.outcomes:
            return None
        known = max(back, entry.recorded.known_at)
        gave_up = Addition(
            kind="unresolvable", at=self.now, known_at=known, data={"reason": "no closes"}
        )
        return self._add(entry, known, gave_up)

    def _retry(self, first, second, back):
        entry = self._pick(first, Status.UNRESOLVABLE)
        return entry and self._outcome(entry, self.now, second)

    def _reflect(self, first, second, back):
        entry = self._pick(first, Status.SETTLED)
        if entry is None:
            return None
        known = entry.outcome.known_at
        related = self.memory.journal.memories(known, limit=2)
        written = lesson(
            WORDS[second % len(WORDS)],
            at=self.now,
            tags=[TAGS[first % len(TAGS)]],
            links=[other.id for other in related if other.id != entry.id],
        )
        return self._add(entry, known, written)

    def _act(self, call):
        return self.now, call

    def _forget(self, first, second, back):
        entry = self._pick(first, *Status)
        return entry and self._act(lambda memory: memory.forget(entry.id, reason="r"))

    def _expire(self, first, second, back):
        entry, until = self._pick(first, *Status), self.now + timedelta(hours=second - 8)
        return entry and self._act(lambda memory: memory.expire(entry.id, until, reason="r"))

    def _supersede(self, first, second, back):
        old, new = self._pick(first, *Status), self._pick(second, *Status)
        if old is None or new is None:
            return None
        return self._act(lambda memory: memory.supersede(old.id, new.id, reason="r"))

    def _undo(self, first, second, back, kind=None):
        hidden = [e for e in self._entries(*Status) if e.hidden or (e.additions and kind)]
        entry = hidden[first % len(hidden)] if hidden else self._pick(first, *Status)
        return entry and self._act(lambda memory: memory.undo(entry.id, kind=kind, reason="r"))

    def _redo(self, first, second, back):
        return self._undo(first, second, back, kind="undo")

    def _consolidate(self, first, second, back):
        tag = ("", *TAGS)[second % 3]
        return self._act(lambda memory: memory.consolidate(tag=tag, least=2, reason="r"))

"""What was forgotten, and taken back, shows the same memories whether a log was rotated or not."""

import random
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.journal.making import decision, lesson, outcome
from tradmem import Addition, MarkdownJournal, RamJournal
from tradmem.clock import format_instant
from tradmem.model import entry_id

ASKED = (
    {"ticker": "NVDA", "limit": 5},
    {"not_ticker": "NVDA", "distinct": True, "lessons": True, "limit": 3},
)


class Twins:
    """A log that rotates at once, and one that never does, in step."""

    def __init__(self, path, seed):
        self.random = random.Random(seed)
        most = self.random.choice([0, 1, 3])
        self.journals = (MarkdownJournal(path, max_resolved=most), RamJournal())
        self.now = datetime(2026, 1, 5, 15, tzinfo=UTC)
        self.names = []

    def step(self):
        self.now += timedelta(hours=self.random.choice([1, 7, 24]))
        if not self.names or self.random.random() < 0.55:
            self._learn()
        else:
            self._forget_or_undo(self.random.choice(self.names[-8:]))

    def _learn(self):
        number = len(self.names)
        day, ticker = date(2026, 1, 5) + timedelta(days=number), self.random.choice(["NVDA", "AMD"])
        made = self.now - timedelta(days=7)
        known = self.now - timedelta(hours=self.random.choice([0, 5, 30]))
        text = f"Lesson {chr(97 + number % 26)}."
        name = entry_id(day, ticker)
        self.names.append(name)
        for journal in self.journals:
            stamps = {"decided_at": made, "recorded_at": made}
            journal.append(decision(f"D{number}", day=day, ticker=ticker, **stamps))
            journal.add([(name, outcome(known, at=self.now)), (name, lesson(text, at=self.now))])

    def _forget_or_undo(self, name):
        entry = self.journals[1].get(name)
        act = Addition(kind="forget", at=self.now, data={"reason": "r"})
        if entry.forgotten:
            last = [a for a in entry.additions if a.kind == "forget"][-1]
            data = {"undoes": "forget", "undoes_at": format_instant(last.at), "reason": "r"}
            act = Addition(kind="undo", at=self.now, data=data)
        for journal in self.journals:
            journal.add([(name, act)])


@pytest.mark.parametrize("seed", range(12))
def test_rotation_moves_no_memory_out_of_a_recall_of_any_instant(seed, tmp_path):
    twins = Twins(tmp_path / "memory.md", seed)
    moments = []
    for _ in range(36):
        twins.step()
        moments.append(twins.now)
        for moment in {twins.now, *twins.random.sample(moments, min(4, len(moments)))}:
            for asked in ASKED:
                rotated, whole = (j.memories(moment, **asked) for j in twins.journals)
                assert [e.id for e in rotated] == [e.id for e in whole], (moment, asked)
    assert seed or (tmp_path / "archive").exists()  # the first has enough to rotate

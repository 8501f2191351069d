"""What is added to a lesson when it is stored: what it repeats, whom it names, what is like it."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from tradmem.lessons.entities import tickers_in
from tradmem.lessons.reflect import TEMPLATE, Lesson, lesson_hash
from tradmem.model import Entry

SIMILAR = 90  # of 100, rapidfuzz's ratio of the words whatever their order
COMPARED = 200  # the newest lessons that a new one is compared with
_MOST_SIMILAR = 5  # that are named


@dataclass(slots=True, kw_only=True)
class Filer:
    """Files the lessons of one run, each against the whole log and those before it.

    Attributes:
        seen: by the hash of a lesson, the entry that said it first.
        tickers: those of the log.
        recent: the newest lessons behind the ids of their entries, the newest first; those
            of this run join them.
        said: the same as ``seen``, of this run.
        known: when what an entry teaches was known; a lesson never names what came later.
    """

    seen: Mapping[str, str]
    tickers: Collection[str]
    recent: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=COMPARED))
    said: dict[str, str] = field(default_factory=dict)
    known: Callable[[str], datetime | None] = lambda _: None

    def file(self, lesson: Lesson, entry: Entry) -> dict[str, Any]:
        """The lesson's ledger values, with ``same_as``, ``similar`` and ``tickers``.

        The template's lessons name nobody beyond their facts, and repeat themselves by
        their wording: they are only compared by hash.
        """
        data = lesson.ledger() | self._same_as(lesson.sha256, entry.id, entry.known_at)
        if lesson.model != TEMPLATE:
            text = f"{entry.decision}\n{lesson.text}"
            is_same = "same_as" in data
            data |= self._further(text, lesson.text, entry.ticker, is_same, entry.known_at)
            if "same_as" not in data:
                self.recent.appendleft((entry.id, lesson.text))
        return data

    def file_note(self, text: str, ticker: str, name: str) -> dict[str, Any]:
        """The same for a note, which no reflector has written."""
        digest = lesson_hash(text, ticker)
        data = {"lesson": digest} | self._same_as(digest, name)
        return data | self._further(text, text, ticker, "same_as" in data)

    def _same_as(self, digest: str, name: str, at: datetime | None = None) -> dict[str, Any]:
        first = self.seen.get(digest) or self.said.setdefault(digest, name)
        return {} if first == name or not self._is_known(first, at) else {"same_as": first}

    def _is_known(self, name: str, at: datetime | None) -> bool:
        """Whether an entry had taught something by an instant; by now, where there is none."""
        known_at = self.known(name)
        return at is None or known_at is None or known_at <= at

    def _further(
        self, text: str, lesson: str, own: str, is_same: bool, at: datetime | None = None
    ) -> dict[str, Any]:
        named = tickers_in(text, self.tickers, own=own)
        like = () if is_same else similar_to(lesson, self.recent)
        similar = list(islice((name for name in like if self._is_known(name, at)), _MOST_SIMILAR))
        found: Mapping[str, list[str]] = {"tickers": list(named), "similar": similar}
        return {key: values for key, values in found.items() if values}


def similar_to(text: str, lessons: Iterable[tuple[str, str]]) -> Iterable[str]:
    """The ids of those of some lessons, each behind its id, that say nearly the same."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - only where a model or a person wrote a lesson

    for name, other in lessons:
        if fuzz.token_sort_ratio(text, other, score_cutoff=SIMILAR):
            yield name

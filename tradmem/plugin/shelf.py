"""Which entries of a journal are items of a store, kept up to date as it grows."""

from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tradmem.clock import parse_instant
from tradmem.errors import UsageError
from tradmem.journal.base import Journal
from tradmem.model import Entry

Path = tuple[tuple[str, ...], str]
_Place = tuple[int, datetime, str]  # of a revision among those of its item, and the note's id
_RECENT = 8  # revisions of an item that may still stand, should several have been put at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One revision of an item.

    Attributes:
        path: its namespace and its key.
        value: what was put.
        revision: from 1 on, also after it was deleted.
        index: which of its fields a search looks into; False for none, None for all.
        entry: the note.
        created_at: when the item was first put, aware UTC; after it was deleted, put anew.
    """

    path: Path
    value: dict[str, Any]
    revision: int
    index: list[str] | bool | None
    entry: Entry
    created_at: datetime

    @property
    def updated_at(self) -> datetime:
        """When this revision was put."""
        return self.entry.recorded.known_at

    @property
    def order_in_time(self) -> tuple[datetime, int, str]:
        """The greater, the later it was put, among all items."""
        return (self.updated_at, self.revision, self.entry.id)


class Items:
    """The items of a store by their paths.

    Args:
        journal: where the notes are.
        extra: the name under which a note keeps its item.
    """

    def __init__(self, journal: Journal, extra: str) -> None:
        self._journal = journal
        self._extra = extra
        self._mark: Any = None
        self._paths: dict[str, Path] = {}  # by the ids of the notes
        self._places: dict[Path, list[_Place]] = {}

    def recent(self, path: Path) -> list[Kept]:
        """The newest revisions of an item, the newest last."""
        self._refresh()
        return self._kept(self._places.get(path, [])[-_RECENT:])

    def newest(self, path: Path) -> Kept | None:
        """The newest revision of an item."""
        self._refresh()
        return next(iter(self._kept(self._places.get(path, [])[-1:])), None)

    def below(self, prefix: tuple[str, ...]) -> list[Kept]:
        """The newest revision of each item whose namespace begins so."""
        self._refresh()
        length = len(prefix)
        return self._kept(
            [places[-1] for path, places in self._places.items() if path[0][:length] == prefix]
        )

    def _refresh(self) -> None:
        changes = self._journal.passages(self._mark)
        for name in changes.gone:
            if path := self._paths.pop(name, None):
                left = [place for place in self._places.pop(path) if place[2] != name]
                if left:
                    self._places[path] = left
        notes = [p.id for p in changes.passages if p.teaches and p.id not in self._paths]
        for name, entry in self._journal.get_all(notes).items():
            kept = self._read(entry)
            if kept:
                self._paths[name] = kept.path
                insort(
                    self._places.setdefault(kept.path, []), (kept.revision, kept.updated_at, name)
                )
        self._mark = changes.mark

    def _kept(self, places: list[_Place]) -> list[Kept]:
        entries = self._journal.get_all(name for _, _, name in places)
        return [kept for entry in entries.values() if (kept := self._read(entry))]

    def _read(self, entry: Entry) -> Kept | None:
        """The revision that a note is; None for any other entry."""
        kept = entry.recorded.extra.get(self._extra) if entry.recorded.is_note else None
        if not isinstance(kept, Mapping):
            return None
        namespace, key, revision = kept.get("namespace"), kept.get("key"), kept.get("revision")
        fits = isinstance(kept.get("value"), dict) and isinstance(revision, int)
        if not (fits and isinstance(namespace, list) and isinstance(key, str)):
            return None
        return Kept(
            path=(tuple(map(str, namespace)), key),
            value=kept["value"],
            revision=kept["revision"],
            index=kept.get("index"),
            entry=entry,
            created_at=_instant(kept.get("created_at")) or entry.recorded.known_at,
        )


def _instant(text: object) -> datetime | None:
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except UsageError:
        return None

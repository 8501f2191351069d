"""What a search needs of an entry, and what has changed since it last looked.

A passage is the text of an entry as it stands now, with the instant from which on it stood
so. Of a block that is as we write it, it is read in a sixth of the time that parsing takes.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from tradmem.clock import last_instant, parse_instant
from tradmem.errors import UsageError
from tradmem.journal import shapes
from tradmem.journal.ledger import text_hash
from tradmem.journal.tagline import percent
from tradmem.journal.text import unescape
from tradmem.model import GOVERNING, Act, Entry
from tradmem.model import known as dated


class Passage(NamedTuple):
    """The text of an entry, and when it held.

    Attributes:
        id: the entry's.
        ticker: in upper case.
        day: the entry's date, ISO.
        made: when it was decided or noted, aware UTC.
        since: from when on all of this was known, aware UTC; never earlier than it was.
        teaches: whether it is a memory: a note, or an entry with an outcome.
        sole: whether it taught nothing before ``since``.
        lesson: empty where there is none.
        body: the decision or the note, and what a person noted below it.
        tags: what the lesson is about.
        recalled: ids of the memories that the decision saw.
        archived: whether it stands in the archive.
    """

    id: str
    ticker: str
    day: str
    made: datetime
    since: datetime
    teaches: bool
    sole: bool
    lesson: str
    body: str
    tags: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    archived: bool = False

    @property
    def text(self) -> str:
        """All that may be searched for."""
        return "\n".join((self.ticker, self.lesson, self.body, *self.tags))


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What became of a journal since a mark.

    Attributes:
        passages: of the entries that are new or may have changed, as they stand now.
        gone: ids that no entry has any more, which only an edit by hand can bring about.
        mark: hand it in next time.
    """

    passages: Sequence[Passage]
    gone: Iterable[str] = ()
    mark: Any = None


def passage_of(entry: Entry) -> Passage:
    """The passage of an entry as it is."""
    recorded, settled = entry.recorded, entry.outcome is not None
    acts_by_time = dated(entry.additions, recorded)
    acts = [
        (when, act) for when, act in acts_by_time if when and act.kind not in GOVERNING
    ]  # they change no text
    kinds = Counter(act.kind for _, act in acts)
    since = max([recorded.known_at, *(when for when, _ in acts)])
    return Passage(
        id=entry.id,
        ticker=entry.ticker,
        day=entry.date.isoformat(),
        made=recorded.known_at,
        since=since,
        teaches=recorded.is_note or settled,
        sole=kinds.keys() <= {Act.OUTCOME, Act.REFLECTION}
        and kinds[Act.OUTCOME] == settled
        and kinds[Act.REFLECTION] <= settled
        and all(
            since in (when, recorded.known_at) for when, act in acts if act.kind == Act.OUTCOME
        ),
        lesson=entry.reflection,
        body="\n".join(filter(None, (recorded.text, entry.remark))),
        tags=entry.tags,
        recalled=entry.recalled,
        archived=entry.archived,
    )


_BLOCK = re.compile(
    rb"\s*\[([0-9-]{10}) \| (\*(?= \| Note\])|\^?[A-Z0-9][A-Z0-9.&=_^-]{0,31}) \| "
    rb"(?:(Note)|\w+ \| (?:pending"
    rb"|([+-][0-9.]+%) \| ([+-][0-9.]+%|n/a) \| ([0-9]{1,5})d \| resolved:([0-9-]{10})))\]\n"
    rb"<!-- tradmem: " + shapes.IDENTITY + rb" -->\n"
    rb'((?:<!-- tradmem: \{"add":"outcome"[^\n]*\} -->\n)*)'
    rb"(?:<!-- tradmem: " + shapes.REFLECTION + rb" -->\n)?"
    rb'((?:<!-- tradmem: \{"add":"(?:outcome|forget|expire|supersede|undo)"[^\n]*\} -->\n)*)'
    rb"\n(DECISION|NOTE):\n"
)
_OUTCOME = re.compile(rb"^<!-- tradmem: " + shapes.OUTCOME + rb" -->\r?$", re.MULTILINE)
_TAUGHT = re.compile(
    rb"\s*\[[^\n]* \| ([+-][0-9.]+%) \| ([+-][0-9.]+%|n/a) \| ([0-9]{1,5})d"
    rb" \| resolved:([0-9-]{10})\]\r?\n"
    rb'<!-- tradmem: \{"v":1,"id":"[0-9a-f]{12}"([^\n]*)\} -->\r?\n'
    rb'((?:<!-- tradmem: \{"add":"outcome"[^\n]*\} -->\r?\n)+)'
    rb'<!-- tradmem: \{"add":"reflection"'
)
_FILLED = re.compile(rb"\nREFLECTION:[ \t\r]*\n\s*(?!<!-- ENTRY_END -->|NOTE:)\S")
_HORIZON = re.compile(rb',"horizon":([0-9]+)')
_TAGS = re.compile(rb',"tags":(\[[^\]]*\])')
_TAG_IN_TEXT = re.compile(rb"(?<!\\)\[[0-9]{4}-[0-9]{2}-[0-9]{2} \|")
_OUTCOME_LINE = b'<!-- tradmem: {"add":"outcome"'
# What leaves a lesson the last word; an act of any other kind may take it back.
_HARMLESS = re.compile(
    rb'^<!-- tradmem: \{"add":"(?:outcome|reflection|forget|expire|supersede|undo)"', re.MULTILINE
)
_LESSON, _REFLECTED = b"\n\nREFLECTION:\n", b"\nREFLECTION:"
_END = b"\n<!-- ENTRY_END -->"


def glimpse(raw: bytes, *, archived: bool = False) -> Passage | None:
    """The passage of a block that is as we write it; None for any other, which has to be parsed.

    The same as parsing the block and asking :func:`passage_of`.
    """
    found = _BLOCK.match(raw)
    if found is None:
        return None
    try:
        return _read(raw, found, archived)
    except (UsageError, ValueError, TypeError, LookupError):
        return None


def is_taught(raw: bytes) -> bool:
    """Whether a block surely holds a lesson on its outcome; if not, it takes a parser to tell.

    An outcome is looked at as the tag shows it: a person may have turned the verdict there.
    """
    found = _TAUGHT.match(raw)
    if found is None or raw.count(_REFLECTED) != 1 or not _FILLED.search(raw):
        return False
    *figures, identity, outcomes = found.groups()
    horizon = _HORIZON.search(identity)
    acts = len(_HARMLESS.findall(raw))
    if raw.count(b"<!-- tradmem:") != acts + 1 or raw.count(b'"add":') != acts:
        return False
    if raw.count(_OUTCOME_LINE) != outcomes.count(_OUTCOME_LINE):
        return False
    try:
        own = horizon[1] if horizon else None
        return bool(_outcomes(outcomes, b"", own, tuple(figures)))
    except (UsageError, ValueError, LookupError):
        return False


def _read(raw: bytes, found: re.Match[bytes], archived: bool) -> Passage | None:
    groups = found.groups()
    day, ticker, note, *figures, name, decided, stamped, _, horizon, recalled, rest = groups[:14]
    first, digest, further, later, section = groups[14:]
    body, lesson = _texts(raw[found.end() - 1 : raw.rfind(_END)], digest)
    outcomes = first.count(_OUTCOME_LINE) + later.count(_OUTCOME_LINE)
    ledger = raw[: found.end()]
    acts = ledger.count(b'{"add":')
    if ledger.count(b'"add":') != acts or ledger.count(b',"at":"') != acts + bool(stamped):
        return None  # a line that says twice what it adds, or one that was typed and has no stamp
    if bool(note) != (section == b"NOTE") or (note and (outcomes or digest is not None)):
        return None
    if lesson and (digest is None or text_hash(lesson).encode() != digest):
        return None  # a person wrote it, or typed over it
    made_at, on = stamped if note else decided, _day(day)
    known = [_instant(made_at) if made_at else last_instant(on)]
    if outcomes:
        known += _outcomes(first, later, horizon, tuple(figures))
        if len(known) <= outcomes:
            return None
    elif figures[0] or digest is not None:
        return None
    return Passage(
        name.decode(),
        ticker.decode(),
        day.decode(),
        known[0],
        max(known),
        bool(note or outcomes),
        outcomes <= 1,
        lesson,
        body,
        (_tags(further) if lesson else ()) or _tags(rest),
        tuple(json.loads(recalled)) if recalled else (),
        archived,
    )


def _texts(body: bytes, digest: bytes | None) -> tuple[str, str]:
    """The decision or note, and the lesson.

    Raises:
        ValueError: there is more than these.
    """
    text, _, lesson = body.partition(_LESSON)
    if (
        body.count(b"\nREFLECTION:") > bool(lesson)
        or b"\nNOTE:" in body
        or b"\nDECISION:" in body
        or b"<!-- tradmem:" in body  # of a torn entry
        or b"\n<<<<<<< " in body
        or b"\n>>>>>>> " in body
        or b"\r" in body
        or b"\0" in body
        or (b"[" in text and _TAG_IN_TEXT.search(text))
    ):
        raise ValueError("not as we write it")
    said = _bare(lesson.decode())
    plain = unescape(said)
    if said != plain and text_hash(plain).encode() != digest:
        raise ValueError("not as we write it")
    return unescape(_bare(text.decode())), plain


def _bare(text: str) -> str:
    """Without empty lines around it.

    Raises:
        ValueError: its first or last line is white space, of which only a parse can tell.
    """
    text = text.strip("\n")
    if len(text.strip()) == len(text):
        return text
    if (text[:1].isspace() and not text.partition("\n")[0].strip()) or (
        text[-1:].isspace() and not text.rpartition("\n")[2].strip()
    ):
        raise ValueError("not as we write it")
    return text


def _outcomes(
    first: bytes, later: bytes, horizon: bytes | None, figures: tuple[bytes, ...]
) -> list[datetime]:
    """When each outcome was known, those above the lesson first.

    Raises:
        ValueError: the tag does not show the primary one, or one was corrected.
    """
    read = _OUTCOME.findall(first + later if later else first)
    place = 0
    if len(read) > 1 or horizon:
        horizons = [outcome[1] for outcome in read]
        place = horizons.index(horizon) if horizon else 0
        if len(set(horizons)) != len(read):
            raise ValueError("not as we write it")
    _, _, sessions, raw, alpha, known_at, *_ = read[place]
    if (
        place >= first.count(b"\n")
        or (percent(float(raw)).encode(), sessions) != (figures[0], figures[2])
        or percent(None if alpha == b"null" else float(alpha)).encode() != figures[1]
        or known_at[:10] != figures[3]
    ):
        raise ValueError("not as we write it")
    return [_instant(outcome[5]) for outcome in read]


def _tags(line: bytes) -> tuple[str, ...]:
    if b'"tags"' not in line:
        return ()
    found = _TAGS.findall(line)
    if len(found) > 1:
        raise ValueError("not as we write it")
    return tuple(map(str, json.loads(found[0]))) if found else ()


@lru_cache(maxsize=4096)  # many entries share a date, and many outcomes an instant
def _day(text: bytes) -> date:
    return date.fromisoformat(text.decode())


@lru_cache(maxsize=4096)
def _instant(text: bytes) -> datetime:
    return parse_instant(text.decode())

"""One block of a log, read: the entry that stands in it, or why there is none."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from math import ceil
from typing import Any, NamedTuple

from tradmem.clock import last_instant
from tradmem.errors import UsageError
from tradmem.journal.ledger import (
    TORN_LINE,
    is_ledger,
    read_addition,
    read_identity,
    read_line,
    text_hash,
)
from tradmem.journal.tagline import Tag, fraction, looks_like_tag, percent, read_tag
from tradmem.journal.text import DELIMITER, clean, unescape
from tradmem.model import (
    EDITED,
    Act,
    Addition,
    Decision,
    Entry,
    Outcome,
    Status,
    entry_id,
    fold,
    note_id,
)

_SECTION = re.compile(r"^(DECISION|REFLECTION|NOTE):[ \t\r]*$", re.MULTILINE)
_CONFLICT = re.compile(r"^(?:<<<<<<<|>>>>>>>) ", re.MULTILINE)
_TAG_IN_TEXT = re.compile(r"(?<!\\)\[[0-9]{4}-[0-9]{2}-[0-9]{2} \|")
_TAG_AT_LINE = re.compile(r"^\[[0-9]{4}-[0-9]{2}-[0-9]{2} \|", re.MULTILINE)
_ID_IN_LINE = re.compile(r'<!-- tradmem: \{"v":1,"id":"([0-9a-f]{12})"')
_MARK = re.compile(r"\A(\s*)\ufeff")  # of the file, or of another that was put behind it
_LEADING_NULS = re.compile("^\x00+", re.MULTILINE)
_TORN_START = re.compile(
    r"\[(?:[0-9]{1,4}(?:-[0-9]{0,2}(?:-[0-9]{0,2}(?: .*)?)?)?)?\Z|<!-- tradmem:"
)

_MOST_SECTIONS = 100  # beyond that, which of them are text is not tried out
_TORN = "an entry that was not written to its end; it is kept, and is no entry"
_IN_CONFLICT = "a conflict marker; keep one side, then delete the marker"
_RUN_TOGETHER = "two stand in one block; end the first with its delimiter line"


class Reading(NamedTuple):
    """What one block holds, and where.

    Attributes:
        entry: None where there is none; ``faults`` says why.
        line: lines above the tag, or above the first text; -1 for mere white space.
        body: lines above the first section.
        faults: what a person should look at.
        rating_text: the rating as the tag has it.
        typed: those of the entry's additions that only the tag or the text tells.
    """

    entry: Entry | None = None
    line: int = -1
    body: int = -1
    faults: tuple[str, ...] = ()
    rating_text: str = ""
    typed: tuple[Addition, ...] = ()


class _Ledger:
    """The ledger lines of one entry; each lesson with the hash of its text."""

    def __init__(self) -> None:
        self.identity: dict[str, Any] = {}
        self.was: dict[str, Any] = {}
        self.additions: list[tuple[Addition, str]] = []
        self.faults: list[str] = []


def decode(raw: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of some bytes of a log, and what was not text in them."""
    faults = []
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        text = raw.decode(errors="replace")
        faults.append(f"a byte that is not UTF-8 ({raw[error.start]:#04x}); read as U+FFFD")
    if "\x00" in text:
        text = _LEADING_NULS.sub("", text).replace("\x00", "\ufffd")
        faults.append("NUL bytes; skipped before a line's text, else read as U+FFFD")
    return _MARK.sub(r"\1", text), tuple(faults)


def tail_fault(tail: bytes) -> str:
    """Why the text after the last delimiter is no mere preamble of the next entry.

    Empty if it is one. Anything else is closed off before the next append, so that it
    can never swallow what follows.
    """
    text = decode(tail)[0]
    lines = text.strip().split("\n")
    if _TORN_START.match(lines[0].rstrip()) or looks_like_tag(lines[0]):
        return _TORN
    if _in_conflict(text):
        return f"no entry: {_IN_CONFLICT}"
    if _SECTION.search(text) or any(looks_like_tag(line) or is_ledger(line) for line in lines):
        return f"no entry: it does not end with the line {DELIMITER}"
    return ""


def _in_conflict(text: str) -> bool:
    """Whether a line of some text is the marker of a merge that somebody left unfinished."""
    return ("<<<<<<< " in text or ">>>>>>> " in text) and _CONFLICT.search(text) is not None


def read_block(raw: bytes, *, archived: bool = False) -> Reading:
    """Read one block, from the end of the delimiter line before it to the end of its own."""
    text, faults = decode(raw)
    text = text[: text.rfind(DELIMITER)]
    if not text.strip():
        return Reading()
    first = text[: len(text) - len(text.lstrip())].count("\n")
    if text.rstrip().endswith(TORN_LINE):
        return Reading(line=first, faults=(_TORN,))
    if _in_conflict(text):
        return Reading(line=first, faults=(*faults, f"no entry: {_IN_CONFLICT}"))
    sections = list(_SECTION.finditer(text))
    opening = next((found for found in sections if found[1] != "REFLECTION"), None)
    head = text[: opening.start()].split("\n")[:-1] if opening else text.split("\n")
    if "\ufeff" in text:  # a title that was put above the mark of a file
        head = [line.removeprefix("\ufeff") for line in head]
    at = next((number for number, line in enumerate(head) if looks_like_tag(line)), None)
    if opening is None or at is None:
        missing = "DECISION: or NOTE: section" if opening is None else "tag above its first section"
        return Reading(line=first, faults=(*faults, f"no entry: it has no {missing}"))
    try:
        tag = read_tag(head[at])
        ledger = _read_ledger(head[at + 1 :])
        entry, typed = _assemble(tag, ledger, _bodies(text, sections, opening, ledger), archived)
    except (ArithmeticError, TypeError, ValueError) as error:
        return Reading(line=at, faults=(*faults, f"no entry: {error}"))
    return Reading(
        entry=entry,
        line=at,
        body=len(head),
        faults=(*faults, *ledger.faults),
        rating_text=tag.rating_text,
        typed=typed,
    )


def _read_ledger(lines: Sequence[str]) -> _Ledger:
    ledger = _Ledger()
    for line in lines:
        if not line.strip():
            continue
        if not is_ledger(line):
            raise UsageError("there is text between its tag and its first section")
        if not line.rstrip().endswith("-->"):
            raise UsageError("a ledger line was not written to its end")
        head = _ID_IN_LINE.match(line)
        try:
            data = read_line(line)
            if head and not ledger.identity:  # the id stands, whatever befell the rest
                data["id"] = head[1]
                data.pop("add", None)
            if "add" in data:
                ledger.additions.append(read_addition(data))
            elif "id" in data and not ledger.identity:
                ledger.identity, ledger.was = read_identity(data)
        except (ArithmeticError, TypeError, ValueError) as error:
            ledger.faults.append(str(error))
            if head and not ledger.identity:
                ledger.identity = {"id": head[1]}
    return ledger


def _bodies(
    text: str,
    sections: Sequence[re.Match[str]],
    opening: re.Match[str],
    ledger: _Ledger,
) -> list[tuple[str, str]]:
    """The sections as (name, text).

    A text of ours never holds a bare marker or tag, so an entry with an identity that does
    is two entries run together. Elsewhere a second marker of a kind is part of the text, and
    so is a note that does not stand below a lesson which the ledger knows whole.
    """
    ours = bool(ledger.identity)
    wanted = {digest for _, digest in ledger.additions if digest} if not ours else set()
    known = wanted if len(sections) <= _MOST_SECTIONS else set()
    cuts, looked = [opening], opening.end()
    for found in sections:
        if found.start() <= opening.start():
            continue
        name = found[1]
        if name == "DECISION":
            if ours or _TAG_AT_LINE.search(text, looked, found.start()):
                raise UsageError(_RUN_TOGETHER)
            looked = found.start()
            continue
        between = slice(cuts[-1].end(), found.start())
        if name == "NOTE" and not ours and not (known and _is_known(text[between], known)):
            continue
        if name == cuts[-1][1] and not (ours or ledger.additions):
            continue
        cuts.append(found)
        looked = found.end()
    cuts = _whole(text, cuts, wanted)
    ends = [*(cut.start() for cut in cuts[1:]), len(text)]
    bodies = [(cut[1], text[cut.end() : end]) for cut, end in zip(cuts, ends, strict=True)]
    if ours and _TAG_IN_TEXT.search(bodies[0][1]):
        raise UsageError(_RUN_TOGETHER)
    return [(name, clean(body)) for name, body in bodies]


def _is_known(body: str, wanted: set[str]) -> bool:
    """Whether the ledger has the hash of a text, escaped as ours are or not."""
    text = clean(body)
    return not wanted.isdisjoint((text_hash(text), text_hash(unescape(text))))


def _whole(text: str, cuts: list[re.Match[str]], wanted: set[str]) -> list[re.Match[str]]:
    """The cuts without those within a lesson of another program, which the ledger knows whole."""
    kept, number = [], 0
    while number < len(cuts):
        kept.append(cuts[number])
        following = number + 1
        if wanted and cuts[number][1] == "REFLECTION" and len(cuts) <= _MOST_SECTIONS:
            for later in range(len(cuts), following, -1):
                end = cuts[later].start() if later < len(cuts) else len(text)
                if text_hash(clean(text[cuts[number].end() : end])) in wanted:
                    following = later
                    break
        number = following
    return kept


def _assemble(
    tag: Tag, ledger: _Ledger, bodies: Sequence[tuple[str, str]], archived: bool
) -> tuple[Entry, tuple[Addition, ...]]:
    """The entry, and those of its additions that only the tag or the text tells."""
    is_note = tag.status is Status.NOTE
    name, text = bodies[0]
    if is_note != (name == "NOTE"):
        raise UsageError(f"its tag does not fit the section {name}:")
    arguments = ledger.identity
    if arguments:
        text = unescape(text)
    else:
        make = note_id(tag.date, tag.ticker, text) if is_note else entry_id(tag.date, tag.ticker)
        arguments = {"id": make}
    recorded = Decision(
        date=tag.date,
        ticker=tag.ticker,
        text=text,
        rating=tag.rating,
        is_note=is_note,
        **arguments,
    )
    stamped, lessons, edited = _pair(ledger.additions, bodies[1:])
    now = {"date": tag.date, "ticker": tag.ticker, "rating": tag.rating, "sha256": text_hash(text)}
    edited += [
        "decision" if name == "sha256" else name
        for name, before in ledger.was.items()
        if before != now[name]
    ]
    entry = fold_now(recorded, stamped, archived=archived)
    told = _told_by_tag(tag, entry)
    typed = ([told] if told else []) + lessons
    if typed:
        entry = fold_now(recorded, stamped + typed, archived=archived)
    if tag.known_on and entry.outcome and entry.outcome.known_on != tag.known_on:
        edited.append("resolved")
    if edited:
        entry = replace(entry, edited=tuple(dict.fromkeys((*edited, *entry.edited))))
    return entry, tuple(typed)


def fold_now(recorded: Decision, additions: Sequence[Addition], *, archived: bool = False) -> Entry:
    """The fold over everything that is stored, which is never nothing."""
    entry = fold(recorded, additions, archived=archived)
    assert entry is not None
    return entry


def _pair(
    stamped: Sequence[tuple[Addition, str]], bodies: Sequence[tuple[str, str]]
) -> tuple[list[Addition], list[Addition], list[str]]:
    """Give each lesson of the ledger its text, by hash, then by order.

    Returns:
        The ledger's additions (a lesson whose text a person deleted is gone), the lessons
        and remarks that are in no ledger, and ``["reflection"]`` if a text was changed.
    """
    written = [text for name, text in bodies if name == "REFLECTION" and text]
    wanted = {digest for addition, digest in stamped if addition.kind == Act.REFLECTION}
    # What others wrote was never escaped, and its hash is that of the text as it stands.
    exact = {text_hash(text): text for text in written if text_hash(text) in wanted}
    lessons = [text for text in written if text not in exact.values()]
    exact = {text_hash(unescape(text)): unescape(text) for text in lessons} | exact
    left = [text for text in lessons if text_hash(unescape(text)) not in wanted]
    # The same lesson may have come again after a person had edited the first one.
    held = Counter(_hash_in(wanted, text) for text in written if left)
    lines = Counter(digest for _, digest in stamped)
    additions: list[Addition] = []
    changed = False
    for addition, digest in stamped:
        if addition.kind != Act.REFLECTION:
            additions.append(addition)
            continue
        is_edited = digest not in exact or (bool(left) and held[digest] < lines[digest])
        lines[digest] -= 1
        text = exact.get(digest, "")
        if is_edited:
            text = unescape(left.pop(0)) if left else ""
        changed = changed or is_edited
        data = {**addition.data, EDITED: True} if is_edited else addition.data
        if text:
            additions.append(replace(addition, text=text, data=data))
    typed = [Addition(kind=Act.REFLECTION, text=text) for text in left]
    typed += [Addition(kind=Act.REMARK, text=text) for name, text in bodies if name == "NOTE"]
    return additions, typed, ["reflection"] if changed else []


def _hash_in(wanted: set[str], text: str) -> str:
    """The hash of a lesson as it stands if that is wanted, else of what was escaped there."""
    digest = text_hash(text)
    return digest if digest in wanted else text_hash(unescape(text))


def _told_by_tag(tag: Tag, before: Entry) -> Addition | None:
    """What the tag says and the ledger does not; None where they agree."""
    if tag.status is Status.PENDING and before.status is not Status.PENDING:
        return Addition(kind=Act.REOPEN)
    if tag.status is Status.UNRESOLVABLE and before.status is not Status.UNRESOLVABLE:
        return Addition(kind=Act.UNRESOLVABLE, data={"reason": tag.reason})
    if tag.status is not Status.SETTLED:
        return None
    known = before.outcome
    if known is None:
        return Addition(kind=Act.OUTCOME, outcome=_outcome_of(tag))
    same_raw = fraction(percent(known.raw_return)) == fraction(tag.raw)
    same_alpha = fraction(percent(known.alpha)) == fraction(tag.alpha)
    if same_raw and same_alpha and known.sessions == tag.sessions:
        return None
    edited = replace(
        known,
        raw_return=known.raw_return if same_raw else fraction(tag.raw) or 0.0,
        alpha=known.alpha if same_alpha else fraction(tag.alpha),
        sessions=tag.sessions,
        flags=(*(flag for flag in known.flags if flag != "edited"), "edited"),
    )
    return Addition(kind=Act.OUTCOME, outcome=edited)


def _outcome_of(tag: Tag) -> Outcome:
    """An outcome of which only the tag line is left."""
    return Outcome(
        horizon=tag.sessions,
        sessions=tag.sessions,
        raw_return=fraction(tag.raw) or 0.0,
        alpha=fraction(tag.alpha),
        known_at=last_instant(tag.known_on or _estimate(tag)),
        source="tag",
        flags=() if tag.known_on else ("estimated",),
    )


def _estimate(tag: Tag) -> date:
    """When an outcome was known that does not say so."""
    # Calendar days that hold this many sessions, and a week to spare.
    return tag.date + timedelta(days=ceil(tag.sessions * 7 / 5) + 7)

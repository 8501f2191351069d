"""What is known of one entry, as lines of facts."""

from collections.abc import Iterator
from datetime import date, datetime

from tradmem.cli.layout import Cell, Column, one_line, table
from tradmem.cli.words import counted, minute
from tradmem.history import BY_HAND, Event, own_events, told_of, who_did
from tradmem.journal.tagline import percent
from tradmem.lessons.template import digits_apart
from tradmem.model import Act, Entry, Outcome, Rating, Status, band_or_default, in_force
from tradmem.stated import conflict

_INDENT = "  "
_LEGS = (
    Column(""),
    Column("FROM"),
    Column("TO"),
    Column("ENTRY", right=True),
    Column("EXIT", right=True),
    Column("RETURN", right=True),
    Column("", drop=1),
)
_FLAGS = {
    "accepted": "a person took the jump in its closes as real",
    "asked_again": "asked again by a person, and known since then",
    "asynchronous": "the benchmark trades on other days or closes at another time",
    "calendar_weekdays": "its exchange's days are not known; weekdays stood in",
    "corrected": "the source's closes have changed since",
    "currency": "the benchmark is in another currency",
    "default_band": "too little history; the band is the asset class's default",
    "edited": "its figures were changed by hand in the file",
    "estimated": "the day on which it was known is an estimate",
    "ex_dividend": "a dividend fell into the holding window",
    "no_benchmark": "the benchmark's closes never came; the return is judged",
    "split": "a split fell into the holding window",
    "stopped": "the closes ended before the horizon did",
}


def facts(entry: Entry, due: datetime | None = None) -> Iterator[str]:
    """How a decision came about, and what was done with it since.

    Args:
        entry: the decision or note.
        due: when its outcome is due, if it waits for one.
    """
    recorded = entry.recorded
    made_at = recorded.recorded_at if recorded.is_note else recorded.decided_at
    by_date = ", by its date alone" if "date_only" in recorded.flags else ""
    is_late = "late" in recorded.flags
    known = {
        "Noted" if recorded.is_note else "Decided": minute(made_at) + by_date if made_at else "",
        "Late": "recorded after the close at which it enters" if is_late else "",
        "Agent": recorded.agent,
        "Model": _model(entry),
        "Conflict": conflict(entry),
        "Revision": str(recorded.revision or ""),
        "Horizon": counted(recorded.horizon, "session") if recorded.horizon else "",
        "Due": minute(due) if due else "",
        "Cites": ", ".join(recorded.cited),
        "Builds on": ", ".join(entry.links),
        "Tags": ", ".join(entry.tags),
        "Edited": ", ".join(entry.edited) + ", by hand in the file" if entry.edited else "",
        "Forgotten": _why(entry, Act.FORGET) if entry.forgotten else "",
        "Superseded": _why(entry, Act.SUPERSEDE) if entry.superseded_by else "",
        "Valid until": _end(entry),
        "Given up": entry.reason if entry.status is Status.UNRESOLVABLE else "",
        "Archived": "it stands in the archive" if entry.archived else "",
    }
    for name, text in known.items():
        if text:
            yield _fact(name, text)


def _model(entry: Entry) -> str:
    """Which model decided, and up to when it may have known."""
    extra = entry.recorded.extra
    cutoff = f", trained up to {extra['cutoff']}" if extra.get("cutoff") else ""
    return f"{extra['model']}{cutoff}" if extra.get("model") else ""


def _why(entry: Entry, kind: Act) -> str:
    """The latest act of a kind that is in force: what it says, why, and whose it is."""
    acts = [act for act in in_force(entry.additions) if act.kind == kind]
    if not acts:
        return ""
    who = who_did(acts[-1])
    told = told_of(acts[-1]) or "no reason given"
    return f"{told} ({who})" if who else told


def _end(entry: Entry) -> str:
    if entry.valid_until is None:
        return ""
    passed = ", which has passed" if entry.expired else ""
    return minute(entry.valid_until) + passed


def outcome_lines(entry: Entry, outcome: Outcome, room: int) -> Iterator[str]:
    """Both legs with their dates and closes, and the verdict against the band."""
    o = outcome
    for line in table(_LEGS, list(_legs(entry.ticker, outcome)), room - len(_INDENT)):
        yield _INDENT + line
    if (o.entry_close, o.exit_close) != (o.entry_price, o.exit_price):
        yield _fact("Unadjusted", f"{_close(o.entry_close)} to {_close(o.exit_close)}")
    yield _fact("Held", counted(o.sessions, "session"))
    if o.alpha is None:
        yield _fact("Alpha", "n/a, there is no benchmark")
    yield _fact("Verdict", _judged(entry, outcome))
    if o.alpha_beta is not None and o.beta is not None:
        yield _fact("With beta", f"{percent(o.alpha_beta)}, at a beta of {o.beta:.2f}")
    yield _fact("Known", minute(o.known_at))
    yield _fact("Source", o.source or "not told")
    for flag in o.flags:
        yield _fact("Flag", f"{flag}: {_FLAGS[flag]}" if flag in _FLAGS else flag)


def _legs(ticker: str, o: Outcome) -> Iterator[list[Cell]]:
    own = (o.entry_date, o.exit_date, o.entry_price, o.exit_price)
    yield _leg(ticker, own, o.raw_return, "")
    if o.benchmark and o.benchmark_return is not None:
        its_dates = (o.benchmark_entry_date, o.benchmark_exit_date)
        its = (*its_dates, o.benchmark_entry_price, o.benchmark_exit_price)
        yield _leg(o.benchmark, its, o.benchmark_return, f"{o.basis} return" if o.basis else "")


def _leg(
    name: str,
    span: tuple[date | None, date | None, float | None, float | None],
    gain: float,
    basis: str,
) -> list[Cell]:
    start, end, entry, leave = span
    dates = [str(start or ""), str(end or "")]
    return [
        Cell(text) for text in (name, *dates, _close(entry), _close(leave), percent(gain), basis)
    ]


def _close(price: float | None) -> str:
    """A price with as many digits as say something."""
    if price is None:
        return ""
    return f"{price:,.2f}" if price >= 1 else f"{price:.4g}"


def _judged(entry: Entry, outcome: Outcome) -> str:
    """The verdict in words: which figure, against which band."""
    band = band_or_default(outcome.band, entry.ticker, outcome.sessions)
    name = "return" if outcome.alpha is None else "alpha"
    digits = digits_apart(outcome.judged, band)
    figure = f"{name} {outcome.judged:+.{digits}%} against a band of ±{band:.{digits}%}"
    verdict = outcome.verdict(entry.rating, entry.ticker)
    if verdict is None:
        return f"{figure}; no verdict without a rating"
    where = "inside" if abs(outcome.judged) <= band else "outside"
    told = f"{figure}: {verdict}"
    return f"{told} ({where} it)" if entry.rating is Rating.HOLD else told


def history(entry: Entry) -> Iterator[str]:
    """What was added to an entry, in the order of the log; texts stand elsewhere."""
    for event in own_events(entry):
        when = minute(event.at) if event.at else BY_HAND
        is_told = event.text and event.kind not in (Act.REFLECTION, Act.REMARK)
        told = f"{word_of(event)}: {event.text}" if is_told else word_of(event)
        yield f"{_INDENT}{when:<20}  {one_line(told)}"


_WORDS: dict[str, str] = {
    Act.REFLECTION: "lesson written",
    Act.UNRESOLVABLE: "given up",
    Act.REOPEN: "asked for a new outcome",
    Act.FORGET: "forgotten",
    Act.EXPIRE: "given an end",
    Act.SUPERSEDE: "superseded",
    Act.UNDO: "undone",
}


def word_of(event: Event) -> str:
    """What happened, in a word or two."""
    word = _WORDS.get(event.kind, event.kind)
    return f"{word} (undone since)" if event.undone else word


def _fact(name: str, text: str) -> str:
    return f"{_INDENT}{name:<11}  {one_line(text)}"

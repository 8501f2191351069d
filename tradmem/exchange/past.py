"""Past decisions from somebody else's table: which column means what, and when it was decided."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from tradmem.clock import parse_date, parse_instant
from tradmem.errors import UsageError
from tradmem.exchange.whole import Whole, check
from tradmem.journal.tagline import UNRATED
from tradmem.journal.text import clean
from tradmem.lessons.attrition import IMPORTED
from tradmem.model import Decision, Rating, entry_id
from tradmem.settings import check_horizon
from tradmem.tickers import check_ticker

# By what it means, the names under which a column is known; in any case, `_` for blanks.
NAMES: Mapping[str, tuple[str, ...]] = {
    "date": ("date", "decision_date", "trade_date", "day"),
    "ticker": ("ticker", "symbol", "instrument"),
    "rating": ("rating", "action", "recommendation", "signal", "side"),
    "text": ("text", "decision", "thesis", "rationale", "reason", "comment", "note", "notes"),
    "agent": ("agent", "analyst", "model", "author"),
    "horizon": ("horizon", "sessions", "holding_sessions"),
    "decided_at": ("decided_at", "timestamp", "time", "datetime"),
}
_NOTED = ("note", "notes")
_JUDGED = ("outcome", "outcomes", "verdict", "raw_return", "raw", "alpha")
_RATINGS = {str(rating).lower(): rating for rating in Rating}


def columns_of(header: list[str], given: Mapping[str, str]) -> dict[str, str]:
    """By what it means, the column of a table.

    Args:
        header: the names of its columns.
        given: columns by meaning, as a person says.

    Raises:
        UsageError: there is no such column, one twice, or none for the date, the ticker, or both of
            rating and text.
    """
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise UsageError(f"it has two columns {twice[0]!r}; rename one of them")
    plain = {name.strip().lower().replace(" ", "_"): name for name in header}
    found: dict[str, str] = {}
    for meaning, names in NAMES.items():
        if meaning in given:
            if given[meaning] not in header:
                raise UsageError(
                    f"there is no column {given[meaning]!r}; it has {', '.join(header)}"
                )
            found[meaning] = given[meaning]
        elif name := next((plain[name] for name in names if name in plain), None):
            found[meaning] = name
    if "ticker" not in found or not {"date", "decided_at"} & found.keys():
        raise UsageError(
            "it has no column for the date or for the ticker; name them date and ticker, or say "
            f"which they are, as in --column date=NAME (it has {', '.join(header)[:200] or 'none'})"
        )
    if not {"rating", "text"} & found.keys():
        raise UsageError(
            "it has no column for the rating or for the text; name one rating or text, or say "
            f"which it is, as in --column text=NAME (it has {', '.join(header)[:200]})"
        )
    return found


def past_decision(
    row: Mapping[str, Any],
    columns: Mapping[str, str],
    now: datetime,
    *,
    agent: str = "",
    horizon: int = 5,
    aliases: Mapping[str, str] | None = None,
    where: str = "",
) -> Whole:
    """A past decision as an entry, flagged ``imported``.

    Where only its date is known it counts as made one second before the close on it.

    Args:
        row: values by column.
        columns: see :func:`columns_of`.
        now: what the clock says, aware UTC.
        agent: who decided, where no column tells.
        horizon: sessions to hold, where no column tells.
        aliases: names under which a price source knows a ticker.
        where: the file and line.

    Raises:
        UsageError: a value cannot be.
    """
    from tradmem.market.calendars import calendar_of, decision_instant  # noqa: PLC0415 - heavy

    values = {meaning: _text(row.get(name)) for meaning, name in columns.items()}
    _check_is_decision(row, columns, values)
    ticker = check_ticker(values["ticker"])
    decided_at = _instant(values.get("decided_at", ""))
    day = _day(values.get("date", ""), decided_at)
    instant, date_only = decision_instant(ticker, day, now, aliases or {})
    if decided_at:
        if decided_at > now:
            raise UsageError(f"it was decided at {decided_at}, which is later than the clock")
        instant, date_only = decided_at, False
    calendar = calendar_of(ticker, aliases or {})
    is_late = now >= calendar.close(calendar.first_closing_after(instant))
    rating, text = _said(values.get("rating", ""), values.get("text", ""))
    maker = values.get("agent") or agent
    recorded = Decision(
        id=entry_id(day, ticker, maker),
        date=day,
        ticker=ticker,
        text=text,
        rating=rating,
        agent=maker,
        decided_at=instant,
        recorded_at=now,
        horizon=_horizon(values.get("horizon", ""), horizon),
        flags=("date_only",) * date_only + ("late",) * is_late + (IMPORTED,),
    )
    check(recorded)
    return Whole(recorded, (), where)


def _check_is_decision(
    row: Mapping[str, Any], columns: Mapping[str, str], values: Mapping[str, str]
) -> None:
    """See to it that a row is no note: nothing is ever resolved for one.

    Raises:
        UsageError: it says that it is one, or is only one by its text and has an outcome.
    """
    is_note = _text(row.get("status")).lower() == "note"
    only_noted = columns.get("text") in _NOTED and not values.get("rating")
    if is_note or (only_noted and any(_text(row.get(name)) for name in _JUDGED)):
        raise UsageError(
            "it is a note, and this table tells of decisions; give it a rating, or store it with "
            "`tradmem note`"
        )


def _text(value: Any) -> str:
    return "" if value is None else clean(str(value)).strip()


def _instant(text: str) -> datetime | None:
    """An instant with its zone; None for nothing, and for a mere date or a time without zone."""
    if not text or len(text) <= len("2026-01-05"):
        return None
    return parse_instant(text.replace(" ", "T", 1))


def _day(text: str, decided_at: datetime | None) -> date:
    """The date of a decision; an instant of midnight, as spreadsheets write it, is one."""
    if not text:
        if decided_at is None:
            raise UsageError("it has no date")
        return decided_at.date()
    for midnight in ("T00:00:00", " 00:00:00", "T00:00", " 00:00"):
        text = text.removesuffix(midnight)
    return parse_date(text)


def _said(rating: str, text: str) -> tuple[Rating | None, str]:
    """The rating and the text, each from the other where it is missing."""
    if not rating and not text:
        raise UsageError("it has neither a rating nor a text")
    if not rating:
        from tradmem.rating import parse_rating  # noqa: PLC0415 - its vocabulary is large

        return parse_rating(text), text
    if rating.lower() in (UNRATED.lower(), "none"):
        return None, text or f"**Rating**: {UNRATED}"
    found = _RATINGS.get(rating.lower())
    if found is None:
        raise UsageError(f"{rating[:40]!r} is no rating; use one of {', '.join(Rating)}")
    return found, text or f"**Rating**: {found}"


def _horizon(text: str, default: int) -> int:
    if not text:
        return default
    try:
        number = float(text)
        return check_horizon(int(number) if number == int(number) else number)  # type: ignore[arg-type]
    except UsageError:
        raise
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text[:40]!r} is no number of sessions") from error

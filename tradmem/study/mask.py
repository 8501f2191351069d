"""The words of a blind replay: what stands for a ticker, a company, a date or a year."""

import random
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta

from tradmem.errors import UsageError
from tradmem.lessons.names import COMPANIES, INDICES, WORDS
from tradmem.tickers import check_ticker

_WEEKS = (5_300, 10_500)  # from one to two centuries
_YEAR = 365.2425
_FAR = 10  # years at least, by which one of two digits moves within its century
_BETWEEN = 2050  # real years lie before, shown ones from here on
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS) + "|Sept"
_EAST = "\u3040-\u9fff\uac00-\ud7a3"  # letters that no blank parts from a year
_DATES = (
    r"(?<!\d)(?P<iso>\d{4}-\d{2}-\d{2})(?!\d)"
    rf"|(?<!\d)(?P<day1>\d{{1,2}})(?:st|nd|rd|th)?\s(?P<month1>{_MONTH})\.?,?\s(?P<year1>\d{{4}})(?!\d)"
    rf"|\b(?P<month2>{_MONTH})\.?\s(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<year2>\d{{4}})(?!\d)"
    rf"|\b(?P<month3>{_MONTH})\.?,?\s(?P<year3>\d{{4}})(?!\d)"
    r"|(?:(?<=[FC]Y|YE)|(?<=\b[1-4]Q)|(?<=\b[12]H)|(?<=\b[QH][1-4])|(?<=[A-Za-z][-.,])"
    r"|(?<=\bS\d\d[-.,])|(?<=\bS\d\d\d[-.,])"  # behind a name that is shown for another
    r"|(?<=(?:19|20|21|22)\d\d[-/])|(?<=Q[1-4]-)|(?<=\d-\d-)|(?<=\d-\d\d-)"
    rf"|(?<=(?<!\d)\d\d\.\d\d\.)|(?<=[{_EAST}])|(?<![\w.,$-]))"
    r"(?P<year>(?:19|20|21|22)\d{2})(?P<rest>(?:[-/]\d{2}(?!\d))?)"
    # Behind it may stand: 2008Q3, 2008s, 2008E for an estimate, 2008.10.10.
    rf"(?!\d|(?!(?:(?:Q[1-4])?[AEFPe]?|s)\b|[{_EAST}])[^\W\d]"
    r"|%|-(?!(?:19|20|21|22)\d\d(?!\d))\d|,\d|\.(?!\d\d\.\d\d(?![.\d]))\d)"
    # Years of two digits: FY08, FY 2007/08, 3Q08E, Q3'08, 1H08, in '08, 10/10/08, Oct-08, Oct08.
    r"|(?P<lead>(?<![A-Za-z0-9])(?:[FC]Y\s?|YE\s?|[1-4]Q|[12]H|[QH][1-4])['\u2019/-]?"
    r"|(?<![\w'\u2019])['\u2019]|(?<![\d/])\d{1,2}/\d{1,2}/|(?<![\d.])\d\d\.\d\d\."
    rf"|(?<![\w-])\d{{1,2}}-\d{{1,2}}-|\b(?:{_MONTH})[-'\u2019]?)"
    r"(?P<short>\d{2}(?:/\d{2}(?!\d))?)(?!(?!(?:s|[AEFPe])\b)\w|['\u2019](?!s\b)|%|-\d|[/.,]\d)"
)


class Mask:
    """Other names and dates, the same for the same seed.

    Args:
        tickers: whom to hide, benchmarks among them, in upper case.
        names: by ticker, what else a text may call it, beside the well-known companies' names.
        seed: of the names and the dates.

    Attributes:
        shift: by how much dates are later, whole weeks.
    """

    def __init__(
        self,
        tickers: Iterable[str],
        *,
        names: Mapping[str, Iterable[str]] | None = None,
        seed: int = 0,
    ) -> None:
        chance = random.Random(f"veil {seed}")  # noqa: S311 - no secret
        self._by = 0  # years
        while not _FAR <= self._by % 100 <= 100 - _FAR:  # else years of two digits hardly move
            self.shift = timedelta(weeks=chance.randrange(*_WEEKS))
            self._by = round(self.shift.days / _YEAR)
        found = sorted(set(tickers))
        numbers = list(range(1, len(found) + 1))
        chance.shuffle(numbers)
        width = max(2, len(str(len(found))))
        self._masked = {
            name: f"S{number:0{width}}" for name, number in zip(found, numbers, strict=True)
        }
        self._real = {masked: name for name, masked in self._masked.items()}
        self.scales = {name: chance.uniform(20, 200) for name in found}
        called = {check_ticker(ticker): _listed(said) for ticker, said in (names or {}).items()}
        words = {
            str(word).lower(): self._masked[ticker]
            for ticker in found
            for word in (
                *COMPANIES.get(ticker, ()),
                *INDICES.get(ticker, ()),
                *called.get(ticker, ()),
            )
        }
        self._words = words | {name.lower(): masked for name, masked in self._masked.items()}
        self._pattern = _pattern(found, [word for word in words if len(word) > 1])
        self._back = _pattern(list(self._real), [])

    def masked(self, ticker: str) -> str:
        """What stands for a ticker; itself where it is not hidden."""
        return self._masked.get(ticker, ticker)

    def real(self, ticker: str) -> str:
        """The ticker that a name stands for.

        Raises:
            UsageError: it stands for none.
        """
        name = ticker.strip().upper()
        if name not in self._real:
            raise UsageError(f"{ticker} is not in this replay; it has {', '.join(self._real)}")
        return self._real[name]

    def hide(self, text: str) -> str:
        """A text with other names and dates."""
        return self._pattern.sub(lambda found: self._word(found) or self._date(found, 1), text)

    def show(self, text: str) -> str:
        """A text with the names and dates that were hidden."""
        return self._back.sub(
            lambda found: self._real.get(found[0].upper(), "") or self._date(found, -1), text
        )

    def later(self, instant: datetime) -> datetime:
        """An instant as it is shown."""
        return instant + self.shift

    def _word(self, found: "re.Match[str]") -> str:
        return self._words.get(" ".join(found[0].lower().split()), "")

    def _date(self, found: "re.Match[str]", way: int) -> str:
        """A date, month or year of a text, moved; what cannot be moved stays as it is."""
        parts = found.groupdict()
        try:
            if parts["iso"]:
                return self._day(date.fromisoformat(parts["iso"]), way).isoformat()
            if parts["year"]:
                return self._years(int(parts["year"]), str(parts["rest"]), way)
            if parts["short"]:
                return f"{parts['lead']}{self._short(parts['short'], way)}"
            return self._moved(parts, way)
        except (ValueError, OverflowError):
            return found[0]

    def _moved(self, parts: Mapping[str, str | None], way: int) -> str:
        for kind in ("1", "2", "3"):
            if parts[f"month{kind}"]:
                month = _number(str(parts[f"month{kind}"]))
                day = int(parts.get(f"day{kind}") or 15)
                then = self._day(date(int(str(parts[f"year{kind}"])), month, day), way)
                before = f"{then.day} " if kind != "3" else ""
                return f"{before}{_MONTHS[then.month - 1]} {then.year}"
        raise ValueError("no date")

    def _day(self, day: date, way: int) -> date:
        _check(day.year, way)
        return day + way * self.shift

    def _years(self, year: int, rest: str, way: int) -> str:
        """A year and what stands behind it: the year after it moves too, a month stays."""
        _check(year, way)
        if rest.startswith("/") and int(rest[1:]) == (year + 1) % 100:
            rest = self._short(rest, way)
        return f"{year + way * self._by}{rest}"

    def _short(self, text: str, way: int) -> str:
        """Years of two digits, moved within their century."""
        return re.sub(r"\d\d", lambda found: f"{(int(found[0]) + way * self._by) % 100:02}", text)


def _listed(said: Iterable[str]) -> Iterable[str]:
    """Names; a single one too."""
    return (said,) if isinstance(said, str) else said


def _check(year: int, way: int) -> None:
    """Let only real years be hidden, and only shown ones be put back.

    Raises:
        ValueError: the year is not of the side that is moved.
    """
    if (year < _BETWEEN) != (way > 0):
        raise ValueError("a year of the other side")


def _number(month: str) -> int:
    return next(n for n, name in enumerate(_MONTHS, 1) if name.lower().startswith(month.lower()))


def _pattern(tickers: Iterable[str], words: Iterable[str]) -> "re.Pattern[str]":
    """Dates, then names, the longest first; what is a word too, only in capitals or behind a $."""
    found = sorted(tickers, key=len, reverse=True)
    named = [re.escape(name) for name in found]
    loose = [re.escape(name) for name in found if len(name) > 1 and name.lower() not in WORDS]
    called = [re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len)[::-1]]
    parts = [_DATES]
    if called:
        parts.append(rf"(?<!\w)(?i:{'|'.join(called)})(?!\w)")
    if named:
        any_case = f"(?i:{'|'.join(loose)})|" if loose else ""
        behind = rf"(?<=\$)(?i:{'|'.join(named)})"
        parts.append(
            rf"(?:(?<![A-Za-z0-9])(?:{any_case}{'|'.join(named)})|{behind})(?![A-Za-z0-9])"
        )
    return re.compile("|".join(parts))

"""What the plots and the report's charts show, as plain values; figures are fractions.

Means and their intervals are those of :mod:`tradmem.lessons.rates`, from blocks of time.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import pairwise
from math import fsum, isnan
from typing import NamedTuple

from tradmem.journal.verdicts import block_of, dates_of
from tradmem.lessons.rates import Mean, mean_of
from tradmem.lessons.student import student_t
from tradmem.market.calendars import calendar_of
from tradmem.market.prices import Bars
from tradmem.market.symbols import Aliases
from tradmem.model import NOTHING, Entry, Rating, Status, Verdict

AGES = (1, 3, 7, 14, 30)  # days up to which a pending decision falls into each class of age
DAYS_A_SESSION = 2  # calendar days that no run of sessions exceeds, on average


class Scored(NamedTuple):
    """One outcome at one horizon, of a decision with a rating.

    Attributes:
        rating: of the decision.
        entry: the date of entry.
        leave: the date of exit.
        alpha: against the other names, or against the index.
        by_peers: whether against the other names.
        momentum: the exposure that 12-1 momentum would have had; None where nothing is known.
    """

    rating: Rating
    entry: date
    leave: date
    alpha: float
    by_peers: bool = False
    momentum: float | None = None


class RatingAlpha(NamedTuple):
    """The alphas after decisions with one rating.

    Attributes:
        rating: which.
        mean: with its interval; its value is None below ten blocks of time.
        n_eff: how many independent outcomes they are worth; None where there is no mean.
        values: all of them.
    """

    rating: Rating
    mean: Mean
    n_eff: float | None
    values: tuple[float, ...]


class Path(NamedTuple):
    """The mean alpha since entry after decisions with one rating.

    Attributes:
        rating: which.
        means: after 0, 1, 2 … sessions.
    """

    rating: Rating
    means: tuple[Mean, ...]


class Total(NamedTuple):
    """Scores added up to one date of entry.

    Attributes:
        date: of entry.
        decisions: of what was decided.
        always_buy: had every rating been a Buy.
        chance: of the decisions' mean exposure on every date.
        momentum: of 12-1 months, on the decisions on which it says anything; None without closes.
    """

    date: date
    decisions: float
    always_buy: float
    chance: float
    momentum: float | None


class Mark(NamedTuple):
    """One decision at the close at which it entered.

    Attributes:
        id: of the entry.
        date: of entry.
        price: adjusted, as the closes that it is drawn on.
        rating: None where it has none.
        verdict: None while it is open, or without a rating.
        alpha: None while it is open, or without a benchmark.
    """

    id: str
    date: date
    price: float
    rating: Rating | None
    verdict: Verdict | None
    alpha: float | None


class Age(NamedTuple):
    """Pending decisions of one class of age.

    Attributes:
        name: days since the decision, such as ``4-7``.
        not_due: whose window has not traded.
        due: whose window has.
    """

    name: str
    not_due: int
    due: int


def scored(
    entries: Iterable[Entry],
    horizon: int,
    bars: Mapping[str, Bars] = NOTHING,
    tickers: Iterable[str] = (),
) -> list[Scored]:
    """The outcomes at one horizon that have an alpha and a rating.

    Args:
        entries: as they stood.
        horizon: in sessions.
        bars: closes by symbol; with them, alpha is measured against the other names where
            enough of them have closes, and momentum is told.
        tickers: the names that are each other's benchmark; those of the entries by default.
    """
    if bars:
        return list(_measured(entries, horizon, bars, tickers))
    return [
        Scored(entry.rating, *dates_of(outcome, entry.date), outcome.alpha)
        for entry in entries
        if entry.rating and entry.outcome
        for outcome in entry.outcomes
        if outcome.horizon == horizon and outcome.alpha is not None
    ]


def _measured(
    entries: Iterable[Entry], horizon: int, bars: Mapping[str, Bars], tickers: Iterable[str]
) -> Iterator[Scored]:
    from tradmem.study.frame import decisions_frame  # noqa: PLC0415 - loads pandas

    frame = decisions_frame(entries, bars, tickers=tickers)
    frame = frame[(frame["horizon"] == horizon) & frame["score"].notna()]
    names = ("rating", "entry_date", "exit_date", "alpha", "peers_return", "momentum")
    for rating, entry, leave, alpha, peers, momentum in zip(
        *(frame[name] for name in names), strict=True
    ):
        told = None if momentum is None or isnan(momentum) else float(momentum)
        by_peers = peers is not None and not isnan(peers)
        yield Scored(Rating(rating), entry.date(), leave.date(), float(alpha), by_peers, told)


def alpha_by_rating(found: Sequence[Scored]) -> list[RatingAlpha]:
    """The alphas after each rating that was given, from Buy to Sell.

    Args:
        found: of one horizon.
    """
    longest = max(((item.leave - item.entry).days for item in found), default=0)
    pairs: dict[Rating, list[tuple[int, float]]] = defaultdict(list)
    for item in found:
        pairs[item.rating].append((block_of(item.entry.toordinal(), longest), item.alpha))
    return [_rating_alpha(rating, pairs[rating]) for rating in Rating if rating in pairs]


def _rating_alpha(rating: Rating, pairs: Sequence[tuple[int, float]]) -> RatingAlpha:
    mean = _mean(pairs)
    values = tuple(value for _, value in pairs)
    return RatingAlpha(rating, mean, _worth(mean, values), values)


def _mean(pairs: Iterable[tuple[int, float]]) -> Mean:
    """The mean of values, each with its block of time."""
    blocks: dict[int, list[float]] = defaultdict(list)
    for block, value in pairs:
        blocks[block].append(value)
    return mean_of(blocks.values())


def _worth(mean: Mean, values: Sequence[float]) -> float | None:
    """How many independent values have a mean as sure as this one."""
    if mean.value is None or mean.high is None:
        return None
    error = (mean.high - mean.value) / student_t(mean.blocks - 1)
    spread = fsum((value - mean.value) ** 2 for value in values) / len(values)
    return min(float(len(values)), spread / error**2) if error else float(mean.blocks)


def alpha_paths(
    entries: Iterable[Entry],
    bars: Mapping[str, Bars],
    *,
    sessions: int,
    aliases: Aliases = None,
) -> list[Path]:
    """The mean alpha after each number of sessions since entry, by rating.

    Sessions are those of the ticker's exchange; one without a close has no alpha. The
    benchmark's close is its last one on or before the ticker's. What has no closes in
    ``bars`` is left out, and so are decisions without an outcome or a benchmark.

    Args:
        entries: as they stood.
        bars: closes by symbol, that of the benchmarks too.
        sessions: how far.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.
    """
    found: dict[Rating, list[list[tuple[int, float]]]] = {}
    for entry in entries:
        walked = _walk(entry, bars, sessions, aliases)
        if walked is None or entry.rating is None:
            continue
        day, alphas = walked
        block = block_of(day.toordinal(), DAYS_A_SESSION * sessions)
        steps = found.setdefault(entry.rating, [[] for _ in range(sessions + 1)])
        for number, alpha in alphas.items():
            steps[number].append((block, alpha))
    return [
        Path(rating, tuple(_mean(step) for step in found[rating]))
        for rating in Rating
        if rating in found
    ]


def _walk(
    entry: Entry, bars: Mapping[str, Bars], sessions: int, aliases: Aliases
) -> tuple[date, dict[int, float]] | None:
    """The date of entry, and alpha by the number of sessions since, where there are closes."""
    outcome = entry.outcome
    own = bars.get(entry.ticker)
    market = bars.get(outcome.benchmark or "") if outcome else None
    if outcome is None or own is None or market is None:
        return None
    first = dates_of(outcome, entry.date)[0]
    place = bisect_right(own.dates, first) - 1
    numbers = calendar_of(entry.ticker, aliases).sessions(first, own.dates[-1])
    if place < 0 or own.dates[place] != first or first not in numbers:
        return None
    start, bought = _close(market, first), own.closes[place]
    if start is None:
        return None
    alphas: dict[int, float] = {}
    for at in range(place, len(own.dates)):
        day = own.dates[at]
        number = numbers.get(day)
        if number is None:
            continue  # a close on a day on which its exchange was shut
        number -= numbers[first]
        if number > sessions:
            break
        alphas[number] = own.closes[at] / bought - (_close(market, day) or start) / start
    return first, alphas


def _close(bars: Bars, day: date) -> float | None:
    """The last close on or before a date."""
    place = bisect_right(bars.dates, day)
    return bars.closes[place - 1] if place else None


def totals(found: Sequence[Scored]) -> list[Total]:
    """Scores added up, by date of entry.

    Args:
        found: of one horizon.
    """
    usual = fsum(item.rating.exposure for item in found) / len(found) if found else 0.0
    told = any(item.momentum is not None for item in found)
    sums = [0.0] * 3
    by_date: dict[date, Total] = {}
    for item in sorted(found, key=lambda item: item.entry):
        for place, exposure in enumerate((item.rating.exposure, 1.0, item.momentum or 0.0)):
            sums[place] += exposure * item.alpha
        ours, bought, momentum = sums
        by_date[item.entry] = Total(
            item.entry, ours, bought, usual * bought, momentum if told else None
        )
    return list(by_date.values())


def marks(entries: Iterable[Entry], ticker: str, bars: Bars | None = None) -> list[Mark]:
    """The decisions on a ticker, each at the close at which it entered.

    Args:
        entries: as they stood.
        ticker: in upper case.
        bars: the closes on which they are drawn; without, what the outcomes keep. A pending
            decision stands at the last close on or before its date.
    """
    found = (_mark(entry, bars) for entry in entries if entry.ticker == ticker)
    return sorted((mark for mark in found if mark), key=lambda mark: (mark.date, mark.id))


def _mark(entry: Entry, bars: Bars | None) -> Mark | None:
    if entry.recorded.is_note:
        return None
    outcome = entry.outcome
    day = dates_of(outcome, entry.date)[0] if outcome else entry.date
    price = outcome.entry_price if outcome else None
    if bars:
        place = bisect_right(bars.dates, day) - 1
        day, price = (bars.dates[place], bars.closes[place]) if place >= 0 else (day, None)
    if price is None:
        return None
    alpha = outcome.alpha if outcome else None
    return Mark(entry.id, day, price, entry.rating, entry.verdict, alpha)


def ages(entries: Iterable[Entry], dues: Mapping[str, datetime], as_of: datetime) -> list[Age]:
    """Pending decisions by age in days, the youngest first; classes without any are there too.

    Args:
        entries: as they stood at ``as_of``.
        dues: when each pending one's outcome is due, by id.
        as_of: aware UTC.
    """
    counts = [[0, 0] for _ in range(len(AGES) + 1)]
    for entry in entries:
        if entry.status is Status.PENDING:
            days = (as_of.date() - entry.date).days
            place = sum(days > limit for limit in AGES)
            counts[place][dues.get(entry.id, as_of) <= as_of] += 1
    names = [f"0-{AGES[0]}"]
    names += [f"{low + 1}-{high}" for low, high in pairwise(AGES)]
    names.append(f"over {AGES[-1]}")
    return [Age(name, *pair) for name, pair in zip(names, counts, strict=True)]

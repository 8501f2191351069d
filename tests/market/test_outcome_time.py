"""An outcome does not depend on when it is asked for, nor on what was not known by then."""

import gc
import random
import weakref
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.market.market_cases import Answer, at
from tradmem.market.calendars import Calendar, calendar_of
from tradmem.market.frames import FramePrices
from tradmem.market.outcome import Question, Why, answer
from tradmem.market.prices import Bars, make_bars
from tradmem.market.question import WAIT
from tradmem.market.settle import settle
from tradmem.model import Outcome

PAIRS = [
    ("NVDA", "SPY"),
    ("7203.T", "SPY"),
    ("NVDA", "^N225"),
    ("BHP.AX", "^AXJO"),
    ("ETH-USD", "BTC-USD"),
    ("BTC-USD", "SPY"),
    ("EURUSD", None),
    ("0700.HK", "^HSI"),
    ("EQNR.OL", "^FTSE"),
]

Walk = dict[date, float]


def days_of(calendar: Calendar, first: date, last: date) -> list[date]:
    return [day for day in calendar.sessions(first, last) if first <= day <= last]


@st.composite
def situations(draw: st.DrawFn) -> tuple[Question, dict[str, Walk]]:
    """A decision, and closes around it with gaps, halts, late listings, ends and jumps."""
    ticker, benchmark = draw(st.sampled_from(PAIRS))
    rnd = random.Random(draw(st.integers(0, 10**9)))
    decided_at = datetime(2025, 1, 2, tzinfo=UTC) + timedelta(
        minutes=draw(st.integers(0, 500 * 24 * 60))
    )
    question = Question(
        ticker=ticker,
        decided_at=decided_at,
        horizon=draw(st.sampled_from([1, 5, 20])),
        benchmark=benchmark,
    )
    missing = draw(st.sampled_from([0.0, 0.05, 0.4, 0.9]))
    jump = draw(st.sampled_from([0.0, 0.0, 0.02]))
    closes: dict[str, Walk] = {}
    for symbol in filter(None, (ticker, benchmark)):
        calendar = calendar_of(symbol)
        days = days_of(
            calendar,
            decided_at.date() - timedelta(days=120),
            decided_at.date() + timedelta(days=130),
        )
        low = draw(st.sampled_from([0, 0, 0, 90])) * len(days) // 250
        high = len(days) - draw(st.sampled_from([0, 0, 0, 100, 120])) * len(days) // 250
        close, walk = 100.0, {}
        for day in days[low:high]:
            close *= rnd.uniform(0.97, 1.03)
            if rnd.random() < jump:
                close *= rnd.choice([2.0, 0.5, 10.0])
            if rnd.random() >= missing:
                walk[day] = close
        closes[symbol] = walk
    return question, closes


def bars_of(
    closes: dict[str, Walk], symbol: str | None, until: datetime | None = None
) -> Bars | None:
    """All bars of a symbol, or those that were final at an instant."""
    if symbol is None:
        return None
    calendar = calendar_of(symbol)
    rows = [
        (day, close)
        for day, close in closes[symbol].items()
        if until is None or calendar.final_at(day) <= until
    ]
    found = make_bars(symbol, rows)
    return found if isinstance(found, Bars) else None


def ask(question: Question, closes: dict[str, Walk], as_of: datetime, cut: bool = False) -> Answer:
    until = as_of if cut else None
    return answer(
        question,
        bars_of(closes, question.ticker, until),
        bars_of(closes, question.benchmark, until),
        as_of=as_of,
    )


def instants(question: Question) -> Iterator[datetime]:
    """From the decision to long after the wait, a few a day."""
    for hours in range(0, 24 * 90, 13):
        yield question.decided_at + timedelta(hours=hours)


def same(left: Answer, right: Answer) -> bool:
    """Equal, to the last bit."""
    return left == right


@settings(deadline=None, max_examples=120)
@given(situations())
def test_an_answer_is_not_due_then_waiting_then_stays(
    situation: tuple[Question, dict[str, Walk]],
) -> None:
    question, closes = situation
    own, benchmark = bars_of(closes, question.ticker), bars_of(closes, question.benchmark)
    found = [(when, answer(question, own, benchmark, as_of=when)) for when in instants(question)]
    order = [Why.NOT_DUE, Why.WAITING, None]
    stages = [
        order.index(one.kind) if not isinstance(one, Outcome) and one.kind in order else 2
        for _, one in found
    ]
    assert stages == sorted(stages)
    assert stages[-1] == 2
    final = [(when, one) for (when, one), stage in zip(found, stages, strict=True) if stage == 2]
    first = final[0][1]
    assert all(same(one, first) for _, one in final)
    assert first.known_at is not None
    assert first.known_at <= final[0][0]
    # It was known at exactly that instant, from what was final then and nothing else.
    assert same(ask(question, closes, first.known_at, cut=True), first)
    just_before = ask(question, closes, first.known_at - timedelta(microseconds=1))
    assert not isinstance(just_before, Outcome)
    assert just_before.kind in (Why.NOT_DUE, Why.WAITING)


@settings(deadline=None, max_examples=120)
@given(situations())
def test_closes_that_are_not_final_change_nothing(
    situation: tuple[Question, dict[str, Walk]],
) -> None:
    question, closes = situation
    for when in list(instants(question))[::13]:
        assert same(ask(question, closes, when), ask(question, closes, when, cut=True))


@settings(deadline=None, max_examples=200)
@given(situations(), st.integers(0, 24 * 90))
def test_entry_and_exit_agree_with_a_search_day_by_day(
    situation: tuple[Question, dict[str, Walk]], hours: int
) -> None:
    question, closes = situation
    as_of = question.decided_at + timedelta(hours=hours)
    calendar, walk = calendar_of(question.ticker), closes[question.ticker]
    first = question.decided_at.date() - timedelta(days=3)
    days = days_of(calendar, first, first + timedelta(days=200))
    ahead = [day for day in days if calendar.close(day) > question.decided_at]
    due = calendar.close(ahead[question.horizon]) + timedelta(hours=2)
    end = due + timedelta(days=30)
    final = [
        d for d in ahead if d in walk and calendar.close(d) + timedelta(hours=2) <= min(as_of, end)
    ]
    entries = [day for day in ahead[:11] if day in final]
    expected: tuple[date, date] | None = None
    if as_of >= due and entries:
        exits = [
            day for day in final if ahead.index(day) >= ahead.index(entries[0]) + question.horizon
        ]
        if exits:
            expected = entries[0], exits[0]
        elif as_of >= end and final[-1] > entries[0]:
            expected = entries[0], final[-1]
    alone = Question(
        ticker=question.ticker, decided_at=question.decided_at, horizon=question.horizon
    )
    found = answer(alone, bars_of(closes, question.ticker), as_of=as_of)
    if isinstance(found, Outcome):
        assert (found.entry_date, found.exit_date) == expected
        assert found.sessions == ahead.index(found.exit_date) - ahead.index(found.entry_date)
        assert found.raw_return == pytest.approx(
            walk[expected[1]] / walk[expected[0]] - 1, abs=1e-12
        )
    elif found.kind is Why.SUSPECT:
        assert expected
    else:
        assert expected is None
        assert (found.kind is Why.NOT_DUE) == (as_of < due)
        assert (found.kind is Why.UNRESOLVABLE) == (as_of >= end)


@settings(deadline=None, max_examples=60)
@given(situations(), st.integers(0, 24 * 90))
def test_a_call_of_many_and_a_call_of_one_say_the_same(
    situation: tuple[Question, dict[str, Walk]], hours: int
) -> None:
    """Also with other decisions that widen the span which is fetched."""
    question, closes = situation
    as_of = question.decided_at + timedelta(hours=hours)
    source = FramePrices(closes)
    others = [
        Question(
            ticker=question.ticker,
            decided_at=question.decided_at - timedelta(days=back),
            horizon=horizon,
            benchmark=question.benchmark,
        )
        for back, horizon in ((400, 5), (40, 1), (3, 20))
    ]
    [alone] = settle([question], source, as_of=as_of, benchmarks={"*": question.benchmark})
    many = settle([*others, question], source, as_of=as_of, benchmarks={"*": question.benchmark})
    assert same(many[-1], alone)


def test_the_wait_is_thirty_times_24_hours_across_a_change_of_clocks() -> None:
    question = Question(ticker="NVDA", decided_at=at("2026-02-20T15:00:00Z"), horizon=1)
    ends = at("2026-02-23T23:00:00Z") + timedelta(hours=30 * 24)
    assert timedelta(hours=720) == WAIT
    assert answer(question, None, as_of=ends - timedelta(seconds=1)).kind is Why.WAITING  # type: ignore[union-attr]
    gone = answer(question, None, as_of=ends)
    assert not isinstance(gone, Outcome)
    assert (gone.kind, gone.known_at) == (Why.UNRESOLVABLE, ends)


def test_prepared_closes_live_as_long_as_their_bars() -> None:
    days = days_of(calendar_of("NVDA"), date(2025, 6, 2), date(2026, 3, 2))
    rows = [(day, 100.0 + place) for place, day in enumerate(days)]
    question = Question(ticker="NVDA", decided_at=at("2026-01-05T15:00:00Z"), benchmark="SPY")
    own, benchmark = make_bars("NVDA", rows), make_bars("SPY", rows)
    assert isinstance(answer(question, own, benchmark, as_of=at("2026-02-01T00:00:00Z")), Outcome)
    alive = [weakref.ref(own), weakref.ref(benchmark)]
    del own, benchmark
    gc.collect()
    assert [one() for one in alive] == [None, None]

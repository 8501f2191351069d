"""What is drawn, computed another way: with pandas, or by hand."""

import statistics
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pandas as pd
import pytest

from tests.report.world import END, START, closes, plain
from tradmem import Rating
from tradmem.lessons.track import Group
from tradmem.market.calendars import calendar_of
from tradmem.study import series
from tradmem.study.closes import closes as closes_of_memory


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    return plain(tmp_path_factory.mktemp("series") / "memory.md", weeks=45)


@pytest.fixture(scope="module")
def entries(memory):
    return memory.entries()


@pytest.fixture(scope="module")
def bars(memory):
    return closes_of_memory(memory)


def test_the_mean_by_rating_is_that_of_the_track_record(memory, entries):
    record = memory.track()
    for item in series.alpha_by_rating(series.scored(entries, 5)):
        line = record.line(5, Group.RATING, str(item.rating))
        assert len(item.values) == line.alpha.n
        # The track record cuts time by the longest window of these alone, as is done here.
        assert item.mean.value == pytest.approx(line.alpha.value)


def test_independent_outcomes_are_worth_themselves_and_repeated_ones_are_not():
    start = date(2020, 1, 6)
    values = [0.01 * (-1) ** (n // 2) for n in range(200)]

    def found(copies):
        return [
            series.Scored(Rating.BUY, day, day + timedelta(days=7), value)
            for n, value in enumerate(values)
            for day in [start + timedelta(days=14 * n)]
            for _ in range(copies)
        ]

    (once,) = series.alpha_by_rating(found(1))
    (five,) = series.alpha_by_rating(found(5))
    assert len(five.values) == 1000
    assert once.n_eff == pytest.approx(200 / 1.2, rel=0.02)  # 1.2 allows for overlap
    assert five.n_eff == pytest.approx(once.n_eff, rel=1e-6)


def test_alpha_by_session_agrees_with_pandas(entries, bars):
    frame = pd.DataFrame(closes())
    own = {path.rating: path for path in series.alpha_paths(entries, bars, sessions=7)}
    steps = {rating: {} for rating in own}
    for entry in entries:
        if entry.outcome:
            place = frame.index.get_loc(entry.outcome.entry_date)
            known = frame[frame.index <= bars[entry.ticker].dates[-1]]
            window = known.iloc[place : place + 8]
            gains = window / window.iloc[0]
            for number, alpha in enumerate(gains[entry.ticker] - gains["SPY"]):
                steps[entry.rating].setdefault(number, []).append(alpha)
    assert len(own) == 5
    for rating, path in own.items():
        for number, mean in enumerate(path.means):
            assert mean.n == len(steps[rating][number])
            if mean.value is not None:
                assert mean.value == pytest.approx(statistics.fmean(steps[rating][number]))


def test_after_the_horizon_the_path_is_at_the_alpha_that_was_judged(entries, bars):
    settled = [entry for entry in entries if entry.outcome]
    for path in series.alpha_paths(settled, bars, sessions=5):
        judged = [e.outcome.alpha for e in settled if e.rating is path.rating]
        assert path.means[5].n == len(judged)
        if path.means[5].value is not None:
            assert path.means[5].value == pytest.approx(statistics.fmean(judged))


def test_alpha_by_session_counts_the_sessions_of_the_exchange_not_the_closes(entries, bars):
    """A missing close moves nothing: what came after it stays at its own session."""
    gone = {day for n, day in enumerate(bars["AAA"].dates) if n % 3 == 1}
    entered = [e for e in entries if e.ticker == "AAA" and e.outcome]
    entered = [e for e in entered if e.outcome.entry_date not in gone]
    kept = [n for n, day in enumerate(bars["AAA"].dates) if day not in gone]
    own = bars["AAA"]
    holed = replace(
        own,
        dates=tuple(own.dates[n] for n in kept),
        closes=tuple(own.closes[n] for n in kept),
        raw_closes=tuple(own.raw_closes[n] for n in kept),
    )
    sessions = list(calendar_of("AAA").sessions(START, END))
    for path in series.alpha_paths(entered, bars | {"AAA": holed}, sessions=7):
        mine = [e.outcome.entry_date for e in entered if e.rating is path.rating]
        for number, mean in enumerate(path.means):
            then = [sessions[sessions.index(day) + number] for day in mine]
            assert mean.n == sum(day in holed.dates for day in then)


def test_totals_end_at_the_sums(entries):
    found = series.scored(entries, 5)
    last = series.totals(found)[-1]
    exposures = [item.rating.exposure for item in found]
    alphas = [item.alpha for item in found]
    assert last.decisions == pytest.approx(
        sum(e * a for e, a in zip(exposures, alphas, strict=True))
    )
    assert last.always_buy == pytest.approx(sum(alphas))
    assert last.chance == pytest.approx(statistics.fmean(exposures) * sum(alphas))
    assert last.momentum is None


def test_with_closes_alpha_is_against_the_other_names_and_momentum_is_told(entries, bars):
    names = {name: bars[name] for name in bars if name != "SPY"}
    more = names | {"EEE": names["AAA"]}
    found = series.scored(entries, 5, more | {"SPY": bars["SPY"]}, [*more])
    assert all(item.by_peers for item in found)
    assert series.totals(found)[-1].momentum is not None
    index = series.scored(entries, 5)
    assert [item.alpha for item in found] != [item.alpha for item in index]


def test_a_decision_stands_at_the_close_at_which_it_entered(entries, bars):
    found = {mark.id: mark for mark in series.marks(entries, "BBB", bars["BBB"])}
    table = closes()["BBB"]
    mine = [entry for entry in entries if entry.ticker == "BBB"]
    assert set(found) == {entry.id for entry in mine}
    for entry in mine:
        mark = found[entry.id]
        assert mark.price == table[mark.date]
        if entry.outcome:
            assert (mark.date, mark.price) == (entry.outcome.entry_date, entry.outcome.entry_price)
            assert mark.verdict is entry.verdict
        else:
            assert mark.verdict is None


def test_pending_decisions_fall_into_their_class_of_age(memory):
    entries = memory.entries()
    day = entries[-1].date
    pending = [entry for entry in entries if entry.date == day]
    assert {str(entry.status) for entry in pending} == {"pending"}
    dues = {entry.id: memory.due(entry) for entry in pending}
    for days, name in ((0, "0-1"), (2, "2-3"), (7, "4-7"), (8, "8-14"), (31, "over 30")):
        as_of = datetime.combine(day + timedelta(days=days), datetime.max.time(), UTC)
        found = {age.name: age for age in series.ages(pending, dues, as_of)}
        assert found[name].not_due + found[name].due == len(pending)
        is_due = as_of >= dues[pending[0].id]
        assert (found[name].due > 0) is is_due


def test_closes_end_where_they_were_final(memory):
    cut = closes_of_memory(memory, "2024-11-05")
    assert {bars.dates[-1] for bars in cut.values()} == {date(2024, 11, 5)}
    earlier = datetime(2024, 11, 5, 15, tzinfo=UTC)  # the session is open
    cut = closes_of_memory(memory, earlier)
    assert {bars.dates[-1] for bars in cut.values()} == {date(2024, 11, 4)}

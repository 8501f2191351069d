"""The track record: every figure computed another way, and what is counted and what not."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from tests.lessons.track_cases import (
    BAND,
    DOWN,
    FAR,
    FLAT,
    MONDAY,
    UP,
    decided,
    happened,
    noon,
    pending,
    records,
    settled,
)
from tradmem import Addition, Rating
from tradmem.journal.block import fold_now
from tradmem.lessons.student import student_t
from tradmem.lessons.track import track

EXPOSURE = {"Buy": 1, "Overweight": 0.5, "Hold": 0, "Underweight": -0.5, "Sell": -1}


def frame(entries):
    """One row per settled decision, with what the statistics need."""
    rows = [
        {
            "ticker": e.ticker,
            "rating": "Unrated" if e.rating is None else e.rating.value,
            "agent": e.agent,
            "entry": e.outcome.entry_date.toordinal(),
            "span": (e.outcome.exit_date - e.outcome.entry_date).days,
            "raw": e.outcome.raw_return,
            "alpha": np.nan if e.outcome.alpha is None else e.outcome.alpha,
            "stopped": "stopped" in e.outcome.flags,
            "date_only": "date_only" in e.recorded.flags,
            "late": "late" in e.recorded.flags,
        }
        for e in entries
        if e.outcome
    ]
    found = pd.DataFrame(
        rows, columns=[*["ticker", "rating", "agent", "entry", "span", "raw", "alpha"], *KINDS]
    )
    found["rated"] = found.rating != "Unrated"
    found["exposure"] = found.rating.map(EXPOSURE)
    found["judged"] = found.alpha.fillna(found.raw)
    found["move"] = np.sign(found.judged) * (found.judged.abs() > BAND)
    found["gain"] = np.sign(found.exposure) * found.move
    return found


KINDS = ["stopped", "date_only", "late"]


def with_blocks(rows):
    """Blocks are twice as long as the longest window of what has a verdict."""
    rated = rows[rows.rated]
    length = 2 * rated.span.max() if len(rated) else 1
    return rated.assign(block=(rated.entry - 1) // length)


def worth(verdicts, blocks):
    """n_eff of a series of 0 and 1."""
    n, g = len(verdicts), blocks.nunique()
    p = verdicts.mean()
    spread = ((verdicts - p).groupby(blocks).sum() ** 2).sum()
    if g < 10 or spread < 1e-9:
        return min(n, g)
    return min(n, p * (1 - p) / (1.2 * g / (g - 1) * spread / n**2))


def check_rate(rate, verdicts, blocks, prior=0.5):
    assert (rate.right, rate.n) == (verdicts.sum(), len(verdicts))
    assert rate.blocks == blocks.nunique()
    if not rate.n:
        return
    n_eff = worth(verdicts.astype(float), blocks)
    assert rate.n_eff == pytest.approx(n_eff)
    shrunk = (n_eff * verdicts.mean() + 20 * prior) / (n_eff + 20)
    assert rate.shrunk == pytest.approx(shrunk)


def check_mean(mean, values, blocks):
    g = blocks.nunique()
    assert (mean.n, mean.blocks) == (len(values), g)
    if g < 10:
        assert mean.value is None
        return
    spread = ((values - values.mean()).groupby(blocks).sum() ** 2).sum()
    half = student_t(g - 1) * np.sqrt(1.2 * g / (g - 1) * spread) / len(values)
    expected = (values.mean(), values.mean() - half, values.mean() + half)
    assert (mean.value, mean.low, mean.high) == pytest.approx(expected, abs=1e-12)


def check_line(line, rows, everything):
    """A line against the rows that it is about."""
    own = with_blocks(rows)
    sided, holds = own[own.exposure != 0], own[own.rating == "Hold"]
    found = line.track
    assert found.right == (sided.gain == 1).sum()
    assert found.wrong == (sided.gain == -1).sum()
    assert found.neutral == (sided.gain == 0).sum()
    assert found.hold_right == (holds.move == 0).sum()
    assert found.hold_wrong == (holds.move != 0).sum()
    assert found.unrated == len(rows) - len(own)
    assert found.raw == own.alpha.isna().sum()
    beyond = sided[sided.gain != 0]
    check_rate(found.hit, beyond.gain == 1, beyond.block)
    check_rate(line.hold, holds.move == 0, holds.block, prior=1 / 3)
    pool = with_blocks(everything) if line.group == "rating" else own
    moved = pool[pool.move != 0]
    check_rate(line.always_buy, moved.move == 1, moved.block)
    measured = own[own.alpha.notna()]
    score = measured.exposure * measured.alpha
    check_mean(line.score, score, measured.block)
    check_mean(line.alpha, measured.alpha, measured.block)
    check_mean(line.ahead, score - measured.alpha, measured.block)
    check_mean(line.raw_return, own.raw, own.block)
    for kind in line.apart:
        alone, others = with_blocks(rows[rows[kind.name]]), with_blocks(rows[~rows[kind.name]])
        for rate, part in ((kind.alone, alone), (kind.without, others)):
            sided = part[part.gain.abs() == 1]
            check_rate(rate, sided.gain == 1, sided.block)


@settings(max_examples=25, deadline=None)
@given(records(most=50))
def test_every_line_is_what_a_data_frame_says(entries):
    record, rows = track(entries), frame(entries)
    names = {(line.group, line.name) for line in record.lines}
    tables = {"ticker": "ticker", "rating": "rating", "agent": "agent"}
    for group, column in tables.items():
        decided_on = {
            "ticker": {e.ticker for e in entries},
            "rating": {str(e.rating or "Unrated") for e in entries},
            "agent": {e.agent for e in entries},
        }[group]
        assert {name for kind, name in names if kind == group} == decided_on
        for name in decided_on:
            check_line(record.line(5, group, name), rows[rows[column] == name], rows)
    if entries:
        check_line(record.line(5), rows, rows)


@settings(max_examples=60, deadline=None)
@given(records())
def test_every_decision_has_one_fate_and_all_tables_have_the_same_decisions(entries):
    fates = ("settled", "not_due", "waiting", "suspect", "open", "unresolvable", "elsewhere")
    totals = {}
    for line in track(entries).lines:
        found = line.attrition
        assert sum(getattr(found, fate) for fate in fates) == found.decided
        assert found.settled == (
            line.track.judged + line.track.hold_right + line.track.hold_wrong + line.track.unrated
        )
        totals[line.group] = totals.get(line.group, 0) + found.decided
    assert set(totals.values()) <= {len(entries)}


def test_horizons_are_never_mixed_and_the_main_one_comes_first():
    day = [MONDAY + timedelta(days=number) for number in range(3)]
    both = fold_now(
        decided(day[0]), (happened(day[0]), happened(day[0], DOWN, horizon=20, span=28))
    )
    own = settled(day[1], alpha=DOWN, span=28, decision={"horizon": 20})
    record = track([both, own, pending(day[2])])
    assert record.horizons == (5, 20)
    five, twenty = record.line(5), record.line(20)
    assert (five.track.right, five.track.wrong) == (1, 0)
    assert (twenty.track.right, twenty.track.wrong) == (0, 2)
    assert (five.attrition.settled, five.attrition.open, five.attrition.elsewhere) == (1, 1, 1)
    assert (twenty.attrition.settled, twenty.attrition.elsewhere) == (2, 1)
    assert record.line(10) is None


def test_a_further_horizon_counts_once_the_own_one_is_known():
    entry = fold_now(decided(horizon=20), (happened(MONDAY), happened(MONDAY, span=28, horizon=20)))
    week, month = noon(MONDAY + timedelta(days=8)), noon(MONDAY + timedelta(days=29))
    assert track([entry.at(week)]).horizons == (20,)
    assert track([entry.at(week)]).line(20).attrition.open == 1
    assert track([entry.at(month)]).horizons == (20, 5)


def test_blocks_are_whole_weeks_from_monday_on_where_windows_are():
    """With windows of 7 days a block is a fortnight; these two Sundays and Mondays are four."""
    first = date(2026, 1, 5)
    assert (first.toordinal() - 1) % 14 == 0
    days = [first + timedelta(days=number) for number in (-1, 0, 13, 14)]
    found = [
        track([settled(day) for day in days[:count]]).line(5).track.hit.blocks
        for count in (1, 2, 3, 4)
    ]
    assert found == [1, 2, 2, 3]


def test_one_long_window_makes_all_blocks_longer():
    weekly = [settled(MONDAY + timedelta(weeks=number)) for number in range(12)]
    assert track(weekly).line(5).track.hit.blocks == 6
    halted = settled(MONDAY, "HALT", span=42)
    assert track([*weekly, halted]).line(5).track.hit.blocks <= 2
    assert track([*weekly, halted]).line(5, "ticker", "NVDA").track.hit.blocks == 6


def test_dates_that_a_log_does_not_tell_are_estimated_from_the_decision():
    plain = settled(MONDAY)
    bare = replace(plain.additions[0].outcome, entry_date=None, exit_date=None)
    told = fold_now(plain.recorded, (replace(plain.additions[0], outcome=bare),))
    assert track([told]).line(5).track == track([plain]).line(5).track


def test_forgetting_hides_nothing_here():
    entry = settled()
    forgot = Addition(kind="forget", at=noon(MONDAY + timedelta(days=9)), data={"reason": "x"})
    hidden = fold_now(entry.recorded, (*entry.additions, forgot))
    assert hidden.hidden
    assert track([hidden]).line(5).track == track([entry]).line(5).track


def test_replaced_revisions_repeats_and_notes_are_no_decisions():
    first, second = settled(alpha=UP), settled(alpha=DOWN, decision={"revision": 1})
    note = fold_now(replace(first.recorded, id="0" * 12, is_note=True), ())
    again = settled(alpha=DOWN)
    assert again.id == first.id
    record = track([first, second, note, second])
    assert (record.line(5).attrition.decided, record.line(5).track.wrong) == (1, 1)
    record = track([first, again])
    assert (record.line(5).attrition.decided, record.line(5).track.right) == (1, 1)


def test_the_reasons_of_what_is_pending_are_told_apart():
    entries = [pending(MONDAY + timedelta(days=n)) for n in range(5)]
    gave_up = Addition(kind="unresolvable", at=FAR, data={"reason": "no price"})
    entries[4] = fold_now(entries[4].recorded, (gave_up,))
    why = dict(zip((e.id for e in entries), ("not_due", "waiting", "suspect"), strict=False))
    found = track(entries, pending=why).line(5).attrition
    assert (found.not_due, found.waiting, found.suspect) == (1, 1, 1)
    assert (found.open, found.unresolvable, found.decided) == (1, 1, 5)


def test_a_decision_that_tells_no_horizon_has_the_usual_one():
    record = track([pending(horizon=None)], default_horizon=20)
    assert (record.horizons, record.line(20).attrition.open) == ((20,), 1)


def test_what_could_flatter_is_looked_at_apart():
    day = [MONDAY + timedelta(days=number) for number in range(6)]
    edited = replace(settled(day[3], alpha=DOWN), edited=("rating",))
    entries = [
        settled(day[0], decision={"flags": ("date_only",)}),
        settled(day[1], decision={"flags": ("late",)}),
        settled(day[2], flags=("stopped",)),
        edited,
        settled(day[4], decision={"recorded_at": None}),
        settled(day[5], alpha=DOWN),
    ]
    found = {kind.name: kind for kind in track(entries).line(5).apart}
    assert list(found) == ["date_only", "late", "edited", "imported", "stopped"]
    for name, kind in found.items():
        right = 0 if name == "edited" else 1
        assert (kind.decided, kind.alone.right, kind.alone.n) == (1, right, 1)
        assert (kind.without.right, kind.without.n) == (4 - right, 5)
    assert track(entries[5:]).line(5).apart == ()


def test_no_word_of_skill_where_raw_returns_stand_in():
    days = [MONDAY + timedelta(days=number) for number in range(400)]
    rise = [settled(day, alpha=UP if number % 3 else DOWN) for number, day in enumerate(days)]
    assert track(rise).line(5).skill is not None
    raw = settled(MONDAY, "BTC-USD", alpha=None, raw=UP)
    record = track([*rise, raw])
    assert (record.line(5).skill, record.line(5).track.raw) == (None, 1)
    assert record.line(5, "ticker", "NVDA").skill is not None
    assert record.line(5, "rating", "Buy").skill is None


def test_a_steady_eye_is_told_from_chance_and_a_coin_is_not():
    draw = np.random.default_rng(5)
    days = [MONDAY + timedelta(weeks=number) for number in range(300)]
    alphas = draw.choice([UP, DOWN], 300)
    knows = draw.random(300) < 0.75
    side = {UP: Rating.BUY, DOWN: Rating.SELL}
    good = [
        settled(day, rating=side[alpha if known else -alpha], alpha=alpha)
        for day, alpha, known in zip(days, alphas, knows, strict=True)
    ]
    coin = [
        settled(day, rating=side[guess], alpha=alpha)
        for day, alpha, guess in zip(days, alphas, draw.permutation(alphas), strict=True)
    ]
    assert track(good).line(5).skill == "better than chance"
    assert track(coin).line(5).skill == "not told from chance"


def test_a_line_about_holds_has_the_rate_of_holds():
    entries = [
        settled(MONDAY + timedelta(days=n), rating=Rating.HOLD, alpha=FLAT) for n in range(3)
    ]
    line = track([*entries, settled(alpha=UP, ticker="AAPL")]).line(5, "rating", "Hold")
    assert (line.rate.right, line.rate.n, line.rate.prior) == (3, 3, pytest.approx(1 / 3))
    assert (line.chance, line.track.hit.n) == (0.75, 0)


def daily(ratings, agent="", start=0):
    days = (MONDAY + timedelta(days=start + number) for number in range(len(ratings)))
    return [pending(day, rating=r, agent=agent) for day, r in zip(days, ratings, strict=True)]


@pytest.mark.parametrize(
    ("ratings", "alarm"),
    [
        ([Rating.BUY] * 41 + [Rating.SELL] * 9, (Rating.BUY, 41)),
        ([Rating.BUY] * 40 + [Rating.SELL] * 10, None),
        ([None] * 45 + [Rating.SELL] * 5, (None, 45)),
        ([Rating.BUY] * 49, None),
        ([Rating.SELL] * 60 + [Rating.BUY, Rating.HOLD] * 25, None),
    ],
    ids=["above", "at the line", "unrated", "too few", "long ago"],
)
def test_one_rating_for_nearly_all_of_the_last_fifty_is_an_alarm(ratings, alarm):
    found = [(a.rating, a.times) for a in track(daily(ratings)).alarms]
    assert found == ([alarm] if alarm else [])


def test_an_agent_among_several_raises_its_own_alarm():
    lazy = daily([Rating.HOLD] * 50, "lazy")
    keen = daily([Rating.BUY, Rating.SELL, Rating.HOLD] * 30, "keen", start=1)
    found = [(alarm.agent, alarm.rating) for alarm in track([*lazy, *keen]).alarms]
    assert found == [("lazy", Rating.HOLD)]
    assert [alarm.agent for alarm in track(lazy).alarms] == [""]


def test_of_nothing_there_is_nothing_to_say():
    assert track([]) == track([]).__class__()

"""What lessons are worth: found where it is so, and not more often than stated where it is not."""

from dataclasses import replace
from datetime import timedelta
from statistics import fmean

import pytest

from tests.lessons.utility_world import MONDAY, memory, saw, world
from tradmem import UsageError
from tradmem.lessons.salts import Unit, adjusted, difference, p_value
from tradmem.lessons.utility import Finding, lesson_utility
from tradmem.model import fold

USELESS = [f"useless {number}" for number in range(9)]


def by_tag(found):
    return {line.tag: line for line in found.tags}


def test_a_tag_that_helps_is_found_with_what_it_is_worth():
    found = lesson_utility(world(1, ["earnings", *USELESS], effects={"earnings": 0.015}))
    line = by_tag(found)["earnings"]
    assert line.finding is Finding.HELPS
    assert line.low < 0.015 < line.high
    assert found.tags[0] is line


def test_a_tag_that_harms_is_found_too():
    found = lesson_utility(world(2, [*USELESS, "hype"], effects={"hype": -0.015}))
    assert by_tag(found)["hype"].finding is Finding.HARMS


def test_useless_tags_are_not_found_more_often_than_stated():
    """With nothing true to find, every world in which anything is found is a false discovery."""
    worlds = 120
    wrong = sum(
        bool(lesson_utility(world(seed, USELESS, days=110)).found) for seed in range(worlds)
    )
    # 0.1 of the worlds may; three standard deviations beyond that is 0.18.
    assert wrong / worlds < 0.18


def test_beside_a_tag_that_helps_false_ones_are_as_rare_as_stated():
    effects = {"earnings": 0.03}
    shares = []
    for seed in range(60):
        found = lesson_utility(world(seed, ["earnings", *USELESS], days=110, effects=effects)).found
        false = [line for line in found if line.tag != "earnings"]
        shares.append(len(false) / max(len(found), 1))
    assert fmean(shares) < 0.1 + 3 * 0.2 / 60**0.5


def test_a_lesson_seen_only_in_good_times_is_not_taken_for_a_good_lesson():
    """Those who saw it did far better than those who did not: the lots tell that this was luck."""
    entries = world(3, [*USELESS, "boom"], regime=lambda day: 0.04 * (-1) ** (day // 60))
    boom = next(entry.id for entry in entries if "boom" in entry.tags)
    decided = [entry for entry in entries if entry.recorded.holdout]
    naive = [
        fmean(e.outcome.alpha for e in decided if (boom in e.recalled) is saw_it)
        for saw_it in (True, False)
    ]
    assert naive[0] - naive[1] > 0.03
    line = by_tag(lesson_utility(entries))["boom"]
    assert line.finding is Finding.UNTOLD
    assert abs(line.utility) < 0.015


def test_the_difference_is_that_of_the_means_of_pairs():
    """Counted anew from the entries, without units and weights."""
    entries = world(4, ["earnings", "rates"])
    id_of = {entry.tags[0]: entry.id for entry in entries if entry.tags}
    for tag, line in by_tag(lesson_utility(entries)).items():
        shown = [e.outcome.alpha for e in entries if id_of[tag] in e.recalled]
        withheld = [e.outcome.alpha for e in entries if id_of[tag] in e.withheld]
        assert (line.shown, line.withheld) == (len(shown), len(withheld))
        assert line.utility == pytest.approx(fmean(shown) - fmean(withheld))


def test_a_share_that_was_changed_in_better_times_lends_nothing_to_a_lesson():
    """More was withheld while times were bad: plain means would call each lesson a help."""
    bad = world(5, ["earnings"], share=0.5, regime=lambda _: 1e-9)
    good = world(6, ["earnings"], share=0.1, regime=lambda _: 0.06)
    later = timedelta(days=1000)
    moved = [
        saw(
            [e for e in bad if e.id in entry.recalled],
            [e for e in bad if e.id in entry.recalled + entry.withheld],
            entry.outcome.alpha,
            day=entry.date + later,
            ticker=entry.ticker,
            share=0.1,
        )
        for entry in good
        if entry.recorded.holdout
    ]
    line = by_tag(lesson_utility([*bad, *moved]))["earnings"]
    shown = [e.outcome.alpha for e in [*bad, *moved] if e.recalled]
    withheld = [e.outcome.alpha for e in [*bad, *moved] if e.withheld]
    assert fmean(shown) - fmean(withheld) > 0.015
    assert abs(line.utility) < 0.01
    assert line.finding is Finding.UNTOLD


def test_little_says_nothing():
    line = by_tag(lesson_utility(world(7, ["earnings"], days=30)))["earnings"]
    assert line.finding is Finding.TOO_LITTLE
    assert (line.utility, line.p, line.rate) == (None, None, None)
    assert line.withheld > 0


def test_few_blocks_of_time_say_nothing_however_many_pairs_there_are():
    entries = world(8, ["earnings"], days=120)
    far = [e for e in entries if e.tags or (e.date - MONDAY).days < 70]
    line = by_tag(lesson_utility(far))["earnings"]
    assert min(line.shown, line.withheld) >= 30
    assert line.blocks < 10
    assert line.finding is Finding.TOO_LITTLE


def test_what_tells_nothing_is_counted_apart():
    known = memory(0, "earnings")
    day = MONDAY
    pending = fold(saw([known], [known], 0.1, day=day).recorded, [])
    raw = saw([known], [known], None, day=day + timedelta(days=1))
    without = saw([known], [known], 0.1, day=day + timedelta(days=2), share=0.0)
    plain = replace(without, recorded=replace(without.recorded, withheld=()))
    told = saw([], [known], 0.1, day=day + timedelta(days=3))
    found = lesson_utility([known, pending, raw, plain, told])
    # the memory itself is a decision without a hold-out
    assert (found.decisions, found.open, found.without) == (1, 2, 2)
    assert (found.overall.shown, found.overall.withheld) == (0, 1)


def test_a_lesson_counts_with_the_tags_that_it_had_when_it_was_seen():
    known = memory(0, "earnings")
    later = replace(known.additions[1], data={"tags": ["rates"]}, at=known.changed_at)
    corrected = replace(
        known.additions[0],
        outcome=replace(known.outcome, known_at=known.changed_at + timedelta(days=3000)),
    )
    changed = fold(known.recorded, [*known.additions, corrected, later])
    assert changed.tags == ("rates",)
    seen = saw([known], [known], 0.1, day=MONDAY)
    assert list(by_tag(lesson_utility([changed, seen]))) == ["earnings"]


def test_horizons_are_not_mixed():
    known = memory(0, "earnings")
    days = [saw([known], [known], 0.1, day=MONDAY + timedelta(days=n)) for n in range(3)]
    longer = fold(
        replace(days[0].recorded, horizon=20),
        [replace(days[0].additions[0], outcome=replace(days[0].outcome, horizon=20))],
    )
    found = lesson_utility([known, longer, *days[1:]])
    assert (found.horizon, found.decisions, found.open) == (5, 2, 1)
    assert lesson_utility([known, longer, *days[1:]], horizon=20).decisions == 1


def test_nothing_at_all_is_no_error():
    found = lesson_utility([])
    assert (found.horizon, found.tags, found.overall.finding) == (0, (), Finding.TOO_LITTLE)


@pytest.mark.parametrize("rate", [0, 1, -0.1, float("nan"), True, "0.1", None])
def test_a_rate_that_cannot_be_is_refused(rate):
    with pytest.raises(UsageError, match="false discovery"):
        lesson_utility([], false_discovery=rate)


def units(values, share=0.5):
    return [Unit(f"u{n}", share, n % 2 == 0, 1, value) for n, value in enumerate(values)]


def test_the_p_value_is_that_of_all_ways_in_which_lots_can_fall():
    """Six lots can fall in 64 ways, and the p-value estimates the share as extreme as this one."""
    values = [0.01, 0.09, -0.02, 0.05, 0.03, 0.06]
    real = abs(difference(units(values)))
    ways = [
        [Unit("", 0.5, bool(mask >> n & 1), 1, value) for n, value in enumerate(values)]
        for mask in range(64)
    ]
    exact = fmean(abs(difference(way) or 0.0) >= real - 1e-12 for way in ways)
    assert p_value(units(values)) == pytest.approx(exact, rel=0.4)


def test_the_p_value_is_the_same_in_any_order_and_on_any_day():
    found = [Unit(f"u{n}", 0.2, n % 5 == 0, 1 + n % 2, n % 7 - (n % 5 == 0)) for n in range(200)]
    assert p_value(found) == p_value(found[::-1])


def test_without_one_of_the_sides_there_is_no_p_value():
    assert p_value([Unit("a", 0.5, False, 1, 1.0)]) is None


def test_the_false_discovery_rate_of_a_family_is_the_step_up_one():
    """By its definition: the least rate q at which some k tests have p <= q k / m."""
    p_values = [0.01, 0.02, 0.03, 0.5, 0.9]
    m = len(p_values)
    for number, rate in enumerate(adjusted(p_values)):
        passing = [
            q
            for q in (n / 1000 for n in range(1, 1001))
            if any(
                p_values[number] <= q * k / m + 1e-12
                and sum(p <= q * k / m + 1e-12 for p in p_values) >= k
                for k in range(1, m + 1)
            )
        ]
        assert rate == pytest.approx(min(passing), abs=0.001)

"""What chance would hit, against every way in which the ratings can be dealt out."""

from datetime import timedelta
from itertools import permutations

import pytest

from tests.lessons.track_cases import DOWN, FLAT, MONDAY, UP, settled
from tradmem import Rating, Verdict
from tradmem.lessons.chance import Skill, skill
from tradmem.lessons.rates import Rate
from tradmem.lessons.track import track

B, O, H, U, S = Rating  # noqa: E741 - as their names begin


def entries(ratings, alphas):
    pairs = enumerate(zip(ratings, alphas, strict=True))
    return [settled(MONDAY + timedelta(days=n), "NVDA", r, a) for n, (r, a) in pairs]


def share(verdicts, among):
    return verdicts.count(Verdict.RIGHT) / len([v for v in verdicts if v in among])


@pytest.mark.parametrize(
    ("ratings", "alphas"),
    [
        ((B, B, B, S), (UP, DOWN, DOWN, FLAT)),
        ((B, O, H, U, S, S), (UP, UP, UP, FLAT, DOWN, UP)),
        ((H, H, B, U, B, B), (FLAT, UP, UP, DOWN, UP, FLAT)),
        ((S, S, S, U, H), (UP, UP, UP, UP, DOWN)),
    ],
)
def test_chance_is_what_all_deals_together_hit(ratings, alphas):
    sided, holds = [], []
    for deal in permutations(ratings):
        for entry in entries(deal, alphas):
            (holds if entry.rating is H else sided).append(entry.verdict)
    found = track(entries(ratings, alphas)).line(5).track
    assert found.chance == pytest.approx(share(sided, (Verdict.RIGHT, Verdict.WRONG)))
    if holds:
        assert found.hold_chance == pytest.approx(share(holds, (Verdict.RIGHT, Verdict.WRONG)))
    always = [entry.verdict for entry in entries([B] * len(ratings), alphas)]
    assert found.always_buy == pytest.approx(share(always, (Verdict.RIGHT, Verdict.WRONG)))


def test_an_unrated_outcome_is_not_dealt_out():
    plain = entries((B, S, B), (UP, DOWN, DOWN))
    unrated = settled(MONDAY + timedelta(days=9), "NVDA", None, UP)
    both = (track(plain).line(5).track, track([*plain, unrated]).line(5).track)
    assert both[0].chance == both[1].chance == pytest.approx(2 / 3 / 3 + 1 / 3 * 2 / 3)
    assert (both[0].unrated, both[1].unrated) == (0, 1)


def test_beside_one_rating_chance_deals_among_all_outcomes():
    """Else every Buy would hit exactly what chance does."""
    record = track(entries((B, B, S, S), (UP, UP, UP, DOWN)))
    buy, sell = (record.line(5, "rating", name) for name in ("Buy", "Sell"))
    assert (buy.track.hit_rate, buy.chance) == (1.0, 0.75)
    assert (sell.track.hit_rate, sell.chance) == (0.5, 0.25)
    assert buy.track.always_buy == sell.track.always_buy == buy.always_buy.value == 0.75


def test_without_a_move_or_a_side_there_is_nothing_to_hit():
    still = track(entries((B, S), (FLAT, FLAT))).line(5).track
    assert (still.chance, still.always_buy, still.hold_chance) == (None, None, 1.0)
    holds = track(entries((H, H), (UP, FLAT))).line(5).track
    assert (holds.chance, holds.always_buy, holds.hold_chance) == (None, 1.0, 0.5)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.51, 0.7, Skill.BETTER), (0.3, 0.49, Skill.WORSE), (0.45, 0.6, Skill.UNTOLD)],
)
def test_skill_is_said_where_the_interval_leaves_chance_out(low, high, said):
    rate = Rate(right=60, n=100, blocks=20, n_eff=50, low=low, high=high)
    assert skill(rate, 0.5) is said
    assert skill(rate, None) is None


@pytest.mark.parametrize("less", [{"n_eff": 29.9}, {"blocks": 9}])
def test_too_little_known_is_no_word(less):
    known = {"right": 60, "n": 100, "blocks": 20, "n_eff": 50, "low": 0.6, "high": 0.9}
    assert skill(Rate(**known | less), 0.5) is None

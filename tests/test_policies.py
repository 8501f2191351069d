"""The momentum policy: its lines, and what it takes from memory."""

import pytest

from tests.agent_world import sessions
from tradmem.briefing import Brief, Move
from tradmem.clock import last_instant
from tradmem.errors import PriceError, PriceFault
from tradmem.lessons.hits import Track
from tradmem.model import Act, Addition, Decision, Outcome, Rating, Verdict, fold
from tradmem.policies import Call, Situation, by_strength, momentum_policy, towards_hold

DAYS = sessions(20)


def entry(number, rating, alpha, ticker="NVDA"):
    """A settled decision of one day, with a band of one percent."""
    day = DAYS[number]
    recorded = Decision(id=f"{number:012x}", date=day, ticker=ticker, text="…", rating=rating)
    outcome = Outcome(
        horizon=5, sessions=5, raw_return=alpha, alpha=alpha, band=0.01, known_at=last_instant(day)
    )
    addition = Addition(kind=Act.OUTCOME, at=outcome.known_at, outcome=outcome)
    return fold(recorded, [addition])


def seen(strength=0.3, **changes):
    year = None if strength is None else Move(strength + 0.1, 0.1)
    values = {
        "ticker": "NVDA",
        "benchmark": "SPY",
        "last": DAYS[-2],
        "sessions": 275,
        "week": Move(0.01, 0.0),
        "month": Move(0.02, 0.01),
        "year": year,
        "volatility": 0.31,
        "from_high": -0.052,
    }
    return Brief(**(values | changes))


def decide(found=None, memories=(), track=None):
    return momentum_policy(
        Situation(
            ticker="NVDA",
            date=DAYS[-1],
            as_of=last_instant(DAYS[-1]),
            horizon=5,
            brief=found or seen(),
            memory="",
            memories=tuple(memories),
            track=track or Track(),
        )
    )


@pytest.mark.parametrize(
    ("strength", "rating"),
    [
        (0.2001, Rating.BUY),
        (0.20, Rating.OVERWEIGHT),
        (0.0501, Rating.OVERWEIGHT),
        (0.05, Rating.HOLD),
        (-0.05, Rating.HOLD),
        (-0.0501, Rating.UNDERWEIGHT),
        (-0.20, Rating.UNDERWEIGHT),
        (-0.2001, Rating.SELL),
    ],
)
def test_the_lines_between_ratings(strength, rating):
    assert by_strength(strength) is rating


def test_a_step_towards_hold_never_crosses_it():
    stepped = [towards_hold(rating) for rating in Rating]
    assert stepped == [
        Rating.OVERWEIGHT,
        Rating.HOLD,
        Rating.HOLD,
        Rating.HOLD,
        Rating.UNDERWEIGHT,
    ]


def test_without_memories_the_strength_decides_and_the_text_says_how():
    call = decide()
    assert call.rating is Rating.BUY
    assert call.cited == ()
    assert call.text == (
        "**Rating**: Buy\n\n"
        "NVDA returned +40.0% from 250 to 20 sessions ago, SPY +10.0%: strength +30.0%.\n"
        "Above +20% the rule says Buy.\n"
        "Since then it moved +2.0% (SPY +1.0%), and +1.0% in the last five sessions.\n"
        "It stands 5.2% below its 52-week high; its volatility is 31% a year."
    )


def test_two_more_wrong_than_right_on_the_same_side_cost_one_step():
    poor = [
        entry(1, Rating.BUY, -0.05),
        entry(2, Rating.OVERWEIGHT, -0.02),
        entry(3, Rating.BUY, 0.03),
        entry(4, Rating.BUY, -0.04),
    ]
    call = decide(memories=poor, track=Track(right=1, wrong=3))
    assert call.rating is Rating.OVERWEIGHT
    assert call.cited == tuple(memory.id for memory in poor)
    assert "1 right and 3 wrong: one step back, from Buy to Overweight." in call.text
    assert "Track record on NVDA: 4 calls with a side: 1 right, 3 wrong, 0 neutral." in call.text
    assert all(str(memory.date) in call.text for memory in poor)


def test_one_more_wrong_than_right_changes_nothing():
    call = decide(memories=[entry(1, Rating.BUY, -0.05)])
    assert call.rating is Rating.BUY
    assert call.cited == (f"{1:012x}",)
    assert "was wrong: the Buy stands." in call.text


def test_other_tickers_other_sides_and_neutral_calls_do_not_count():
    others = [
        entry(1, Rating.BUY, -0.05, ticker="AMD"),
        entry(2, Rating.SELL, 0.05),
        entry(3, Rating.HOLD, 0.05),
        entry(4, Rating.BUY, -0.005),
        entry(5, None, -0.05),
    ]
    assert others[3].verdict is Verdict.NEUTRAL
    call = decide(memories=[*others, entry(6, Rating.BUY, -0.05)])
    assert call.rating is Rating.BUY
    assert call.cited == (f"{6:012x}",)


def test_a_hold_takes_nothing_from_memory():
    call = decide(seen(0.0), memories=[entry(n, Rating.HOLD, -0.05) for n in range(3)])
    assert (call.rating, call.cited) == (Rating.HOLD, ())


def test_a_short_history_gives_no_rating_rather_than_a_hold():
    call = decide(seen(None, sessions=120))
    assert call.rating is None
    assert "120 of the 251 closes" in call.text
    call = decide(seen(None))
    assert call.rating is None
    assert "no ordinary move" in call.text


@pytest.mark.parametrize(
    "found",
    [
        Brief(ticker="NVDA", missing="NVDA", fault=PriceFault.UNKNOWN_SYMBOL),
        seen(missing="SPY", fault=PriceFault.RATE_LIMITED),
    ],
)
def test_missing_closes_are_an_error_and_no_decision(found):
    """Nothing is recorded then, so that a later run on the same day can still decide."""
    with pytest.raises(PriceError) as error:
        decide(found)
    assert str(error.value) == f"no prices for {found.missing}: {found.fault}"


def test_a_ticker_without_a_benchmark_is_decided_on_its_own_return():
    call = decide(seen(year=Move(0.15, None), month=Move(0.02), benchmark=None))
    assert call.rating is Rating.OVERWEIGHT
    assert "NVDA returned +15.0% from 250 to 20 sessions ago.\n" in call.text
    assert "None" not in call.text


def test_a_call_can_be_written_briefly():
    assert Call("Buy", "Because.") == Call(rating="Buy", text="Because.", cited=())

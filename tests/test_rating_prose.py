"""Which ratings a thesis states outright, and what is nobody's rating."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradmem.model import Rating
from tradmem.rating.prose import stated_in_prose


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("I rate it Sell.", "Sell"),
        ("We rate NVDA as an Overweight for now.", "Overweight"),
        ("It has fallen. This is a Sell.", "Sell"),
        ("NVDA remains a Buy.", "Buy"),
        ("BRK.B is therefore a **Hold**.", "Hold"),
        ("My rating is Sell because margins shrink.", "Sell"),
        ("The call stays Underweight.", "Underweight"),
        ("We recommend Underweight here.", "Underweight"),
        ("I stay Overweight.", "Overweight"),
        ("That makes it a Hold.", "Hold"),
        ("Margins shrink, so Underweight.", "Underweight"),
        ("Hence SELL.", "Sell"),
        ("It will rise. Rating: Sell.", "Sell"),
        ("Sell. The stock fell.", "Sell"),
        ("Recommendation: Sell, because of margins.", "Sell"),
        ("评级：卖出。股价下跌。", "Sell"),
        ("The rule says Hold. Empfehlung: Verkaufen.", "Sell"),
    ],
)
def test_what_is_said_of_the_call_is_read(text, rating):
    assert stated_in_prose(text) == (Rating(rating),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It has risen. It may rise on.",
        "Hold on to the shares. They rise.",
        "Buy the dip? No.",
        "Sell-side targets rose.",
        "Sell pressure fades.",
        "The rule says Overweight.",
        "The Buy of 2022-01-03 was wrong.",
        "The call on 2022-01-03 NVDA Buy failed.",
        "It is not a Sell.",
        "I don't rate it Sell.",
        "Analysts rate it Sell.",
        "Rating agencies rate it a Buy.",
        "NVDA remains an Overweight rather than a Buy.",
        "If margins shrink, this is a Sell.",
        "We recommend patience.",
    ],
)
def test_doubts_comparisons_and_the_past_are_nobodys_rating(text):
    assert stated_in_prose(text) == ()


def test_each_rating_comes_once_in_its_order():
    text = "I rate it Sell. Momentum is weak. This is a Sell. Rating: Hold."
    assert stated_in_prose(text) == (Rating.SELL, Rating.HOLD)


@given(st.text(alphabet="I rate it a Sell. This is Buy\n:*not", max_size=200))
def test_no_text_is_too_much(text):
    assert set(stated_in_prose(text)) <= set(Rating)

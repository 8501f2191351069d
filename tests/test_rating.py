"""Which rating a text gives."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradmem import Rating, parse_rating
from tradmem.rating_words import VALUES, words

DATA = Path(__file__).parent / "data"
CASES = [
    case
    for name in ("ratings.json", "ratings_more.json")
    for case in json.loads((DATA / name).read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.get("id") or case["text"][:40])
def test_a_text_gives_what_it_says(case):
    assert parse_rating(case["text"]) == case["expected"]


@pytest.mark.parametrize(
    ("word", "rating"),
    [(word, rating) for rating, table in VALUES.items() for word in words(table)],
)
def test_every_word_of_the_table_is_read(word, rating):
    assert parse_rating(f"Rating: {word}") is rating
    assert parse_rating(f"**{word.upper()}**") is rating


def test_no_word_stands_for_two_ratings():
    every = [word for table in VALUES.values() for word in words(table)]
    assert sorted(every) == sorted(set(every))


LINES = st.sampled_from(
    [
        "Rating: ",
        "Final rating",
        "Buy",
        "Sell",
        "\n",
        " | ",
        "**",
        "(",
        ")",
        "->",
        "<think>",
        "{",
        '"',
        "评级：",
    ]
)


@given(st.text() | st.lists(LINES | st.text(max_size=3), max_size=30).map("".join))
def test_no_text_is_too_much(text):
    assert parse_rating(text) in {None, *Rating}


@given(st.sampled_from(list(Rating)), st.text(alphabet="abc .,\n", max_size=60))
def test_a_labelled_rating_stands_among_other_lines(rating, prose):
    assert parse_rating(f"{prose}\nRating: {rating}\n{prose}") is rating


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        "<think>",
        "Rating: ",
        "Rating: Buy\n",
        "{",
        "[",
        "(",
        "| a ",
        "|-",
        "~~",
        "Rating\n",
        "我",
        "my ",
    ],
)
def test_time_grows_with_the_length_and_no_faster(unit):
    def seconds(size):
        text = unit * (size // len(unit))
        start = time.perf_counter()
        parse_rating(text)
        return time.perf_counter() - start

    small = min(seconds(50_000) for _ in range(3))
    assert seconds(400_000) < 40 * small + 0.1

"""A rating is read where a text clearly gives one, and nowhere else."""

import json
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradmem.model import Rating
from tradmem.rating import parse_rating
from tradmem.rating.words import RATINGS, WHOLE, words

DATA = Path(__file__).parent / "data"
CASES = [
    case
    for name in ("ratings.json", "ratings_more.json")
    for case in json.loads((DATA / name).read_text(encoding="utf-8"))
]
WORDS = [
    (rating, language, word)
    for rating, languages in RATINGS.items()
    for language, phrases in languages.items()
    for word in words(phrases)
]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_text_gives_the_rating_that_a_reader_would_name(case):
    expected = Rating(case["expected"]) if case["expected"] else None
    assert parse_rating(case["text"]) is expected, case["why"]


@pytest.mark.parametrize(("rating", "language", "word"), WORDS)
def test_every_word_of_the_vocabulary_is_read_behind_a_label(rating, language, word):
    """In either case, bold, and as the only word of a table cell."""
    for text in (f"Rating: {word}", f"**Rating**: **{word.upper()}**.", f"| Rating | {word} |"):
        assert parse_rating(text) is rating, (language, text)


@pytest.mark.parametrize(
    ("rating", "word"), [(rating, word) for rating, text in WHOLE.items() for word in words(text)]
)
def test_a_word_that_must_be_the_whole_value_is_none_with_more_behind_it(rating, word):
    assert parse_rating(f"Rating: {word}") is rating
    assert parse_rating(f"Rating: {word} 17 xyz") is None


def test_no_word_stands_for_two_ratings():
    owners: dict[str, set[Rating]] = {}
    for rating, _, word in WORDS:
        owners.setdefault(word, set()).add(rating)
    assert {word: found for word, found in owners.items() if len(found) > 1} == {}


@pytest.mark.parametrize("language", sorted(RATINGS[Rating.BUY]))
def test_every_language_has_a_word_for_each_of_the_five(language):
    assert all(words(languages[language]) for languages in RATINGS.values())


RATING_NAMES = st.sampled_from([rating.value for rating in Rating])
BITS = st.sampled_from(
    [
        *("Rating", "Final rating", ": ", " - ", "|", "\n", "|---|", "Buy", "Hold", "Sell", " / "),
        *("not ", "(", ")", "[", "]", "{", "}", '"', "<think>", "</think>", "<!--", "-->", "<b>"),
        *("~~", "```", "->", "评级\uff1a", "买入", "不", "\\", "&#xD800;", "&#99999999999;"),
        *("\ud800", "\u0300", "\x00", "\u2028", "\u0131"),
    ]
)


@given(st.one_of(st.text(), st.lists(BITS, max_size=40).map("".join)))
@settings(max_examples=400, deadline=None)
def test_no_text_raises(text):
    assert parse_rating(text) in (None, *Rating)


@given(
    rating=RATING_NAMES,
    mark=st.sampled_from(["", "- ", "* ", "1. ", "2) ", "# ", "### ", "> ", "- **", "\u2022 "]),
    label=st.sampled_from(["Rating", "Our rating", "FINAL RATING", "Recommendation", "verdict"]),
    join=st.sampled_from([": ", ":", " : ", " - ", " \u2014 ", " | ", ":\n", ":\n\n\n", "\uff1a"]),
    around=st.sampled_from(["", "*", "**", "`", '"', "_", "__", "***"]),
    tail=st.sampled_from(
        ["", ".", "!", " (previously Hold)", "\nOther text.", " with a stop at 5"]
    ),
)
@settings(deadline=None)
def test_marks_joins_and_markup_do_not_change_the_rating(rating, **parts):
    text = "{mark}{label}{join}{around}{rating}{around}{tail}".format(rating=rating, **parts)
    assert parse_rating(text) is Rating(rating)


@given(rating=RATING_NAMES, other=RATING_NAMES)
def test_two_labels_of_one_rank_must_agree_and_a_final_one_outranks(rating, other):
    agreed = Rating(rating) if rating == other else None
    assert parse_rating(f"Rating: {rating}\nRecommendation: {other}") is agreed
    assert parse_rating(f"Rating: {rating}\nFinal rating: {other}") is Rating(other)
    assert parse_rating(f"Rating: {rating} / {other}") is agreed
    assert parse_rating(f"Rating: {rating} -> {other}") is Rating(other)


@given(
    prefix=st.sampled_from(
        ["Street", "Analyst", "Previous", "Prior", "Northfield", "Not our", "机构"]
    ),
    rating=RATING_NAMES,
)
def test_a_label_that_does_not_start_its_line_is_nobodys(prefix, rating):
    assert parse_rating(f"{prefix} rating: {rating}") is None


HOSTILE = {
    "prose": "The margin rose and the shares fell again in a quiet session. ",
    "labels": "Rating: Hold\n",
    "bare labels": "Rating:\n",
    "open labels": "Rating (",
    "qualifiers": "our final investment ",
    "one letter lines": "a\n",
    "blank lines": "\n",
    "blanks": " ",
    "hashes": "#",
    "angles": "<",
    "tags": "<a ",
    "thoughts": "<think>",
    "thought ends": "</think>",
    "comments": "<!--",
    "braces": "{",
    "open objects": '{"a":',
    "object lines": '{"a":\n',
    "quotes": '{"a",',
    "tables": "| Rating |\n|---|\n",
    "table rows": "| Rating | x |\n",
    "strikes": "~~a",
    "combining": "\u0300\u0315",
    "backslashes": "\\",
    "entities": "&#x",
    "chinese": "投资评级",
    "choices": "Rating: " + "Buy / ",
    "bare ratings": "Buy\n",
    "arrows": "Rating: Buy " + "-" * 370 + " Buy\n",
    "final words": "最终" * 200 + "\n",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_long_text_of_any_kind_takes_time_in_proportion(unit):
    """Sixteen times the text may take forty times as long, not the 256 of a square."""
    small, large = (_seconds((unit * size)[:size]) for size in (10_000, 160_000))
    assert large < 0.2 + 40 * small


def _seconds(text):
    """The least of three, since in a long run of tests a garbage collection may fall into one."""
    return min(_once(text) for _ in range(3))


def _once(text):
    start = time.process_time()
    parse_rating(text)
    return time.process_time() - start


def test_deep_nesting_is_read_or_left_alone():
    deep = '{"a":' * (sys.getrecursionlimit() * 3)
    assert parse_rating(deep + '"Buy"') is None
    assert parse_rating(f"Rating: Sell\n{deep}") is Rating.SELL

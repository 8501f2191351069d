"""Equal lessons have equal hashes, whatever the occasion; different ones have not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradmem.lessons.reflect import lesson_hash

TEXT = "The Buy on NVDA was right: alpha +4.5% over 5 sessions. Café orders led."


@pytest.mark.parametrize(
    "same",
    [
        TEXT.upper(),
        TEXT.lower(),
        TEXT.replace(" ", "\n\t "),
        TEXT.replace(" ", "\u00a0"),
        unicodedata.normalize("NFD", TEXT),
        TEXT.replace("+4.5%", "-12.25 %"),
        TEXT.replace("+4.5%", "\u22124,5%"),
        TEXT.replace("+4.5%", "\u00b14.5 %"),
        TEXT.replace("5 sessions", "20 sessions"),
        TEXT.replace("NVDA", "$NVDA"),
        TEXT.replace("NVDA", "\uff2e\uff36\uff24\uff21"),
        f"  {TEXT}\n",
    ],
)
def test_case_space_form_ticker_and_figures_do_not_count(same):
    assert lesson_hash(same, "NVDA") == lesson_hash(TEXT, "NVDA")


@pytest.mark.parametrize("ticker", ["AMD", "BRK.B", "0700.HK", "^GSPC", "ETH-USD"])
def test_the_same_lesson_on_another_ticker_is_the_same(ticker):
    assert lesson_hash(TEXT.replace("NVDA", ticker), ticker) == lesson_hash(TEXT, "NVDA")


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("right", "wrong"),
        TEXT.replace("Buy", "Sell"),
        TEXT.replace("Café", "Cafe"),
        TEXT.replace("NVDA", "NVDAX"),
        TEXT.replace("NVDA", "AMD"),
        TEXT + " More.",
    ],
)
def test_other_words_are_another_lesson(other):
    assert lesson_hash(other, "NVDA") != lesson_hash(TEXT, "NVDA")


def test_a_ticker_beside_letters_of_another_script_is_masked():
    assert lesson_hash("NVDAは上がった", "NVDA") == lesson_hash("7203.Tは上がった", "7203.T")


@given(st.text(), st.sampled_from(["NVDA", "BRK.B", "A"]))
def test_any_text_has_a_hash_that_does_not_change_when_taken_again(text, ticker):
    digest = lesson_hash(text, ticker)
    assert len(digest) == 64
    assert digest == lesson_hash(unicodedata.normalize("NFKC", text), ticker)

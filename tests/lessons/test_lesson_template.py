"""Lessons from the facts alone: true, within the checks, and different where the facts are."""

from itertools import product
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lessons.lesson_cases import case, settled
from tradmem.errors import UsageError
from tradmem.lessons.checks import check
from tradmem.lessons.figures import given as given_figures
from tradmem.lessons.reflect import Case, Lesson, TemplateReflector, lesson_hash
from tradmem.lessons.template import lesson_text, percent
from tradmem.model import Decision, Rating, Verdict, fold

RATINGS = (*Rating, None)
FLAGS = ((), ("stopped",), ("no_benchmark",), ("currency", "asynchronous"), ("default_band",))


def findings(entry):
    return check(
        lesson_text(entry),
        rating=entry.rating,
        verdict=entry.verdict,
        given=given_figures(entry),
        ticker=entry.ticker,
        prompt=entry.decision,
    )


def test_every_combination_passes_the_checks():
    """All ratings, sizes, signs, flags and holdings against the same checks as a model's text."""
    alphas = (None, -0.4, -0.05, -0.0209, -0.004, 0.0, 0.0003, 0.0211, 3.0)
    for rating, alpha, raw, flags, held in product(
        RATINGS, alphas, (-0.03, 0.0, 0.06), FLAGS, ((5, 5), (1, 5), (7, 5))
    ):
        entry = settled(rating, raw, alpha, flags=flags, sessions=held[0], horizon=held[1])
        assert findings(entry) == (), lesson_text(entry)


tickers = st.one_of(
    st.from_regex(r"\A\^?[A-Z0-9][A-Z0-9.&=_^-]{0,31}\Z"),
    st.sampled_from(
        ["RIGHT", "WAS", "NOT", "A", "CALL", "5", "BRK.B", "0700.HK", "^GSPC", "ETH-USD"]
    ),
)
returns = st.floats(-0.999, 50, allow_nan=False)
outcomes = st.fixed_dictionaries(
    {
        "rating": st.sampled_from(RATINGS),
        "raw": returns,
        "alpha": st.none() | returns,
        "band": st.none() | st.floats(1e-4, 0.5),
        "ticker": tickers,
        "benchmark": st.sampled_from(["SPY", "000001.SS", "FTSEMIB.MI", None]),
        "sessions": st.integers(1, 260),
        "flags": st.sampled_from(FLAGS),
        "market": st.sampled_from(["derived", None]),
    }
)


@settings(max_examples=300, deadline=None)
@given(outcomes)
def test_any_outcome_of_any_ticker_passes_the_checks(options):
    entry = settled(**options)
    assert findings(entry) == (), lesson_text(entry)


@pytest.mark.parametrize(
    ("rating", "alpha", "says"),
    [
        (Rating.BUY, 0.045, "The Buy on NVDA was right: alpha +4.5% against SPY over 5 sessions"),
        (Rating.BUY, -0.045, "The Buy on NVDA was wrong: alpha -4.5%"),
        (Rating.BUY, 0.006, "The Buy on NVDA was neither right nor wrong: alpha +0.6%"),
        (Rating.SELL, -0.045, "The Sell on NVDA was right: alpha -4.5%"),
        (Rating.HOLD, 0.006, "The Hold on NVDA was right: alpha +0.6%"),
        (Rating.HOLD, -0.045, "The Hold on NVDA was wrong: alpha -4.5%"),
        (None, 0.045, "The decision on NVDA carried no rating to judge: alpha +4.5%"),
    ],
)
def test_the_first_sentence_is_the_verdict_with_its_figure(rating, alpha, says):
    assert lesson_text(settled(rating, alpha + 0.01, alpha)).startswith(says)


def test_the_figure_is_set_against_the_band():
    assert "above the band's +2.1%" in lesson_text(settled(alpha=0.045))
    assert "below the band's -2.1%" in lesson_text(settled(alpha=-0.045))
    assert "inside the \u00b12.1% band" in lesson_text(settled(alpha=0.01))


def test_figures_that_would_read_the_same_show_one_digit_more():
    text = lesson_text(settled(alpha=0.0104, band=0.0096))
    assert "alpha +1.04%" in text
    assert "+0.96%" in text


def test_advice_differs_by_rating_verdict_and_size():
    advice = {}
    for rating, alpha in product(
        RATINGS, (-0.1, -0.05, -0.025, -0.015, 0.001, 0.015, 0.025, 0.05, 0.1)
    ):
        text = lesson_text(settled(rating, alpha, alpha))
        advice[rating, alpha] = text[text.index("Next time") :]
    by_rating = {rating: {v for (r, _), v in advice.items() if r is rating} for rating in RATINGS}
    sizes = {rating: len(texts) for rating, texts in by_rating.items()}
    assert sizes == {**dict.fromkeys(Rating, 9), Rating.HOLD: 8, None: 1}  # near zero is one Hold


def test_opposite_signs_are_put_down_to_the_market():
    gained = lesson_text(settled(Rating.BUY, 0.02, -0.045))
    lost = lesson_text(settled(Rating.BUY, -0.02, 0.045))
    assert "NVDA rose (+2.0%) but SPY rose more (+6.5%): the gain was the market's." in gained
    assert "NVDA fell (-2.0%) but SPY fell more (-6.5%): the loss was the market's." in lost


def test_a_judged_raw_return_is_said_to_hold_the_market():
    plain = lesson_text(settled(raw=0.03, alpha=None))
    late = lesson_text(settled(raw=0.03, alpha=None, flags=("no_benchmark",)))
    assert "was right: return +3.0% over 5 sessions" in plain
    assert "no benchmark for it" in plain
    assert "benchmark had no usable price" in late


def test_a_holding_that_stopped_early_is_said_so():
    assert "Prices ended after 3 of 5 planned sessions" in lesson_text(
        settled(sessions=3, flags=("stopped",))
    )
    assert "held for 1 session instead of the planned 5" in lesson_text(settled(sessions=1))


def test_negative_zero_is_shown_as_zero():
    assert percent(-0.0004) == "+0.0%"
    assert percent(-0.0005001) == "-0.1%"


def test_the_reflector_answers_in_order_and_names_itself():
    cases = [case(ticker=name) for name in ("AAPL", "MSFT", "NVDA")]
    lessons = list(TemplateReflector().reflect(cases))
    assert [lesson.text.split()[3] for lesson in lessons] == ["AAPL", "MSFT", "NVDA"]
    assert all(isinstance(lesson, Lesson) for lesson in lessons)
    assert lessons[0].ledger() == {
        "model": "template",
        "lesson": lesson_hash(lessons[0].text, "AAPL"),
    }


def test_equal_facts_give_equal_words_and_hashes_across_tickers_and_figures():
    one, other = (
        next(TemplateReflector().reflect([case(Rating.BUY, 0.06, 0.045)])),
        next(TemplateReflector().reflect([case(Rating.BUY, 0.061, 0.046, ticker="AMD")])),
    )
    assert one.text != other.text
    assert one.sha256 == other.sha256


def test_an_entry_without_an_outcome_is_no_case():
    decision = Decision(id="0" * 12, date=settled().date, ticker="NVDA", text="x")
    with pytest.raises(UsageError, match="has no outcome"):
        Case(entry=fold(decision, []))


def test_the_verdict_of_the_text_is_that_of_the_entry():
    """Oracle: direction times alpha against the band, computed here."""
    for rating, alpha in product(Rating, (-0.05, -0.01, 0.0, 0.01, 0.05)):
        gain = {"Buy": 1, "Overweight": 1, "Hold": 0, "Underweight": -1, "Sell": -1}[rating] * alpha
        word = "right" if gain > 0.021 else "wrong" if gain < -0.021 else "neither right nor wrong"
        if rating is Rating.HOLD:
            word = "right" if abs(alpha) <= 0.021 else "wrong"
        assert f"was {word}:" in lesson_text(settled(rating, alpha, alpha))
        assert settled(rating, alpha, alpha).verdict in Verdict


def test_a_replay_can_afford_one_per_decision():
    """A replay writes 100,000; several times the time it takes here, for a loaded machine."""
    kinds = ((Rating.BUY, 0.02, -0.045), (Rating.HOLD, 0.02, 0.005), (Rating.SELL, 0.02, None))
    cases = [case(*kind, flags=("stopped",)) for kind in kinds] * 700
    best = min(_seconds(cases) for _ in range(5))
    assert best / len(cases) < 500e-6


def _seconds(cases):
    started = perf_counter()
    assert sum(1 for _ in TemplateReflector().reflect(cases)) == len(cases)
    return perf_counter() - started

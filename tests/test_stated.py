"""The horizon that a decision's text states."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradmem.stated import stated_horizon


@pytest.mark.parametrize(
    ("text", "sessions"),
    [
        ("**Time Horizon**: 6-12 months", 126),
        ("Rating: Buy\n- Time horizon: 3 months\n", 63),
        ("Holding period: 5 trading days", 5),
        ("Investment Horizon: 2-3 weeks", 10),
        ("Horizon: 1 year", 252),
        ("4. **Time Horizon:** 12\u201318 months", 252),
        ("Timeframe \u2014 1 quarter", 63),
        ("| Horizon | 2 weeks |", 10),
        ("Horizont: 3 bis 6 Monate", 63),
        ("Horizonte: 6 meses", 126),
        ("\u6295\u8d44\u671f\u9650\uff1a3\u4e2a\u6708", 63),
        ("Horizon: 1.5 years", 378),
        ("Horizon: long term", None),
        ("We looked back 6 months.", None),
        ("Time horizon", None),
        ("Horizon: 3 apples", None),
        ("", None),
    ],
)
def test_a_stated_horizon_is_read_in_sessions(text, sessions):
    assert stated_horizon(text) == sessions


@given(st.text())
def test_no_text_is_too_much(text):
    assert stated_horizon(f"Horizon: {text}") in (None, *range(1, 2521))

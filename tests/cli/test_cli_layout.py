"""Tables and paragraphs fit the columns of a terminal, in any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradmem.cli.layout import Cell, Column, cell_width, cut, listed, paragraphs, table
from tradmem.cli.output import safe

COLUMNS = [Column("A"), Column("B", right=True, drop=1), Column("C", drop=2, least=10), Column("D")]


def lines(rows: list[list[str]], room: int) -> list[str]:
    return list(table(COLUMNS, [[Cell(text) for text in row] for row in rows], room))


def test_columns_are_aligned_and_empty_ones_left_out():
    assert lines([["x", "1", "", "end"], ["long", "22", "", "e"]], 80) == [
        "\x1b[2mA\x1b[0m      \x1b[2mB\x1b[0m  \x1b[2mD\x1b[0m",
        "x      1  end",
        "long  22  e",
    ]


def test_a_column_that_stretches_takes_what_is_left_and_is_cut():
    text = "a lesson of many words"
    assert lines([["x", "1", text, "end"]], 80)[1] == f"x  1  {text}  end"
    assert lines([["x", "1", text, "end"]], 24)[1] == "x  1  a lesson of…   end"


def test_columns_go_in_their_order_when_room_is_short():
    row = ["xxxx", "1", "a lesson of many words", "end"]
    assert lines([row], 24)[1] == "xxxx  1  a lesson…   end"
    assert lines([row], 23)[1] == "xxxx  1  end"
    assert lines([row], 10)[1] == "xxxx  end"
    assert lines([row], 3)[1] == "xxxx  end"  # these stay, whatever the room


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("plain", 5, "plain"),
        ("plain", 4, "pla…"),
        ("two words", 5, "two…"),
        ("新しい相場", 10, "新しい相場"),
        ("新しい相場", 9, "新しい相…"),
        ("新しい相場", 8, "新しい…"),
        ("", 3, ""),
    ],
)
def test_a_text_is_cut_to_columns_not_to_letters(text, width, expected):
    assert cut(text, width) == expected
    assert cell_width(expected) <= width


def test_a_wide_script_keeps_the_columns_aligned():
    found = lines([["新しい", "1", "", "end"], ["abcdef", "1", "", "end"]], 80)
    assert [cell_width(line) for line in found[1:]] == [14, 14]


@given(st.text(max_size=300), st.integers(min_value=20, max_value=90))
def test_paragraphs_fit_and_lose_no_word(text, width):
    found = list(paragraphs(text, width))
    assert "".join("".join(found).split()) == "".join(safe(text).split())
    assert all(cell_width(line) <= width for line in found if len(line.split()) > 1)


def test_list_items_hang_and_lines_are_kept():
    text = "**Rating**: Buy\n\n- a thesis that is longer than the line\n  1. short\nplain"
    assert list(paragraphs(text, 24)) == [
        "  **Rating**: Buy",
        "",
        "  - a thesis that is",
        "    longer than the line",
        "    1. short",
        "  plain",
    ]


def test_a_list_breaks_between_its_items_only():
    assert list(listed(["NVDA Buy", "AAPL Hold", "XOM Sell"], 25, "  due  ")) == [
        "  due  NVDA Buy,",
        "       AAPL Hold,",
        "       XOM Sell",
    ]
    assert list(listed(["NVDA Buy", "AAPL Hold"], 80, "  ")) == ["  NVDA Buy, AAPL Hold"]


@given(st.text(max_size=200))
def test_a_safe_text_holds_nothing_that_drives_a_terminal(text):
    found = safe(text)
    assert all(c in "\n\t" or not (ord(c) < 32 or 127 <= ord(c) < 160) for c in found)
    assert not set(found) & set(
        "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
    )

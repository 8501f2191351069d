"""Words of texts and queries in any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradmem.lessons.excerpt import excerpts
from tradmem.lessons.fulltext import FullText, Texts
from tradmem.lessons.words import MOST_TERMS, MOST_WORDS, asked_for, joined, spaced, terms_of

TEXTS = [
    "The guidance was raised; margins fell.",
    "Raising money is no guidance.",
    "台積電上調全年業績指引，股價上漲。",
    "業績は上方修正された。トヨタの株価",
    "실적이 좋다. 삼성전자는 올랐다",
    "กำไรสุทธิเพิ่มขึ้น",
    "Der Gewinn fiel, die Übernahme café-naïve BRK.B at 0700.HK",
    "ＮＶＤＡ　ｆｕｌｌ width and ① mark",
]


def found(query):
    texts = Texts(TEXTS)
    terms = asked_for(query)
    return sorted(set.intersection(*map(texts.holding, terms))) if terms else None


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("guidance raised", [0, 1]),
        ('"guidance was raised"', [0]),
        ('"raised guidance"', []),
        ("RAISE", [0, 1]),
        ("業績", [2, 3]),
        ("業績指引", [2]),
        ("指引業績", []),
        ("上調 股價", [2]),
        ("上", [2, 3]),
        ("トヨタ", [3]),
        ("실적", [4]),
        ("삼성전자", [4]),
        ("สุทธิ", [5]),
        ("ubernahme CAFE", [6]),
        ("brk.b", [6]),
        ("0700.HK", [6]),
        ("nvda", [7]),
        ("full-width", [7]),
        ('"', None),
        ('guidance "', [0, 1]),
        ('"guidance', [0, 1]),
        ("guidance AND raised", []),
        ("(guidance*", [0, 1]),
        ("guidance\0raised", []),
        ("-guidance ^raised :", [0, 1]),
        ("***", None),
        ("", None),
    ],
)
def test_a_query_means_its_words_and_phrases_and_nothing_else(query, places):
    assert found(query) == places


@given(st.text() | st.text('"\0*^():-+{}\ud800AND NEAR業績é ', max_size=40))
def test_no_query_raises(query):
    texts = Texts(["guidance raised 業績"])
    for term in (*asked_for(query), *terms_of(query)):
        assert texts.holding(term) <= {0}
    assert excerpts(["guidance raised 業績"], asked_for(query))


def test_a_query_without_end_is_cut():
    words = " ".join(f"w{number}" for number in range(2000))
    assert len(asked_for(words)) == MOST_WORDS
    assert len(terms_of(words)) == MOST_TERMS
    table = FullText()
    table.add([(1, words)])
    assert table.holding(" AND ".join(term.match for term in asked_for(words))) == [1]


def test_the_terms_of_a_text_are_its_distinct_words_without_figures():
    terms = terms_of("The Guidance was raised by 4.5%, a H100 guidance, 業績修正 5 x")
    texts = [term.text for term in terms]
    assert texts == ["The", "Guidance", "was", "raised", "by", "H100", "業績", "績修", "修正"]


@pytest.mark.parametrize(
    "text", ["台積電上調全年業績指引", "業績は、上方修正された。", "plain text", "A台積電B 指引"]
)
def test_what_is_set_apart_for_the_index_is_joined_again(text):
    assert joined(" ".join(spaced(text).split())).replace(" ", "") == text.replace(" ", "")
    assert "台 積" not in joined(spaced(text))


def test_an_excerpt_shows_where_the_words_stand():
    text = "filler " * 60 + "then the guidance was raised again " + "filler " * 60
    pieces = excerpts([text, "nothing of it " * 20], asked_for("guidance raises"), words=10)
    assert [piece.text for piece in pieces[0] if piece.is_match] == ["guidance", "raised"]
    assert len("".join(piece.text for piece in pieces[0]).split()) <= 11
    assert [piece.is_match for piece in pieces[1]] == [False]
    chinese = excerpts(
        ["前文。" * 30 + "台積電上調業績" + "後文。" * 30], asked_for("上調業績"), words=12
    )
    assert [piece.text for piece in chinese[0] if piece.is_match] == ["上調業績"]

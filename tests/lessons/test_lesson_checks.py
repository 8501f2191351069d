"""The checks on a lesson: each refuses what it is for, and lets sound prose through."""

from time import process_time

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from tests.lessons.lesson_cases import settled
from tradmem.lessons.checks import Reason, check, echoes, tidy
from tradmem.lessons.claims import contradiction
from tradmem.lessons.figures import figures, given, not_given
from tradmem.lessons.sentences import count_sentences
from tradmem.model import Rating, Verdict

SOUND = "The Buy was right: alpha +4.5% against SPY. Next time, size it the same way."


def reasons(text, entry=None, prompt=""):
    entry = entry or settled()
    found = check(
        text,
        rating=entry.rating,
        verdict=entry.verdict,
        given=given(entry),
        ticker=entry.ticker,
        prompt=prompt,
    )
    assert all(finding.message for finding in found)
    return [finding.reason for finding in found]


def test_a_sound_lesson_has_no_findings():
    assert reasons(SOUND) == []


@pytest.mark.parametrize(
    "text", ["", "  \n ", "...", "null", "N/A", "None.", "123", "**", "Lesson:", "\u2026", '""']
)
def test_nothing_said_is_empty(text):
    assert reasons(text) == [Reason.EMPTY]


@pytest.mark.parametrize(
    "text",
    [
        "- The Buy was right.\n- Next time, repeat it.",
        "1. The Buy was right.\n2. Next time, repeat it.",
        "\u2022 The Buy was right. Next time, repeat it.",
        "# What I learnt\nThe Buy was right. Next time, repeat it.",
        "**Summary**\nThe Buy was right. Next time, repeat it.",
        "What to do next:\nThe Buy was right. Next time, repeat it.",
        "| a | b |\nThe Buy was right. Next time, repeat it.",
        "```\nThe Buy was right. Next time, repeat it.\n```",
        '{"text": "The Buy was right. Next time, repeat it."}',
        "> The Buy was right. Next time, repeat it.",
    ],
)
def test_anything_but_plain_prose_is_refused(text):
    assert Reason.FORM in reasons(text)


@pytest.mark.parametrize(
    "text",
    [
        "Lesson: " + SOUND,
        "**Reflection:** " + SOUND,
        "The Buy was right -\nand next time, it may stand. Keep it so.",
        "The **Buy** was right. Next time, repeat it.",
    ],
)
def test_prose_with_a_label_or_emphasis_is_still_prose(text):
    assert Reason.FORM not in reasons(text)


def test_length_counts_characters_of_the_tidy_text():
    sentence = "The Buy was right. "
    padding = "x" * (600 - len(sentence) - 1)
    assert Reason.LENGTH not in reasons(sentence + "  \n" + padding + ".")
    assert Reason.LENGTH in reasons(sentence + padding + "x.")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One only.", 1),
        ("One without a stop", 1),
        ("It rose 1.5% in the U.S. market, i.e. a bit. Wait for more.", 2),
        ("Was it so? Yes! Then wait.", 3),
        ("BRK.B and 0700.HK rose. Fine.", 2),
        ("It fell... and then it rose. Fine.", 2),
        ("the buy was right. next time wait.", 2),
        ('He wrote "sell." Then he bought. Done.', 3),
        (
            "买入正确。超额收益4.5%。下次继续。",
            3,
        ),
        (
            "買いは正しかった。次も同様に！",
            2,
        ),
        ("Der Kurs stieg um 4,5 %, z.B. wegen der Zahlen. Weiter so.", 2),
        (
            "यह सह\u0940 थ\u093e। अगल\u0940 ब\u093eर फ\u093fर।",
            2,
        ),
        ("First part\n\nSecond part", 2),
        ("The fee was approx. 4 bp. No. 5 was larger.", 2),
    ],
)
def test_sentences_are_counted_as_a_reader_does(text, count):
    counted = count_sentences(text)
    assert counted.fewest <= count <= counted.most
    assert counted.most - counted.fewest <= 1


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("The Buy was right with alpha +4.5%.", True),
        (
            "A. " * 2 + "The Buy held up well. It rose. It rose more. It rose again. Then it fell.",
            True,
        ),
        ("One thing is clear. Another is clear. Next time, wait. Then act.", False),
        ("One. Two. Three. Four. Five.", True),
    ],
)
def test_two_to_four_sentences_are_asked_for(text, refused):
    assert (Reason.SENTENCES in reasons(text)) is refused


def test_ten_paragraphs_are_refused():
    found = reasons("\n\n".join(f"Paragraph {n} says that it went well." for n in range(10)))
    assert Reason.SENTENCES in found


@pytest.mark.parametrize(
    "written",
    [
        "4.5%", "+4.5%", "4.5 %", "4,5 %", "+4,5%", "4.50%", "4.5 percent", "4.5 per cent", "4.5pp",
        "450 basis points", "450bps", "450 bp", "4.5 percentage points", "4,5 Prozent",
        "4,5 pour cent", "4,5 por ciento", "\uff14.\uff15\uff05", "百分之4.5", "4.5个百分点",
        "%4,5", "5%", "4 to 5%", "4\u20135 %", "five percent", r"4.5\%", "(4.5%)", "4.5-percent",
        "+6.0% less +1.5%", "\u00b12.1%", "-2.1%", "\u22122.1%", "600 basis points",
    ],
)  # fmt: skip
def test_a_given_percentage_is_accepted_however_it_is_written(written):
    assert figures(written)
    assert not_given(f"It made {written} here", given(settled())) == ()


@pytest.mark.parametrize(
    "written",
    [
        "4.6%", "-4.5%", "\u22124.5%", "\u2013 4.5% and -4.5%", "9 %", "9,9 %", "4.7 percent",
        "45%", "45 %", "470 basis points", "0.45%", "450%", "twenty percent", "4.5 to 9%",
        "9\u20135%", "百分之9", "%9,5", "1,234.5%", "\uff19\uff05", "-6.0%", "6.04%",
    ],
)  # fmt: skip
def test_a_percentage_that_was_not_given_is_refused(written):
    assert not_given(f"It made {written} here", given(settled())) != ()
    assert Reason.FIGURES in reasons(f"The Buy was right. It made {written} here.")


def test_a_loss_may_be_written_without_its_sign():
    assert not_given("It fell 4.5%", given(settled(alpha=-0.045))) == ()


def test_percentages_of_the_decision_and_of_related_lessons_were_given_too():
    entry = settled(text="Rating: Buy\nMargin 73.5%, stop at \u22128 %.")
    assert not_given("Margins of 73.5% and a stop at -8%", given(entry)) == ()
    assert not_given("It was 31%", given(entry)) != ()
    assert not_given("It was 31%", given(entry, "Earlier it rose 31 %.")) == ()


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1,234.5%", 1234.5),
        ("1.234,5 %", 1234.5),
        ("1 234,5 %", 1234.5),
        ("1,234%", 1234),
        ("0,123 %", 0.123),
        ("12'345.6%", 12345.6),
        (".5%", 0.5),
        ("150 bp", 1.5),
        ("twenty-five percent", 25),
        ("twelve per cent", 12),
    ],
)
def test_figures_are_read_with_any_separators(written, value):
    assert [figure.value for figure in figures(f"about {written}, or so")] == pytest.approx([value])


@drawn(st.floats(-99, 999, allow_nan=False), st.integers(0, 3))
def test_any_rounding_of_a_given_figure_agrees_and_a_whole_unit_off_does_not(value, digits):
    known = given(settled(raw=value / 100, alpha=None, band=value / 100, text="x"))
    assert not_given(f"{value:+.{digits}f}%", known) == ()
    off = value + 1.6 * 10.0**-digits + 0.11
    assert not_given(f"{abs(off) + 2 * abs(value):.{digits}f}%", known) != ()


RIGHT, WRONG, NEUTRAL = Verdict.RIGHT, Verdict.WRONG, Verdict.NEUTRAL
# What each text says of a Buy: the verdicts that it leaves possible.
SAID = [
    (
        {RIGHT},
        """
        The Buy was right: alpha +4.5%.
        The Buy on NVDA was right.
        The call was clearly right.
        The decision proved correct.
        This was the right call.
        It was the correct decision after all.
        Right call: the momentum carried.
        Right: momentum carried.
        Verdict: right. Keep going.
        The Buy worked out.
        The Buy paid off.
        The Buy call was validated by the print.
        The decision was right, but for the wrong reason.
        The buy thesis was wrong but the call was right.
        The previous call was wrong; this call was right.
        The Buy was right for the wrong reasons.
        The Buy was not only right but early.
        In this case the Buy was right.
        The Buy, despite a weak start, was right.
        The buy was right at +4.5% alpha.
        Der Kauf war richtig.
        L'achat était juste.
        La compra fue acertada.
        A compra foi correta.
        De aankoop was juist.
        Решение было верным.
        买入是正确的。
        買いは正しかった。
        매수는 옳았다.
        """,
    ),
    (
        {WRONG},
        """
        The Buy was wrong: alpha -4.5%.
        **The Buy was wrong**, plainly.
        The decision to Buy was wrong.
        It was right to worry about margins, but the Buy was wrong.
        It was the wrong decision.
        Wrong. Next time wait.
        The decision turned out to be wrong.
        The Buy was a mistake.
        The Buy failed.
        We were wrong.
        The agent's Buy was wrong.
        Die Entscheidung erwies sich als falsch.
        La décision s'est avérée erronée.
        La decisión de compra resultó equivocada.
        L'acquisto era sbagliato.
        Покупка была ошибочной.
        买入判断错误。
        買い判断は間違っていた。
        매수 판단은 틀렸다.
        """,
    ),
    (
        {NEUTRAL},
        """
        The Buy on NVDA was neither right nor wrong.
        The Buy proved inconclusive.
        The verdict is neutral: nothing moved.
        Der Kauf war weder richtig noch falsch.
        La compra no fue ni correcta ni incorrecta.
        """,
    ),
    (
        {RIGHT, NEUTRAL},
        """
        The Buy was not wrong, but it was close.
        The Buy was no mistake.
        The Buy was far from wrong.
        Der Kauf war nicht falsch.
        买入并非错误。
        この判断は間違っていなかった。
        """,
    ),
    (
        {WRONG, NEUTRAL},
        """
        The Buy wasn't right.
        The Buy did not work.
        The Buy did not pay off.
        L'achat n'était pas juste.
        La compra no fue acertada.
        这次买入不正确。
        """,
    ),
    (
        {RIGHT, WRONG, NEUTRAL},
        """
        The call was right to lean on cloud growth.
        We were right about demand.
        A Sell would have been right.
        Had the Buy been wrong, we would have sold.
        The right call was to wait.
        The timing of the Buy was wrong.
        The earlier Buy was wrong.
        The Sell was right.
        Next time, ask whether the Buy was right for the right reasons.
        Was the Buy right?
        The Buy was on the right side of the market.
        The Buy was partly right.
        The Buy was not entirely wrong.
        The Buy was right-sized.
        A Buy is right only when breadth confirms.
        The Buy was right in direction but beaten by SPY.
        The earnings call was wrong.
        If the call was wrong, cut it.
        The Buy failed to beat SPY.
        Holding was the right call.
        The Buy was right above the 50-day line.
        买入是否正确还要看。
        对订单的判断是正确的。
        """,
    ),
]
STATEMENTS = [(line.strip(), leaves) for leaves, text in SAID for line in text.strip().splitlines()]


@pytest.mark.parametrize(("text", "leaves"), STATEMENTS)
def test_a_statement_on_the_call_is_read_and_nothing_else_is(text, leaves):
    refused = {v for v in Verdict if contradiction(text, v, Rating.BUY, "NVDA")}
    assert refused == set(Verdict) - leaves


def test_an_unrated_decision_is_neither_right_nor_wrong():
    assert contradiction("The decision was right.", None, None)
    assert contradiction("The decision was neither right nor wrong.", None, None) == ""


@pytest.mark.parametrize("ticker", ["RIGHT", "WRONG", "WAS", "NOT", "CALL"])
def test_a_ticker_is_no_word(ticker):
    assert contradiction(f"The Buy on {ticker} was right.", Verdict.RIGHT, Rating.BUY, ticker) == ""


def test_the_verdict_is_checked_against_the_entry():
    assert reasons("The Buy was wrong: alpha +4.5%. Next time, wait.") == [Reason.VERDICT]
    assert reasons("The Sell was right. Next time, repeat it.", settled(Rating.SELL, 0.1, 0.1)) == [
        Reason.VERDICT
    ]


PROMPT = (
    "Write what this decision teaches in two to four sentences of plain prose. "
    "Cite no percentage that is not given below. Orders grow faster than capacity this year. "
    "The decision rests on backlog and on pricing power in the data centre business."
)


def test_a_text_that_repeats_its_prompt_is_an_echo():
    copied = PROMPT[PROMPT.index("Orders") : PROMPT.index(" in the data")]
    assert reasons(copied, prompt=PROMPT) == [Reason.ECHO]
    assert echoes(PROMPT[:120].upper(), PROMPT)
    assert echoes(
        "买入是正确的，因为订单增长快于产能",
        "x买入是正确的，因为订单增长快于产能x",
    )


def test_a_lesson_on_the_same_facts_is_no_echo():
    text = "The Buy was right: orders did outgrow capacity. Next time, weigh pricing power more."
    assert reasons(text, prompt=PROMPT) == []


def test_all_faults_are_named_at_once():
    text = "# Review: the Buy was wrong, alpha was 99%." + "x" * 600
    assert reasons(text) == [
        Reason.FORM,
        Reason.LENGTH,
        Reason.SENTENCES,
        Reason.FIGURES,
        Reason.VERDICT,
    ]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Lesson: One.\n\n  Two.", "One. Two."),
        ('"One. Two."', "One. Two."),
        ('"One." Then "two."', '"One." Then "two."'),
        ("**Reflection:** One.\tTwo.", "One. Two."),
        ("The lesson: wait. Then act.", "The lesson: wait. Then act."),
    ],
)
def test_a_lesson_is_stored_as_one_paragraph(text, stored):
    assert tidy(text) == stored


@pytest.mark.parametrize("piece", ["123 ", "12,345 ", "1'234'", "12.5% ", "1-2-"])
def test_thousands_of_numbers_are_read_in_no_time(piece):
    """Twice as many take twice as long, not four times."""

    def seconds(times):
        start = process_time()
        figures(piece * times)
        return process_time() - start

    assert seconds(8000) < 20 * seconds(1000) + 0.05

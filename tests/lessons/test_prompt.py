"""What a model is shown, how its answer is read, and how a server's errors are."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lessons.lesson_cases import settled
from tradmem.lessons.parallel import in_order
from tradmem.lessons.prompt import lesson_prompt, read_answer
from tradmem.lessons.reflect import FaultKind
from tradmem.lessons.wire import Answer, problem, read_body
from tradmem.model import Rating

IDS = ("id-of-one", "id-of-two")
OBJECT = '{"reflection": "One. Two.", "links": [2], "tags": ["a"]}'


def shown(entry, related=()):
    return lesson_prompt(entry, related).messages[1]["content"]


@pytest.mark.parametrize(
    "answer",
    [
        OBJECT,
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}```",
        f"Sure {{here}} it is: {OBJECT} And {OBJECT.replace('One', 'Other')}",
        f"<think>{OBJECT.replace('One', 'Draft')}</think>{OBJECT}",
        f"<THINKING a=1>\n{{</THINKING>\n{OBJECT}",
        f"I weigh it.</think>\n{OBJECT}",
        f'{{"answer": {OBJECT}}}',
        f"[{OBJECT}]",
        OBJECT.replace("One. Two.", "One.\n\tTwo.").replace("\n", "\n"),
        f'{{"reflection": {{"type": "string"}}}} {OBJECT}',
    ],
)
def test_the_object_is_found_wherever_it_stands(answer):
    draft = read_answer(answer, IDS)
    assert draft.text.split() == ["One.", "Two."]
    assert draft.links == ("id-of-two",)
    assert draft.tags == ["a"]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "One. Two.",
        OBJECT[:30],
        "<think>" + OBJECT,
        '{"lesson": "One."}',
        '{"reflection": null}',
        "[1, 2]",
        "{" * 500,
        "[" * 100_000,
        '{"a":' * 50_000,
        "null",
    ],
)
def test_what_holds_no_object_is_no_draft(answer):
    assert read_answer(answer, IDS) is None


@pytest.mark.parametrize(
    ("links", "found", "dropped"),
    [
        ("[1, 2, 1]", IDS, 0),
        ('["1", "[2]", "memory 2", "#1", 2.0]', IDS, 0),
        ("[0, 3, -1, true, null, {}, 1e400]", (), 7),
        ("2", ("id-of-two",), 0),
        ("null", (), 0),
        ('"id-of-one"', (), 1),
    ],
)
def test_links_are_numbers_of_what_was_shown(links, found, dropped):
    draft = read_answer(f'{{"reflection": "One.", "links": {links}}}', IDS)
    assert (draft.links, draft.links_dropped) == (found, dropped)


@given(st.text())
def test_any_answer_is_read_without_fault(text):
    read_answer(text, IDS)
    read_answer('{"reflection": "' + text, IDS)


def test_the_facts_are_shown_as_the_tag_line_has_them():
    text = shown(settled(Rating.SELL, -0.06, -0.045, sessions=3, flags=("stopped",)))
    for line in (
        "Rating: Sell",
        "Held: 3 sessions of 5 planned",
        "Return: -6.0%",
        "Benchmark: SPY -1.5%",
        "Alpha, the return less the benchmark's: -4.5%",
        "Verdict: right",
        "Remarks: stopped",
    ):
        assert line in text.splitlines()
    assert "2.1% either way" in text


def test_a_judged_raw_return_and_a_missing_rating_are_said():
    text = shown(settled(None, 0.03, None))
    assert "Rating: none" in text
    assert "Benchmark: none, so the return itself was judged" in text
    assert "Verdict: none, because there was no rating" in text
    assert "Alpha" not in text


def test_a_long_decision_loses_its_middle():
    entry = settled(text="start " + "x" * 50_000 + " end")
    text = shown(entry)
    assert len(text) < 8_000
    assert "start x" in text
    assert "x end\n>>>" in text


def test_a_record_cannot_close_its_fence():
    text = shown(settled(text="a\n>>>\nb <<< c >>>> d"), [settled(ticker="AMD")])
    assert text.count(">>>") == text.count("<<<") == 1
    for times in range(3, 12):
        text = shown(settled(text=f"a\n{'>' * times}\nb {'<' * times} c"))
        assert text.count(">>>") == text.count("<<<") == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_read(headers, seconds):
    assert problem(429, "", "", headers).wait == seconds


def test_the_wait_may_be_a_date():
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 85 <= problem(429, "", "", {"retry-after": then}).wait <= 91


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, "The model `x` does not exist", FaultKind.UNKNOWN_MODEL),
        (400, "x is not a valid model ID", FaultKind.UNKNOWN_MODEL),
        (400, "temperature must be below 2", FaultKind.BAD_REQUEST),
        (422, "Unprocessable", FaultKind.BAD_REQUEST),
        (403, "Flagged by moderation", FaultKind.REFUSED),
        (403, "No access", FaultKind.UNAUTHORISED),
        (429, "insufficient_quota", FaultKind.NO_CREDIT),
        (529, "Overloaded", FaultKind.SERVER_ERROR),
    ],
)
def test_a_servers_error_has_one_kind(status, said, kind):
    assert problem(status, "", said).kind is kind


@pytest.mark.parametrize("body", ["", "<html>", "[]", "null", '"x"', '{"a"'])
def test_a_body_that_is_no_object_is_a_servers_error(body):
    assert read_body(body).kind is FaultKind.SERVER_ERROR


@pytest.mark.parametrize(
    "body",
    ["{}", '{"choices": []}', '{"choices": [null]}', '{"choices": [{"message": 3}], "usage": 4}'],
)
def test_a_body_without_a_message_is_an_answer_without_text(body):
    answer = read_body(body)
    assert isinstance(answer, Answer)
    assert (answer.text, answer.prompt_tokens, answer.cost) == (None, 0, None)


def test_the_cost_that_a_server_says_is_taken():
    body = '{"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 6, "cost": 0.01}}'
    answer = read_body(body)
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (5, 6, 0.01)


def test_work_in_order_raises_what_the_work_raised():
    results = in_order(lambda n: 1 // (n - 2), [0, 1, 2, 3], 2)
    assert [next(results), next(results)] == [-1, -1]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert list(in_order(str, [], 4)) == []

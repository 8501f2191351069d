"""Notes that stand for lessons, worded by a model and checked; the template where that fails."""

import json
from contextlib import contextmanager

import pytest

from tests.governance_world import SAME, WHY, Life
from tests.model_server import ModelServer
from tradmem import MarkdownJournal, RamJournal
from tradmem.cli import cli
from tradmem.lessons.exchanges import Exchanges
from tradmem.lessons.openai import OpenAIReflector
from tradmem.model_settings import VARIABLES

WORDS = "Raised guidance moved the shares within days. Buy soon after it, before others do."
NOTE = json.dumps({"note": WORDS})
HEAD = "3 decisions on NVDA from 2026-01-05 to 2026-01-07 taught the same: each Buy, each right."


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch):
    for names in VARIABLES.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)


@contextmanager
def asking(plays, journal=None, **options):
    """Lessons that say the same, and a model that plays; its requests."""
    with ModelServer(plays) as server:
        options = {"model": "m", "base_url": server.url, "api_key": "none", "retries": 0} | options
        life = Life(journal or RamJournal(), reflector=OpenAIReflector(**options))
        for number, text in enumerate(SAME):
            life.learn(number, text)
        life.day(30)
        yield life, server.seen
        life.memory.reflector.close()


def test_a_model_words_the_note_and_code_tells_the_facts():
    with asking([NOTE], cutoff="2025-06-30") as (life, seen):
        (done,) = life.memory.consolidate(**WHY)
    assert done.note.note == f"{HEAD}\n\n{WORDS}"
    assert done.fault == ""
    assert done.note.recorded.extra["model"] == "m"
    assert "hindsight" not in done.note.recorded.extra
    assert life.visible() == {done.note.id}
    assert done.usage.calls == len(seen) == 1


def test_it_is_shown_the_lessons_as_records_and_no_id():
    with asking([NOTE]) as (life, seen):
        (done,) = life.memory.consolidate(**WHY)
    told = seen[0].body["messages"][1]["content"]
    for text in SAME:
        assert f"<<< {text} >>>" in told
    assert not any(entry.id in told for entry in done.sources)


def test_a_model_that_states_no_cutoff_may_have_known_how_it_came_out():
    with asking([NOTE]) as (life, _):
        (done,) = life.memory.consolidate(**WHY)
    assert done.note.recorded.extra["hindsight"] is True


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "The Buy was wrong each time. Next time, wait for them to fall.",
            "verdict is right",
        ),
        ("The shares rose 77% each time. Buy them again next time.", "77%"),
        ("Buy.", "1 sentence"),
        ("- Guidance was raised.\n- Buy after it.", "bullets"),
        ("", "says nothing"),
    ],
)
def test_words_that_fail_a_check_are_asked_for_again_and_then_left_to_the_template(said, told):
    with asking([json.dumps({"note": said})] * 2) as (life, seen):
        (done,) = life.memory.consolidate(**WHY)
    assert [request.turn for request in seen] == [1, 2]
    assert told in seen[1].body["messages"][-1]["content"]
    assert told in done.fault
    assert done.note.note == f"{HEAD} The newest said:\n\n{SAME[2]}"
    assert "model" not in done.note.recorded.extra


def test_a_second_answer_may_be_sound():
    with asking(["no-json", NOTE]) as (life, _):
        (done,) = life.memory.consolidate(**WHY)
    assert done.note.note.endswith(WORDS)
    assert done.usage.calls == 2


@pytest.mark.parametrize("play", ["500", "drop", "refusal", "429-hour", "404", "web-page"])
def test_whatever_a_server_does_the_note_is_written(play):
    with asking([play] * 5) as (life, _):
        (done,) = life.memory.consolidate(**WHY)
    assert done.fault
    assert "\n" not in done.fault
    assert done.note.note.startswith(HEAD)
    assert life.visible() == {done.note.id}


def test_one_failure_costs_the_other_notes_nothing():
    with asking(lambda _: next(plays)) as (life, _):
        for number, text in enumerate(SAME):
            life.learn(number, text.replace("Buy", "buy"), ticker="AMD")
        life.day(30)
        plays = iter(["500", NOTE])
        first, second = life.memory.consolidate(**WHY)
    assert (bool(first.fault), second.fault) == (True, "")


def test_a_refused_key_ends_the_asking():
    with asking(["401"]) as (life, seen):
        for number, text in enumerate(SAME):
            life.learn(number, text, ticker="AMD")
        life.day(30)
        first, second = life.memory.consolidate(**WHY)
    assert len(seen) == 1
    assert "unauthorised" in first.fault
    assert second.fault.startswith("not asked")


def test_a_dry_run_asks_nobody():
    with asking([]) as (life, seen):
        (done,) = life.memory.consolidate(**WHY, dry_run=True)
    assert not seen
    assert done.note.note.startswith(HEAD)


def test_the_note_is_known_from_when_it_was_written_not_from_when_it_was_asked_for():
    with asking(lambda _: life.day(31) and NOTE) as (life, _):
        (done,) = life.memory.consolidate(**WHY)
        assert done.note.recorded.recorded_at == life.day(31)
        assert done.sources[0].additions[-1].at == life.day(31)
        assert len(life.memory.journal.memories(life.day(30))) == 3
        life.day(31)


def test_lessons_that_came_out_differently_are_called_neither_right_nor_wrong():
    with asking([json.dumps({"note": "The Buy was right. Buy again after earnings."})] * 2) as (
        life,
        _,
    ):
        for number, alpha in enumerate((0.05, -0.05, 0.05)):
            text = f"Reason {'abc'[number]} moved it."
            life.learn(number, text, ticker="AMD", alpha=alpha, tags=["earnings"])
        life.day(30)
        (done,) = life.memory.consolidate(ticker="AMD", tag="earnings", **WHY)
    assert "there is no verdict on it" in done.fault


def test_the_exchange_is_kept_and_counts_as_no_attempt_at_a_lesson(tmp_path):
    kept = Exchanges(tmp_path / "exchanges.jsonl")
    with asking(["500"], exchanges=kept) as (life, _):
        (done,) = life.memory.consolidate(**WHY)
    (record,) = kept.read()
    assert (record["entry"], record["about"]) == (done.sources[0].id, "consolidation")
    assert kept.attempts() == {}


def test_the_command_says_what_the_model_could_not_do(tmp_path, monkeypatch, capsys):
    journal = MarkdownJournal(tmp_path / "memory.md")
    with asking([NOTE, "500"], journal) as (life, _):
        for number, text in enumerate(SAME):
            life.learn(number, text, ticker="ZZZ")
        life.day(30)
        server = life.memory.reflector.settings.base_url
        for name, value in {"MODEL": "m", "BASE_URL": server, "MODEL_RETRIES": "0"}.items():
            monkeypatch.setenv(f"TRADMEM_{name}", value)
        with pytest.raises(SystemExit) as ended:
            cli.main(["consolidate", "--log", str(journal.path)], obj=lambda: life.now)
    out, err = capsys.readouterr()
    assert ended.value.code == 0
    assert WORDS.split(". ", maxsplit=1)[0] in out
    assert "for the model could not: " in err
    assert "the model took 2 calls" in err
    assert SAME[2] in journal.path.read_text()

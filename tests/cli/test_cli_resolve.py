"""``resolve`` and ``recall``: the digest tells what happened, and prompts get the text exactly."""

import csv
import multiprocessing
from datetime import date, timedelta

import pytest

from tests.cli.world import MONDAY, MONTHS_LATER, SETTLED, closes, delist, one_line, write_closes
from tradmem.model import Status, Verdict


def returns(name: str) -> tuple[float, float]:
    """Return and alpha from 5 to 12 January, read from the file by hand."""
    found = closes()
    first, last = date(2026, 1, 5), date(2026, 1, 12)
    raw = found[name][last] / found[name][first] - 1
    return raw, raw - (found["SPY"][last] / found["SPY"][first] - 1)


def test_the_digest_names_what_was_settled_with_figures_verdict_and_lesson(world):
    world.settle_week()
    world.now = SETTLED + timedelta(days=1)
    world.record("NVDA")
    world.now = SETTLED + timedelta(days=10)
    result = world.resolve()
    assert result.exit_code == 0
    first = f"{world.log} as of 2026-01-23 12:00 UTC: 1 settled (1 right), 1 lesson"
    lines = result.stdout.splitlines()
    assert lines[0] == first
    row = next(line for line in lines if line.startswith("  2026-01-14"))
    entry = world.memory.entries()[-1]
    assert row.split()[:4] == ["2026-01-14", "NVDA", "Buy", "right"]
    assert row.split()[-1] == entry.id
    assert entry.reflection[:60] in flat(result.stdout)


def test_returns_and_alpha_are_those_of_the_file(world):
    world.settle_week()
    for entry in world.memory.entries():
        found = entry.outcome.raw_return, entry.outcome.alpha
        assert found == pytest.approx(returns(entry.ticker))


def test_what_is_not_due_is_listed_by_the_day_on_which_it_is(world):
    world.record("NVDA")
    world.record("AAPL", "Hold")
    world.now = MONDAY + timedelta(days=4)
    result = world.resolve()
    assert result.exit_code == 0
    assert "2 not due" in result.stdout
    assert "2026-01-12  in 3 days     AAPL Hold, NVDA Buy" in result.stdout
    assert all(entry.status is Status.PENDING for entry in world.memory.entries())


def test_as_of_settles_as_if_it_were_then(world):
    world.record()
    world.now = MONTHS_LATER
    early = world.json("resolve", "--prices", world.prices, "--as-of", "2026-01-09")
    assert [(item["group"], item["status"]) for item in early] == [("not_due", "pending")]
    assert early[0]["due"] == "2026-01-12T23:00:00Z"
    groups = {i["group"] for i in world.json("resolve", "--prices", world.prices)}
    assert groups == {"settled", "reflected"}


def test_json_says_of_each_entry_in_which_group_it_came_and_why(world):
    world.record("NVDA")
    world.record("AAPL", "Sell")
    world.now = SETTLED
    found = world.json("resolve", "NVDA", "--prices", world.prices, "--no-reflect")
    assert [(i["ticker"], i["group"], i["status"]) for i in found] == [
        ("NVDA", "settled", "settled")
    ]
    assert found[0]["outcome"]["raw_return"] == pytest.approx(returns("NVDA")[0])
    assert found[0]["verdict"] == "right"


def test_a_file_without_the_ticker_fails_it_and_never_gives_it_up(world):
    """However long the decision has waited: the file says nothing about the world."""
    world.record("NVDA")
    world.record("AAPL")
    before = world.log.read_bytes()
    write_closes(world.prices, "SPY")
    world.now = MONTHS_LATER
    result = world.resolve()
    assert result.exit_code == 1
    assert "2 failed" in result.stdout.splitlines()[0]
    assert f"no prices for NVDA: not in this source ({world.prices})" in flat(result.stdout)
    assert world.log.read_bytes() == before
    write_closes(world.prices, "NVDA", "SPY")
    assert "1 settled (1 right), 1 lesson, 1 failed" in sorted_counts(world.resolve().stdout)


def test_a_missing_close_is_told_as_waiting_and_fails_nothing(world):
    world.record()
    write_rows(world.prices, [row for row in read_rows(world.prices) if row["date"] < "2026-01-09"])
    world.now = SETTLED
    result = world.resolve()
    assert result.exit_code == 0
    assert "1 waiting" in result.stdout
    assert "no close of NVDA on or after 2026-01-12 yet" in flat(result.stdout)


def test_a_suspect_jump_is_told_and_settled_when_it_is_accepted(world):
    name = world.record()
    rows = read_rows(world.prices)
    for row in rows:
        if row["date"] >= "2026-01-08":
            row["NVDA"] = str(float(row["NVDA"]) / 4)
    write_rows(world.prices, rows)
    world.now = SETTLED
    result = world.resolve()
    assert "1 suspect" in result.stdout
    assert "accept it, or mend the prices" in flat(result.stdout)
    assert world.resolve("--accept", name).exit_code == 0
    assert world.memory.get(name).verdict is Verdict.WRONG


def test_what_was_given_up_is_asked_again_only_when_a_person_says_so(world):
    world.record()
    full = world.prices.read_text()
    delist(world.prices, "NVDA")
    world.now = MONTHS_LATER
    result = world.resolve()
    assert "1 unresolvable" in result.stdout
    world.prices.write_text(full)
    assert "nothing to resolve" in world.resolve().stderr
    assert "1 settled (1 right)" in world.resolve("--retry-unresolvable").stdout


def test_a_recheck_stores_what_the_source_says_now(world):
    world.settle_week()
    rows = read_rows(world.prices)
    for row in rows:
        if row["date"] == "2026-01-12":
            row["NVDA"] = str(float(row["NVDA"]) * 1.1)
    write_rows(world.prices, rows)
    assert "nothing to resolve" in world.resolve().stderr
    assert "1 settled" in world.resolve("--recheck").stdout
    entry = next(e for e in world.memory.entries() if e.ticker == "NVDA")
    assert entry.outcome.raw_return == pytest.approx((1 + returns("NVDA")[0]) * 1.1 - 1, abs=1e-6)


def test_the_benchmark_can_be_chosen_or_be_none(world):
    world.record("NVDA")
    world.now = SETTLED
    found = world.json("resolve", "--prices", world.prices, "--benchmark", "none", "--no-reflect")
    assert (found[0]["outcome"]["alpha"], found[0]["outcome"]["benchmark"]) == (None, None)
    world.now = MONDAY + timedelta(days=9)
    world.record("AAPL")
    world.now += timedelta(days=9)
    words = ("resolve", "AAPL", "--prices", world.prices, "--benchmark", "nvda", "--no-reflect")
    assert world.json(*words)[0]["outcome"]["benchmark"] == "NVDA"


def test_a_model_that_fails_leaves_the_outcome_and_makes_the_exit_status_1(world, monkeypatch):
    """The entry stays settled, and the next run writes its lesson."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("TRADMEM_MODEL", "nobody")
    monkeypatch.setattr("tradmem.lessons.chat.time.sleep", lambda _: None)
    world.record()
    world.now = SETTLED
    result = world.resolve()
    assert result.exit_code == 1
    assert "1 settled (1 right), 1 failed" in sorted_counts(result.stdout)
    assert [entry.status for entry in world.memory.entries()] == [Status.SETTLED]
    assert (world.log.parent / "memory.md.exchanges.jsonl").exists()
    again = world.resolve("--reflector", "template")
    assert "1 lesson" in again.stdout


def test_a_key_without_a_model_leaves_the_lessons_to_the_template(world, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    world.record()
    world.now = SETTLED
    asked = world.resolve("--reflector", "openai")
    assert (asked.exit_code, "set TRADMEM_MODEL" in one_line(asked)) == (2, True)
    result = world.resolve()
    assert result.exit_code == 0
    assert "until then the template writes the lessons" in result.stderr
    assert "1 settled (1 right), 1 lesson" in result.stdout


def test_nothing_to_resolve_is_said_and_makes_no_folder(world):
    result = world.resolve()
    assert result.exit_code == 0
    assert "nothing to resolve" in one_line(result)
    assert not world.log.parent.exists()


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--prices", "missing.csv"], 2, "cannot read prices from missing.csv: no such file"),
        (["--prices", "yaho"], 2, "there are no prices 'yaho'; name yahoo, demo, or a file"),
        (["--prices", "."], 2, "cannot read prices from .: it is no file"),
        (["--as-of", "yesterday"], 2, "'yesterday' is no date"),
        (["--as-of", "2026-01-05T10:00"], 2, "has no time zone"),
        (["A|B"], 2, "'A|B' is no ticker"),
        (["--benchmark", "A|B"], 2, "'A|B' is no ticker"),
        (["--reflector", "oracle"], 2, "invalid value for '--reflector'"),
        (["--accept", "deadbeef"], 1, "there is no entry deadbeef"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line_and_nothing_is_written(world, words, status, told):
    world.record()
    world.now = SETTLED
    before = world.log.read_bytes()
    result = world.run("resolve", "--prices", world.prices, *words)
    assert result.exit_code == status
    assert told in one_line(result)
    assert world.log.read_bytes() == before


def hold_the_log(log, held, done):
    from tradmem.journal.markdown import MarkdownJournal

    with MarkdownJournal(log).resolving():
        held.set()
        done.wait(30)


def test_a_log_that_another_process_resolves_is_busy(world):
    world.record()
    world.now = SETTLED
    context = multiprocessing.get_context("spawn")
    held, done = context.Event(), context.Event()
    other = context.Process(target=hold_the_log, args=(world.log, held, done))
    other.start()
    try:
        assert held.wait(30)
        result = world.resolve()
        assert result.exit_code == 3
        assert "being resolved by another process" in one_line(result)
    finally:
        done.set()
        other.join(30)
    assert world.resolve().exit_code == 0


def test_recall_prints_the_text_exactly(world):
    world.settle_week()
    seen = world.memory.recall("NVDA")
    result = world.run("recall", "nvda")
    assert seen.text.startswith("<past_decisions>")
    assert (result.stdout, result.stderr, result.exit_code) == (seen.text, "", 0)
    assert [entry["id"] for entry in world.json("recall", "NVDA")] == list(seen.ids)


def test_recall_as_of_a_date_shows_what_a_decision_of_that_date_saw(world):
    world.settle_week()
    world.now = MONTHS_LATER
    assert world.run("recall", "NVDA", "--as-of", "2026-01-12").stdout == ""
    assert "+" in world.run("recall", "NVDA", "--as-of", "2026-01-13").stdout


def test_nothing_to_recall_is_an_empty_text_and_a_remark(world):
    result = world.run("recall", "NVDA")
    assert result.exit_code == 0
    assert "nothing to recall on NVDA" in one_line(result)
    assert world.json("recall", "NVDA") == []


def test_memories_of_other_tickers_alone_are_told_as_such(world):
    world.settle_week()
    result = world.run("recall", "NVAD")  # perhaps misspelt
    assert result.stderr == "tradmem: none of these is about NVAD itself\n"
    assert "AAPL" in result.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["A|B"], "'A|B' is no ticker"),
        (["NVDA", "--as-of", "2026-02-30"], "is no date"),
        (["NVDA", "--as-of", "2027-01-05"], "later than today"),
    ],
)
def test_a_recall_that_cannot_be_is_refused(world, words, told):
    result = world.run("recall", *words)
    assert result.exit_code == 2
    assert told in one_line(result)


def flat(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


def sorted_counts(text: str) -> str:
    """The first line's counts, settled first, whatever the order of the groups."""
    counts = text.splitlines()[0].partition("UTC: ")[2]
    order = ("settled", "lesson", "waiting", "failed")
    found = counts.split(", ")
    return ", ".join(
        sorted(found, key=lambda part: next(n for n, word in enumerate(order) if word in part))
    )


def read_rows(path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path, rows) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)

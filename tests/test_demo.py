"""The demo: real closes, an honest replay, and nobody's log overwritten."""

import csv
import gzip
import json
import re
from datetime import date, timedelta
from importlib.resources import files
from itertools import pairwise

import click
import pytest
from click.testing import CliRunner

from tradmem.cli import cli
from tradmem.cli.demo import _object, story
from tradmem.demo import BENCHMARK, TICKERS, demo_prices, run_demo
from tradmem.demo.run import TITLE, start_log
from tradmem.errors import LogError, PriceError, UsageError
from tradmem.journal.format import parse
from tradmem.journal.markdown import MarkdownJournal
from tradmem.market.calendars import calendar_of
from tradmem.market.prices import Span
from tradmem.memory import Memory
from tradmem.model import Rating, Status, Verdict

CALENDAR = calendar_of("SPY")


@pytest.fixture(scope="module")
def closes():
    """The closes by date and ticker, read without the package's own reader."""
    packed = files("tradmem.demo").joinpath("closes.csv.gz").read_bytes()
    rows = csv.DictReader(gzip.decompress(packed).decode().splitlines())
    return {row["date"]: {n: float(row[n]) for n in (*TICKERS, BENCHMARK)} for row in rows}


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def result(tmp_path_factory, told):
    log = tmp_path_factory.mktemp("demo") / "logs" / "demo.md"
    return run_demo(log, progress=lambda *what: told.append(what))


@pytest.fixture(scope="module")
def entries(result):
    return Memory.open(result.log).entries()


def test_the_prices_are_those_of_the_file_on_every_session(closes):
    days = [date.fromisoformat(day) for day in closes]
    assert (str(days[0]), str(days[-1]), len(days)) == ("2020-12-01", "2022-12-28", 523)
    assert all(CALENDAR.later(day, 1) == after for day, after in pairwise(days))
    wide = Span(date(2000, 1, 1), date(2030, 1, 1))
    found = demo_prices().fetch(dict.fromkeys((*TICKERS, BENCHMARK, "NVDA"), wide))
    for ticker in (*TICKERS, BENCHMARK):
        assert found[ticker].dates == tuple(days)
        assert found[ticker].closes == tuple(row[ticker] for row in closes.values())
    assert isinstance(found["NVDA"], PriceError)


def test_every_week_of_the_year_has_five_decisions_and_all_are_in_the_log(result, entries, told):
    assert result.decided == len(entries) == 5 * 52
    assert {entry.ticker for entry in entries} == set(TICKERS)
    days = sorted({entry.date for entry in entries})
    assert tuple(days) == result.weeks
    before = [CALENDAR.last_until(day - timedelta(days=1)) for day in days]
    assert all(
        b.isocalendar()[1] != day.isocalendar()[1] for b, day in zip(before, days, strict=True)
    )
    assert told[-1] == (260, 260, days[-1])
    assert [done for done, _, _ in told] == list(range(1, 261))


def test_the_numbers_are_those_of_the_log(result, entries):
    statuses = [entry.status for entry in entries]
    assert result.settled == statuses.count(Status.RESOLVED)
    assert result.pending == statuses.count(Status.PENDING)
    assert result.settled + result.pending == result.decided
    sided = [e.verdict for e in entries if e.outcome and e.rating is not Rating.HOLD]
    assert result.track.right == sided.count(Verdict.RIGHT)
    assert result.track.wrong == sided.count(Verdict.WRONG)
    assert result.track.neutral == sided.count(Verdict.NEUTRAL)
    gains = [e.outcome.alpha for e in entries if e.outcome and e.outcome.alpha > e.outcome.band]
    assert result.always_buy.right == len(gains)
    assert result.stepped == sum("one step back" in entry.decision for entry in entries)
    assert result.told == sum(bool(entry.recalled) for entry in entries)
    hit = result.track.hit
    assert (hit.right, hit.n) == (sided.count(Verdict.RIGHT), len(sided) - result.track.neutral)
    assert 10 < hit.n_eff < hit.n
    assert 0.3 < hit.low < result.track.hit_rate < hit.high < 0.8


def test_outcomes_are_the_returns_of_the_closes(entries, closes):
    for entry in entries:
        if entry.outcome:
            start, end = (str(day) for day in (entry.outcome.entry_date, entry.outcome.exit_date))
            own = closes[end][entry.ticker] / closes[start][entry.ticker] - 1
            market = closes[end][BENCHMARK] / closes[start][BENCHMARK] - 1
            assert start == str(entry.date)
            assert entry.outcome.raw_return == pytest.approx(own)
            assert entry.outcome.alpha == pytest.approx(own - market)


def test_nothing_was_seen_before_its_time(entries):
    by_id = {entry.id: entry for entry in entries}
    for entry in entries:
        assert entry.decided_at == CALENDAR.close(entry.date) - timedelta(hours=1)
        assert set(entry.cited) <= set(entry.recalled)
        assert all(by_id[name].known_at <= entry.decided_at for name in entry.recalled)
        assert entry.recorded.flags == ()


def test_the_oldest_entries_are_in_the_archive_and_the_title_stays_on_top(result, entries):
    assert result.archived == sum(entry.archived for entry in entries) > 0
    (archive,) = result.archives
    assert archive == result.log.parent / "archive" / "demo-2022.md"
    assert len(parse(archive.read_bytes()).entries) == result.archived
    assert result.log.read_text(encoding="utf-8").startswith(TITLE + "\n")
    assert MarkdownJournal(result.log).problems() == []


def test_the_example_was_pending_and_is_what_stands_in_the_file(result):
    assert result.before.startswith(f"[{result.example.date} | {result.example.ticker} | ")
    assert result.before.split("\n")[0].endswith("| pending]")
    assert "one step back" in result.before
    everything = "".join(p.read_text(encoding="utf-8") for p in (result.log, *result.archives))
    assert result.after in everything
    assert result.example.reflection in result.after
    assert result.example.decision in result.before


def test_the_last_recall_shows_what_was_recorded_with_it(result, entries):
    by_id = {entry.id: entry for entry in entries}
    assert len(result.last.recalled) == 8
    assert all(by_id[name].reflection in result.seen for name in result.last.recalled)


def test_the_story_fits_80_columns_and_tells_the_numbers(result):
    lines = [click.unstyle(line) for line in story(result, 80)]
    paths = str(result.log.parent)  # may be longer than a line by itself
    assert all(len(line) <= 80 for line in lines if paths not in line)
    text = "\n".join(lines)
    assert f"{result.decided}  decisions recorded as pending" in text
    assert f"{result.track.hit_rate:.0%}" in text
    for name in ("tradmem log", "tradmem show", "tradmem recall", "tradmem status"):
        assert f"  {name} " in text


def test_the_status_that_is_typed_next_needs_no_person(result):
    text = "\n".join(click.unstyle(line) for line in story(result, 200))
    command = re.search(r"tradmem (status .* --log \S+)", text)[1].split()
    found = CliRunner().invoke(cli, command, env={"COLUMNS": "100"})
    assert found.exit_code == 0, found.output
    assert "5 pending" in found.stdout


def test_what_to_type_next_can_be_typed_where_the_program_is_not_on_the_path(result, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", [".venv/bin/tradmem", "demo"])
    assert "  .venv/bin/tradmem audit --log " in "\n".join(story(result, 80))
    monkeypatch.setattr("sys.argv", ["pytest"])
    assert "  tradmem audit --log " in "\n".join(story(result, 80))


def test_the_result_is_json(result):
    found = json.loads(json.dumps(_object(result)))
    assert found["decided"] == 260
    assert found["track"]["right"] == result.track.right
    assert found["example"]["id"] == result.example.id
    assert found["log"] == str(result.log)


def test_a_demo_log_is_replaced_with_its_archive(result, tmp_path):
    log, archive = tmp_path / "demo.md", tmp_path / "archive" / "demo-2022.md"
    archive.parent.mkdir()
    log.write_bytes(result.log.read_bytes())
    archive.write_bytes(result.archives[0].read_bytes())
    start_log(log)
    assert log.read_text(encoding="utf-8") == TITLE + "\n\n"
    assert not archive.exists()


def test_a_log_that_is_not_only_a_demos_is_never_replaced(result, tmp_path):
    """Neither another log, nor a demo log to which somebody added a decision or a note."""
    log = tmp_path / "demo.md"
    for added in (
        lambda memory: memory.note("Do not lose me."),
        lambda memory: memory.record("AAPL", "2022-01-05", "Mine.", rating="Buy"),
    ):
        log.write_bytes(result.log.read_bytes())
        added(Memory.open(log))
        before = log.read_bytes()
        with pytest.raises(UsageError, match="move it away"):
            start_log(log)
        assert log.read_bytes() == before
    for text in ("# My own notes\n", "[2022-01-05 | AAPL | Buy | pending]\n"):
        log.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError):
            start_log(log)
        assert log.read_text(encoding="utf-8") == text


def test_an_archive_of_somebody_elses_log_is_never_removed(tmp_path):
    archive = tmp_path / "archive" / "demo-2021.md"
    archive.parent.mkdir()
    Memory.open(archive).note("Do not lose me.")
    before = archive.read_bytes()
    with pytest.raises(UsageError, match="demo-2021"):
        start_log(tmp_path / "demo.md")
    assert archive.read_bytes() == before
    assert not (tmp_path / "demo.md").exists()


def test_an_empty_file_is_nobodys(tmp_path):
    log = tmp_path / "demo.md"
    log.touch()
    start_log(log)
    assert log.read_text(encoding="utf-8").startswith(TITLE)


def test_a_folder_is_refused_in_one_line(tmp_path):
    with pytest.raises(LogError, match="it is a folder"):
        start_log(tmp_path)
    done = CliRunner().invoke(cli, ["demo", "--log", str(tmp_path)])
    assert done.exit_code == 1
    assert "it is a folder" in done.stderr.splitlines()[-1]
    assert done.stdout == ""


def test_the_command_prints_the_story_or_json(result, monkeypatch):
    monkeypatch.setattr("tradmem.demo.run_demo", lambda log, progress: result)
    done = CliRunner().invoke(cli, ["demo", "--log", "any.md"])
    assert (done.exit_code, done.exception) == (0, None)
    assert "In numbers\n" in done.stdout
    assert "replaying" in done.stderr
    done = CliRunner().invoke(cli, ["demo", "--json"])
    (found,) = json.loads(done.stdout)
    assert (found["decided"], done.stderr) == (260, "")

"""``record``, ``note`` and ``forget``: what is stored, what is said, what is refused."""

from datetime import timedelta

import pytest

from tests.cli.world import MONDAY, SETTLED, one_line
from tradmem.model import Rating, Status


def test_a_decision_is_stored_under_todays_date_and_its_id_is_printed(world):
    result = world.run("record", "nvda", "**Rating**: Buy\n\nStrong.")
    entry = world.memory.entries()[0]
    assert (entry.ticker, entry.rating, entry.date) == ("NVDA", Rating.BUY, MONDAY.date())
    assert entry.decision == "**Rating**: Buy\n\nStrong."
    assert result.stdout == f"recorded  2026-01-05  NVDA  Buy  pending  {entry.id}\n"
    assert result.stderr == ""
    assert result.exit_code == 0


def test_today_is_the_exchanges_date(world):
    world.now = MONDAY.replace(hour=22)  # already the sixth in Shanghai
    world.record("600519.SH")
    world.record("NVDA")
    days = {entry.ticker: entry.date.day for entry in world.memory.entries()}
    assert days == {"600519.SH": 6, "NVDA": 5}


@pytest.mark.leaky
def test_every_option_reaches_the_entry(world):
    world.now = MONDAY - timedelta(days=7)
    seen = world.json("note", "Mind the lock-up.", "--ticker", "NVDA")[0]["id"]
    world.now = MONDAY
    world.run(
        *("record", "NVDA", "Down from here.", "--date", "2026-01-02", "--rating", "sell"),
        *("--agent", "bear", "--horizon", "20", "--decided-at", "2026-01-02T15:00:00Z"),
        *("--recalled", seen[:6], "--cited", seen),
    )
    entry = next(e for e in world.memory.entries() if e.status is Status.PENDING)
    assert (str(entry.date), entry.rating, entry.agent) == ("2026-01-02", Rating.SELL, "bear")
    assert entry.recorded.horizon == 20
    assert entry.decided_at.isoformat() == "2026-01-02T15:00:00+00:00"
    assert entry.recalled == entry.cited == (seen,)


@pytest.mark.parametrize("way", ["dash", "file", "file-dash"])
def test_a_text_comes_from_standard_input_or_a_file(world, way):
    text = "**Rating**: Hold\n\nÜber den Tag: nichts 新しい."
    (world.folder / "d.md").write_text(text, encoding="utf-8-sig")
    words = {"dash": ["-"], "file": ["--file", "d.md"], "file-dash": ["--file", "-"]}[way]
    given = None if way == "file" else text.encode()
    result = world.run("record", "NVDA", *words, input=given)
    assert result.exit_code == 0
    assert world.memory.entries()[0].decision == text


def test_an_unrated_text_is_stored_and_warned_about(world):
    result = world.run("record", "NVDA", "I cannot say.")
    assert result.exit_code == 0
    assert world.memory.entries()[0].rating is None
    assert "is unrated" in result.stderr
    assert "--rating" in result.stderr


def test_recording_twice_is_no_error_and_another_text_is_kept_out(world):
    first = world.record()
    assert world.json("record", "NVDA", "**Rating**: Buy\n\nA thesis on NVDA.")[0]["stored"] == (
        "unchanged"
    )
    kept = world.run("record", "NVDA", "**Rating**: Sell")
    assert kept.stdout.startswith("kept  ")
    assert first in kept.stdout
    assert kept.stderr.startswith("tradmem: nothing was stored: ")
    assert "--on-conflict revise" in kept.stderr
    (told,) = world.json("record", "NVDA", "**Rating**: Sell")
    assert (told["stored"], told["rating"]) == ("kept", "Buy")
    assert [entry.rating for entry in world.memory.entries()] == [Rating.BUY]


def test_a_conflict_is_revised_or_refused_where_that_is_asked(world):
    world.record()
    refused = world.run("record", "NVDA", "**Rating**: Sell", "--on-conflict", "error")
    assert refused.exit_code == 1
    assert "decided already" in one_line(refused)
    revised = world.run("record", "NVDA", "**Rating**: Sell", "--on-conflict", "revise")
    assert revised.stdout.startswith("revised  ")
    assert [entry.rating for entry in world.memory.entries()] == [Rating.BUY, Rating.SELL]


def test_a_decision_recorded_after_its_close_is_said_to_be_late(world):
    world.now = SETTLED
    result = world.run("record", "NVDA", "**Rating**: Buy", "--date", "2026-01-05")
    assert result.exit_code == 0
    assert "late" in result.stderr


def test_json_has_the_names_that_the_design_gives(world):
    found = world.json("record", "NVDA", "**Rating**: Buy")
    assert len(found) == 1
    names = (
        *("id", "date", "ticker", "agent", "revision", "rating", "status", "decision", "outcome"),
        *("outcomes", "verdict", "reflection", "note", "recalled", "cited", "links", "tags"),
        *("decided_at", "known_on", "archived"),
    )
    assert set(names) <= set(found[0])
    assert (found[0]["date"], found[0]["rating"], found[0]["outcome"]) == (
        "2026-01-05",
        "Buy",
        None,
    )


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["A|B", "x"], 2, "'A|B' is no ticker"),
        (["NVDA\n", "x"], 2, "is no ticker"),
        (["../x", "x"], 2, "'../x' is no ticker"),
        (["NVDA", "x", "--date", "2026-02-30"], 2, "'2026-02-30' is no date"),
        (["NVDA", "x", "--date", "2026-01-07"], 2, "later than today"),
        (["NVDA", "x", "--rating", "Strong"], 2, "'Strong' is no rating"),
        (["NVDA", "x", "--horizon", "0"], 2, "a horizon of 0 sessions cannot be"),
        (["NVDA", "x", "--horizon", "five"], 2, "invalid value for '--horizon'"),
        (["NVDA", "x", "--decided-at", "2026-01-05T15:00"], 2, "has no time zone"),
        (["NVDA", "x", "--decided-at", "2026-01-06T15:00:00Z"], 2, "later than the clock"),
        (["NVDA", "x", "--recalled", "deadbeef0000"], 1, "there is no entry deadbeef0000"),
        (["NVDA", "x", "--agent", "a|b"], 2, "is no name of an agent"),
        (["NVDA"], 2, "there is no text"),
        (["NVDA", "  \n "], 2, "the text is empty"),
        (["NVDA", "--file", "missing.md"], 2, "cannot read missing.md: no such file"),
        (["NVDA", "--file", "."], 2, "cannot read .: is a directory"),
        (["NVDA", "x", "--file", "closes.csv"], 2, "two texts"),
        (["NVDA", "--file", "utf16.md"], 2, "utf16.md is no UTF-8 text"),
        ([], 2, "missing argument 'TICKER'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line_and_nothing_is_written(world, words, status, told):
    (world.folder / "utf16.md").write_bytes("**Rating**: Buy".encode("utf-16"))
    result = world.run("record", *words)
    assert result.exit_code == status
    assert told in one_line(result)
    assert not world.log.parent.exists()


def test_a_note_is_recalled_from_now_on(world):
    result = world.run("note", "NVDA guides low.", "--ticker", "nvda")
    entry = world.memory.entries()[0]
    assert result.stdout == f"recorded  2026-01-05  NVDA  Note  {entry.id}\n"
    assert "NVDA guides low." in world.run("recall", "NVDA").stdout
    assert world.run("note", "NVDA guides low.", "--ticker", "NVDA").stdout.startswith("unchanged")


def test_a_note_without_a_ticker_is_about_the_whole_market(world):
    world.run("note", "-", input="Year ends are thin.\n")
    entry = world.memory.entries()[0]
    assert (entry.ticker, entry.note) == ("*", "Year ends are thin.")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x", "--ticker", "A|B"], "is no ticker"),
        (["x", "--date", "2026-13-01"], "is no date"),
        (["x", "--date", "2027-01-01"], "later than today"),
        ([" "], "the text is empty"),
        ([], "there is no text"),
    ],
)
def test_a_note_that_cannot_be_is_refused(world, words, told):
    result = world.run("note", *words)
    assert result.exit_code == 2
    assert told in one_line(result)
    assert not world.log.exists()


def test_a_forgotten_entry_is_hidden_from_recall_and_stays_in_the_log(world):
    name = world.json("note", "A rumour.", "--ticker", "NVDA")[0]["id"]
    result = world.run("forget", name[:5], "--reason", "it was wrong")
    assert result.exit_code == 0
    assert result.stdout.startswith("forgotten  ")
    assert world.run("recall", "NVDA").stdout == ""
    entry = world.memory.get(name)
    assert (entry.hidden, entry.note) == (True, "A rumour.")
    assert "Forgotten    it was wrong" in world.run("show", name).stdout


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["deadbeef", "--reason", "x"], 1, "there is no entry deadbeef"),
        (["--reason", "x"], 2, "name one entry"),
        (["last"], 2, "missing option '--reason'"),
        (["last", "--reason", " "], 2, "there is no reason"),
    ],
)
def test_forgetting_needs_an_entry_and_a_reason(world, words, status, told):
    world.record()
    result = world.run("forget", *words)
    assert result.exit_code == status
    assert told in one_line(result)

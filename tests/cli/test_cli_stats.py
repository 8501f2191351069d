"""``stats``: tables, plain words about what they say and what not, and JSON."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.world import MONDAY, SETTLED, one_line
from tests.lessons.track_cases import DOWN, FLAT, UP, decided, pending, settled
from tests.lessons.track_cases import MONDAY as FIRST
from tradmem import FilePrices, Memory, Rating
from tradmem.journal.block import fold_now
from tradmem.journal.format import render

LATER = datetime(2040, 1, 1, tzinfo=UTC)


def write(world, entries):
    """A log with these entries, long after all of them."""
    world.log.parent.mkdir()
    world.log.write_bytes(b"".join(render(entry) for entry in entries))
    world.now = LATER


def squeezed(text):
    return [" ".join(line.split()) for line in text.splitlines()]


@pytest.fixture
def many(world):
    """Sixty weeks on two tickers: NVDA right three times in four, AAPL as often as not."""
    entries = []
    for number in range(60):
        day = FIRST + timedelta(weeks=number)
        bullish = number % 3 != 0
        rating, gain = (Rating.BUY, UP) if bullish else (Rating.SELL, DOWN)
        entries.append(settled(day, "NVDA", rating, gain if (number // 3) % 4 else -gain))
        entries.append(settled(day, "AAPL", rating, gain if (number // 3) % 2 else -gain))
    write(world, entries)
    return world


def test_a_small_log_is_counted_and_nothing_is_made_of_it(world):
    world.settle_week()
    result = world.run("stats")
    assert result.exit_code == 0
    lines = squeezed(result.stdout)
    assert lines[0] == "Track record of 2 decisions, as of 2026-01-13 12:00 UTC"
    assert lines[2] == "After 5 sessions"
    assert lines[3] == "RIGHT WRONG NEUTRAL HIT WORTH SHRUNK CHANCE BUY"
    assert lines[4] == "all 1 1 0 50% 1 50% 50% 50%"
    assert "AAPL 0 1 0 0% 1 48% 0% 0%" in lines
    text = " ".join(lines)
    assert "Of skill nothing can be said yet: these calls are worth 1 independent one" in text
    assert "None yet: they take outcomes with an alpha from 10 blocks of time." in text
    assert "all 2 2" in lines


def test_the_line_of_a_ticker_is_the_one_that_recall_shows(many):
    (line,) = [item for item in many.json("stats", "-t", "NVDA") if item["group"] == "overall"]
    recalled = many.run("recall", "NVDA").stdout
    hit = line["hit"]
    assert (
        f"{line['calls']} calls with a side: {line['right']} right, {line['wrong']} wrong"
        in recalled
    )
    assert (
        f"Hit rate {hit['rate']:.0%}, 95% interval {hit['low']:.0%} to {hit['high']:.0%}"
        in recalled
    )
    assert f"worth {hit['n_eff']:.0f} independent calls, {line['chance']:.0%} by chance" in recalled


def test_tables_come_by_ticker_rating_and_overall(many):
    text = many.run("stats").stdout
    lines = squeezed(text)
    assert "NVDA 45 15 0 75%" in " ".join(lines)
    assert "AAPL 30 30 0 50%" in " ".join(lines)
    assert any(line.startswith("Buy 50 30 ") for line in lines)
    assert any(line.startswith("Sell 25 15 ") for line in lines)
    assert text.count("no name") == 0, "one agent is no table"
    assert "SCORE is the rating's exposure" in text
    assert "index's dividend yield" in " ".join(lines)


def test_skill_is_put_into_words_where_enough_is_known(many):
    text = " ".join(squeezed(many.run("stats", "-t", "NVDA").stdout))
    assert "Overall 75%, where chance hits" in text
    assert "outside the interval" in text
    assert ": better than chance." in text
    text = " ".join(squeezed(many.run("stats", "-t", "AAPL").stdout))
    assert "skill can neither be told nor ruled out" in text
    text = " ".join(squeezed(many.run("stats").stdout))
    assert "NVDA: 75%, better than chance." in text
    assert "by luck alone one line in twenty stands out" in text


@pytest.mark.parametrize("columns", [80, 120])
def test_every_line_fits_the_screen(many, columns):
    result = many.run("stats", env={"COLUMNS": str(columns)})
    assert max(map(len, result.stdout.splitlines())) <= columns


def test_json_has_one_object_for_each_line_of_each_horizon(many):
    found = many.json("stats")
    assert [(item["group"], item["name"]) for item in found] == [
        ("overall", ""),
        ("ticker", "AAPL"),
        ("ticker", "NVDA"),
        ("rating", "Buy"),
        ("rating", "Sell"),
        ("agent", ""),
    ]
    nvda = found[2]
    assert (nvda["horizon"], nvda["right"], nvda["wrong"], nvda["skill"]) == (
        *(5, 45, 15),
        "better than chance",
    )
    assert nvda["hit"]["rate"] == 0.75
    assert nvda["hit"]["low"] < nvda["hit"]["shrunk"] < 0.75 < nvda["hit"]["high"]
    assert nvda["attrition"]["decided"] == nvda["attrition"]["settled"] == 60
    assert nvda["score"]["value"] == pytest.approx(0.02)
    assert "alarms" not in nvda
    assert found[0]["alarms"] == []


def test_as_of_shows_the_record_as_it_stood_then(many):
    then = FIRST + timedelta(weeks=10)
    result = many.run("stats", "--as-of", then)
    lines = squeezed(result.stdout)
    assert lines[0] == f"Track record of 22 decisions, as of {then} 23:59 UTC"
    (overall, *_) = many.json("stats", "--as-of", then)
    assert overall["attrition"] | {"settled": 20, "not_due": 2} == overall["attrition"]
    assert many.json("stats", "--as-of", FIRST - timedelta(days=1)) == []


def test_filters_narrow_what_is_counted(many):
    assert [item["name"] for item in many.json("stats", "--by", "ticker")] == ["", "AAPL", "NVDA"]
    since, until = FIRST + timedelta(weeks=10), FIRST + timedelta(weeks=19)
    (overall, *_) = many.json("stats", "--since", since, "--until", until)
    assert overall["attrition"]["decided"] == 20
    back = many.now.date() - timedelta(weeks=1000)
    assert many.json("stats", "--since", "1000w") == many.json("stats", "--since", back) != []
    assert "or 7d for a week back" in one_line(many.run("stats", "--until", "yesterday"))
    assert many.json("stats", "--agent", "desk") == []
    result = many.run("stats", "--horizon", "20")
    assert (result.exit_code, result.stdout) == (0, "")
    assert one_line(result).endswith("holds nothing at that horizon; --horizon takes one of 5")


def test_agents_get_a_table_where_there_are_several(world):
    for agent, rating in (("keen", "Buy"), ("shy", "Sell")):
        world.record("NVDA", rating, "--agent", agent)
    world.now = SETTLED
    world.resolve()
    lines = squeezed(world.run("stats").stdout)
    assert any(line.startswith("keen 1 0 0 100%") for line in lines)
    assert any(line.startswith("shy 0 1 0 0%") for line in lines)


def test_what_became_of_all_decisions_is_told_even_if_nothing_is_settled(world):
    world.record("NVDA")
    lines = squeezed(world.run("stats").stdout)
    assert "Nothing is settled yet that has a verdict, so there is nothing to say." in lines
    assert lines[lines.index("What became of the decisions") + 1] == "DECIDED NOT DUE"
    world.now = MONDAY + timedelta(days=20)
    text = world.run("stats").stdout
    assert "`tradmem resolve` settles them or says why" in text


def test_what_could_flatter_stands_apart(world):
    entries = [
        settled(FIRST, alpha=UP, flags=("stopped",), known_at=LATER),
        settled(FIRST + timedelta(days=1), alpha=DOWN),
        settled(FIRST + timedelta(days=2), alpha=UP, decision={"flags": ("date_only", "late")}),
    ]
    write(world, entries)
    lines = squeezed(world.run("stats").stdout)
    at = lines.index("Looked at apart, for it could flatter")
    assert lines[at + 1] == "DECIDED RIGHT WRONG HIT WITHOUT"
    assert lines[at + 2 : at + 5] == [
        "known by the date alone 1 1 0 100% 50%",
        "recorded after the entry's close 1 1 0 100% 50%",
        "stopped before the horizon 1 1 0 100% 50%",
    ]


def test_verdicts_by_raw_returns_are_no_ground_for_a_word(world):
    days = (FIRST + timedelta(weeks=number) for number in range(40))
    entries = [
        settled(day, "BTC-USD", alpha=None, raw=UP if n % 3 else FLAT, known_at=LATER)
        for n, day in enumerate(days)
    ]
    write(world, entries)
    text = " ".join(squeezed(world.run("stats").stdout))
    assert "Of skill nothing can be said: 40 verdicts went by the raw return" in text
    assert "None yet: they take outcomes with an alpha" in text


def test_one_rating_for_nearly_everything_is_an_alarm(world):
    entries = [
        pending(FIRST + timedelta(days=n), rating=Rating.HOLD, agent="\x1b[2Jdesk")
        for n in range(60)
    ]
    write(world, entries)
    result = world.run("stats", env={"FORCE_COLOR": "1"})
    assert "Alarm: 50 of the last 50 decisions are Hold; check that" in result.stdout
    assert "\x1b[2J" not in result.stdout
    (overall, *_) = json.loads(world.run("stats", "--json").stdout)
    assert overall["alarms"] == [{"rating": "Hold", "times": 50, "of": 50, "agent": ""}]


def test_an_entry_of_another_program_is_counted_as_imported(world):
    world.log.parent.mkdir()
    world.log.write_text(
        "[2026-01-05 | NVDA | Buy | +6.0% | +4.5% | 5d]\n\nDECISION:\nBuy it.\n\n"
        "REFLECTION:\nIt went well.\n\n<!-- ENTRY_END -->\n\n"
    )
    world.now = LATER
    (overall, *_) = world.json("stats")
    (kind,) = overall["apart"]
    assert (kind["name"], kind["alone"]["right"], overall["right"]) == ("imported", 1, 1)


def test_without_a_log_or_a_decision_there_is_one_line(world):
    assert "there is no log at" in one_line(world.run("stats"))
    assert world.json("stats") == []
    world.run("note", "Guides low.")
    assert "holds no decision that was asked for" in one_line(world.run("stats"))


def test_in_python_it_is_the_same_record(many):
    record = many.memory.track(tickers=["nvda"], since=FIRST)
    assert record.line(5).track == many.memory.track().line(5, "ticker", "NVDA").track
    assert record.line(5).track.hit_rate == 0.75
    assert many.memory.track(agents=["nobody"]).lines == ()


def test_a_decision_that_is_not_due_is_told_from_one_that_is(world):
    entries = [fold_now(decided(FIRST + timedelta(days=n)), ()) for n in (0, 14)]
    write(world, entries)
    world.now = MONDAY + timedelta(days=15)
    (overall, *_) = world.json("stats")
    assert (overall["attrition"]["not_due"], overall["attrition"]["open"]) == (1, 1)


def test_what_a_resolve_said_of_pending_decisions_is_told_apart(world):
    world.record("NVDA")
    world.record("AAPL")
    lines = world.prices.read_text().splitlines()
    header = lines[0].split(",")
    days = [dict(zip(header, line.split(","), strict=True)) for line in lines[1:]]
    for day in days:
        if day["date"] >= "2026-01-05":
            day["AAPL"] = ""
        if day["date"] == "2026-01-07":
            day["NVDA"] = "900"
    rows = [",".join(day[name] for name in header) for day in days]
    world.prices.write_text("\n".join([lines[0], *rows]) + "\n")
    world.now = SETTLED
    memory = Memory.open(world.log, prices=FilePrices(world.prices), clock=world.clock)
    report = memory.resolve()
    found = memory.track(report=report).line(5).attrition
    assert (found.waiting, found.suspect, found.open) == (1, 1, 0)
    assert memory.track().line(5).attrition.open == 2

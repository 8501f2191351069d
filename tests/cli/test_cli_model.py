"""The command line with a model: what it cost, what is stuck, what it said and contradicted."""

import json
from contextlib import contextmanager

import pytest

from tests.cli.world import SETTLED, one_line
from tests.model_server import MODEL, ModelServer
from tradmem.model import Status

KEY = "sk-secret-of-the-tests"
OPPOSITE = json.dumps({"rating": "Buy", "thesis": "It falls. I rate it Sell.", "cited": []})


@pytest.fixture
def asking(world, monkeypatch):
    """A model's server that plays, set up in the environment."""

    @contextmanager
    def start(*plays, **variables):
        with ModelServer(plays) as server:
            found = {"TRADMEM_API_KEY": KEY, "TRADMEM_MODEL": MODEL, "TRADMEM_BASE_URL": server.url}
            for name, value in (found | variables).items():
                monkeypatch.setenv(name, value)
            yield server

    return start


def due(world, *tickers):
    """Decisions whose outcome is known by now; their ids."""
    ids = [world.record(ticker) for ticker in tickers]
    world.now = SETTLED
    return ids


def flat(text):
    return " ".join(text.split())


# resolve


def test_the_last_line_says_what_the_model_took(world, asking):
    due(world, "NVDA", "AAPL")
    with asking("500", TRADMEM_MODEL_PRICES="2,10"):
        result = world.resolve()
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == (
        "The model took 3 calls, 2,200 tokens (2,000 sent, 200 received) and $0.0060."
    )
    assert [entry.status for entry in world.memory.entries()] == [Status.RESOLVED] * 2


def test_without_prices_the_cost_is_not_known_and_in_json_it_is_told_beside(world, asking):
    due(world, "NVDA")
    with asking():
        result = world.resolve("--json")
    assert [item["group"] for item in json.loads(result.stdout)] == ["settled", "reflected"]
    assert result.stderr == (
        "tradmem: the model took 1 call, 1,100 tokens (1,000 sent, 100 received) "
        "and an unknown cost\n"
    )


@pytest.mark.parametrize("words", [["--no-reflect"], ["--reflector", "template"]])
def test_where_no_model_is_asked_nothing_is_said_of_it(world, asking, words):
    """Nor do its settings matter then, right or wrong."""
    due(world, "NVDA")
    with asking(TRADMEM_MODEL_TIMEOUT="soon") as server:
        result = world.resolve(*words)
    assert result.exit_code == 0
    assert server.seen == []
    assert "model took" not in result.output
    expected = Status.SETTLED if words == ["--no-reflect"] else Status.RESOLVED
    assert [entry.status for entry in world.memory.entries()] == [expected]


def test_no_more_is_spent_than_max_cost_allows(world, asking):
    """A call costs 0.003 here."""
    due(world, "NVDA", "AAPL")
    with asking(TRADMEM_MODEL_PRICES="2,10", TRADMEM_MODEL_MAX_COST="100") as server:
        result = world.resolve("--max-cost", "0.0055")
        assert len(server.seen) == 1
        assert result.exit_code == 1
        assert "$0.0030 of $0.0055 is spent or in use" in flat(result.stdout)
        assert "and $0.0030." in result.stdout.splitlines()[-1]
        again = world.resolve("--max-cost", "0.0055")
    assert again.exit_code == 0
    assert [entry.status for entry in world.memory.entries()] == [Status.RESOLVED] * 2


@pytest.mark.parametrize("value", ["-1", "cheap"])
def test_an_impossible_limit_is_wrong_use(world, value):
    result = world.resolve("--max-cost", value)
    assert result.exit_code == 2
    assert "'--max-cost'" in one_line(result)


def test_a_wrong_setting_is_one_line_and_nothing_is_written(world, asking):
    due(world, "NVDA")
    before = world.log.read_bytes()
    with asking(TRADMEM_MODEL_RETRIES="many"):
        result = world.resolve()
    assert result.exit_code == 2
    assert one_line(result) == (
        "TRADMEM_MODEL_RETRIES is 'many'; it has to be a whole number, such as 2"
    )
    assert world.log.read_bytes() == before


def test_a_refused_key_is_one_clear_line_and_the_rest_one_more(world, asking):
    for agent in ("one", "two", "three"):
        world.record("NVDA", "Buy", "--agent", agent)
    ids = [entry.id for entry in world.memory.entries()]
    world.now = SETTLED
    with asking("401") as server:
        result = world.resolve()
        assert len(server.seen) == 1
        assert result.exit_code == 1
        failed = flat(result.stdout.partition("Failed\n")[2].partition("The model took")[0])
        assert f"({ids[0]}): 127.0.0.1:" in failed
        assert "unauthorised (401)" in failed
        assert "set TRADMEM_API_KEY to a key that it takes" in failed
        assert failed.endswith(f"({ids[1]}) and 1 more: not asked: unauthorised")
        assert KEY not in result.output
        assert world.resolve().exit_code == 0
    assert all(entry.reflection for entry in world.memory.entries())


# What is stuck


def test_what_is_stuck_is_told_by_resolve_and_status_with_what_to_do(world, asking):
    (name,) = due(world, "NVDA")
    with asking(*["no-json"] * 10) as server:
        for _ in range(5):
            assert world.resolve().exit_code == 1
        assert world.json("status")[0]["stuck"] == [name]
        assert len(server.seen) == 10
        result = world.resolve()
        assert result.exit_code == 1
        assert len(server.seen) == 10
        assert "5 answers of the model were of no use" in flat(result.stdout)
        assert "`tradmem resolve --retry-stuck` asks again" in flat(result.stdout)
        assert "The model took" not in result.stdout
        status = world.run("status")
        assert status.exit_code == 1
        line = next(line for line in status.stdout.splitlines() if "is stuck" in line)
        assert f"({name}) is stuck: 5 answers" in line
        assert f"`tradmem show {name} --exchange`" in line
        assert "`tradmem resolve --retry-stuck`" in line
        result = world.resolve("--retry-stuck")
    assert result.exit_code == 0
    assert world.memory.get(name).status is Status.RESOLVED
    assert world.run("status").exit_code == 0
    assert world.json("status")[0]["stuck"] == []


def test_what_is_stuck_is_not_told_a_second_time_as_late(world, asking):
    due(world, "NVDA")
    with asking(*["no-json"] * 10):
        for _ in range(5):
            world.resolve()
    world.now = SETTLED.replace(month=3)
    wanted = world.json("status")[0]["needs_person"]
    assert len(wanted) == 1
    assert "is stuck" in wanted[0]


def test_exchanges_that_cannot_be_read_are_one_line(world):
    due(world, "NVDA")
    (world.log.parent / "memory.md.exchanges.jsonl").mkdir()
    for words in (["status"], ["show", "last", "--exchange"]):
        result = world.run(*words)
        assert result.exit_code == 1
        assert "cannot read the exchanges in" in one_line(result)


# show --exchange


def test_the_raw_exchanges_of_an_entry_are_printed(world, asking):
    name, other = due(world, "NVDA", "AAPL")
    with asking("wrong-figure", "ok", TRADMEM_MODEL_PRICES="2,10", TRADMEM_MODEL_CONCURRENCY="1"):
        world.resolve()
    result = world.run("show", name, "--exchange")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    path = world.log.parent / "memory.md.exchanges.jsonl"
    assert lines[0] == f"2026-01-05 NVDA Buy  right  {name}  {path}"
    heads = [line for line in lines if line.startswith("2026-01-13 12:00 UTC")]
    assert len(heads) == 2
    assert f"{MODEL} at 127.0.0.1:" in heads[0]
    assert "1 call, 1,000 tokens sent, 100 received, $0.0030" in heads[0]
    assert heads[0].endswith("rejected by the checks")
    assert heads[1].endswith("  lesson")
    assert "it cites +77.7%" in flat(result.stdout)
    assert lines.count("system") == 1  # the second question repeats it, which is said in a line
    assert "the 2 messages above, and then" in lines
    assert "Ticker: NVDA" in result.stdout
    assert lines.count("answer") == 2
    assert KEY not in path.read_text() + result.stdout
    assert "AAPL" not in result.stdout
    stored = [json.loads(line) for line in path.read_text().splitlines()]
    assert world.json("show", name, "--exchange") == [r for r in stored if r["entry"] == name]
    assert len(world.json("show", other, "--exchange")) == 1


def test_an_exchange_after_an_instant_is_not_shown_as_of_it(world, asking):
    (name,) = due(world, "NVDA")
    with asking():
        world.resolve()
    assert world.json("show", name, "--exchange", "--as-of", "2026-01-12") == []
    assert len(world.json("show", name, "--exchange", "--as-of", "2026-01-13")) == 1


def test_an_entry_that_no_model_was_asked_about_is_told_so(world):
    name, _ = world.settle_week()
    result = world.run("show", name, "--exchange")
    assert result.exit_code == 0
    assert one_line(result).endswith(f"holds no exchange about {name}; was a model asked?")
    assert world.json("show", name, "--exchange") == []


def test_what_a_model_said_cannot_drive_the_terminal_nor_break_the_page(world):
    """Records of another version, or damaged by hand, are shown as far as they go."""
    name, _ = world.settle_week()
    records = [
        {"entry": name, "answer": "\x1b[2Jcleared\u202e", "model": "m\x1b[31m", "host": "h"},
        {"entry": name, "at": "later", "messages": [{"role": "user"}, "x"], "tokens": "many"},
        {"entry": name, "refusal": "I cannot.", "fault": "refused", "message": "it refused"},
    ]
    path = world.log.parent / "memory.md.exchanges.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    result = world.run("show", name, "--exchange")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
    assert "cleared" in result.stdout
    assert "I cannot." in result.stdout


# A model that decides


def test_a_model_that_contradicts_itself_is_shown_by_run_and_by_show(world, asking):
    with asking(OPPOSITE, TRADMEM_MODEL_CUTOFF="2025-06"):
        result = world.run("run", "NVDA", "--prices", world.prices)
    assert result.exit_code == 0, result.stderr
    assert "NVDA 2026-01-05 contradicts itself: the text says Sell, the rating is Buy" in (
        result.stderr
    )
    page = world.run("show", "last").stdout
    assert "  Conflict     the text says Sell, the rating is Buy" in page
    assert f"  Model        {MODEL}, trained up to 2025-06-30" in page
    (found,) = world.json("show", "last")
    assert found["rating"] == "Buy"
    kept = {"stated_rating": "Sell", "model": MODEL, "cutoff": "2025-06-30"}
    assert kept.items() <= found["extra"].items()


def test_a_model_that_gives_no_rating_is_stored_unrated_and_run_says_so(world, asking):
    unsure = json.dumps({"rating": "none", "thesis": "I cannot tell.", "cited": []})
    with asking(unsure, unsure):
        result = world.run("run", "NVDA", "--prices", world.prices)
    assert result.exit_code == 0, result.stderr
    assert "NVDA 2026-01-05 is stored unrated" in result.stderr
    (entry,) = world.memory.entries()
    assert (entry.rating, entry.decision) == (None, "I cannot tell.")


def test_record_warns_of_a_text_that_says_another_rating(world):
    result = world.run("record", "NVDA", "**Rating**: Buy", "--rating", "Sell")
    assert result.exit_code == 0
    assert "the text says Buy, the rating is Sell" in result.stderr

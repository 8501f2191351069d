"""TradingAgents' own interface on our journal, held against a reader that behaves as theirs."""

import asyncio
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tests.journal.making import TEXTS
from tests.journal.tradingagents import PeerLog
from tradmem.errors import UsageError
from tradmem.journal.markdown import MarkdownJournal
from tradmem.plugin.tradingagents import TradingMemoryLog, install

START = datetime(2026, 1, 5, 15, tzinfo=UTC)
KEYS = ["date", "ticker", "rating", "pending", "raw", "alpha", "decision", "reflection"]


class World:
    def __init__(self, path, **config):
        self.now = START
        self.path = path
        self.log = TradingMemoryLog({"memory_log_path": str(path), **config}, clock=self.clock)

    def clock(self):
        return self.now

    def go(self, day):
        self.now = START + timedelta(days=day)
        return self.now.date().isoformat()

    def taught(self, ticker, day, *, text="Rating: Buy\nBecause.", lesson="It was right."):
        """A decision of some day, and its outcome a week later."""
        date = self.go(day)
        self.log.store_decision(ticker, date, text)
        self.go(day + 7)
        self.log.update_with_outcome(ticker, date, 0.06, 0.045, 5, lesson)
        return date


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "memory.md")


def test_entries_are_the_dicts_that_the_peer_reads_from_the_same_file(world):
    world.taught("NVDA", 0)
    world.taught("AAPL", 1, text="**Rating**: Sell\n\nNo.", lesson="It was\n\nwrong.")
    world.log.store_decision("MSFT", world.go(14), "Rating: Overweight")
    entries = world.log.load_entries()
    theirs = PeerLog(world.path).load()
    assert [{key: entry[key] for key in KEYS} for entry in entries] == theirs
    assert [entry["holding"] for entry in entries] == ["5d", "5d", None]
    assert entries[0] == {
        "date": "2026-01-05",
        "ticker": "NVDA",
        "rating": "Buy",
        "pending": False,
        "raw": "+6.0%",
        "alpha": "+4.5%",
        "holding": "5d",
        "decision": "Rating: Buy\nBecause.",
        "reflection": "It was right.",
    }
    assert [entry["ticker"] for entry in world.log.get_pending_entries()] == ["MSFT"]


def test_the_context_has_the_headings_and_the_newest_first(world):
    for day in range(0, 70, 10):
        world.taught("NVDA", day, lesson=f"Lesson of {'abcdefg'[day // 10]}.")
    for number, ticker in enumerate(["AAPL", "MSFT", "AMD", "MU", "AAPL"]):
        world.taught(ticker, 80 + number, lesson=f"Lesson on {ticker}, {'vwxyz'[number]}.")
    world.log.store_decision("NVDA", world.go(100), "Rating: Buy\nOpen.")
    parts = world.log.get_past_context("NVDA").split("\n\n")
    assert parts[0] == "Past analyses of NVDA (most recent first):"
    assert parts[1:4] == [
        "[2026-03-06 | NVDA | Buy | +6.0% | +4.5% | 5d]",
        "DECISION:\nRating: Buy\nBecause.",
        "REFLECTION:\nLesson of g.",
    ]
    assert [p[-2] for p in parts if p.startswith("REFLECTION")] == list("gfedc")
    others = parts[parts.index("Recent cross-ticker lessons:") + 1 :]
    assert others == [  # one of each, while theirs takes the newest three whosoever they are
        "[2026-03-30 | AAPL | Buy | +6.0%]\nLesson on AAPL, z.",
        "[2026-03-29 | MU | Buy | +6.0%]\nLesson on MU, y.",
        "[2026-03-28 | AMD | Buy | +6.0%]\nLesson on AMD, x.",
    ]
    assert "Open." not in "".join(parts)
    few = world.log.get_past_context("NVDA", n_same=1, n_cross=0)
    assert few.count("REFLECTION") == 1
    assert "cross-ticker" not in few
    assert world.log.get_past_context("TSLA", n_cross=0) == ""


def test_a_past_date_is_shown_only_what_was_known_before_its_close(world):
    world.taught("NVDA", 0)
    world.go(30)
    assert "It was right." in world.log.get_past_context("NVDA")
    assert world.log.get_past_context("NVDA", as_of="2026-01-07") == ""


def test_a_decision_remembers_what_its_context_showed(world):
    world.taught("NVDA", 0)
    date = world.go(8)
    world.log.get_past_context("NVDA")
    world.log.store_decision("nvda", date, "Rating: Sell")
    first, second = MarkdownJournal(world.path).entries()
    assert second.recalled == (first.id,)
    assert second.recorded.recalled_as_of == world.now


def test_the_same_date_and_ticker_keep_the_first_decision(world):
    world.log.store_decision("NVDA", "2026-01-05", "Rating: Buy")
    world.log.store_decision("NVDA", "2026-01-05", "Rating: Sell")
    assert [entry["rating"] for entry in world.log.load_entries()] == ["Buy"]


def test_several_outcomes_are_one_write_and_strangers_are_passed_over(world):
    for ticker in ("NVDA", "AAPL"):
        world.log.store_decision(ticker, "2026-01-05", "Rating: Buy")
    world.go(7)
    figures = {"trade_date": "2026-01-05", "raw_return": 0.01, "holding_days": 5}
    world.log.batch_update_with_outcomes(
        [
            {"ticker": "NVDA", "alpha_return": None, "reflection": "", **figures},
            {"ticker": "AAPL", "alpha_return": -0.01, "reflection": "No.", **figures},
            {"ticker": "MSFT", "alpha_return": 0.0, "reflection": "?", **figures},
        ]
    )
    found = {entry["ticker"]: entry for entry in world.log.load_entries()}
    assert (found["NVDA"]["alpha"], found["NVDA"]["reflection"]) == ("n/a", "")
    assert (found["AAPL"]["alpha"], found["AAPL"]["reflection"]) == ("-1.0%", "No.")
    assert world.log.get_pending_entries() == []
    assert MarkdownJournal(world.path).entries()[0].status == "settled"


@pytest.mark.parametrize(
    "bad",
    [
        {"raw_return": float("nan")},
        {"raw_return": None},
        {"raw_return": "much"},
        {"alpha_return": float("inf")},
        {"holding_days": "5"},
        {"holding_days": 1.5},
        {"holding_days": -3},
        {"holding_days": 10**30},
        {"alpha_return": -1e308},
        {"reflection": 5},
        {"ticker": "A|B"},
        {"trade_date": "yesterday"},
    ],
    ids=str,
)
def test_an_outcome_that_cannot_be_is_refused_and_nothing_is_stored(world, bad):
    world.log.store_decision("NVDA", "2026-01-05", "Rating: Buy")
    before = world.path.read_bytes()
    update = {"ticker": "NVDA", "trade_date": "2026-01-05", "raw_return": 0.1, "alpha_return": 0.1}
    with pytest.raises(UsageError):
        world.log.update_with_outcome(**update | {"holding_days": 5, "reflection": "x"} | bad)
    assert world.path.read_bytes() == before


@pytest.mark.parametrize("most", [-1, "5", 5.0, None, True])
def test_a_number_of_memories_that_is_none_is_refused(world, most):
    world.taught("NVDA", 0)
    for wrong in ({"n_same": most}, {"n_cross": most}):
        with pytest.raises(UsageError, match="is a whole number from 0"):
            world.log.get_past_context("NVDA", **wrong)
    assert world.log.get_past_context("NVDA", 0, 0) == ""


def test_a_decision_that_is_refused_leaves_what_was_shown_to_the_next_try(world):
    world.taught("NVDA", 0)
    date = world.go(10)
    world.log.get_past_context("NVDA")
    with pytest.raises(UsageError):
        world.log.store_decision("NVDA", date, "")
    world.log.store_decision("NVDA", date, "Rating: Buy")
    assert len(world.log.memory.entries()[-1].recalled) == 1


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["id"])
def test_no_text_passes_for_another_entry_or_section(world, case):
    """Neither in the file nor in the context that a model reads."""
    world.taught("NVDA", 0, text=case["text"], lesson=case["text"] or "x")
    assert [entry["ticker"] for entry in world.log.load_entries()] == ["NVDA"]
    lines = world.log.get_past_context("NVDA").splitlines()
    assert sum(line.startswith("[20") for line in lines) == 1
    assert sum(line.startswith(("DECISION:", "REFLECTION:", "NOTE:")) for line in lines) == 2


def test_beyond_the_most_entries_the_oldest_go_to_the_archive_and_none_is_lost(tmp_path):
    world = World(tmp_path / "memory.md", memory_log_max_entries=6)
    for day in range(0, 160, 20):
        world.taught("NVDA", day, lesson=f"Lesson {'abcdefgh'[day // 20]}.")
    assert len(world.log.load_entries()) == 6
    assert len(MarkdownJournal(world.path).entries()) == 8


@pytest.mark.parametrize("config", [None, {}, {"memory_log_path": None}, {"memory_log_path": ""}])
def test_without_a_path_nothing_happens(config):
    log = TradingMemoryLog(config)
    log.store_decision("NVDA", "2026-01-05", "Rating: Buy")
    log.update_with_outcome("NVDA", "2026-01-05", 0.1, 0.1, 5, "x")
    log.batch_update_with_outcomes([])
    assert (log.load_entries(), log.get_pending_entries()) == ([], [])
    assert log.get_past_context("NVDA") == ""


@pytest.fixture
def peer(tmp_path, monkeypatch):
    """A package of the shape of TradingAgents, with a class and a graph that imports it."""
    files = {
        "agents/utils/memory.py": "class TradingMemoryLog:\n    pass\n",
        "graph/trading_graph.py": (
            "from tradingagents.agents.utils.memory import TradingMemoryLog\n\n\n"
            "class TradingAgentsGraph:\n"
            "    def __init__(self, config):\n"
            "        self.memory_log = TradingMemoryLog(config)\n\n"
            "    def propagate(self, company_name, trade_date):\n"
            "        self.open = [\n"
            "            entry for entry in self.memory_log.get_pending_entries()\n"
            "            if entry['ticker'] == company_name\n"
            "        ]\n"
            "        return self.memory_log.get_past_context(company_name)\n"
        ),
    }
    for name, text in files.items():
        path = tmp_path / "site" / "tradingagents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "tradingagents"]:
        del sys.modules[name]


def test_installing_takes_the_place_of_theirs_and_gives_it_back(peer, tmp_path):
    from tradingagents.graph import trading_graph

    theirs, propagate = trading_graph.TradingMemoryLog, trading_graph.TradingAgentsGraph.propagate
    put_back = install()
    again = install()
    graph = trading_graph.TradingAgentsGraph({"memory_log_path": str(tmp_path / "memory.md")})
    assert isinstance(graph.memory_log, TradingMemoryLog)
    again()
    assert trading_graph.TradingMemoryLog is TradingMemoryLog
    put_back()
    assert trading_graph.TradingMemoryLog is theirs
    assert trading_graph.TradingAgentsGraph.propagate is propagate


def test_a_run_over_a_past_date_is_shown_what_was_known_on_it(peer, world):
    from tradingagents.graph import trading_graph

    world.taught("NVDA", 0)
    world.go(30)
    put_back = install()
    graph = trading_graph.TradingAgentsGraph({})
    graph.memory_log = world.log
    assert graph.propagate("NVDA", "2026-01-07") == ""
    assert "It was right." in graph.propagate("NVDA", trade_date="2026-01-20")
    assert "It was right." in world.log.get_past_context("NVDA")

    async def both():
        days = ("2026-01-07", "2026-01-20")
        return await asyncio.gather(
            *(asyncio.to_thread(graph.propagate, "NVDA", day) for day in days)
        )

    early, late = asyncio.run(both())
    assert (early, bool(late)) == ("", True)
    put_back()


def test_a_run_finds_its_pending_decisions_however_it_spells_its_ticker(peer, world):
    """It compares their tickers with what it was given, which theirs stores as it is."""
    from tradingagents.graph import trading_graph

    for ticker in ("nvda", "AAPL"):
        world.log.store_decision(ticker, "2026-01-05", "Rating: Buy")
    put_back = install()
    graph = trading_graph.TradingAgentsGraph({})
    graph.memory_log = world.log
    for spelt in ("nvda", "NVDA", "Nvda"):
        graph.propagate(spelt, "2026-01-05")
        assert [entry["ticker"] for entry in graph.open] == [spelt]
    put_back()
    assert [entry["ticker"] for entry in world.log.load_entries()] == ["NVDA", "AAPL"]


@pytest.mark.parametrize("key", ["ticker", "trade_date", "raw_return", "holding_days"])
def test_an_update_that_lacks_something_is_refused_with_all_of_them(world, key):
    world.log.store_decision("NVDA", "2026-01-05", "Rating: Buy")
    whole = {"ticker": "NVDA", "trade_date": "2026-01-05", "raw_return": 0.1, "holding_days": 5}
    before = world.path.read_bytes()
    with pytest.raises(UsageError, match=f"has no {key}"):
        world.log.batch_update_with_outcomes([whole, {k: whole[k] for k in whole if k != key}])
    assert world.path.read_bytes() == before


def test_a_path_that_is_none_is_refused():
    with pytest.raises(UsageError, match="memory_log_path is 5"):
        TradingMemoryLog({"memory_log_path": 5})


def test_without_tradingagents_installing_says_so():
    with pytest.raises(UsageError, match="install TradingAgents"):
        install()

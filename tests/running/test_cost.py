"""What a run says that its models took is what their servers were asked for."""

from itertools import cycle

import pytest

from tests.agent_world import World, random_closes
from tests.model_server import MODEL, USAGE, ModelServer
from tradmem.agent import build_graph, model_policy
from tradmem.journal.markdown import MarkdownJournal
from tradmem.lessons.exchanges import exchanges_beside
from tradmem.lessons.openai import OpenAIReflector
from tradmem.running import RunLog, RunOptions, RunState, run_once
from tradmem.running.driving import own_graph

NAMES = ["NVDA", "AMD", "MU"]
CLOSES = random_closes([*NAMES, "SPY"], 330)
DAYS = list(CLOSES["NVDA"])
PRICES = (2.0, 10.0)  # US dollars per million tokens
ONE = (USAGE["prompt_tokens"] * PRICES[0] + USAGE["completion_tokens"] * PRICES[1]) / 1e6
DECISION = '{"rating": "Buy", "thesis": "It has risen. It may rise on.", "cited": []}'
QUICK = RunOptions(pause=0.01)


def is_decision(about):
    return not about.split()[1:]  # a lesson is about a ticker and a date


def world_of(tmp_path, server, prices=PRICES):
    given = {"model": MODEL, "base_url": server.url, "api_key": "none", "prices": prices}
    world = World(
        CLOSES,
        MarkdownJournal(tmp_path / "memory.md"),
        reflector=OpenAIReflector(retries=0, **given),
    )
    path = world.journal.path
    policy = model_policy(
        retries=0, exchanges=exchanges_beside(path), clock=lambda: world.now, **given
    )
    return world.go(DAYS[300]), own_graph(world.memory, policy)


def test_calls_tokens_and_cost_cover_lessons_decisions_and_failures(tmp_path):
    faults = cycle(["500", DECISION, '{"thesis": "No."}', DECISION])
    play = lambda about: next(faults) if is_decision(about) else "ok"  # noqa: E731
    with ModelServer(play) as server:
        world, graph = world_of(tmp_path, server)
        for day in (300, 306):
            report = run_once(world.go(DAYS[day]).memory, NAMES, graph=graph, options=QUICK)
            assert report.state is RunState.DONE
        runs = RunLog(world.journal.path).runs()
        answered = sum(seen.play != "500" for seen in server.seen)
        assert sum(run.data["calls"] for run in runs) == len(server.seen)
        assert sum(run.data["tokens"][0] for run in runs) == answered * USAGE["prompt_tokens"]
        assert sum(run.data["cost"] for run in runs) == pytest.approx(answered * ONE)
        lessons = sum(not is_decision(seen.about) for seen in server.seen)
        assert lessons == len(NAMES)
    each = [ticker["calls"] for run in runs for ticker in run.data["tickers"]]
    assert sum(each) + lessons == len(server.seen)
    entry = report.tickers[0].entry
    assert [r["decision"] for r in exchanges_beside(world.journal.path).of(entry.id)][-1]


def test_a_cost_that_nothing_tells_is_not_made_up(tmp_path):
    with ModelServer(lambda about: DECISION) as server:
        world, graph = world_of(tmp_path, server, prices=None)
        report = run_once(world.memory, NAMES, graph=graph)
    assert (report.usage.calls, report.usage.cost) == (3, None)


def test_no_decision_is_begun_that_would_probably_exceed_the_limit(tmp_path):
    with ModelServer(lambda about: DECISION) as server:
        world, graph = world_of(tmp_path, server)
        options = RunOptions(max_cost=2.5 * ONE, concurrency=3)
        report = run_once(world.memory, NAMES, graph=graph, options=options)
        assert len(server.seen) == 2
        assert report.usage.cost == pytest.approx(2 * ONE)
    assert sorted(item.fate for item in report.tickers) == ["decided", "decided", "failed"]
    (failure,) = report.failures()
    assert "over budget" in failure.why
    assert failure.todo == "raise the limit, or run again tomorrow"


def test_without_known_prices_a_limit_lets_one_decision_through(tmp_path):
    with ModelServer(lambda about: DECISION) as server:
        world, graph = world_of(tmp_path, server, prices=None)
        options = RunOptions(max_cost=1.0, concurrency=3)
        report = run_once(world.memory, NAMES, graph=graph, options=options)
        assert len(server.seen) == 1
    told = {failure.why for failure in report.failures()}
    assert len(told) == 1
    assert "nothing tells what a call costs, so it cannot be limited" in told.pop()


def test_calls_that_a_graph_makes_through_langchain_count_too(tmp_path):
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    world = World(CLOSES, MarkdownJournal(tmp_path / "memory.md")).go(DAYS[300])
    used = {"input_tokens": 70, "output_tokens": 5, "total_tokens": 75}
    said = AIMessage(content="**Rating**: Hold", usage_metadata=used)
    model = GenericFakeChatModel(messages=cycle([said]))
    graph = build_graph(world.memory, lambda situation: model.invoke("What now?").content)
    report = run_once(world.memory, ["NVDA", "AMD"], graph=graph)
    usage = report.usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (2, 140, 10)
    assert usage.cost is None

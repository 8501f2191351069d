"""The happy path against a server that others wrote: aimock from npm, on loopback.

Our own server and our client could share a misreading of the protocol; this one cannot.
The test installs it into a folder of its own, at one version, and starts it with node.
"""

import json
import re
import shutil
import subprocess
import urllib.request
from contextlib import closing, contextmanager

import pytest

from tests.agent_world import World, random_closes
from tradmem import FramePrices, MarkdownJournal, Memory
from tradmem.agent import build_graph, model_policy
from tradmem.lessons.checks import check
from tradmem.lessons.exchanges import Exchanges
from tradmem.lessons.figures import given
from tradmem.lessons.openai import OpenAIReflector
from tradmem.model import Rating, Status

AIMOCK = "@copilotkit/aimock@1.43.0"
MODEL = "some-model"
KEY = "sk-secret-of-the-tests"
CLOSES = random_closes(["AMD", "NVDA", "SPY"], 330, drift={"AMD": 0.02, "NVDA": -0.02})
DAYS = list(CLOSES["AMD"])

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None, reason="there is no node, which runs the second server"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The server's program, installed by npm for this run."""
    folder = tmp_path_factory.mktemp("aimock")
    options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(
        ["npm", "install", "--prefix", str(folder), *options, AIMOCK],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"npm cannot install {AIMOCK}: {done.stderr}"
    return folder / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"


@contextmanager
def serving(program, folder, *fixtures):
    """The server with these fixtures, and its address."""
    path = folder / "fixtures.json"
    path.write_text(json.dumps({"fixtures": fixtures}))
    command = ["node", str(program), "--port", "0", "--fixtures", str(path), "--strict"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            said = []
            for line in process.stdout:
                said.append(line)
                if found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", line):
                    break
            else:
                pytest.fail(f"the server did not start: {''.join(said)}")
            yield found[1]
        finally:
            process.terminate()


def requests(url):
    """What the server itself says it was asked."""
    with urllib.request.urlopen(f"{url}/__aimock/journal", timeout=10) as answer:
        found = json.load(answer)
    entries = found if isinstance(found, list) else found["entries"]
    return [entry for entry in entries if entry["path"].endswith("/chat/completions")]


def fixture(about, content, **match):
    """What it answers where the question holds some words, is asked by schema and for the model."""
    wanted = {"userMessage": about, "responseFormat": "json_schema", "model": MODEL}
    answer = {"content": json.dumps(content), "finishReason": "stop"}
    return {"match": wanted | match, "response": answer}


def test_lessons_come_back_checked_linked_and_counted(program, tmp_path):
    """Two weeks of decisions through the whole loop, on a log."""
    lessons = {
        "AMD": {
            "reflection": "The Buy on AMD was right. Next time, size it the same way.",
            "links": [],
            "tags": ["Order Book", "momentum"],
        },
        "NVDA": {
            "reflection": "The Buy on NVDA was wrong, as AMD had shown. Wait for orders to turn.",
            "links": [1],
            "tags": ["orders"],
        },
    }
    answers = [fixture(f"Ticker: {name}", answer) for name, answer in lessons.items()]
    now = World.before_close(DAYS[300])
    memory = Memory(
        MarkdownJournal(tmp_path / "memory.md"),
        prices=FramePrices(CLOSES),
        clock=lambda: now,
    )
    exchanges = Exchanges(tmp_path / "exchanges.jsonl")
    with (
        serving(program, tmp_path, *answers) as url,
        closing(
            OpenAIReflector(
                model=MODEL, base_url=f"{url}/v1", api_key=KEY, prices=(2, 10), exchanges=exchanges
            )
        ) as reflector,
    ):
        memory.reflector = reflector
        first = memory.record("AMD", DAYS[300], "Rating: Buy\nOrders grow.").entry
        now = World.before_close(DAYS[307])
        used = [memory.resolve().usage]
        second = memory.record("NVDA", DAYS[307], "Rating: Buy\nOrders grow.").entry
        now = World.before_close(DAYS[314])
        report = memory.resolve()
        used.append(report.usage)
        asked = requests(url)
    assert [item.entry.id for item in report.reflected] == [second.id]
    assert report.failed == ()
    assert [entry["response"]["status"] for entry in asked] == [200, 200]
    for entry, name, said in ((first, "AMD", []), (second, "NVDA", [first.id])):
        found = memory.get(entry.id)
        assert found.status is Status.RESOLVED
        assert found.reflection == lessons[name]["reflection"]
        assert list(found.links) == said
        assert not check(
            found.reflection,
            rating=found.rating,
            verdict=found.verdict,
            given=given(found),
            ticker=name,
        )
    assert memory.get(first.id).tags == ("order-book", "momentum")
    assert memory.recall("NVDA").text.count("Wait for orders to turn.") == 1
    for usage in used:
        assert usage.calls == 1
        assert usage.prompt_tokens > 100
        assert usage.completion_tokens > 10
        expected = (usage.prompt_tokens * 2 + usage.completion_tokens * 10) / 1e6
        assert usage.cost == pytest.approx(expected)
    kept = list(exchanges.read())
    assert [(r["entry"], r["lesson"], r["mode"]) for r in kept] == [
        (first.id, True, "schema"),
        (second.id, True, "schema"),
    ]
    assert KEY not in exchanges.path.read_text()


def test_a_rate_limit_and_a_rejected_answer_end_in_one_lesson(program, tmp_path):
    """What the other server sends as 429 is waited for, and its answers can be repaired."""
    sound = {
        "reflection": "The Buy on AMD was right. Next time, size it the same way.",
        "links": [],
        "tags": [],
    }
    answers = [
        {
            "match": {"userMessage": "Ticker: AMD", "sequenceIndex": 0},
            "response": {
                "error": {"message": "Slow down.", "type": "rate_limit_error"},
                "status": 429,
            },
        },
        fixture("Ticker: AMD", sound | {"reflection": "The Buy on AMD was wrong. Sell."}),
        fixture("That cannot be stored: ", sound, turnIndex=1),
    ]
    now = World.before_close(DAYS[300])
    memory = Memory(
        MarkdownJournal(tmp_path / "memory.md"), prices=FramePrices(CLOSES), clock=lambda: now
    )
    entry = memory.record("AMD", DAYS[300], "Rating: Buy\nOrders grow.").entry
    now = World.before_close(DAYS[307])
    with (
        serving(program, tmp_path, *answers) as url,
        closing(OpenAIReflector(model=MODEL, base_url=f"{url}/v1", api_key=KEY)) as reflector,
    ):
        memory.reflector = reflector
        report = memory.resolve()
        statuses = sorted(request["response"]["status"] for request in requests(url))
    assert memory.get(entry.id).reflection == sound["reflection"]
    assert report.usage.calls == 3
    assert statuses == [200, 200, 429]


def test_a_decision_comes_back_with_its_rating_and_the_models_name(program, tmp_path):
    answer = {"rating": "Overweight", "thesis": "It has risen. It may rise on.", "cited": []}
    world = World(CLOSES).go(DAYS[300])
    with serving(program, tmp_path, fixture("Ticker: NVDA", answer)) as url:
        policy = model_policy(model=MODEL, base_url=f"{url}/v1", api_key=KEY)
        state = build_graph(world.memory, policy).invoke({"ticker": "NVDA"})
    entry = world.memory.get(state["entry_id"])
    assert entry.rating is Rating.OVERWEIGHT
    assert entry.decision.endswith("It has risen. It may rise on.")
    assert entry.recorded.extra["model"] == MODEL
    assert state["notices"] == []

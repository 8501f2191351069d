"""The policy that asks a model, against a server on loopback."""

import json
import re
import threading
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.agent_world import World, random_closes
from tradmem.agent import build_graph, default_policy, model_policy, momentum_policy
from tradmem.clock import format_instant
from tradmem.errors import ModelError, UsageError
from tradmem.lessons.exchanges import Exchanges
from tradmem.model import Rating
from tradmem.variables import VARIABLES

CLOSES = random_closes(["NVDA", "AMD", "SPY"], 330)
DAYS = list(CLOSES["NVDA"])
SOUND = {"rating": "Overweight", "thesis": "It has risen. It may rise on.", "cited": []}


class Server:
    """Answers each request with the next of its answers: a text, an object, or a status."""

    def __init__(self, *answers, finish="stop"):
        self.answers, self.asked, self.keys = list(answers), [], []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                owner.asked.append(body)
                owner.keys.append(self.headers["authorization"])
                answer = owner.answers.pop(0)
                status, data = 200, {"error": {"message": "no", "code": None}}
                if isinstance(answer, int):
                    status = answer
                else:
                    text = answer if isinstance(answer, str) else json.dumps(answer)
                    data = {"choices": [{"finish_reason": finish, "message": {"content": text}}]}
                raw = json.dumps(data).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *args):
        self._http.shutdown()
        self._http.server_close()

    def policy(self, **kwargs):
        return model_policy(model="m", base_url=self.url, api_key="test-key", retries=0, **kwargs)

    def prompt(self, number=-1):
        """What the model was shown."""
        return "\n".join(message["content"] for message in self.asked[number]["messages"])


def decide(server, world=None):
    world = world or World(CLOSES).go(DAYS[300])
    state = build_graph(world.memory, server.policy()).invoke({"ticker": "NVDA"})
    return world.memory.get(state["entry_id"])


def test_a_models_answer_becomes_the_decision():
    with Server(SOUND) as server:
        entry = decide(server)
    assert entry.rating is Rating.OVERWEIGHT
    assert entry.decision == "**Rating**: Overweight\n\nIt has risen. It may rise on."
    assert server.keys == ["Bearer test-key"]
    asked = server.asked[0]["response_format"]["json_schema"]
    assert asked["strict"] is True
    assert asked["schema"]["properties"]["rating"]["enum"] == [rating.value for rating in Rating]
    shown = server.prompt()
    for said in ("Ticker: NVDA", "over 5 sessions against SPY", "last 60 sessions: ", "none."):
        assert said in shown


def test_memories_are_cited_by_number_and_no_id_is_shown():
    world = World(CLOSES).go(DAYS[300])
    first = world.memory.record("NVDA", DAYS[300], "Up it goes.", rating="Buy").entry
    other = world.memory.record("AMD", DAYS[300], "Down it goes.", rating="Sell").entry
    world.go(DAYS[306])
    with Server(SOUND | {"cited": [2, 1, 7, "no", 2]}) as server:
        entry = decide(server, world)
    assert entry.recalled == (first.id, other.id)
    assert entry.cited == (other.id, first.id)
    named = f"From memory: {DAYS[300]} NVDA Buy, {DAYS[300]} AMD Sell."
    assert entry.decision.endswith(named)
    shown = server.prompt()
    assert "Up it goes." in shown
    assert f"1 is {DAYS[300]} NVDA Buy, 2 is {DAYS[300]} AMD Sell." in shown
    assert first.id not in shown
    assert other.id not in shown


NO_DECISION = [
    "I would rather not say.",
    {"rating": "Strong maybe", "thesis": "Up.", "cited": []},
    {"thesis": ["Up it goes.", "Or down."]},
    {"rating": "Buy", "thesis": " ", "cited": []},
    {"rating": "Buy", "thesis": "Up. " * 600, "cited": []},
    {"rating": "Buy", "cited": []},
    '{"rating": "Buy", "thesis": "It has ris',
    "Up. " * 600,
    " ",
    "<think>What to say?</think>",
]


@pytest.mark.parametrize("answer", NO_DECISION)
def test_what_is_no_decision_is_asked_for_once_more(answer):
    with Server(answer, SOUND) as server:
        assert decide(server).rating is Rating.OVERWEIGHT
    assert len(server.asked) == 2
    assert "That is no decision: " in server.prompt()


@pytest.mark.parametrize("answer", NO_DECISION[3:])
def test_what_has_no_text_is_a_failure_and_nothing_is_recorded(answer):
    world = World(CLOSES).go(DAYS[300])
    with Server(answer, answer) as server, pytest.raises(ModelError, match="unreadable answer"):
        decide(server, world)
    assert world.memory.entries() == []


def test_a_text_that_was_cut_off_or_filtered_is_nobodys_decision():
    for finish, kind in (("length", "unreadable answer"), ("content_filter", "refused")):
        world = World(CLOSES).go(DAYS[300])
        with Server("Rating: Buy", "Rating: Buy", finish=finish) as server:  # noqa: SIM117
            with pytest.raises(ModelError, match=kind):
                decide(server, world)
        assert world.memory.entries() == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("I would rather not say.", "I would rather not say."),
        ({"rating": "Strong maybe", "thesis": "Up.", "cited": []}, "Up."),
        ({"thesis": ["Up it goes.", "Or down."]}, "Up it goes. Or down."),
        ("<think>Buy?</think>\nNo view on this one.", "No view on this one."),
    ],
)
def test_a_text_without_a_rating_is_stored_unrated_and_warned_about(answer, text):
    world = World(CLOSES).go(DAYS[300])
    with Server(answer, answer) as server:
        graph = build_graph(world.memory, server.policy())
        state = graph.invoke({"ticker": "NVDA"})
    entry = world.memory.get(state["entry_id"])
    assert (entry.rating, entry.decision) == (None, text)
    assert entry.recorded.extra["model"] == "m"
    told = f"NVDA {DAYS[300]} is stored unrated: its text gives no clear rating"
    assert state["notices"] == [told]


def test_a_text_that_says_its_rating_outside_the_structure_has_it():
    answer = "**Rating**: Sell\n\nIt has fallen, and may fall on."
    with Server(answer, answer) as server:
        assert decide(server).rating is Rating.SELL
    with Server(answer, " ") as server:  # the first answer was better than the second
        assert decide(server).rating is Rating.SELL


@pytest.mark.parametrize(
    "thesis",
    [
        "It has fallen for a year. I rate it Sell.",
        "It has fallen for a year. This is a Sell, and a clear one.",
        "Rating: Sell. It has fallen for a year.",
        "FINAL TRANSACTION PROPOSAL: **SELL**",
    ],
)
def test_a_rating_that_the_text_contradicts_is_stored_with_the_conflict_and_told(thesis):
    world = World(CLOSES).go(DAYS[300])
    with Server({"rating": "Buy", "thesis": thesis, "cited": []}) as server:
        graph = build_graph(world.memory, server.policy())
        state = graph.invoke({"ticker": "NVDA"})
    assert len(server.asked) == 1  # it is not asked to hide it
    entry = world.memory.get(state["entry_id"])
    assert (entry.rating, entry.recorded.extra["stated_rating"]) == (Rating.BUY, "Sell")
    assert state["notices"] == [
        f"NVDA {DAYS[300]} contradicts itself: the text says Sell, the rating is Buy"
    ]


@pytest.mark.parametrize(
    "thesis",
    [
        "It has risen, and stays a Buy. The Sell of last week was wrong.",
        "Analysts rate it Sell; I do not. The trend is up.",
        "Hold on to it while the trend lasts. Selling early cost us before.",
    ],
)
def test_a_text_that_speaks_of_other_ratings_is_no_conflict(thesis):
    with Server({"rating": "Buy", "thesis": thesis, "cited": []}) as server:
        assert "stated_rating" not in decide(server).recorded.extra


@pytest.mark.parametrize("cutoff", [None, date(2024, 6, 30)])
def test_the_models_name_and_cutoff_are_kept_with_the_decision(cutoff):
    with Server(SOUND) as server:
        world = World(CLOSES).go(DAYS[300])
        graph = build_graph(world.memory, server.policy(cutoff=cutoff))
        state = graph.invoke({"ticker": "NVDA"})
    expected = {"model": "m"} | ({"cutoff": "2024-06-30"} if cutoff else {})
    extra = dict(world.memory.get(state["entry_id"]).recorded.extra)
    assert re.fullmatch("[0-9a-f]{16}", extra.pop("prompt"))
    assert extra == expected
    assert json.loads(json.dumps(state)) == state


def test_prose_and_reasoning_around_the_answer_do_no_harm():
    drawn = '<think>{"rating": "Sell", "thesis": "x"}</think> Gladly: '
    with Server(drawn + json.dumps(SOUND | {"rating": "BUY", "cited": None})) as server:
        entry = decide(server)
    assert (entry.rating, entry.cited) == (Rating.BUY, ())


@pytest.mark.parametrize(
    ("status", "kind", "fatal"), [(401, "unauthorised", True), (500, "server error", False)]
)
def test_a_failure_is_one_line_and_nothing_is_recorded(status, kind, fatal):
    world = World(CLOSES).go(DAYS[300])
    with Server(status) as server, pytest.raises(ModelError) as error:
        decide(server, world)
    assert (error.value.kind, error.value.fatal) == (kind, fatal)
    assert "\n" not in str(error.value)
    assert "test-key" not in str(error.value)
    assert world.memory.entries() == []


def test_a_key_in_the_environment_makes_a_model_decide(monkeypatch):
    for names in VARIABLES.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    assert default_policy() is momentum_policy
    for name in ("OPENAI_API_KEY", "TRADMEM_API_KEY"):
        monkeypatch.setenv(name, f"the-{name.lower()}")
        with pytest.raises(UsageError, match="TRADMEM_MODEL"):
            default_policy()
    monkeypatch.setenv("TRADMEM_MODEL", "m")
    with Server(SOUND) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        world = World(CLOSES).go(DAYS[300])
        build_graph(world.memory).invoke({"ticker": "NVDA"})
    assert server.keys == ["Bearer the-tradmem_api_key"]
    assert server.asked[0]["model"] == "m"


def test_what_a_decision_was_asked_and_answered_is_kept_under_its_id(tmp_path):
    world = World(CLOSES).go(DAYS[300])
    exchanges = Exchanges(tmp_path / "exchanges.jsonl")
    with Server("no JSON", SOUND, 401) as server:
        policy = server.policy(exchanges=exchanges, clock=lambda: world.now)
        graph = build_graph(world.memory, policy, agent="house")
        entry_id = graph.invoke({"ticker": "NVDA"})["entry_id"]
        with pytest.raises(ModelError):
            graph.invoke({"ticker": "AMD"})
    first, second = exchanges.of(entry_id)
    assert [first["decision"], second["decision"]] == [False, True]
    assert "no JSON object" in first["message"]
    assert len(first["messages"]) + 2 == len(second["messages"])
    assert json.loads(second["answer"]) == SOUND
    assert second["at"] == format_instant(world.now)
    failed = [r for r in exchanges.read() if r["entry"] != entry_id]
    assert len(failed) == 1
    assert "unauthorised" in failed[0]["message"]
    assert exchanges.attempts() == {}
    assert "test-key" not in exchanges.path.read_text()

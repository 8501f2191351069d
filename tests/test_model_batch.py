"""Two hundred due decisions, a real log, and a model's server that fails in every way."""

import json
import re
import socket
from contextlib import closing
from datetime import timedelta

import pytest

from tests.agent_world import World, random_closes
from tests.journal.making import TEXTS
from tests.model_server import GOOD, PASSING, USELESS, ModelServer, chaos, sound_lesson
from tradmem import FramePrices, MarkdownJournal, Memory
from tradmem.lessons.exchanges import Exchanges
from tradmem.lessons.openai import OpenAIReflector
from tradmem.model import Rating, Status

TICKERS = ("NVDA", "AMD", "MU", "BRK.B", "TSM")
CLOSES = random_closes([*TICKERS, "SPY"], 360)
DAYS = list(CLOSES["NVDA"])
END = b"\n<!-- ENTRY_END -->\n"
MOST_RUNS = 12  # of which a refused key or the like ends four early


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def fill(log):
    """A log with 200 decisions that will be due, and everything else that a log may hold.

    Returns:
        The memory, with the clock at an instant when they are due, and their ids.
    """
    world = World(CLOSES)
    world.memory = Memory(MarkdownJournal(log), prices=FramePrices(CLOSES), clock=lambda: world.now)
    log.write_text("# A log of mine\n\nIt began with a remark.\n\n")
    world.go(DAYS[280])
    for ticker in TICKERS:
        world.memory.record(ticker, DAYS[280], f"Rating: Buy\n\nAn old thesis on {ticker}.")
    world.go(DAYS[287])
    assert len(world.memory.resolve().reflected) == len(TICKERS)  # by the template
    ids, ratings, texts = [], [*Rating, None], [text["text"] for text in TEXTS]
    for number in range(200):
        day, ticker = DAYS[290 + number // 5], TICKERS[number % 5]
        text = f"A thesis, number {number}.\n\n{texts[number % len(texts)]}"
        rating = ratings[number % len(ratings)]
        if rating is None:
            text = f"No view, number {number}."
        ids.append(world.go(day).memory.record(ticker, day, text, rating=rating).entry.id)
    world.memory.note("Thin days lie ahead.\n\nREFLECTION:\nnone")
    with log.open("a") as file:  # what no program can read stays as it is
        file.write(f"[2026-01-0x | NVDA | Buy | pending]\n\nDECISION:\nbroken\n{END.decode()}\n")
        file.write(
            f"<<<<<<< HEAD\n[2026-01-05 | MU | Buy | pending]\n\nDECISION:\nx\n{END.decode()}\n"
        )
    world.go(DAYS[340])
    world.memory.record("NVDA", DAYS[340], "Rating: Sell\n\nNot due yet.")
    world.now += timedelta(hours=2)
    return world.memory, ids


def every_fault(seed):
    """All faults at random; first the two of which there would be few or none."""
    first, others = iter(["401", "slow"]), chaos(seed)
    return lambda about: next(first, None) or others(about)


def blocks(data):
    """The blocks of a log by the id in their first ledger line; without one, by their number."""
    found = {}
    for number, block in enumerate(data.split(END)):
        name = re.search(rb'^<!-- tradmem: \{"v":1,"id":"([0-9a-f]{12})"', block, re.MULTILINE)
        found[name[1].decode() if name else number] = block
    return found


def taken_back(block, tag):
    """A block as it was, if only its tag, its ledger and a new section have changed."""
    first, *lines = block.lstrip(b"\n").split(b"\n")
    assert first.startswith(b"[")
    added = [line for line in lines if line.startswith(b'<!-- tradmem: {"add":')]
    kinds = [json.loads(line[len(b"<!-- tradmem:") : -len(b"-->")])["add"] for line in added]
    assert kinds == ["outcome", "reflection"]
    rest = b"\n".join(line for line in lines if line not in added)
    rest, sections = re.subn(rb"\n\nREFLECTION:\n[^\n]+(?=\n\Z)", b"", rest)
    assert sections == 1
    return tag + b"\n" + rest


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 7))]
)
def test_every_due_entry_gets_one_correct_lesson_and_nothing_else_changes(tmp_path, seed):
    log, port = tmp_path / "memory.md", free_port()
    memory, ids = fill(log)
    before = log.read_bytes()
    exchanges = Exchanges(tmp_path / "exchanges.jsonl")
    options = {"timeout": 2.0, "concurrency": 16, "retries": 1, "exchanges": exchanges}
    reflector = OpenAIReflector(
        model="m", base_url=f"http://127.0.0.1:{port}/v1", api_key="sk-of-the-tests", **options
    )
    memory.reflector = reflector
    with closing(reflector):
        report = memory.resolve()  # nobody listens there yet
        assert {item.entry.id for item in report.settled} == set(ids)
        assert report.reflected == ()
        assert len(report.failed) == len(ids)
        kinds, stored, runs = set(), [], 0
        with ModelServer(every_fault(seed), slowness=3.0, port=port) as server:
            while len(stored) < len(ids) and runs < MOST_RUNS:
                runs += 1
                report = memory.resolve()
                assert report.settled == ()  # no outcome was lost, nor asked for again
                assert len(report.reflected) + len(report.failed) == len(ids) - len(stored)
                stored += [item.entry.id for item in report.reflected]
                kinds |= {item.reason for item in report.failed}
                reflector.retry_stuck = any("--retry-stuck" in reason for reason in kinds)
    assert sorted(stored) == sorted(ids)
    sound = {seen.about: seen for seen in server.seen if seen.play in GOOD}
    assert set(server.good_calls().values()) == {1}
    assert len(sound) == len(ids)
    fresh = Memory(MarkdownJournal(log))
    for name in ids:
        entry = fresh.get(name)
        seen = sound[f"{entry.ticker} {entry.date}"]
        language = "de" if seen.play == "another-language" else "en"
        assert entry.status is Status.RESOLVED
        assert entry.reflection == sound_lesson(seen.body, language)
        assert len(entry.links) <= 1
    was, now = blocks(before), blocks(log.read_bytes())
    assert list(was) == list(now)
    for name, block in was.items():
        if name not in ids:
            assert now[name] == block
            continue
        head, tag, rest = re.fullmatch(rb"(\n*)(\[[^\n]+\])\n(.*)", block, re.DOTALL).groups()
        assert now[name].startswith(head)
        assert taken_back(now[name], tag) == tag + b"\n" + rest
    assert {seen.play for seen in server.seen} >= {"401", *PASSING, *USELESS, *GOOD}
    assert exchanges.attempts() == {}
    assert len(exchanges.path.read_bytes().splitlines()) <= exchanges.keep

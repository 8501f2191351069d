"""Vectors of texts: offline, from a server that may misbehave, and kept between runs."""

import sqlite3
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest

from tests.journal.making import DAY, DECIDED, KNOWN, decision, lesson, note, outcome
from tests.lessons.embedders import Letters
from tests.lessons.embedding_server import EmbeddingServer, vector_of
from tradmem import ModelError, RamJournal, Settings, UsageError
from tradmem.lessons import vectors as vectors_module
from tradmem.lessons.embed import OpenAIEmbedder, WordLlamaEmbedder, unit
from tradmem.lessons.vector_store import VectorStore
from tradmem.lessons.vectors import VectorIndex
from tradmem.searching import Finder


@pytest.fixture(scope="module")
def offline():
    return WordLlamaEmbedder(64)


def ask(server, **more):
    more = {"batch": 4, "retries": 1} | more
    return OpenAIEmbedder(model="m", base_url=server.url, api_key="secret-key", **more)


def same(found, texts, size=8):
    for vector, text in zip(found, texts, strict=True):
        expected = np.array(vector_of(text, size))
        assert vector == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


def test_texts_of_like_meaning_are_nearer_offline(offline):
    dog, cat, rate = offline.embed(
        [
            "Chip demand of data centres grew.",
            "Semiconductor sales rose.",
            "Wheat harvest failed.",
        ]
    )
    assert np.linalg.norm(dog) == pytest.approx(1)
    assert float(dog @ cat) > float(dog @ rate) + 0.1
    assert dog.shape == (64,)


def test_a_text_without_words_has_no_direction(offline):
    assert [vector is None for vector in offline.embed(["", "word", "\0"])][:2] == [True, False]
    assert offline.embed([]) == []
    assert unit([0.0, 0.0]) is None
    assert unit([float("nan"), 1.0]) is None
    assert unit("x") is None


def test_a_server_is_asked_in_batches():
    texts = [f"text {number}" for number in range(10)]
    with EmbeddingServer() as server:
        embedder = ask(server)
        same(embedder.embed(texts), texts)
        embedder.close()
    assert server.batches == [texts[:4], texts[4:8], texts[8:]]
    assert server.keys == ["Bearer secret-key"] * 3
    assert server.bodies[0]["model"] == "m"
    assert "dimensions" not in server.bodies[0]


def test_a_batch_that_is_refused_is_asked_for_text_by_text():
    texts = ["a", "bad", "c", "d", "e"]
    with EmbeddingServer(refuse=["bad", "ba", "b"]) as server:
        embedder = ask(server)
        found = embedder.embed(texts)
        embedder.close()
    assert found[1] is None
    same([*found[:1], *found[2:]], ["a", "c", "d", "e"])
    assert server.batches[0] == texts[:4]
    assert ["a"] in server.batches


def test_of_a_text_that_is_too_long_the_beginning_is_taken():
    long = "word " * 50
    with EmbeddingServer(longest=130) as server:
        embedder = ask(server)
        found = embedder.embed(["a", long])
        embedder.close()
    same(found, ["a", long[:125]])


@pytest.mark.parametrize("play", ["one missing", "empty"])
def test_an_answer_that_does_not_fit_is_asked_for_text_by_text(play):
    with EmbeddingServer([play]) as server:
        embedder = ask(server)
        same(embedder.embed(["a", "b"]), ["a", "b"])
        embedder.close()
    assert server.batches == [["a", "b"], ["a"], ["b"]]


def test_vectors_are_put_in_the_order_of_the_texts():
    with EmbeddingServer(["shuffled"]) as server:
        embedder = ask(server)
        same(embedder.embed(["a", "b", "c"]), ["a", "b", "c"])
        embedder.close()


@pytest.mark.parametrize("play", ["429", "500", "web page"])
def test_a_passing_fault_is_tried_again(play):
    with EmbeddingServer([play]) as server:
        embedder = ask(server)
        same(embedder.embed(["a"]), ["a"])
        embedder.close()
    assert len(server.batches) == 2


@pytest.mark.parametrize(
    ("plays", "kind", "fatal"),
    [(["401"], "unauthorised", True), (["500"] * 9, "server error", False)],
)
def test_a_fault_that_stays_says_what_it_is_without_the_key(plays, kind, fatal):
    with EmbeddingServer(plays) as server:
        embedder = ask(server)
        with pytest.raises(ModelError) as caught:
            embedder.embed(["a", "b"])
        embedder.close()
    assert (caught.value.kind, caught.value.fatal) == (kind, fatal)
    assert "secret-key" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_takes_nothing_is_not_asked_on_and_on():
    with EmbeddingServer(["400"] * 999) as server:
        embedder = ask(server)
        with pytest.raises(ModelError, match="takes none of 4 texts") as caught:
            embedder.embed([f"text {number}" for number in range(100)])
        embedder.close()
    assert caught.value.fatal
    assert len(server.batches) < 20


def test_nobody_there_is_a_fault():
    embedder = OpenAIEmbedder(model="m", base_url="http://127.0.0.1:9/v1", retries=0, timeout=2)
    with pytest.raises(ModelError, match="unreachable"):
        embedder.embed(["a"])
    embedder.close()


def test_a_model_and_a_key_have_to_be_known(monkeypatch):
    for name in ("TRADMEM_EMBEDDING_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="TRADMEM_EMBEDDING_MODEL"):
        OpenAIEmbedder()
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        OpenAIEmbedder(model="m")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert OpenAIEmbedder(model="m", dimensions=256).model == "api.openai.com/m/256"


class Costly(Letters):
    is_costly = True


def journal_of(*lessons):
    journal = RamJournal()
    for number, said in enumerate(lessons):
        name = journal.append(decision("", agent=f"a{number}"))[0].id
        journal.add([(name, outcome()), (name, lesson(said))])
    return journal


def test_vectors_that_cost_something_are_made_once(tmp_path):
    journal = journal_of("One.", "Two.")
    first, second = Costly(), Costly()
    index = VectorIndex(journal, first, tmp_path / "vectors")
    index.refresh()
    query = index.vector("a query")
    assert sorted(first.seen) == ["One.", "Two.", "a query"]
    again = VectorIndex(journal, second, tmp_path / "vectors")
    again.refresh()
    assert again.vector("a query") == pytest.approx(query)
    assert second.seen == []
    names = index.nearest(query, KNOWN, ticker="NVDA", most=5)
    assert again.nearest(query, KNOWN, ticker="NVDA", most=5) == names
    assert len(names) == 2


def test_vectors_that_cost_nothing_leave_no_file(tmp_path):
    index = VectorIndex(journal_of("One."), Letters(), tmp_path / "vectors")
    index.refresh()
    assert not (tmp_path / "vectors").exists()


def test_so_many_that_they_cost_time_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors_module, "_WORTH_KEEPING", 3)
    monkeypatch.setattr(vectors_module, "_AT_ONCE", 3)
    journal, again = journal_of("One.", "Two.", "Three."), Letters()
    VectorIndex(journal, Letters(), tmp_path).refresh()
    index = VectorIndex(journal, again, tmp_path)
    index.refresh()
    assert again.seen == []
    assert len(index.nearest(index.vector("one"), KNOWN, ticker="NVDA", most=5)) == 3


def test_what_is_kept_knows_its_model_and_its_dimension(tmp_path):
    store = VectorStore(tmp_path, "host/model")
    store.put({"k": np.ones(4, dtype=np.float32)})
    assert VectorStore(tmp_path, "host/model").dimension == 4
    assert list(VectorStore(tmp_path, "host/model").get(["k", "l"])["k"]) == [1.0] * 4
    with sqlite3.connect(store.path) as table:
        table.execute("UPDATE about SET model = 'another'")
    with pytest.raises(UsageError, match="vectors of another, not of host/model; delete it"):
        VectorStore(tmp_path, "host/model")


def test_a_model_that_changes_its_dimension_is_noticed(tmp_path):
    class Longer(Costly):
        def embed(self, texts):
            return [np.append(vector, vector) for vector in super().embed(texts)]

    VectorIndex(journal_of("One."), Costly(), tmp_path).refresh()
    index = VectorIndex(journal_of("One.", "Two."), Longer(), tmp_path)
    index.refresh()
    assert "gives 52 numbers, and gave 26 before; delete" in index.fault
    assert index.vector("Three.") is None


@pytest.mark.parametrize("content", [b"no database", b""])
def test_a_file_that_cannot_be_used_costs_time_and_nothing_else(content, tmp_path, caplog):
    (tmp_path / "letters.sqlite").write_bytes(content)
    index = VectorIndex(journal_of("One."), Costly(), tmp_path)
    index.refresh()
    assert len(index.nearest(index.vector("one"), KNOWN, ticker="NVDA", most=5)) == 1
    assert (content == b"") == (caplog.text == "")
    blocked = tmp_path / "file"
    blocked.write_text("")
    VectorIndex(journal_of("One."), Costly(), blocked / "below").refresh()


def test_the_vectors_follow_the_journal_and_only_changes_are_embedded():
    journal, embedder = journal_of("aaa.", "bbb."), Letters()
    index = VectorIndex(journal, embedder)
    index.refresh()
    assert sorted(embedder.seen) == ["aaa.", "bbb."]
    pending = journal.append(decision("zzz.", ticker="AMD"))[0].id
    added = journal.append(note("bbbb.", at=KNOWN))[0].id
    index.refresh()
    assert embedder.seen[2:] == ["bbbb."]
    journal.add([(pending, outcome())])
    index.refresh()
    assert embedder.seen[3:] == ["zzz."]
    vector = index.vector("bbbbb")
    nearest = index.nearest(vector, KNOWN, ticker="NVDA", most=9)
    assert len(nearest) == 4
    assert set(nearest[:2]) >= {added}
    assert index.nearest(vector, DECIDED, ticker="NVDA", most=9) == []
    assert index.nearest(vector, KNOWN, ticker="NVDA", most=0) == []


def test_of_those_equally_near_the_newest_come_first():
    journal = journal_of(*(["same"] * 3))
    late = journal.append(decision("", ticker="AMD", day=DAY))[0].id
    later = KNOWN + timedelta(days=1)
    journal.add([(late, outcome(later)), (late, lesson("same", at=later + timedelta(hours=2)))])
    index = VectorIndex(journal, Letters())
    index.refresh()
    vector = index.vector("same")
    own = sorted((e.id for e in journal.entries() if e.id != late), reverse=True)
    assert index.nearest(vector, KNOWN, ticker="NVDA", most=3) == own
    assert index.nearest(vector, later, ticker="NVDA", most=9) == [late, *own]
    assert index.nearest(vector, later, ticker="NVDA", most=1) == [late, own[0]]


def test_of_another_ticker_few_are_candidates():
    journal = RamJournal()
    for number in range(12):
        ticker = ("NVDA", "AMD", "AMD", "MU")[number % 4]
        name = journal.append(decision("", ticker=ticker, agent=f"a{number}"))[0].id
        journal.add([(name, outcome()), (name, lesson("same"))])
    index = VectorIndex(journal, Letters())
    index.refresh()
    found = index.nearest(index.vector("same"), KNOWN, ticker="NVDA", most=9)
    assert Counter(journal.get(name).ticker for name in found) == {"NVDA": 3, "AMD": 2, "MU": 2}


def test_the_settings_name_the_embedder(monkeypatch, tmp_path):
    journal = RamJournal()
    monkeypatch.setenv("TRADMEM_EMBEDDING_MODEL", "m")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    named = {
        name: Finder(journal, Settings(embeddings=name, vectors=tmp_path)).vectors
        for name in ("auto", "none", "wordllama", "openai")
    }
    assert named["none"] is None
    assert type(named["auto"].embedder) is type(named["wordllama"].embedder) is WordLlamaEmbedder
    assert named["openai"].embedder.model == "127.0.0.1:9/m"


def test_without_the_extra_auto_does_without_and_wordllama_says_what_to_install(monkeypatch):
    monkeypatch.setattr("tradmem.searching.find_spec", lambda _: None)
    monkeypatch.setattr("tradmem.lessons.embed.find_spec", lambda _: None)
    assert Finder(RamJournal(), Settings()).vectors is None
    with pytest.raises(UsageError, match=r"tradmem\[semantic\]"):
        _ = Finder(RamJournal(), Settings(embeddings="wordllama")).vectors

"""The settings file, the environment, and which of them is stronger."""

from dataclasses import fields
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tradmem import FramePrices, Memory, Settings, TemplateReflector, UsageError
from tradmem.configuration import DEFAULT, load, variable
from tradmem.lessons.openai import OpenAIReflector
from tradmem.model_settings import is_set_up, model_settings
from tradmem.setting_kinds import KINDS
from tradmem.variables import HOST_KEYS, VARIABLES

FULL = """
log = "logs/desk.md"
watchlist = ["nvda", "BRK.B", "NVDA"]
prices = "closes.csv"
reflector = "template"
actor = "desk"
benchmark = {"*" = "spy", "BTC-USD" = "none"}
horizons = [5, 20]
max_resolved = "none"
budget = 500
rank = "relevant"
half_life = 30
cache = "kept"

[aliases]
FB = "META"

[weights]
semantic = 0.5

[model]
name = "small"
base_url = "http://127.0.0.1:9/v1"
timeout = 7.5
prices = [2.5, 10]
cutoff = 2025-06-30
embedding = "vectors-small"

[libraries.store]
provider = "other"
"""


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    """A home that ends the search, an empty environment, and a working folder below it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for names in (*VARIABLES.values(), HOST_KEYS.values()):
        for name in names:
            monkeypatch.delenv(name, raising=False)
    for name in ("TRADMEM_LOG", "TRADMEM_CACHE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def wrong(start: Path, env=None) -> str:
    """The one line about a configuration that cannot be."""
    with pytest.raises(UsageError) as told:
        load(start, env or {})
    assert "\n" not in str(told.value)
    return str(told.value)


def test_without_a_file_everything_is_as_it_is_by_default(at_home):
    found = load(env={})
    assert (found.settings, found.log, found.path) == (Settings(), "logs/memory.md", None)
    assert set(found.sources.values()) == {DEFAULT}
    assert found.watchlist == ()


def test_a_file_sets_everything(at_home):
    (at_home / "tradmem.toml").write_text(FULL)
    found = load(env={})
    assert (found.log, found.prices, found.reflector) == ("logs/desk.md", "closes.csv", "template")
    assert (found.watchlist, found.actor) == (("NVDA", "BRK.B"), "desk")
    settings = found.settings
    assert settings.benchmark == {"*": "SPY", "BTC-USD": None}
    assert (settings.horizons, settings.max_resolved, settings.budget) == ((5, 20), None, 500)
    assert (settings.rank, settings.half_life, settings.aliases) == (
        *("relevant", 30.0),
        {"FB": "META"},
    )
    assert (settings.weights["semantic"], settings.weights["keyword"]) == (0.5, 0.35)
    assert (settings.cache, settings.vectors) == (Path("kept"), Path("kept/vectors"))
    assert settings.embedding_model == "vectors-small"
    model = found.model
    assert (model.model, model.timeout, model.prices) == ("small", 7.5, (2.5, 10.0))
    assert model.cutoff == date(2025, 6, 30)
    assert found.libraries == {"store": {"provider": "other"}}
    path = str(at_home / "tradmem.toml")
    for key in ("log", "horizons", "model.name", "model.embedding", "libraries.store"):
        assert found.sources[key] == path
    assert found.sources["related"] == DEFAULT


def test_the_environment_is_stronger_than_the_file(at_home):
    (at_home / "tradmem.toml").write_text(FULL)
    env = {
        "TRADMEM_LOG": "elsewhere.md",
        "TRADMEM_WATCHLIST": "AAPL, msft",
        "TRADMEM_HORIZONS": "10,60",
        "TRADMEM_BENCHMARK": "none",
        "TRADMEM_MAX_RESOLVED": "7",
        "TRADMEM_WEIGHTS": "keyword=1 recency=0",
        "TRADMEM_MODEL": "large",
        "TRADMEM_BUDGET": " ",  # set to nothing is not set
    }
    found = load(env=env)
    assert (found.log, found.watchlist) == ("elsewhere.md", ("AAPL", "MSFT"))
    assert (found.settings.horizons, found.settings.max_resolved) == ((10, 60), 7)
    assert found.settings.benchmark == {"*": None}
    assert (found.settings.weights["keyword"], found.settings.weights["recency"]) == (1, 0)
    assert (found.model.model, found.settings.budget) == ("large", 500)
    assert found.sources["horizons"] == "TRADMEM_HORIZONS"
    assert found.sources["model.name"] == "TRADMEM_MODEL"
    assert found.sources["budget"] == str(at_home / "tradmem.toml")


def test_variables_that_other_programs_share_are_weaker_than_the_file(at_home):
    (at_home / "tradmem.toml").write_text('[model]\nname = "ours"\n')
    env = {"OPENAI_MODEL": "theirs", "OPENAI_API_KEY": "sk-x"}
    found = load(env=env)
    assert (found.model.model, found.model.api_key) == ("ours", "sk-x")
    assert found.sources["model.api_key"] == "OPENAI_API_KEY"


def test_a_file_above_is_found_and_its_paths_start_at_its_folder(at_home):
    (at_home / "tradmem.toml").write_text(FULL)
    below = at_home / "a" / "b"
    below.mkdir(parents=True)
    found = load(below, {})
    assert found.path == at_home / "tradmem.toml"
    assert (found.log, found.prices) == (
        *(str(at_home / "logs/desk.md"), str(at_home / "closes.csv")),
    )
    assert found.settings.cache == at_home / "kept"


def test_an_address_and_the_name_of_a_source_are_no_paths(at_home):
    (at_home / "tradmem.toml").write_text('log = "postgresql://h/d"\nprices = "demo"\n')
    (at_home / "a").mkdir()
    found = load(at_home / "a", {})
    assert (found.log, found.prices) == ("postgresql://h/d", "demo")


@pytest.mark.parametrize("end", ["repository", "home"])
def test_the_search_ends_at_the_root_of_the_repository_and_at_home(
    at_home, tmp_path, end, monkeypatch
):
    (tmp_path / "tradmem.toml").write_text("budget = 1\n")
    assert load(env={}).settings.budget == 1
    if end == "repository":
        (at_home / ".git").mkdir()
    else:
        monkeypatch.setenv("HOME", str(at_home))
    assert load(env={}).path is None


def test_a_table_of_pyproject_toml_is_taken_where_there_is_no_file_of_our_own(at_home):
    (at_home / "pyproject.toml").write_text('[tool.tradmem]\nbudget = 2\nmodel.name = "m"\n')
    found = load(env={})
    assert (found.settings.budget, found.model.model) == (2, "m")
    (at_home / "tradmem.toml").write_text("budget = 3\n")
    assert load(env={}).settings.budget == 3


def test_a_pyproject_toml_that_says_nothing_of_us_is_passed_by(at_home, tmp_path):
    (at_home / "pyproject.toml").write_text('[project]\nname = "tradmem-user"\n')
    (tmp_path / "tradmem.toml").write_text("budget = 4\n")
    assert load(env={}).settings.budget == 4


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("horizon = [5]", "no setting 'horizon'; the nearest is 'horizons'"),
        ("Budget = 5", "no setting 'Budget'; the nearest is 'budget'"),
        ("watch-list = []", "the nearest is 'watchlist'"),
        ("[modell]\nname = 'x'", "the nearest is 'model'"),
        ("[model]\ntimout = 5", "no setting 'timout' in [model]; the nearest is 'timeout'"),
        ("budget = '500'", "budget is '500'; it has to be a whole number"),
        ("budget = true", "budget is True; it has to be a whole number"),
        ("budget = -1", "budget is -1; it is a whole number from 0 on"),
        ("horizons = 5", "horizons is 5; it has to be a list of whole numbers, such as [5, 20]"),
        ("horizons = [0]", "a horizon of 0 sessions cannot be"),
        ("rank = 'relevent'", "'relevent' is none of plain, relevant; the nearest is relevant"),
        ("reflector = 'opnai'", "the nearest is openai"),
        ("watchlist = 'NVDA'", "watchlist is 'NVDA'; it has to be a list of tickers"),
        ("watchlist = ['N V']", "'N V' is no ticker"),
        ("benchmark = 5", "benchmark is 5; it has to be a ticker, none, or a table"),
        ("[weights]\nsemantc = 1", "no part 'semantc'; the nearest is semantic"),
        ("half_life = 0", "half_life is 0.0; it is a number of days above 0"),
        ("log = ''", "log is ''; it has to be a path"),
        ('log = "a\\u0000b"', "log is 'a\\x00b'; it has to be a path"),
        ("model = 'gpt'", "model is no table; write it as [model]"),
        ("[model]\ntimeout = '5'", "model.timeout is '5'; it has to be seconds above 0"),
        ("[model]\nretries = true", "model.retries is True; it has to be a whole number"),
        ("[model]\nprices = 2.5", "model.prices is 2.5; it has to be US dollars"),
        ("[model]\ncutoff = 'June'", "model.cutoff is 'June'; it has to be a date or a month"),
        ("libraries = 5", "libraries is no table"),
        ("[libraries]\nx = 5", "libraries.x is no table; write it as [libraries.x]"),
        ("budget = ", "is no TOML"),
        ("budget = 1\nbudget = 2", "is no TOML"),
        ("x = " + "[" * 5000, "is no TOML"),
    ],
)
def test_what_cannot_be_is_told_in_one_line_with_its_file(at_home, text, told):
    (at_home / "tradmem.toml").write_text(text + "\n")
    with pytest.raises(UsageError) as refused:
        _ = load(env={}).model
    line = str(refused.value)
    assert "\n" not in line
    assert told in line
    assert line.startswith(str(at_home / "tradmem.toml"))


def test_a_file_that_is_no_text_is_told(at_home):
    (at_home / "tradmem.toml").write_bytes(b"budget = 1 # \xff\n")
    assert "is no TOML" in wrong(at_home)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("TRADMEM_CUTOFF", "2025-06", "the nearest is TRADMEM_MODEL_CUTOFF"),
        ("TRADMEM_MODEL_NAME", "small", "the nearest is TRADMEM_MODEL"),
        ("TRADMEM_MODEL_API_KEY", "x", "the nearest is TRADMEM_API_KEY"),
        ("TRADMEM_BUDGETT", "5", "TRADMEM_BUDGETT is no variable of tradmem; the nearest is "),
        ("TRADMEM_MODEL_TIMOUT", "5", "the nearest is TRADMEM_MODEL_TIMEOUT"),
        ("TRADMEM_BUDGET", "much", "TRADMEM_BUDGET is 'much'; it has to be a whole number"),
        ("TRADMEM_HORIZONS", "5;20", "TRADMEM_HORIZONS is '5;20'; it has to be a list"),
        ("TRADMEM_BUDGET", "-5", "TRADMEM_BUDGET: budget is -5"),
        ("TRADMEM_RANK", "relevent", "TRADMEM_RANK: 'relevent' is none of"),
        ("TRADMEM_ALIASES", "FB", "TRADMEM_ALIASES is 'FB'; it has to be a table"),
    ],
)
def test_a_variable_that_cannot_be_is_told_by_its_name(at_home, name, value, told):
    assert told in wrong(at_home, {name: value})


def test_a_variable_of_somebody_else_is_no_fault_and_is_named(at_home):
    assert load(env={"TRADMEM_HOUSE_RULES": "x", "PATH": "y"}).strangers == ("TRADMEM_HOUSE_RULES",)


def test_every_key_has_its_own_variable_that_is_taken(at_home):
    samples = {
        "watchlist": "A",
        "benchmark": "SPY",
        "horizons": "7",
        "aliases": "A=B",
        "weights": "semantic=1",
        "rank": "relevant",
        "holdout": "0.3",
        "embeddings": "none",
        "reflector": "template",
        "model.base_url": "http://x/v1",
        "model.prices": "1,2",
        "model.cutoff": "2025-01",
    }
    keys = [key for key in load(env={}).sources if not key.startswith("libraries")]
    names = {variable(key): samples.get(key, "3") for key in keys}
    assert len(names) == len(keys)
    assert {key: load(env=names).sources[key] for key in keys} == {
        key: variable(key) for key in keys
    }


def test_a_memory_opened_in_python_follows_the_file(at_home):
    (at_home / "tradmem.toml").write_text('log = "own.md"\nhorizons = [3]\nmax_resolved = 2\n')
    memory = Memory.open()
    assert memory.settings.horizons == (3,)
    entry = memory.record("NVDA", "2026-01-05", "**Rating**: Buy\n\nA thesis.").entry
    assert entry.recorded.horizon == 3
    assert "NVDA" in (at_home / "own.md").read_text(encoding="utf-8")
    assert Memory.open("other.md", settings=Settings(horizons=(9,))).settings.horizons == (9,)


def test_the_model_of_the_file_is_asked_where_nothing_else_is_said(at_home):
    (at_home / "tradmem.toml").write_text(FULL)
    assert OpenAIReflector().settings.model == "small"
    assert model_settings(model="mine").model == "mine"
    assert is_set_up()


def test_a_key_for_openai_goes_to_no_server_that_only_a_found_file_names(at_home, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    file = at_home / "tradmem.toml"
    file.write_text('[model]\nbase_url = "https://elsewhere.example/v1"\n')
    assert "sk-openai" not in model_settings().api_key
    assert model_settings().key_name == "TRADMEM_API_KEY"
    assert model_settings(base_url="https://elsewhere.example/v1").api_key == "sk-openai"
    file.write_text('[model]\nbase_url = "http://localhost:8000/v1"\n')
    assert model_settings().api_key == "sk-openai"
    monkeypatch.setenv("TRADMEM_BASE_URL", "https://elsewhere.example/v1")
    assert model_settings().api_key == "sk-openai"


def test_a_working_folder_that_is_gone_has_no_file(at_home):
    at_home.rmdir()
    assert load(env={}).path is None


def test_every_setting_of_a_memory_has_a_key():
    assert {field.name for field in fields(Settings)} - KINDS.keys() == {"embedding_model"}
    assert "model.embedding" in load(env={}).sources


CLOSES = "date,NVDA,SPY\n" + "".join(
    f"2026-01-{day:02},{100 + day},{400 + day}\n" for day in (5, 6, 7, 8, 9, 12)
)


def test_a_memory_takes_closes_from_the_file_that_the_settings_name(at_home):
    (at_home / "tradmem.toml").write_text('prices = "closes.csv"\n')
    (at_home / "closes.csv").write_text(CLOSES)
    now = datetime(2026, 1, 13, 12, tzinfo=UTC)
    memory = Memory.open(clock=lambda: now)
    memory.record("NVDA", "2026-01-05", "**Rating**: Buy")
    (told,) = memory.resolve().settled
    assert told.entry.outcome.raw_return == pytest.approx(112 / 105 - 1)
    other = FramePrices({"NVDA": {"2026-01-05": 1.0}})
    assert Memory.open(prices=other).prices is other
    with memory.handed_out():
        assert Memory.open().prices is memory.prices


def test_a_file_of_closes_that_is_not_there_hinders_nobody_who_asks_for_none(at_home):
    (at_home / "tradmem.toml").write_text('prices = "gone.csv"\n')
    memory = Memory.open()
    assert memory.record("NVDA", "2026-01-05", "**Rating**: Buy").entry.ticker == "NVDA"
    with pytest.raises(UsageError, match=r"gone\.csv"):
        memory.resolve()


def test_a_memory_takes_its_reflector_from_the_settings(at_home, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    monkeypatch.setenv("TRADMEM_MODEL", "small")
    assert isinstance(Memory.open().reflector, TemplateReflector)  # nobody asked for a model
    (at_home / "tradmem.toml").write_text('reflector = "auto"\n')
    assert isinstance(Memory.open().reflector, OpenAIReflector)
    monkeypatch.setenv("TRADMEM_REFLECTOR", "template")
    assert isinstance(Memory.open().reflector, TemplateReflector)
    own = TemplateReflector()
    assert Memory.open(reflector=own).reflector is own


def test_the_demo_in_the_settings_brings_its_benchmark(at_home):
    (at_home / "tradmem.toml").write_text('prices = "demo"\n')
    assert Memory.open().settings.benchmark == "^GSPC"
    assert Memory.open(prices=FramePrices({})).settings.benchmark is None
    assert Memory.open(settings=Settings(benchmark="SPY")).settings.benchmark == "SPY"


@pytest.mark.parametrize(
    "text",
    [
        'log = ["postgresql://me:hunter2@host/db"]',
        'model = "sk-hunter2"',
        '[libraries]\nstore = "https://me:hunter2@host"',
        '[model]\nbase_url = "http://me:hunter2@"',
        '[model]\nbase_url = ["http://me:hunter2@host"]',
        '[model]\napi_key = ["sk-hunter2"]',
    ],
)
def test_what_cannot_be_is_told_without_the_secret_in_it(at_home, text):
    (at_home / "tradmem.toml").write_text(text)
    with pytest.raises(UsageError) as told:
        load(env={}).model.api_key  # noqa: B018
    assert "hunter2" not in str(told.value)


def test_letters_in_another_order_are_a_misspelt_variable(at_home):
    assert "the nearest is TRADMEM_LOG" in wrong(at_home, {"TRADMEM_LGO": "x.md"})


COUNTS = ["same_ticker", "cross_ticker", "budget", "related", "max_resolved"]


@pytest.mark.parametrize("value", [-1, True, "3", 1.5, float("inf"), -(10**400)])
@pytest.mark.parametrize("name", COUNTS)
def test_a_number_of_things_that_cannot_be_is_refused_in_one_line(name, value):
    with pytest.raises(UsageError, match=f"^{name} is .*; it is a whole number from 0 on$"):
        Settings(**{name: value})

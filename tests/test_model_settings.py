"""What the environment says about the model, and what is said of a value that cannot be."""

from datetime import date

import pytest

from tradmem.errors import UsageError
from tradmem.lessons.openai import OpenAIReflector
from tradmem.model_settings import ModelSettings, is_set_up, model_settings
from tradmem.variables import HOST_KEYS, VARIABLES

KEY = "sk-secret-of-the-tests"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """An environment that says nothing; call it to set variables."""
    for names in (*VARIABLES.values(), HOST_KEYS.values()):
        for name in names:
            monkeypatch.delenv(name, raising=False)

    def say(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    return say


def test_without_a_word_openai_is_asked_with_the_stated_defaults():
    found = model_settings(model="m", api_key=KEY)
    assert found == ModelSettings(model="m", api_key=KEY)
    assert (found.host, found.timeout, found.retries, found.concurrency) == (
        *("api.openai.com", 60.0),
        *(2, 4),
    )
    assert found.lacks == ""
    assert KEY not in repr(found)


def test_the_environment_fills_in_what_is_not_given(environment):
    environment(
        TRADMEM_MODEL="from-env",
        TRADMEM_BASE_URL="http://127.0.0.1:8080/v1",
        TRADMEM_API_KEY=f" {KEY}\n",
        TRADMEM_MODEL_TIMEOUT="7.5",
        TRADMEM_MODEL_RETRIES="0",
        TRADMEM_MODEL_CONCURRENCY="16",
        TRADMEM_MODEL_CUTOFF="2025-06-30",
        TRADMEM_MODEL_PRICES="2.5, 10",
        TRADMEM_MODEL_MAX_COST="0.5",
    )
    expected = {
        "model": "from-env",
        "base_url": "http://127.0.0.1:8080/v1",
        "api_key": KEY,
        "timeout": 7.5,
        "retries": 0,
        "concurrency": 16,
        "cutoff": date(2025, 6, 30),
        "prices": (2.5, 10.0),
        "max_cost": 0.5,
    }
    assert set(expected) == set(VARIABLES)
    found = model_settings()
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.key_name == "TRADMEM_API_KEY"
    assert model_settings(retries=3, timeout=None).retries == 3
    assert model_settings(retries=3, timeout=None).timeout == 7.5


def test_our_own_names_come_before_those_of_openai(environment):
    environment(OPENAI_MODEL="theirs", OPENAI_BASE_URL="http://theirs/v1", OPENAI_API_KEY="theirs")
    found = model_settings()
    assert (found.model, found.host, found.api_key) == ("theirs", "theirs", "theirs")
    environment(TRADMEM_MODEL="ours", TRADMEM_BASE_URL="http://ours/v1", TRADMEM_API_KEY="ours")
    found = model_settings()
    assert (found.model, found.host, found.api_key) == ("ours", "ours", "ours")
    environment(TRADMEM_MODEL=" ", TRADMEM_API_KEY="")  # set to nothing is not set
    assert (model_settings().model, model_settings().api_key) == ("theirs", "theirs")


def test_a_providers_own_key_goes_to_that_provider_only(environment):
    environment(DEEPSEEK_API_KEY="of-deepseek", OPENAI_API_KEY="of-openai")
    keys = {
        url: model_settings(base_url=url).api_key
        for url in ("https://api.deepseek.com", "https://notdeepseek.com/v1", "https://x/v1")
    }
    assert list(keys.values()) == ["of-deepseek", "of-openai", "of-openai"]
    assert model_settings(base_url="https://api.deepseek.com").key_name == "DEEPSEEK_API_KEY"


def test_what_is_missing_is_told_with_the_variable_to_set():
    assert "set TRADMEM_MODEL" in model_settings(api_key=KEY).lacks
    assert "set OPENAI_API_KEY" in model_settings(model="m").lacks
    at_groq = model_settings(model="m", base_url="https://api.groq.com/openai/v1")
    assert at_groq.lacks == ""  # a server other than OpenAI's may need none
    assert at_groq.key_name == "GROQ_API_KEY"
    with pytest.raises(UsageError, match="TRADMEM_MODEL"):
        OpenAIReflector(api_key=KEY)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        OpenAIReflector(model="m")


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("TRADMEM_BASE_URL", "localhost:11434", "https://api.openai.com/v1"),
        ("OPENAI_BASE_URL", "ftp://x/v1", "https://api.openai.com/v1"),
        ("TRADMEM_MODEL_TIMEOUT", "soon", "seconds above 0"),
        ("TRADMEM_MODEL_TIMEOUT", "0", "seconds above 0"),
        ("TRADMEM_MODEL_TIMEOUT", "nan", "seconds above 0"),
        ("TRADMEM_MODEL_RETRIES", "-1", "whole number"),
        ("TRADMEM_MODEL_RETRIES", "2.5", "whole number"),
        ("TRADMEM_MODEL_CONCURRENCY", "0", "1 or more"),
        ("TRADMEM_MODEL_CUTOFF", "June 2025", "such as 2025-06"),
        ("TRADMEM_MODEL_CUTOFF", "2025-13", "such as 2025-06"),
        ("TRADMEM_MODEL_CUTOFF", "2025-02-30", "such as 2025-06"),
        ("TRADMEM_MODEL_PRICES", "2.5", "such as 2.5,10"),
        ("TRADMEM_MODEL_PRICES", "2.5,-1", "such as 2.5,10"),
        ("TRADMEM_MODEL_PRICES", "1,2,3", "such as 2.5,10"),
        ("TRADMEM_MODEL_MAX_COST", "$5", "US dollars"),
        ("TRADMEM_MODEL_MAX_COST", "inf", "US dollars"),
    ],
)
def test_a_value_that_cannot_be_is_one_line_that_names_the_variable(
    environment, name, value, wanted
):
    environment(**{name: value})
    with pytest.raises(UsageError) as error:
        model_settings(model="m", api_key=KEY)
    said = str(error.value)
    assert said.startswith(f"{name} is {value!r}; it has to be ")
    assert wanted in said
    assert "\n" not in said


def test_an_argument_that_cannot_be_is_named_too():
    with pytest.raises(UsageError, match="retries is -1; it has to be a whole number"):
        model_settings(retries=-1)
    with pytest.raises(UsageError, match="prices is 3"):
        model_settings(prices=3)


@pytest.mark.parametrize("key", ["sk-two words", "sk-“quoted”", "sk-\nbroken"])
def test_a_key_that_could_be_none_is_refused_and_not_shown(environment, key):
    """It would end up in a header, and the client's complaint about it in a message."""
    environment(OPENAI_API_KEY=key)
    with pytest.raises(UsageError) as error:
        model_settings(model="m")
    assert str(error.value).startswith("OPENAI_API_KEY holds a character that no key has")
    assert "sk-" not in str(error.value)


def test_a_month_as_cutoff_means_its_last_day(environment):
    environment(TRADMEM_MODEL_CUTOFF="2024-02")
    assert model_settings().cutoff == date(2024, 2, 29)


@pytest.mark.parametrize(
    "name", ["TRADMEM_API_KEY", "OPENAI_API_KEY", "TRADMEM_BASE_URL", "OPENAI_BASE_URL"]
)
def test_a_key_or_a_server_means_that_a_model_is_to_be_asked(environment, name):
    assert not is_set_up()
    environment(TRADMEM_MODEL="m", TRADMEM_MODEL_TIMEOUT="9")
    assert not is_set_up()
    environment(**{name: "http://x"})
    assert is_set_up()

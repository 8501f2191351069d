"""``settings``, and commands that follow the settings file."""

import json

import pytest

from tests.cli.world import one_line

FILE = """
log = "logs/desk.md"
benchmark = "SPY"
[model]
name = "m"
base_url = "http://user:hidden@localhost:9/v1"
api_key = "sk-hidden"
[libraries.store]
provider = "other"
api_token = "hidden"
url = "postgresql://u:hidden@h/d"
"""


def rows(result) -> dict[str, list[str]]:
    """By setting, where it comes from and its value."""
    found = [line.split(None, 2) for line in result.stdout.splitlines()[1:]]
    return {line[0]: line[1:] for line in found}


def test_every_value_is_printed_with_its_source_and_no_secret(world):
    (world.folder / "tradmem.toml").write_text(FILE)
    result = world.run("settings", log=False, env={"TRADMEM_BUDGET": "500"})
    assert result.exit_code == 0
    found = rows(result)
    assert found["log"] == ["tradmem.toml", "logs/desk.md"]
    assert found["budget"] == ["TRADMEM_BUDGET", "500"]
    assert found["horizons"] == ["default", "5"]
    assert found["model.api_key"] == ["tradmem.toml", "set, not shown"]
    assert found["libraries.store"][1].startswith("provider = other")
    assert "hidden" not in result.output


def test_json_has_the_same_without_secrets(world):
    (world.folder / "tradmem.toml").write_text(FILE)
    result = world.run("settings", "--json", log=False, env={"OPENAI_API_KEY": "sk-hidden"})
    found = {item["key"]: item for item in json.loads(result.stdout)}
    assert found["benchmark"] == {"key": "benchmark", "value": "SPY", "source": "tradmem.toml"}
    assert found["same_ticker"]["value"] == 5
    assert found["libraries.store"]["value"]["provider"] == "other"
    assert "hidden" not in result.output


def test_commands_work_on_the_log_that_the_file_names(world):
    (world.folder / "tradmem.toml").write_text(FILE)
    done = world.run("record", "NVDA", "**Rating**: Buy", log=False)
    assert done.exit_code == 0, done.output
    assert (world.folder / "logs" / "desk.md").exists()
    assert "NVDA" in world.run("log", log=False).stdout
    assert world.run("log", "path", log=False).stdout.strip().endswith("logs/desk.md")
    other = {"TRADMEM_LOG": str(world.folder / "env.md")}
    assert "no log at" in world.run("log", log=False, env=other).stderr


def test_options_are_stronger_than_the_file(world):
    (world.folder / "tradmem.toml").write_text('log = "desk.md"\nprices = "nowhere.csv"\n')
    world.record("NVDA")
    world.now = world.now.replace(day=13)
    assert "nowhere.csv" in world.run("resolve").stderr
    assert world.resolve().exit_code == 0
    assert not (world.folder / "desk.md").exists()


@pytest.mark.parametrize(
    "words",
    [("log",), ("status",), ("check",), ("record", "NVDA", "**Rating**: Buy"), ("settings",)],
)
@pytest.mark.parametrize("log", [True, False])
def test_a_misspelt_key_stops_every_command_with_one_line(world, words, log):
    (world.folder / "tradmem.toml").write_text("bugdet = 5\n")
    result = world.run(*words, log=log and words != ("settings",))
    assert result.exit_code == 2
    assert one_line(result) == (
        f"{world.folder / 'tradmem.toml'}: there is no setting 'bugdet'; the nearest is 'budget'"
    )


def test_the_login_stands_in_for_an_actor_that_nobody_names(world):
    name = world.record("NVDA")
    (world.folder / "tradmem.toml").write_text('actor = "night desk"\n')
    assert world.run("forget", name, "--reason", "wrong").exit_code == 0
    assert "night desk" in world.run("history", name).stdout

"""Named memories from settings: bound to a log, and never silently none."""

import pytest

from tests.plugin.plugin_world import World
from tradmem.errors import UsageError
from tradmem.plugin.libraries import Access, check_apart, library_of, open_libraries
from tradmem.plugin.tools import tools_of

TABLE = {"log": "us-tech.md", "description": "US technology companies"}


def test_a_table_is_a_library_on_its_log(tmp_path):
    found = open_libraries({"us-tech": TABLE}, folder=tmp_path)
    library = library_of(found, "us-tech")
    assert (library.access, library.tenant) == (Access.ADD, "")
    library.memory.note("Guidance was raised.", ticker="NVDA")
    assert "Guidance was raised." in (tmp_path / "us-tech.md").read_text()


def test_the_settings_file_declares_them_and_its_folder_is_where_their_paths_start(
    tmp_path, monkeypatch
):
    (tmp_path / "tradmem.toml").write_text(
        "budget = 1234\n[libraries.us-tech]\n"
        + "\n".join(f'{key} = "{value}"' for key, value in TABLE.items())
    )
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    library = library_of(open_libraries(), "us-tech")
    assert library.place == str(tmp_path / "us-tech.md")
    assert library.memory.settings.budget == 1234


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"log": None}, "us-tech has no log"),
        ({"description": None}, "us-tech has no description"),
        ({"description": "  "}, "it is a text"),
        ({"description": "x" * 1001}, "1 to 1000 characters"),
        ({"access": "write"}, "choose one of read, add"),
        ({"descripton": "x"}, "the nearest is description"),
        ({"log": 7}, "libraries.us-tech.log is 7"),
        ({"access": "read"}, "is not there"),
    ],
)
def test_a_table_that_cannot_be_is_an_error_at_the_start(tmp_path, change, told):
    table = {key: value for key, value in (TABLE | change).items() if value is not None}
    with pytest.raises(UsageError, match=told) as failure:
        open_libraries({"us-tech": table}, folder=tmp_path)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("name", ["", "US", "us tech", "../etc", "a" * 33, "-a", "a-", "ü", "a\n"])
def test_a_name_that_no_tool_could_bear_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="is no name of a library"):
        open_libraries({name: TABLE}, folder=tmp_path)


def test_an_unknown_name_is_told_with_the_nearest():
    world = World()
    with pytest.raises(UsageError, match="the nearest is us-tech"):
        library_of({"us-tech": world.library}, "us-teck")
    with pytest.raises(UsageError, match="none is set up"):
        library_of({}, "us-tech")


def test_two_names_of_one_tool_name_are_refused(tmp_path):
    tables = {"us-tech": TABLE, "us_tech": TABLE | {"log": "other.md"}}
    with pytest.raises(UsageError, match="tools of one name"):
        open_libraries(tables, folder=tmp_path)


def test_several_libraries_have_tools_of_distinct_names(tmp_path):
    tables = {
        "us-tech": TABLE,
        "macro": {"log": "macro.md", "description": "The economy", "access": "add"},
        "old": {"log": "us-tech.md", "description": "Read only", "access": "read"},
    }
    (tmp_path / "us-tech.md").write_text("")
    names = [tool.name for tool in tools_of(open_libraries(tables, folder=tmp_path).values())]
    assert names == [
        "query_memory_us_tech",
        "add_memory_us_tech",
        "query_memory_macro",
        "add_memory_macro",
        "query_memory_old",
    ]


def test_a_description_that_ends_in_a_full_stop_is_a_part_of_the_sentence(tmp_path):
    libraries = open_libraries({"us-tech": TABLE | {"description": "Earnings."}}, folder=tmp_path)
    for tool in tools_of(libraries.values()):
        assert "scope: Earnings. " in tool.description


def test_two_tenants_share_no_log_whatever_its_path_is_called(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "logs")
    tables = {
        "one": TABLE | {"log": "logs/a.md", "tenant": "acme"},
        "two": TABLE | {"log": "alias/../alias/a.md", "tenant": "umbrella"},
    }
    with pytest.raises(UsageError, match="two tenants share a log"):
        open_libraries(tables, folder=tmp_path)
    check_apart([World(tenant="acme").library])


def test_a_log_of_two_names_is_one_log(tmp_path):
    (tmp_path / "a.md").write_text("")
    (tmp_path / "b.md").hardlink_to(tmp_path / "a.md")
    tables = {
        "one": TABLE | {"log": "a.md", "tenant": "acme"},
        "two": TABLE | {"log": "b.md", "tenant": "umbrella"},
    }
    with pytest.raises(UsageError, match="two tenants share a log"):
        open_libraries(tables, folder=tmp_path)
    open_libraries({name: table | {"tenant": "acme"} for name, table in tables.items()})

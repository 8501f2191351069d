"""The public names, the direction of imports, and what a light import may load."""

import ast
import copy
import subprocess
import sys
from pathlib import Path
from pickle import dumps, loads

import pytest

import tradmem
from tradmem.errors import PriceFault

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tradmem"

# From left to right: nothing imports to its right; names in one set may import each other.
ORDER = [
    {"errors"},
    {"arguments", "clock", "masking", "settings_file", "tickers", "variables"},
    {"model_settings"},
    {"model", "page"},
    {"rating", "stated"},
    {"journal", "market"},
    {"lessons"},
    {"settings"},
    {"setting_kinds"},
    {"configuration"},
    {"resolving", "recording", "instants", "rows", "governance", "filters", "searching", "opening"},
    {"sources", "working", "history"},
    {"finality"},
    {"audit"},
    {"memory"},
    {"nodes", "briefing"},
    {"policies"},
    {"model_policy"},
    {"agent"},
    {"plugin", "study", "demo", "running", "exchange"},
    {"cli"},
    {"__main__"},
]
# What each room may import from outside; the rest of the package stays with the standard library.
THIRD_PARTY = {
    "journal": {"filelock", "psycopg", "psycopg_pool"},
    "market": {
        "exchange_calendars",
        "filelock",
        "numpy",
        "pandas",
        "pyarrow",
        "yfinance",
        "curl_cffi",
    },
    "lessons": {"filelock", "numpy", "openai", "httpx2", "rapidfuzz", "sentencex", "wordllama"},
    "exchange": {"pyarrow"},
    "memory": {"pandas"},
    "settings": {"platformdirs"},
    "agent": {"langgraph", "typing_extensions"},
    "running": {"langchain_core", "langgraph"},
    "demo": {"pandas"},
    "study": {"altair", "matplotlib", "numpy", "pandas", "vl_convert"},
    "plugin": {
        "anyio",
        "langchain_core",
        "langgraph",
        "mcp",
        "mcp_types",
        "pydantic",
        "starlette",
        "uvicorn",
    },
    "cli": {"click", "rich"},
}
HEAVY = ["pandas", "numpy", "langgraph", "openai", "yfinance"]


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem != "__init__"
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_imports_to_its_right(path):
    places = {name: place for place, names in enumerate(ORDER) for name in names}
    own = room(path)
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "tradmem":
            continue
        other = parts[1]
        assert places[other] <= places[own], f"{own} imports {name}"
        if {own, other} == {"journal", "market"}:
            pytest.fail(f"{own} and {other} are blind to each other")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_room_imports_only_its_own_packages(path):
    tops = {name.split(".")[0] for name in imports(path)}
    foreign = tops - set(sys.stdlib_module_names) - {"tradmem"}
    assert foreign <= THIRD_PARTY.get(room(path), set())


def test_public_names_are_sorted_and_there():
    assert tradmem.__all__ == sorted(tradmem.__all__)
    for name in tradmem.__all__:
        assert getattr(tradmem, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Memorry"):
        tradmem.Memorry  # noqa: B018


@pytest.mark.parametrize(
    "code",
    [
        "import tradmem",
        (
            "import sys; sys.argv = ['tradmem', 'log', '--log', '/nonexistent/memory.md']; "
            "from tradmem.cli import main\ntry: main()\nexcept SystemExit: pass"
        ),
    ],
    ids=["import tradmem", "tradmem log"],
)
def test_a_light_import_loads_nothing_heavy(code):
    report = f"\nimport sys; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code + report],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip().splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", [name for name in tradmem.__all__ if name.endswith("Error")])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: loads(dumps(error))])
def test_an_exception_comes_out_of_another_process_as_it_went_in(name, copied):
    kind = getattr(tradmem, name)
    given = {
        "PriceError": ((PriceFault.UNREACHABLE, "NVDA", "status 502"), {}),
        "ModelError": (("unauthorised", "status 401"), {"fatal": True}),
    }
    arguments, named = given.get(name, (("a line",), {}))
    error = kind(*arguments, **named)
    again = copied(error)
    assert type(again) is kind
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))
    assert str(kind(*arguments)).endswith(("(status 502)", "(status 401)", "a line"))

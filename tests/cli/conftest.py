import pytest

from tests.cli.world import World


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "TRADMEM_API_KEY", "TRADMEM_PRICES", "TRADMEM_REFLECTOR"):
        monkeypatch.delenv(name, raising=False)
    return World(tmp_path)

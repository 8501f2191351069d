import os

import pytest

from tests.cli.world import World


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("TRADMEM_", "OPENAI_")):
            monkeypatch.delenv(name)
    return World(tmp_path)

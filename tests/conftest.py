"""How the property tests run: the same examples every time, others with ``-m long``."""

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None, print_blob=False)
settings.register_profile("long", deadline=None, max_examples=1000)


def pytest_configure(config: pytest.Config) -> None:
    wanted = config.getoption("-m")
    settings.load_profile("long" if wanted == "long" else "steady")

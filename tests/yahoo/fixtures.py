"""Fixtures for tests that need Yahoo: import them into a ``conftest.py``.

``yahoo`` is one server for the whole run, without faults, corporate actions or a fixed instant
when a test begins. In this process: ``YahooPrices(session=yahoo.session())``. In another one:
``yahoo.run("-m", "tradmem", …)``. A week goes by as ``yahoo.now`` is set from day to day.
"""

from collections.abc import Iterator

import pytest

from tests.yahoo.server import YahooServer


@pytest.fixture(scope="session")
def yahoo_server() -> Iterator[YahooServer]:
    with YahooServer() as server:
        yield server


@pytest.fixture
def yahoo(yahoo_server: YahooServer) -> Iterator[YahooServer]:
    yahoo_server.reset()
    yield yahoo_server
    yahoo_server.reset()

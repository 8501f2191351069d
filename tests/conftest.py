"""How the property tests run, and an audit of every log that a test makes."""

import pytest
from hypothesis import settings

from tradmem import LogError, MarkdownJournal, Memory

settings.register_profile("steady", derandomize=True, deadline=None, print_blob=False)
settings.register_profile("long", deadline=None, max_examples=1000)


def pytest_configure(config: pytest.Config) -> None:
    wanted = config.getoption("-m")
    settings.load_profile("long" if wanted == "long" else "steady")


LARGE = 2_000_000  # bytes from which on a log is too slow to audit after a test


@pytest.fixture(autouse=True)
def audited(request, monkeypatch):
    """No log may look ahead, unless the test is marked ``leaky`` because it plants a leak."""
    made = []
    begin = Memory.__init__

    def begin_and_note(self, journal, **parts):
        begin(self, journal, **parts)
        made.append(self)

    monkeypatch.setattr(Memory, "__init__", begin_and_note)
    yield
    if request.node.get_closest_marker("leaky"):
        return
    journals = {id(memory.journal): memory for memory in made}
    for memory in journals.values():
        if is_small(memory.journal):
            assert found(memory) == []


def is_small(journal):
    if not isinstance(journal, MarkdownJournal):
        return True
    try:
        return journal.path.stat().st_size < LARGE
    except OSError:
        return True


def found(memory):
    """What the audit says; a log that cannot be read any more says nothing."""
    try:
        return [str(finding) for finding in memory.audit()]
    except LogError:
        return []


@pytest.fixture(scope="session")
def postgres():
    """A real PostgreSQL server, one for all tests of a process."""
    from tests.postgres.server import TestServer

    server = TestServer()
    yield server
    server.stop()


@pytest.fixture
def postgres_log(postgres):
    """The URL of a log of its own in PostgreSQL, made and empty."""
    return postgres.new_log()

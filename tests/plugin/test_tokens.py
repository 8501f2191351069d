"""What a new token may name, before anything is written."""

import pytest
from click.testing import CliRunner

from tests.plugin.mcp_world import LIBRARIES
from tradmem.cli.mcp import mcp
from tradmem.errors import UsageError
from tradmem.plugin.callers import hash_of, read_tokens
from tradmem.plugin.libraries import Access, open_libraries

OWNED = LIBRARIES + '\n[libraries.owned]\nlog = "o.md"\ndescription = "x"\ntenant = "umbrella"\n'


@pytest.fixture
def make(tmp_path, monkeypatch):
    """The command that makes a token, in a folder with settings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tradmem.toml").write_text(OWNED)

    def run(tenant, *names, caller="desk"):
        options = ["--tokens", "tokens.toml", "--caller", caller, "--tenant", tenant]
        options += [part for name in names for part in ("--library", name)]
        return CliRunner().invoke(mcp, ["token", *options], catch_exceptions=False)

    return run


def test_a_token_is_printed_once_and_only_its_hash_is_kept(make, tmp_path):
    token = make("acme", "us-tech", "macro").stdout.splitlines()[0]
    raw = (tmp_path / "tokens.toml").read_text()
    assert token not in raw
    (grant,) = read_tokens(tmp_path / "tokens.toml", open_libraries())
    assert grant.sha256 == hash_of(token)
    told = [(library.name, library.access) for library in grant.caller.libraries]
    assert told == [("us-tech", Access.READ), ("macro", Access.READ)]


@pytest.mark.parametrize(
    ("tenant", "names", "told"),
    [
        ("acme", ["us-teck"], "no library 'us-teck'; the nearest is us-tech"),
        ("acme", ["us-tech", "../private"], "there is no library"),
        ("acme", ["owned"], "owned is another tenant's"),
        ("umbrella", ["us-tech"], "us-tech is another tenant's"),
        ("a|b", ["macro"], "is no name of a tenant"),
    ],
)
def test_one_that_would_lock_everybody_out_is_not_written(make, tmp_path, tenant, names, told):
    """A server takes a file with a name in it that cannot be as one that lets nobody in."""
    make("acme", "us-tech")
    before = (tmp_path / "tokens.toml").read_bytes()
    with pytest.raises(UsageError, match=told):
        make(tenant, *names)
    assert (tmp_path / "tokens.toml").read_bytes() == before


def test_to_a_file_that_cannot_be_read_none_is_added(make, tmp_path):
    (tmp_path / "tokens.toml").write_text("[[tokens]\n")
    with pytest.raises(UsageError, match=r"cannot read the tokens tokens\.toml"):
        make("acme", "us-tech")


def test_where_no_library_is_declared_the_log_is_the_only_one(make, tmp_path):
    (tmp_path / "tradmem.toml").write_text("")
    assert make("acme", "memory").exit_code == 0
    with pytest.raises(UsageError, match="the nearest is memory"):
        make("acme", "us-tech")

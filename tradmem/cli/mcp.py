"""``mcp``: serve memories to language models, on standard streams or over HTTP."""

import logging
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tradmem.cli import options
from tradmem.cli.opening import clock, configuration, open_memory
from tradmem.cli.output import say, write
from tradmem.errors import UsageError

if TYPE_CHECKING:
    from tradmem.plugin.call_log import CallLog
    from tradmem.plugin.libraries import Library

_CALLS = "mcp-calls.jsonl"
_SOLE = "memory"  # the library where none is declared


@click.group(invoke_without_command=True)
@click.option("--http", metavar="HOST:PORT", help="Listen there instead of on standard streams.")
@click.option(
    "--tokens",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Who may call over HTTP; see `tradmem mcp token`.",
)
@click.option(
    "--library",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only this library of the settings file; may be repeated. All by default.",
)
@click.option("--read-only", is_flag=True, help="Nobody may add anything.")
@click.option("--agent", default="", metavar="NAME", help="Under which name decisions are kept.")
@click.option(
    "--calls",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help=f"The log of calls; {_CALLS} beside the first log by default.",
)
@options.log
@click.pass_context
def mcp(ctx: click.Context, /, **options_: Any) -> None:
    """Serve memories to language models over MCP.

    Libraries are tables [libraries.NAME] of the settings file; without any, or where --log is
    given, that log is the only one. Over HTTP, other machines are served with --tokens alone;
    how often somebody may call, and TLS, are a proxy's job.
    """
    if ctx.invoked_subcommand is None:
        by_hand = ctx.get_parameter_source("log") is ParameterSource.COMMANDLINE
        _serve(**options_, is_sole=by_hand and not options_["names"])


@mcp.command()
@click.option("--tokens", type=click.Path(path_type=Path, dir_okay=False), required=True)
@click.option("--caller", required=True, metavar="NAME", help="Who it is for.")
@click.option("--tenant", required=True, metavar="NAME", help="Whose libraries are served.")
@click.option("--library", "names", multiple=True, required=True, metavar="NAME")
@click.option("--access", type=click.Choice(["read", "add"]), default="read", show_default=True)
def token(*, tokens: Path, caller: str, tenant: str, names: tuple[str, ...], access: str) -> None:
    """Make a token, print it once, and keep its hash in a file.

    To take it back, delete its table from the file; a server notices by itself.
    """
    from tradmem.plugin.callers import check_names, new_token, write_token
    from tradmem.plugin.libraries import Access

    check_names(tokens, configuration().libraries or {_SOLE: {}}, tenant, names)
    made = new_token()
    write_token(tokens, made, caller=caller, tenant=tenant, libraries=names, access=Access(access))
    write(made)
    say(f"only its hash is kept, in {tokens}; this is the one time that it is shown")


def _serve(
    *,
    http: str | None,
    tokens: Path | None,
    names: Sequence[str],
    read_only: bool,
    agent: str,
    calls: Path | None,
    log: str,
    is_sole: bool,
) -> None:
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="tradmem: %(levelname)s %(message)s"
    )
    _need_mcp()
    if tokens is not None and http is None:
        raise UsageError("--tokens is for --http; on standard streams there is one caller")
    from tradmem.plugin.callers import Caller, Tokens
    from tradmem.plugin.libraries import Access

    found = _sole(log) if is_sole else _declared(names) or _sole(log)
    if read_only:
        found = {name: replace(lib, access=Access.READ) for name, lib in found.items()}
    noted = _call_log(calls, found.values())
    if tokens is not None:
        from tradmem.plugin.mcp_http import serve_http

        serve_http(http or "", tokens=Tokens(tokens, found, clock=clock()), calls=noted)
        return
    caller = Caller(name=agent, libraries=tuple(found.values()))
    if http is not None:
        from tradmem.plugin.mcp_http import serve_http

        serve_http(http, caller=caller, calls=noted)
    else:
        from tradmem.plugin.mcp_stdio import serve_stdio

        serve_stdio(caller, noted)


def _need_mcp() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise UsageError("`tradmem mcp` needs the extra mcp: pip install 'tradmem[mcp]'")


def _sole(log: str) -> "dict[str, Library]":
    """The log as the only library."""
    from tradmem.plugin.libraries import Library

    return {_SOLE: Library(name=_SOLE, memory=open_memory(log), log=log)}


def _declared(names: Sequence[str]) -> "dict[str, Library]":
    """The libraries of the settings file, or those of them that are wanted."""
    from tradmem.plugin.libraries import library_of, open_libraries

    said = configuration()
    folder = said.path.parent if said.path else None
    found = open_libraries(said.libraries, folder=folder, settings=said.settings, clock=clock())
    return {name: library_of(found, name) for name in names or found}


def _call_log(path: Path | None, libraries: "Iterable[Library]") -> "CallLog":
    from tradmem.plugin.call_log import CallLog

    if path is None:
        first = next(iter(libraries)).log
        path = (Path(first).parent if first and "://" not in first else Path("logs")) / _CALLS
    return CallLog(path, clock=clock())

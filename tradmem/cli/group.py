"""The group of commands: loads one when it runs, and turns every failure into one line."""

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from tradmem.cli.output import fit_streams, say
from tradmem.errors import LogBusy, TradmemError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

DONE, FAILED, MISUSED, BUSY = 0, 1, 2, 3
_INTERRUPTED, _PIPE_CLOSED = 130, 141  # 128 and the signal's number, as shells count
DEBUG = "--debug"  # also the key of the context's ``meta`` that tells of it


class Lazy(NamedTuple):
    """A command that is not loaded yet.

    Attributes:
        module: below ``tradmem.cli``; the command is its attribute of the command's name,
            with ``_`` behind a word of Python's own.
        help: the first sentence of the command's help.
        section: under which heading it is listed.
    """

    module: str
    help: str
    section: str


class Group(click.Group):
    """Commands by name, each in a module that is imported when it runs.

    Args:
        name: of the program.
        lazy: the commands; sections are listed in the order in which they first appear.
        attributes: of :class:`click.Group`.
    """

    def __init__(self, name: str, *, lazy: Mapping[str, Lazy], **attributes: Any) -> None:
        settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
        super().__init__(name, context_settings=settings, **attributes)
        self.lazy = lazy
        self.params += [
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_print_version,
                help="Print the version and exit.",
            ),
            _debug_option(hidden=False),
        ]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of all commands, in the order of the help."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of a name, loaded now."""
        if cmd_name not in self.lazy:
            return None
        module = import_module(f"tradmem.cli.{self.lazy[cmd_name].module}")
        command: click.Command = getattr(module, cmd_name + "_" * iskeyword(cmd_name))
        _take_debug(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The help's list of commands, by section, without loading any."""
        for section in dict.fromkeys(command.section for command in self.lazy.values()):
            rows = [(name, c.help) for name, c in self.lazy.items() if c.section == section]
            with formatter.section(section):
                formatter.write_dl(rows, col_max=12)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """What may follow, without loading any command."""
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=command.help)
            for name, command in self.lazy.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; one that is not there is answered with the nearest name.

        Raises:
            click.UsageError: there is no such command.
        """
        name = args[0]
        if name in self.lazy or name.startswith("-"):
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        near = get_close_matches(name, self.lazy, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise click.UsageError(f"No such command {name!r}{hint}", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a reader who has seen enough of its output is no failure."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
            ctx.exit(_PIPE_CLOSED)
        return result

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: ARG002 - the process always ends here
        windows_expand_args: bool = False,
        **extra: Any,
    ) -> NoReturn:
        """Run a command line and end the process with its exit status."""
        arguments = list(sys.argv[1:] if args is None else args)
        fit_streams()
        try:
            result = super().main(
                arguments,
                prog_name or self.name,
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
            status = result if isinstance(result, int) else DONE
        except Exception as error:  # whatever goes wrong is told in one line
            if _wants_traceback(arguments) and not isinstance(error, click.ClickException):
                raise
            status = _report(error)
        sys.exit(status)


def _report(error: Exception) -> int:
    """Say on one line of stderr what went wrong; the exit status."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            click.echo(error.ctx.get_help() if error.ctx else error.message)
            return DONE
        case click.Abort():
            line, status = "interrupted", _INTERRUPTED
        case click.UsageError():
            line, status = _usage_line(error), MISUSED
        case click.ClickException():
            line, status = error.format_message(), error.exit_code
        case UsageError():
            line, status = str(error), MISUSED
        case LogBusy():
            line, status = str(error), BUSY
        case TradmemError():
            line, status = str(error), FAILED
        case OSError(errno=errno.ENOSPC, filename=None):
            line, status = "cannot write the output: no space left there; make room", FAILED
        case OSError(errno=errno.ENAMETOOLONG):  # whoever looks first whether it is there
            line, status = f"{error.filename}: file name too long; name another", FAILED
        case _:
            line, status = f"internal error: {describe(error)}", FAILED
    say(line)
    return status


def describe(error: Exception) -> str:
    """An error in words; one that is not ours with its type."""
    if isinstance(error, TradmemError):
        return str(error)
    return f"{type(error).__name__}: {error}; {DEBUG} shows where"


def _usage_line(error: click.UsageError) -> str:
    message = error.format_message().rstrip(".")
    if error.ctx is None:
        return message
    return f"{message[:1].lower()}{message[1:]}; see {error.ctx.command_path} --help"


def _wants_traceback(arguments: Sequence[str]) -> bool:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return DEBUG in options


def _debug_option(*, hidden: bool) -> click.Option:
    """The flag itself; ``main`` looks for it, since a failure may come before parsing."""
    return click.Option(
        [DEBUG],
        is_flag=True,
        expose_value=False,
        callback=_note_debug,
        hidden=hidden,
        help="Show the traceback of a failure.",
    )


def _take_debug(command: click.Command) -> None:
    """Let a command, and those below it, take the flag wherever it stands."""
    if not any(DEBUG in option.opts for option in command.params):
        command.params.append(_debug_option(hidden=True))
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        _take_debug(below)


def _note_debug(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.meta[DEBUG] = True


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"tradmem {version('tradmem')}")
        ctx.exit()

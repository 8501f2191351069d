"""``doctor``: whether prices, the log and a model answer, and what is set, in plain words."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tradmem.cli import options
from tradmem.cli.group import DONE, FAILED
from tradmem.cli.layout import paragraphs
from tradmem.cli.opening import configuration, now, open_journal, open_memory, with_log
from tradmem.cli.output import safe, say, width, write, write_json
from tradmem.cli.settings import Told, said, told
from tradmem.cli.words import bold, counted
from tradmem.errors import PriceError, PriceFault, TradmemError
from tradmem.masking import without_password
from tradmem.model_settings import is_set_up, model_settings
from tradmem.opening import is_database

if TYPE_CHECKING:
    from tradmem.market.prices import Bars, PriceSource, Span

# One listed in New York, one in Tokyo, and one that trades every day.
SYMBOLS = ("SPY", "7203.T", "BTC-USD")
_PATIENCE = 20.0  # seconds for a model's one word
_NETWORK = 4.0  # seconds for one request; one that fails is tried once more
_OPTION = "option"  # a value comes from there
_DAYS = 14  # back from today; no market is closed for as long


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        about: what.
        good: whether it works; None if there is nothing to judge.
        said: one line.
    """

    about: str
    good: bool | None
    said: str


@click.command()
@options.log
@options.prices
@options.reflector
@options.as_json
def doctor(*, log: str, prices: str, reflector: str, as_json: bool) -> int:
    """Say whether prices, the log and a model answer.

    Asks the price source for a symbol in New York, one in Tokyo and one of crypto; looks
    whether the log can be written; asks the model, if one is set, for one short answer; and
    says which settings are not their defaults, and from where. Exit status 1 if something
    fails.
    """
    steps: tuple[Callable[[], Iterator[Finding]], ...] = (
        lambda: _prices(log, prices),
        lambda: _log(log),
        lambda: _model(reflector),
        lambda: _settings(everything=as_json),
    )
    findings: list[Finding] = []
    for step in steps:
        for finding in step():
            findings.append(finding)
            if not as_json:
                _show(finding, findings)
    failed = [finding for finding in findings if finding.good is False]
    if as_json:
        write_json({"about": f.about, "good": f.good, "said": f.said} for f in findings)
    else:
        say(f"{counted(len(failed), 'thing')} to mend" if failed else "all is well")
    return FAILED if failed else DONE


def _show(finding: Finding, before: list[Finding]) -> None:
    group, _, name = finding.about.partition(": ")
    if len(before) == 1 or not before[-2].about.startswith(group):
        write(("\n" if len(before) > 1 else "") + bold(group))
    mark = {True: "ok", False: "FAILS", None: ""}[finding.good]
    head = f"{name}: " if name else ""
    for line in paragraphs(safe(f"{head}{mark}{', ' if mark else ''}{finding.said}"), width()):
        write(line)


def _prices(log: str, name: str) -> Iterator[Finding]:
    """Ask for three symbols side by side."""
    from tradmem.market.prices import Span

    try:
        source = _source(log, name)
        owned = getattr(source, "tickers", ())
    except TradmemError as error:
        yield Finding(about="Prices", good=False, said=str(error))
        return
    today = now().date()
    span = Span(today - timedelta(days=_DAYS), today)
    symbols: tuple[str, ...] = SYMBOLS
    if owned:  # a file knows its own, of any time
        symbols, span = tuple(owned[: len(SYMBOLS)]), Span(date.min, today)
    start = time.perf_counter()
    answers = _asked(source, symbols, span)
    seconds = f"{time.perf_counter() - start:.1f} s"
    for symbol, found in answers.items():
        good = not isinstance(found, PriceError)
        said = _closes(found)
        yield Finding(about=f"Prices from {name}: {symbol}", good=good, said=f"{said} ({seconds})")


def _source(log: str, name: str) -> "PriceSource":
    """What a memory asks for closes; Yahoo itself, since what is kept says nothing of it."""
    source = open_memory(log, prices=name).prices
    if not hasattr(source, "source"):
        return source
    from tradmem.market.yahoo import YahooPrices

    return YahooPrices(
        aliases=configuration().settings.aliases, retries=1, backoff=0.2, timeout=_NETWORK
    )


def _asked(
    source: "PriceSource", symbols: Sequence[str], span: "Span"
) -> "Mapping[str, Bars | PriceError]":
    """What a source answers, or why it does not."""
    try:
        found = source.fetch(dict.fromkeys(symbols, span))
        return {symbol: found[symbol] for symbol in symbols}
    except Exception as error:  # noqa: BLE001 - whatever a source does is what is asked here
        detail = f"{type(error).__name__}: {error}"
        return {name: PriceError(PriceFault.UNREACHABLE, name, detail) for name in symbols}


def _closes(found: "Bars | PriceError") -> str:
    if isinstance(found, PriceError):
        return str(found)
    return f"{counted(len(found.dates), 'close')} up to {found.dates[-1]}"


def _log(log: str) -> Iterator[Finding]:
    if is_database(log):
        yield from _database(log)
        return
    path = Path(os.path.realpath(log))
    place = path if path.exists() else next(p for p in path.parents if p.exists())
    writable = os.access(place, os.W_OK) and not path.is_dir()
    if not writable:
        reason = "it is a folder" if path.is_dir() else f"{place} cannot be written"
        yield Finding(about=f"Log: {log}", good=False, said=f"{reason}; name another with --log")
        return
    if not path.exists():
        yield Finding(
            about=f"Log: {log}", good=True, said="not there yet; the first write makes it"
        )
        return
    try:
        journal = open_journal(log)
        entries, problems = journal.entries(), journal.problems()
    except TradmemError as error:
        yield Finding(about=f"Log: {log}", good=False, said=str(error))
        return
    said = f"{counted(len(entries), 'entry', 'entries')}, can be written"
    if problems:
        said += with_log(f", {counted(len(problems), 'problem')}; `tradmem check` tells", log)
    yield Finding(about=f"Log: {log}", good=not problems, said=said)


def _database(log: str) -> Iterator[Finding]:
    try:
        journal: Any = open_journal(log)
        found, vectors = journal.latest(1), journal.measure(now())["vectors"]
    except TradmemError as error:
        yield Finding(about="Log in PostgreSQL", good=False, said=str(error))
        return
    said = f"answers, newest entry of {found[0].date}" if found else "answers, without an entry yet"
    yield Finding(about=f"Log: {journal.name}", good=True, said=said)
    yield Finding(about=f"Log: {journal.name}", good=None, said=vectors)


def _model(reflector: str) -> Iterator[Finding]:
    """Ask for one word, if a model is set."""
    if reflector == "template" or (reflector == "auto" and not is_set_up()):
        said = (
            "none is set, lessons are written by the template; to ask one, set TRADMEM_MODEL, and "
            "OPENAI_API_KEY or TRADMEM_BASE_URL"
        )
        yield Finding(about="Model", good=None, said=said)
        return
    from tradmem.lessons.chat import Chat
    from tradmem.lessons.reflect import Fault

    try:
        settings = model_settings()
        chat = Chat(replace(settings, retries=0, timeout=min(settings.timeout, _PATIENCE)))
    except TradmemError as error:
        yield Finding(about="Model", good=False, said=str(error))
        return
    schema = {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    }
    question = 'Answer with the JSON object {"word": "ready"} and nothing else.'
    start = time.perf_counter()
    reply = chat.ask([{"role": "user", "content": question}], name="ready", schema=schema)
    seconds = f"{time.perf_counter() - start:.1f} s"
    if isinstance(reply, Fault):
        yield Finding(about=f"Model: {chat.model}", good=False, said=f"{reply.message} ({seconds})")
        return
    said = f"answers ({seconds}, asked for JSON by {reply.mode.value})"
    yield Finding(about=f"Model: {chat.model}", good=True, said=said)


def _settings(*, everything: bool) -> Iterator[Finding]:
    """What is in force, and from where; unless everything is wanted, without the defaults."""
    try:
        found = configuration()
    except TradmemError as error:
        yield Finding(about="Settings", good=False, said=str(error))
        return
    try:
        models = bool(found.model)
    except TradmemError:  # said of the model already, if one is to be asked
        models = False
    for item in map(_in_force, told(found, models=models)):
        if everything or item.source == _OPTION or found.is_set(item.key):
            value = f"{said(found, item)} ({item.source})"
            yield Finding(about=f"Settings: {item.key}", good=None, said=value)
    if not everything:
        rest = "all others are their defaults; `tradmem settings` lists them"
        yield Finding(about="Settings", good=None, said=rest)


def _in_force(item: Told) -> Told:
    """A setting, with what an option of this command says instead."""
    context = click.get_current_context()
    if context.get_parameter_source(item.key) is not click.core.ParameterSource.COMMANDLINE:
        return item
    return Told(item.key, without_password(context.params[item.key]), _OPTION)

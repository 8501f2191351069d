"""What a server offers beside its tools: a log and its entries to read, and a prompt."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tradmem.errors import UnknownEntry, UsageError
from tradmem.journal.format import render
from tradmem.plugin import texts
from tradmem.plugin.answers import Seen
from tradmem.plugin.callers import Caller
from tradmem.plugin.desk import recall
from tradmem.plugin.libraries import Access, Library, library_of

_URI = re.compile(r"tradmem://([a-z0-9_-]{1,32})/(?:log|entries/([0-9a-f]{4,12}))\Z")
_MOST_ENTRIES = 100  # of a log in one resource


def resource_of(caller: Caller, uri: str) -> str | None:
    """A resource of a caller; None if there is none, be it of whomever."""
    found = _URI.match(uri)
    try:
        library = library_of({lib.name: lib for lib in caller.libraries}, found[1] if found else "")
        name = found[2] if found else ""
        if not name:
            entries = library.memory.journal.latest(_MOST_ENTRIES)
            return b"".join(map(render, entries)).decode()
        entry = library.memory.get(name)
    except (UsageError, UnknownEntry):
        return None
    return render(entry).decode() if entry else None


def prompts_of(caller: Caller) -> Iterator[tuple[str, Library]]:
    """The prompts of a caller by name, each with the library that it is about."""
    several = len(caller.libraries) > 1
    for library in caller.libraries:
        yield "decide_with_memory" + (f"_{library.suffix}" if several else ""), library


def prompt_of(library: Library, arguments: Mapping[str, Any], caller: Caller, seen: Seen) -> str:
    """What a model is asked for a decision, with what the memory has for it.

    Raises:
        UsageError: an argument cannot be.
    """
    found = recall(library, arguments, caller.name, seen)
    several = len(caller.libraries) > 1
    template = texts.PROMPT if library.access is Access.ADD else texts.PROMPT_READ
    return template.format(
        ticker=found.ticker,
        context=found.text.strip() or texts.NO_CONTEXT,
        record="record_decision" + (f"_{library.suffix}" if several else ""),
    )

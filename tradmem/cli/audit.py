"""``audit``: prove from the log alone that nothing was seen before it was known."""

from collections.abc import Iterable

import click

from tradmem.audit import Finding
from tradmem.cli import options
from tradmem.cli.group import DONE, FAILED
from tradmem.cli.opening import is_there, open_memory
from tradmem.cli.output import safe, say, write, write_json
from tradmem.cli.words import counted
from tradmem.memory import Memory
from tradmem.model import Entry


@click.command()
@options.log
@options.as_json
def audit(*, log: str, as_json: bool) -> int:
    """Prove that no decision saw what was not known yet.

    Goes through every recorded decision, outcome, lesson and act, and compares their
    instants. Prints one line for each that cannot be, and exits with status 1 if there is any.
    """
    memory = open_memory(log)
    found = memory.audit()
    if as_json:
        write_json(_object(memory, finding) for finding in found)
    else:
        for finding in found:
            where = _where(memory, finding)
            write(safe(f"{where}: {finding}" if where else str(finding)))
        if not is_there(log):
            say(f"there is no log at {log} yet")
        elif not found:
            entries = memory.entries()
            count = counted(len(entries), "entry", "entries")
            sights = counted(sum(len(entry.recalled) for entry in entries), "memory", "memories")
            say(f"{log}: {count}, {sights} seen, none before it was known")
        if optimistic := _saw_their_close(memory.entries()):
            count = counted(optimistic, "decision was", "decisions were")
            say(f"{count} replayed with same_close: each is marked to have seen its entry's close")
    return FAILED if found else DONE


def _saw_their_close(entries: Iterable[Entry]) -> int:
    """How many decisions entered at a close that they had seen, as they say themselves."""
    from tradmem.study.schedule import MARK, DecideAt

    return sum(entry.recorded.extra.get(MARK) == DecideAt.SAME_CLOSE for entry in entries)


def _where(memory: Memory, finding: Finding) -> str:
    where = getattr(memory.journal, "where", None)
    return str(where(finding.entry.id)) if where else ""


def _object(memory: Memory, finding: Finding) -> dict[str, object]:
    return {
        "id": finding.entry.id,
        "leak": str(finding.leak),
        "message": finding.message,
        "other": finding.other,
        "where": _where(memory, finding),
    }

"""The last runs, for ``status``: when, how they ended, and what to do about the last one."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from tradmem.cli.layout import Cell, Column, one_line, table
from tradmem.cli.words import bold, dollars, minute
from tradmem.clock import format_instant
from tradmem.running.record import RunRecord, RunState

_SHOWN = 5
_COLUMNS = (
    Column("STARTED"),
    Column("STATE"),
    Column("DECIDED", right=True),
    Column("FAILED", right=True),
    Column("RESOLVED", right=True),
    Column("CALLS", right=True, drop=2),
    Column("COST", right=True, drop=1),
)
_STYLES = {
    RunState.DONE: {"fg": "green"},
    RunState.FAILED: {"fg": "red"},
    RunState.DIED: {"fg": "red"},
    RunState.INTERRUPTED: {"fg": "yellow"},
    RunState.UNDER_WAY: {"fg": "cyan"},
}


def run_lines(runs: Sequence[RunRecord], room: int) -> Iterator[str]:
    """The last runs as a table, the newest first; nothing without any."""
    if not runs:
        return
    yield from ("", bold("Last runs"))
    for line in table(_COLUMNS, [_row(run) for run in runs[: -_SHOWN - 1 : -1]], room - 2):
        yield f"  {line}"


def wanted_by(runs: Sequence[RunRecord], unfinished: Collection[str]) -> Iterator[str]:
    """What a person should look at, of the last run that is no longer under way.

    Args:
        runs: the oldest first.
        unfinished: ids of the entries that still wait for an outcome or a lesson; a failure
            about others is over.
    """
    over = [run for run in runs if run.state is not RunState.UNDER_WAY]
    if not over:
        return
    last = over[-1]
    when = f"the run of {minute(last.started)}"
    again = "a further `tradmem run` on the same day decides what is missing"
    if last.state is RunState.DIED:
        yield f"{when} was killed before its end; {again}"
    elif last.state is RunState.INTERRUPTED:
        yield f"{when} was interrupted ({last.data.get('stopped')}); {again}"
    elif last.state is RunState.FAILED:
        for failure in _objects(last.data.get("failures")):
            ids = failure.get("ids")
            if isinstance(ids, list) and ids and not any(name in unfinished for name in ids):
                continue
            todo = failure.get("todo")
            told = f"{failure.get('what')}: {failure.get('why')}" + (f" - {todo}" if todo else "")
            yield one_line(f"{when} failed: {told}")


def run_object(run: RunRecord) -> dict[str, Any]:
    """A run as it is printed with ``--json``."""
    return {
        "run": run.id,
        "state": run.state.value,
        "started": format_instant(run.started),
        "ended": format_instant(run.ended) if run.ended else None,
        "decided": len(run.decided),
        "failures": _objects(run.data.get("failures")),
        "calls": run.data.get("calls"),
        "cost": run.data.get("cost"),
    }


def _row(run: RunRecord) -> Sequence[Cell]:
    fates = Counter(str(item.get("outcome")) for item in _objects(run.data.get("tickers")))
    resolved, calls, cost = (run.data.get(name) for name in ("resolved", "calls", "cost"))
    settled = resolved.get("settled") if isinstance(resolved, dict) else None
    is_paid = isinstance(cost, int | float) and bool(calls)
    return (
        Cell(minute(run.started)),
        Cell(run.state.value, _STYLES.get(run.state, {})),
        Cell(str(len(run.decided) or "")),
        Cell(str(fates["failed"] or "")),
        Cell(str(len(settled)) if isinstance(settled, list) else ""),
        Cell(str(calls or "")),
        Cell(dollars(cost) if is_paid else ""),
    )


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list that a line of the record should hold."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []

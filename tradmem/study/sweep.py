"""Many replays at once, on any executor: processes here, a cluster elsewhere."""

import time
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tradmem.errors import UsageError
from tradmem.study.frame import decisions_frame
from tradmem.study.replay import replay
from tradmem.study.stats import Statistics, statistics

if TYPE_CHECKING:
    import pandas as pd

_TAKEN = ("memory", "progress")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Swept:
    """What came of one configuration.

    Attributes:
        name: the configuration's.
        statistics: of its replay; None where it failed.
        frame: its decisions, see :func:`tradmem.study.frame.decisions_frame`; None likewise.
        error: why it failed, one line; empty where it did not.
        seconds: how long it took, on the worker.
    """

    name: str
    statistics: Statistics | None = None
    frame: "pd.DataFrame | None" = None
    error: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether there is no result."""
        return bool(self.error)


def sweep(
    configurations: Mapping[str, Mapping[str, Any]],
    *,
    executor: Executor | None = None,
    **shared: Any,
) -> tuple[Swept, ...]:
    """Replay many configurations, each in a memory of its own.

    The results are the same whatever the executor, in the order of the configurations. One
    that fails, whatever the reason, is reported and costs the others nothing.

    Args:
        configurations: by name, arguments of :func:`tradmem.study.replay.replay`. What goes to
            another process has to be picklable: functions of a module, no lambdas.
        executor: any of :mod:`concurrent.futures`, or a cluster's (``Client.get_executor()``
            of Dask); by default they run here, one after the other.
        shared: arguments of all; a configuration's own come first.

    Raises:
        UsageError: there are no configurations, or one names a memory.
    """
    if not configurations:
        raise UsageError("there is nothing to sweep; hand in configurations by name")
    asked = {name: {**shared, **given} for name, given in configurations.items()}
    for name, given in asked.items():
        if taken := [key for key in _TAKEN if key in given]:
            raise UsageError(f"the configuration {name!r} cannot have {taken[0]} of its own")
    if executor is None:
        return tuple(_run(name, given) for name, given in asked.items())
    futures = {name: _submitted(executor, name, given) for name, given in asked.items()}
    return tuple(_result(name, future) for name, future in futures.items())


def _submitted(executor: Executor, name: str, given: Mapping[str, Any]) -> "Future[Swept] | Swept":
    try:
        return executor.submit(_run, name, dict(given))
    except Exception as error:  # noqa: BLE001 - an executor is foreign code
        return Swept(name=name, error=_one_line(error))


def _result(name: str, future: "Future[Swept] | Swept") -> Swept:
    """What a worker gave back; one that died is a failure of its configuration."""
    if isinstance(future, Swept):
        return future
    try:
        return future.result()
    except Exception as error:  # noqa: BLE001 - of the executor, or of what cannot be pickled
        return Swept(name=name, error=_one_line(error))


def _run(name: str, given: Mapping[str, Any]) -> Swept:
    """One configuration, on whatever machine this is."""
    started = time.perf_counter()
    try:
        done = replay(**given)
        frame = decisions_frame(
            done.entries(), done.bars, tickers=done.tickers, is_optimistic=done.is_optimistic
        )
        told = statistics(done)
    except Exception as error:  # noqa: BLE001 - it costs the other configurations nothing
        return Swept(name=name, error=_one_line(error), seconds=time.perf_counter() - started)
    seconds = time.perf_counter() - started
    return Swept(name=name, statistics=told, frame=frame, seconds=seconds)


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())

"""Being the only run over a log."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic, sleep

from tradmem.errors import LogBusy
from tradmem.journal import files
from tradmem.running.record import RunLog
from tradmem.running.stopping import Stop

_LOOK = 0.1  # seconds between two tries


@contextmanager
def alone(
    runs: RunLog | None, wait: float, stop: Stop, told: Callable[[LogBusy], None]
) -> Iterator[None]:
    """Hold the lock that lets one run over a log work; without a record there is none.

    Args:
        runs: the record of the runs over the log.
        wait: seconds to wait for another run.
        stop: ends the wait.
        told: called once if there is one to wait for.

    Raises:
        LogBusy: another run went on for all that time.
        LogError: the log is no file that could be written.
    """
    if runs is None:
        yield
        return
    files.check_regular("write", runs.log)
    lock, until = runs.lock, monotonic() + wait
    files.make_folder(runs.log.parent)
    is_told = False
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(lock.held(0))
                break
            except LogBusy as error:
                if stop.is_asked or monotonic() >= until:
                    waited = f" and was for {wait:g} s" if wait and not stop.is_asked else ""
                    raise LogBusy(
                        f"another run over {runs.log} is under way{waited}; what it decides "
                        "need not be decided again"
                    ) from error
                if not is_told:
                    told(error)
                is_told = True
                sleep(_LOOK)
        yield

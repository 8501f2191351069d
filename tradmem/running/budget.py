"""What the decisions of one run may cost."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tradmem.errors import ModelError
from tradmem.lessons.meter import Meter
from tradmem.lessons.reflect import FaultKind
from tradmem.running.stopping import Stop, Stopped

_LOOK = 0.2  # seconds between two looks at whether to stop


class Budget:
    """A limit in US dollars, over all decisions of a run and its lessons.

    While nothing tells yet what a decision costs, one is made at a time.

    Args:
        most: the limit; None for none.
        before: what the run has spent on lessons.
    """

    def __init__(self, most: float | None, before: Meter) -> None:
        self._most, self._meters = most, [before]
        self._open, self._dearest = 0, 0.0
        self._changed = threading.Condition()

    @contextmanager
    def share(self, meter: Meter, stop: Stop) -> Iterator[None]:
        """Make one decision within the limit.

        Args:
            meter: what counts its cost.
            stop: ends the wait for the cost of another one.

        Raises:
            ModelError: it would probably cost too much, or nothing tells what it costs.
        """
        if self._most is None:
            yield
            return
        paid = meter.paid
        with self._changed:
            while self._open and not self._dearest:
                if stop.is_asked:
                    raise Stopped
                self._changed.wait(_LOOK)
            self._check(self._most)
            self._open += 1
            if not any(each is meter for each in self._meters):
                self._meters.append(meter)
        try:
            yield
        finally:
            with self._changed:
                self._open -= 1
                self._dearest = max(self._dearest, meter.paid - paid)
                self._changed.notify_all()

    def _check(self, most: float) -> None:
        if any(meter.unpriced for meter in self._meters):
            why = "nothing tells what a call costs, so it cannot be limited"
            raise ModelError(FaultKind.OVER_BUDGET, why)
        spent = sum(meter.paid for meter in self._meters)
        if spent + self._dearest * (self._open + 1) > most or spent >= most > 0:
            raise ModelError(FaultKind.OVER_BUDGET, f"${spent:.4f} of ${most:.4f} is spent")

"""Every variant that was ever tried in a study, counted and listed.

Who tries enough variants finds one that looks good. A study remembers them all, also those of
earlier days, and its intervals get wider with each comparison.
"""

import json
import os
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from tradmem.clock import Clock, format_instant, parse_instant, system_clock
from tradmem.errors import LogError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One variant, tried once.

    Attributes:
        variant: its name.
        digest: of everything that makes it what it is: the function, settings, dates, tickers.
        at: when, by the clock of the machine, aware UTC.
        n: decisions with a score.
        score: their mean; None of nothing.
        compared: digests of the variants that it was compared with.
    """

    variant: str
    digest: str
    at: datetime
    n: int
    score: float | None
    compared: tuple[str, ...] = ()


class Study:
    """What was tried under one question.

    Args:
        path: a file of JSON lines that keeps it from one run to the next; by default it is gone
            with the object.
        clock: stamps the trials.

    Raises:
        UsageError: the file is no list of trials.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, clock: Clock = system_clock
    ) -> None:
        self.path = None if path is None else Path(path)
        self.clock = clock
        self._trials = self._read()

    def __repr__(self) -> str:
        return f"Study({len(self.variants)} variants, {self.comparisons} comparisons)"

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All, in the order in which they were tried."""
        return tuple(self._trials)

    @property
    def variants(self) -> tuple[Trial, ...]:
        """Each variant once, as it was tried last."""
        return tuple({trial.digest: trial for trial in self._trials}.values())

    @property
    def comparisons(self) -> int:
        """How many pairs were ever compared."""
        pairs = {
            frozenset((trial.digest, other)) for trial in self._trials for other in trial.compared
        }
        return len(pairs)

    def add(self, trial: Trial) -> None:
        """Keep one more, and take up what others have tried in the same file meanwhile.

        Raises:
            LogError: the file cannot be written.
            UsageError: it is no list of trials any more.
        """
        if self.path is None:
            self._trials.append(trial)
            return
        line = json.dumps(asdict(trial) | {"at": format_instant(trial.at)})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise LogError(f"cannot write the study {self.path}: {reason}") from error
        self._trials = self._read()

    def _read(self) -> list[Trial]:
        if self.path is None or not self.path.exists():
            return []
        found = []
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the study {self.path}: {error}") from error
        for number, line in enumerate(lines, 1):
            try:
                data = json.loads(line)
                read = {"at": parse_instant(data["at"]), "compared": tuple(data["compared"])}
                found.append(Trial(**(data | read)))
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise UsageError(
                    f"{self.path}:{number}: no trial of a study stands there"
                ) from error
        return found

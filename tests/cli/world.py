"""A small world for the command line: a log in a temporary folder, a clock, a file of closes."""

import csv
import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from click.testing import CliRunner, Result

from tradmem.cli import cli
from tradmem.memory import Memory

START, END = date(2024, 6, 3), date(2026, 2, 27)
MONDAY = datetime(2026, 1, 5, 15, 4, 5, tzinfo=UTC)  # a session, an hour after its opening
SETTLED = datetime(2026, 1, 13, 12, tzinfo=UTC)  # the close of 12 January is final
MONTHS_LATER = datetime(2026, 4, 1, tzinfo=UTC)


def closes() -> dict[str, dict[date, float]]:
    """Closes that swing a little and drift: NVDA up, AAPL down, SPY hardly."""
    drifts = {"NVDA": 0.008, "AAPL": -0.008, "SPY": 0.0005}
    found: dict[str, dict[date, float]] = {name: {} for name in drifts}
    prices = {"NVDA": 100.0, "AAPL": 200.0, "SPY": 400.0}
    for number in range((END - START).days + 1):
        day = START + timedelta(days=number)
        if day.weekday() > 4:
            continue
        for name, drift in drifts.items():
            swing = 0.004 if number % 2 else -0.004
            drifts_now = drift if day >= date(2026, 1, 1) else 0.0
            prices[name] = round(prices[name] * (1 + drifts_now + swing * (name != "SPY")), 4)
            found[name][day] = prices[name]
    return found


def write_closes(path: Path, *names: str) -> Path:
    """The closes of some tickers (all by default) as a wide CSV file."""
    found = closes()
    names = names or tuple(found)
    lines = [",".join(["date", *names])]
    lines += [
        ",".join([day.isoformat(), *(str(found[name][day]) for name in names)])
        for day in found[names[0]]
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


class World:
    """A log, closes, and what time it is; ``run`` is the command line in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "logs" / "memory.md"
        self.prices = write_closes(folder / "closes.csv")
        self.now = MONDAY

    def clock(self) -> datetime:
        return self.now

    @property
    def memory(self) -> Memory:
        return Memory.open(self.log, clock=self.clock)

    def run(
        self, *words: object, log: bool = True, charset: str = "utf-8", **options: object
    ) -> Result:
        """Run a command line; unless ``log`` is false it works on this world's log."""
        args = [str(word) for word in words]
        if log:
            args += ["--log", str(self.log)]
        env = {"COLUMNS": "100", "NO_COLOR": None, "FORCE_COLOR": None, "TRADMEM_LOG": None}
        env |= options.pop("env", {})  # type: ignore[arg-type]
        return CliRunner(charset=charset).invoke(cli, args, obj=self.clock, env=env, **options)  # type: ignore[arg-type]

    def json(self, *words: object, **options: object) -> list[dict]:
        """What a command prints with ``--json``, which has to be one array."""
        result = self.run(*words, "--json", **options)
        found = json.loads(result.stdout)
        assert isinstance(found, list)
        return found

    def record(self, ticker: str = "NVDA", rating: str = "Buy", *more: object) -> str:
        """Record a decision of today; its id."""
        text = f"**Rating**: {rating}\n\nA thesis on {ticker}."
        result = self.run("record", ticker, text, *more, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)[0]["id"]

    def resolve(self, *more: object) -> Result:
        return self.run("resolve", "--prices", self.prices, *more)

    def settle_week(self) -> tuple[str, str]:
        """A right Buy on NVDA and a wrong Buy on AAPL, with lessons; their ids."""
        ids = self.record("NVDA"), self.record("AAPL")
        self.now = SETTLED
        result = self.resolve()
        assert result.exit_code == 0, result.output
        return ids


def one_line(result: Result) -> str:
    """The only line that a failed command said."""
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("tradmem: ")
    return lines[0].removeprefix("tradmem: ")


def delist(path: Path, *tickers: str, day: str = "2026-01-05") -> None:
    """End the closes of some tickers in a file that goes on for months."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    last = date.fromisoformat(rows[-1]["date"])
    for number in range(1, 100):
        if (later := last + timedelta(days=number)).weekday() < 5:
            rows.append(dict.fromkeys(rows[0], "") | {"date": str(later), "SPY": rows[-1]["SPY"]})
    for row in rows:
        if row["date"] >= day:
            row.update(dict.fromkeys(tickers, ""))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)

"""The command line: one module per family of commands, loaded when one of them runs."""

from tradmem.cli.group import Group, Lazy

_DAILY, _LOOK, _TRY = "Every day", "Look and check", "Try it"

# Each with the first sentence of its own help, so that `--help` loads none of them.
COMMANDS = {
    "demo": Lazy("demo", "Replay a year of real prices through the agent.", _TRY),
    "run": Lazy("run", "Let the agent decide on tickers.", _DAILY),
    "record": Lazy("record", "Store a decision.", _DAILY),
    "resolve": Lazy("resolve", "Settle what has come due, and write the lessons.", _DAILY),
    "recall": Lazy("recall", "Print what the next decision on a ticker should see.", _DAILY),
    "note": Lazy("record", "Store a lesson or a remark of your own.", _DAILY),
    "forget": Lazy("record", "Hide an entry from recall.", _DAILY),
    "log": Lazy("log", "List decisions, the newest first.", _LOOK),
    "search": Lazy("search", "Find the entries that hold some words, the newest first.", _LOOK),
    "show": Lazy("show", "Show an entry with all that became of it.", _LOOK),
    "status": Lazy("status", "Say what is pending, and what needs a person.", _LOOK),
    "doctor": Lazy("doctor", "Say whether prices, the log and a model answer.", _LOOK),
    "check": Lazy("check", "Find what is wrong in the log file.", _LOOK),
}

cli = Group(
    "tradmem",
    lazy=COMMANDS,
    help="The memory of a trading agent: decisions, what became of them, and what they teach.",
    epilog="Exit status: 0 done, 1 something failed, 2 wrong use, 3 the log is busy.",
)


def main() -> None:
    """The console script ``tradmem``; ends the process."""
    cli.main()

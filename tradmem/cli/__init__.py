"""The command line: one module per family of commands, loaded when one of them runs."""

import gc

from tradmem.cli.group import Group, Lazy

_PATIENT = 50_000  # new objects; loading a command makes many of them and no garbage

_DAILY, _LOOK, _GOVERN, _TRY = "Every day", "Look and check", "Keep in order", "Try it"
_MOVE = "In and out"
_SERVE = "Serve others"

# Each with the first sentence of its own help, so that `--help` loads none of them.
COMMANDS = {
    "demo": Lazy("demo", "Replay a year of real prices through the agent.", _TRY),
    "replay": Lazy("replay", "Decide through time as an agent would have.", _TRY),
    "run": Lazy("run", "Let the agent decide on tickers.", _DAILY),
    "record": Lazy("record", "Store a decision.", _DAILY),
    "resolve": Lazy("resolve", "Settle what has come due, and write the lessons.", _DAILY),
    "recall": Lazy("recall", "Print what the next decision on a ticker should see.", _DAILY),
    "note": Lazy("record", "Store a lesson or a remark of your own.", _DAILY),
    "log": Lazy("log", "List decisions, the newest first.", _LOOK),
    "search": Lazy("search", "Find the entries that hold some words, the newest first.", _LOOK),
    "show": Lazy("show", "Show an entry with all that became of it.", _LOOK),
    "status": Lazy("status", "Say what is pending, and what needs a person.", _LOOK),
    "watch": Lazy("watch", "Show the status, and keep it fresh.", _LOOK),
    "stats": Lazy("stats", "Say how often the decisions were right, and how sure that is.", _LOOK),
    "report": Lazy(
        "report", "Write the track record, charts and all decisions as one HTML page.", _LOOK
    ),
    "doctor": Lazy("doctor", "Say whether prices, the log and a model answer.", _LOOK),
    "settings": Lazy("settings", "Print every setting, and where its value comes from.", _LOOK),
    "history": Lazy("history", "Print everything that ever happened to an entry.", _LOOK),
    "check": Lazy("check", "Find what is wrong in the log file.", _LOOK),
    "audit": Lazy("audit", "Prove that no decision saw what was not known yet.", _LOOK),
    "export": Lazy("export", "Write entries to a file or a folder of pages.", _MOVE),
    "import": Lazy("importing", "Take entries in from files or another log.", _MOVE),
    "merge": Lazy("merge", "Join two versions of a log.", _MOVE),
    "forget": Lazy("govern", "Hide an entry from recall.", _GOVERN),
    "expire": Lazy("govern", "Hide an entry from recall from an instant on.", _GOVERN),
    "supersede": Lazy("govern", "Let one entry stand in another one's place.", _GOVERN),
    "undo": Lazy("govern", "Take back the latest act on an entry.", _GOVERN),
    "consolidate": Lazy("govern", "Let one note stand for lessons that say the same.", _GOVERN),
    "mcp": Lazy("mcp", "Serve memories to language models over MCP.", _SERVE),
    "mirror": Lazy(
        "mirror", "Keep a markdown copy of a log up to date, for people and git.", _GOVERN
    ),
    "db": Lazy("db", "Look after a log in PostgreSQL.", _GOVERN),
}

cli = Group(
    "tradmem",
    lazy=COMMANDS,
    help="The memory of a trading agent: decisions, what became of them, and what they teach.",
    epilog="Exit status: 0 done, 1 something failed, 2 wrong use, 3 the log is busy.",
)


def main() -> None:
    """The console script ``tradmem``; ends the process."""
    gc.set_threshold(_PATIENT)
    cli.main()

"""``recall``: the text for the next prompt, exactly as a program would get it."""

import click

from tradmem.cli import options
from tradmem.cli.opening import open_memory
from tradmem.cli.output import say, write_exactly, write_json
from tradmem.cli.words import minute
from tradmem.rows import as_json as json_of


@click.command()
@click.argument("ticker")
@options.log
@options.as_of
@options.as_json
def recall(*, ticker: str, log: str, as_of: str | None, as_json: bool) -> None:
    """Print what the next decision on a ticker should see.

    The text goes into a prompt as it is. A date in --as-of means the instant at which a
    decision of that date was made. With --json, the memories that the text shows.
    """
    found = open_memory(log).recall(ticker, as_of)
    if as_json:
        write_json(json_of(entry) for entry in found.memories)
    else:
        write_exactly(found.text)
    if not found.memories:
        say(f"nothing to recall on {found.ticker} in {log} as of {minute(found.as_of)}")

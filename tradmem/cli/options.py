"""Options that several commands share, one decorator each."""

import click

from tradmem.settings import DEFAULT_LOG

log = click.option(
    "--log",
    metavar="PATH",
    envvar="TRADMEM_LOG",
    show_envvar=True,
    default=DEFAULT_LOG,
    show_default=True,
    help="The log file.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON array of objects.")
as_of = click.option(
    "--as-of",
    metavar="WHEN",
    help="Only what was known then: a date, or an instant like 2026-01-05T15:04:05Z.",
)
prices = click.option(
    "--prices",
    metavar="SOURCE",
    envvar="TRADMEM_PRICES",
    show_envvar=True,
    default="yahoo",
    show_default=True,
    help="Where closes come from: yahoo, demo, or a .csv, .csv.gz or .parquet file.",
)
reflector = click.option(
    "--reflector",
    type=click.Choice(["auto", "openai", "template"]),
    envvar="TRADMEM_REFLECTOR",
    show_envvar=True,
    default="auto",
    show_default=True,
    help="Who writes the lessons; auto asks a model where a key or a server is set.",
)
benchmark = click.option(
    "--benchmark",
    metavar="TICKER",
    envvar="TRADMEM_BENCHMARK",
    show_envvar=True,
    help="What returns are measured against; by default each market's own, or none.",
)

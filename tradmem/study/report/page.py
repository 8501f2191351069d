"""The report: one page that holds all of its data and loads nothing."""

import base64
import hashlib
import os
from collections.abc import Iterable
from datetime import date as Date  # noqa: N812 - `date` is the name of a field elsewhere
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from shutil import copymode
from string import Template
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tradmem.clock import AsOf
from tradmem.errors import TradmemError
from tradmem.lessons.counting import counted
from tradmem.study.report.charts import charts_of
from tradmem.study.report.data import Subject, as_script, page_entries, subject_of
from tradmem.study.report.library import library
from tradmem.study.report.markup import paragraphs, track_markup

if TYPE_CHECKING:
    from tradmem.market.prices import PriceSource
    from tradmem.memory import Memory

TITLE = "Track record"
# Nothing may be loaded, sent or framed, and no script may run but the page's own two.
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'"
)


def write_report(
    memory: "Memory", out: str | os.PathLike[str], as_of: AsOf = None, **options: Any
) -> Path:
    """Write the report of a memory as one HTML page, which replaces what stood there.

    Args:
        memory: whose entries.
        out: the path of the page.
        as_of: from what was known then; now by default.
        options: see :func:`report_page`.

    Raises:
        UsageError: an option cannot be, or the extra ``analysis`` is not installed.
        TradmemError: the page cannot be written.
    """
    path = Path(out)
    page = report_page(memory, as_of, **options).encode("utf-8", "replace")
    try:
        _write(path, page)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise TradmemError(f"cannot write {path}: {why}; name another file") from error
    return path


def _write(path: Path, page: bytes) -> None:
    """Put a page in the place of a file as a whole; a device or a pipe takes it as it comes.

    Raises:
        OSError: it cannot be written; what stood there still does.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(page)
        return
    file = path.resolve()  # behind a link, which stays
    beside = file.with_name(f".{file.name}.{uuid4().hex}")
    try:
        beside.write_bytes(page)
        if file.exists():
            copymode(file, beside)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def report_page(
    memory: "Memory",
    as_of: AsOf = None,
    *,
    tickers: Iterable[str] = (),
    agents: Iterable[str] = (),
    since: Date | str | None = None,
    until: Date | str | None = None,
    title: str = TITLE,
    prices: "PriceSource | None" = None,
) -> str:
    """The report of a memory as HTML.

    Args:
        memory: whose entries.
        as_of: from what was known then; now by default.
        tickers: only these; all by default.
        agents: only these; all by default.
        since: only decisions of this date or later.
        until: only decisions of this date or earlier.
        title: of the page.
        prices: where closes to draw decisions on come from, such as ``memory.prices``; by
            default none are asked for, and the log's own figures are drawn.

    Raises:
        UsageError: an option cannot be, or the extra ``analysis`` is not installed.
        LogError: the log cannot be read.
    """
    subject = subject_of(
        memory, as_of, tickers=tickers, agents=agents, since=since, until=until, prices=prices
    )
    return page_of(subject, title=title)


def page_of(subject: Subject, *, title: str = TITLE) -> str:
    """The page about a subject."""
    charting, script = library(), _script()
    data = {"entries": page_entries(subject), "charts": charts_of(subject)}
    return Template(_part("template.html")).substitute(
        policy=_POLICY.format(scripts=" ".join(map(_hash, (charting, script)))),
        title=escape(title),
        subtitle=escape(_subtitle(subject)),
        style=_part("page.css"),
        record=track_markup(subject.record),
        remarks=paragraphs(subject.remarks, "note"),
        data=as_script(data),
        library=charting,
        script=script,
    )


def _subtitle(subject: Subject) -> str:
    """What the page is about, on one line."""
    found = subject.decisions
    told = counted(len(found), "decision")
    if found:
        tickers = counted(len({entry.ticker for entry in found}), "ticker")
        told += f" on {tickers}, {found[0].date} to {found[-1].date}"
    return f"{told}. As of {subject.as_of:%Y-%m-%d %H:%M} UTC, from what was known then."


@cache
def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """The page's own script, its parts in the order of their numbers."""
    parts = sorted(
        (part for part in files(__package__).joinpath("script").iterdir()), key=lambda p: p.name
    )
    texts = [part.read_text(encoding="utf-8") for part in parts if part.name.endswith(".js")]
    return '"use strict";\n(() => {\n' + "\n".join(texts) + "})();\n"


def _hash(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"

"""One page of markdown per ticker, for a note-taking tool: front matter, links, and the entries.

Each entry is followed by a comment that holds it whole, so that pages can be read back.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tradmem.errors import UsageError
from tradmem.exchange.whole import Whole, from_json, to_json, whole_of
from tradmem.journal.ledger import is_ledger, read_line, write_line
from tradmem.model import Entry, Verdict
from tradmem.page import entry_page
from tradmem.tickers import MARKET

MARK = "made_by: tradmem export"
_FRONT = "---"
_MARKET = "Market"
_PLACE = "place"  # of an entry among all that were exported
# Names that Windows keeps for devices.
_DEVICES = frozenset(
    {"CON", "PRN", "AUX", "NUL"} | {f"{n}{i}" for n in ("COM", "LPT") for i in range(10)}
)


def pages(entries: Sequence[Entry]) -> dict[str, str]:
    """By the name of its file, the page of each ticker; the newest entry comes first."""
    by_id = {entry.id: entry for entry in entries}
    places = {entry.id: number for number, entry in enumerate(entries, 1)}
    seen_by: dict[str, list[Entry]] = {}
    for entry in entries:
        for name in entry.recalled:
            seen_by.setdefault(name, []).append(entry)
    groups: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.date):
        groups.setdefault(entry.ticker, []).append(entry)
    return {
        f"{page_name(ticker)}.md": "\n".join(_page(ticker, group, by_id, seen_by, places)) + "\n"
        for ticker, group in groups.items()
    }


def page_name(ticker: str) -> str:
    """The name of a ticker's page, which every file system and every kind of link can take."""
    if ticker == MARKET:
        return _MARKET
    name = ticker.removeprefix("^")
    is_odd = name.partition(".")[0] in _DEVICES or name.endswith(".") or name == _MARKET.upper()
    if ticker.startswith("^"):
        return f"{name} (index)".replace("^", "+")
    return (f"{name} (ticker)" if is_odd else name).replace("^", "+")


def _page(
    ticker: str,
    entries: Sequence[Entry],
    by_id: Mapping[str, Entry],
    seen_by: Mapping[str, Sequence[Entry]],
    places: Mapping[str, int],
) -> Iterator[str]:
    yield from _front_matter(ticker, entries)
    yield f"# {'The market' if ticker == MARKET else ticker}"
    for entry in reversed(entries):
        yield ""
        yield entry_page(entry, heading="##", anchor=True).rstrip("\n")
        for title, others in (
            ("Saw", [by_id[name] for name in entry.recalled if name in by_id]),
            ("Seen by", seen_by.get(entry.id, ())),
            ("Builds on", [by_id[name] for name in entry.links if name in by_id]),
        ):
            if others:
                yield ""
                yield f"{title}: {', '.join(map(_link, others))}"
        yield ""
        yield write_line(to_json(whole_of(entry)) | {_PLACE: places[entry.id]})


def _front_matter(ticker: str, entries: Sequence[Entry]) -> Iterator[str]:
    verdicts = Counter(entry.verdict for entry in entries)
    tags = dict.fromkeys(tag for entry in entries for tag in entry.tags)
    yield _FRONT
    yield f"ticker: {json.dumps(ticker)}"
    yield MARK
    yield f"entries: {len(entries)}"
    for verdict in Verdict:
        yield f"{verdict}: {verdicts[verdict]}"
    yield f"first: {entries[0].date}"
    yield f"last: {entries[-1].date}"
    yield f"tags: {json.dumps(['tradmem', *(_tag(tag) for tag in tags)])}"
    yield _FRONT
    yield ""


def _tag(text: str) -> str:
    """A tag as note-taking tools take it: no blanks."""
    return "-".join(text.split())


def _link(entry: Entry) -> str:
    called = "Note" if entry.recorded.is_note else str(entry.rating or "Unrated")
    name = "market" if entry.ticker == MARKET else entry.ticker.replace("^", "")
    return f"[[{page_name(entry.ticker)}#^{entry.id}|{entry.date} {name} {called}]]"


def is_page(text: str) -> bool:
    """Whether a text is a page of ours, by its front matter."""
    head, found, _ = text.removeprefix("\ufeff").partition(f"\n{_FRONT}")
    return head.startswith(_FRONT) and bool(found) and MARK in head.splitlines()


def read_page(text: str, path: str) -> Iterator[Whole | tuple[str, str]]:
    """The entries of a page; for one that cannot be read, its place and the reason."""
    for number, line in enumerate(text.split("\n"), 1):
        if not is_ledger(line):
            continue
        where = f"{path}:{number}"
        try:
            data = read_line(line)
            place = data.get(_PLACE)
            yield from_json(data, where)._replace(place=place if isinstance(place, int) else 0)
        except UsageError as error:
            yield where, str(error)

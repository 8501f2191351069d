"""A page as a reader sees it: its elements and texts, by the standard library's parser."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """The elements of a page, and the texts of its scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.texts: list[str] = []
        self._inside: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._inside and self._inside[-1] == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif data.strip() and "style" not in self._inside:
            self.texts.append(data.strip())

    @property
    def data(self) -> Any:
        """The JSON that the page holds."""
        (text,) = [text for attributes, text in self.scripts if attributes.get("id") == "data"]
        return json.loads(text)

    @property
    def text(self) -> str:
        return " ".join(self.texts)

    def entry(self, entry_id: str) -> dict[str, Any]:
        (found,) = [entry for entry in self.data["entries"] if entry["id"] == entry_id]
        return found

    def chart(self, title: str) -> dict[str, Any]:
        (found,) = [chart for chart in self.data["charts"] if chart["title"].startswith(title)]
        return found

    def rows(self, title: str) -> list[dict[str, Any]]:
        """All rows of data that a chart holds."""
        return list(_values(self.chart(title)["spec"]))


def _values(spec: Any) -> Iterator[dict[str, Any]]:
    if isinstance(spec, dict):
        yield from spec.get("data", {}).get("values", ())
        for part in spec.values():
            yield from _values(part)
    elif isinstance(spec, list):
        for part in spec:
            yield from _values(part)

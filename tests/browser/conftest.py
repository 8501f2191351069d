"""One Chromium for all tests; every page is watched for errors and for requests."""

from pathlib import Path

import pytest

from tests.report.world import hostile, plain
from tradmem.study.report import write_report

CHROMIUM = "/usr/bin/chromium"


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="session")
def plain_page(tmp_path_factory) -> Path:
    memory = plain(tmp_path_factory.mktemp("plain") / "memory.md")
    folder = tmp_path_factory.mktemp("pages")
    return write_report(memory, folder / "plain.html", prices=memory.prices)


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory) -> Path:
    memory = hostile(tmp_path_factory.mktemp("hostile") / "memory.md")
    return write_report(memory, tmp_path_factory.mktemp("pages") / "hostile.html")


class Opened:
    """A page with what it asked for and what went wrong in it."""

    def __init__(self, page, path: Path) -> None:
        self.page, self.path = page, path
        self.asked: list[str] = []
        self.faults: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on(
            "console",
            lambda said: said.type in ("error", "warning") and self.faults.append(said.text),
        )
        page.set_default_timeout(120_000)  # a busy machine draws slowly
        page.goto(path.as_uri())
        page.wait_for_selector("#rows tbody tr[data-place]")

    def rows(self) -> list[list[str]]:
        """The cells of the rows that are in the page."""
        return self.page.eval_on_selector_all(
            "#rows tbody tr[data-place]",
            "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))",
        )

    @property
    def count(self) -> str:
        return self.page.text_content("#count")

    def wait(self, expression: str) -> None:
        """Wait until something holds in the page, whose policy forbids the usual way to ask."""
        for _ in range(1200):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never came true: {expression}")

    def draw_all(self) -> None:
        """Let every chart be drawn, as print does."""
        self.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.wait(
            "[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('svg'))"
        )
        self.page.evaluate("dispatchEvent(new Event('afterprint'))")


@pytest.fixture
def visit(browser):
    """Open a page; it may ask for nothing, and nothing in it may go wrong."""
    contexts, opened = [], []

    def go(path: Path, *, width: int = 1280, scheme: str = "light") -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            timezone_id="America/New_York",
        )
        contexts.append(context)
        opened.append(Opened(context.new_page(), path))
        return opened[-1]

    yield go
    for one in opened:
        assert one.asked == [one.path.as_uri()]
        assert one.faults == []
    for context in contexts:
        context.close()

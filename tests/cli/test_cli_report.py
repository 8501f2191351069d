"""``report`` writes a page, says where, and fails with one line."""

import sys

from tests.cli.world import one_line
from tests.report.reading import Page


def test_it_writes_the_page_and_says_where(world):
    ids = world.settle_week()
    result = world.run("report", "--out", world.folder / "out.html", "--title", "My record")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(str(world.folder / "out.html"))
    page = Page((world.folder / "out.html").read_text(encoding="utf-8"))
    assert {entry["id"] for entry in page.data["entries"]} == set(ids)
    assert "My record" in page.texts


def test_closes_are_drawn_where_a_source_is_named(world):
    world.settle_week()
    world.run("report", "--out", "a.html")
    world.run("report", "--out", "b.html", "--prices", world.prices)
    without, with_ = (
        Page((world.folder / name).read_text(encoding="utf-8")).rows("Decisions, at the close")
        for name in ("a.html", "b.html")
    )
    assert len([row for row in without if "id" not in row]) == 0
    assert len([row for row in with_ if "id" not in row]) > 5


def test_as_of_an_earlier_day_nothing_is_settled(world):
    world.settle_week()
    assert world.run("report", "--as-of", "2026-01-06").exit_code == 0
    page = Page((world.folder / "report.html").read_text(encoding="utf-8"))
    assert {entry["status"] for entry in page.data["entries"]} == {"pending"}


def test_days_count_back_from_the_instant_that_is_meant(world):
    world.settle_week()
    kept = {}
    for since, as_of in (("7d", "2026-01-12"), ("7d", "2026-01-13")):
        assert world.run("report", "--since", since, "--as-of", as_of).exit_code == 0
        page = Page((world.folder / "report.html").read_text(encoding="utf-8"))
        kept[as_of] = [entry["date"] for entry in page.data["entries"]]
    assert kept == {"2026-01-12": ["2026-01-05", "2026-01-05"], "2026-01-13": []}


def test_a_log_that_is_not_there_is_said(world):
    result = world.run("report")
    assert result.exit_code == 2
    assert one_line(result).startswith("there is no log at")


def test_a_folder_that_is_not_there_is_said(world):
    world.record()
    result = world.run("report", "--out", "no/where.html")
    assert result.exit_code == 1
    assert one_line(result).startswith("cannot write no/where.html: no such file or directory")


def test_without_the_extra_it_says_what_to_install(world, monkeypatch):
    world.record()
    monkeypatch.setitem(sys.modules, "altair", None)
    result = world.run("report")
    assert result.exit_code == 2
    assert one_line(result) == "a report needs the extra analysis: pip install 'tradmem[analysis]'"

"""The report is one page that loads nothing, tells what is known, and lets no text out."""

import base64
import hashlib
import json
import os
import re
import statistics
import sys
import threading
from datetime import UTC, date, datetime

import pytest

from tests.report.reading import Page
from tests.report.world import HOSTILE, HOSTILE_AGENT, hostile, plain
from tradmem import FramePrices, Memory, TradmemError, UsageError
from tradmem.lessons.track import Group
from tradmem.study.report import report_page, write_report
from tradmem.study.report.library import library


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A memory with decisions of 30 weeks, and its report."""
    memory = plain(tmp_path_factory.mktemp("plain") / "memory.md")
    return memory, Page(report_page(memory, prices=memory.prices))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    memory = hostile(tmp_path_factory.mktemp("hostile") / "memory.md")
    html = report_page(memory, title='</title><script>alert("t")</script>')
    return memory, Page(html), html


def test_every_entry_is_there_with_its_figures(told):
    memory, page = told
    entries = memory.entries()
    assert len(page.data["entries"]) == len(entries) == 120
    for entry in entries:
        found = page.entry(entry.id)
        assert (found["ticker"], found["rating"]) == (entry.ticker, str(entry.rating))
        assert found["text"] == entry.decision
        assert found.get("lesson", "") == entry.reflection
        assert found.get("seen", []) == list(entry.recalled)
        if entry.outcome:
            assert found["raw"] == pytest.approx(entry.outcome.raw_return, rel=1e-6)
            assert found["alpha"] == pytest.approx(entry.outcome.alpha, rel=1e-6)
            assert found["verdict"] == str(entry.verdict)


def test_the_headline_is_that_of_the_track_record(told):
    memory, page = told
    line = memory.track().line(5, Group.OVERALL)
    rate = line.track.hit
    assert f"{rate.right} right, {rate.n - rate.right} wrong" in page.text
    assert f"95% interval {100 * rate.low:.0f}-{100 * rate.high:.0f}%" in page.text
    assert f"{line.attrition.settled} settled" in page.text
    assert f"chance {line.track.chance:.0%}" in page.text


def test_the_newest_decision_comes_first(told):
    dates = [entry["date"] for entry in told[1].data["entries"]]
    assert dates == sorted(dates, reverse=True)


def test_nothing_is_loaded_from_anywhere(attacked):
    _, page, html = attacked
    loading = {"src", "href", "action", "data", "srcset", "poster", "background", "formaction"}
    for tag, attributes in page.elements:
        local = tag == "a" and (attributes.get("href") or "").startswith("#")
        assert local or not loading & set(attributes), (tag, attributes)
    assert not {tag for tag, _ in page.elements} & {
        "link",
        "iframe",
        "object",
        "embed",
        "base",
        "img",
    }
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_lets_only_the_two_scripts_of_the_page_run(attacked):
    page = attacked[1]
    policies = [
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    (policy,) = policies
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert not {"connect-src", "img-src", "font-src", "frame-src"} & set(rules)
    running = [text for attributes, text in page.scripts if "type" not in attributes]
    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in running
    }
    assert len(running) == 2
    assert set(rules["script-src"].split()) == hashes


def test_no_text_leaves_the_data_or_becomes_an_element(attacked):
    memory, page, html = attacked
    assert len(page.scripts) == 3
    assert not [
        tag for tag, attributes in page.elements if any(a.startswith("on") for a in attributes)
    ]
    told = {entry["id"]: entry for entry in page.data["entries"]}
    for entry in memory.entries():
        assert told[entry.id]["text"] == entry.recorded.text
        assert told[entry.id].get("agent", "") == entry.agent
    raw = re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1]
    assert not set("<>&\u2028\u2029") & set(raw)


def test_hostile_names_stand_in_the_figures_as_text(attacked):
    page = attacked[1]
    assert f"{HOSTILE_AGENT}0" in page.texts
    assert '</title><script>alert("t")</script>' in page.texts


def test_a_replaced_title_is_not_taken_for_a_place_holder(tmp_path):
    memory = Memory.open(tmp_path / "m.md", clock=lambda: datetime(2026, 1, 5, tzinfo=UTC))
    page = Page(report_page(memory, title="$data $policy"))
    assert "$data $policy" in page.texts


def test_nothing_that_became_known_later_is_in_an_earlier_report(told):
    memory, _ = told
    settled = [entry for entry in memory.entries() if entry.outcome]
    middle = sorted(entry.known_at for entry in settled)[len(settled) // 2]
    html = report_page(memory, middle, prices=memory.prices)
    page = Page(html)
    for entry in memory.entries():
        if entry.recorded.known_at > middle:
            assert entry.id not in html
        elif entry.outcome and entry.known_at > middle:
            assert page.entry(entry.id)["status"] == "pending"
            assert entry.reflection not in html
    drawn = [row["date"] for row in page.rows("Decisions, at the close") if "price" in row]
    assert max(drawn) <= str(middle.date())


def test_only_what_was_asked_for_is_reported(told):
    memory, _ = told
    page = Page(report_page(memory, tickers=["aaa"], since="2024-10-01"))
    entries = page.data["entries"]
    assert {entry["ticker"] for entry in entries} == {"AAA"}
    assert min(entry["date"] for entry in entries) >= "2024-10-01"
    assert f"{len(entries)} decisions on 1 ticker" in page.text
    assert {e["agent"] for e in Page(report_page(memory, agents="beta")).data["entries"]} == {
        "beta"
    }


def test_a_return_of_exactly_zero_is_told(tmp_path):
    day = date(2026, 1, 5)
    days = [date(2026, 1, n) for n in (5, 6, 7, 8, 9, 12)]
    prices = FramePrices({"NVDA": dict.fromkeys(days, 100.0), "SPY": dict.fromkeys(days, 400.0)})
    now = [datetime(2026, 1, 5, 15, tzinfo=UTC)]
    memory = Memory.open(tmp_path / "m.md", prices=prices, clock=lambda: now[0])
    done = memory.record("NVDA", day, "**Rating**: Hold")
    now[0] = datetime(2026, 1, 13, tzinfo=UTC)
    memory.resolve()
    found = Page(report_page(memory)).entry(done.entry.id)
    assert (found["raw"], found["alpha"]) == (0.0, 0.0)


def test_an_empty_log_makes_a_page_that_says_so(tmp_path):
    page = Page(report_page(Memory.open(tmp_path / "m.md")))
    assert page.data == {"entries": [], "charts": []}
    assert "There is no decision yet" in page.text


def test_closes_that_cannot_be_had_are_told(told):
    memory, _ = told
    page = Page(report_page(memory, prices=FramePrices({"SPY": {"2025-01-02": 400.0}})))
    assert "no prices for AAA" in page.text


def test_the_chart_of_ratings_agrees_with_means_computed_by_hand(told):
    memory, page = told
    for row in page.rows("Alpha after each rating"):
        if "rating" in row:
            alphas = [
                entry.outcome.alpha
                for entry in memory.entries()
                if entry.outcome and str(entry.rating) == row["rating"]
            ]
            assert row["decisions"] == len(alphas)
            assert row["mean"] == pytest.approx(statistics.fmean(alphas))
            assert row["low"] < row["mean"] < row["high"]


def test_the_chart_of_scores_ends_at_their_sum(told):
    memory, page = told
    rows = [row for row in page.rows("Scores added up") if row.get("rule") == "the decisions"]
    scores = [
        entry.rating.exposure * entry.outcome.alpha for entry in memory.entries() if entry.outcome
    ]
    assert rows[-1]["sum"] == pytest.approx(sum(scores))


def test_without_the_extra_one_line_says_what_to_install(told, monkeypatch):
    for name in ("altair", "vl_convert"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            if name == "vl_convert":
                library.cache_clear()
            with pytest.raises(UsageError, match=r"pip install 'tradmem\[analysis\]'"):
                report_page(told[0])


def test_the_script_of_the_charts_is_made_once_and_again_when_what_is_kept_is_not_whole(
    tmp_path, monkeypatch
):
    import vl_convert

    monkeypatch.setenv("TRADMEM_CACHE", str(tmp_path))
    made = []
    monkeypatch.setattr(
        vl_convert, "javascript_bundle", lambda: made.append(1) or "let vega = '\u00e9\r\n';"
    )
    for spoil in (None, None, b"", b"// 0\nalert(1)", "folder"):
        kept = next(tmp_path.glob("scripts/*.js"), None)
        if spoil == "folder":
            kept.unlink()
            kept.parent.rmdir()
            kept.parent.write_bytes(b"no folder")
        elif spoil is not None:
            kept.write_bytes(spoil)
        library.cache_clear()
        assert library() == "let vega = '\u00e9\r\n';"
    assert len(made) == 4
    library.cache_clear()


def test_a_page_that_cannot_be_written_leaves_the_old_one(told, tmp_path):
    with pytest.raises(TradmemError, match=r"cannot write .*nowhere"):
        write_report(told[0], tmp_path / "nowhere" / "report.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(TradmemError, match="cannot write"):
        write_report(told[0], tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_link_stays_and_so_do_the_rights_of_a_file(told, tmp_path):
    old, link = tmp_path / "old.html", tmp_path / "link.html"
    old.write_text("old")
    old.chmod(0o600)
    link.symlink_to(old)
    write_report(told[0], link)
    assert link.is_symlink()
    assert old.stat().st_mode & 0o777 == 0o600
    assert old.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.html", "old.html"]


def test_a_pipe_takes_the_page_and_stays_a_pipe(told, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    taken = []
    reader = threading.Thread(target=lambda: taken.append(pipe.read_bytes()))
    reader.start()
    write_report(told[0], pipe)
    reader.join(10)
    assert taken[0].startswith(b"<!DOCTYPE html>")
    assert pipe.is_fifo()


@pytest.mark.leaky  # it names memories that there are none of
def test_a_log_full_of_odd_values_makes_a_page_all_the_same(tmp_path):
    log = tmp_path / "memory.md"
    log.write_text(ODD, encoding="utf-8")
    memory = Memory.open(log, prices=FramePrices({"BBB": {"2025-01-02": 4.0}}))
    page = Page(report_page(memory, prices=memory.prices))
    assert {entry["ticker"] for entry in page.data["entries"]} == {"AAA", "BBB"}
    assert len(page.scripts) == 3


ODD = """[2025-03-03 | AAA | Buy | +6.0% | n/a | 5d | resolved:2025-03-12]
<!-- tradmem: {"v":1,"id":"0c5d320bfc44","flags":"late","recalled":"</script>","extra":NaN} -->
<!-- tradmem: {"add":"outcome","raw":NaN,"alpha":Infinity,"sessions":"x","benchmark":"<b>"} -->
<!-- tradmem: {"add":"reflection","model":["x"],"tags":"<img src=x onerror=1>","links":7} -->

DECISION:
**Rating**: Buy </script><script>alert(1)</script>

REFLECTION:
Short.

<!-- ENTRY_END -->

[0001-01-01 | BBB | Hold | pending]

DECISION:
x

<!-- ENTRY_END -->

[9999-12-31 | BBB | Hold | +1.0% | +1.0% | 5d | resolved:9999-12-31]

DECISION:
x

<!-- ENTRY_END -->

"""


def test_the_same_log_makes_the_same_page(told):
    memory, _ = told
    assert report_page(memory, "2025-03-01") == report_page(memory, "2025-03-01")


def test_every_hostile_kind_is_tried(attacked):
    texts = json.dumps([entry.recorded.text for entry in attacked[0].entries()])
    for kind, text in HOSTILE.items():
        part = json.dumps(text[:12].replace("\u0000", "\ufffd"))[1:-1]
        assert part in texts, kind

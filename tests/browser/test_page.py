"""The report in a real browser: table, filters, keys, panel, charts, themes, paper."""

import json
import re

import pytest

pytestmark = pytest.mark.browser


def data_of(path):
    html = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


def test_the_table_shows_the_newest_first_and_only_what_is_in_view(visit, plain_page):
    seen = visit(plain_page)
    entries = data_of(plain_page)["entries"]
    rows = seen.rows()
    assert seen.count == f"{len(entries)} decisions"
    assert [row[0] for row in rows] == [entry["date"] for entry in entries[: len(rows)]]
    assert len(rows) < len(entries)
    seen.page.eval_on_selector("#list", "list => list.scrollTo(0, list.scrollHeight)")
    seen.page.wait_for_selector(f"#row-{len(entries) - 1}")
    assert seen.rows()[-1][0] == entries[-1]["date"]


def test_search_and_filters_show_what_was_asked_for(visit, plain_page):
    seen = visit(plain_page)
    entries = data_of(plain_page)["entries"]
    seen.page.select_option("#ticker", "BBB")
    seen.page.select_option("#rating", "Sell")
    wanted = [e for e in entries if (e["ticker"], e["rating"]) == ("BBB", "Sell")]
    assert {(row[1], row[2]) for row in seen.rows()} == {("BBB", "Sell")}
    assert seen.count == f"{len(wanted)} of {len(entries)} decisions"
    seen.page.select_option("#result", "wrong")
    assert seen.rows()
    assert all(row[3] == "wrong" for row in seen.rows())
    seen.page.click("button[type=reset]")
    seen.wait(f"document.getElementById('count').textContent === '{len(entries)} decisions'")
    seen.page.fill("#query", '"THESIS 7 on" ccc')
    assert [row[1] for row in seen.rows()] == ["CCC"]
    seen.page.fill("#query", "no such words")
    assert seen.rows() == []
    assert seen.count.startswith("None of")
    seen.page.fill("#query", "")
    seen.page.select_option("#agent", "beta")
    assert seen.count == f"{sum(e['agent'] == 'beta' for e in entries)} of {len(entries)} decisions"


def test_columns_sort_and_what_has_no_figure_comes_last(visit, plain_page):
    seen = visit(plain_page)
    alphas = [e["alpha"] for e in data_of(plain_page)["entries"] if "alpha" in e]
    for order in ("descending", "ascending"):
        seen.page.click("#rows thead button:has-text('Alpha')")
        heading = seen.page.locator("#rows th", has_text="Alpha")
        assert heading.get_attribute("aria-sort") == order
        best = max(alphas) if order == "descending" else min(alphas)
        assert seen.rows()[0][5] == f"{100 * best:+.1f}%"
    seen.page.eval_on_selector("#list", "list => list.scrollTo(0, list.scrollHeight)")
    seen.wait("document.querySelector('#rows tbody').textContent.includes('pending')")
    assert seen.rows()[-1][5] == ""


def test_the_keyboard_is_enough(visit, plain_page):
    seen = visit(plain_page)
    entries = data_of(plain_page)["entries"]
    keys = seen.page.keyboard
    keys.press("/")
    keys.type("thesis")
    keys.press("Enter")
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    keys.press("Enter")
    panel = seen.page.locator("#panel")
    assert entries[2]["id"] in panel.inner_text()
    keys.press("ArrowDown")
    assert entries[3]["id"] in panel.inner_text()
    keys.press("End")
    assert entries[-1]["id"] in panel.inner_text()
    assert seen.page.locator("tr.active").is_visible()
    keys.press("Escape")
    assert panel.is_hidden()
    assert seen.page.evaluate("document.activeElement.id") == "rows"


def test_the_panel_tells_all_and_leads_to_what_was_seen(visit, plain_page):
    seen = visit(plain_page)
    entries = data_of(plain_page)["entries"]
    entry = next(e for e in entries if "seen" in e and "lesson" in e)
    seen.page.goto(f"{plain_page.as_uri()}#{entry['id']}")
    seen.asked.clear()
    seen.asked.append(plain_page.as_uri())
    panel = seen.page.locator("#panel")
    text = panel.inner_text()
    for part in (entry["text"], entry["lesson"], entry["verdict"], entry["id"], entry["known"]):
        assert part in text
    assert f"{100 * entry['alpha']:+.2f}%" in text
    assert panel.locator("ul.ids").first.locator("button").count() == len(entry["seen"])
    panel.locator("ul.ids button").first.click()
    assert entry["seen"][0] in panel.inner_text()
    assert seen.page.url.endswith(f"#{entry['seen'][0]}")
    assert "Decisions that had seen it" in panel.inner_text()


def test_every_chart_is_drawn_under_the_policy(visit, plain_page):
    seen = visit(plain_page)
    seen.draw_all()
    charts = data_of(plain_page)["charts"]
    assert len(charts) == 5
    titles = seen.page.locator("figcaption b").all_inner_texts()
    assert titles == [chart["title"] for chart in charts]
    marks = seen.page.locator("figure").first.locator("svg .mark-symbol path")
    assert marks.count() > 20


@pytest.mark.parametrize("width", [420, 1280])
def test_nothing_moves_when_the_charts_are_drawn(visit, plain_page, width):
    seen = visit(plain_page, width=width)
    top = "document.getElementById('decisions').getBoundingClientRect().top + scrollY"
    before = seen.page.evaluate(top)
    seen.draw_all()
    assert seen.page.evaluate(top) == before


def test_another_ticker_can_be_drawn_and_a_mark_opens_its_decision(visit, plain_page):
    seen = visit(plain_page)
    seen.draw_all()
    figure = seen.page.locator("figure").first
    seen.page.evaluate("window.before = document.querySelector('figure svg').innerHTML")
    figure.locator("select").select_option("DDD")
    seen.wait("document.querySelector('figure svg').innerHTML !== window.before")
    figure.locator(".mark-symbol.role-mark path").nth(5).click(force=True)
    seen.page.wait_for_selector("#panel:not([hidden])")
    assert seen.page.locator("#panel h2").inner_text().startswith("DDD")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(visit, plain_page, scheme):
    seen = visit(plain_page, scheme=scheme)
    seen.draw_all()
    seen.page.click("#rows tbody tr[data-place] >> nth=6")
    ratios = seen.page.evaluate(CONTRASTS)
    assert len(ratios) > 50
    assert min(ratios) >= 4.5


def test_the_theme_can_be_turned(visit, plain_page):
    seen = visit(plain_page, scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = seen.page.evaluate(ground)
    seen.page.click("#theme")
    assert seen.page.evaluate(ground) == "rgb(255, 255, 255)" != dark
    seen.page.click("#theme")
    assert seen.page.evaluate(ground) == dark


def test_a_narrow_screen_needs_no_scrolling_sideways(visit, plain_page):
    seen = visit(plain_page, width=400)
    seen.draw_all()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 400
    clipped = seen.page.evaluate(CLIPPED)
    assert clipped == []
    seen.page.click("#rows tbody tr[data-place] >> nth=2")
    assert seen.page.locator("#panel").bounding_box()["width"] == 400


def test_paper_holds_the_rows_that_are_filtered_and_what_was_folded(visit, plain_page):
    seen = visit(plain_page, scheme="dark")
    seen.page.select_option("#ticker", "AAA")
    wanted = sum(entry["ticker"] == "AAA" for entry in data_of(plain_page)["entries"])
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    seen.page.emulate_media(media="print")
    assert seen.page.locator("#printed tbody tr").count() == wanted
    assert seen.page.locator("#printed tbody tr").first.is_visible()
    assert seen.page.locator("#list").is_hidden()
    assert seen.page.locator("details:not([open])").count() == 0
    assert seen.page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert seen.page.locator("details:not([open])").count() > 0


CLIPPED = """() => [...document.querySelectorAll('#rows tbody td')]
  .filter(cell => cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.textContent)"""
# The contrast of each visible text with the nearest ground below it, by WCAG 2.
CONTRASTS = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const ratios = [];
  for (let node; (node = walker.nextNode()); ) {
    const element = node.parentElement;
    const isHidden = !element.checkVisibility() || element.closest("script, style, option");
    if (!node.textContent.trim() || isHidden) continue;
    const style = getComputedStyle(element);
    const paint = parse(element.closest("svg") ? style.fill : style.color);
    const [one, other] = [light(paint), light(ground(element))].sort((a, b) => b - a);
    ratios.push((one + 0.05) / (other + 0.05));
  }
  return ratios;
}"""

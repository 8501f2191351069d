"""Texts that try to run, to load or to pass for something else do nothing in the report."""

import pytest

from tests.report.world import HOSTILE, HOSTILE_AGENT

pytestmark = pytest.mark.browser

HACKED = "window.hacked === undefined && document.title !== 'hacked'"


def test_nothing_runs_and_nothing_becomes_an_element(visit, hostile_page):
    seen = visit(hostile_page)
    seen.draw_all()
    elements = (
        "document.body.querySelectorAll('img, iframe, object, embed, script:not([id])').length"
    )
    assert seen.page.evaluate(elements) == 2  # the page's own two scripts
    for place in range(len(seen.rows())):
        seen.page.click(f"#row-{place}")
        assert seen.page.evaluate(elements) == 2
        links = "[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))"
        assert all(link.startswith("#") for link in seen.page.evaluate(links))
        assert seen.page.evaluate(HACKED)
        seen.page.keyboard.press("Escape")
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert seen.page.evaluate(elements) == 2
    assert seen.page.evaluate(HACKED)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_text_is_shown_as_it_was_recorded_and_turns_nothing_round(visit, hostile_page, kind):
    """Search for it, open what is found, and read the panel back."""
    seen = visit(hostile_page)
    text = HOSTILE[kind].replace("\u0000", "\ufffd")
    shown = text.strip().replace("\u202e", r"\u202e").replace("\u202c", r"\u202c")
    seen.page.select_option("#rating", "Note")
    seen.page.fill("#query", text.split()[0])
    for place in range(len(seen.rows())):
        seen.page.click(f"#row-{place}")
        if seen.page.locator("#panel .text").first.text_content() == shown:
            return
        seen.page.keyboard.press("Escape")
    pytest.fail(f"{text!r} is not in the page as it is")


def test_a_long_word_and_a_right_to_left_text_stay_in_their_places(visit, hostile_page):
    for width in (1280, 400):
        seen = visit(hostile_page, width=width)
        for place in range(len(seen.rows())):
            seen.page.click(f"#row-{place}")
            inside = (
                "panel => [...panel.querySelectorAll('*')].every(e => "
                "e.getBoundingClientRect().right <= panel.getBoundingClientRect().right + 1)"
            )
            assert seen.page.eval_on_selector("#panel", inside)
            seen.page.keyboard.press("Escape")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        dates = [row[0] for row in seen.rows()]
        assert dates == sorted(dates, reverse=True)


def test_a_name_that_is_markup_can_be_filtered_by(visit, hostile_page):
    seen = visit(hostile_page)
    seen.page.select_option("#agent", f"{HOSTILE_AGENT}3")
    assert len(seen.rows()) == 1


def test_a_script_that_is_added_later_is_refused(visit, hostile_page):
    """The page's policy holds even where its own code were at fault."""
    seen = visit(hostile_page)
    seen.page.evaluate(
        """() => {
          const frame = document.createElement("div");
          frame.innerHTML = "<img src=x onerror='window.hacked = 1'>";
          const script = document.createElement("script");
          script.textContent = "window.hacked = 1";
          document.body.append(frame, script);
        }"""
    )
    seen.page.wait_for_timeout(200)
    assert seen.page.evaluate("window.hacked === undefined")
    refused = [fault for fault in seen.faults if "Content Security Policy" in fault]
    assert len(refused) >= 2
    seen.faults.clear()
    seen.asked[:] = seen.asked[:1]

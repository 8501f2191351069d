"""The one line of the track record that leads a recall."""

from datetime import timedelta

import pytest

from tests.lessons.track_cases import DOWN, FAR, FLAT, MONDAY, UP, journal_of, noon, settled
from tradmem import MarkdownJournal, RamJournal, Rating
from tradmem.lessons.hits import Track, line_of, track_of
from tradmem.lessons.recall import recall


def weekly(alphas, **more):
    days = (MONDAY + timedelta(weeks=number) for number in range(len(alphas)))
    return [settled(day, alpha=alpha, **more) for day, alpha in zip(days, alphas, strict=True)]


def test_few_verdicts_are_counted_and_no_rate_is_made_of_them():
    entries = [*weekly([UP, UP, DOWN, FLAT]), settled(ticker="AAPL")]
    holds = weekly([FLAT, UP], rating=Rating.HOLD, decision={"agent": "desk"})
    assert line_of(journal_of([*entries, *holds]), "NVDA", FAR) == (
        "Track record on NVDA: 4 calls with a side: 2 right, 1 wrong, 1 neutral; "
        "2 Hold: 1 right, 1 wrong."
    )


def test_from_ten_blocks_on_the_line_says_how_sure_its_rate_is():
    """Twenty weeks are ten fortnights; in seven of them both calls were right, else none."""
    entries = weekly([UP] * 14 + [DOWN] * 6)
    track = track_of(journal_of(entries), "NVDA", FAR)
    assert (track.hit.blocks, track.hit.n_eff) == (10, pytest.approx(7.5))
    assert track.line("NVDA") == (
        "Track record on NVDA: 20 calls with a side: 14 right, 6 wrong, 0 neutral. Hit rate 70%, "
        f"95% interval {track.hit.low:.0%} to {track.hit.high:.0%} (worth 8 independent calls, "
        "70% by chance, 70% had all been a Buy)."
    )
    assert 0.3 < track.hit.low < 0.4
    assert 0.85 < track.hit.high < 0.95
    assert "Hit rate" not in line_of(journal_of(entries[:18]), "NVDA", FAR)


def test_the_line_says_what_was_judged_without_a_benchmark():
    entries = weekly([None] * 20, raw=UP)
    assert line_of(journal_of(entries), "NVDA", FAR).endswith(
        "100% by chance, 100% had all been a Buy, 20 by the raw return)."
    )


def test_each_horizon_that_was_decided_for_has_a_line_of_its_own():
    entries = [
        settled(MONDAY, alpha=UP, decision={"horizon": 20}, span=28),
        settled(MONDAY + timedelta(days=1), alpha=DOWN),
        settled(MONDAY + timedelta(days=2), alpha=DOWN),
    ]
    assert line_of(journal_of(entries), "NVDA", FAR) == (
        "Track record on NVDA after 5 sessions: 2 calls with a side: 0 right, 2 wrong, 0 neutral. "
        "Track record on NVDA after 20 sessions: 1 call with a side: 1 right, 0 wrong, 0 neutral."
    )


def test_nothing_judged_is_no_line():
    unrated = settled(rating=None)
    assert line_of(RamJournal(), "NVDA", FAR) == line_of(journal_of([unrated]), "NVDA", FAR) == ""
    assert track_of(RamJournal(), "NVDA", FAR) == Track()


@pytest.mark.parametrize("kind", ["ram", "markdown"])
def test_a_recall_is_led_by_the_record_as_it_stood_then(kind, tmp_path):
    journal = RamJournal() if kind == "ram" else MarkdownJournal(tmp_path / "memory.md")
    journal_of(weekly([UP, DOWN, UP]), journal)
    second = noon(MONDAY + timedelta(days=14)) + timedelta(hours=11)
    for instant, told in (
        (second - timedelta(seconds=1), "1 call with a side: 1 right, 0 wrong, 0 neutral."),
        (second, "2 calls with a side: 1 right, 1 wrong, 0 neutral."),
        (FAR, "3 calls with a side: 2 right, 1 wrong, 0 neutral."),
    ):
        text = recall(journal, "NVDA", instant).text
        assert text.split("\n\n")[1] == f"Track record on NVDA: {told}"

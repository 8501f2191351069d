"""Plots draw the figures that are computed otherwise here, and refuse in words."""

import statistics
import sys
from collections import Counter
from datetime import UTC, datetime

import matplotlib as mpl
import pytest

from tests.report.world import plain
from tests.study.worlds import SETTINGS, by_chance, names, prices
from tradmem import Memory, UsageError
from tradmem.study import plots, replay
from tradmem.study.closes import closes

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    return plain(tmp_path_factory.mktemp("plots") / "memory.md")


@pytest.fixture(scope="module")
def bars(memory):
    return closes(memory)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def settled(memory):
    return [entry for entry in memory.entries() if entry.outcome]


def dots(ax):
    """How many dots stand in each scatter of a plot."""
    return [len(part.get_offsets()) for part in ax.collections if len(part.get_offsets())]


def line(ax, label):
    (found,) = [line for line in ax.lines if str(line.get_label()).startswith(label)]
    return found


def test_alpha_by_rating_shows_every_decision_and_the_mean(memory):
    ax = plots.alpha_by_rating(memory)
    names = [tick.get_text().split("\n")[0] for tick in ax.get_xticklabels()]
    counts = Counter(str(entry.rating) for entry in settled(memory))
    for name, tick in zip(names, ax.get_xticklabels(), strict=True):
        assert f"n {counts[name]}" in tick.get_text()
        alphas = [e.outcome.alpha for e in settled(memory) if str(e.rating) == name]
        marks = [
            drawn.get_ydata()[0]
            for drawn in ax.lines
            if list(drawn.get_xdata()) == [names.index(name)]
        ]
        assert 100 * statistics.fmean(alphas) in [pytest.approx(mark) for mark in marks]
    assert names == ["Buy", "Overweight", "Hold", "Underweight", "Sell"]
    assert ax.get_title(loc="left") == "Alpha after each rating, 5 sessions held"


def test_alpha_by_session_agrees_with_the_outcomes_where_they_are_judged():
    """The judged session is computed from closes here, and from outcomes by the log."""
    done = replay(
        by_chance, names()[:3], prices(), "2018-01-02", "2019-06-28", settings=SETTINGS, every=5
    )
    ax = plots.alpha_by_session(done, sessions=5)
    drawn = {label.split(" (")[0] for label in ax.get_legend_handles_labels()[1]}
    assert drawn
    for rating in drawn:
        outcomes = [e.outcome for e in done.entries() if e.outcome and str(e.rating) == rating]
        path = line(ax, f"{rating} (")
        assert list(path.get_xdata()) == [0, 1, 2, 3, 4, 5]
        assert path.get_ydata()[0] == pytest.approx(0)
        mean = statistics.fmean(outcome.alpha for outcome in outcomes)
        assert path.get_ydata()[-1] == pytest.approx(100 * mean, rel=1e-6)


def test_cumulative_score_ends_at_the_sums(memory):
    ax = plots.cumulative_score(memory)
    alphas = [(entry.rating.exposure, entry.outcome.alpha) for entry in settled(memory)]
    ends = {
        "the decisions": sum(exposure * alpha for exposure, alpha in alphas),
        "always Buy": sum(alpha for _, alpha in alphas),
    }
    for label, end in ends.items():
        assert line(ax, label).get_ydata()[-1] == pytest.approx(100 * end)


def test_decisions_on_the_price_stand_on_closes_once_each(memory, bars):
    ax = plots.decisions_on_price(memory, "aaa", bars)
    assert sum(dots(ax)) == sum(entry.ticker == "AAA" for entry in memory.entries())
    there = set(bars["AAA"].closes)
    for part in ax.collections:
        assert all(price in there for _, price in part.get_offsets())
    legend = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {"right", "wrong"} <= legend


def test_pending_by_age_counts_what_is_pending(memory):
    ax = plots.pending_by_age(memory)
    pending = [entry for entry in memory.entries() if entry.status == "pending"]
    assert sum(bar.get_height() for bar in ax.patches) == len(pending) > 0
    assert f"{len(pending)} decisions" in " ".join(text.get_text() for text in ax.texts)


def test_pending_by_age_stands_as_it_did_then(memory):
    ax = plots.pending_by_age(memory, as_of=datetime(2024, 9, 4, tzinfo=UTC))
    assert sum(bar.get_height() for bar in ax.patches) == 4


def test_a_plot_goes_where_it_is_told_to(memory):
    _, ax = plt.subplots()
    assert plots.alpha_by_rating(memory, ax=ax) is ax


def test_ratings_and_verdicts_differ_without_colour(memory, bars):
    ax = plots.alpha_by_session(memory, bars, sessions=5)
    looks = {(h.get_linestyle(), h.get_marker()) for h in ax.get_legend_handles_labels()[0]}
    assert len({marker for _, marker in looks}) > 1
    ax = plots.decisions_on_price(memory, "AAA", bars)
    faces = [part.get_facecolor() for part in ax.collections if len(part.get_offsets())]
    greys = {round(sum(face[0][:3]) / 3, 1) for face in faces if len(face)}
    assert len(greys) > 1


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (plots.alpha_by_rating, "no decision has a rating and an alpha"),
        (plots.cumulative_score, "no decision has a rating and an alpha"),
        (plots.alpha_by_session, "needs closes"),
        (lambda m: plots.decisions_on_price(m, "NVDA"), "no decision on NVDA"),
        (plots.lesson_utility_by_tag, "cannot be told yet"),
        (lambda m: plots.pending_by_age([]), "a memory or a replay"),
        (lambda m: plots.alpha_by_rating("memory.md"), "str is no memory"),
    ],
)
def test_where_there_is_nothing_to_draw_it_says_so(tmp_path, draw, words):
    with pytest.raises(UsageError, match=words):
        draw(Memory.open(tmp_path / "memory.md"))


def test_without_matplotlib_it_says_what_to_install(memory, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(UsageError, match=r"pip install 'tradmem\[analysis\]'"):
        plots.alpha_by_rating(memory)

"""Each plot draws what it says, is titled in words, and can be read without colours."""

import statistics
import sys

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

from tests.report.world import plain
from tests.study.worlds import SETTINGS, by_chance, names, prices
from tradmem import LessonUtility, Memory, RamJournal, UsageError
from tradmem.lessons.utility import Finding, TagUtility
from tradmem.study import plots, replay, series
from tradmem.study.closes import closes


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    return plain(tmp_path_factory.mktemp("plots") / "memory.md", weeks=45)


@pytest.fixture(scope="module")
def bars(memory):
    return closes(memory)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def utility() -> LessonUtility:
    def line(tag, value):
        return TagUtility(
            tag=tag,
            shown=90,
            withheld=40,
            blocks=20,
            utility=value,
            low=value - 0.01,
            high=value + 0.01,
            p=0.001 if value > 0.01 else 0.5,
            finding=Finding.HELPS if value > 0.01 else Finding.UNTOLD,
        )

    return LessonUtility(
        horizon=5,
        decisions=130,
        overall=line(None, 0.004),
        tags=(line("earnings", 0.02), line("$AAPL $MSFT", -0.003)),
    )


def test_alpha_by_rating_draws_each_mean_with_its_interval(memory):
    ax = plots.alpha_by_rating(memory)
    found = series.alpha_by_rating(series.scored(memory.entries(), 5))
    bars = [container for container in ax.containers if container.has_yerr]
    assert len(bars) == len(found) == 5
    for container, item in zip(bars, found, strict=True):
        (segment,) = container.lines[2][0].get_segments()
        assert sorted(segment[:, 1]) == pytest.approx([100 * item.mean.low, 100 * item.mean.high])
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels[0] == f"Buy\nn {len(found[0].values)}\nworth {found[0].n_eff:.0f}"
    assert ax.get_title("left").startswith("Alpha after each rating")


def test_a_rating_of_few_blocks_gets_no_mean(memory):
    few = [entry for entry in memory.entries() if entry.outcome][:24]
    ax = plots.alpha_by_rating(few)
    assert [container for container in ax.containers if container.has_yerr] == []
    assert "no mean" in ax.get_xticklabels()[0].get_text()


def test_alpha_by_session_draws_means_and_bands(memory, bars):
    ax = plots.alpha_by_session(memory, bars, sessions=8)
    paths = series.alpha_paths(memory.entries(), bars, sessions=8)
    drawn = [line for line in ax.lines if line.get_label().startswith(tuple(map(str, _ratings())))]
    assert len(drawn) == len(ax.collections) == len(paths)
    for line, path in zip(drawn, paths, strict=True):
        assert list(line.get_ydata()) == pytest.approx([100 * mean.value for mean in path.means])
    assert len({(line.get_linestyle(), line.get_marker()) for line in drawn}) == len(drawn)


def _ratings():
    from tradmem import Rating

    return list(Rating)


def test_of_a_replay_the_path_ends_at_the_alphas_that_were_judged():
    """They are computed from closes for the plot, and by the outcomes for the log."""
    done = replay(
        by_chance, names()[:3], prices(), "2018-01-02", "2019-06-28", settings=SETTINGS, every=5
    )
    ax = plots.alpha_by_session(done, sessions=5)
    drawn = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    assert drawn
    for label, line in drawn.items():
        rating = label.split(" (")[0]
        alphas = [e.outcome.alpha for e in done.entries() if e.outcome and e.rating == rating]
        ends = line.get_ydata()[[0, -1]]
        assert list(ends) == pytest.approx([0, 100 * statistics.fmean(alphas)], abs=1e-9)


def test_the_scores_are_drawn_beside_what_needs_no_skill(memory):
    ax = plots.cumulative_score(memory)
    last = series.totals(series.scored(memory.entries(), 5))[-1]
    ends = {line.get_label(): line.get_ydata()[-1] for line in ax.lines}
    assert ends["the decisions"] == pytest.approx(100 * last.decisions)
    assert ends["always Buy"] == pytest.approx(100 * last.always_buy)
    assert len({line.get_linestyle() for line in ax.lines if line.get_label()[0] != "_"}) == 3


def test_decisions_on_the_price_differ_in_shape_and_in_filling(memory, bars):
    ax = plots.decisions_on_price(memory, "aaa", bars)
    drawn = [c for c in ax.collections if len(c.get_offsets())]
    marks = series.marks(memory.entries(), "AAA", bars["AAA"])
    assert sum(len(c.get_offsets()) for c in drawn) == len(marks)
    looks = {(c.get_paths()[0].vertices.tobytes(), tuple(c.get_facecolor().ravel())) for c in drawn}
    assert len(looks) == len(drawn)
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "open or unrated"


def test_only_closes_near_the_decisions_are_drawn(memory, bars):
    ax = plots.decisions_on_price(memory, "AAA", bars)
    (line,) = [line for line in ax.lines if len(line.get_xdata()) > 2]
    first = min(mark.date for mark in series.marks(memory.entries(), "AAA", bars["AAA"]))
    assert (first - min(line.get_xdata())).days < 30


def test_lessons_that_were_found_are_filled_and_the_others_hollow():
    ax = plots.lesson_utility_by_tag(utility())
    points = [line for line in ax.lines if line.get_marker() == "o"]
    filled = [line.get_markerfacecolor() != "white" for line in points]
    assert [label.get_text().split("\n")[0] for label in ax.get_yticklabels()] == [
        r"\$AAPL \$MSFT",
        "earnings",
        "all lessons",
    ]
    assert filled == [False, True, False]


def test_pending_decisions_are_counted(memory):
    ax = plots.pending_by_age(memory)
    pending = [entry for entry in memory.entries() if entry.status == "pending"]
    assert sum(patch.get_height() for patch in ax.patches) == len(pending) > 0
    earlier = plots.pending_by_age(memory, as_of="2024-09-04")
    assert sum(patch.get_height() for patch in earlier.patches) == 4


def test_plots_go_where_they_are_told(memory, bars):
    _, own = plt.subplots()
    assert plots.cumulative_score(memory, ax=own) is own
    assert plots.decisions_on_price(memory.entries(), "AAA", ax=own) is own


def test_what_cannot_be_drawn_is_said_in_one_line(memory):
    empty = Memory(RamJournal())
    for draw in (
        lambda: plots.alpha_by_rating(empty),
        lambda: plots.cumulative_score([]),
        lambda: plots.alpha_by_session(memory),
        lambda: plots.decisions_on_price(memory, "ZZZ"),
        lambda: plots.lesson_utility_by_tag(memory),
        lambda: plots.pending_by_age([]),
        lambda: plots.alpha_by_rating("memory.md"),
        lambda: plots.alpha_by_rating(memory, horizon=77),
    ):
        with pytest.raises(UsageError) as told:
            draw()
        assert len(str(told.value).splitlines()) == 1


def test_without_matplotlib_it_is_said_what_to_install(memory, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(UsageError, match=r"pip install 'tradmem\[analysis\]'"):
        plots.cumulative_score(memory)

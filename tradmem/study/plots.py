"""Plots of decisions and of what became of them; each returns the Axes that it drew on.

They need the extra ``analysis``. Verdicts and ratings differ in shape and lightness as well as
in colour, so that a print in black and white can be read.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tradmem.errors import UsageError
from tradmem.lessons.counting import counted
from tradmem.lessons.rates import LEAST_BLOCKS
from tradmem.market.prices import Bars
from tradmem.study import series
from tradmem.study.drawing import (
    FAINT,
    INK,
    RATINGS,
    SOFT,
    against,
    axes,
    dated,
    horizon_of,
    legend,
    parts_of,
    scored_of,
    titled,
)
from tradmem.study.plot_decisions import (
    decisions_on_price,
    lesson_utility_by_tag,
    pending_by_age,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tradmem.study.drawing import Source

__all__ = [
    "alpha_by_rating",
    "alpha_by_session",
    "cumulative_score",
    "decisions_on_price",
    "lesson_utility_by_tag",
    "pending_by_age",
]

_MANY = 300  # dots of one rating, above which they are small and pale
_ROOM = 8  # times the farthest end of an interval that a plot reaches at most


def alpha_by_rating(
    source: "Source",
    bars: Mapping[str, Bars] | None = None,
    *,
    horizon: int | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """The alphas after each rating, their mean with its 95 % interval, and what it is worth.

    Args:
        source: a memory, a replay, or entries.
        bars: closes by symbol, so that alpha is measured against the other names; those of a
            replay by default. Without, alpha is against the index.
        horizon: in sessions; that of most outcomes by default.
        ax: where to draw; a figure of its own by default.

    Raises:
        UsageError: there is nothing to draw, or matplotlib is not installed.
    """
    outcomes, horizon = scored_of(parts_of(source, bars), horizon)
    found = series.alpha_by_rating(outcomes)
    ax = axes(ax)
    for place, item in enumerate(found):
        look = RATINGS[item.rating]
        ax.scatter(
            [place + offset for offset in _spread(item.values)],
            [100 * value for value in item.values],
            s=12 if len(item.values) < _MANY else 5,
            color=look.edge,
            alpha=0.4 if len(item.values) < _MANY else 0.2,
            linewidths=0,
            zorder=1,
        )
        if item.mean.value is not None and item.mean.low is not None:
            half = 100 * (item.mean.value - item.mean.low)
            ax.errorbar(place, 100 * item.mean.value, half, color=INK, capsize=7, lw=2, zorder=3)
            ax.plot(
                place, 100 * item.mean.value, look.mark, color=look.edge, mec=INK, ms=8, zorder=4
            )
    ax.axhline(0, color=SOFT, lw=1, zorder=0)
    ax.set_xticks(range(len(found)), [_rating_label(item) for item in found])
    ax.set_xlim(-0.6, len(found) - 0.4)
    limit, outside = _limit(found)
    ax.set_ylim(-100 * limit, 100 * limit)
    ax.set_ylabel("alpha, %")
    return titled(
        ax,
        f"Alpha after each rating, {counted(horizon, 'session')} held",
        f"Dots: decisions, {outside:.0%} of them outside. Marks: means with 95% intervals, "
        f"{against(outcomes)}.",
    )


def _limit(found: Sequence[series.RatingAlpha]) -> tuple[float, float]:
    """How far from zero the plot reaches, so that intervals can be seen; the share beyond it."""
    values = sorted(abs(value) for item in found for value in item.values)
    limit = 1.25 * values[int(0.98 * (len(values) - 1))]
    ends = [abs(end) for item in found for end in (item.mean.low, item.mean.high) if end]
    limit = min(limit, _ROOM * max(ends, default=limit)) or 0.01
    return limit, sum(value > limit for value in values) / len(values)


def _rating_label(item: series.RatingAlpha) -> str:
    worth = (
        f"worth {item.n_eff:,.0f}"
        if item.n_eff is not None
        else f"no mean: under\n{LEAST_BLOCKS} blocks of time"
    )
    return f"{item.rating}\nn {len(item.values):,}\n{worth}"


def _spread(values: Sequence[float]) -> list[float]:
    """Offsets that part dots of one column; the same each time."""
    return [0.22 * (((37 * number) % 101) / 50 - 1) for number in range(len(values))]


def alpha_by_session(
    source: "Source",
    bars: Mapping[str, Bars] | None = None,
    *,
    sessions: int | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """The mean alpha against the index after each session since entry, by rating.

    The band is the 95 % interval; a rating without one, of fewer than ten blocks of time, is
    left out.

    Args:
        source: a memory, a replay, or entries.
        bars: closes by symbol; those of a replay by default, see
            :func:`tradmem.study.closes.closes` for those of a memory.
        sessions: how far; twice the horizon by default.
        ax: see :func:`alpha_by_rating`.

    Raises:
        UsageError: there are no closes or nothing to draw, or matplotlib is not installed.
    """
    parts = parts_of(source, bars)
    if not parts.bars:
        raise UsageError("alpha by session needs closes; hand in bars=closes(memory)")
    horizon = horizon_of(parts.entries)
    paths = series.alpha_paths(
        parts.entries, parts.bars, sessions=sessions or 2 * horizon, aliases=parts.aliases
    )
    drawn = [path for path in paths if any(mean.value is not None for mean in path.means[1:])]
    if not drawn:
        raise UsageError(
            f"no rating has outcomes with closes from {LEAST_BLOCKS} blocks of time yet; there "
            "is nothing to draw"
        )
    ax = axes(ax)
    for path in drawn:
        look = RATINGS[path.rating]
        points = [(n, mean) for n, mean in enumerate(path.means) if mean.value is not None]
        days = [number for number, _ in points]
        ax.plot(
            days,
            [100 * (mean.value or 0.0) for _, mean in points],
            color=look.edge,
            ls=look.line,
            marker=look.mark,
            ms=5,
            label=f"{path.rating} (n {path.means[1].n:,})",
        )
        low = [100 * (mean.low or 0.0) for _, mean in points]
        high = [100 * (mean.high or 0.0) for _, mean in points]
        ax.fill_between(days, low, high, color=look.edge, alpha=0.13, lw=0)
    ax.axhline(0, color=SOFT, lw=1, zorder=0)
    ax.axvline(horizon, color=SOFT, lw=1, ls=":", zorder=0)
    ax.annotate(
        "judged here",
        (horizon, 1),
        xycoords=("data", "axes fraction"),
        xytext=(4, -12),
        textcoords="offset points",
        color=SOFT,
        fontsize=8,
    )
    ax.set_xlabel("sessions since entry")
    ax.set_ylabel("mean alpha, %")
    legend(ax)
    return titled(
        ax, "Alpha by session since entry", "Lines: means. Bands: 95% intervals, against the index."
    )


def cumulative_score(
    source: "Source",
    bars: Mapping[str, Bars] | None = None,
    *,
    horizon: int | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Scores (exposure times alpha) added up by date of entry, beside what needs no skill.

    Args:
        source: see :func:`alpha_by_rating`, and for the rest.
        bars: with them, 12-1 momentum is drawn too.
        horizon: in sessions; that of most outcomes by default.
        ax: where to draw.

    Raises:
        UsageError: there is nothing to draw, or matplotlib is not installed.
    """
    outcomes, horizon = scored_of(parts_of(source, bars), horizon)
    found = series.totals(outcomes)
    ax = axes(ax)
    days: list[Any] = [total.date for total in found]
    rules = {
        "always Buy": ("always_buy", SOFT, "--"),
        "12-1 momentum": ("momentum", "#c4520d", "-."),
        "the same exposure by chance": ("chance", SOFT, ":"),
        "the decisions": ("decisions", "#0b3d78", "-"),
    }
    for name, (field, color, line) in rules.items():
        values = [getattr(total, field) for total in found]
        if values[-1] is not None:
            width = 2.2 if field == "decisions" else 1.4
            ax.plot(days, [100 * v for v in values], color=color, ls=line, lw=width, label=name)
    ax.axhline(0, color=FAINT, lw=1, zorder=0)
    ax.set_ylabel("sum of scores, percentage points")
    dated(ax)
    legend(ax)
    return titled(
        ax,
        "Scores added up, by date of entry",
        f"{counted(len(outcomes), 'decision')}, {against(outcomes)}; always Hold is the line at 0.",
    )

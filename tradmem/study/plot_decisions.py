"""Plots of single decisions: on the price, by what lessons were worth, and while they wait."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from tradmem.clock import AsOf, as_instant
from tradmem.errors import UsageError
from tradmem.lessons.counting import counted
from tradmem.lessons.utility import UNTAGGED, LessonUtility, lesson_utility
from tradmem.market.prices import Bars
from tradmem.memory import Memory
from tradmem.study import series
from tradmem.study.drawing import INK, SOFT, VERDICTS, axes, dated, legend, parts_of, plain, titled
from tradmem.tickers import check_ticker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tradmem.study.drawing import Source
    from tradmem.study.replay import Replay

_SHAPES = {1: "^", 0: "s", -1: "v"}  # by the rating's direction


def decisions_on_price(
    source: "Source",
    ticker: str,
    bars: Mapping[str, Bars] | None = None,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """The decisions on one ticker, on its closes, in the colours of their verdicts.

    Args:
        source: see :func:`alpha_by_rating`.
        ticker: in any case.
        bars: closes by symbol; those of a replay by default. Without, the entries' own
            prices stand alone.
        ax: where to draw.

    Raises:
        UsageError: there is no such decision, or matplotlib is not installed.
    """
    parts, name = parts_of(source, bars), check_ticker(ticker)
    own = parts.bars.get(name)
    found = series.marks(parts.entries, name, own)
    if not found:
        raise UsageError(f"no decision on {name} has a price; hand in bars=closes(memory)")
    ax = axes(ax)
    if own:
        first, last = found[0].date, max(found[-1].date, own.dates[-1])
        room = (last - first) / 50 + timedelta(days=2)
        place = bisect_left(own.dates, first - min(room, first - date.min))
        drawn: list[Any] = list(own.dates[place:])
        ax.plot(drawn, own.closes[place:], color=SOFT, lw=1, zorder=1)
    for verdict, look in VERDICTS.items():
        for direction, shape in _SHAPES.items():
            some = [
                mark
                for mark in found
                if mark.verdict is verdict
                and (mark.rating.direction if mark.rating else 0) == direction
            ]
            days: list[Any] = [mark.date for mark in some]
            ax.scatter(
                days,
                [mark.price for mark in some],
                marker=shape,
                s=46,
                facecolors=look.face,
                edgecolors=look.edge,
                linewidths=1.4,
                zorder=3,
            )
    ax.set_ylabel("adjusted close")
    dated(ax)
    ax.set_yscale("log" if _is_wide(found) else "linear")
    _verdict_legend(ax, found)
    return titled(
        ax,
        f"Decisions on {name}, at the close at which they entered",
        "Up: Buy, Overweight. Down: Sell, Underweight. Square: Hold, unrated.",
    )


def _is_wide(found: Sequence[series.Mark]) -> bool:
    prices = [mark.price for mark in found]
    return max(prices) > 4 * min(prices)


def _verdict_legend(ax: "Axes", found: Sequence[series.Mark]) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - an extra

    there = [verdict for verdict in VERDICTS if any(mark.verdict is verdict for mark in found)]
    handles = [
        Line2D(
            [],
            [],
            ls="",
            marker="o",
            ms=7,
            mew=1.4,
            mec=VERDICTS[verdict].edge,
            mfc=VERDICTS[verdict].face,
            label=str(verdict or "open or unrated"),
        )
        for verdict in there
    ]
    ax.legend(handles=handles, frameon=False, fontsize=9, loc="best")


def lesson_utility_by_tag(
    source: "Source | LessonUtility", *, most: int = 12, ax: "Axes | None" = None
) -> "Axes":
    """What lessons with each tag were worth to the decisions that saw them.

    Args:
        source: a memory, a replay or entries with a hold-out; or what
            :meth:`tradmem.memory.Memory.lesson_utility` said.
        most: tags that are drawn, those with the most pairs.
        ax: where to draw.

    Raises:
        UsageError: nothing can be told yet, or matplotlib is not installed.
    """
    found = (
        source
        if isinstance(source, LessonUtility)
        else lesson_utility(parts_of(source, None).entries)
    )
    tags = found.tags if [line.tag for line in found.tags] != [UNTAGGED] else ()
    told = [line for line in (found.overall, *tags) if line.utility is not None]
    if not told:
        raise UsageError(
            "what lessons were worth cannot be told yet; it takes Settings(holdout=0.1) and "
            "enough decisions"
        )
    most_seen = sorted(told[1:], key=lambda line: -(line.shown + line.withheld))[:most]
    lines = [*sorted(most_seen, key=lambda line: line.utility or 0.0), told[0]]
    ax = axes(ax)
    for place, line in enumerate(lines):
        value, low, high = line.utility or 0.0, line.low, line.high
        if low is not None and high is not None:
            ax.plot([100 * low, 100 * high], [place, place], color=INK, lw=2, zorder=2)
        is_found = line in found.found
        color = "#1d66b0" if value > 0 else "#c4520d"
        ax.plot(
            100 * value, place, "o", ms=8, mec=color, mew=1.6, mfc=color if is_found else "white"
        )
    ax.axvline(0, color=SOFT, lw=1, zorder=0)
    ax.set_yticks(
        range(len(lines)), [_tag_label(line.tag, line.shown, line.withheld) for line in lines]
    )
    ax.set_ylim(-0.7, len(lines) - 0.3)
    ax.set_xlabel("score of a decision that was shown one, less one from which it was withheld, %")
    return titled(
        ax,
        "What lessons were worth, by tag",
        f"Filled: found at a false discovery rate of {found.false_discovery:.0%}. "
        "Lines: 95% intervals.",
    )


def _tag_label(tag: str | None, shown: int, withheld: int) -> str:
    name = "all lessons" if tag is None else "no tag" if tag == UNTAGGED else tag
    name = name if len(name) <= 28 else f"{name[:27]}…"
    return f"{plain(name)}\n{shown:,} shown, {withheld:,} not"


def pending_by_age(
    source: "Memory | Replay", *, as_of: AsOf = None, ax: "Axes | None" = None
) -> "Axes":
    """How long decisions have been pending, and whether their window has traded.

    Args:
        source: a memory or a replay.
        as_of: as they stood then; now by default.
        ax: where to draw.

    Raises:
        UsageError: the source is neither, or matplotlib is not installed.
    """
    memory = source if isinstance(source, Memory) else getattr(source, "memory", None)
    if not isinstance(memory, Memory):
        raise UsageError("pending by age is drawn of a memory or a replay")
    instant = as_instant(as_of, memory.clock())
    entries = memory.entries(as_of=instant)
    dues = {entry.id: due for entry in entries if (due := memory.due(entry))}
    found = series.ages(entries, dues, instant)
    ax = axes(ax)
    places = range(len(found))
    coming, late = [age.not_due for age in found], [age.due for age in found]
    ax.bar(places, coming, color="#a9c8ea", edgecolor=INK, label="not due")
    ax.bar(places, late, bottom=coming, color="#c4520d", edgecolor=INK, hatch="//", label="due")
    for place, (one, other) in enumerate(zip(coming, late, strict=True)):
        if one + other:
            ax.annotate(
                f"{one + other:,}",
                (place, one + other),
                (0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=9,
            )
    ax.set_xticks(places, [age.name for age in found])
    ax.set_xlabel("days since the decision")
    ax.set_ylabel("decisions")
    ax.locator_params(axis="y", integer=True)
    ax.set_ylim(0, 1.2 * max(1, *(sum(age[1:]) for age in found)))
    legend(ax)
    total = counted(sum(coming) + sum(late), "decision")
    return titled(ax, "Pending decisions, by age", f"{total}, as of {instant:%Y-%m-%d %H:%M} UTC.")

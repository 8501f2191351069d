"""What all plots share: colours and shapes, axes, titles, and what a source stands for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tradmem.errors import UsageError
from tradmem.lessons.counting import counted
from tradmem.market.prices import Bars
from tradmem.market.symbols import Aliases
from tradmem.memory import Memory
from tradmem.model import Entry, Rating, Verdict
from tradmem.study.series import Scored, scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tradmem.study.replay import Replay

    Source: TypeAlias = Memory | Replay | Iterable[Entry]

EXTRA = "plots need the extra analysis: pip install 'tradmem[analysis]'"
INK, SOFT, FAINT = "#22272e", "#68717d", "#c9cfd6"


class Look(NamedTuple):
    """How marks of a kind look.

    Attributes:
        edge: the colour of the line, and of the edge of a mark.
        face: the colour inside a mark.
        line: matplotlib's style of a line.
        mark: matplotlib's shape of a mark.
    """

    edge: str
    face: str = "none"
    line: str = "-"
    mark: str = "o"


VERDICTS: dict[Verdict | None, Look] = {
    Verdict.RIGHT: Look("#1d66b0", "#1d66b0"),
    Verdict.NEUTRAL: Look("#8a929c", "#d6dade"),
    Verdict.WRONG: Look("#c4520d", "white"),
    None: Look("#8a929c"),
}
RATINGS = {
    Rating.BUY: Look("#0b3d78", line="-", mark="^"),
    Rating.OVERWEIGHT: Look("#4d8fd1", line="--", mark="^"),
    Rating.HOLD: Look("#68717d", line=":", mark="s"),
    Rating.UNDERWEIGHT: Look("#e08a4a", line="--", mark="v"),
    Rating.SELL: Look("#8c3206", line="-", mark="v"),
}


class Parts(NamedTuple):
    """What a plot is drawn from."""

    entries: Sequence[Entry]
    bars: Mapping[str, Bars]
    tickers: tuple[str, ...] = ()
    aliases: Aliases = None


def parts_of(source: "Source", bars: Mapping[str, Bars] | None) -> Parts:
    """The entries and closes that a source stands for."""
    if isinstance(source, Memory):
        return Parts(source.entries(), bars or {}, aliases=source.settings.aliases)
    found = getattr(source, "entries", None)
    if callable(found):  # a replay, which needs the whole loop to be imported
        own: Any = source
        return Parts(found(), bars or own.bars, own.tickers, own.memory.settings.aliases)
    if isinstance(source, str) or not isinstance(source, Iterable):
        raise UsageError(f"{type(source).__name__} is no memory, no replay and no list of entries")
    return Parts([entry for entry in source if not entry.recorded.is_note], bars or {})


def horizon_of(entries: Sequence[Entry]) -> int:
    """The horizon of most outcomes, in sessions."""
    found = [entry.outcome.horizon for entry in entries if entry.outcome]
    return max(sorted(set(found)), key=found.count, default=5)


def scored_of(parts: Parts, horizon: int | None) -> tuple[list[Scored], int]:
    """The outcomes at one horizon, and which it is.

    Raises:
        UsageError: there are none.
    """
    horizon = horizon or horizon_of(parts.entries)
    found = scored(parts.entries, horizon, parts.bars, parts.tickers)
    if not found:
        raise UsageError(
            f"no decision has a rating and an alpha after {counted(horizon, 'session')} yet; "
            "there is nothing to draw"
        )
    return found, horizon


def against(found: Sequence[Scored]) -> str:
    """What the alphas of outcomes are measured against, in words."""
    by_peers = {item.by_peers for item in found}
    if by_peers == {True}:
        return "against the other names"
    return "against the other names or the index" if True in by_peers else "against the index"


def axes(ax: "Axes | None") -> "Axes":
    """Where to draw.

    Raises:
        UsageError: matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(EXTRA) from error
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def dated(ax: "Axes") -> None:
    """Dates below the plot, as few as can be read."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter  # noqa: PLC0415 - an extra

    locator = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def legend(ax: "Axes") -> None:
    """A legend without a frame, where there is room."""
    ax.legend(frameon=False, fontsize=9, loc="best")


def titled(ax: "Axes", title: str, words: str) -> "Axes":
    """The title in words, and below it how the plot is to be read."""
    ax.set_title(plain(title), loc="left", fontsize=12, fontweight="bold", pad=24)
    ax.text(0, 1.03, words, transform=ax.transAxes, fontsize=9, color=SOFT, va="bottom")
    return ax


def plain(text: str) -> str:
    """A text in which matplotlib sees no formula."""
    return text.replace("$", r"\$")

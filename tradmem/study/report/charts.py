"""The charts of the report, as specifications that the page draws."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from tradmem.errors import UsageError
from tradmem.journal.tagline import UNRATED
from tradmem.lessons.rates import LEAST_BLOCKS
from tradmem.lessons.utility import UNTAGGED
from tradmem.model import Rating, Verdict
from tradmem.study import series
from tradmem.study.drawing import horizon_of
from tradmem.study.report.data import Subject

if TYPE_CHECKING:
    import altair as alt

EXTRA = "a report needs the extra analysis: pip install 'tradmem[analysis]'"
Chart = dict[str, Any]
_ROWS = 20_000  # of closes, above which a chart takes every second one, or third …
# Pixels, axes and legend included.
_HEIGHT = 320
_BROAD_HEIGHT = 400
_TAGS = 15
_DAY = 86_400_000  # milliseconds
_OPEN = "open or unrated"
# Colours that can be told apart on light and on dark paper.
_SHADES = {
    Rating.BUY: "#2f6fb5",
    Rating.OVERWEIGHT: "#7fb0df",
    Rating.HOLD: "#9aa2ac",
    Rating.UNDERWEIGHT: "#eca36c",
    Rating.SELL: "#cf5d1a",
}
_TONES = {Verdict.RIGHT: "#2f7fd0", Verdict.NEUTRAL: "#8f98a3", Verdict.WRONG: "#e0701f"}


def charts_of(subject: Subject) -> list[Chart]:
    """The charts that there is something to draw for, each with its title and what it shows.

    Raises:
        UsageError: altair is not installed.
    """
    try:
        import altair as alt  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise UsageError(EXTRA) from error
    return [chart for draw in _CHARTS if (chart := draw(subject))]


def _by_rating(subject: Subject) -> Chart | None:
    import altair as alt  # noqa: PLC0415 - an extra

    horizon = horizon_of(subject.decisions)
    found = series.alpha_by_rating(series.scored(subject.decisions, horizon))
    if all(item.mean.value is None for item in found):
        return None
    rows = [
        {
            "rating": str(item.rating),
            "label": f"n {len(item.values):,}",
            "decisions": len(item.values),
            "worth": None if item.n_eff is None else round(item.n_eff),
            "mean": item.mean.value,
            "low": item.mean.low,
            "high": item.mean.high,
        }
        for item in found
    ]
    base = _chart_of(rows).encode(
        x=alt.X("rating:N", sort=[str(rating) for rating in Rating], title=None).axis(labelAngle=0),
        tooltip=_tips("rating", "decisions", "worth", mean="+.2%", low="+.2%", high="+.2%"),
    )
    y = alt.Y("mean:Q", title="mean alpha").axis(format="+.1%")
    ends = base.mark_rule(strokeWidth=3, color="#8f98a3").encode(
        y=alt.Y("low:Q", title="mean alpha"), y2="high:Q"
    )
    points = base.mark_point(filled=True, size=110, opacity=1).encode(y=y, color=_rating_color())
    counts = base.mark_text(baseline="top").encode(
        y=alt.value(alt.expr("height - 12")), text="label:N"
    )
    lacking = (
        ""
        if all(item.mean.value is not None for item in found)
        else f" No mean is drawn from under {LEAST_BLOCKS} blocks of time."
    )
    return _chart(
        f"Alpha after each rating, {horizon} sessions held",
        f"Means with 95% intervals, against the index.{lacking}",
        alt.layer(_zero(), ends, points, counts),
    )


def _totals(subject: Subject) -> Chart | None:
    import altair as alt  # noqa: PLC0415 - an extra

    horizon = horizon_of(subject.decisions)
    found = series.totals(series.scored(subject.decisions, horizon))
    if len(found) < 2:
        return None
    names = {
        "decisions": "the decisions",
        "always_buy": "always Buy",
        "chance": "the same exposure by chance",
    }
    rows = [
        {
            "date": str(total.date),
            "day": str(total.date),
            "rule": name,
            "sum": getattr(total, key),
        }
        for total in found
        for key, name in names.items()
    ]
    picked = alt.selection_point(fields=["rule"], bind="legend")
    chart = (
        _chart_of(rows)
        .mark_line(strokeWidth=2)
        .encode(
            x=_dates(),
            y=alt.Y("sum:Q", title="sum of scores").axis(format="+.0%"),
            color=alt.Color("rule:N", title=None).scale(
                domain=list(names.values()), range=["#2f7fd0", "#8f98a3", "#8f98a3"]
            ),
            strokeDash=alt.StrokeDash("rule:N", title=None).scale(
                domain=list(names.values()), range=[[1, 0], [6, 4], [2, 3]]
            ),
            opacity=alt.when(picked).then(alt.value(1)).otherwise(alt.value(0.15)),
            tooltip=_tips("day", "rule", sum="+.1%"),
        )
        .add_params(picked)
    )
    return _chart(
        "Scores added up, by date of entry",
        "Exposure times alpha, against the index; 100% is one whole position. "
        "Always Hold is the line at 0.",
        alt.layer(_zero(), chart),
    )


def _on_price(subject: Subject) -> Chart | None:
    import altair as alt  # noqa: PLC0415 - an extra

    tickers = sorted({entry.ticker for entry in subject.decisions})
    found = {
        ticker: series.marks(subject.decisions, ticker, subject.bars.get(ticker))
        for ticker in tickers
    }
    tickers = [ticker for ticker in tickers if found[ticker]]
    if not tickers:
        return None
    rows = [
        {
            "id": mark.id,
            "ticker": ticker,
            "date": str(mark.date),
            "day": str(mark.date),
            "price": round(mark.price, 4),
            "rating": str(mark.rating or UNRATED),
            "side": _side(mark.rating),
            "verdict": str(mark.verdict or _OPEN),
            "alpha": mark.alpha,
        }
        for ticker in tickers
        for mark in found[ticker]
    ]
    most = max(tickers, key=lambda ticker: len(found[ticker]))
    choice = alt.param(
        name="ticker", value=most, bind=alt.binding_select(options=tickers, name="Ticker ")
    )
    zoom = alt.selection_interval(bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]")
    kinds = [*map(str, _TONES), _OPEN]
    y = alt.Y("price:Q", title="adjusted close").scale(zero=False)
    points = (
        _chart_of(rows)
        .mark_point(filled=True, size=80, opacity=0.95)
        .encode(
            x=_dates(),
            y=y,
            color=alt.Color("verdict:N", title=None).scale(
                domain=kinds, range=[*_TONES.values(), "#b9c0c8"]
            ),
            shape=alt.Shape("side:N", legend=None).scale(
                domain=["up", "flat", "down"], range=["triangle-up", "square", "triangle-down"]
            ),
            tooltip=_tips("day", "rating", "verdict", price=".6~g", alpha="+.2%"),
        )
        .transform_filter("datum.ticker === ticker")
        .add_params(zoom)
    )
    layers = [points]
    thinned = 1
    if subject.bars:
        line, thinned = _closes(subject, {ticker: found[ticker][0].date for ticker in tickers})
        layers = [
            _chart_of(line)
            .mark_line(strokeWidth=1, color="#8f98a3")
            .encode(x=_dates(), y=y)
            .transform_filter("datum.ticker === ticker"),
            points,
        ]
    every = "" if thinned == 1 else f" Of the closes, one in {thinned} is drawn."
    return _chart(
        "Decisions, at the close at which they entered",
        f"Up: Buy, Overweight. Down: Sell, Underweight. Square: Hold, unrated.{every} "
        "A click opens the decision, dragging moves, and the wheel with Shift zooms.",
        alt.layer(*layers).add_params(choice),
        broad=True,
    )


def _side(rating: Rating | None) -> str:
    return {1: "up", 0: "flat", -1: "down"}[rating.direction if rating else 0]


def _closes(subject: Subject, firsts: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """Closes to draw decisions on, and one in how many they are."""
    rows = [
        {"ticker": ticker, "date": str(day), "price": round(close, 4)}
        for ticker, first in firsts.items()
        if ticker in subject.bars
        for day, close in zip(subject.bars[ticker].dates, subject.bars[ticker].closes, strict=True)
        if day >= first
    ]
    step = max(1, ceil(len(rows) / _ROWS))
    return rows[::step], step


def _by_session(subject: Subject) -> Chart | None:
    import altair as alt  # noqa: PLC0415 - an extra

    horizon = horizon_of(subject.decisions)
    paths = series.alpha_paths(
        subject.decisions, subject.bars, sessions=2 * horizon, aliases=subject.aliases
    )
    rows = [
        {
            "rating": str(path.rating),
            "session": number,
            "decisions": mean.n,
            "mean": mean.value,
            "low": mean.low,
            "high": mean.high,
        }
        for path in paths
        for number, mean in enumerate(path.means)
        if mean.value is not None
    ]
    if not rows:
        return None
    picked = alt.selection_point(fields=["rating"], bind="legend")
    base = _chart_of(rows).encode(
        x=alt.X("session:Q", title="sessions since entry").axis(tickMinStep=1),
        color=_rating_color(rows),
    )
    y = alt.Y("mean:Q", title="mean alpha").axis(format="+.1%")
    bands = base.mark_area(line=False).encode(
        y=alt.Y("low:Q", title="mean alpha"),
        y2="high:Q",
        opacity=alt.when(picked).then(alt.value(0.16)).otherwise(alt.value(0)),
    )
    lines = base.mark_line(point=True).encode(
        y=y,
        opacity=alt.when(picked).then(alt.value(1)).otherwise(alt.value(0.1)),
        tooltip=_tips("rating", "session", "decisions", mean="+.2%", low="+.2%", high="+.2%"),
    )
    return _chart(
        "Alpha by session since entry",
        f"Means with 95% intervals, against the index; judged after {horizon} sessions.",
        alt.layer(_zero(), bands, lines.add_params(picked)),
    )


def _utility(subject: Subject) -> Chart | None:
    import altair as alt  # noqa: PLC0415 - an extra

    tags = [line for line in subject.utility.tags if line.utility is not None]
    told = tags if [line.tag for line in tags] != [UNTAGGED] else []
    if subject.utility.overall.utility is None:
        return None
    told = sorted(told, key=lambda line: -(line.shown + line.withheld))[:_TAGS]
    rows = [
        {
            "tag": "all lessons"
            if line.tag is None
            else "no tag"
            if line.tag == UNTAGGED
            else line.tag[:40],
            "shown": line.shown,
            "withheld": line.withheld,
            "utility": line.utility,
            "low": line.low,
            "high": line.high,
            "p": line.p,
            "says": str(line.finding),
        }
        for line in (subject.utility.overall, *told)
    ]
    base = _chart_of(rows).encode(
        y=alt.Y("tag:N", sort=None, title=None).axis(labelLimit=160),
        tooltip=_tips(
            *("tag", "shown", "withheld", "says"), utility="+.2%", low="+.2%", high="+.2%", p=".3f"
        ),
    )
    ends = base.mark_rule(strokeWidth=3, color="#8f98a3").encode(
        x=alt.X("low:Q", title="score with a lesson, less without"), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("utility:Q", title="score with a lesson, less without").axis(format="+.1%"),
        color=alt.Color("says:N", title=None),
    )
    return _chart(
        "What lessons were worth, by tag",
        f"Found at a false discovery rate of {subject.utility.false_discovery:.0%}; "
        "lines are 95% intervals.",
        alt.layer(ends, points),
    )


def _pending(subject: Subject) -> Chart | None:
    import altair as alt  # noqa: PLC0415 - an extra

    found = series.ages(subject.decisions, subject.dues, subject.as_of)
    rows = [
        {"age": age.name, "state": state, "decisions": number}
        for age in found
        for state, number in (("not due", age.not_due), ("due", age.due))
    ]
    if not any(row["decisions"] for row in rows):
        return None
    chart = (
        _chart_of(rows)
        .mark_bar()
        .encode(
            x=alt.X(
                "age:N", sort=[age.name for age in found], title="days since the decision"
            ).axis(labelAngle=0),
            y=alt.Y("decisions:Q").axis(tickMinStep=1, format="d"),
            color=alt.Color("state:N", title=None).scale(
                domain=["not due", "due"], range=["#7fb0df", "#cf5d1a"]
            ),
            tooltip=_tips("age", "state", "decisions"),
        )
    )
    return _chart("Pending decisions, by age", "Due: their window has traded.", chart)


def _ratings(subject: Subject) -> Chart | None:
    import altair as alt  # noqa: PLC0415 - an extra

    counts = Counter(
        (f"{entry.date:%Y-%m}", str(entry.rating or UNRATED)) for entry in subject.decisions
    )
    if len({month for month, _ in counts}) < 2:
        return None
    rows = [
        {"month": month, "date": f"{month}-01", "rating": rating, "decisions": number}
        for (month, rating), number in sorted(counts.items())
    ]
    chart = (
        _chart_of(rows)
        .mark_bar()
        .encode(
            x=alt.X("date:T", title=None, timeUnit="utcyearmonth").scale(type="utc"),
            y=alt.Y("decisions:Q", stack="normalize", title="share").axis(format="%"),
            color=_rating_color(rows),
            tooltip=_tips("month", "rating", "decisions"),
        )
    )
    return _chart("Ratings, by month", "The share of each rating among a month's decisions.", chart)


def _rating_color(rows: Sequence[Chart] = ()) -> Any:
    """The colours of ratings, with a legend of those that rows have."""
    import altair as alt  # noqa: PLC0415 - an extra

    shades = {str(rating): shade for rating, shade in _SHADES.items()} | {UNRATED: "#d0d5db"}
    there = {row["rating"] for row in rows} or set(shades)
    names = [name for name in shades if name in there]
    color = alt.Color("rating:N", title=None, sort=names).scale(
        domain=names, range=[shades[name] for name in names]
    )
    return color if rows else color.legend(None)


def _dates() -> Any:
    import altair as alt  # noqa: PLC0415 - an extra

    return (
        alt.X("date:T", title=None)
        .scale(type="utc", padding=12)
        .axis(labelOverlap=True, tickCount=8, tickMinStep=_DAY)
    )


def _chart_of(rows: Sequence[Chart]) -> "alt.Chart":
    import altair as alt  # noqa: PLC0415 - an extra

    packed = json.dumps(rows)  # rows as they are would be validated one by one
    return alt.Chart(alt.Data(values=packed))  # type: ignore[no-untyped-call]


def _unpack(spec: Any) -> None:
    """Put the rows of a chart back in place of their packed form."""
    for part in spec.values() if isinstance(spec, dict) else spec:
        if isinstance(part, dict) and isinstance(part.get("values"), str):
            part["values"] = json.loads(part["values"])
        elif isinstance(part, dict | list):
            _unpack(part)


def _zero() -> Any:
    return _chart_of([{"y": 0}]).mark_rule(color="#8f98a3").encode(y="y:Q")


def _tips(*names: str, **formats: str) -> "Sequence[alt.Tooltip]":
    import altair as alt  # noqa: PLC0415 - an extra

    plain = [alt.Tooltip(f"{name}:N", title=name) for name in names]
    return [*plain, *(alt.Tooltip(f"{n}:Q", title=n, format=f) for n, f in formats.items())]


def _chart(title: str, note: str, chart: Any, *, broad: bool = False) -> Chart:
    """A chart for the page: as wide as its place, and as high as the page keeps room for it."""
    made = chart.properties(
        width="container",
        height=_BROAD_HEIGHT if broad else _HEIGHT,
        background="transparent",
        autosize={"type": "fit", "contains": "padding"},
    ).configure_view(stroke=None)
    legends = {"orient": "bottom", "columns": 3 if not broad else 7, "labelLimit": 200}
    spec: dict[str, Any] = made.configure_legend(**legends).to_dict()
    spec.pop("$schema", None)
    _unpack(spec)
    return {"title": title, "note": note, "broad": broad, "spec": spec}


_CHARTS: tuple[Callable[[Subject], Chart | None], ...] = (
    *(_on_price, _by_rating, _totals, _by_session, _utility, _ratings, _pending),
)

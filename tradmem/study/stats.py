"""Statistics of a replay or a log, each with how sure it is.

All intervals are those of :mod:`tradmem.lessons.rates`: 95 %, from blocks of time, since windows
overlap and names move together. Means are none below ten blocks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tradmem.errors import UsageError
from tradmem.journal.verdicts import block_of
from tradmem.lessons.attrition import Attrition
from tradmem.lessons.chance import Skill
from tradmem.lessons.rates import Mean, Rate, mean_of
from tradmem.lessons.track import Group, TrackRecord, track
from tradmem.market.prices import Bars
from tradmem.model import NOTHING, Entry, Rating, Verdict
from tradmem.study.crowd import Breadth, Ranks, breadth_of, ranks_of
from tradmem.study.frame import decisions_frame
from tradmem.study.habits import Habits, habits_of
from tradmem.study.rivals import Rival, rivals_of
from tradmem.study.schedule import MARK, DecideAt

if TYPE_CHECKING:
    import pandas as pd

    from tradmem.study.replay import Replay

BY = ("rating", "ticker", "agent", "month", "horizon", "verdict", "cutoff")
OPTIMISTIC = "every decision entered at a close that it had seen: all figures are optimistic"
PRICE_INDEX = (
    "index alpha is measured against a price index, so its mean is too high by about the "
    "index's dividend yield"
)
AT_A_CLOSE = "entry at a close is a convention: the price that one gets is another"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Some decisions with an outcome at one horizon.

    Means are fractions.

    Attributes:
        by: what they have in common, one of ``BY``; empty for all.
        name: the rating, ticker, month … that they share.
        n: how many.
        alpha: the mean return less that of the other names, or of the index with few names.
        median: the median of the same; None of nothing.
        score: the mean of exposure times alpha.
        ahead: the mean of what the score is above always-Buy's, decision by decision.
        index_alpha: the mean return less the index's.
        raw_return: the mean return.
        right: verdicts; likewise ``wrong`` and ``neutral``.
    """

    by: str
    name: str
    n: int
    alpha: Mean
    median: float | None
    score: Mean
    ahead: Mean
    index_alpha: Mean
    raw_return: Mean
    right: int
    wrong: int
    neutral: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """All that may be said of some decisions at one horizon.

    Attributes:
        horizon: in sessions.
        overall: all of them.
        rows: the same by rating, ticker, agent, month, horizon, verdict and cutoff.
        hit: right / (right + wrong) over Buy to Sell, by the index's verdicts.
        hold: the rate of right among Holds.
        chance: what the same ratings dealt out at random would have hit.
        always_buy: the hit rate, had every rating been a Buy.
        hit_skill: what may be said of the hit rate; None where nothing may.
        attrition: what became of all decisions.
        rivals: what simpler rules score on the same dates, and the decisions' lead on each.
        ranks: whether higher ratings of a date did better.
        habits: which ratings, how they drift, how often they change.
        breadth: decisions a date, and how the names move together.
        track: the track record, of all horizons, by ticker, rating and agent.
        remarks: what has to be said beside the figures, one line each.
        is_optimistic: whether all figures flatter.
    """

    horizon: int
    overall: Row
    rows: tuple[Row, ...]
    hit: Rate
    hold: Rate
    chance: float | None
    always_buy: Rate
    hit_skill: Skill | None
    attrition: Attrition
    rivals: tuple[Rival, ...]
    ranks: Ranks
    habits: Habits
    breadth: Breadth
    track: TrackRecord
    remarks: tuple[str, ...]
    is_optimistic: bool

    def by(self, group: str) -> tuple[Row, ...]:
        """The rows of one grouping, such as ``rating``."""
        return tuple(row for row in self.rows if row.by == group)

    def rival(self, name: str) -> Rival | None:
        """One of the simpler rules, such as ``always Buy``."""
        return next((rival for rival in self.rivals if rival.name == name), None)


def statistics(
    source: "Replay | Iterable[Entry]",
    bars: Mapping[str, Bars] | None = None,
    *,
    horizon: int | None = None,
) -> Statistics:
    """The statistics of a replay, or of entries of a log.

    Args:
        source: a replay; or entries, as ``Memory.entries`` gives them.
        bars: closes by symbol, where the source is no replay; without them the index alone
            is the benchmark and there is no momentum beside the decisions.
        horizon: in sessions; that of most decisions by default.

    Raises:
        UsageError: nothing was decided, or nothing for that horizon.
    """
    parts = _parts(source, bars)
    entries, optimistic = parts.entries, parts.is_optimistic
    frame = decisions_frame(entries, parts.bars, tickers=parts.tickers, is_optimistic=optimistic)
    if frame.empty:
        raise UsageError("there are no decisions to compute statistics of")
    record = track(entries, pending=parts.pending)
    horizon = record.horizons[0] if horizon is None else horizon
    line = record.line(horizon, Group.OVERALL)
    if line is None:
        known = ", ".join(map(str, record.horizons))
        raise UsageError(f"there are no decisions for {horizon} sessions; there are for {known}")
    blocks = Blocks(frame[frame["horizon"] == horizon])
    return Statistics(
        horizon=horizon,
        overall=blocks.row("", "", blocks.frame),
        rows=(*_rows(blocks), *_horizons(frame)),
        hit=line.track.hit,
        hold=line.hold,
        chance=line.track.chance,
        always_buy=line.always_buy,
        hit_skill=line.skill,
        attrition=line.attrition,
        rivals=rivals_of(blocks.scored, blocks.of),
        ranks=ranks_of(blocks.scored, blocks.of),
        habits=habits_of(frame[frame["is_own"].astype(bool)]),
        breadth=breadth_of(blocks.scored),
        track=record,
        remarks=tuple(_remarks(frame, optimistic, parts.remarks)),
        is_optimistic=optimistic,
    )


class _Parts(NamedTuple):
    """What statistics are computed from."""

    entries: list[Entry]
    bars: Mapping[str, Bars]
    tickers: tuple[str, ...] = ()
    pending: Mapping[str, str] = NOTHING
    remarks: tuple[str, ...] = ()
    is_optimistic: bool = False


def _parts(source: "Replay | Iterable[Entry]", bars: Mapping[str, Bars] | None) -> _Parts:
    from tradmem.study.replay import Replay  # noqa: PLC0415 - a replay needs the whole loop

    if isinstance(source, Replay):
        entries, memory = source.entries(), source.memory
        now = memory.clock()
        dues = ((entry.id, memory.due(entry)) for entry in entries)
        pending = {name: "not_due" for name, due in dues if due and due > now}
        return _Parts(
            entries,
            bars or source.bars,
            source.tickers,
            pending,
            source.remarks,
            source.is_optimistic,
        )
    entries = [entry for entry in source if not entry.recorded.is_note]
    marks = {entry.recorded.extra.get(MARK) for entry in entries}
    return _Parts(entries, bars or {}, is_optimistic=marks == {DecideAt.SAME_CLOSE})


class Blocks:
    """Outcomes at one horizon, and the block of time of each.

    Args:
        frame: rows of one horizon, see :func:`tradmem.study.frame.decisions_frame`.
    """

    def __init__(self, frame: "pd.DataFrame") -> None:
        settled = frame[frame["raw_return"].notna()]
        spans = (settled["exit_date"] - settled["entry_date"]).dt.days
        self.longest = int(spans.max()) if len(settled) else 0
        ordinals = settled["entry_date"].map(lambda day: day.toordinal())
        self.frame = settled.assign(block=[block_of(int(n), self.longest) for n in ordinals])

    @property
    def scored(self) -> "pd.DataFrame":
        """Those with a rating and an alpha."""
        return self.frame[self.frame["score"].notna()]

    @staticmethod
    def of(frame: "pd.DataFrame", values: "pd.Series[float]") -> Mean:
        """The mean of values that stand beside rows of the frame."""
        there = values.notna()
        by_block = values[there].astype(float).groupby(frame["block"][there])
        return mean_of(found.tolist() for _, found in by_block)

    def row(self, by: str, name: str, frame: "pd.DataFrame") -> Row:
        """What is said of some rows."""
        alpha = frame["alpha"].astype(float)
        score = frame["score"].astype(float)
        verdicts = frame["verdict"].tolist()
        return Row(
            by=by,
            name=name,
            n=len(frame),
            alpha=self.of(frame, alpha),
            median=float(alpha.median()) if alpha.notna().any() else None,
            score=self.of(frame, score),
            ahead=self.of(frame, score - alpha),
            index_alpha=self.of(frame, frame["index_alpha"].astype(float)),
            raw_return=self.of(frame, frame["raw_return"].astype(float)),
            right=verdicts.count(Verdict.RIGHT),
            wrong=verdicts.count(Verdict.WRONG),
            neutral=verdicts.count(Verdict.NEUTRAL),
        )


def _rows(blocks: Blocks) -> Iterator[Row]:
    """The tables of one horizon."""
    frame = blocks.frame
    keys = {
        "rating": frame["rating"].map(_word("Unrated")),
        "ticker": frame["ticker"],
        "agent": frame["agent"],
        "month": frame["month"],
        "verdict": frame["verdict"].map(_word("")),
        "cutoff": _cutoffs(frame),
    }
    order = [*map(str, Rating), "Unrated"]
    for by, key in keys.items():
        names = sorted({name for name in key if name})
        for name in sorted(names, key=order.index) if by == "rating" else names:
            yield blocks.row(by, name, frame[key == name])


def _word(nothing: str) -> Callable[[object], str]:
    """A value as a word; pandas makes NaN of None."""
    return lambda value: str(value) if isinstance(value, str) else nothing


def _cutoffs(frame: "pd.DataFrame") -> "pd.Series[str]":
    """Whether a model may have known what it decided on; empty where no model decided."""
    import pandas as pd  # noqa: PLC0415 - heavy

    words = [
        _SIDES.get(late, "no stated cutoff") if isinstance(model, str) else ""
        for model, late in zip(frame["model"].tolist(), frame["is_hindsight"].tolist(), strict=True)
    ]
    return pd.Series(words, index=frame.index, dtype=object)


_SIDES = {False: "after the cutoff", True: "before the cutoff"}


def _horizons(frame: "pd.DataFrame") -> Iterator[Row]:
    """One row for each horizon."""
    settled = frame[frame["raw_return"].notna()]
    for horizon in sorted({int(found) for found in settled["horizon"]}):
        blocks = Blocks(frame[frame["horizon"] == horizon])
        yield blocks.row("horizon", str(horizon), blocks.frame)


def _remarks(frame: "pd.DataFrame", optimistic: bool, given: Sequence[str]) -> Iterator[str]:
    if optimistic:
        yield OPTIMISTIC
    yield AT_A_CLOSE
    peers = frame["peers_return"].notna().sum()
    settled = frame["raw_return"].notna().sum()
    if peers:
        yield (
            "alpha is measured against the equal weight of the other names, bought and held: over "
            "all names of a date it sums to nothing, and always-Buy scores 0"
        )
    if peers < settled:
        yield f"{settled - peers} outcomes have fewer than five names beside them: index alone"
    if frame["index_alpha"].notna().any():
        yield PRICE_INDEX
    yield from given

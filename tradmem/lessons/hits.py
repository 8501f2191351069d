"""How often calls were right at one horizon, and the one line of it that recall shows."""

from dataclasses import dataclass, field
from datetime import datetime

from tradmem.journal.base import Journal
from tradmem.journal.verdicts import Counts
from tradmem.lessons.chance import by_chance
from tradmem.lessons.rates import Rate, rate_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """Verdicts at one horizon: on decisions that took a side, and on Hold apart.

    Attributes:
        horizon: in sessions; 0 while there is none.
        right, wrong, neutral: Buy, Overweight, Underweight and Sell.
        hold_right, hold_wrong: Hold.
        unrated: settled without a rating, so without a verdict.
        raw: verdicts by the raw return, for want of an alpha.
        hit: the rate of right among right and wrong, with its interval.
        chance: the same rate if the same ratings were dealt out at random among these outcomes.
        hold_chance: that of Hold.
        always_buy: the same rate, had every rating been a Buy.
    """

    horizon: int = 0
    right: int = 0
    wrong: int = 0
    neutral: int = 0
    hold_right: int = 0
    hold_wrong: int = 0
    unrated: int = 0
    raw: int = 0
    hit: Rate = field(default_factory=Rate)
    chance: float | None = None
    hold_chance: float | None = None
    always_buy: float | None = None

    @property
    def judged(self) -> int:
        """Decisions that took a side and have a verdict."""
        return self.right + self.wrong + self.neutral

    @property
    def hit_rate(self) -> float | None:
        """Right / (right + wrong), as a fraction; None before there is either."""
        sided = self.right + self.wrong
        return self.right / sided if sided else None

    @property
    def neutral_share(self) -> float | None:
        """Neutral / judged, as a fraction."""
        return self.neutral / self.judged if self.judged else None

    def line(self, subject: str) -> str:
        """One line for a prompt; empty while nothing was judged."""
        told = self._told()
        return f"Track record on {subject}: {told}" if told else ""

    def _told(self) -> str:
        parts = []
        if self.judged:
            sided = f"{self.right} right, {self.wrong} wrong, {self.neutral} neutral"
            parts.append(f"{self.judged} {_calls(self.judged)} with a side: {sided}")
        holds = self.hold_right + self.hold_wrong
        if holds:
            parts.append(f"{holds} Hold: {self.hold_right} right, {self.hold_wrong} wrong")
        told = f"{'; '.join(parts)}." if parts else ""
        return f"{told} {self._rate()}" if self.hit.has_blocks else told

    def _rate(self) -> str:
        hit = self.hit
        beside = [f"worth {hit.n_eff:.0f} independent calls"]
        if self.chance is not None and self.always_buy is not None:
            beside.append(f"{self.chance:.0%} by chance")
            beside.append(f"{self.always_buy:.0%} had all been a Buy")
        if self.raw:
            beside.append(f"{self.raw} by the raw return")
        return (
            f"Hit rate {hit.value:.0%}, 95% interval {hit.low:.0%} to {hit.high:.0%} "
            f"({', '.join(beside)})."
        )


def _calls(number: int) -> str:
    return "call" if number == 1 else "calls"


def track_from(counts: Counts, pool: Counts | None = None) -> Track:
    """The track record that counts tell.

    Args:
        counts: at one horizon.
        pool: the outcomes among which chance deals out the ratings, where those are more.
    """
    chance = by_chance(counts, pool or counts)
    return Track(
        horizon=counts.horizon,
        right=counts.right,
        wrong=counts.wrong,
        neutral=counts.neutral,
        hold_right=counts.hold_right,
        hold_wrong=counts.hold_wrong,
        unrated=counts.unrated,
        raw=counts.raw,
        hit=rate_of(counts.sums),
        chance=chance.hit,
        hold_chance=chance.hold,
        always_buy=chance.always_buy,
    )


def tracks_of(journal: Journal, ticker: str, as_of: datetime) -> tuple[Track, ...]:
    """The track record on a ticker as it stood at an instant, one for each horizon.

    Only horizons that decisions were made for; the one of most decisions first.

    Args:
        journal: where the entries are.
        ticker: in upper case.
        as_of: aware UTC.
    """
    found = [counts for counts in journal.counts(ticker, as_of) if counts.primaries]
    found.sort(key=lambda counts: -counts.primaries)
    return tuple(map(track_from, found))


def track_of(journal: Journal, ticker: str, as_of: datetime) -> Track:
    """The track record on a ticker at the horizon of most of its decisions."""
    return next(iter(tracks_of(journal, ticker, as_of)), Track())


def line_of(journal: Journal, ticker: str, as_of: datetime) -> str:
    """What a prompt is told of the track record on a ticker; empty while nothing was judged."""
    tracks = tracks_of(journal, ticker, as_of)
    if len(tracks) == 1:
        return tracks[0].line(ticker)
    lines = [track.line(f"{ticker} after {track.horizon} sessions") for track in tracks]
    return " ".join(filter(None, lines))

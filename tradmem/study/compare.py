"""Does the memory help? The same agent on the same dates, with more and with less of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from tradmem.errors import UsageError
from tradmem.market.prices import PriceSource
from tradmem.settings import Settings
from tradmem.study.bootstrap import LEVEL, Interval, bootstrap, in_percent
from tradmem.study.digest import digest_of
from tradmem.study.frame import decisions_frame
from tradmem.study.moment import Decide, Sight
from tradmem.study.replay import Replay, choice, replay
from tradmem.study.stats import Statistics, statistics
from tradmem.study.trials import Study, Trial

if TYPE_CHECKING:
    import pandas as pd

NO_DIFFERENCE = "no difference can be shown"
_KEY = ("date", "ticker")
_NOT_GIVEN = frozenset({"memory", "seed", "settings", "sight"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to decide.

    Attributes:
        sight: how much of the memory is seen.
        decide: who decides; by default the one that all variants share.
        settings: of the memory; by default those that all share.
        given: further arguments of :func:`tradmem.study.replay.replay`, such as ``reflector``;
            no memory and no seed, which are each repeat's own.
    """

    sight: Sight = Sight.FULL
    decide: Decide | None = None
    settings: Settings | None = None
    given: Mapping[str, Any] | None = None


ABLATION: Mapping[str, Variant] = {
    "with": Variant(),
    "without": Variant(sight=Sight.NONE),
    "without, again": Variant(sight=Sight.NONE),
    "track record only": Variant(sight=Sight.TRACK),
    "shuffled": Variant(sight=Sight.SHUFFLED),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """How much more one variant scores than another, decision by decision.

    Attributes:
        first: the one.
        second: the other.
        difference: of the scores, a fraction, with its interval.
        apart: the share of the decisions on which the two rate differently.
        unpaired: decisions that only one of them has.
        words: what may be said.
    """

    first: str
    second: str
    difference: Interval
    apart: float
    unpaired: int
    words: str

    @property
    def is_shown(self) -> bool:
        """Whether a difference can be shown."""
        return self.words != NO_DIFFERENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a comparison found, and how much was tried for it.

    Attributes:
        statistics: of each variant, by name; of its first repeat.
        pairs: the paired differences.
        noise: the pair of two variants that are the same but for chance; None if there is none.
        repeats: how often each variant was replayed, with seeds of its own.
        level: of the intervals, raised for every comparison that was ever made in the study.
        study: everything that was tried, this included.
        remarks: what has to be said beside the figures, one line each.
    """

    statistics: Mapping[str, Statistics]
    pairs: tuple[Pair, ...]
    noise: Pair | None
    repeats: int
    level: float
    study: Study
    remarks: tuple[str, ...]

    def pair(self, first: str, second: str) -> Pair:
        """One of the pairs.

        Raises:
            UsageError: these were not compared.
        """
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair
        known = "; ".join(f"{pair.first} - {pair.second}" for pair in self.pairs)
        raise UsageError(f"{first!r} and {second!r} were not compared; there are {known}")


def compare(  # noqa: PLR0917 - those of a replay, behind the variants
    variants: Mapping[str, "Variant | Sight | str | Decide"],
    decide: Decide | Any,
    tickers: Iterable[str],
    prices: PriceSource,
    start: date | str,
    end: date | str,
    every: str | int = "week",
    *,
    repeats: int = 1,
    seed: int = 0,
    study: Study | None = None,
    **given: Any,
) -> Comparison:
    """Replay variants on the same dates with the same seeds, and compare them in pairs.

    The reference is the first variant that sees nothing of the memory, if there is one. Each
    other variant is compared with it, and the first one with each other.

    Args:
        variants: by name, such as :data:`ABLATION`: a :class:`Variant`; a sight (``full``,
            ``none``, ``track``, ``shuffled``); or who decides.
        decide: who decides where a variant names nobody.
        tickers: see :func:`tradmem.study.replay.replay`, and for the next four.
        prices: where closes come from.
        start: the first date.
        end: the last one.
        every: how often.
        repeats: how often each variant is replayed, where the same question may be answered
            otherwise, as by a model; scores are averaged over them.
        seed: of the first repeat; the next ones count on.
        study: what was tried before under the same question.
        given: further arguments of every replay, such as ``settings`` and ``decide_at``.

    Raises:
        UsageError: fewer than two variants, or an argument cannot be.
    """
    if not isinstance(variants, Mapping) or len(variants) < 2:
        raise UsageError("a comparison takes two variants or more, by name")
    named = {name: _variant(value) for name, value in variants.items()}
    if not isinstance(repeats, int) or repeats < 1:
        raise UsageError(f"repeats is {repeats!r}; it is a whole number, 1 or more")
    if "memory" in given or "sight" in given:
        raise UsageError("each variant has a memory and a sight of its own; leave them out here")
    for name, variant in named.items():
        if said := sorted(_NOT_GIVEN.intersection(variant.given or ())):
            raise UsageError(
                f"{said[0]} cannot be in what the variant {name!r} is given; each repeat has a "
                "memory and a seed of its own, and sight and settings are fields of a Variant"
            )
    tickers = [tickers] if isinstance(tickers, str) else list(tickers)
    study = study or Study()
    how = {"tickers": tickers, "start": str(start), "end": str(end), "every": every, **given}
    how |= {"decide": decide, "repeats": repeats, "seed": seed}
    # Before anybody decides: what decides may keep count of what it has seen.
    digests = {name: _digest(variant, how) for name, variant in named.items()}
    runs = {}
    for name, variant in named.items():
        arguments = given | {"sight": variant.sight} | dict(variant.given or {})
        settings = variant.settings or given.get("settings") or Settings()
        arguments["settings"] = replace(settings, holdout=0.0)
        asked = variant.decide or decide
        replays = (
            replay(asked, tickers, prices, start, end, every, seed=seed + number, **arguments)
            for number in range(repeats)
        )
        runs[name] = _Run.of(replays)
    return _compared(named, runs, study, digests, repeats)


@dataclass(frozen=True, slots=True)
class _Run:
    """What is kept of a variant: its scores, and the statistics of the first repeat."""

    scores: "pd.DataFrame"
    statistics: Statistics
    span: int

    @classmethod
    def of(cls, replays: Iterable[Replay]) -> "_Run":
        import pandas as pd  # noqa: PLC0415 - heavy

        frames, first = [], None
        for number, done in enumerate(replays):
            first = first or statistics(done)
            frame = decisions_frame(
                done.entries(), done.bars, tickers=done.tickers, is_optimistic=done.is_optimistic
            )
            frame = frame[frame["is_own"].astype(bool) & frame["score"].notna()]
            frames.append(frame.assign(repeat=number))
        table = pd.concat(frames)
        spans = (table["exit_date"] - table["entry_date"]).dt.days
        keyed = table.set_index([*_KEY, "repeat"])[["score", "exposure"]].astype(float)
        assert first
        return cls(keyed, first, int(spans.max()) if len(table) else 1)


def _variant(value: Any) -> Variant:
    if isinstance(value, Variant):
        return value
    if isinstance(value, str):
        return Variant(sight=choice(Sight, value, "sight"))
    return Variant(decide=value)


def _compared(
    named: Mapping[str, Variant],
    runs: Mapping[str, _Run],
    study: Study,
    digests: Mapping[str, str],
    repeats: int,
) -> Comparison:
    """The pairs, at a level that counts everything that was ever compared."""
    wanted = list(_pairs(named))
    noise = next(((a, b) for a, b in wanted if named[a] == named[b]), None)
    asked = [(a, b) for a, b in wanted if (a, b) != noise]
    for name, run in runs.items():
        scores = run.scores["score"]
        trial = Trial(
            variant=name,
            digest=digests[name],
            at=study.clock(),
            n=len(scores),
            score=float(scores.mean()) if len(scores) else None,
            compared=tuple(digests[other] for first, other in asked if first == name),
        )
        study.add(trial)
    level = 1 - (1 - LEVEL) / max(study.comparisons, 1)
    floor = noise and _pair(*noise, runs, LEVEL, None)
    pairs = tuple(_pair(*pair, runs, level, floor) for pair in asked)
    return Comparison(
        statistics={name: run.statistics for name, run in runs.items()},
        pairs=pairs,
        noise=floor,
        repeats=repeats,
        level=level,
        study=study,
        remarks=tuple(_remarks(study, level, floor, runs)),
    )


def _digest(variant: Variant, how: Mapping[str, Any]) -> str:
    """What makes a variant what it is."""
    own = {"sight": variant.sight, "decide": variant.decide, "settings": variant.settings}
    told = {name: value for name, value in own.items() if value is not None}
    return digest_of({**how, **told, **(variant.given or {})})


def _pairs(named: Mapping[str, Variant]) -> Iterator[tuple[str, str]]:
    """Each variant against the reference, then the first against each other."""
    names = list(named)
    reference = next((name for name in names if named[name].sight is Sight.NONE), "")
    done = set()
    for pair in (
        *((name, reference) for name in names if reference and name != reference),
        *((names[0], name) for name in names[1:]),
    ):
        is_again = reference not in ("", pair[1]) and named[pair[1]] == named[reference]
        if not is_again and frozenset(pair) not in done:
            done.add(frozenset(pair))
            yield pair


def _pair(
    first: str, second: str, runs: Mapping[str, _Run], level: float, noise: Pair | None
) -> Pair:
    one, other = runs[first].scores, runs[second].scores
    both = one.join(other, how="inner", lsuffix="_1", rsuffix="_2")
    each = (both["score_1"] - both["score_2"]).groupby(level=list(_KEY)).mean()
    values = zip(
        (day.date() for day in each.index.get_level_values("date")), each.tolist(), strict=True
    )
    span = max(runs[first].span, runs[second].span)
    difference = bootstrap(values, span=span, level=level)
    rates = both["exposure_1"] != both["exposure_2"]
    found = Pair(
        first=first,
        second=second,
        difference=difference,
        apart=float(rates.mean()) if len(both) else 0.0,
        unpaired=len(one) + len(other) - 2 * len(both),
        words=NO_DIFFERENCE,
    )
    return replace(found, words=_words(found, noise))


def _words(pair: Pair, noise: Pair | None) -> str:
    """What may be said: a difference has to exclude 0, and to exceed what chance alone makes."""
    found, mean = pair.difference, pair.difference.mean
    if mean is None or not found.is_shown:
        return NO_DIFFERENCE
    if noise and noise.difference.mean is not None and abs(mean) <= _floor(noise):
        return NO_DIFFERENCE
    more = "more" if mean > 0 else "less"
    return f"{pair.first} scores {abs(mean):.2%} {more} than {pair.second}"


def _floor(noise: Pair) -> float:
    """How far two runs of the same variant come apart by chance."""
    found = noise.difference
    ends = [abs(end) for end in (found.mean, found.low, found.high) if end is not None]
    return max(ends)


def _remarks(
    study: Study, level: float, noise: Pair | None, runs: Mapping[str, _Run]
) -> Iterator[str]:
    yield (
        f"{len(study.variants)} variants were tried in this study and {study.comparisons} pairs "
        f"compared; intervals are {in_percent(level)} so that all of them together hold 95 times "
        "of 100"
    )
    if noise is None:
        yield "no variant was run twice, so the noise of the answers themselves is not known"
    elif not noise.apart:
        yield "the same variant answers the same each time: there is no noise of answers"
    else:
        yield f"the same variant, run twice, rates {noise.apart:.0%} of its decisions otherwise"
    first = next(iter(runs.values())).statistics
    yield from first.remarks

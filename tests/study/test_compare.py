"""Comparisons: paired, as sure as they are, and counted."""

import random
import threading
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

import pytest
from scipy import stats

from tests.study.worlds import SETTINGS, by_chance, prices
from tradmem import Rating, Settings, UsageError, Verdict
from tradmem.policies import Call
from tradmem.study.bootstrap import block_length, bootstrap, in_percent
from tradmem.study.compare import ABLATION, NO_DIFFERENCE, Variant, compare
from tradmem.study.digest import digest_of
from tradmem.study.replay import replay
from tradmem.study.trials import Study

FEW = ("AAPL", "JPM", "KO", "MSFT", "WMT", "XOM")
START, END = "2010-01-04", "2010-12-31"
WHOLE = replace(SETTINGS, holdout=0)  # what a comparison replays with


def contrast(variants, decide=by_chance, start=START, end=END, **given):
    given.setdefault("settings", SETTINGS)
    return compare(variants, decide, FEW, prices(), start, end, **given)


def by_verdicts(moment):
    """An agent that rates by what it is shown, and so shows what it was shown."""
    right = sum(entry.verdict is Verdict.RIGHT for entry in moment.memories)
    rating = [Rating.SELL, Rating.HOLD, Rating.BUY][min(right, 2)]
    return Call(rating, f"{rating}\n\n{moment.memory}", tuple(e.id for e in moment.memories))


def weekly(count, seed, shift=0.0, memory=0.0):
    """Dated values whose neighbours resemble each other."""
    chance, days, last = random.Random(seed), [], 0.0
    for week in range(count):
        last = memory * last + chance.gauss(0, 1)
        days.append((date(2000, 1, 3) + timedelta(weeks=week), last + shift))
    return days


def daily(count, seed):
    """A score a day, each over a window of five days that the next ones share."""
    chance = random.Random(seed)
    steps = [chance.gauss(0, 1) for _ in range(count + 5)]
    day = date(2000, 1, 3)
    return [(day + timedelta(days=n + n // 5 * 2), sum(steps[n : n + 5])) for n in range(count)]


@pytest.mark.parametrize("series", [daily, lambda n, seed: weekly(n // 2, seed, memory=0.1)])
def test_the_interval_holds_the_truth_as_often_as_it_says(series):
    """Of 300 series whose windows overlap, about 95 % hold their mean."""
    missed = sum(
        bootstrap(series(240, seed), span=7, draws=500, seed=seed).is_shown for seed in range(300)
    )
    assert missed <= 300 * 0.05 + 3 * (300 * 0.05 * 0.95) ** 0.5


def test_the_smallest_difference_is_shown_four_times_of_five():
    smallest = bootstrap(weekly(150, 1, memory=0.0), span=7, draws=500).smallest
    shown = sum(
        bootstrap(weekly(150, seed, smallest, memory=0.0), span=7, draws=400).is_shown
        for seed in range(150)
    )
    assert 0.68 <= shown / 150 <= 0.92


def test_blocks_cover_two_of_the_longest_windows():
    days = [day for day, _ in weekly(30, 1)]
    assert block_length(days, 7) == 2
    assert block_length(days, 8) == 3
    assert block_length(days[:1], 8) == 1


def test_too_few_dates_have_a_mean_but_no_interval():
    told = bootstrap(weekly(19, 1), span=7)
    assert told.blocks == 9
    assert told.mean is not None
    assert (told.low, told.high, told.smallest) == (None, None, None)
    assert bootstrap([], span=7).mean is None


def test_a_wider_level_makes_a_wider_interval_and_the_same_seed_the_same():
    values = weekly(80, 3)
    usual, strict = bootstrap(values, span=7), bootstrap(values, span=7, level=0.99)
    assert strict.low < usual.low < usual.high < strict.high
    assert bootstrap(values, span=7) == usual
    with pytest.raises(UsageError, match="between 0 and 1"):
        bootstrap(values, span=7, level=1.0)


@pytest.mark.parametrize("count", [40, 600])
def test_the_interval_widens_with_every_comparison_however_many_there_were(count):
    """By as much as Student's t does, also where no draw lies so far out."""
    values = weekly(count, 5)

    def half(level):
        told = bootstrap(values, span=7, level=level)
        return (told.high - told.low) / 2, told.blocks

    usual, blocks = half(0.95)
    for comparisons in (10, 100, 1_000, 100_000):
        level = 1 - 0.05 / comparisons
        wanted = stats.t.ppf(0.5 + level / 2, blocks - 1) / stats.t.ppf(0.975, blocks - 1)
        assert half(level)[0] / usual == pytest.approx(wanted, rel=0.12)
    assert bootstrap(values, span=7, draws=4).high > 0


@pytest.mark.parametrize(
    ("comparisons", "wanted"),
    [(1, "95.00%"), (2, "97.50%"), (1_000, "99.995%"), (10**6, "99.999995%")],
)
def test_a_level_is_told_from_certainty(comparisons, wanted):
    assert in_percent(1 - 0.05 / comparisons) == wanted


@pytest.fixture(scope="module")
def ablation():
    return contrast(ABLATION, by_verdicts)


def test_an_ablation_pairs_each_variant_with_none_of_the_memory(ablation):
    pairs = [(pair.first, pair.second) for pair in ablation.pairs]
    assert pairs == [
        ("with", "without"),
        ("track record only", "without"),
        ("shuffled", "without"),
        ("with", "track record only"),
        ("with", "shuffled"),
    ]
    assert (ablation.noise.first, ablation.noise.second) == ("without, again", "without")
    assert ablation.noise.difference.mean == 0
    assert ablation.noise.apart == 0


def test_an_ablation_s_difference_is_that_of_the_scores_on_common_decisions(ablation):
    frames = {}
    for name, sight in (("with", "full"), ("without", "none")):
        done = replay(by_verdicts, FEW, prices(), START, END, settings=WHOLE, sight=sight)
        from tradmem.study.frame import decisions_frame

        frame = decisions_frame(done.entries(), done.bars, tickers=done.tickers)
        frames[name] = frame.set_index(["date", "ticker"])["score"].dropna().astype(float)
    difference = (frames["with"] - frames["without"]).mean()
    assert ablation.pair("with", "without").difference.mean == pytest.approx(difference)
    assert ablation.pair("with", "without").unpaired == 0
    with pytest.raises(UsageError, match="were not compared"):
        ablation.pair("without", "with")


def test_each_sight_shows_what_it_says():
    shown = {}

    def decide(moment):
        if moment.date > date(2010, 11, 1) and moment.ticker == "KO":
            shown.setdefault("memory", moment.memory)
            shown.setdefault("memories", moment.memories)
            shown.setdefault("past", moment.past.entries())
            shown.setdefault("track", moment.track.judged + moment.track.hold_right)
        return by_chance(moment)

    told = {}
    for sight in ("full", "none", "track", "shuffled"):
        shown.clear()
        done = replay(decide, FEW, prices(), START, END, settings=WHOLE, sight=sight)
        told[sight] = dict(shown), done
    full, none = told["full"][0], told["none"][0]
    track, shuffled = told["track"][0], told["shuffled"][0]
    assert (none["memory"], none["memories"], none["past"], none["track"]) == ("", (), [], 0)
    assert "Track record on KO" in track["memory"]
    assert "Lesson" not in track["memory"]
    assert (track["memories"], track["past"]) == ((), [])
    assert full["memory"].split("\n\n")[1] == shuffled["memory"].split("\n\n")[1]
    assert full["memory"] != shuffled["memory"]
    assert len(full["memories"]) == len(shuffled["memories"])
    assert [e.ticker for e in full["memories"]] == [e.ticker for e in shuffled["memories"]]
    assert shuffled["past"] == []
    assert all(not e.recalled for e in told["none"][1].entries())


@pytest.mark.parametrize("said", [None, 0.5])
def test_nothing_is_withheld_while_variants_are_compared(said):
    """They are to differ in nothing but what makes them variants."""
    shown = {}

    def watching(name):
        def decide(moment):
            shown[name, moment.ticker, moment.date] = [e.id for e in moment.memories]
            return Rating.BUY

        return decide

    settings = replace(SETTINGS, holdout=said)
    own = Variant(decide=watching("own"), settings=settings)
    shared = Variant(decide=watching("shared"))
    contrast({"own": own, "shared": shared}, end="2010-03-31", settings=settings)
    done = replay(
        watching("alone"),
        FEW,
        prices(),
        START,
        "2010-03-31",
        settings=WHOLE,
    )
    moments = [(entry.ticker, entry.date) for entry in done.entries()]
    assert sum(len(shown["alone", *moment]) for moment in moments) > 50
    for moment in moments:
        assert shown["own", *moment] == shown["shared", *moment] == shown["alone", *moment]


def test_a_shuffle_deals_only_what_was_known_and_names_whose_it_was():
    done = replay(by_chance, FEW, prices(), START, END, settings=SETTINGS, sight="shuffled")
    entries = {entry.id: entry for entry in done.entries()}
    strangers = 0
    for entry in entries.values():
        for name in entry.recalled:
            assert entries[name].known_at <= entry.decided_at
            strangers += entries[name].ticker != entry.ticker
    assert strangers > 500
    assert done.memory.audit() == ()


def test_a_difference_that_is_there_is_shown_in_words():
    """One variant knows the closes of the week to come, by cheating outside the replay."""
    from tests.study.worlds import real_closes

    closes, days = real_closes(), list(real_closes()["KO"])

    def seer(moment):
        at = days.index(moment.date)
        held = {name: closes[name][days[at + 6]] / closes[name][days[at + 1]] for name in FEW}
        return Rating.BUY if held[moment.ticker] > sorted(held.values())[2] else Rating.SELL

    told = contrast({"seer": seer, "chance": Variant()}, end="2010-12-15")
    (pair,) = told.pairs
    assert pair.is_shown
    assert pair.words.startswith("seer scores ")
    assert pair.words.endswith("% more than chance")
    assert pair.difference.smallest < pair.difference.mean
    assert told.noise is None


def test_equal_variants_show_no_difference():
    told = contrast(
        {"one": by_chance, "two": Variant(settings=Settings(budget=100, benchmark="^GSPC"))}
    )
    assert [pair.words for pair in told.pairs] == [NO_DIFFERENCE]


def noisy(moment):
    """A model that does not answer the same twice."""
    return _CHANCE.choice(list(Rating))


_CHANCE = random.Random(5)


def test_what_two_runs_of_the_same_differ_by_is_no_difference():
    told = contrast({k: ABLATION[k] for k in ("with", "without", "without, again")}, noisy)
    assert told.noise.apart > 0.5
    assert told.pair("with", "without").words == NO_DIFFERENCE
    assert any("rates" in remark and "otherwise" in remark for remark in told.remarks)


def test_repeats_are_averaged_with_seeds_of_their_own():
    twice = contrast({"a": by_chance, "b": lambda m: Rating.BUY}, repeats=2)
    once = [
        contrast({"a": by_chance, "b": lambda m: Rating.BUY}, seed=seed).pairs[0].difference.mean
        for seed in (0, 1)
    ]
    assert once[0] != once[1]
    assert twice.pairs[0].difference.mean == pytest.approx(sum(once) / 2)


def test_every_variant_that_was_ever_tried_is_counted_and_widens_the_intervals(tmp_path):
    path = tmp_path / "study.jsonl"
    first = contrast({"a": by_chance, "b": lambda m: Rating.BUY}, study=Study(path))
    again = contrast({"a": by_chance, "c": lambda m: Rating.HOLD}, study=Study(path))
    kept = Study(path)
    assert [trial.variant for trial in kept.variants] == ["a", "b", "c"]
    assert (kept.comparisons, first.level, again.level) == (2, 0.95, 0.975)
    assert "3 variants were tried" in again.remarks[0]
    same = contrast({"a": by_chance, "c": lambda m: Rating.HOLD}, study=Study(path))
    assert (same.study.comparisons, len(same.study.variants)) == (2, 3)
    path.write_text(path.read_text(encoding="utf-8") + "{}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"study.jsonl:7: no trial"):
        Study(path)


class _Threshold:
    def __init__(self, at):
        self.at = at
        self.lock = threading.Lock()

    def __call__(self, moment):
        return Rating.BUY if self.at else Rating.HOLD

    def method(self, moment):
        return self(moment)


_AT = 0.1


def _named(moment):
    return Rating.BUY if _AT else Rating.HOLD


@pytest.mark.parametrize(
    "make",
    [
        lambda at: lambda moment: at,
        lambda at: lambda moment, at=at: at,
        lambda at: lambda moment, *, at=at: at,
        lambda at: partial(by_chance, at),
        lambda at: partial(by_chance, at=at),
        _Threshold,
        lambda at: _Threshold(at).method,
        lambda at: lambda moment: [at, _Threshold(at)(moment)],
        lambda at: eval(f"lambda moment: [x for x in (1, 2) if x > {at}]"),
        lambda at: eval(f"lambda moment: moment in {{'a', 'b', {at}}}"),
    ],
)
def test_another_threshold_is_another_variant_wherever_it_stands(make):
    one, same, other = (digest_of({"decide": make(at)}) for at in (0.1, 0.1, 0.2))
    assert one == same != other


def test_a_value_of_the_module_that_a_function_names_counts(monkeypatch):
    before = digest_of({"decide": _named})
    monkeypatch.setitem(globals(), "_AT", 0.2)
    assert digest_of({"decide": _named}) != before


def test_a_sweep_of_thresholds_is_counted_and_a_variant_that_keeps_notes_is_the_same():
    study = Study()

    def at(rating):
        seen = []

        def decide(moment):
            seen.append(moment.ticker)
            return rating

        return decide

    for rating in (Rating.BUY, Rating.SELL, Rating.HOLD, Rating.HOLD):
        found = contrast({"a": by_chance, "b": at(rating)}, study=study, end="2010-03-31")
    assert (study.comparisons, len(study.variants)) == (3, 4)
    assert found.level == pytest.approx(1 - 0.05 / 3)


def test_two_who_share_the_file_of_a_study_count_each_other_s_variants(tmp_path):
    mine, yours = Study(tmp_path / "study.jsonl"), Study(tmp_path / "study.jsonl")
    for study, rating in ((mine, Rating.BUY), (yours, Rating.SELL)):
        variants = {"a": by_chance, "b": lambda m, rating=rating: rating}
        found = contrast(variants, study=study, end="2010-02-26")
    assert (yours.comparisons, len(yours.variants)) == (2, 3)
    assert found.level == pytest.approx(0.975)


@pytest.mark.parametrize(
    ("variants", "given", "message"),
    [
        ({"one": by_chance}, {}, "two variants"),
        ({"one": "full", "two": "half"}, {}, "no sight"),
        ({"one": "full", "two": "none"}, {"repeats": 0}, "1 or more"),
        ({"one": "full", "two": "none"}, {"repeats": "2"}, "whole number"),
        (["full", "none"], {}, "by name"),
        *(
            ({"one": Variant(given={name: value}), "two": "none"}, {}, f"{name} cannot be in what")
            for name, value in {
                "memory": "log.md",
                "seed": 3,
                "sight": "none",
                "settings": 1,
            }.items()
        ),
        ({"one": "full", "two": "none"}, {"memory": "log.md"}, "of its own"),
    ],
)
def test_a_comparison_that_cannot_be_is_one_clear_line(variants, given, message):
    with pytest.raises(UsageError, match=message):
        contrast(variants, **given)

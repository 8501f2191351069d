"""Statistics against an independent computation, and against agents without skill."""

import math
from datetime import date
from random import Random

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from tests.study.worlds import INDEX, SETTINGS, by_chance, names, prices, real_closes
from tradmem import FramePrices, Memory, RamJournal, Rating, Settings, UsageError
from tradmem.agent import brief
from tradmem.lessons.chance import Skill
from tradmem.policies import by_strength
from tradmem.study.benchmark import Momentum
from tradmem.study.equity import equity_curve
from tradmem.study.export import to_alphalens
from tradmem.study.frame import decisions_frame
from tradmem.study.replay import replay
from tradmem.study.stats import OPTIMISTIC, statistics

START, END = "2010-01-04", "2011-12-30"
EXPOSURE = {"Buy": 1.0, "Overweight": 0.5, "Hold": 0.0, "Underweight": -0.5, "Sell": -1.0}


@pytest.fixture(scope="module")
def done():
    return replay(by_chance, names(), prices(), START, END, settings=SETTINGS)


@pytest.fixture(scope="module")
def told(done):
    return statistics(done)


@pytest.fixture(scope="module")
def oracle(done):
    """Everything anew from the closes alone, by pandas."""
    closes = pd.DataFrame(real_closes())
    closes.index = pd.to_datetime(closes.index)
    rows = []
    for entry in done.entries():
        at = closes.index.get_loc(pd.Timestamp(entry.date)) + 1
        if at + 5 >= len(closes) or closes.index[at + 5] > pd.Timestamp(END):
            continue
        returns = closes.iloc[at + 5] / closes.iloc[at] - 1
        others = returns.drop([INDEX, entry.ticker]).mean()
        rows.append(
            {
                "date": pd.Timestamp(entry.date),
                "entry": closes.index[at],
                "days": (closes.index[at + 5] - closes.index[at]).days,
                "ticker": entry.ticker,
                "rating": str(entry.rating),
                "exposure": EXPOSURE[entry.rating],
                "raw": returns[entry.ticker],
                "alpha": returns[entry.ticker] - others,
                "index_alpha": returns[entry.ticker] - returns[INDEX],
            }
        )
    frame = pd.DataFrame(rows)
    length = 2 * frame["days"].max()
    frame["block"] = [(day.toordinal() - 1) // length for day in frame["entry"]]
    frame["score"] = frame["exposure"] * frame["alpha"]
    return frame


def clustered(values, blocks):
    """Mean and interval by the formula of the design, written out."""
    frame = pd.DataFrame({"x": values.to_numpy(), "block": blocks.to_numpy()})
    mean, n, count = frame["x"].mean(), len(frame), frame["block"].nunique()
    squares = ((frame["x"] - mean).groupby(frame["block"]).sum() ** 2).sum()
    half = scipy.stats.t.ppf(0.975, count - 1) * math.sqrt(
        1.2 * count / (count - 1) * squares / n**2
    )
    return mean, mean - half, mean + half


def assert_mean(told, expected):
    assert (told.value, told.low, told.high) == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_the_means_of_all_agree_with_pandas(told, oracle):
    row = told.overall
    assert row.n == len(oracle) == 103 * 10
    for name, values in {
        "alpha": oracle["alpha"],
        "score": oracle["score"],
        "ahead": oracle["score"] - oracle["alpha"],
        "index_alpha": oracle["index_alpha"],
        "raw_return": oracle["raw"],
    }.items():
        assert_mean(getattr(row, name), clustered(values, oracle["block"]))
    assert row.median == pytest.approx(oracle["alpha"].median())


@pytest.mark.parametrize("by", ["rating", "ticker"])
def test_each_table_agrees_with_pandas(told, oracle, by):
    rows = {row.name: row for row in told.by(by)}
    assert set(rows) == set(oracle[by])
    for name, group in oracle.groupby(by):
        assert rows[name].n == len(group)
        assert_mean(rows[name].score, clustered(group["score"], group["block"]))
        assert rows[name].median == pytest.approx(group["alpha"].median())


def test_months_have_too_few_blocks_for_a_mean_but_are_counted(told, oracle):
    months = oracle["date"].dt.strftime("%Y-%m").value_counts()
    assert {row.name: row.n for row in told.by("month")} == months.to_dict()
    assert {row.alpha.value for row in told.by("month")} == {None}


def test_the_rank_correlation_agrees_with_scipy(told, oracle):
    found = {
        day: scipy.stats.spearmanr(group["exposure"], group["alpha"]).statistic
        for day, group in oracle.groupby("date")
        if len(set(group["exposure"])) > 1
    }
    assert dict(told.ranks.by_date) == pytest.approx(found)
    assert told.ranks.correlation.value == pytest.approx(np.mean(list(found.values())))


def test_simpler_rules_stand_beside(told, oracle):
    usual = oracle["exposure"].mean()
    expected = {
        "always Buy": oracle["alpha"],
        "always Hold": oracle["alpha"] * 0,
        "chance": usual * oracle["alpha"],
    }
    for name, values in expected.items():
        rival = told.rival(name)
        assert_mean(rival.score, clustered(values, oracle["block"]))
        assert_mean(rival.lead, clustered(oracle["score"] - values, oracle["block"]))
    assert told.rival("12-1 momentum").score.n == len(oracle)


def test_momentum_beside_decisions_is_that_of_the_agent_s_brief(done):
    frame = decisions_frame(done.entries(), done.bars)
    source = FramePrices(real_closes())
    for row in frame[::97].itertuples():
        seen = brief(row.ticker, source, row.decided_at.to_pydatetime(), benchmarks=INDEX)
        assert row.momentum == by_strength(seen.year.strength).exposure


def test_momentum_says_nothing_over_a_jump():
    days = [day for day in real_closes()["AAPL"] if day.year in (2000, 2001)]
    closes = {day: 10.0 if n < 300 else 20.0 for n, day in enumerate(days)}
    held = replay(
        by_chance,
        ["AAPL"],
        FramePrices({"AAPL": closes}),
        days[255],
        days[400],
        settings=Settings(benchmark={"*": None}),
    )
    strengths = Momentum(held.bars)
    told = [strengths.strength("AAPL", None, e.recorded.known_at) for e in held.entries()]
    assert None in told
    assert 0.0 in told


def test_habits_and_breadth_agree_with_pandas(told, oracle, done):
    entries = pd.DataFrame([(e.ticker, str(e.rating), e.rating.exposure) for e in done.entries()])
    shares = entries[1].value_counts(normalize=True)
    assert {s.rating: s.share for s in told.habits.shares} == pytest.approx(shares.to_dict())
    steps = entries.groupby(0)[2].diff().abs().dropna()
    assert told.habits.turnover == pytest.approx(steps.mean())
    assert told.habits.changed == pytest.approx((steps > 0).mean())
    wide = oracle.pivot_table(index="date", columns="ticker", values="raw").corr().to_numpy()
    shared = wide[np.triu_indices(10, 1)].mean()
    assert told.breadth.co_movement == pytest.approx(shared)
    assert told.breadth.independent == pytest.approx(10 / (1 + 9 * shared))
    assert (told.breadth.per_date, told.breadth.dates) == (10, 103)


def test_habits_that_turn_over_at_half_time_drift_wholly():
    turned = replay(
        lambda m: Rating.BUY if m.date < date(2011, 1, 3) else Rating.SELL,
        ["AAPL"],
        prices(),
        START,
        END,
        settings=SETTINGS,
    )
    assert statistics(turned).habits.drift == pytest.approx(1, abs=0.02)


def test_with_fewer_than_five_names_the_index_stands_alone():
    few = replay(by_chance, names()[:4], prices(), START, END, settings=SETTINGS)
    frame = decisions_frame(few.entries(), few.bars, tickers=few.tickers)
    settled = frame[frame["raw_return"].notna()]
    assert settled["peers_return"].isna().all()
    assert (settled["alpha"] == settled["index_alpha"]).all()
    assert any("fewer than five names" in remark for remark in statistics(few).remarks)


def test_attrition_and_hit_rate_are_those_of_the_track_record(told, done):
    line = done.memory.track().lines[0]
    assert told.hit == line.track.hit
    assert told.chance == line.track.chance
    assert told.attrition.settled == line.attrition.settled == 1030
    assert told.attrition.decided == len(done.entries()) == 1040
    assert told.attrition.not_due == 10


def test_what_has_seen_its_entry_is_called_optimistic():
    same = replay(
        by_chance, ["AAPL"], prices(), START, END, settings=SETTINGS, decide_at="same_close"
    )
    told = statistics(same)
    assert told.is_optimistic
    assert told.remarks[0] == OPTIMISTIC
    assert statistics(same.entries()).is_optimistic
    assert {found.name for found in told.track.lines[0].apart} == {"late"}


def test_figures_are_split_at_the_model_s_cutoff():
    from tradmem.policies import Call

    def decide(moment):
        extra = {} if moment.ticker == "KO" else {"model": "m", "cutoff": "2010-12-31"}
        extra = {"model": "n"} if moment.ticker == "JNJ" else extra
        return Call("Buy", "A guess.", (), extra)

    told = statistics(
        replay(decide, ["AAPL", "JNJ", "KO"], prices(), START, END, settings=SETTINGS)
    )
    rows = {row.name: row.n for row in told.by("cutoff")}
    assert rows == {"before the cutoff": 52, "after the cutoff": 51, "no stated cutoff": 103}


@pytest.mark.parametrize(
    ("cutoff", "before", "after"),
    [("2010-12", 52, 51), ("2010-12-06", 49, 54), ("2010-12-05", 48, 55), ("some day", 0, 0)],
)
def test_a_cutoff_that_is_a_month_lasts_to_its_end(cutoff, before, after):
    """The decision of Monday, December 6 is the 49th; what is no date states nothing."""
    from tradmem.policies import Call

    def decide(_):
        return Call("Buy", "A guess.", (), {"model": "m", "cutoff": cutoff})

    told = statistics(replay(decide, ["AAPL"], prices(), START, END, settings=SETTINGS))
    rows = {row.name: row.n for row in told.by("cutoff")}
    assert rows.get("before the cutoff", 0) == before
    assert rows.get("after the cutoff", 0) == after


def test_two_agents_who_never_change_their_minds_have_no_turnover():
    journal = RamJournal()
    for agent, rating in (("bull", Rating.BUY), ("bear", Rating.SELL)):
        replay(
            lambda _, rating=rating: rating, ["AAPL"], prices(), START, END,
            memory=journal, agent=agent, settings=SETTINGS,
        )  # fmt: skip
    entries = Memory(journal).entries()
    habits = statistics(entries).habits
    assert (habits.changes, habits.changed, habits.turnover) == (len(entries) - 2, 0.0, 0.0)


def test_the_horizons_stand_apart():
    both = replay(
        by_chance, names()[:2], prices(), START, END,
        settings=Settings(benchmark=INDEX, horizons=(5, 20)),
    )  # fmt: skip
    told, further = statistics(both), statistics(both, horizon=20)
    assert [row.name for row in told.by("horizon")] == ["5", "20"]
    assert told.horizon == 5
    assert further.overall.n < told.overall.n
    with pytest.raises(UsageError, match="there are for 5, 20"):
        statistics(both, horizon=7)


def test_nothing_decided_has_no_statistics():
    with pytest.raises(UsageError, match="no decisions"):
        statistics([])


def test_the_equity_curve_of_one_name_is_bought_and_held():
    """Always Buy of one name without costs: what the name itself did, in shares of the money."""
    held = replay(lambda _: Rating.BUY, ["KO"], prices(), START, END, every=5, settings=SETTINGS)
    curve = equity_curve(held, costs=0)
    closes = real_closes()["KO"]
    assert curve.portfolios == 1
    assert worth(curve) == curve.always_buy
    assert worth(curve)[-1] == pytest.approx(closes[curve.dates[-1]] / closes[curve.dates[0]])
    dear = equity_curve(held, costs=10)
    assert worth(dear)[-1] < worth(curve)[-1]
    assert worth(dear)[0] == pytest.approx(1 - 10e-4)


@pytest.mark.parametrize("given", [{"costs": math.nan}, {"costs": math.inf}, {"horizon": 0}])
def test_an_equity_curve_of_no_number_is_none(done, given):
    with pytest.raises(UsageError, match=r"cannot be|no equity curve"):
        equity_curve(done, **given)


def test_a_flat_market_costs_what_is_traded():
    days = [day for day in real_closes()["AAPL"] if day.year == 2010]
    flat = FramePrices({"AAPL": dict.fromkeys(days, 10.0)})
    ratings = {0: Rating.BUY, 1: Rating.SELL}
    held = replay(
        lambda m: ratings[m.date.isocalendar()[1] % 2],
        ["AAPL"],
        flat,
        days[0],
        days[-1],
        every=5,
        settings=Settings(benchmark={"*": "AAPL"}),
        horizon=5,
    )
    with pytest.raises(UsageError, match="nothing has entered"):
        equity_curve(held)
    scored = replay(
        lambda m: ratings[m.date.isocalendar()[1] % 2],
        ["AAPL"],
        FramePrices({"AAPL": dict.fromkeys(days, 10.0), "SPY": dict.fromkeys(days, 5.0)}),
        days[0],
        days[-1],
        every=5,
    )
    curve = equity_curve(scored, costs=100)
    assert worth(curve)[-1] == pytest.approx(1 - curve.traded / 100)


def test_alphalens_finds_the_same_rank_correlation(done, oracle):
    """The export goes through the other package's own functions."""
    performance = pytest.importorskip("alphalens.performance")
    factor = to_alphalens(decisions_frame(done.entries(), done.bars, tickers=done.tickers))
    assert list(factor.columns) == ["5D", "factor", "factor_quantile"]
    assert factor.index.names == ["date", "asset"]
    found = performance.factor_information_coefficient(factor)["5D"]
    ours = statistics(done).ranks.correlation.value
    assert found.dropna().mean() == pytest.approx(ours)
    means = performance.mean_return_by_quantile(factor)[0]["5D"]
    by_rating = oracle.assign(bin=oracle["exposure"] * 2 + 3).groupby("bin")["raw"].mean()
    assert sorted(means.index) == sorted(by_rating.index)


def worth(curve):
    return getattr(curve, "values")  # noqa: B009 - no frame's values


def lead_of_chance(seed, frame):
    """A skill-free agent on the same dates: ratings dealt out at random."""
    chance = Random(seed)
    return [chance.choice(list(EXPOSURE.values())) for _ in range(len(frame))]


def test_agents_without_skill_are_called_skilful_no_more_often_than_stated(oracle):
    """Of 400 agents that rate at random, at most the stated 2.5 % (and chance) look better."""
    from tradmem.study.rivals import rivals_of
    from tradmem.study.stats import Blocks

    words = []
    frame = oracle.assign(momentum=np.nan)
    for seed in range(400):
        dealt = frame.assign(exposure=lead_of_chance(seed, frame))
        dealt["score"] = dealt["exposure"] * dealt["alpha"]
        (chance,) = [r for r in rivals_of(dealt, Blocks.of) if r.name == "chance"]
        words.append(chance.skill)
    assert words.count(Skill.BETTER) <= 400 * 0.025 + 3 * math.sqrt(400 * 0.025 * 0.975)
    assert words.count(Skill.WORSE) <= 400 * 0.025 + 3 * math.sqrt(400 * 0.025 * 0.975)
    assert words.count(Skill.UNTOLD) < 400


def test_an_agent_that_knows_the_future_is_called_skilful(oracle):
    from tradmem.study.rivals import rivals_of
    from tradmem.study.stats import Blocks

    seer = oracle.assign(momentum=np.nan, exposure=np.sign(oracle["alpha"]))
    seer["score"] = seer["exposure"] * seer["alpha"]
    assert {r.skill for r in rivals_of(seer, Blocks.of)} == {Skill.BETTER}

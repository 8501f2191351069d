"""Five hundred outcomes of real closes against plain pandas."""

import random
from datetime import UTC, datetime, timedelta
from math import sqrt
from pathlib import Path

import pandas as pd
import pytest

from tests.market.market_cases import settled
from tradmem.market.calendars import calendar_of
from tradmem.market.frames import FilePrices, FramePrices
from tradmem.market.outcome import Question
from tradmem.market.settle import settle

CLOSES = Path(__file__).parents[1] / "data" / "closes_2016_2021.csv.gz"
INDEX = "^GSPC"
TINY = 1e-9


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.read_csv(CLOSES, index_col=0, parse_dates=True)


def expected(frame: pd.DataFrame, ticker: str, place: int, horizon: int) -> dict[str, float | None]:
    """The figures of a decision that enters at the close of one row."""
    pair = frame[[ticker, INDEX]]
    ratios = pair.pct_change()
    known = ratios.iloc[1:place]  # returns between closes before the entry
    excess = (known[ticker] - known[INDEX]).tail(60)
    sigma = excess.std() if len(excess) >= 40 else None
    window = known.tail(250)
    beta = window.cov().loc[ticker, INDEX] / window[INDEX].var() if len(window) >= 120 else None
    own, index = (pair.iloc[place + horizon] / pair.iloc[place] - 1).tolist()
    usual = 0.01 * sqrt(horizon / 5)
    band = usual if sigma is None else max(0.43 * sigma * sqrt(horizon), 0.1 * usual)
    return {
        "raw_return": own,
        "alpha": own - index,
        "benchmark_return": index,
        "sigma": sigma,
        "band": band,
        "beta": beta,
        "alpha_beta": None if beta is None else own - beta * index,
    }


def test_figures_equal_an_independent_computation(frame: pd.DataFrame) -> None:
    rnd = random.Random(20160104)
    calendar = calendar_of("AAPL")
    questions, answers, dates = [], [], []
    for _ in range(500):
        ticker = rnd.choice([name for name in frame.columns if name != INDEX])
        horizon = rnd.choice([1, 5, 20, 60])
        # A fifth of them early, where there is too little history for some figures.
        place = rnd.randrange(0, 300 if rnd.random() < 0.2 else len(frame) - 61)
        entry = frame.index[place].date()
        before = calendar.close(entry) - timedelta(seconds=rnd.randrange(1, 23 * 3600))
        questions.append(Question(ticker=ticker, decided_at=before, horizon=horizon))
        answers.append(expected(frame, ticker, place, horizon))
        dates.append((entry, frame.index[place + horizon].date()))
    found = settle(
        questions, FilePrices(CLOSES), as_of=datetime(2022, 6, 1, tzinfo=UTC), benchmarks=INDEX
    )
    for outcome, answer, days in zip(map(settled, found), answers, dates, strict=True):
        assert (outcome.entry_date, outcome.exit_date) == days
        assert outcome.known_at == calendar.final_at(days[1])
        assert outcome.basis == "price"
        assert ("default_band" in outcome.flags) == (answer["sigma"] is None)
        for name, value in answer.items():
            assert getattr(outcome, name) == (value and pytest.approx(value, rel=0, abs=TINY)), name
    assert sum(answer["sigma"] is None for answer in answers) > 5
    assert sum(answer["beta"] is None for answer in answers) > 20


def test_history_of_two_companies_with_gaps_is_their_common_dates(frame: pd.DataFrame) -> None:
    rnd = random.Random(7)
    gaps = frame[["KO", "AMD"]].mask(
        pd.DataFrame({name: [rnd.random() < 0.1 for _ in frame.index] for name in ("KO", "AMD")},
                     index=frame.index)
    )  # fmt: skip
    place = 900
    gaps.iloc[place : place + 6] = frame[["KO", "AMD"]].iloc[place : place + 6]
    common = gaps.iloc[:place].dropna().pct_change().dropna()
    jumps = (common >= 0.8).any(axis=1) | (common <= -0.45).any(axis=1)
    assert not jumps.any()
    calendar = calendar_of("KO")
    question = Question(
        ticker="KO", decided_at=calendar.close(frame.index[place].date()) - timedelta(hours=1)
    )
    [found] = settle(
        [question], FramePrices(gaps), as_of=datetime(2022, 6, 1, tzinfo=UTC), benchmarks="AMD"
    )
    last = common.tail(250)
    excess = (common["KO"] - common["AMD"]).tail(60)
    assert settled(found).sigma == pytest.approx(excess.std(), rel=0, abs=TINY)
    assert settled(found).beta == pytest.approx(
        last.cov().loc["KO", "AMD"] / last["AMD"].var(), rel=0, abs=TINY
    )

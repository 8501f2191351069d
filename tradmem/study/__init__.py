"""Replays through time, comparisons of what an agent may see, and statistics of both.

>>> from tradmem.study import replay, statistics
>>> done = replay(decide, ["AAPL", "XOM"], prices, "2010-01-04", "2012-12-31")
>>> statistics(done).overall.score
"""

from tradmem.study.compare import ABLATION, Comparison, Variant, compare
from tradmem.study.equity import Curve, equity_curve
from tradmem.study.export import to_alphalens
from tradmem.study.frame import decisions_frame
from tradmem.study.moment import Moment, Sight
from tradmem.study.replay import Replay, replay
from tradmem.study.schedule import DecideAt
from tradmem.study.stats import Statistics, statistics
from tradmem.study.sweep import Swept, sweep
from tradmem.study.trials import Study

__all__ = [
    "ABLATION",
    "Comparison",
    "Curve",
    "DecideAt",
    "Moment",
    "Replay",
    "Sight",
    "Statistics",
    "Study",
    "Swept",
    "Variant",
    "compare",
    "decisions_frame",
    "equity_curve",
    "replay",
    "statistics",
    "sweep",
    "to_alphalens",
]

"""Decisions in the shape that alphalens-reloaded expects."""

from typing import TYPE_CHECKING

from tradmem.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

_BINS = {-1.0: 1, -0.5: 2, 0.0: 3, 0.5: 4, 1.0: 5}


def to_alphalens(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Rated decisions as the ``factor_data`` of alphalens-reloaded.

    Indexed by ``date`` (the date of the entry's close) and ``asset``; one column of forward
    returns per horizon (``5D``), ``factor`` (the rating's exposure) and ``factor_quantile``
    (1 for Sell to 5 for Buy). Ratings are five values, so they are their own bins; cutting
    them into quantiles would drop ties. Returns are those of the outcomes, so that what is
    missing here is missing there too.

    Args:
        frame: see :func:`tradmem.study.frame.decisions_frame`.

    Raises:
        UsageError: no decision has a rating and an outcome.
    """
    import pandas as pd  # noqa: PLC0415 - heavy

    there = frame[frame["raw_return"].notna() & frame["exposure"].notna()]
    if there.empty:
        raise UsageError("no decision has a rating and an outcome yet; there is no factor")
    there = there.drop_duplicates(["entry_date", "ticker", "horizon"], keep="last")
    keys = ["entry_date", "ticker"]
    wide = there.pivot_table(index=keys, columns="horizon", values="raw_return", aggfunc="last")
    wide = wide[sorted(wide.columns)].rename(columns=lambda horizon: f"{int(horizon)}D")
    own = there.drop_duplicates(keys, keep="last").set_index(keys)
    out = wide.astype(float)
    out.columns.name = None
    out["factor"] = own["exposure"].astype(float)
    out["factor_quantile"] = out["factor"].map(_BINS).astype(int)
    out.index = pd.MultiIndex.from_arrays(
        [pd.DatetimeIndex(out.index.get_level_values(0)), out.index.get_level_values(1)],
        names=["date", "asset"],
    )
    return out.dropna(subset=[name for name in out.columns if name.endswith("D")])

"""What chance makes of lots: a randomisation test over other salts, and many tests at once.

Were a lesson worth nothing, decisions would have come out as they did whichever way its lots had
fallen (R. A. Fisher, The Design of Experiments, 1935). So the lots are drawn again and again,
each time as with another salt, and the p-value is how often they make as much of a difference.
Drawing ends early where that happens often; p is then valid all the same (J. Besag and
P. Clifford, Biometrika 78, 1991).
"""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Numbers = NDArray[np.float64]
    _Hashes = NDArray[np.uint64]

MOST, LEAST = 9999, 1999  # salts that a p-value is told from at most, and where there is much
_ENOUGH = 40  # differences as large as the real one, after which no more are drawn
_AT_ONCE = 2_000_000  # lots that are held in memory
_WORK = 200_000_000  # lots of one test, beyond which fewer salts are drawn
_CLOSE = 1e-9  # of the real difference: sums of floats differ by the order of their terms


class Unit(NamedTuple):
    """Everything that one lot decides on: often one pair of a decision and a memory.

    Attributes:
        name: what the lot is drawn for.
        share: of such lots that withhold.
        withheld: how this one fell.
        pairs: how many pairs.
        scores: the sum of their scores.
    """

    name: str
    share: float
    withheld: bool
    pairs: int
    scores: float


def difference(units: Sequence[Unit]) -> float | None:
    """The mean score of pairs shown less that of pairs withheld; None where either is lacking.

    Each pair counts by how unlikely its lot was, so that shares may have changed in time.
    """
    shown = [(unit, 1 / (1 - unit.share)) for unit in units if not unit.withheld]
    withheld = [(unit, 1 / unit.share) for unit in units if unit.withheld]
    if not shown or not withheld:
        return None
    means = [
        sum(weight * unit.scores for unit, weight in side)
        / sum(weight * unit.pairs for unit, weight in side)
        for side in (shown, withheld)
    ]
    return means[0] - means[1]


def p_value(units: Sequence[Unit]) -> float | None:
    """How often other salts make as large a difference, up or down; None where there is none."""
    real = difference(units)
    if real is None:
        return None
    import numpy as np  # noqa: PLC0415 - heavy

    names = np.array([_number(unit.name) for unit in units], dtype=np.uint64)
    shares = np.array([unit.share for unit in units])
    pairs = np.array([unit.pairs for unit in units], dtype=np.float64)
    scores = np.array([unit.scores for unit in units])
    bar = abs(real) * (1 - _CLOSE)
    wanted = max(LEAST, min(MOST, _WORK // len(units)))
    step = max(1, min(256, _AT_ONCE // len(units)))
    times = done = 0
    while done < wanted:
        salts = range(done, min(done + step, wanted))
        drawn = _lots(names, np.array([_number(f"salt {salt}") for salt in salts], dtype=np.uint64))
        found = np.abs(_differences(drawn < shares[:, None], shares, pairs, scores)) >= bar
        if times + int(found.sum()) >= _ENOUGH:
            last = int(np.flatnonzero(found)[_ENOUGH - times - 1]) + 1
            return _ENOUGH / (done + last)
        times += int(found.sum())
        done += len(found)
    return (times + 1) / (wanted + 1)


def _differences(
    withheld: "NDArray[np.bool_]", shares: "_Numbers", pairs: "_Numbers", scores: "_Numbers"
) -> "_Numbers":
    """:func:`difference` of each column of lots; 0 where one side is empty."""
    import numpy as np  # noqa: PLC0415 - heavy

    means = []
    for side, weights in ((~withheld, 1 / (1 - shares)), (withheld, 1 / shares)):
        counted: _Numbers = np.einsum("u,us->s", weights * pairs, side)  # without BLAS threads
        total: _Numbers = np.einsum("u,us->s", weights * scores, side)
        means.append(np.divide(total, counted, out=np.full(len(total), np.nan), where=counted > 0))
    found: _Numbers = np.nan_to_num(means[0] - means[1])
    return found


def _lots(names: "_Hashes", salts: "_Hashes") -> "_Numbers":
    """Numbers from 0 to below 1 for each name and salt, by the finaliser of SplitMix64."""
    import numpy as np  # noqa: PLC0415 - heavy

    mixed = names[:, None] ^ salts[None, :]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    numbers: _Numbers = (mixed >> np.uint64(11)) / np.float64(1 << 53)
    return numbers


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8])


def adjusted(p_values: Sequence[float]) -> list[float]:
    """The false discovery rate at which each test of a family would just be called found.

    Y. Benjamini and Y. Hochberg, Journal of the Royal Statistical Society B 57, 1995.
    """
    order = sorted(range(len(p_values)), key=lambda number: p_values[number], reverse=True)
    rates, least = [1.0] * len(p_values), 1.0
    for place, number in enumerate(order):
        least = min(least, p_values[number] * len(p_values) / (len(p_values) - place))
        rates[number] = least
    return rates

"""Candidates of a recall: the best of the ticker itself, and as many of others."""

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")
PER_TICKER = 2  # of another ticker, of which one at most is shown


def mixed(ranked: Iterable[tuple[str, Item]], ticker: str, most: int) -> list[Item]:
    """The first of a ticker, and of other tickers together, with a few of each.

    Args:
        ranked: pairs of a ticker and what is of it, the best first.
        ticker: the one that has places of its own.
        most: how many of it, and how many of the others.
    """
    found: list[Item] = []
    taken: Counter[str] = Counter()
    others = 0
    for name, item in ranked:
        is_own = name == ticker
        if taken[name] < (most if is_own else PER_TICKER) and (is_own or others < most):
            found.append(item)
            taken[name] += 1
            others += not is_own
        if others >= most and taken[ticker] >= most:
            break
    return found

"""Vectors side by side in memory, and which of them are the nearest."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tradmem.lessons.embed import Vector
from tradmem.lessons.mixing import mixed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NEVER = np.iinfo(np.int64).max
_OUT = -2.0  # less than any similarity
SPARE = 4  # times as many of other tickers are looked at, since few of each are taken
_DIGITS = 6  # of a similarity that are the same on every machine and in every batch


class Near(NamedTuple):
    """How near a memory is; the greater, the better."""

    similarity: float
    since: int
    id: str
    ticker: str


class Matrix:
    """The vectors of memories, each with its ticker and the instant since when it stands."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._free: list[int] = []
        self._ids: list[str] = []
        self._since = np.zeros(0, dtype=np.int64)
        self._codes: dict[str, int] = {}  # of the tickers, in the order of their coming
        self._tickers = np.zeros(0, dtype=np.int32)
        self._matrix = np.zeros((0, 0), dtype=np.float32)

    def put(self, name: str, ticker: str, since: datetime, vector: Vector) -> None:
        """Take in a memory's vector, in place of the one that it had."""
        self.drop(name)
        if self._free:
            place = self._free.pop()
            self._ids[place] = name
        else:
            place = len(self._ids)
            self._ids.append(name)
            if place >= len(self._since):
                self._grow(len(vector))
        self._places[name] = place
        self._since[place] = micros(since)
        self._tickers[place] = self._codes.setdefault(ticker, len(self._codes))
        self._matrix[place] = vector

    def drop(self, name: str) -> None:
        """Let go of a memory's vector, if it has one."""
        place = self._places.pop(name, None)
        if place is not None:
            self._since[place] = _NEVER
            self._free.append(place)

    def of(self, name: str, as_of: datetime) -> Vector | None:
        """The vector of a memory that stands since then as it stands now; else None."""
        place = self._places.get(name)
        if place is None or self._since[place] > micros(as_of):
            return None
        vector: Vector = self._matrix[place]
        return vector

    def nearest(self, vector: Vector, as_of: datetime, ticker: str, most: int) -> list[Near]:
        """The nearest that stand as they do since then, in no order, with all that are as near."""
        size = len(self._ids)
        if not size or not most:
            return []
        since, code = self._since[:size], self._codes.get(ticker, -1)
        near = cosines(self._matrix[:size], vector)
        near[since > micros(as_of)] = _OUT
        is_own = self._tickers[:size] == code
        chosen = np.zeros(size, dtype=bool)
        for group, wanted in ((is_own, most), (~is_own, most * SPARE)):
            of_group = near[group]
            if wanted < len(of_group):
                least = np.partition(of_group, len(of_group) - wanted)[len(of_group) - wanted]
                chosen |= group & (near >= least)
            else:
                chosen |= group
        names = list(self._codes)
        return [
            Near(float(near[n]), int(since[n]), self._ids[n], names[self._tickers[n]])
            for n in np.flatnonzero(chosen & (near > _OUT))
        ]

    def _grow(self, dimension: int) -> None:
        size = max(1_024, 2 * len(self._since))
        since = np.full(size, _NEVER, dtype=np.int64)
        tickers = np.zeros(size, dtype=np.int32)
        matrix = np.zeros((size, dimension), dtype=np.float32)
        since[: len(self._since)] = self._since
        tickers[: len(self._tickers)] = self._tickers
        if len(self._matrix):
            matrix[: len(self._matrix)] = self._matrix
        self._since, self._tickers, self._matrix = since, tickers, matrix


def best(near: Iterable[Near], ticker: str, most: int) -> list[str]:
    """The ids of the nearest of a ticker and of others, see :func:`mixed`."""
    near = list(near)
    own = nlargest(most, (item for item in near if item.ticker == ticker))
    others = nlargest(most * SPARE, (item for item in near if item.ticker != ticker))
    ranked = sorted(own + others, reverse=True)
    return mixed(((item.ticker, item.id) for item in ranked), ticker, most)


def similarity(one: Vector, other: Vector) -> float:
    """The cosine of the angle between two vectors of length 1."""
    return float(cosines(one[np.newaxis], other)[0])


def cosines(matrix: npt.NDArray[np.float32], vector: Vector) -> npt.NDArray[np.float32]:
    """Of each row with a vector; einsum, since BLAS would wake threads that then spin."""
    near: npt.NDArray[np.float32] = np.einsum("ij,j->i", matrix, vector)
    return np.round(near, _DIGITS)


def digest(text: str) -> bytes:
    """What makes two texts the same one."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[:16]


def micros(instant: datetime) -> int:
    """Microseconds since 1970."""
    return (instant - _EPOCH) // _MICROSECOND

"""What reports add up to: the sum, over all reports, of the points of the values they support.

Each kind of report is a class with the exact mean and variance of that sum, its
cumulant generating function for complex arguments (from which the whole law follows),
and what is needed to know how far the law and its Fourier transform reach.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldpkit.core.cached import cached_property
from ldpkit.core.typing import Counts, Floats

__all__ = ["Bits", "Complex", "NoiseSum", "ReportSum", "log1p_complex", "parts", "turns_in_cells"]

Complex = NDArray[np.complex128]

_CHUNK = 1 << 15  # numbers of a table that is kept at a time: small enough to stay in the cache
_LOG_OF_ZERO = -700.0  # infinity times an imaginary part would be no number
_MANY = 64  # values for which a transform is quicker than a sum for each cell
_CELLS_PER_TURN = 8  # wide cells for each turn of the largest point


@dataclass(frozen=True, eq=False)
class ReportSum(abc.ABC):
    """The law of the sum; all subclasses have people by value and the points of each value."""

    counts: Counts
    points: Floats

    @property
    def n(self) -> int:
        """The number of reports."""
        return int(self.counts.sum())

    @property
    @abc.abstractmethod
    def mean(self) -> float:
        """The exact mean."""

    @property
    @abc.abstractmethod
    def variance(self) -> float:
        """The exact variance."""

    @property
    @abc.abstractmethod
    def reach(self) -> float:
        """The largest range of a single independent part of the sum."""

    @property
    @abc.abstractmethod
    def support(self) -> tuple[float, float]:
        """The least and the greatest value of the sum."""

    @abc.abstractmethod
    def cumulants(self, s: Complex) -> Complex:
        """Return log E[exp(s sum)] for each s."""

    def decay(self, angles: Floats) -> Floats:
        """Return a bound of log |E[exp(i angle sum)]| from above: what is known without computing it."""
        return np.zeros(len(angles))

    def decay_in_cells(self, cells: int) -> Floats:
        """Return `decay` in the middles of so many cells of a half turn, for whole points."""
        return self.decay(_middles(cells))

    @property
    def steepness(self) -> float:
        """The largest slope of `decay`."""
        return 0.0

    @property
    def looks(self) -> int:
        """How many terms `audible` looks at: for so many angles every value."""
        return self._cells * len(self.points)

    @cached_property
    def _cells(self) -> int:
        return max(64, _CELLS_PER_TURN * int(np.abs(self.points).max()))

    def audible(self, period: int, least: float) -> Counts:
        """Return the j in 1 .. period // 2 for which `decay` at 2 pi j / period is more than `least`.

        First in wide cells, which are left out if not even the largest slope can lift
        them, then one by one in the others.
        """
        cells = self._cells
        if cells < period // 4:
            decay = self.decay_in_cells(cells) if len(self.points) > _MANY else self.decay(_middles(cells))
            loud = decay + self.steepness * np.pi / (2 * cells) > least
            firsts = -(-np.arange(cells + 1) * period // (2 * cells))
            firsts[-1] = period // 2 + 1
            j = np.concatenate([np.arange(firsts[cell], firsts[cell + 1]) for cell in np.flatnonzero(loud)])
        else:
            j = np.arange(period // 2 + 1)
        return np.asarray(j[(self.decay(j * (2 * np.pi / period)) > least) & (j > 0)])


@dataclass(frozen=True, eq=False)
class Bits(ReportSum):
    """Reports in which every value is supported on its own: unary encoding, and ideal hashing.

    Parameters
    ----------
    p, q : float
        The probabilities to support the own value and another one.

    Examples
    --------
    >>> bits = Bits(np.array([3, 1]), np.array([0.0, 2.0]), 0.5, 0.25)
    >>> bits.mean, bits.variance                     # 2 (1/2 + 3/4), 4 (1/4 + 9/16)
    (2.5, 3.25)
    """

    p: float
    q: float

    @property
    def mean(self) -> float:
        """The sum of the expected supports."""
        return float(self.points @ (self.counts * self.p + (self.n - self.counts) * self.q))

    @property
    def variance(self) -> float:
        """Supports are independent, so variances add up."""
        return float(self.points**2 @ self._spread)

    @property
    def _spread(self) -> Floats:
        others = self.n - self.counts
        return np.asarray(self.counts * (self.p * (1 - self.p)) + others * (self.q * (1 - self.q)))

    @property
    def reach(self) -> float:
        """One bit adds one point or nothing."""
        return float(np.abs(self.points).max())

    @property
    def support(self) -> tuple[float, float]:
        """No value with positive points is supported, or all are by everybody."""
        low, high = np.minimum(self.points, 0).sum(), np.maximum(self.points, 0).sum()
        return float(low) * self.n, float(high) * self.n

    def cumulants(self, s: Complex) -> Complex:
        """Every bit has its own factor."""
        total = np.zeros(len(s), np.complex128)
        for part in parts(len(self.points), len(s)):
            turn, people = np.expm1(np.outer(self.points[part], s)), self.counts[part]
            total += people @ log1p_complex(self.p * turn) + (self.n - people) @ log1p_complex(self.q * turn)
        return total

    def decay(self, angles: Floats) -> Floats:
        """Return a bound from the cosine of every bit."""
        # |1 - r + r z|^2 = 1 - 2 r (1 - r) (1 - cos), and log(1 - x) <= -x.
        total, weight = np.zeros(len(angles)), self._spread
        for part in parts(len(self.points), len(angles)):
            total += weight[part] @ (np.cos(np.outer(self.points[part], angles)) - 1)
        return total

    def decay_in_cells(self, cells: int) -> Floats:
        """Return the same, where the cosines of all cells are one transform."""
        weight = self._spread
        return np.asarray(turns_in_cells(self.points, weight, cells).real - weight.sum())

    @property
    def steepness(self) -> float:
        """Each cosine is as steep as its point."""
        return float(self._spread @ np.abs(self.points))


@dataclass(frozen=True, eq=False)
class NoiseSum(ReportSum):
    """Reports with a number for each value: its indicator plus noise, from a table.

    Parameters
    ----------
    outcomes, chances : array
        The numbers that a value which is not held can have, and their probabilities; for
        the held one they are mirrored about the middle of the table.
    """

    outcomes: Floats
    chances: Floats

    @cached_property
    def _moments(self) -> tuple[float, float]:
        mean = float(self.outcomes @ self.chances)
        return mean, float(self.outcomes**2 @ self.chances) - mean**2

    @property
    def mean(self) -> float:
        """The sum of the expected numbers."""
        other = self._moments[0]
        own = float(self.outcomes[0] + self.outcomes[-1]) - other
        return float(self.points @ (self.counts * own + (self.n - self.counts) * other))

    @property
    def variance(self) -> float:
        """Numbers are independent, and all have the variance of the noise."""
        return float((self.points**2).sum() * self.n * self._moments[1])

    @property
    def reach(self) -> float:
        """One number adds at most its range times its point."""
        return float(np.abs(self.points).max() * np.ptp(self.outcomes))

    @property
    def support(self) -> tuple[float, float]:
        """Every number is at the least, or the greatest, of the table."""
        ends = np.outer(self.points, self.outcomes[[0, -1]])
        return float(ends.min(axis=1).sum()) * self.n, float(ends.max(axis=1).sum()) * self.n

    def cumulants(self, s: Complex) -> Complex:
        """Every number has its own factor."""
        total = np.zeros(len(s), np.complex128)
        for part in parts(len(self.points), len(s) * len(self.outcomes)):
            people = self.counts[part]
            turns = np.exp(np.multiply.outer(np.outer(self.points[part], s), self.outcomes))
            total += (self.n - people) @ np.log(turns @ self.chances)
            total += people @ np.log(turns @ self.chances[::-1])
        return total


def parts(rows: int, columns: int, cells: int | None = None) -> Iterator[slice]:
    """Yield the rows of a table in parts of which each has a bounded number of cells."""
    step = max(1, (cells or _CHUNK) // max(1, columns))
    return (slice(start, start + step) for start in range(0, rows, step))


def _middles(cells: int) -> Floats:
    """Return the angles in the middles of cells of a half turn."""
    return np.asarray((np.arange(cells) + 0.5) * (np.pi / cells), np.float64)


def turns_in_cells(points: Floats, weights: Floats, cells: int) -> Complex:
    """Return the sum of weight times exp(i angle point) for the middle angles of cells of a half turn.

    These angles are evenly spaced, so for whole points it is one Fourier transform instead of a
    step for each cell and value.

    Examples
    --------
    >>> turns_in_cells(np.array([0.0, 3.0]), np.ones(2), 2).round(3).tolist()     # at 45 and 135 degrees
    [(0.293+0.707j), (1.707+0.707j)]
    """
    period = 2 * cells
    slots = np.asarray(points, np.int64) % period
    turned = weights * np.exp(1j * np.pi / period * (np.asarray(points, np.int64) % (2 * period)))
    gathered = np.zeros(period, np.complex128)
    np.add.at(gathered, slots, turned)
    return np.asarray(np.fft.ifft(gathered)[:cells] * period)


def log1p_complex(w: Complex) -> Complex:
    """Return log(1 + w), also where w is tiny: there NumPy loses it. Of zero it is just very small."""
    with np.errstate(divide="ignore"):
        real = 0.5 * np.log1p(w.real * (2 + w.real) + w.imag**2)
    return np.asarray(np.maximum(real, _LOG_OF_ZERO) + 1j * np.arctan2(w.imag, 1 + w.real))

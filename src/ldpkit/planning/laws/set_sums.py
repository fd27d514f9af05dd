"""Reports that name a set of values, one of them or several: what their points add up to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Counts, Floats
from ldpkit.planning.laws.report_sums import Complex, ReportSum, log1p_complex, parts, turns_in_cells

__all__ = ["Sets"]

_MOST_PICKS = 1 << 16  # steps for each argument of the law: beyond, a plan takes minutes
_LARGE_CHUNK = 1 << 18  # where each part takes a loop over all values
_DIFFERENCES = 8


@dataclass(frozen=True, eq=False)
class Sets(ReportSum):
    """Reports that support a set of fixed size: the own value with probability p, else uniform.

    Parameters
    ----------
    p : float
        The probability that the set holds the own value.
    size : int
        The number of values in a set; 1 is randomised response.

    Examples
    --------
    >>> sets = Sets(np.array([3, 1]), np.array([0.0, 1.0]), 0.75, 1)
    >>> sets.mean, sets.variance                     # 3/4 + 3/4, 4 (3/16)
    (1.5, 0.75)
    """

    p: float
    size: int

    @property
    def values(self) -> int:
        """The number of values in the domain."""
        return len(self.points)

    @property
    def _own_means(self) -> Floats:
        """The mean of a report by its true value."""
        q = (self.size - self.p) / (self.values - 1)
        return np.asarray(self.p * self.points + q * (self.points.sum() - self.points))

    @property
    def mean(self) -> float:
        """The sum of the expected supports."""
        return float(self.counts @ self._own_means)

    @cached_property
    def variance(self) -> float:
        """Values of one set are dependent, which the second term accounts for."""
        p, size, others = self.p, self.size, self.values - 1
        rest, rest_squares = self.points.sum() - self.points, (self.points**2).sum() - self.points**2
        square = p * self.points**2 + (size - p) / others * rest_squares
        square += 2 * p * (size - 1) / others * self.points * rest
        if size > 1:
            both = (p * (size - 1) * (size - 2) + (1 - p) * size * (size - 1)) / (others * (others - 1))
            square += both * (rest**2 - rest_squares)
        return float(self.counts @ (square - self._own_means**2))

    @property
    def _ends(self) -> tuple[float, float]:
        ordered = np.sort(self.points)
        return float(ordered[: self.size].sum()), float(ordered[-self.size :].sum())

    @property
    def reach(self) -> float:
        """The sets with the least and the greatest points."""
        low, high = self._ends
        return high - low

    @property
    def support(self) -> tuple[float, float]:
        """Everybody reports the least set, or the greatest."""
        low, high = self._ends
        return low * self.n, high * self.n

    def cumulants(self, s: Complex) -> Complex:
        """Every report has its own factor, alike for people with one value."""
        present = np.flatnonzero(self.counts)
        if self.size == 1:
            chunks = [self._single(s[part], present) for part in parts(len(s), self.values)]
        else:
            columns = self.values * (self.size + 1)
            if columns > _MOST_PICKS:
                raise InvalidParameterError(
                    "the exact law of a total of sets takes a step for each value and each member of a set: "
                    f"{self.size:,} out of {self.values:,} values take {columns:,} steps, more than "
                    f"{_MOST_PICKS:,}: take grr or oue, a numeric mechanism such as duchi, or round "
                    "the amounts to fewer"
                )
            chunks = [self._chunk(s[part], present) for part in parts(len(s), self.values, _LARGE_CHUNK)]
        return np.concatenate(chunks)

    def _single(self, s: Complex, present: Counts) -> Complex:
        turns = np.expm1(s * self.points[:, None])
        others = (turns.sum(axis=0) - turns[present]) / (self.values - 1)
        logs = log1p_complex(self.p * turns[present] + (1 - self.p) * others)
        return np.asarray(self.counts[present] @ logs)

    def _chunk(self, s: Complex, present: Counts) -> Complex:
        turns = np.exp(s * self.points[:, None])
        uniform, own = _uniform_means(turns, self.size), turns[present]
        held, missed = _without_each(own, uniform, self.values)
        means = self.p * own * held + (1 - self.p) * missed
        return np.asarray(self.counts[present] @ log1p_complex(means - 1))

    @property
    def _swaps(self) -> tuple[float, Floats]:
        """How often two given values are told apart by a fair coin alone, and some differences of points."""
        # With probability `uniform` the set is uniform. Then it holds exactly one of two
        # given values with probability `one`, and either of them alike.
        share = self.size / self.values
        uniform = (1 - self.p) / (1 - share)
        one = 2 * share * (self.values - self.size) / (self.values - 1)
        differences = np.unique(np.abs(self.points - self.points.min()))[1:]
        places = np.unique(np.geomspace(1, len(differences), _DIFFERENCES).astype(int)) - 1
        return self.n * uniform * one, differences[places]

    def decay(self, angles: Floats) -> Floats:
        """Return a bound from the uniform part of every report."""
        if self.size == 1:
            turned = np.zeros(len(angles), np.complex128)
            for part in parts(self.values, len(angles)):
                phases = np.outer(self.points[part], angles)
                turned += np.cos(phases).sum(axis=0) + 1j * np.sin(phases).sum(axis=0)
            return self._single_decay(turned)
        # A coin that turns by half the difference of two points shrinks to its cosine.
        coins, differences = self._swaps
        shrunk = np.ones(len(angles))
        for difference in differences.tolist():
            np.minimum(shrunk, np.abs(np.cos(angles * (difference / 2))), out=shrunk)
        return np.asarray(-coins * (1 - shrunk))

    def decay_in_cells(self, cells: int) -> Floats:
        """Return the same, where the turns of all cells are one transform."""
        if self.size > 1:
            return super().decay_in_cells(cells)
        return self._single_decay(turns_in_cells(self.points, np.ones(self.values), cells))

    def _single_decay(self, turned: Complex) -> Floats:
        """Return the bound for sets of one value from the sum of the turns of all values."""
        # |(p - q) z_x + q sum z| <= 1 - q (k - |sum z|), whatever the own value x is.
        q = (1 - self.p) / (self.values - 1)
        return np.asarray(-self.n * q * (self.values - np.abs(turned)))

    @property
    def steepness(self) -> float:
        """The sum is as steep as its terms together."""
        if self.size == 1:
            return float(self.n * (1 - self.p) / (self.values - 1) * np.abs(self.points).sum())
        coins, differences = self._swaps
        return float(coins * differences.max() / 2)


def _uniform_means(turns: Complex, size: int) -> Complex:
    """Return E[turn of a uniform set] for sets of 0..size of all values: shape (size + 1, s).

    Value by value: the last of R values belongs to a set of r of them with probability r/R.
    """
    means = np.zeros((size + 1, turns.shape[1]), np.complex128)
    means[0] = 1
    for seen, turn in enumerate(turns, start=1):
        share = np.minimum(np.arange(1, size + 1) / seen, 1)[:, None]
        taken = share * turn * means[:-1]
        means[1:] *= 1 - share
        means[1:] += taken
    return means


def _without_each(turns: Complex, means: Complex, values: int) -> tuple[Complex, Complex]:
    """Return for each of some values E[turn of a uniform set] of the others, for the two largest sizes.

    A set of r of all values holds a given one with probability r/k, so its mean is made of that and
    of the mean of sets without it. Solved for the latter, from small sets to large ones, errors
    shrink as long as a set holds less than half of the values.
    """
    before, last = np.ones_like(turns), np.ones_like(turns)
    for size, mean in enumerate(means[1:], start=1):
        share = size / values
        before, last = last, (mean - share * turns * last) / (1 - share)
    return before, last

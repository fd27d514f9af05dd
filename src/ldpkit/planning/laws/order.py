"""The law of Kendall's tau: exact mean and variance under normal errors, without simulation.

Two values change places with a probability that their difference and its standard error
give. That is the mean number of discordant pairs. Its variance follows from Hoeffding's
decomposition: the part of a pair that one of the two errors alone explains is shared
with other pairs, the rest is the pair's own. The number itself is then taken to have a
beta law on its range, which is symmetric where there is no order to be seen and skew
where there is little error; where there is nearly none, it counts rare events.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.planning.laws.errors import BEYOND

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.planning.laws.noise import NoiseLaw

__all__ = ["TauLaw", "discordant_mean", "discordant_moments"]

_NODES = 6  # of the quadrature over one error: the standard deviation is right to half a percent
_FEW = 10.0  # discordant pairs on average: below, their number is a count of rare events
_NEVER = 1e-8  # discordant pairs on average: below, there are none
_BLOCK = 1 << 17  # numbers at a time: few enough to stay in the cache


def discordant_mean(truth: Floats, noise: NoiseLaw) -> float:
    """Return the mean number of pairs whose order the estimate turns round.

    Pairs that are tied in the truth do not count. Only differences of errors matter, so
    `noise.spread` is all that is needed of the noise.

    Examples
    --------
    >>> from ldpkit.planning.laws.noise import NoiseLaw
    >>> spread = np.full(3, 0.02)
    >>> round(discordant_mean(np.array([0.1, 0.3, 0.6]), NoiseLaw(spread, spread, False, 1e3)), 4)
    0.2317
    """
    total = 0.0
    for rows in _blocks(len(truth), 1):
        swapped, _ = _swapped(truth, noise, rows, slice(rows.start, None))
        own = swapped[:, : rows.stop - rows.start]  # pairs within the block are there twice
        total += float(swapped.sum()) - float(own.sum()) / 2
    return total


def discordant_moments(truth: Floats, noise: NoiseLaw) -> tuple[float, float]:
    """Return mean and variance of the number of pairs whose order the estimate turns round.

    Examples
    --------
    >>> from ldpkit.planning.laws.noise import NoiseLaw
    >>> spread = np.full(2, 0.02)
    >>> mean, variance = discordant_moments(np.array([0.4, 0.6]), NoiseLaw(spread, spread, False, 1e3))
    >>> bool(abs(variance - mean * (1 - mean)) < 1e-12)  # a single pair is swapped or not
    True
    """
    from scipy.special import ndtr

    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()
    deviation = np.sqrt(noise.spread)
    total = variance = 0.0
    for rows in _blocks(len(truth), _NODES):
        swapped, sign = _swapped(truth, noise, rows, slice(None))
        # The chance that i lies above j, given the error of i at each node of the quadrature.
        moved = truth[rows, None] + deviation[rows, None] * nodes
        above = ndtr((moved[:, :, None] - truth) / deviation)
        mean = np.einsum("n,inj->ij", weights, above)
        explained = (np.einsum("n,inj,inj->ij", weights, above, above) - mean**2) * np.abs(sign)
        together = np.matmul(above, sign[:, :, None])[:, :, 0]
        shared = together**2 @ weights - (together @ weights) ** 2
        own = swapped * (1 - swapped) / 2 - explained
        total += float(swapped.sum()) / 2
        variance += float(shared.sum() + own.sum())
    return total, max(variance, 0.0)


class TauLaw:
    """The law of Kendall's tau-b between a truth and its estimate.

    Parameters
    ----------
    truth : array
        The true frequencies.
    omega : float
        What tau-b must be at least.

    Examples
    --------
    >>> from ldpkit.planning.laws.noise import NoiseLaw
    >>> spread = np.full(3, 1e-6)
    >>> TauLaw(np.array([0.1, 0.3, 0.6]), 0.5).score(NoiseLaw(spread, spread, False, 1e3)) > 6
    True
    """

    def __init__(self, truth: Floats, omega: float) -> None:
        pairs = len(truth) * (len(truth) - 1) / 2
        _, sizes = np.unique(truth, return_counts=True)
        self.truth, self.omega = truth, omega
        self.untied = pairs - float((sizes * (sizes - 1)).sum()) / 2
        # Ties among the estimates are rare and go both ways, so they are left out of account.
        self.allowed = math.floor((self.untied - omega * math.sqrt(self.untied * pairs)) / 2 + 1e-9)

    @property
    def _certain(self) -> float | None:
        """The score where the noise does not matter; where nothing is ordered, tau is 0."""
        if self.allowed < 0 or (self.untied == 0 and self.omega > 0):
            return -BEYOND
        return BEYOND if self.allowed >= self.untied else None

    def guide(self, noise: NoiseLaw) -> float:
        """Return a quick stand-in for the score, with the variance of an order by pure chance."""
        if self._certain is not None:
            return self._certain
        k = len(self.truth)
        chance = math.sqrt(k * (k - 1) * (2 * k + 5) / 72)
        return (self.allowed + 0.5 - discordant_mean(self.truth, noise)) / chance

    def score(self, noise: NoiseLaw) -> float:
        """Return the normal score of 'tau-b is at least omega'."""
        from scipy.special import ndtri

        if self._certain is not None:
            return self._certain
        mean, variance = discordant_moments(self.truth, noise)
        if mean < _FEW:
            below, above = _rare_events(mean, variance, self.allowed)
        else:
            below, above = _beta_cells(mean, variance, self.allowed, self.untied)
        score = float(ndtri(below) if below < 0.5 else -ndtri(above))
        return min(max(score, -BEYOND), BEYOND)


def _rare_events(mean: float, variance: float, most: int) -> tuple[float, float]:
    """Return the probability of at most `most` events, and its complement.

    The law is binomial if the variance is below the mean, negative binomial if above,
    and Poisson in between; it has both moments.
    """
    from scipy.special import betainc, betaincc, gammainc, gammaincc

    if mean < _NEVER:  # rounding hides the variance, but by Markov's inequality it does not matter
        return 1 - mean / (most + 1), mean / (most + 1)
    excess = variance - mean
    if abs(excess) < 1e-6 * mean:
        return float(gammaincc(most + 1, mean)), float(gammainc(most + 1, mean))
    size = mean * mean / abs(excess)
    if excess < 0:
        if most >= size:
            return 1.0, 0.0
        chance = mean / size
        return (
            float(betaincc(most + 1, size - most, chance)),
            float(betainc(most + 1, size - most, chance)),
        )
    chance = size / (size + mean)
    return float(betainc(size, most + 1, chance)), float(betaincc(size, most + 1, chance))


def _beta_cells(mean: float, variance: float, most: int, largest: float) -> tuple[float, float]:
    """Return the probability that a number of 0..largest is at most `most`, and its complement.

    The law is a beta law with both moments; a whole number fills the cell of width one around it.
    """
    from scipy.special import betainc, betaincc

    centre = (mean + 0.5) / (largest + 1)
    concentration = centre * (1 - centre) * (largest + 1) ** 2 / variance - 1
    shape = centre * concentration, (1 - centre) * concentration
    bound = (most + 1) / (largest + 1)
    return float(betainc(*shape, bound)), float(betaincc(*shape, bound))


def _blocks(k: int, depth: int) -> Iterator[slice]:
    rows = max(1, _BLOCK // (k * depth))
    return (slice(start, min(start + rows, k)) for start in range(0, k, rows))


def _swapped(truth: Floats, noise: NoiseLaw, rows: slice, columns: slice) -> tuple[Floats, Floats]:
    """Return for values in rows and columns the chance to change places, and the sign of the difference."""
    from scipy.special import ndtr

    gap = truth[rows, None] - truth[columns]
    sign = np.sign(gap)
    scale = np.sqrt(noise.spread[rows, None] + noise.spread[columns])
    return ndtr(-np.abs(gap) / scale) * np.abs(sign), sign

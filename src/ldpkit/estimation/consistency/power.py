"""Power: shrink every estimate towards a power law that is fitted to all of them.

The counts x of the values are taken as draws from a density proportional to x^-s on
[1/2, n], an unbiased estimate as x plus Gaussian noise of known standard error, and each
estimate is replaced by the posterior mean of its x. The exponent s is the one with the
largest marginal likelihood, for each row of a batch on its own.

Every integral over x is a fixed sum over nodes: Gauss-Legendre in log x up to one
standard error, where the prior varies and the noise does not; in x up to ten, where
both do; and beyond that only around the estimate itself. Errors are far below those of
the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.estimation.consistency import consistency
from ldpkit.estimation.consistency.projection import norm_sub

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldpkit.core.typing import Floats
    from ldpkit.estimation.noise import Noise

__all__ = ["power", "power_ns"]

LEAST_COUNT = 0.5
"""Where the prior begins: a sum over 1, 2, 3, ... is nearest to an integral from here."""
LARGEST_EXPONENT = 4.0
EXPONENT_STEP = 0.125

_LOW_NODES = 48
_MIDDLE_NODES = 32
_NEAR_NODES = 24
_MIDDLE_END = 10.0  # standard errors
_NEAR_REACH = 6.5  # standard errors; what lies beyond weighs less than 1e-9
_FARTHEST = 40.0  # standard errors outside the prior's range; nothing is learnt beyond
_NODES_AT_ONCE = 1 << 21  # so that a large batch does not fill the memory
_NEGLIGIBLE_NOISE = 1e-9  # people


@consistency("power")
def power(estimates: Floats, noise: Noise) -> Floats:
    """Return posterior means under a power law fitted to the estimates (Power).

    The prior of a count x is proportional to x^-s on [1/2, n], and the noise is
    N(0, sigma^2) with sigma = n * `noise.stderr`. The exponent s maximises the marginal
    likelihood of the row on the grid 0, 1/8, ..., 4, refined by the parabola through the
    best point and its neighbours. Results lie between 1 / (2n) and 1 for every input;
    their sum is left as it comes out. An estimate more than 40 standard errors outside
    this range counts as one at 40. Without noise the estimates are only cut to the range.

    Runtime: O(k) with a factor of some 3,000 operations for each estimate.

    Citation: Jia and Gong, "Calibrate: frequency estimation and heavy hitter
    identification with local differential privacy via incorporating prior knowledge",
    INFOCOM 2019.

    Examples
    --------
    >>> from ldpkit.estimation.noise import Noise
    >>> batch = np.array([[0.6, 0.2, 0.1, 0.02, -0.02, 0.03, -0.01, 0.01]])
    >>> power(batch, Noise(10_000, 0.02)).round(3).tolist()
    [[0.599, 0.198, 0.096, 0.01, 0.003, 0.015, 0.004, 0.006]]
    """
    people, sigma = float(max(noise.n, 1)), noise.stderr * noise.n
    if sigma <= _NEGLIGIBLE_NOISE:
        return np.clip(estimates, LEAST_COUNT / people, 1.0)
    margin = _FARTHEST * sigma
    counts = np.clip(estimates * people, LEAST_COUNT - margin, people + margin)
    nodes_of_a_row = (_LOW_NODES + _MIDDLE_NODES + _NEAR_NODES) * estimates.shape[1]
    rows = max(1, _NODES_AT_ONCE // nodes_of_a_row)
    shrunk = np.empty_like(counts)
    for start in range(0, len(counts), rows):
        shrunk[start : start + rows] = _shrink(counts[start : start + rows], people, sigma)
    return shrunk / people


@consistency("power_ns")
def power_ns(estimates: Floats, noise: Noise) -> Floats:
    """Apply Power, then take the nearest distribution with Norm-Sub (PowerNS).

    Examples
    --------
    >>> from ldpkit.estimation.noise import Noise
    >>> batch = np.array([[0.6, 0.2, 0.1, 0.02, -0.02, 0.03, -0.01, 0.01]])
    >>> float(power_ns(batch, Noise(10_000, 0.02)).sum().round(9))
    1.0
    """
    return norm_sub(power(estimates, noise), noise)


@dataclass(frozen=True)
class _Integrals:
    """The nodes of the integrals over a count x, weighted with the law of each estimate.

    The shared nodes serve all estimates; their weights have shape (rows, k, nodes). Large
    estimates, those where `large` is true, have nodes of their own besides: shape
    (number of large estimates, nodes).
    """

    shared: Floats
    shared_weights: Floats
    large: NDArray[np.bool_]
    near: Floats
    near_weights: Floats

    @classmethod
    def of(cls, counts: Floats, people: float, sigma: float) -> _Integrals:
        low_end = min(max(sigma, LEAST_COUNT), people)
        middle_end = min(max(_MIDDLE_END * sigma, LEAST_COUNT), people)
        logs, log_widths = _legendre(np.log(LEAST_COUNT), np.log(low_end), _LOW_NODES)
        middle, middle_widths = _legendre(low_end, middle_end, _MIDDLE_NODES)
        shared = np.concatenate([np.exp(logs), middle])
        widths = np.concatenate([np.exp(logs) * log_widths, middle_widths])

        inside = np.clip(counts, LEAST_COUNT, people)
        start = np.clip(inside - _NEAR_REACH * sigma, middle_end, people)
        stop = np.clip(inside + _NEAR_REACH * sigma, middle_end, people)
        large = stop > start
        near, near_widths = _legendre(start[large, None], stop[large, None], _NEAR_NODES)
        return cls(
            shared,
            widths * _likelihood(shared, counts, inside, sigma),
            large,
            near,
            near_widths * _likelihood(near, counts[large], inside[large], sigma),
        )

    def evidence(self, exponents: Floats) -> Floats:
        """Return the integrals of x^-s times the likelihood, shape (len(exponents), rows, k).

        The exponents are equally spaced from zero, so that each power of the near nodes is
        the one before times a constant factor.
        """
        integrals: Floats = np.moveaxis(self.shared_weights @ self.shared[:, None] ** -exponents, -1, 0)
        factor = self.near ** -(exponents[1] - exponents[0])
        weights = self.near_weights.copy()
        for index in range(len(exponents)):
            integrals[index, self.large] += weights.sum(-1)
            weights *= factor
        return integrals

    def posterior_mean(self, exponents: Floats) -> Floats:
        """Return the mean of x for each estimate, with one exponent for each row."""
        shared = self.shared_weights * self.shared ** -exponents[:, None, None]
        near = self.near_weights * self.near ** -exponents[np.nonzero(self.large)[0], None]
        mass, first = shared.sum(-1), shared @ self.shared
        mass[self.large] += near.sum(-1)
        first[self.large] += (near * self.near).sum(-1)
        mean: Floats = first / mass
        return mean


def _shrink(counts: Floats, people: float, sigma: float) -> Floats:
    integrals = _Integrals.of(counts, people, sigma)
    exponents = np.arange(0, LARGEST_EXPONENT + EXPONENT_STEP, EXPONENT_STEP)
    evidence = np.log(integrals.evidence(exponents)).sum(-1)
    fit = evidence - counts.shape[1] * np.log(_prior_mass(exponents, people))[:, None]
    means = integrals.posterior_mean(_summit(exponents, fit))
    return np.clip(means, LEAST_COUNT, people)


def _likelihood(nodes: Floats, counts: Floats, inside: Floats, sigma: float) -> Floats:
    """Return the density of each estimate at each node, relative to its largest value.

    With x0 the point of the prior's range nearest to the estimate c, the exponent
    (x - c)^2 - (x0 - c)^2 is (x - x0)^2 + 2 (x - x0)(x0 - c), which neither overflows nor
    cancels however far c lies outside.
    """
    step = (nodes - inside[..., None]) / sigma
    slope = ((inside - counts) / sigma)[..., None]
    return np.exp(-0.5 * step * step - step * slope)


def _legendre(start: Floats | float, stop: Floats | float, count: int) -> tuple[Floats, Floats]:
    """Return the nodes and widths of Gauss-Legendre integration between two ends."""
    nodes, widths = np.polynomial.legendre.leggauss(count)
    half = (np.asarray(stop) - start) / 2
    return np.asarray(start + half * (1 + nodes)), np.asarray(half * widths)


def _prior_mass(exponents: Floats, people: float) -> Floats:
    """Return the integral of x^-s over the range of the prior, for each exponent."""
    span = np.log(people / LEAST_COUNT)
    rise = (1 - exponents) * span  # the integral is LEAST_COUNT^(1-s) * span * (e^rise - 1) / rise
    growth = np.divide(np.expm1(rise), rise, out=np.ones_like(rise), where=rise != 0)
    mass: Floats = LEAST_COUNT ** (1 - exponents) * span * growth
    return mass


def _summit(exponents: Floats, heights: Floats) -> Floats:
    """Return where each column of heights over equally spaced exponents is largest.

    Inside the range it is the top of the parabola through the best point and its two
    neighbours; at an end of the range it is that end.
    """
    best = heights.argmax(0)
    middle = np.clip(best, 1, len(exponents) - 2)
    columns = np.arange(heights.shape[1])
    left, top, right = (heights[middle + offset, columns] for offset in (-1, 0, 1))
    bend = left - 2 * top + right
    shift = np.divide(left - right, 2 * bend, out=np.zeros_like(top), where=bend < 0)
    refined = exponents[middle] + np.clip(shift, -0.5, 0.5) * EXPONENT_STEP
    summit: Floats = np.where(best == middle, refined, exponents[best])
    return summit

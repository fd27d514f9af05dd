"""Power: shrink every estimate towards a power law that is fitted to all of them.

The count x of a value is taken as a draw from 1, 2, ..., n with probabilities
proportional to x^-s, an unbiased estimate as x plus Gaussian noise of known standard
error, and each estimate is replaced by the posterior mean of its x. The exponent s is
the one with the largest marginal likelihood, for each row of a batch on its own.

Every sum over x is a short weighted one. Small counts are taken one by one. Larger ones
go in blocks that double in length until they are three standard errors long, and ten
nodes stand for a block, weighted so that polynomials up to degree 19 are summed exactly.
Far from both ends the noise alone decides, and evenly spaced nodes are as good as all
integers. Relative errors are below 1e-9.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.estimation.consistency import consistency
from ldpkit.estimation.consistency.projection import norm_sub

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldpkit.core.typing import Floats
    from ldpkit.estimation.consistency import Noise

__all__ = ["power", "power_ns"]

LEAST_COUNT = 1
"""Where the prior begins: under a power law there is no value that nobody holds."""
LARGEST_EXPONENT = 4.0
EXPONENT_STEP = 0.125

_BLOCK_NODES = 10
_LONGEST_BLOCK = 3.0  # standard errors
_SIDE_NODES = 10  # evenly spaced, on either side of an estimate
_SPACING = 0.75  # standard errors; ten of them leave out less than 1e-12
_FARTHEST = 40.0  # standard errors outside the prior's range; nothing is learnt beyond
_NODES_AT_ONCE = 1 << 21  # so that a large batch does not fill the memory
_MOST_NODES = 256  # for one estimate, unless there are more than 1e9 people
_NEGLIGIBLE_NOISE = 1e-9  # people
_WIDE = _NODES_AT_ONCE // _MOST_NODES  # values in a row from which on equal estimates are taken together


@consistency("power")
def power(estimates: Floats, noise: Noise) -> Floats:
    """Return posterior means under a power law fitted to the estimates (Power).

    The prior of a count x is proportional to x^-s on 1, 2, ..., n, and the noise is
    N(0, sigma^2) with sigma = n * `noise.stderr`. The exponent s maximises the marginal
    likelihood of the row on the grid 0, 1/8, ..., 4, refined by the parabola through the
    best point and its neighbours. Results lie between 1 / n and 1 for every input; their
    sum is left as it comes out. An estimate more than 40 standard errors outside this
    range counts as one at 40. Without noise the estimates are only cut to the range.

    Runtime: O(k) with a factor of some 10,000 operations for each estimate; for each different
    one in rows of more than 8,192 values.

    Citation: Jia and Gong, "Calibrate: frequency estimation and heavy hitter
    identification with local differential privacy via incorporating prior knowledge",
    INFOCOM 2019.

    Examples
    --------
    >>> from ldpkit.estimation.consistency import Noise
    >>> batch = np.array([[0.6, 0.2, 0.1, 0.02, -0.02, 0.03, -0.01, 0.01]])
    >>> power(batch, Noise(10_000, 0.02)).round(3).tolist()
    [[0.599, 0.198, 0.096, 0.01, 0.003, 0.015, 0.004, 0.007]]
    """
    people = max(noise.n, 1)
    sigma = noise.stderr * people
    if sigma <= _NEGLIGIBLE_NOISE:
        return np.clip(estimates, LEAST_COUNT / people, 1.0)
    margin = _FARTHEST * sigma
    counts = np.clip(estimates * people, LEAST_COUNT - margin, people + margin)
    rows = max(1, _NODES_AT_ONCE // (_MOST_NODES * estimates.shape[1]))
    shrunk = np.empty_like(counts)
    for start in range(0, len(counts), rows):
        shrunk[start : start + rows] = _shrink(counts[start : start + rows], people, sigma)
    return shrunk / people


@consistency("power_ns")
def power_ns(estimates: Floats, noise: Noise) -> Floats:
    """Apply Power, then take the nearest distribution with Norm-Sub (PowerNS).

    Examples
    --------
    >>> from ldpkit.estimation.consistency import Noise
    >>> batch = np.array([[0.6, 0.2, 0.1, 0.02, -0.02, 0.03, -0.01, 0.01]])
    >>> float(power_ns(batch, Noise(10_000, 0.02)).sum().round(9))
    1.0
    """
    return norm_sub(power(estimates, noise), noise)


def _shrink(counts: Floats, people: int, sigma: float) -> Floats:
    """Return the posterior mean of each count, for each row on its own."""
    values = counts.shape[1]
    if values <= _WIDE:
        return _posterior_means(counts, np.ones(values), people, sigma)
    shrunk = np.empty_like(counts)
    for row, estimates in enumerate(counts):  # many values share few counts, whose sums are the same
        distinct, places, times = np.unique(estimates, return_inverse=True, return_counts=True)
        shrunk[row] = _posterior_means(distinct[None, :], times, people, sigma)[0, places]
    return shrunk


def _posterior_means(counts: Floats, times: Floats | NDArray[np.int64], people: int, sigma: float) -> Floats:
    """Return the posterior mean of each count; column c of every row stands for `times[c]` values."""
    exponents = np.arange(0, LARGEST_EXPONENT + EXPONENT_STEP, EXPONENT_STEP)
    fit = np.zeros((len(exponents), len(counts)))
    fit -= times.sum() * np.log(_prior_mass(exponents, people))[:, None]
    # A wide row is read twice, some thousand values at a time: their nodes would fill the memory.
    width = max(1, _NODES_AT_ONCE // (_MOST_NODES * len(counts)))
    pieces = [slice(start, start + width) for start in range(0, counts.shape[1], width)]
    kept = list[list[_Group]]()
    for piece in pieces:
        part = counts[:, piece]
        groups, evidence = list(_groups(part.ravel(), people, sigma)), np.empty((len(exponents), part.size))
        for group in groups:
            evidence[:, group.members] = group.evidence(exponents)
        fit += (np.log(evidence).reshape(-1, *part.shape) * times[piece]).sum(-1)
        if len(pieces) == 1:
            kept.append(groups)
    summits, means = _summit(exponents, fit), np.empty_like(counts)
    for piece in pieces:
        part = counts[:, piece]
        best, found = np.repeat(summits, part.shape[1]), np.empty(part.size)
        for group in kept.pop() if kept else _groups(part.ravel(), people, sigma):
            found[group.members] = group.posterior_mean(best[group.members])
        means[:, piece] = found.reshape(part.shape)
    return np.clip(means, LEAST_COUNT, people)


@dataclass(frozen=True)
class _Group:
    """Estimates whose sums over counts have nodes of one kind.

    `nodes` has shape (1, m) where all members share them, else a row for each member;
    `weights`, always a row for each member, hold the likelihood too.
    """

    members: NDArray[np.int64]
    nodes: Floats
    weights: Floats

    def evidence(self, exponents: Floats) -> Floats:
        """Return the sums of x^-s times the likelihood, a row for each exponent: evenly spaced, from 0."""
        if len(self.nodes) == 1:
            return np.asarray(self.nodes[0] ** -exponents[:, None] @ self.weights.T)
        factor, weights = self.nodes ** -(exponents[1] - exponents[0]), self.weights.copy()
        sums = np.empty((len(exponents), len(self.members)))
        for row in sums:  # each power is the one before times a constant factor
            row[:] = weights.sum(-1)
            weights *= factor
        return sums

    def posterior_mean(self, exponents: Floats) -> Floats:
        """Return the mean of x for each member under its own exponent."""
        mass = self.weights * np.exp(-exponents[:, None] * np.log(self.nodes))
        mean: Floats = (mass * self.nodes).sum(-1) / mass.sum(-1)
        return mean


def _groups(counts: Floats, people: int, sigma: float) -> Iterator[_Group]:
    """Yield the estimates by where they lie: near the lower end, near the upper end, or far from both."""
    spacing = max(1.0, _SPACING * sigma)
    reach = _SIDE_NODES * spacing

    def group(members: NDArray[np.int64], nodes: Floats, weights: Floats | float) -> _Group:
        return _Group(members, nodes, weights * _likelihood(nodes, counts[members], people, sigma))

    if people <= 3 * reach:
        low, low_weights = _sum_rule(people // 2, _LONGEST_BLOCK * sigma)
        high, high_weights = _sum_rule(people - people // 2, _LONGEST_BLOCK * sigma)
        nodes = np.concatenate([low, people + 1 - high])
        yield group(np.arange(len(counts)), nodes[None, :], np.concatenate([low_weights, high_weights]))
        return
    is_low, is_high = counts < 2 * reach, counts > people - reach
    nodes, weights = _sum_rule(math.ceil(3 * reach), _LONGEST_BLOCK * sigma)
    yield group(np.flatnonzero(is_low), nodes[None, :], weights)
    nodes, weights = _sum_rule(math.ceil(2 * reach), _LONGEST_BLOCK * sigma)
    yield group(np.flatnonzero(is_high), people + 1 - nodes[None, :], weights)
    between = np.flatnonzero(~(is_low | is_high))
    centres = np.rint(counts[between]) if spacing == 1 else counts[between]  # on the integers themselves
    steps = spacing * np.arange(-_SIDE_NODES, _SIDE_NODES + 1)
    yield group(between, centres[:, None] + steps, spacing)


def _likelihood(nodes: Floats, counts: Floats, people: int, sigma: float) -> Floats:
    """Return the density of each estimate at each of its nodes, relative to its largest at a count.

    With x0 the possible count nearest to the estimate c, the exponent (x - c)^2 - (x0 - c)^2
    is (x - x0)^2 + 2 (x - x0)(x0 - c), which neither overflows nor cancels however far c
    lies outside.
    """
    nearest = np.clip(np.rint(counts), LEAST_COUNT, people)[:, None]
    step, slope = (nodes - nearest) / sigma, (nearest - counts[:, None]) / sigma
    return np.asarray(np.exp(-0.5 * step * step - step * slope))


def _prior_mass(exponents: Floats, people: int) -> Floats:
    """Return the sum of x^-s over 1, ..., n for each exponent."""
    nodes, weights = _sum_rule(people, math.inf)
    return np.asarray(nodes ** -exponents[:, None] @ weights)


@lru_cache(maxsize=256)
def _sum_rule(last: int, longest: float) -> tuple[Floats, Floats]:
    """Return nodes and weights for sums over 1, ..., last of what changes most near 1.

    Blocks double in length up to `longest`.
    """
    nodes, weights, first = [np.empty(0)], [np.empty(0)], 1
    while first <= last:
        length = min(last + 1 - first, max(_BLOCK_NODES, math.floor(min(first - 1, longest))))
        places, shares = _block_rule(length)
        nodes.append(first + places)
        weights.append(shares)
        first += length
    return np.concatenate(nodes), np.concatenate(weights)


@lru_cache(maxsize=1024)
def _block_rule(length: int) -> tuple[Floats, Floats]:
    """Return the Gauss rule for sums over 0, ..., length - 1: nodes and weights.

    It comes from the recurrence of the polynomials of Gram, which are orthogonal under
    such sums as Legendre's are under integrals. Few integers are their own nodes.
    """
    if length <= _BLOCK_NODES:
        return np.arange(length, dtype=float), np.ones(length)
    k = np.arange(1, _BLOCK_NODES, dtype=float)
    off = k / 2 * np.sqrt((float(length) ** 2 - k**2) / (4 * k**2 - 1))
    places, vectors = np.linalg.eigh(np.diag(off, 1) + np.diag(off, -1))
    return (length - 1) / 2 + places, length * vectors[0] ** 2


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

"""The mean of many numeric reports, drawn from its exact law without drawing users.

Reports of people with the same value fall into few pieces of equally likely cells, so
how many fall where is one multinomial draw. What is left is the sum of uniform draws from
L cells. Split L into powers of two, and each draw within 2**k cells is k fair bits: the
sum over all people is one binomial for each bit. Nothing is taken as normal.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.cells.law import Law
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.numeric.noise import BlockNoise

__all__ = ["sample_means"]

People: TypeAlias = NDArray[np.int64]
"""A number of people for each simulated collection."""

_SAME_LAW = 1e-9  # how far, relatively, bits may be from independent: rounding of the sampler's integers


def sample_means(
    mechanism: NumericMechanism, places: Counts, counts: Counts, *, repeats: int, rng: RandomSource
) -> Floats:
    """Draw the estimated mean of `repeats` collections, with low at 0 and high at 1.

    Parameters
    ----------
    mechanism : NumericMechanism
        One whose mean report is a linear function of the value.
    places, counts : arrays of int
        How many people hold the value at which place of the mechanism's grid.
    repeats : int
        How many collections.
    rng : RandomSource
        What they are drawn with.

    Examples
    --------
    >>> import ldpkit
    >>> duchi = ldpkit.get("duchi", (0, 1), epsilon=1)
    >>> middle = np.array([duchi.grid // 2])
    >>> means = sample_means(duchi, middle, np.array([10_000]), repeats=500, rng=ldpkit.random.seeded(1))
    >>> bool(abs(means.mean() - 0.5) < 0.003), bool(abs(means.var() * 10_000 / duchi.variance(0.5) - 1) < 0.2)
    (True, True)
    """
    if mechanism.line is None:
        raise InvalidParameterError(
            f"the mean report of {mechanism.name} is not a linear function of the value, so there is no "
            "simple mean"
        )
    generator, people = rng.generator(), int(counts.sum())
    if mechanism.can("additive") and mechanism.noise is not None:
        held = float(places.astype(np.float64) @ counts)
        total = (held + _noise(mechanism.noise, people, repeats, generator)) / mechanism.grid
    else:
        total = _reports(mechanism, places, counts, repeats, generator)
    intercept, slope = map(float, mechanism.line)
    means: Floats = (total / people - intercept) / slope
    return means


def _reports(
    mechanism: NumericMechanism,
    places: Counts,
    counts: Counts,
    repeats: int,
    generator: np.random.Generator,
) -> Floats:
    """Return sums of reports: pieces of cells by multinomial draws, then places within the pieces."""
    origin, step = map(float, mechanism.placement)
    atoms = np.array([float(point) for point in mechanism.atom_points])
    total, in_cells = np.zeros(repeats), np.zeros(repeats, np.int64)
    spread: dict[int, People] = defaultdict(lambda: np.zeros(repeats, np.int64))
    for place, count in zip(places.tolist(), counts.tolist(), strict=True):
        law = mechanism.law(place)
        starts, lengths, masses = _layers(law)
        shares = np.concatenate([law.atom_masses, masses])
        drawn = generator.multinomial(count, shares / shares.sum(), size=repeats)
        total += drawn[:, : len(atoms)] @ atoms
        cells = drawn[:, len(atoms) :]
        in_cells += cells.sum(axis=1)
        total += step * (cells @ starts.astype(np.float64))
        for length, people in zip(lengths.tolist(), cells.T, strict=True):
            spread[length] += people
    for length, people in spread.items():
        total += step * _uniform(people, length, generator)
    return total + (origin + step / 2) * in_cells


def _layers(law: Law) -> tuple[Counts, Counts, Floats]:
    """Return starts, lengths and masses of even layers: one over all cells, and what stands out from it."""
    if len(law.weights) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    widths = np.diff(law.edges)
    ground = law.heights[widths > 0].min()
    rises = np.flatnonzero((law.heights > ground) & (widths > 0))
    starts = np.append(law.edges[0], law.edges[rises])
    lengths = np.append(law.edges[-1] - law.edges[0], widths[rises])
    return starts, lengths, lengths * np.append(ground, law.heights[rises] - ground)


def _noise(noise: BlockNoise, people: int, repeats: int, generator: np.random.Generator) -> Floats:
    """Return sums of noise, in cells; what lies beyond the reach, less than 2**-63, is left out."""
    above = generator.binomial(people, 0.5, repeats)
    upper, lower = (_distances(noise, side, generator) for side in (above, people - above))
    return upper - lower


def _distances(noise: BlockNoise, people: People, generator: np.random.Generator) -> Floats:
    """Return sums of distances from zero: the block and the run within it are drawn apart."""
    lengths = np.array(noise.lengths)
    total = people / 2 + noise.steps * _points(people, np.array(noise.blocks, float), generator)
    runs = np.array(noise.weights, float) * lengths
    if (lengths == lengths[0]).all():
        total += lengths[0] * _points(people, runs, generator)
        return total + _uniform(people, int(lengths[0]), generator)
    starts = np.cumsum(lengths) - lengths
    for start, length, share in zip(starts, lengths, _shared(people, runs, generator).T, strict=True):
        total += start * share + _uniform(share, int(length), generator)
    return total


def _points(people: People, weights: Floats, generator: np.random.Generator) -> Floats:
    """Return sums of draws from 0, 1, 2, ... with these weights, bit by bit where bits are independent."""
    bits = _independent_bits(weights / weights.sum())
    if bits is None:
        return _shared(people, weights, generator) @ np.arange(len(weights), dtype=np.float64)
    total = np.zeros(len(people))
    for index, chance in enumerate(bits):
        total += float(1 << index) * generator.binomial(people, chance)
    return total


def _independent_bits(law: Floats) -> list[float] | None:
    """Return the chance of each bit of a draw, the lowest first; None if bits depend on each other."""
    size = len(law)
    if size & (size - 1):
        return None
    draws, product, chances = np.arange(size), np.ones(size), []
    for index in range(size.bit_length() - 1):
        is_set = (draws >> index & 1).astype(bool)
        chance = float(law[is_set].sum())
        product *= np.where(is_set, chance, 1 - chance)
        chances.append(chance)
    return chances if np.allclose(product, law, rtol=_SAME_LAW, atol=0) else None


def _shared(people: People, weights: Floats, generator: np.random.Generator) -> Counts:
    """Return how many of the people draw each entry."""
    return np.asarray(generator.multinomial(people, weights / weights.sum()))


def _uniform(people: People, length: int, generator: np.random.Generator) -> Floats:
    """Return sums of even draws from 0 to before `length`."""
    powers = [power for power in range(length.bit_length()) if length >> power & 1]
    sizes = np.array([float(1 << power) for power in powers])
    drawn = _shared(people, sizes, generator)
    total: Floats = drawn @ (np.cumsum(sizes) - sizes)
    for bit in range(powers[-1]):
        tossing = drawn[:, np.array(powers) > bit].sum(axis=1)
        total += float(1 << bit) * generator.binomial(tossing, 0.5)
    return total

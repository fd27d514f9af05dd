"""A numeric mechanism has the density, the moments and the tally that its exact law says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.random import seeded
from ldpkit.testing.examples import variant
from ldpkit.testing.expect import likely, near, refuses, refuses_bins, require

__all__ = ["NUMERIC", "check_density"]


def check_density(mechanism: Any) -> None:
    """Bias, variance and error are the integrals of the density and the sums over the atoms."""
    nodes, weights = np.polynomial.legendre.leggauss(3)
    low, width = mechanism.domain.low, mechanism.domain.width
    for x in (low, low + 0.671875 * width, low + width):
        points, chances = mechanism.atoms(x)
        law = mechanism.law(int(mechanism.domain.encode([x], steps=mechanism.grid)[0]))
        origin, step = mechanism.placement
        edges = low + width * (float(origin) + float(step) * law.edges)
        half = np.diff(edges) / 2
        y = ((edges[1:] + edges[:-1]) / 2 + nodes[:, None] * half).ravel()
        mass = mechanism.pdf(y, x) * (weights[:, None] * half).ravel() if len(y) else np.zeros(0)
        y, mass = np.append(y, points), np.append(mass, chances)
        near(mechanism, "the total probability", mass.sum(), 1.0, 1e-9)
        mean, scale = mass @ y, max(width**2, mechanism.variance(x))
        near(mechanism, f"bias({x})", mechanism.bias(x), mean - x, 1e-9 * width)
        near(mechanism, f"variance({x})", mechanism.variance(x), mass @ (y - mean) ** 2, 1e-9 * scale)
        for power in (2, 4):
            expected = mass @ (y - x) ** power
            near(mechanism, f"error({x}, {power})", mechanism.error(x, power), expected, 1e-8 * expected)
        if mechanism.line == (0, 1):
            near(mechanism, f"bias({x}) of an unbiased mechanism", mechanism.bias(x), 0.0, 1e-12 * width)


def check_densities(mechanism: Any) -> None:
    """The density has the stated moments at small and at large epsilon."""
    for epsilon in (0.5, 4.0):
        each = variant(mechanism, epsilon=epsilon)
        if each is not None:
            check_density(each)


def check_distribution(mechanism: Any) -> None:
    """The distribution function rises from 0 to 1, jumps at the atoms, and has the density as its slope."""
    low, high = mechanism.output_range
    width = mechanism.domain.width
    for x in (mechanism.domain.low, mechanism.domain.low + width / 3, mechanism.domain.high):
        below = mechanism.cdf(np.linspace(low - width / 8, high + width / 8, 2001), x)
        require((np.diff(below) >= -1e-15).all(), f"{mechanism!r}: cdf(y, {x}) falls")
        require(below[0] == 0, f"{mechanism!r}: expected cdf 0 below all reports, found {below[0]}")
        near(mechanism, "cdf above all reports", below[-1], 1.0, 1e-12)
        points, chances = mechanism.atoms(x)
        jumps = mechanism.cdf(points, x) - mechanism.cdf(points - 1e-9 * width, x) if len(points) else points
        require(
            np.allclose(jumps, chances, atol=1e-6), f"{mechanism!r}: expected jumps {chances}, found {jumps}"
        )
        beside = x + width * np.array([-1, 1]) / 800 if mechanism.cells else np.zeros(0)
        for point in beside[(beside > low) & (beside < high)]:
            step = 1e-7 * width
            slope = (mechanism.cdf(point + step, x) - mechanism.cdf(point - step, x)) / (2 * step)
            near(mechanism, f"the slope of cdf at {point}", slope, mechanism.pdf(point, x), 1e-3 * slope)


def check_full_grid(mechanism: Any) -> None:
    """Reports on the full grid have the stated mean, variance, range and distribution."""
    n, width = 50_000, mechanism.domain.width
    middle = mechanism.domain.low + 0.625 * width
    for x, source in zip((mechanism.domain.low, middle), seeded(22).spawn(2), strict=True):
        y = mechanism.values_of(mechanism.privatize(np.full(n, x), rng=source))
        variance, fourth = mechanism.variance(x), np.mean((y - y.mean()) ** 4)
        low, high = mechanism.output_range
        require(low <= y.min() <= y.max() <= high, f"{mechanism!r}: reports outside {low} to {high}")
        at_most = mechanism.cdf(middle, x)
        z = {
            "mean": (y.mean() - x - mechanism.bias(x)) / math.sqrt(variance / n),
            "variance": (y.var() - variance) / math.sqrt(max(fourth - variance**2, 1e-9 * width**4) / n),
            "distribution": ((y <= middle).mean() - at_most)
            / math.sqrt(max(at_most * (1 - at_most), 1e-9) / n),
        }
        for moment, found in z.items():
            likely(mechanism, moment, x, found)


def check_bins(mechanism: Any) -> None:
    """The bins of a tally have the chances of the law, its total is exact, impossible ones are refused."""
    low, width = mechanism.domain.low, mechanism.domain.width
    values, size = low + width * np.array([0, 0.375, 1]), mechanism.tally_size
    masses = mechanism.bin_masses(values)
    require(masses.shape == (3, size - 1), f"expected {size - 1} chances of a tally, found {masses.shape[1]}")
    require((masses >= 0).all() and np.allclose(masses.sum(axis=1), 1, atol=1e-12), "chances do not sum to 1")
    reports = mechanism.privatize(np.linspace(low, low + width, 1001), rng=seeded(2))
    tally = mechanism.tally(reports)
    mean = low + width * float(mechanism.total(tally.counts)) / tally.n
    near(mechanism, "the mean of a tally", mean, mechanism.values_of(reports).mean(), 1e-9 * width)
    refuses_bins(mechanism)
    refuses(InvalidInputError, mechanism.tally, np.array([mechanism.cells + len(mechanism.atom_points)]))
    refuses(InvalidInputError, mechanism.tally, reports.astype(float) + 0.5)


NUMERIC = (check_densities, check_distribution, check_full_grid, check_bins)

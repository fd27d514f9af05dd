"""The mean of numbers, without bias wherever the mechanism allows it.

Where the mean of a report is a linear function of the value, the mean of the reports is
put back on the line, in exact arithmetic. Where it is not (truncated and bounded
mechanisms), every bin of the tally gets a weight such that the weighted count estimates
the mean with the least mean squared error over all values, and what bias is left is
counted into the standard error.

The standard error comes from the known variance of a report, averaged over the people:
where it is a quadratic of the value, the mean and the mean square of the values are
enough. Otherwise it comes from the variance seen among the reports.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.estimation.density import numeric_mechanism
from ldpkit.estimation.numeric import NumericEstimate
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tally import ESTIMATORS, Tally

__all__ = ["mean"]

_POINTS = 129  # values at which the weights of bins are made to fit


@ESTIMATORS.register("mean")
def mean(tally: Tally, *, population: bool = False) -> NumericEstimate:
    """Return the mean with its standard error.

    Parameters
    ----------
    tally : Tally
        Reports of a numeric mechanism.
    population : bool
        False: the error is about the people who reported. True: about the population
        they were drawn from, with the variance seen among the reports.
    """
    mechanism = numeric_mechanism(tally)
    line = mechanism.line
    if line is None:
        share, stderr, spread = _weighted(mechanism, tally)
    else:
        share, stderr, spread = _on_line(mechanism, tally, population=population)
    width = mechanism.domain.width
    return NumericEstimate(
        mean=mechanism.domain.low + width * share,
        stderr=width * stderr,
        variance=width**2 * spread,
        n=tally.n,
        domain=mechanism.domain,
        made_by={"mechanism": mechanism.name, **mechanism.parameters(), "method": "mean"},
        tally=tally,
    )


def _on_line(mechanism: NumericMechanism, tally: Tally, *, population: bool) -> tuple[float, float, float]:
    """Return mean, standard error and variance of the values, with low at 0 and high at 1."""
    intercept, slope = mechanism.line or (0, 1)
    exact_mean = mechanism.total(tally.counts) / tally.n
    share, gain = float((exact_mean - intercept) / slope), float(slope)
    square = _mean_square(mechanism, tally)
    seen = (square - float(exact_mean) ** 2) * tally.n / max(tally.n - 1, 1)
    noise = _quadratic(mechanism)
    if noise is None:
        return share, math.sqrt(max(seen, 0.0) / tally.n) / gain, _weighted(mechanism, tally)[2]
    squares = np.polyadd(noise, np.polymul([gain, float(intercept)], [gain, float(intercept)]))
    near = min(max(share, 0.0), 1.0)
    tells_squares = abs(squares[0]) > 1e-9 * abs(squares).max()  # Duchi's reports do not
    value_square = (
        (near**2 if noise[0] < 0 else near)
        if not tells_squares
        else ((square - squares[1] * share - squares[2]) / squares[0])
    )
    plausible = min(max(value_square, near**2), near)  # of numbers between 0 and 1 with this mean
    variance = seen if population else float(noise @ [plausible, near, 1.0])
    stderr = math.sqrt(max(variance, 0.0) / tally.n) / gain
    return share, stderr, max(value_square - share**2 + stderr**2, 0.0) if tells_squares else math.nan


def _mean_square(mechanism: NumericMechanism, tally: Tally) -> float:
    """Return the mean square of the reports, those of a bin being even within it."""
    origin, step = (float(part) for part in mechanism.placement)
    edges = origin + step * mechanism.bin_edges.astype(float)
    low, high = edges[:-1], edges[1:]
    points = np.array([float(point) for point in mechanism.atom_points])
    squares = np.concatenate([(low * low + low * high + high * high) / 3, points**2])
    return float(tally.counts[:-1] @ squares / tally.n)


@lru_cache(maxsize=64)
def _quadratic(mechanism: NumericMechanism) -> Floats | None:
    """Return the coefficients of the variance of a report as a quadratic of the value from 0 to 1.

    None if it is not a quadratic, as the values in between tell.
    """
    domain = mechanism.domain
    points = np.linspace(0, 1, 9)
    variances = mechanism.variance(domain.decode(range(9), steps=8)) / domain.width**2
    fitted = np.linalg.solve(np.vander(points[::4], 3), variances[::4])
    is_quadratic = np.allclose(np.polyval(fitted, points), variances, rtol=1e-6)
    return np.array(fitted) if is_quadratic else None


def _weighted(mechanism: NumericMechanism, tally: Tally) -> tuple[float, float, float]:
    """Return mean, standard error and variance of the values from weights of bins."""
    n, matrix = tally.n, _masses(mechanism)
    middled = np.linspace(-0.5, 0.5, _POINTS)
    targets = np.stack([middled, middled**2], axis=1)
    # Minimise n mean(bias^2) + mean(weight^2), by its dual, which has a row a value, not a bin.
    spread = matrix / np.maximum(matrix.mean(axis=0), 1e-300)
    weights = spread.T @ np.linalg.solve(spread @ matrix.T + np.eye(_POINTS) * _POINTS / n, targets)
    bias = np.abs(matrix @ weights[:, 0] - targets[:, 0]).max()
    seen = tally.counts[:-1] / n
    first, second = (float(value) for value in seen @ weights)
    variance = float(seen @ weights[:, 0] ** 2) - first**2
    stderr = math.sqrt(max(variance, 0.0) / n + bias**2)
    return first + 0.5, stderr, max(second - first**2 + variance / n, 0.0)


@lru_cache(maxsize=16)
def _masses(mechanism: NumericMechanism) -> Floats:
    """Return the chances of a tally's bins for values spread evenly over the domain."""
    return mechanism.bin_masses(np.linspace(mechanism.domain.low, mechanism.domain.high, _POINTS))

"""From binned reports back to the distribution of values: averages of a channel, EM, EMS and least squares.

What is on a line and what is on a circle differ only in their channel and in whether the
first bin is a neighbour of the last.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.consistency import CONSISTENCY, Noise

__all__ = ["averages", "invert_counts", "maximise", "memory_of", "scatter"]

_MOST_STEPS = 10_000
_LARGE = 1 << 19  # entries of a channel, from which steps are dear: of these there are half as many
_MOST_REPORTS = 1e9
_AT_ONCE = 256  # bins whose averages are taken together
_SQUARES = {"ems": 5, "em": 0, "inversion": 2}  # matrices of bins by bins that are held at a time
_CHANNELS = 6  # matrices of the size of the channel that are held at a time, with those of a library


def averages(at: Floats, chances: Floats, length: int, bins: int) -> Floats:
    """Return the mean of chances that change evenly between places, over each of `bins` equal bins.

    Parameters
    ----------
    at : array
        The places, ascending from 0 to `length`.
    chances : array, shape (places, k)
        What they are there.
    length : int
        Where the last bin ends.
    bins : int
        How many bins there are.

    Examples
    --------
    >>> averages(np.array([0.0, 1.0, 4.0]), np.array([[0.0], [1.0], [1.0]]), 4, 2).tolist()
    [[0.75], [1.0]]
    """
    areas = np.diff(at)[:, None] * (chances[1:] + chances[:-1]) / 2
    below = np.concatenate([np.zeros((1, chances.shape[1])), np.cumsum(areas, axis=0)])
    every = np.linspace(0, length, bins + 1)
    matrix: Floats = np.empty((bins, chances.shape[1]))
    for first in range(0, bins, _AT_ONCE):  # what is made on the way is several times as large as the matrix
        edges = every[first : first + _AT_ONCE + 1]
        before = np.clip(np.searchsorted(at, edges, "right") - 1, 0, len(at) - 2)
        beyond = (edges - at[before])[:, None]
        slopes = (chances[before + 1] - chances[before]) / np.diff(at)[before, None]
        integrals = below[before] + beyond * (chances[before] + beyond * slopes / 2)
        means = np.diff(integrals, axis=0) / np.diff(edges)[:, None]
        np.maximum(means, 0.0, out=matrix[first : first + _AT_ONCE])
    return matrix


def memory_of(algorithm: str, bins: int, reports: int) -> int:
    """Return how many bytes the way back takes, from so many bins of reports to so many of values.

    Examples
    --------
    >>> memory_of("ems", 256, 1024) >> 20
    14
    """
    return 8 * bins * (_SQUARES[algorithm] * bins + _CHANNELS * reports)


def maximise(matrix: Floats, counts: Counts, epsilon: float, *, smooth: bool, around: bool = False) -> Floats:
    """Return the distribution that EM or EMS finds for binned reports.

    Steps end when the log-likelihood grows by less than 0.001 (EMS) or 0.001 e^eps (EM), in collections
    of more than a thousand million by so much for each thousand million; in any case after 10,000, or
    after 5,000 where the matrix is large.
    `around` smooths the first and the last bin with each other, as neighbours on a circle.
    """
    seen = counts / counts.sum()
    masses: Floats = np.full(len(matrix), 1 / len(matrix))
    smoothing = _smoothing(len(matrix), around) if smooth else None
    tolerance = 1e-3 * (1.0 if smooth else float(np.exp(epsilon))) / min(float(counts.sum()), _MOST_REPORTS)
    before = -np.inf
    for _ in range(_MOST_STEPS if matrix.size <= _LARGE else _MOST_STEPS // 2):
        expected = np.maximum(masses @ matrix, 1e-300)
        likelihood = float(seen @ np.log(expected))
        if abs(likelihood - before) < tolerance:
            break
        before = likelihood
        masses = masses * (matrix @ (seen / expected))
        if smoothing is not None:
            masses = smoothing @ masses
            masses /= masses.sum()
    return masses / float(masses.sum())


@lru_cache(maxsize=2)
def _smoothing(bins: int, around: bool) -> Floats:
    """Return the matrix that averages each bin with its neighbours by weights 1, 2, 1; at the ends 2, 1.

    Around a circle there are no ends.
    """
    matrix: Floats = np.zeros((bins, bins))
    for offset, weight in ((0, 2.0), (1, 1.0), (-1, 1.0)):
        np.fill_diagonal(matrix[max(-offset, 0) :, max(offset, 0) :], weight)
    if around:
        matrix[0, -1] += 1
        matrix[-1, 0] += 1
    matrix /= matrix.sum(axis=1, keepdims=True)
    return matrix


def scatter(matrix: Floats, counts: Counts, masses: Floats, *, around: bool = False) -> Floats:
    """Return the covariance of what EMS finds, by the delta method at its fixed point.

    A step is p -> P u with u = p (T r), r = seen / (p T), and P smoothing and scaling to
    sum one. What moves `seen` moves the fixed point by (1 - P du/dp)^-1 P du/dseen.
    """
    n = counts.sum()
    seen = counts / n
    expected = np.maximum(masses @ matrix, 1e-300)
    ratio = seen / expected
    smoothed = _smoothing(len(masses), around)
    kept = np.outer(masses, smoothed.sum(axis=0))
    np.subtract(smoothed, kept, out=kept)
    # In place, and nothing is kept longer than it is needed: of thousands of bins, each of these is large.
    by_mass = (matrix * (ratio / expected)) @ matrix.T
    by_mass *= -masses[:, None]
    by_mass.flat[:: len(masses) + 1] += matrix @ ratio
    system = kept @ by_mass
    del by_mass
    np.negative(system, out=system)
    system.flat[:: len(masses) + 1] += 1
    by_seen = masses[:, None] * matrix
    by_seen /= expected
    moves = kept @ by_seen
    del kept, by_seen
    moved = np.linalg.solve(system, moves)
    del system, moves
    return _covariance(moved, seen, moved @ seen, float(n))


def invert_counts(matrix: Floats, counts: Counts) -> tuple[Floats, Floats]:
    """Return the least-squares solution made consistent, and the covariance it had before."""
    n, inverse = counts.sum(), np.asarray(np.linalg.pinv(matrix.T), np.float64)
    seen = counts / n
    rough: Floats = inverse @ seen
    covariance = _covariance(inverse, seen, rough, float(n))
    return CONSISTENCY.get("norm_sub")(rough[None, :], Noise(int(n), 0.0))[0], covariance


def _covariance(weights: Floats, seen: Floats, mean: Floats, n: float) -> Floats:
    """Return the covariance of weighted shares of n reports, given their mean."""
    covariance: Floats = (weights * seen) @ weights.T
    covariance -= np.outer(mean, mean)
    covariance /= n
    return covariance

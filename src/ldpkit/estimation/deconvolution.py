"""From binned reports back to the distribution of values: averages of a channel, EM, EMS and least squares.

What is on a line and what is on a circle differ only in their channel and in whether the
first bin is a neighbour of the last.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.consistency import CONSISTENCY, Noise

__all__ = ["averages", "invert_counts", "maximise", "scatter"]

_MOST_STEPS = 10_000
_LARGE = 1 << 19  # entries of a channel, from which steps are dear: of these there are half as many
_MOST_REPORTS = 1e9


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
    edges = np.linspace(0, length, bins + 1)
    before = np.clip(np.searchsorted(at, edges, "right") - 1, 0, len(at) - 2)
    beyond = (edges - at[before])[:, None]
    slopes = (chances[before + 1] - chances[before]) / np.diff(at)[before, None]
    integrals = below[before] + beyond * (chances[before] + beyond * slopes / 2)
    matrix: Floats = np.maximum(np.diff(integrals, axis=0) / np.diff(edges)[:, None], 0.0)
    return matrix


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


@lru_cache(maxsize=16)
def _smoothing(bins: int, around: bool) -> Floats:
    """Return the matrix that averages each bin with its neighbours by weights 1, 2, 1; at the ends 2, 1.

    Around a circle there are no ends.
    """
    matrix: Floats = 2 * np.eye(bins) + np.eye(bins, k=1) + np.eye(bins, k=-1)
    if around:
        matrix[0, -1] += 1
        matrix[-1, 0] += 1
    scaled: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return scaled


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
    kept = smoothed - np.outer(masses, smoothed.sum(axis=0))
    by_mass = np.diag(matrix @ ratio) - masses[:, None] * ((matrix * (ratio / expected)) @ matrix.T)
    by_seen = masses[:, None] * matrix / expected
    moved = np.linalg.solve(np.eye(len(masses)) - kept @ by_mass, kept @ by_seen)
    mean = moved @ seen
    covariance: Floats = ((moved * seen) @ moved.T - np.outer(mean, mean)) / n
    return covariance


def invert_counts(matrix: Floats, counts: Counts) -> tuple[Floats, Floats]:
    """Return the least-squares solution made consistent, and the covariance it had before."""
    n = counts.sum()
    seen, inverse = counts / n, np.linalg.pinv(matrix.T)
    rough = inverse @ seen
    covariance: Floats = ((inverse * seen) @ inverse.T - np.outer(rough, rough)) / n
    return CONSISTENCY.get("norm_sub")(rough[None, :], Noise(int(n), 0.0))[0], covariance

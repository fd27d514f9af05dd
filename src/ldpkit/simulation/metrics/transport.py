"""Earth mover's distance: the work of turning one distribution into another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.errors import InvalidInputError, LdpkitError
from ldpkit.simulation.metrics import check_batch, metric
from ldpkit.simulation.metrics.masses import masses

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ldpkit.core.typing import Floats

__all__ = ["circular_emd", "emd", "emd_with_distances"]


@metric(
    "emd",
    "earth_movers_distance",
    "wasserstein",
    title="earth mover's distance",
    unit="mass times steps between neighbouring values",
    citation="Rubner, Tomasi and Guibas, 2000",
)
def emd(truth: Floats, estimates: Floats) -> Floats:
    """Return the earth mover's distance for values in order, neighbours one step apart.

    It is the sum of the absolute differences of the two cumulative distributions. Both
    sides are first made distributions: negative estimates count as zero, what is left is
    scaled to sum to one, a row with nothing positive is uniform. For values that do not
    lie on a line use `emd_with_distances`.

    Examples
    --------
    >>> emd([1.0, 0.0, 0.0], [[0.0, 0.0, 1.0], [0.5, 0.5, -0.1]]).tolist()
    [2.0, 0.5]
    """
    true, estimated = masses(truth, estimates)
    work: Floats = np.abs(np.cumsum(estimated - true, axis=1)).sum(1)
    return work


@metric(
    "circular_emd",
    "circular_wasserstein",
    title="earth mover's distance around a circle",
    unit="mass times steps between neighbouring values",
    citation="Rabin, Delon and Gousseau, 2011",
)
def circular_emd(truth: Floats, estimates: Floats) -> Floats:
    """Return the earth mover's distance for values around a circle, neighbours one step apart.

    The first value is a neighbour of the last. Mass may go either way round, so the
    cumulative differences are measured from their median: nothing makes their sum smaller.
    Masses are made as in `emd`.

    Examples
    --------
    >>> circular_emd([1.0, 0.0, 0.0, 0.0], [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]).tolist()
    [1.0, 2.0]
    """
    true, estimated = masses(truth, estimates)
    ahead = np.cumsum(estimated - true, axis=1)
    work: Floats = np.abs(ahead - np.median(ahead, axis=1, keepdims=True)).sum(1)
    return work


def emd_with_distances(truth: ArrayLike, estimates: ArrayLike, distances: ArrayLike) -> Floats:
    """Return the earth mover's distance for any distances between the values.

    A linear program for each estimate, with k^2 unknowns, solved by HiGHS. Masses are
    made as in `emd`.

    Parameters
    ----------
    truth : array, shape (k,)
        The true frequencies.
    estimates : array, shape (batch, k)
        The estimated ones.
    distances : array, shape (k, k)
        What moving a unit of mass from one value to another costs; not negative.

    Examples
    --------
    >>> circle = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> emd_with_distances([1.0, 0.0, 0.0], [[0.0, 0.0, 1.0]], circle).tolist()
    [1.0]
    """
    known, batch = check_batch(truth, estimates)
    costs = _check_distances(distances, known.size)
    supply, demands = masses(known, batch)
    return np.array([_least_work(supply, demand, costs) for demand in demands])


def _least_work(supply: Floats, demand: Floats, costs: Floats) -> float:
    from scipy import sparse
    from scipy.optimize import linprog

    size = len(supply)
    ones = np.ones((1, size))
    leaving = sparse.kron(sparse.eye_array(size), ones)
    arriving = sparse.kron(ones, sparse.eye_array(size))
    # The last condition follows from the others; with it, rounding could make them contradict.
    conditions = sparse.vstack([leaving, arriving]).tocsr()[:-1]
    amounts = np.concatenate([supply, demand])[:-1]
    solved = linprog(costs.ravel(), A_eq=conditions, b_eq=amounts, method="highs")
    if not solved.success:
        raise LdpkitError(f"the earth mover's program was not solved: {solved.message}")
    return float(solved.fun)


def _check_distances(distances: ArrayLike, size: int) -> Floats:
    try:
        costs = np.asarray(distances, float)
    except (TypeError, ValueError):
        raise InvalidInputError("distances must be an array of numbers") from None
    if costs.shape != (size, size):
        raise InvalidInputError(f"distances must have shape ({size}, {size}), got {costs.shape}")
    if not np.isfinite(costs).all() or (costs < 0).any():
        raise InvalidInputError("distances must be finite and not negative")
    return costs

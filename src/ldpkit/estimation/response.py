"""Linear functionals of reports: what a weight for each bin of a tally estimates, for every value.

Given weights, the mean weight of a report is a curve over the values. Between the places
where an edge of a likely window passes an edge of a bin that curve is straight, so
computing it at these places tells what it is everywhere, and how far it is from what it
should be: the bias that an interval has to include.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["bend", "fit", "masses", "places"]

_EVENLY = 1024  # places that are taken in any case
_PROBES = 64
_MANY_PIECES = 4096  # a law in more pieces is the Laplace law: its curve is smooth, see `bend`
_TOWARDS_BIAS = 30  # the bias enters an interval in full: it is worth more than its square says
_MOST_PEOPLE = 1 << 40  # with more, scatter is lost in rounding beside bias, and the system is singular


@lru_cache(maxsize=16)
def places(mechanism: NumericMechanism) -> Counts:
    """Return the places of the grid between which the chance of every bin changes evenly.

    Examples
    --------
    >>> import ldpkit
    >>> wave = ldpkit.get("truncated_sw", (0, 1), epsilon=6)
    >>> 2 * 1024 < len(places(wave)) < 4 * 1024
    True
    """
    grid = mechanism.grid
    found = [np.linspace(0, grid, min(grid, _EVENLY) + 1).round().astype(np.int64)]
    intervals = int(mechanism.parameters().get("intervals", 1))  # a table's law is even between its rows
    rows = np.arange(intervals + 1, dtype=np.int64) * grid
    found += [rows // intervals, -(-rows // intervals)]
    offsets: set[tuple[int, int]] = set()
    for probe in np.linspace(0, grid - 1, min(grid, _PROBES)).round().astype(np.int64):
        here, next_to_it = mechanism.law(int(probe)).edges, mechanism.law(int(probe) + 1).edges
        if len(here) == len(next_to_it) <= _MANY_PIECES:
            speeds = next_to_it - here
            moved = speeds > 0
            offsets.update(zip((here - speeds * probe)[moved].tolist(), speeds[moved].tolist(), strict=True))
    for (
        offset,
        speed,
    ) in offsets:  # an edge stands at offset + speed * place, and passes those of bins in turn
        passed = mechanism.bin_edges - offset
        for at in (passed // speed, -(-passed // speed)):
            found.append(at[(at >= 0) & (at <= grid)])
    return np.unique(np.concatenate(found))


@lru_cache(maxsize=4)
def masses(mechanism: NumericMechanism) -> Floats:
    """Return the chances of a tally's bins and atoms, a row for each of `places`."""
    found = mechanism.bin_masses(mechanism.domain.decode(places(mechanism), steps=mechanism.grid))
    found.setflags(write=False)
    return found


def bend(mechanism: NumericMechanism) -> float:
    """Return how far a curve may be from straight between two places, in units of the range of weights.

    The second derivative of the Laplace law's curve is at most epsilon^2 times that range.
    """
    if mechanism.grid <= _EVENLY or len(mechanism.law(mechanism.grid // 2).edges) <= _MANY_PIECES:
        return 0.0
    return (mechanism.epsilon / _EVENLY) ** 2 / 8


def fit(mechanism: NumericMechanism, targets: Floats, n: int) -> Floats:
    """Return weights of bins whose mean is near the target for every value, and scatters little.

    Parameters
    ----------
    mechanism : NumericMechanism
        What made the reports.
    targets : array, shape (places, k)
        What the mean weight should be at each of `places`; k functions at once.
    n : int
        The number of reports: with more of them less bias is worth more scatter.

    Returns
    -------
    array, shape (bins and atoms, k)
        They minimise 30 n mean(bias^2) + mean(weight^2).
    """
    matrix = masses(mechanism)
    middle = targets.mean(axis=0)  # weights are measured from here, so that a constant costs nothing
    scale = _TOWARDS_BIAS * min(n, _MOST_PEOPLE) / len(matrix)
    system = scale * matrix.T @ matrix + np.diag(np.maximum(matrix.mean(axis=0), 1e-12))
    weights: Floats = np.linalg.solve(system, scale * matrix.T @ (targets - middle)) + middle
    return weights

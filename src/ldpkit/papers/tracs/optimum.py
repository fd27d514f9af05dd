"""The best of all mechanisms on a grid of cells: a linear program, made small by symmetry."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Counts
from ldpkit.mechanisms.spatial.integrals import over_rectangle

__all__ = ["least_error"]


def _orbits(side: int) -> tuple[Counts, Counts]:
    """Return for each pair of cells, and for each cell, which ones the symmetries of a square make of it."""
    column, row = np.divmod(np.arange(side * side), side)
    last = side - 1
    turned = [
        (column, row),
        (last - column, row),
        (column, last - row),
        (last - column, last - row),
        (row, column),
        (last - row, column),
        (row, last - column),
        (last - row, last - column),
    ]
    maps = np.stack([one * side + two for one, two in turned])
    pairs = (maps[:, :, None] * side * side + maps[:, None, :]).min(axis=0)
    cells = maps.min(axis=0)
    return (
        np.unique(pairs, return_inverse=True)[1].reshape(pairs.shape),
        np.unique(cells, return_inverse=True)[1].ravel(),
    )


@lru_cache(maxsize=8)
def least_error(epsilon: float, side: int = 16) -> float:
    """Return the least mean distance of any mechanism from cells of the unit square to their centres.

    Locations are equally likely everywhere; the device tells the mechanism only the cell of a
    location, one of side x side, and a report is the centre of a cell. A mechanism can be turned
    and mirrored without a change of its error, so the mean of all eight is one as well, and only
    pairs of cells that differ beyond that need a variable.

    Examples
    --------
    >>> round(least_error(4.0, 4), 4)
    0.1853
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    pair, cell = _orbits(side)
    count = side * side
    column, row = np.divmod(np.arange(count), side)
    low = np.stack([column, row], axis=1) / side
    centres = low + 0.5 / side
    costs = over_rectangle(low[:, None, :], low[:, None, :] + 1 / side, centres[None]) * count
    pairs, kinds = int(pair.max()) + 1, int(cell.max()) + 1
    # The chance of y for x is floor(y) + more(x, y), with more at most (e^eps - 1) floor(y).
    objective = np.concatenate(
        [
            np.bincount(pair.ravel(), costs.ravel(), pairs),
            np.bincount(np.tile(cell, count), costs.ravel(), kinds),
        ]
    )
    of_pair = np.zeros(pairs, np.int64)
    of_pair[pair.ravel()] = np.tile(cell, count)
    places = np.arange(pairs)
    bounded = coo_matrix(
        (
            np.concatenate([np.ones(pairs), np.full(pairs, 1 - math.exp(epsilon))]),
            (np.tile(places, 2), np.concatenate([places, pairs + of_pair])),
        ),
        shape=(pairs, pairs + kinds),
    ).tocsr()
    first = np.array([int(np.flatnonzero(cell == kind)[0]) for kind in range(kinds)])
    sums = np.zeros((kinds, pairs + kinds))
    for kind, place in enumerate(first):
        sums[kind] += np.bincount(pair[place], minlength=pairs + kinds)
        sums[kind] += np.bincount(pairs + cell, minlength=pairs + kinds)
    found = linprog(
        objective / count,
        A_ub=bounded,
        b_ub=np.zeros(pairs),
        A_eq=sums,
        b_eq=np.ones(kinds),
        method="highs-ipm" if side > 8 else "highs",
    )
    return float(found.fun)

"""The best of all mechanisms on a grid of cells: a linear program, made small by symmetry."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.spatial.integrals import over_rectangle

__all__ = ["least_error"]


def _turned(side: int) -> Counts:
    """Return where the eight symmetries of a square take each cell of a grid, shape (8, cells)."""
    column, row = np.divmod(np.arange(side * side), side)
    last = side - 1
    pairs = [(column, row), (last - column, row), (column, last - row), (last - column, last - row)]
    pairs += [(two, one) for one, two in pairs]
    return np.stack([one * side + two for one, two in pairs])


def _numbered(values: Counts) -> Counts:
    return np.unique(values, return_inverse=True)[1].reshape(values.shape)


def _costs(side: int, answers: int, at_centres: bool) -> Floats:
    """Return the mean distance from a location of each cell, or from its centre, to each answer."""
    cells = np.stack(np.divmod(np.arange(side * side), side), axis=1) / side
    points = (np.stack(np.divmod(np.arange(answers * answers), answers), axis=1) + 0.5) / answers
    low = cells[:, None, :]
    if at_centres:
        return np.asarray(np.hypot(*np.moveaxis(low + 0.5 / side - points, -1, 0)))
    return over_rectangle(low, low + 1 / side, points[None]) * side * side


@lru_cache(maxsize=8)
def least_error(
    epsilon: float, side: int = 16, answers: int | None = None, *, at_centres: bool = False
) -> float:
    """Return the least mean distance of any mechanism that knows only the cell of a location.

    Locations of the unit square are equally likely everywhere. The device tells the mechanism
    which of side x side cells a location lies in, and a report is the middle of one of
    answers x answers cells. A mechanism can be turned and mirrored without a change of its
    error, so the mean of all eight is one as well, and only pairs that differ beyond that need a
    variable. `at_centres` has people only there: a grid that is all there is, not a part of the plane.

    Examples
    --------
    >>> round(least_error(4.0, 3), 4)
    0.1821
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    many = side if answers is None else answers
    first, second = _turned(side), _turned(many)
    pair = _numbered((first[:, :, None] * many * many + second[:, None, :]).min(axis=0))
    own, other = _numbered(first.min(axis=0)), _numbered(second.min(axis=0))
    costs = _costs(side, many, at_centres) / (side * side)
    pairs, kinds = int(pair.max()) + 1, int(other.max()) + 1
    of_answer = np.broadcast_to(other, pair.shape)
    # The chance of y for x is floor(y) + more(x, y), with more at most (e^eps - 1) floor(y).
    objective = np.concatenate(
        [
            np.bincount(pair.ravel(), costs.ravel(), pairs),
            np.bincount(of_answer.ravel(), costs.ravel(), kinds),
        ]
    )
    kind_of = np.zeros(pairs, np.int64)
    kind_of[pair.ravel()] = of_answer.ravel()
    places = np.arange(pairs)
    bounded = coo_matrix(
        (
            np.concatenate([np.ones(pairs), np.full(pairs, 1 - math.exp(epsilon))]),
            (np.tile(places, 2), np.concatenate([places, pairs + kind_of])),
        ),
        shape=(pairs, pairs + kinds),
    ).tocsr()
    chosen = [int(np.argmax(own == each)) for each in range(int(own.max()) + 1)]
    sums = np.stack([np.bincount(pair[place], minlength=pairs + kinds) for place in chosen]).astype(float)
    sums += np.bincount(pairs + other, minlength=pairs + kinds)
    found = linprog(
        objective,
        A_ub=bounded,
        b_ub=np.zeros(pairs),
        A_eq=sums,
        b_eq=np.ones(len(chosen)),
        method="highs-ipm" if side > 8 else "highs",
    )
    return float(found.fun)

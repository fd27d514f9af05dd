"""AAA's linear program for HiGHS.

`interior` solves the same program many times faster; this is the independent check, and
what is tried when the other does not come to an end.
"""

from __future__ import annotations

import math

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.mechanisms.adaptive.descriptor import is_symmetric
from ldpkit.mechanisms.adaptive.interior import Solution
from ldpkit.mechanisms.adaptive.lattice import Lattice
from ldpkit.mechanisms.tables.program import best_table, row_sums

__all__ = ["solve_with_highs"]


def solve_with_highs(
    lattice: Lattice, descriptor: Floats, epsilon: float, *, time_limit: float = math.inf
) -> Solution | None:
    """Return the optimum of the program, or None if HiGHS does not find it in time.

    Examples
    --------
    >>> solution = solve_with_highs(Lattice(2, 4), np.array([0.25, 0.5, 0.25]), 1.0)
    >>> solution.table.shape
    (7, 3)
    """
    shape = len(lattice.outputs), lattice.bins + 1
    mass, mean = row_sums(np.ones(shape)), row_sums(np.repeat(lattice.places[:, None], shape[1], axis=1))
    found = best_table(
        shape,
        epsilon,
        lattice.costs(descriptor).reshape(1, -1),
        [(mass, np.ones(shape[1])), (mean, lattice.inputs)],
        symmetric=is_symmetric(descriptor),
        time_limit=time_limit,
    )
    if found is None:
        return None
    return Solution(lattice, found.table, found.floor, found.value, found.value, found.steps)

"""AAA's solutions as integers in which every promise holds exactly.

The grain that makes room for rounding has outputs at the ends with probabilities strictly
between floor and ceiling, and what rows lack in mass and mean is made up there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.adaptive.interior import Solution, starting_table
from ldpkit.mechanisms.adaptive.lattice import Lattice
from ldpkit.mechanisms.adaptive.table import NoiseTable
from ldpkit.mechanisms.tables.integers import Room, grained, lacking

__all__ = ["repair"]

_NEGLIGIBLE = 1e-10  # outputs less likely than this for every input are dropped


def repair(solution: Solution, epsilon: float) -> NoiseTable:
    """Return an integer table that is exactly epsilon-LDP, unbiased and normalised.

    Examples
    --------
    >>> from ldpkit.mechanisms.adaptive.interior import minimise
    >>> table = repair(minimise(Lattice(2, 4), np.array([0.25, 0.5, 0.25]), 1.0), 1.0)
    >>> table.check(1.0)
    >>> sum(table.rows[0]) == 2**64
    True
    """
    lattice = solution.lattice
    last = len(lattice.outputs) - 1
    kept = np.union1d(np.flatnonzero(solution.table.max(axis=1) > _NEGLIGIBLE), [0, 1, last - 1, last])
    table, floor = solution.table[kept], solution.floor[kept]
    weights = grained(
        table,
        floor,
        _reference(lattice, epsilon, len(kept)),
        epsilon,
        lambda room: _finish(room, kept, lattice),
    )
    if weights is None:
        raise InvalidParameterError(
            f"noise_range={lattice.noise_range} leaves no room for rounding at epsilon={epsilon:g}: "
            "give a slightly larger one"
        )
    outputs = tuple(int(output) for output in lattice.outputs[kept])
    made = NoiseTable(outputs, tuple(map(tuple, weights.T.tolist())))
    made.check(epsilon)
    return made


def _reference(lattice: Lattice, epsilon: float, count: int) -> tuple[Floats, Floats]:
    """Return a table with room at the two outputs of either end, and nothing between."""
    ends, floor = starting_table(lattice, epsilon)
    share = ends[1:-1].sum(axis=0) / 2
    roomy, roomy_floor = np.zeros((count, lattice.bins + 1)), np.zeros(count)
    roomy[[0, -1]], roomy_floor[[0, -1]] = ends[[0, -1]], floor[[0, -1]]
    roomy[[1, -2]], roomy_floor[[1, -2]] = share, share[0] * math.exp(-epsilon / 2)
    return roomy, roomy_floor


def _finish(room: Room, kept: Any, lattice: Lattice) -> Any:
    """Return weights with the right mass and mean, or None if the ends have too little room."""
    weights = room.weights
    places = kept.astype(object)  # how many strides above the lowest output
    above = np.arange(lattice.bins + 1).astype(object) - int(lattice.outputs[0])
    weights[0] += lacking(room)  # at place 0 mass has no moment
    moment = WORD // lattice.stride * above - places @ weights
    upward, rest = moment // places[-1], moment % places[-1]
    weights[0] -= upward
    weights[-1] += upward + rest
    weights[-2] -= rest  # one place below the last
    for end in (0, -2, -1):
        if weights[end].min() < room.low[end] or weights[end].max() > room.high[end]:
            return None
    return weights

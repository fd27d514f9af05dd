"""From a solver's floating-point table to integers in which every promise holds exactly.

A solution touches its constraints, so rounding would break them. It is first mixed with
a grain of a mechanism that has room: outputs at the ends with probabilities strictly
between floor and ceiling. Then every weight is rounded between the integer floor and
ceiling of its output, and what rows lack in mass and mean is made up at the ends, in
integers. The grain is the least power of ten for which the ends have the room.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, exp_bounds
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.adaptive.interior import Solution, starting_table
from ldpkit.mechanisms.adaptive.lattice import Lattice
from ldpkit.mechanisms.adaptive.table import NoiseTable

__all__ = ["repair"]

_GRAINS = [10.0**exponent for exponent in range(-13, 0)]
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
    roomy, roomy_floor = _reference(lattice, epsilon, len(kept))
    for grain in _GRAINS:
        weights = _round(
            (1 - grain) * table + grain * roomy,
            (1 - grain) * floor + grain * roomy_floor,
            kept,
            lattice,
            epsilon,
        )
        if weights is not None:
            outputs = tuple(int(output) for output in lattice.outputs[kept])
            made = NoiseTable(outputs, tuple(map(tuple, weights.T.tolist())))
            made.check(epsilon)
            return made
    raise InvalidParameterError(
        f"noise_range={lattice.noise_range} leaves no room for rounding at epsilon={epsilon:g}: "
        "give a slightly larger one"
    )


def _reference(lattice: Lattice, epsilon: float, count: int) -> tuple[Floats, Floats]:
    """Return a table with room at the two outputs of either end, and nothing between."""
    ends, floor = starting_table(lattice, epsilon)
    share = ends[1:-1].sum(axis=0) / 2
    roomy, roomy_floor = np.zeros((count, lattice.bins + 1)), np.zeros(count)
    roomy[[0, -1]], roomy_floor[[0, -1]] = ends[[0, -1]], floor[[0, -1]]
    roomy[[1, -2]], roomy_floor[[1, -2]] = share, share[0] * math.exp(-epsilon / 2)
    return roomy, roomy_floor


def _round(table: Floats, floor: Floats, kept: Any, lattice: Lattice, epsilon: float) -> Any:
    """Return integer weights, shape (outputs, inputs), or None if the ends have too little room."""
    low = np.maximum(_integers(np.ceil(np.ldexp(floor, 64))), 1)
    factor = exp_bounds(epsilon)[0]
    high = low * factor.numerator // factor.denominator
    weights = np.minimum(np.maximum(_integers(np.ldexp(table, 64)), low[:, None]), high[:, None])
    places = kept.astype(object)  # how many strides above the lowest output
    above = np.arange(lattice.bins + 1).astype(object) - int(lattice.outputs[0])
    lacking = WORD - weights.sum(axis=0)
    weights[0] += lacking  # at place 0 mass has no moment
    moment = WORD // lattice.stride * above - places @ weights
    upward, rest = moment // places[-1], moment % places[-1]
    weights[0] -= upward
    weights[-1] += upward + rest
    weights[-2] -= rest  # one place below the last
    for end in (0, -2, -1):
        if weights[end].min() < low[end] or weights[end].max() > high[end]:
            return None
    return weights


def _integers(numbers: Floats) -> Any:
    return np.array([int(number) for number in numbers.ravel()], object).reshape(numbers.shape)

"""From a solver's floating-point table to integers whose ratios are at most e^eps, exactly.

A solution touches its constraints, so rounding would break them. It is first mixed with
a grain of a mechanism that has room between floor and ceiling. Then every weight is
rounded between the integer floor and ceiling of its output, and what rows lack is made
up where there is room. The grain is the least power of ten for which there is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.exact import WORD, exp_bounds
from ldpkit.core.typing import Floats

__all__ = ["Room", "grained", "lacking"]

_GRAINS = [10.0**exponent for exponent in range(-13, 0)]


@dataclass(frozen=True)
class Room:
    """Integer weights, shape (outputs, inputs), and the least and the greatest that each output may have."""

    weights: Any
    low: Any
    high: Any

    @classmethod
    def around(cls, table: Floats, floor: Floats, epsilon: float) -> Room:
        """Return a table rounded to integers over 2**64; its columns need not sum to 2**64."""
        low = np.maximum(_integers(np.ceil(np.ldexp(floor, 64))), 1)
        factor = exp_bounds(epsilon)[0]
        high = low * factor.numerator // factor.denominator
        weights = np.minimum(np.maximum(_integers(np.ldexp(table, 64)), low[:, None]), high[:, None])
        return cls(weights, low, high)


def lacking(room: Room) -> Any:
    """Return what each input lacks of 2**64."""
    return WORD - room.weights.sum(axis=0)


def grained(
    table: Floats,
    floor: Floats,
    roomy: tuple[Floats, Floats],
    epsilon: float,
    finish: Callable[[Room], Any],
) -> Any:
    """Return the integer weights that `finish` makes of a table with the least grain of a roomy one, or None.

    Parameters
    ----------
    table, floor : array
        A solution.
    roomy : (array, array)
        A table with probabilities strictly between its floor and e^eps times it, and that floor.
    epsilon : float
        The privacy parameter.
    finish : callable
        Makes rounded weights keep what is promised; returns None if there is too little room.
    """
    for grain in _GRAINS:
        mixed = Room.around(
            (1 - grain) * table + grain * roomy[0], (1 - grain) * floor + grain * roomy[1], epsilon
        )
        weights = finish(mixed)
        if weights is not None:
            return weights
    return None


def _integers(numbers: Floats) -> Any:
    return np.array([int(number) for number in numbers.ravel()], object).reshape(numbers.shape)

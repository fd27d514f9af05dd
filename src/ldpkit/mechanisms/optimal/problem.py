"""The problem on [0, 1]: a table with a row for each of some inputs, judged at some points.

A point between two inputs gets either's row at random, so that what it costs is linear in
the table, and so is the worst cost of many points. With a point for every input and none
between, it is the problem in which only these inputs exist: no mechanism on [0, 1] can do
better than its optimum, since it would do better at these inputs, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.typing import Floats

__all__ = ["Problem", "gain", "losses"]

_BETWEEN = 4  # points judged for each interval between inputs


def losses(outputs: Floats, points: Floats, power: float) -> Floats:
    """Return |y - x|**power, shape (outputs, points)."""
    return np.asarray(np.abs(outputs[:, None] - points) ** power)


def gain(costs: Floats, epsilon: float) -> Floats:
    """Return what an output costs at least, when its probabilities for inputs are 1 to e^eps times a floor.

    Parameters
    ----------
    costs : array, shape (outputs, inputs)
        What a probability of one costs; negative where it earns.

    Examples
    --------
    >>> gain(np.array([[1.0, -1.0]]), math.log(2)).round(6).tolist()
    [-1.0]
    """
    return np.asarray(np.minimum(costs, math.exp(epsilon) * costs).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Problem:
    """Inputs with a row of their own, points at which the table is judged, and what counts.

    Parameters
    ----------
    epsilon : float
        The privacy parameter.
    power : float
        The power of |y - x| that is the loss.
    inputs : array
        Where the rows are, ascending in [0, 1].
    points : array
        Where the table is judged.
    shares : array or None
        How often each point occurs: the mean loss counts. None: the worst loss counts.

    Examples
    --------
    >>> problem = Problem.worst_case(1.0, 1.0, 2)
    >>> problem.points.tolist()
    [0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]
    >>> problem.rounding[1].tolist()
    [0.75, 0.25, 0.0]
    """

    epsilon: float
    power: float
    inputs: Floats
    points: Floats
    shares: Floats | None = None

    @classmethod
    def worst_case(cls, epsilon: float, power: float, intervals: int) -> Problem:
        """Return the problem whose table does well on all of [0, 1]."""
        every = np.arange(_BETWEEN * intervals + 1) / (_BETWEEN * intervals)
        return cls(epsilon, power, every[::_BETWEEN], every)

    @classmethod
    def of_inputs(cls, epsilon: float, power: float, inputs: Floats, shares: Floats | None = None) -> Problem:
        """Return the problem in which only some inputs exist."""
        return cls(epsilon, power, inputs, inputs, shares)

    @property
    def rounding(self) -> Floats:
        """The chance that a point gets the row of an input, shape (points, inputs)."""
        chances = np.zeros((len(self.points), len(self.inputs)))
        last = max(len(self.inputs) - 2, 0)
        row = np.clip(np.searchsorted(self.inputs, self.points, "right") - 1, 0, last)
        if len(self.inputs) == 1:
            return np.ones_like(chances)
        every = np.arange(len(self.points))
        step = self.inputs[row + 1] - self.inputs[row]
        chances[every, row + 1] = (self.points - self.inputs[row]) / step
        chances[every, row] = 1 - chances[every, row + 1]
        return chances

    @property
    def is_symmetric(self) -> bool:
        """Whether it is its own mirror image."""
        if not np.allclose(self.inputs, 1 - self.inputs[::-1], rtol=0, atol=1e-12):
            return False
        shares = np.ones(len(self.points)) if self.shares is None else self.shares
        order, mirrored = np.argsort(self.points, kind="stable"), np.argsort(1 - self.points, kind="stable")
        return all(
            bool(np.allclose(own[order], other[mirrored], rtol=0, atol=1e-12))
            for own, other in ((self.points, 1 - self.points), (shares, shares))
        )

    def costs(self, outputs: Floats) -> Any:
        """Return what entries of a table cost: a row for each point, or one for the mean over points."""
        from scipy.sparse import csr_array

        rounding, loss = self.rounding, losses(outputs, self.points, self.power)
        if self.shares is not None:
            return csr_array((loss * self.shares @ rounding).reshape(1, -1))
        point, row = np.nonzero(rounding)
        entries = np.arange(len(outputs))[:, None] * len(self.inputs) + row
        values = loss[:, point] * rounding[point, row]
        where = np.broadcast_to(point, entries.shape).ravel(), entries.ravel()
        return csr_array((values.ravel(), where), shape=(len(self.points), len(outputs) * len(self.inputs)))

    def price(self, outputs: Floats, weights: Floats, prices: Floats) -> Floats:
        """Return what further outputs would cost, the points weighted; below zero they should be added."""
        weighted = weights[:, None] * self.rounding
        return gain(losses(outputs, self.points, self.power) @ weighted - prices, self.epsilon)

"""The linear program by an interior-point method that knows its structure.

The unknowns are the probabilities P[t, i] of output t for input i. In the compact form
every output has a floor f[t], and P = f + r with 0 <= r <= (e^eps - 1) f; the rows must
sum to one and have the mean x[i], which makes 2(N + 1) equations in all. A step of a
primal-dual method solves for these equations only: everything else is diagonal, but for
one rank-one term an output. So a step costs a few products of (outputs x inputs)
matrices, where a general solver factors a matrix with a row for each P[t, i].

Both the program and its dual have strictly feasible points in closed form, at which the
method starts. Every iterate is then a valid mechanism, private and unbiased up to
rounding, with a lower bound on what the best one can do: stopping early is safe.

Citation: Mehrotra: On the implementation of a primal-dual interior point method. 1992.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.mechanisms.adaptive.lattice import Lattice

__all__ = ["Solution", "minimise", "starting_table"]

_MOST_STEPS = 400
_SHORTEST_STEP = 1e-7


@dataclass(frozen=True)
class Solution:
    """A solved program.

    Parameters
    ----------
    lattice : Lattice
        Inputs and outputs.
    table : array, shape (outputs, inputs)
        The probability of each output for each input.
    floor : array
        A number for each output: its probabilities lie between it and e^eps times it.
    value : float
        The expected squared noise on the scale of [-1, 1].
    bound : float
        What no unbiased mechanism with these outputs can go below.
    steps : int
        Iterations of the solver.
    multipliers : array, shape (2, inputs), or None
        The prices of mass and of mean for each input, from which other outputs are judged.
    """

    lattice: Lattice
    table: Floats
    floor: Floats
    value: float
    bound: float
    steps: int
    multipliers: Floats | None = None

    @property
    def gap(self) -> float:
        """How far the value may be from the optimum, relative to it."""
        return (self.value - self.bound) / max(abs(self.value), 1e-300)


def starting_table(lattice: Lattice, epsilon: float) -> tuple[Floats, Floats]:
    """Return a table with probabilities strictly between floor and ceiling, and its floor.

    Every output but the two at the ends is as likely for one input as for any other, and
    has mean zero with its mirror image. The ends do what Duchi's mechanism does.
    """
    outputs, reach = len(lattice.outputs), lattice.reach
    spread = (1 - 1 / (math.tanh(epsilon / 2) * reach)) / 2 if outputs > 2 else 0.0
    table = np.full((outputs, lattice.bins + 1), spread / max(outputs - 2, 1))
    table[0] = (1 - spread - lattice.inputs / reach) / 2
    table[-1] = (1 - spread + lattice.inputs / reach) / 2
    return table, np.sqrt(table.min(axis=1) * table.max(axis=1)) * math.exp(-epsilon / 2)


def minimise(
    lattice: Lattice, descriptor: Floats, epsilon: float, *, gap: float = 1e-9, time_limit: float = math.inf
) -> Solution:
    """Return a mechanism whose expected variance is within `gap` of the least one.

    Parameters
    ----------
    lattice : Lattice
        Inputs and outputs.
    descriptor : array
        The shares of the inputs.
    epsilon : float
        The privacy parameter.
    gap : float
        When to stop: the proven relative distance from the optimum.
    time_limit : float
        Seconds after which the best table so far is returned; its `gap` tells how good it is.

    Examples
    --------
    >>> solution = minimise(Lattice(2, 4), np.array([0.25, 0.5, 0.25]), 1.0)
    >>> solution.gap < 1e-8
    True
    """
    return _Method(lattice, descriptor, epsilon).run(gap, time.monotonic() + time_limit)


class _Method:
    """The iterate: primal f, r, s = (e^eps - 1) f - r, their dual slacks, and the multipliers."""

    def __init__(self, lattice: Lattice, descriptor: Floats, epsilon: float) -> None:
        self.lattice = lattice
        self.x, self.y = lattice.inputs, lattice.places
        self.spread = math.expm1(epsilon)
        self.cost = lattice.costs(descriptor)
        self.floor_cost = self.cost.sum(axis=1)
        table, self.f = starting_table(lattice, epsilon)
        self.r = table - self.f[:, None]
        self.s = self.spread * self.f[:, None] - self.r
        # The dual is feasible for any negative price of mass; the primal value sets its scale.
        count = len(self.x)
        price = max(float((self.cost * table).sum()), 1e-12) / count
        self.mass, self.mean = np.full(count, -price), np.zeros(count)
        self.s_slack = np.full_like(self.s, price / (2 * self.spread))
        self.r_slack = self.cost + price + self.s_slack
        self.f_slack = self.floor_cost + count * price / 2

    @property
    def table(self) -> Floats:
        return self.f[:, None] + self.r

    def pairs(self) -> list[tuple[Floats, Floats]]:
        return [(self.f, self.f_slack), (self.r, self.r_slack), (self.s, self.s_slack)]

    def run(self, gap: float, deadline: float) -> Solution:
        variables = self.f.size + 2 * self.r.size
        solution = self.solution(0)
        for step in range(1, _MOST_STEPS):
            distance = sum(float((primal * slack).sum()) for primal, slack in self.pairs())
            if distance <= gap * abs(solution.value) or time.monotonic() > deadline:
                break
            if not self.advance(distance, variables):
                break
            solution = self.solution(step)
        return solution

    def solution(self, steps: int) -> Solution:
        value = float(self.floor_cost @ self.f + (self.cost * self.r).sum())
        bound = float(self.mass.sum() + self.mean @ self.x)
        multipliers = np.stack([self.mass, self.mean])
        return Solution(self.lattice, self.table, self.f, value, bound, steps, multipliers)

    def advance(self, distance: float, variables: int) -> bool:
        """Take one predictor-corrector step; return False if rounding leaves no step to take."""
        system = _System(self)
        if system.factor is None:
            return False
        aims = [-primal * slack for primal, slack in self.pairs()]
        moves = system.direction(aims)
        reach = _lengths(self.pairs(), moves, 1.0)
        left = sum(
            float(((primal + reach[0] * move) * (slack + reach[1] * turn)).sum())
            for (primal, slack), (move, turn) in zip(self.pairs(), moves.pairs, strict=True)
        )
        centre = (left / distance) ** 3 * distance / variables
        aims = [
            centre - primal * slack - move * turn
            for (primal, slack), (move, turn) in zip(self.pairs(), moves.pairs, strict=True)
        ]
        moves = system.direction(aims)
        primal_length, dual_length = _lengths(self.pairs(), moves, 0.99)
        if max(primal_length, dual_length) < _SHORTEST_STEP:
            return False
        for (primal, slack), (move, turn) in zip(self.pairs(), moves.pairs, strict=True):
            primal += primal_length * move
            slack += dual_length * turn
        self.mass += dual_length * moves.mass
        self.mean += dual_length * moves.mean
        return True


@dataclass
class _Moves:
    pairs: list[tuple[Floats, Floats]]
    mass: Floats
    mean: Floats


class _System:
    """The linear equations of one step, reduced to the 2(N + 1) multipliers.

    With weights slack/primal for f, r and s, a change p[t, i] of the price of P[t, i]
    changes P by a p + v phi (v . p), where a is diagonal and v, phi belong to the output.
    """

    factor: Floats | None

    def __init__(self, method: _Method) -> None:
        from ldpkit.mechanisms.kernels.normal import factorise, normal_matrix

        self.method = method
        self.f_weight, self.r_weight, self.s_weight = (slack / primal for primal, slack in method.pairs())
        self.a = 1 / (self.r_weight + self.s_weight)
        self.h = self.s_weight * self.a
        self.phi = 1 / (self.f_weight + method.spread**2 * (self.r_weight * self.h).sum(axis=1))
        self.v = 1 + method.spread * self.h
        matrix = normal_matrix(self.v, self.phi, self.a, method.y)
        self.scale = 1 / np.sqrt(np.diag(matrix))
        self.factor = None
        for ridge in (1e-14, 1e-11, 1e-8):  # rows without a share make the matrix nearly singular at the end
            factor = matrix * self.scale * self.scale[:, None]
            if factorise(factor, ridge):
                self.factor = factor
                break

    def direction(self, aims: list[Floats]) -> _Moves:
        """Return the step that changes each product of primal and slack by `aims`, to first order."""
        from ldpkit.mechanisms.kernels.normal import solve_factored

        method, count = self.method, len(self.method.x)
        pulls = [aim / primal for aim, (primal, _) in zip(aims, method.pairs(), strict=True)]
        f_pull, r_pull, s_pull = pulls
        free = r_pull - s_pull
        f_move = self.phi * (f_pull + method.spread * (s_pull.sum(axis=1) + (self.h * free).sum(axis=1)))
        r_move = self.a * free + self.h * (method.spread * f_move)[:, None]
        multipliers = np.zeros(2 * count)
        assert self.factor is not None, "no direction without a factor: look before asking"
        for _ in range(2):  # the second round corrects the rounding of the first
            table = method.table + f_move[:, None] + r_move
            missing = np.concatenate([1 - table.sum(axis=0), method.x - method.y @ table])
            turn = self.scale * solve_factored(self.factor, self.scale * missing)
            multipliers += turn
            price = turn[:count] + np.outer(method.y, turn[count:])
            f_change = self.phi * (self.v * price).sum(axis=1)
            f_move = f_move + f_change
            r_move = r_move + self.a * price + self.h * (method.spread * f_change)[:, None]
        moves = [f_move, r_move, method.spread * f_move[:, None] - r_move]
        weights = [self.f_weight, self.r_weight, self.s_weight]
        turns = [pull - weight * move for pull, weight, move in zip(pulls, weights, moves, strict=True)]
        return _Moves(list(zip(moves, turns, strict=True)), multipliers[:count], multipliers[count:])


def _lengths(pairs: list[tuple[Floats, Floats]], moves: _Moves, share: float) -> tuple[float, float]:
    """Return how far primal and dual may go: the given share of the way to the boundary, at most 1."""
    lengths = []
    for side in (0, 1):
        most = max(
            float((-move[side] / pair[side]).max()) for pair, move in zip(pairs, moves.pairs, strict=True)
        )
        lengths.append(min(1.0, share / most) if most > 0 else 1.0)
    return lengths[0], lengths[1]

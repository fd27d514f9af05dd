"""Bounds on both sides: what no epsilon-LDP mechanism goes below, and what a table costs on all of [0, 1].

The bound below. Say that only finitely many inputs i exist, that input i counts w[i] and
that a unit of its mass earns p[i]. An output y whose probabilities lie between a floor
and e^eps times it costs at least g(y) = sum_i min(c, e^eps c), c = w[i] |y - x[i]|^r - p[i],
times the floor. If g >= 0 for all y, every mechanism loses at least sum(p). If g >= -h, it
loses at least sum(p) - h: with p[i] lowered by h in sum, g is nowhere negative. So any w
and p give a valid bound, however they were found, once the least g over *all* outputs is
known from below. Outputs outside [0, 1] are never better than its nearest end. For r <= 1,
g is concave between inputs and least at one of them; for r > 1 intervals are halved until
how far a convex loss can hang below its chord does not matter any more.

The bound above. Between two inputs, x gets either's row at random. The loss is bounded on
short intervals by its chord, for r < 1 by its chord and how far a concave loss can rise
above it, and the largest of the quadratics that this gives is found in closed form.

All is computed in floating point, with a margin for its rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.mechanisms.optimal.problem import Problem, losses
from ldpkit.mechanisms.optimal.solve import Solved

__all__ = ["lower_bound", "mean_loss", "worst_loss"]

_MARGIN = 1e-12  # what rounding may amount to
_TIGHT = 1e-11
_HALVINGS = 40
_PARTS = 32  # parts of the interval between two inputs, for the bound above, before any is halved
_MOST_OPEN = 1 << 14


def lower_bound(solved: Solved) -> float:
    """Return what no epsilon-LDP mechanism goes below, at the worst of the inputs or on average over them.

    Parameters
    ----------
    solved : Solved
        The solution of a problem of finitely many inputs.

    Examples
    --------
    >>> from ldpkit.mechanisms.optimal.solve import solve
    >>> ends = Problem.of_inputs(1.0, 2.0, np.array([0.0, 1.0]))
    >>> round(lower_bound(solve(ends)), 9), round(math.e / (1 + math.e) ** 2, 9)
    (0.196611933, 0.196611933)
    """
    problem = solved.problem
    weights = np.maximum(solved.weights, 0)
    weights = weights / weights.sum()
    least = _least_price(problem, weights, solved.prices)
    return max(float(solved.prices.sum()) + min(least, 0.0) - _MARGIN, 0.0)


def _least_price(problem: Problem, weights: Floats, prices: Floats) -> float:
    """Return a number that the price of no output is below."""
    knots = np.unique(np.concatenate([[0.0, 1.0], problem.inputs]))

    def price(places: Floats) -> Floats:
        return problem.price(places, weights, prices)

    if problem.power <= 1:
        return float(price(knots).min())
    left, right = knots[:-1], knots[1:]
    lowest, settled = float(price(knots).min()), math.inf
    for _ in range(_HALVINGS):
        ends = np.minimum(price(left), price(right))
        hang = _bend(problem.inputs, left, right, problem.power) @ weights * math.exp(problem.epsilon)
        lowest = min(lowest, float(ends.min()))
        open_ = ends - hang < lowest - _TIGHT
        settled = min(settled, float((ends - hang)[~open_].min(initial=math.inf)))
        if not open_.any():
            return settled
        left, right = left[open_], right[open_]
        middle = (left + right) / 2
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    ends = np.minimum(price(left), price(right))
    hang = _bend(problem.inputs, left, right, problem.power) @ weights * math.exp(problem.epsilon)
    return min(settled, float((ends - hang).min()))


def _bend(centres: Floats, left: Floats, right: Floats, power: float) -> Floats:
    """Return how far |y - centre|**power can be from its chord on intervals without a centre inside.

    A function that bends one way leaves its chord by at most a quarter of the length times
    the change of its slope, and by no more than it changes.
    """
    near, far = np.abs(left[:, None] - centres), np.abs(right[:, None] - centres)
    near, far = np.minimum(near, far), np.maximum(near, far)
    change = far**power - near**power
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = power * np.abs(far ** (power - 1) - near ** (power - 1))
        bent = (far - near) / 4 * slopes
    return np.asarray(np.fmin(bent, change))


def worst_loss(shares: Floats, places: Floats, power: float) -> float:
    """Return the worst expected loss of a table over all of [0, 1].

    Parameters
    ----------
    shares : array, shape (inputs, outputs)
        The probabilities of outputs for inputs that divide [0, 1] evenly.
    places : array
        Where the outputs are.
    power : float
        The power of |y - x|.

    Examples
    --------
    >>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> round(worst_loss(coin, np.array([0.25, 0.75]), 2.0), 9)
    0.1875
    """
    intervals = len(shares) - 1
    # Edges at outputs too: the loss has its kinks there.
    fine = np.arange(_PARTS * intervals + 1) / (_PARTS * intervals)
    edges = np.union1d(fine, np.clip(places, 0, 1))
    left, right = edges[:-1], edges[1:]
    row = np.minimum((left * intervals + 1e-9).astype(np.int64), intervals - 1)
    reached, settled = 0.0, 0.0
    for _ in range(_HALVINGS):
        at_ends, bound = _bounded(shares, places, power, row, left, right)
        reached = max(reached, float(at_ends.max()))
        open_ = bound > reached + _TIGHT
        settled = max(settled, float(bound[~open_].max(initial=0.0)))
        if not open_.any() or open_.sum() > _MOST_OPEN:
            break
        left, right, row = left[open_], right[open_], np.tile(row[open_], 2)
        middle = (left + right) / 2
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    return max(settled, float(bound.max())) + _MARGIN


def _bounded(
    shares: Floats, places: Floats, power: float, row: Any, left: Floats, right: Floats
) -> tuple[Floats, Floats]:
    """Return the larger loss at the ends of intervals, and a bound on the loss within each."""
    intervals = len(shares) - 1
    upper = np.stack([left, right]) * intervals - row  # the chance of the row above, at either end
    loss = losses(left, places, power), losses(right, places, power)
    lower_row, upper_row = (
        np.stack([(each * shares[used]).sum(axis=1) for each in loss]) for used in (row, row + 1)
    )
    at_ends = (1 - upper) * lower_row + upper * upper_row
    # (1-u) A + u B with u, A and B linear along the interval: a quadratic of the way s from 0 to 1.
    square = np.diff(upper, axis=0)[0] * np.diff(upper_row - lower_row, axis=0)[0]
    slope = at_ends[1] - at_ends[0] - square
    with np.errstate(divide="ignore", invalid="ignore"):
        top = np.where(square < 0, np.clip(-slope / (2 * square), 0, 1), 0.0)
    highest = np.maximum(at_ends[0] + slope * top + square * top**2, at_ends.max(axis=0))
    if power < 1:
        either = np.maximum(shares[row], shares[row + 1])
        highest = highest + (_bend(places, left, right, power) * either).sum(axis=1)
    return at_ends.max(axis=0), highest


def mean_loss(shares: Floats, places: Floats, power: float, points: Floats, weights: Floats) -> float:
    """Return the mean expected loss of a table over some points."""
    intervals = len(shares) - 1
    judged = Problem(1.0, power, np.arange(intervals + 1) / intervals, points)
    expected = (losses(places, points, power) * (judged.rounding @ shares).T).sum(axis=0)
    return float(weights @ expected)

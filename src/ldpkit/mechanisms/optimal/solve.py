"""The best table for a problem, with outputs added wherever they pay."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Floats, Indices
from ldpkit.core.watching import notify
from ldpkit.mechanisms.optimal import OUTPUT_STEPS
from ldpkit.mechanisms.optimal.problem import Problem
from ldpkit.mechanisms.tables.program import best_table, row_sums

__all__ = ["Solved", "UnsolvedError", "check_fineness", "solve"]

_MOST_INTERVALS = 128
_MOST_ENTRIES = 1 << 15  # what HiGHS solves within a minute: further outputs are not added then
_LOOKED_AT = 1 << 10  # places between which outputs that pay are sought
_ROUNDS, _WORTH_A_ROUND = 8, 1e-6
_MANY = 40  # inputs of a program that takes long enough to say so
_SMALL = 4  # inputs of a program that costs nothing, and is solved until nothing is left to win
_SMALL_ROUNDS, _WORTH_A_SMALL_ROUND = 40, 1e-14
_WORTH_ADDING = 1e-9
_USED = 1e-10


class UnsolvedError(InvalidParameterError):
    """A linear program was not solved within its time."""


@dataclass(frozen=True, eq=False)
class Solved:
    """A solved problem.

    Parameters
    ----------
    problem : Problem
        What was asked.
    outputs : array of int
        Where outputs are, in steps of which the interval has `OUTPUT_STEPS`.
    table : array, shape (outputs, inputs)
        The probability of each output for each input.
    floor : array
        A number for each output: its probabilities lie between it and e^eps times it.
    value : float
        What the table costs.
    weights : array
        How much each point counts; they sum to one.
    prices : array
        What the mass of each input costs.
    """

    problem: Problem
    outputs: Indices
    table: Floats
    floor: Floats
    value: float
    weights: Floats
    prices: Floats

    @property
    def places(self) -> Floats:
        """Where outputs are on [0, 1]."""
        return self.outputs / OUTPUT_STEPS


def check_fineness(intervals: int) -> None:
    """Refuse a grid whose program is too large for a general solver.

    Examples
    --------
    >>> check_fineness(1024)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: a grid of 1024 intervals is too fine: its program would have \
1050625 unknowns or more: use at most 128 intervals
    """
    if intervals > _MOST_INTERVALS:
        raise InvalidParameterError(
            f"a grid of {intervals} intervals is too fine: its program would have {(intervals + 1) ** 2} "
            f"unknowns or more: use at most {_MOST_INTERVALS} intervals"
        )


def solve(problem: Problem, *, time_limit: float = math.inf) -> Solved:
    """Return the epsilon-LDP table with the least worst or mean loss.

    Parameters
    ----------
    problem : Problem
        What is asked.
    time_limit : float
        Seconds.

    Raises
    ------
    UnsolvedError
        If the solver does not finish in time.

    Examples
    --------
    >>> two = solve(Problem.of_inputs(1.0, 2.0, np.array([0.0, 1.0])))
    >>> two.places.round(4).tolist(), round(two.value, 6), round(math.e / (1 + math.e) ** 2, 6)
    ([0.2689, 0.7311], 0.196612, 0.196612)
    """
    check_fineness(len(problem.inputs) - 1)
    deadline = time.monotonic() + time_limit
    if len(problem.inputs) > _MANY:
        notify(f"solving a linear program of {len(problem.inputs) - 1} intervals")
    symmetric = problem.is_symmetric
    outputs = _settled(problem.inputs, symmetric=symmetric)
    best: Solved | None = None
    lowest = 0.0
    small = len(problem.inputs) <= _SMALL
    rounds, worth = (_SMALL_ROUNDS, _WORTH_A_SMALL_ROUND) if small else (_ROUNDS, _WORTH_A_ROUND)
    for _ in range(rounds):
        solved = _with_outputs(problem, outputs, deadline - time.monotonic(), symmetric=symmetric)
        if solved is None:
            raise UnsolvedError(
                f"HiGHS did not solve the program within {time_limit:g} s: give it more time or use fewer "
                "intervals"
            )
        paying, least = _paying(solved, symmetric=symmetric)
        # The last table is the best one, but not always the last prices.
        before = math.inf if best is None else best.value
        if best is None or solved.prices.sum() + least > best.prices.sum() + lowest:
            best, lowest = solved, least
        best = replace(solved, weights=best.weights, prices=best.prices)
        if not len(paying) or solved.value > before * (1 - worth):
            break
        outputs = np.union1d(outputs, paying)
        if len(outputs) * len(problem.inputs) > _MOST_ENTRIES:
            break
    assert best is not None, "there is at least one round"
    return _of_use(best)


def _of_use(solved: Solved) -> Solved:
    """Return the solution without outputs that never occur, but with two at least."""
    used = solved.table.max(axis=1) > _USED
    if used.sum() < 2:  # one output for all: nothing is told, and a table needs two
        only = int(used.argmax())
        used[max(only - 1, 0) : max(only, 1) + 1] = True
    return replace(solved, outputs=solved.outputs[used], table=solved.table[used], floor=solved.floor[used])


def _settled(places: Floats, *, symmetric: bool) -> Indices:
    """Return places as steps; those of a symmetric problem with their mirror images."""
    steps = np.rint(np.clip(places, 0, 1) * OUTPUT_STEPS).astype(np.int64)
    return np.unique(np.concatenate([steps, OUTPUT_STEPS - steps]) if symmetric else steps)


def _with_outputs(problem: Problem, outputs: Indices, seconds: float, *, symmetric: bool) -> Solved | None:
    places = outputs / OUTPUT_STEPS
    shape = len(outputs), len(problem.inputs)
    mass = row_sums(np.ones(shape)), np.ones(shape[1])
    if seconds <= 0:
        return None
    found = best_table(
        shape, problem.epsilon, problem.costs(places), [mass], symmetric=symmetric, time_limit=seconds
    )
    if found is None:
        return None
    weights = found.weights if problem.shares is None else problem.shares
    return Solved(problem, outputs, found.table, found.floor, found.value, weights, found.prices[0])


def _paying(solved: Solved, *, symmetric: bool) -> tuple[Indices, float]:
    """Return outputs that would lower the cost, where they earn most, and the least price that was seen."""
    problem = solved.problem

    def price(places: Floats) -> Floats:
        return problem.price(places, solved.weights, solved.prices)

    looked_at = problem.points
    if problem.power > 1:  # otherwise the price is concave between points, and nothing pays more than a point
        looked_at = np.union1d(np.arange(_LOOKED_AT + 1) / _LOOKED_AT, problem.points)
    found = price(looked_at)
    least = min(float(found.min()), 0.0)
    if problem.power <= 1:
        places = looked_at[found < -_WORTH_ADDING]
    else:
        around = np.concatenate([[np.inf], found, [np.inf]])
        lowest = np.flatnonzero((found <= around[:-2]) & (found <= around[2:]) & (found < _WORTH_ADDING))
        minima = [
            _minimum(price, looked_at[max(at - 1, 0) : at + 2], found[at], looked_at[at]) for at in lowest
        ]
        least = min([least, *(cost for _, cost in minima)])
        places = np.array([place for place, cost in minima if cost < -_WORTH_ADDING])
    return np.setdiff1d(_settled(places, symmetric=symmetric), solved.outputs), least


def _minimum(
    price: Callable[[Floats], Floats], around: Floats, found: float, place: float
) -> tuple[float, float]:
    """Return where the price is least around a place, and how low it is."""
    from scipy.optimize import minimize_scalar

    nearby = minimize_scalar(
        lambda each: float(price(np.array([each]))[0]),
        bounds=(around[0], around[-1]),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return (float(nearby.x), float(nearby.fun)) if nearby.fun < found else (float(place), float(found))

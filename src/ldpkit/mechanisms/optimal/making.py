"""The integer table for an epsilon, a power and a grid, made once and kept."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.mechanisms.optimal import TIME_LIMIT
from ldpkit.mechanisms.optimal.bounds import lower_bound, worst_loss
from ldpkit.mechanisms.optimal.problem import Problem
from ldpkit.mechanisms.optimal.repair import repair
from ldpkit.mechanisms.optimal.solve import Solved, check_fineness, solve
from ldpkit.mechanisms.tables.table import ReportTable

__all__ = ["best_for_prior", "best_in_worst_case", "usual_intervals"]

_CLOSED = 1e-9  # bounds that are so near are one
_TRACE = 1e-5


def usual_intervals(epsilon: float) -> int:
    """Return the intervals of a grid on which rounding does not matter much: more for a larger epsilon.

    Examples
    --------
    >>> [usual_intervals(epsilon) for epsilon in (1, 4, 8)]
    [16, 32, 64]
    """
    return 16 if epsilon <= 2 else 32 if epsilon <= 4.5 else 64


@lru_cache(maxsize=256)
def best_in_worst_case(
    epsilon: float, power: float, intervals: int, time_limit: float = TIME_LIMIT
) -> ReportTable:
    """Return the table with the least worst loss over all of [0, 1] on a grid.

    Examples
    --------
    >>> len(best_in_worst_case(1.0, 2.0, 16).outputs)
    2
    """
    check_fineness(intervals)
    ends = solve(Problem.of_inputs(epsilon, power, np.array([0.0, 1.0])), time_limit=time_limit)
    simplest = _spread(ends, intervals)
    if worst_loss(simplest.table.T, simplest.places, power) - lower_bound(ends) < _CLOSED:
        return repair(simplest)  # nothing is left for more rows to win
    return repair(solve(Problem.worst_case(epsilon, power, intervals), time_limit=time_limit))


def best_for_prior(
    epsilon: float,
    power: float,
    intervals: int,
    points: Floats,
    shares: Floats,
    time_limit: float = TIME_LIMIT,
) -> ReportTable:
    """Return the table with the least mean loss over points of [0, 1] that occur with given shares.

    Examples
    --------
    >>> from ldpkit.mechanisms.optimal import OUTPUT_STEPS
    >>> from ldpkit.mechanisms.optimal.bounds import mean_loss
    >>> points, shares = np.array([0.25, 0.75]), np.array([0.5, 0.5])
    >>> table = best_for_prior(np.log(3), 1.0, 4, points, shares)
    >>> places = np.array(table.outputs) / OUTPUT_STEPS
    >>> round(mean_loss(table.shares, places, 1.0, points, shares), 6)
    0.125
    """
    check_fineness(intervals)
    inputs = np.arange(intervals + 1) / intervals
    # Values that the prior does not have occur nevertheless: a trace of them settles what is left open.
    every = np.concatenate([points, inputs])
    trace = np.full(len(inputs), _TRACE / len(inputs))
    problem = Problem(epsilon, power, inputs, every, np.concatenate([(1 - _TRACE) * shares, trace]))
    return repair(solve(problem, time_limit=time_limit))


def _spread(solved: Solved, intervals: int) -> Solved:
    """Return the solution for two inputs with more rows, on the straight line between its own."""
    inputs = np.arange(intervals + 1) / intervals
    table = solved.table[:, :1] * (1 - inputs) + solved.table[:, 1:] * inputs
    return replace(solved, problem=replace(solved.problem, inputs=inputs), table=table)

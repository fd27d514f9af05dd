"""A solution as integers: rows that sum to 2**64, with ratios of at most e^eps, exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.optimal.solve import Solved
from ldpkit.mechanisms.tables.integers import Room, grained, lacking
from ldpkit.mechanisms.tables.table import ReportTable

__all__ = ["repair"]


def repair(solved: Solved) -> ReportTable:
    """Return an integer table that is exactly epsilon-LDP and normalised.

    Examples
    --------
    >>> from ldpkit.mechanisms.optimal.problem import Problem
    >>> from ldpkit.mechanisms.optimal.solve import solve
    >>> table = repair(solve(Problem.worst_case(1.0, 2.0, 2)))
    >>> table.check(1.0)
    >>> len(table.rows), len(table.outputs)
    (3, 2)
    """
    epsilon, count = solved.problem.epsilon, len(solved.outputs)
    even = np.full(solved.table.shape, 1 / count)
    roomy = even, np.full(count, math.exp(-epsilon / 2) / count)
    table = solved.table / solved.table.sum(axis=0)
    weights = grained(table, solved.floor, roomy, epsilon, _filled)
    if weights is None:
        raise InvalidParameterError(
            f"the table of {count} outputs leaves no room for rounding at epsilon={epsilon:g}: "
            "use fewer intervals or another epsilon"
        )
    made = ReportTable(tuple(solved.outputs.tolist()), tuple(map(tuple, weights.T.tolist())))
    made.check(epsilon)
    return made


def _filled(room: Room) -> Any:
    """Return weights of which every input has 2**64, made up where there is most room, or None."""
    weights = room.weights
    for column, lack in enumerate(lacking(room)):
        space = room.high - weights[:, column] if lack > 0 else weights[:, column] - room.low
        place = int(np.argmax(space))
        if abs(lack) > space[place]:
            return None
        weights[place, column] += lack
    return weights

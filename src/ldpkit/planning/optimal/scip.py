"""The bilinear program of m pieces, solved by SCIP, and what it found evaluated exactly."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.errors import MissingDependencyError
from ldpkit.core.typing import Floats
from ldpkit.planning.optimal.pieces import DensityPiece, Interval, expected_loss

__all__ = ["ScipSolution", "check_solver", "solve"]

_FEASIBLE = 1e-7  # SCIP's tolerance: below, its libraries complain


@dataclass(frozen=True)
class ScipSolution:
    """What SCIP found: pieces, evaluated exactly, and what it proved."""

    pieces: tuple[DensityPiece, ...]
    loss: float
    bound: float

    @property
    def gap(self) -> float:
        """How far the loss may be from the optimum, relative to it; infinite if nothing was found."""
        if math.isinf(self.loss):
            return math.inf
        return max(self.loss - self.bound, 0.0) / self.loss


def check_solver() -> None:
    """Refuse where SCIP is not installed, and say how to install it."""
    import importlib.util

    if importlib.util.find_spec("pyscipopt") is None:
        raise MissingDependencyError("pyscipopt", "the program of pieces", "optimisation")


def solve(
    epsilon: float,
    x: float,
    count: int,
    power: float,
    outputs: Interval,
    limits: tuple[float, float, int],
    *,
    levels: list[float] | None = None,
) -> ScipSolution:
    """Return what SCIP finds on the scale of [0, 1]; with `levels`, only edges are unknown."""
    from pyscipopt import Model, quicksum

    low, whole = outputs[0], outputs[1] - outputs[0]
    place, ratio = (x - low) / whole, math.exp(epsilon)
    model: Any = Model()
    model.hideOutput()
    gap, time_limit, node_limit = limits
    settings = {"limits/time": time_limit, "limits/nodes": node_limit, "limits/gap": gap / 50}
    for name, value in (settings | {"numerics/feastol": _FEASIBLE}).items():
        model.setParam(name, value)
    edges = [model.addVar(lb=0, ub=1) for _ in range(count - 1)]
    for left, right in itertools.pairwise(edges):
        model.addCons(left <= right)
    heights: list[Any]
    if levels is None:
        heights = [model.addVar(lb=1 / ratio, ub=ratio) for _ in range(count)]
        floor = model.addVar(lb=1 / ratio, ub=1)
        for each in heights:
            model.addCons(each >= floor)
            model.addCons(each <= ratio * floor)
    else:
        heights = [level * whole for level in levels]

    def start(y: float) -> float:
        return math.copysign(abs(y - place) ** (power + 1), y - place) / (power + 1)

    def primitive(edge: Any) -> Any:
        made = model.addVar(lb=start(0.0), ub=start(1.0))
        if place <= 0:
            model.addCons(made == (edge - place) ** (power + 1) / (power + 1))
        elif place >= 1:
            model.addCons(made == -((place - edge) ** (power + 1)) / (power + 1))
        else:
            model.addCons(made == (edge - place) * abs(edge - place) ** power / (power + 1))
        return made

    jumps = [heights[i] - heights[i + 1] for i in range(count - 1)]
    if levels is None:
        named = [model.addVar(lb=-ratio, ub=ratio) for _ in jumps]
        for variable, jump in zip(named, jumps, strict=True):
            model.addCons(variable == jump)
        jumps = named
    model.addCons(quicksum(jump * edge for jump, edge in zip(jumps, edges, strict=True)) + heights[-1] == 1)
    loss = model.addVar(lb=0, ub=max(place, 1 - place) ** power)
    model.addCons(
        loss
        >= quicksum(jump * primitive(edge) for jump, edge in zip(jumps, edges, strict=True))
        + heights[-1] * start(1.0)
        - heights[0] * start(0.0)
    )
    model.setObjective(loss)
    model.optimize()
    bound = max(float(model.getDualbound()), 0.0) * whole**power
    if not model.getNSols():
        return ScipSolution((DensityPiece(outputs[0], outputs[1], 1 / whole),), math.inf, bound)
    found = model.getBestSol()
    tops = [float(each if levels is not None else found[each]) for each in heights]
    places = np.clip(np.maximum.accumulate([0.0, *(float(found[edge]) for edge in edges), 1.0]), 0, 1)
    made = _exactly(np.array(tops), places, epsilon, low, whole)
    return ScipSolution(made, expected_loss(made, x, power), bound)


def _exactly(
    tops: Floats, places: Floats, epsilon: float, low: float, whole: float
) -> tuple[DensityPiece, ...]:
    """Return pieces of mass one whose densities have a ratio of at most e^eps, from nearly such ones."""
    tops = np.maximum(tops, tops.max() * math.exp(-epsilon))
    tops = tops / (tops @ np.diff(places)) / whole
    edges = low + whole * places
    return tuple(DensityPiece(*map(float, each)) for each in zip(edges, edges[1:], tops, strict=False))

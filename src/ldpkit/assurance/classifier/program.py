"""The mixed-integer program of a rectified network: the nearest input that loses a label."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ldpkit.assurance.classifier.networks import Network
from ldpkit.core.typing import Floats

__all__ = ["nearest_change"]


def nearest_change(
    network: Network,
    label: int,
    slopes: Floats,
    levels: Floats,
    bounds: Sequence[tuple[Floats, Floats]],
    centre: Floats,
    low: Floats,
    high: Floats,
    widths: Floats,
    seconds: float,
) -> float:
    """Return a lower bound on the distance from a point to where a label is lost, from HiGHS.

    The distance is the largest of |u - centre| / width over the columns; a column of infinite
    width may move freely within its ends. It is infinite where no point of the box loses the
    label, and 0 where nothing was shown in time.

    Parameters
    ----------
    network : Network
        The model.
    label : int
        The index of the label.
    slopes, levels : arrays
        The first layer's sums, before the maximum, as functions of the sensitive columns.
    bounds : sequence of pairs of arrays
        The least and the greatest sum of each hidden unit in the box, a pair for each hidden layer.
    centre, low, high, widths : arrays
        The point, the ends of the box, and the units of distance.
    seconds : float
        How long each program may take.
    """
    scores, offsets = network.differences(label)
    found = math.inf
    for score in range(scores.shape[1]):
        program = _Program(len(centre), low, high)
        units, level = program.first(slopes, levels)
        hidden = len(network.weights) - 1
        for layer in range(hidden):
            held = program.rectified(units, level, *bounds[layer])
            weight, bias = (
                (scores[:, [score]], offsets[[score]])
                if layer == hidden - 1
                else (network.weights[layer + 1], network.biases[layer + 1])
            )
            units, level = program.sums(held, weight), bias
        row = 0 if hidden else score
        found = min(found, program.least(units[row], float(level[row]), centre, widths, seconds))
    return found


class _Program:
    """Variables, rows and bounds as they are added; every row is a dictionary from variable to weight."""

    def __init__(self, columns: int, low: Floats, high: Floats) -> None:
        self._low, self._high = [*low.tolist(), 0.0], [*high.tolist(), math.inf]
        self._whole = [0] * (columns + 1)
        self._columns, self._distance = columns, columns
        self._rows: list[tuple[dict[int, float], float, float]] = []

    def _variable(self, low: float, high: float, *, whole: bool = False) -> int:
        self._low.append(low)
        self._high.append(high)
        self._whole.append(int(whole))
        return len(self._low) - 1

    def first(self, slopes: Floats, levels: Floats) -> tuple[list[dict[int, float]], Floats]:
        """Return the first layer's sums as rows over the inputs, and their levels."""
        return [dict(enumerate(slope)) for slope in slopes.tolist()], levels

    def sums(self, held: list[dict[int, float]], weight: Floats) -> list[dict[int, float]]:
        """Return weighted sums of rows."""
        found = []
        for column in weight.T.tolist():
            total: dict[int, float] = {}
            for part, share in zip(held, column, strict=True):
                for variable, value in part.items():
                    total[variable] = total.get(variable, 0.0) + share * value
            found.append(total)
        return found

    def rectified(
        self, units: list[dict[int, float]], level: Floats, least: Floats, most: Floats
    ) -> list[dict[int, float]]:
        """Return a row for each unit after its maximum with zero; one that is always off is empty."""
        found = list[dict[int, float]]()
        for unit, add, low, high in zip(units, level.tolist(), least.tolist(), most.tolist(), strict=True):
            if high <= 0:
                found.append({})
                continue
            held = self._variable(max(low, 0.0), high)
            found.append({held: 1.0})
            minus = {variable: -value for variable, value in unit.items()}
            if low >= 0:
                self._rows.append(({held: 1.0, **minus}, add, add))
                continue
            on = self._variable(0.0, 1.0, whole=True)
            self._rows.append(({held: 1.0, **minus}, add, math.inf))  # held >= sum
            self._rows.append(({held: 1.0, on: -high}, -math.inf, 0.0))  # held <= high on
            self._rows.append(({held: 1.0, on: -low, **minus}, -math.inf, add - low))  # held <= sum if on
        return found

    def least(
        self, score: dict[int, float], level: float, centre: Floats, widths: Floats, seconds: float
    ) -> float:
        """Return the solver's lower bound on the distance at which a score is not positive."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        rows = [*self._rows, (score, -math.inf, -level)]
        for column, (middle, width) in enumerate(zip(centre.tolist(), widths.tolist(), strict=True)):
            if math.isfinite(width):
                rows.append(({column: 1.0, self._distance: -width}, -math.inf, middle))
                rows.append(({column: 1.0, self._distance: width}, middle, math.inf))
        places = [(index, variable) for index, (row, *_) in enumerate(rows) for variable in row]
        values = [value for row, *_ in rows for value in row.values()]
        # HiGHS counts in 32 bits, and SciPy before 1.15 hands it the indices as they are.
        where = np.array(places, np.int32).T
        matrix = csr_array((values, tuple(where)), shape=(len(rows), len(self._low)))
        aim = np.zeros(len(self._low))
        aim[self._distance] = 1.0
        solved = milp(
            aim,
            integrality=np.array(self._whole),
            bounds=Bounds(np.array(self._low), np.array(self._high)),
            constraints=LinearConstraint(matrix, [row[1] for row in rows], [row[2] for row in rows]),
            # Presolved, HiGHS now and then repairs a solution and prints a line that no option silences.
            options={"time_limit": seconds, "presolve": False},
        )
        if solved.status == 2:  # infeasible: nothing in the box loses the label
            return math.inf
        bound = solved.mip_dual_bound if solved.mip_dual_bound is not None else solved.fun
        return max(float(bound), 0.0) if bound is not None and math.isfinite(bound) else 0.0

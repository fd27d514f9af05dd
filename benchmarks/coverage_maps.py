"""The coverage of the intervals of heat maps, for a cell of a map of 4 x 4 cells of the unit square."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from coverage_cells import LEVEL, Cell, Row, row_of, wald_ends
from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.typing import Floats
from ldpkit.estimation.cell_bounds import share_bounds
from ldpkit.mechanisms.lookup import get
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["MAPS"]

_CELL = 5  # the second of the second row, whose corners are at 1/4 and 1/2
_PLACES = [(x / 8, y / 8) for x in (1, 3, 5, 7) for y in (1, 3, 5, 7)]
_FAR = [(0.1, 0.9), (0.9, 0.1), (0.7, 0.7), (0.95, 0.95)]
_WITHIN = {
    "middle": [(0.375, 0.375)],
    "corner": [(0.251, 0.251), (0.34, 0.499)],
    "between": [(0.31, 0.44)],  # far from the corners and middles of the cell and of its edges
    "absent": [],
}
_BESIDE = {
    "middle": _FAR,
    "between": [(0.19, 0.31), *_FAR],
    "corner": [(0.249, 0.249), *_FAR],
    "absent": [(0.249, 0.3), (0.501, 0.4)],
}
_HELD = 0.3  # of the people are in the cell, unless nobody is


@lru_cache(maxsize=8)
def _mechanism(name: str, epsilon: float) -> tuple[SpatialMechanism, CellGrid]:
    made = get(name, PlaneDomain.rectangle((0, 0), (1, 1), places=_PLACES), epsilon=epsilon)
    assert isinstance(made, SpatialMechanism)
    return made, CellGrid.of(made.domain, 4, 4)


def _people(cell: Cell) -> tuple[Floats, Floats, float]:
    """Return where people are, how many at each location, and the share of those in the cell."""
    within, beside = _WITHIN[cell.case], _BESIDE[cell.case]
    held = round(_HELD * cell.n) if within else 0
    parts = [
        np.full(len(each), total // max(len(each), 1))
        for each, total in ((within, held), (beside, cell.n - held))
    ]
    for each, total in zip(parts, (held, cell.n - held), strict=True):
        if len(each):
            each[0] += total - each.sum()
    return np.array([*within, *beside]), np.concatenate(parts), held / cell.n


def _map(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Draw tallies from their exact law, and look at the interval of one cell of the map."""
    mechanism, grid = _mechanism(cell.mechanism, cell.epsilon)
    points, people, truth = _people(cell)
    generator, ends = cell.rng.generator(), list[Any]()
    law = np.maximum(mechanism.bin_masses(points), 0)
    law /= law.sum(axis=1, keepdims=True)
    own = int(mechanism.bin_masses([(0.375, 0.375)]).argmax())
    for _ in range(runs):
        counts = sum(generator.multinomial(each, row) for each, row in zip(people, law, strict=True))
        if wald:  # as if people were where their reports are
            there = np.asarray(counts)[own] / cell.n
            ends.append(wald_ends(there, np.sqrt(there * (1 - there) / cell.n)))
            continue
        low, high = share_bounds(mechanism, grid, np.asarray(counts), LEVEL)
        ends.append((float(low[_CELL]), float(high[_CELL])))
    return [row_of(cell, "heat map", truth, ends)]


MAPS: dict[str, Callable[[Cell, int, bool], list[Row]]] = {"map": _map}
"""How the cells of each estimator are measured: from a cell, runs, and whether to be the negative control."""

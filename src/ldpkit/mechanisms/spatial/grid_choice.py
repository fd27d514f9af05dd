"""How many cells a grid should have: the mean error of randomised response on it, in closed form."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ldpkit.core.exact import exp_bounds
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.spatial.integrals import over_rectangle
from ldpkit.mechanisms.spatial.mechanism import list_cells

__all__ = ["MOST_CELLS", "chosen_grid", "grid_error"]

MOST_CELLS = 4096
"""The cells along an edge, at most."""


def grid_error(
    epsilon: float, shape: tuple[int, ...], edges: Floats, power: int = 1, most: int = 128
) -> float:
    """Return the mean error of randomised response on the cells of a rectangle, in closed form."""
    gain = float(exp_bounds(epsilon)[0]) - 1
    cell = edges / shape
    own = float(over_rectangle(-cell / 2, cell / 2, np.zeros(2), power)) / cell.prod()
    listed = tuple(min(each, most) for each in shape)  # beyond, neighbouring centres have all but one mean
    centres = (list_cells(listed) + 0.5) / listed * edges
    others = over_rectangle(np.zeros(2), edges, centres, power).mean() / edges.prod()
    return float((gain * own + math.prod(shape) * others) / (gain + math.prod(shape)))


@lru_cache(maxsize=256)
def chosen_grid(epsilon: float, ratio: float) -> tuple[int, int]:
    """Return the best numbers of cells for a rectangle of width 1 and some height."""
    edges = np.array([1.0, ratio])
    most = max(2.0, 2 * math.exp(epsilon / 3))  # cells along an edge of a square, beyond what can be best
    found: dict[tuple[int, int], float] = {}
    columns = 1
    while columns <= min(MOST_CELLS, most * max(1.0, ratio**-0.5) + 1):
        middle = columns * ratio
        for rows in {max(1, math.floor(middle) + step) for step in (-1, 0, 1, 2)}:
            if rows <= MOST_CELLS and columns * rows >= 2:
                found[columns, rows] = grid_error(epsilon, (columns, rows), edges, most=16)
        columns += 1 + columns // 32
    if not found:  # far higher than wide
        found = {(1, rows): grid_error(epsilon, (1, rows), edges) for rows in range(2, 65)}
    # For a few cells the mean over so many centres is not yet good enough: look again, closely.
    near = sorted(found, key=found.__getitem__)[:12]
    found = {shape: grid_error(epsilon, shape, edges) for shape in near}
    return min(found, key=lambda shape: (found[shape], shape))

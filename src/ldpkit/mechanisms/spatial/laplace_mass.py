"""How much planar Laplace noise falls into each cell of a grid, what leaves it going to its edge."""

from __future__ import annotations

import math

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.mechanisms.spatial.integrals import panels

__all__ = ["beyond", "clipped_masses"]

# Towards the edge itself the noise must go ever farther: finer and finer panels of Gauss's rule.
_NODES, _WEIGHTS = panels(np.array([0.0, *2.0 ** np.arange(-27, 1)]), 6)


def _sweep(far: Floats, upto: Floats) -> Floats:
    """Return the mass beyond an edge at a distance, in directions from along it up to an angle."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = far[..., None] / np.sin(upto[..., None] * _NODES)
    reach = np.nan_to_num(reach, nan=0.0, posinf=np.inf)
    mass = np.where(np.isfinite(reach), (1 + reach) * np.exp(-np.minimum(reach, 700.0)), 0.0)
    return np.asarray(mass @ _WEIGHTS * upto / (2 * math.pi))


def _beyond_line(far: Floats) -> Floats:
    """Return the mass beyond lines at some distances from the centre, in units of one over the scale."""
    mass = 2 * _sweep(np.abs(far), np.full(far.shape, math.pi / 2))
    return np.where(far >= 0, mass, 1 - mass)


def beyond(x: Floats, y: Floats) -> Floats:
    """Return the mass of the quadrant right of x and above y, in units of one over the scale.

    Examples
    --------
    >>> beyond(np.array([0.0]), np.array([0.0])).round(6).tolist()
    [0.25]
    """
    a, b = np.abs(x), np.abs(y)
    corner = np.arctan2(b, a)  # below it the upper edge is farther, above it the right one
    both = _sweep(b, corner) + _sweep(a, math.pi / 2 - corner)
    right = np.where(x >= 0, both, _beyond_line(b) - both)  # above y = b
    return np.where(y >= 0, right, _beyond_line(x) - right)


def _cell_masses(steps: list[float], shape: tuple[int, int]) -> Floats:
    """Return the mass of each cell around a centre, up to as many cells away as there are."""
    axes = []
    for step, cells in zip(steps, shape, strict=True):
        away = np.arange(1 - cells, cells)[:, None]
        axes.append(panels(step * (away + np.array([-0.5, 0.0, 0.5])), 6))
    (x, by_x), (y, by_y) = axes
    density = np.exp(-np.hypot(x[:, None, :, None], y[None, :, None, :])) / (2 * math.pi)
    return np.asarray(np.einsum("ia,jb,ijab->ij", by_x, by_y, density, optimize=True))


def clipped_masses(scale: float, shape: tuple[int, int], edges: Floats) -> Floats:
    """Return for each cell of a grid the mass in every cell of noise around its centre, clipped.

    Examples
    --------
    >>> masses = clipped_masses(3.0, (4, 4), np.array([1.0, 1.0]))
    >>> masses.shape, bool(np.allclose(masses.sum(axis=1), 1))
    ((16, 16), True)
    """
    steps = [scale * edge / cells for edge, cells in zip(edges, shape, strict=True)]
    # From a centre to the edges of cells: half steps, up to as many as there are cells.
    offsets = [step * (np.arange(-cells, cells + 1) + 0.5) for step, cells in zip(steps, shape, strict=True)]
    corner = beyond(*np.meshgrid(*offsets, indexing="ij"))
    sides = [_beyond_line(each) for each in offsets]
    inner = _cell_masses(steps, shape)
    table = np.empty((*shape, *shape))
    for column in range(shape[0]):
        for row in range(shape[1]):
            at = [np.arange(cells) - own + cells - 1 for own, cells in zip((column, row), shape, strict=True)]
            grid = np.ones((shape[0] + 1, shape[1] + 1))  # beyond everything to the left and below: all
            grid[1:-1, 1:-1] = corner[np.ix_(at[0][1:], at[1][1:])]
            grid[1:-1, 0], grid[0, 1:-1] = sides[0][at[0][1:]], sides[1][at[1][1:]]
            grid[-1, :] = grid[:, -1] = 0.0
            table[column, row] = grid[:-1, :-1] - grid[1:, :-1] - grid[:-1, 1:] + grid[1:, 1:]
            # Within, differences of four numbers would lose what little there is at a small scale.
            table[column, row, 1:-1, 1:-1] = inner[np.ix_(at[0][1:-1], at[1][1:-1])]
    return np.maximum(table.reshape(math.prod(shape), -1), 1e-300)

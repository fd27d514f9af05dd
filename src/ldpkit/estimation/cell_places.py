"""The laws of a mechanism at points of each cell of a map: one by one, or as products where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["axis_laws", "bin_sizes", "laws_within"]

_AT_A_TIME = 1 << 20  # chances that are in memory together


def laws_within(
    mechanism: SpatialMechanism, grid: CellGrid, steps: Sequence[Floats]
) -> Iterator[tuple[Floats, Counts]]:
    """Yield the chances of all bins at points of some cells, one row a point, and the cell of each row.

    Parameters
    ----------
    mechanism : SpatialMechanism
        What makes the reports.
    grid : CellGrid
        The cells. A cell has rows only for those of its points that the region has.
    steps : sequence of two arrays
        Where the points of a cell are along its edges, from 0 to 1; all pairs are meant.
    """
    region = grid.domain.region
    inner = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 2)
    corners = np.stack(np.divmod(np.arange(len(grid)), grid.rows), axis=1)
    together = max(1, _AT_A_TIME // (len(inner) * mechanism.tally_size))
    for start in range(0, len(grid), together):
        some = corners[start : start + together, None, :]
        points = region.from_shares(((some + inner) / grid.shape).reshape(-1, 2))
        here = np.asarray(region.contains(points), bool)
        if here.any():
            cells = np.repeat(np.arange(start, start + len(some)), len(inner))[here]
            yield mechanism._bin_masses(mechanism._place(points[here])), cells


def axis_laws(
    mechanism: SpatialMechanism, grid: CellGrid, steps: Sequence[Floats], edges: tuple[Counts, ...]
) -> tuple[Floats, Floats, float] | None:
    """Return the laws at the same points as products, with what each cell of a bin has in addition.

    The factors have shape (columns, points, bins) and (rows, points, bins), for bins between `edges`. None
    where laws are no such products, or the region lacks a part of its frame.
    """
    region = grid.domain.region
    if not (mechanism.follows_frame and region.fills_frame):
        return None
    places = []
    for axis, (size, inner) in enumerate(zip(grid.shape, steps, strict=True)):
        shares = np.full((size * len(inner), 2), 0.5)
        shares[:, axis] = ((np.arange(size)[:, None] + inner) / size).ravel()
        places.append(mechanism._place(region.from_shares(shares))[:, axis].astype(np.int64))
    first, second, even = mechanism.factors((places[0], places[1]), edges)
    columns, rows = (
        each.reshape(size, len(inner), -1)
        for each, size, inner in zip((first, second), grid.shape, steps, strict=True)
    )
    return columns, rows, even


def bin_sizes(edges: tuple[Counts, ...]) -> Any:
    """Return how many cells of the mechanism each joint bin between edges has.

    Examples
    --------
    >>> bin_sizes((np.array([0, 1, 3]), np.array([0, 2, 6]))).tolist()
    [2.0, 4.0, 4.0, 8.0]
    """
    return np.outer(*(np.diff(each).astype(float) for each in edges)).ravel()
